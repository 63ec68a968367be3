//! Recursive halving and doubling (Rabenseifner's all-reduce; Thakur, Rabenseifner and Gropp,
//! IJHPCA 2005): as little data as the ring, in 2 log₂ n rounds.
//!
//! If n is not a power of two, the standard fold: of the first 2 r members, where r = n − p and p
//! is the largest power of two below n, the even ones send all their data to their odd neighbours,
//! skip the rounds, and receive the result at the end.

use super::rounds::{Rounds, Send};
use crate::tasks::check;

/// Reduce-scatter by halving, all-gather by doubling.
pub(super) struct HalvingDoubling {
    pub n: usize,
    pub bytes: u64,
}

impl HalvingDoubling {
    /// The number of members that take part in the halving, a power of two.
    fn core(&self) -> usize {
        1 << self.n.ilog2()
    }

    /// The number of members beyond the core.
    fn folded(&self) -> usize {
        self.n - self.core()
    }

    fn steps(&self) -> usize {
        self.core().ilog2() as usize
    }

    /// The member that has `rank` in the core.
    fn member(&self, rank: usize) -> usize {
        match rank < self.folded() {
            true => 2 * rank + 1,
            false => rank + self.folded(),
        }
    }

    /// The transfers of all data between the folded members and their neighbours.
    fn fold(&self, back: bool) -> Vec<Send> {
        let send = |j: usize| {
            let (from, to) = (2 * j + back as usize, 2 * j + 1 - back as usize);
            let part = 0..self.bytes;
            Send { from, to, part }
        };
        (0..self.folded()).map(send).collect()
    }

    /// An exchange between ranks that differ in bit `distance`. When halving, each sends the blocks
    /// that its partner has to reduce; when doubling, the blocks that it has.
    fn exchange(&self, distance: usize, halving: bool) -> Vec<Send> {
        let parts = self.core() as u64;
        let send = |rank: usize| {
            let partner = rank ^ distance;
            let owner = if halving { partner } else { rank };
            let first = (owner & !(distance - 1)) as u64;
            let until = |i| check::until(self.bytes, parts, i);
            Send {
                from: self.member(rank),
                to: self.member(partner),
                part: until(first)..until(first + distance as u64),
            }
        };
        (0..self.core()).map(send).collect()
    }
}

impl Rounds for HalvingDoubling {
    fn rounds(&self) -> usize {
        2 * self.steps() + 2 * (self.folded() > 0) as usize
    }

    fn round(&self, k: usize) -> Vec<Send> {
        let fold = (self.folded() > 0) as usize;
        let steps = self.steps();
        match k {
            0 if fold == 1 => self.fold(false),
            k if k == 2 * steps + fold => self.fold(true),
            k if k - fold < steps => self.exchange(self.core() >> (k - fold + 1), true),
            k => self.exchange(1 << (k - fold - steps), false),
        }
    }

    fn sends(&self) -> u64 {
        (2 * self.steps() as u64).saturating_mul(self.core() as u64) + 2 * self.folded() as u64
    }
}
