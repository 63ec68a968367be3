//! What is known of a link and of a flow.

use super::solve::Stop;

/// A link: one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Link {
    /// [b/s].
    pub capacity: u64,
    /// Sum of the rates of its flows [b/s].
    pub load: u64,
    /// Rate of the flows whose bottleneck this is.
    pub own_rate: u64,
    /// Their weight.
    pub own_weight: u64,
    /// Their level.
    pub level: f64,
    /// Rates of the flows that have settled, or are taken to do so elsewhere.
    pub fixed: u64,
    /// Weight of the others.
    pub open: u64,
    /// The solution in which it was dirty last; `fixed`, `open`, `tight` and
    /// `full` are of that one.
    pub epoch: u32,
    /// Whether flows are taken to settle at its old level.
    pub tight: bool,
    pub full: bool,
    /// Whether it is among those that the next solution begins with.
    pub touched: bool,
}

/// What the sweep needs to know of a link that it may have to stop at.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// A lower bound of the level at which it is full, beside the one that
    /// `fixed` and `open` give.
    pub bound: f64,
    /// Its earliest stop in the heap.
    pub queued: Stop,
    /// The part of `open` whose bottleneck it was not.
    pub joining: u64,
    /// Flows whose bottleneck is elsewhere have at most this level.
    pub most: f64,
}

impl Link {
    /// Whether more is fixed than it can carry: flows that are taken to settle
    /// elsewhere will settle here.
    #[inline]
    pub fn is_overfull(&self) -> bool {
        self.fixed > self.capacity
    }
}

/// A flow, or several that are alike: what is said of it holds for each.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// As of the last solution [b/s].
    pub rate: u64,
    /// [b/s]; `u64::MAX` for none.
    pub limit: u64,
    /// Where it settled: rate ÷ weight before rounding.
    pub level: f64,
    /// The solution in which it was open last.
    pub epoch: u32,
    pub weight: u32,
    /// How many they are.
    pub count: u32,
    /// The link where it settled, if it was not at its limit, and where it is among
    /// those that have.
    pub bottleneck: u32,
    pub place: u32,
    pub hops: u8,
    /// In the solution `epoch`: whether it has its rate.
    pub settled: bool,
    /// Has no rate, and takes part in the next solution for that.
    pub fresh: bool,
}

impl Flow {
    /// The weight of all together.
    #[inline]
    pub fn weights(&self) -> u64 {
        self.weight as u64 * self.count as u64
    }

    /// The rate of all together.
    #[inline]
    pub fn rates(&self) -> u64 {
        self.rate * self.count as u64
    }

    /// Whether its rate is known to change and not yet known, in this solution.
    #[inline]
    pub fn is_open(&self, epoch: u32) -> bool {
        self.epoch == epoch && !self.settled
    }

    /// Whether it has its rate already, in this solution.
    #[inline]
    pub fn is_settled(&self, epoch: u32) -> bool {
        self.epoch == epoch && self.settled
    }
}
