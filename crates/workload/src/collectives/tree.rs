//! Binomial-tree all-reduce: all data goes up a tree to member 0, is reduced on the way, and goes
//! down again, in 2 ⌈log₂ n⌉ rounds of all the data. It suits short messages; long ones are divided
//! into chunks that follow each other.

use super::rounds::{Rounds, Send};

/// Up a binomial tree, and down.
pub(super) struct Tree {
    pub n: usize,
    pub bytes: u64,
}

impl Tree {
    fn depth(&self) -> usize {
        self.n.next_power_of_two().ilog2() as usize
    }
}

impl Rounds for Tree {
    fn rounds(&self) -> usize {
        2 * self.depth()
    }

    /// In round k, members whose number ends with a one followed by k zeros send to the member
    /// without that one; on the way down the direction is reversed.
    fn round(&self, k: usize) -> Vec<Send> {
        let up = k < self.depth();
        let bit = 1 << if up { k } else { 2 * self.depth() - 1 - k };
        let send = |child: usize| {
            let (from, to) = match up {
                true => (child, child - bit),
                false => (child - bit, child),
            };
            let part = 0..self.bytes;
            Send { from, to, part }
        };
        (bit..self.n).step_by(2 * bit).map(send).collect()
    }

    fn sends(&self) -> u64 {
        2 * (self.n as u64 - 1)
    }
}
