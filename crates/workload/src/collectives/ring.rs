//! Ring all-reduce: each member sends an n-th of the data to the next member, 2 (n - 1) times. Each
//! member sends and receives 2 (n - 1) / n of the data, which is the minimum; the number of rounds
//! grows with n.

use super::rounds::{Rounds, Send};
use crate::tasks::check;

/// Reduce-scatter around the ring, then all-gather.
pub(super) struct Ring {
    pub n: usize,
    pub bytes: u64,
}

impl Rounds for Ring {
    fn rounds(&self) -> usize {
        2 * (self.n - 1)
    }

    /// In round k, member i sends segment i - k, which it has just reduced or, in the second half,
    /// just received.
    fn round(&self, k: usize) -> Vec<Send> {
        let n = self.n;
        let until = |segment| check::until(self.bytes, n as u64, segment as u64);
        let send = |i: usize| {
            let segment = (i + 2 * n - k) % n;
            Send {
                from: i,
                to: (i + 1) % n,
                part: until(segment)..until(segment + 1),
            }
        };
        (0..n).map(send).collect()
    }

    fn sends(&self) -> u64 {
        (self.rounds() as u64).saturating_mul(self.n as u64)
    }
}
