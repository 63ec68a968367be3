//! The state of a link and of a flow.

use super::HOPS_MAX;
use std::ops::Range;

/// A link is filled up to its capacity minus the precision ÷ this number. More unused capacity
/// would make completion times less exact; less has no advantage.
const AIM: u64 = 8;

/// A link. Flows that settle at other links access only its first cache line, unless they have been
/// open.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Link {
    /// [b/s].
    pub capacity: u64,
    /// Sum of the rates of its flows [b/s].
    pub load: u64,
    /// Sum of the rates of the flows that have settled, or are assumed to settle elsewhere [b/s].
    pub fixed: u64,
    /// Weight of all other flows.
    pub open: u64,
    /// Weight of the flows whose bottleneck this is.
    pub own_weight: u64,
    /// Upper limit of the level of flows whose bottleneck is elsewhere.
    pub most: f64,
    /// A lower bound of the level at which the link is full, in addition to the bound by `fixed`
    /// and `open`.
    pub bound: f64,
    /// The solution in which the link was last dirty; `fixed`, `open`, `bound`, `joining`,
    /// `queued`, `tight` and `full` refer to that solution.
    pub epoch: u32,
    /// Whether flows are assumed to settle at the link's old level.
    pub tight: bool,
    pub full: bool,
    /// Whether the next solution begins with this link.
    pub touched: bool,
    /// Rate of the flows whose bottleneck this is [b/s].
    pub own_rate: u64,
    /// The level of the flows whose bottleneck this is.
    pub level: f64,
    /// The part of `open` that had another bottleneck before.
    pub joining: u64,
    /// The level at which the sweep visits the link next; NaN if it does not.
    pub queued: f64,
}

impl Link {
    /// A link without flows.
    pub fn new(capacity: u64) -> Link {
        Link {
            capacity,
            load: 0,
            fixed: 0,
            open: 0,
            own_weight: 0,
            most: 0.0,
            bound: 0.0,
            epoch: 0,
            tight: false,
            full: false,
            touched: false,
            own_rate: 0,
            level: 0.0,
            joining: 0,
            queued: f64::NAN,
        }
    }

    /// Whether more is fixed than the link can carry, so that flows that were assumed to settle
    /// elsewhere settle here.
    #[inline]
    pub fn is_overfull(&self) -> bool {
        self.fixed > self.capacity
    }

    /// Adds the link to the sweep.
    #[inline]
    pub fn wake(&mut self, epoch: u32, tally: &mut Tally) {
        self.epoch = epoch;
        self.full = false;
        self.tight = self.own_weight > 0;
        self.open = std::mem::take(&mut self.own_weight);
        self.fixed = self.load - std::mem::take(&mut self.own_rate);
        (self.bound, self.joining, self.queued) = (0.0, 0, f64::NAN);
        tally.opened += self.open;
        tally.overfull += self.is_overfull() as u32;
    }

    /// Opens flows that have no rate, or that had one and were assumed to settle elsewhere.
    #[inline]
    pub fn open(&mut self, rates: u64, weights: u64, tally: &mut Tally) {
        self.fix(rates, 0, tally);
        self.open += weights;
        self.joining += weights;
        tally.opened += weights;
        self.bound = 0.0;
    }

    /// Records that open flows have settled, `joined` of their weight elsewhere.
    #[inline]
    pub fn close(&mut self, step: &Step, joined: u64, tally: &mut Tally) {
        self.fix(0, step.has, tally);
        self.open -= step.weight;
        self.joining -= joined;
        tally.opened -= step.weight;
        self.load = self.load - step.had + step.has;
        self.bound = 0.0;
    }

    /// Corrects the load for flows that were assumed to settle elsewhere and have another rate
    /// there.
    #[inline]
    pub fn correct(&mut self, step: &Step, tally: &mut Tally) {
        self.fix(step.had, step.has, tally);
        self.load = self.load - step.had + step.has;
        self.bound = 0.0;
    }

    /// Like [`Self::correct`], for a link that may not take part in the solution yet. Returns
    /// whether it takes part because of this change.
    #[inline]
    pub fn hear(&mut self, step: &Step, epoch: u32, share: u64, tally: &mut Tally) -> bool {
        let clean = self.epoch != epoch;
        if clean && self.bears(step, share) {
            self.load = self.load - step.had + step.has;
            return false;
        }
        if clean {
            self.wake(epoch, tally);
        }
        self.correct(step, tally);
        clean
    }

    /// Replaces a fixed rate.
    #[inline]
    fn fix(&mut self, had: u64, has: u64, tally: &mut Tally) {
        let was = self.is_overfull() as u32;
        self.fixed = self.fixed - had + has;
        tally.overfull = tally.overfull + self.is_overfull() as u32 - was;
    }

    /// Records the level of a flow that settles elsewhere.
    #[inline]
    pub fn raise_most(&mut self, level: f64) {
        if level > self.most {
            self.most = level;
        }
    }

    /// Capacity that the link may leave unused [b/s], from a share in parts of 2^64.
    #[inline]
    pub fn slack(&self, share: u64) -> u64 {
        ((self.capacity as u128 * share as u128) >> 64) as u64
    }

    /// Capacity that remains unused if the link is filled [b/s].
    #[inline]
    pub fn spare(&self, share: u64) -> u64 {
        self.slack(share) / AIM
    }

    /// Whether the link certainly need not be visited before its stop, computed without division.
    #[inline]
    pub fn waits(&self, share: u64) -> bool {
        let room = self.capacity.saturating_sub(self.fixed + self.spare(share));
        room as f64 > self.queued * self.open as f64 * (1.0 + 1e-12)
    }

    /// Whether the link keeps its level when flows that settle elsewhere have other rates: it is
    /// the bottleneck of no flow, or full enough.
    #[inline]
    pub fn bears(&self, step: &Step, share: u64) -> bool {
        let load = self.load - step.had + step.has;
        let idle = self.own_weight == 0 && load <= self.capacity;
        idle || share != 0 && self.suffices(load, share)
    }

    /// Whether a load fills the link within the precision, and does not exceed its capacity.
    #[inline]
    fn suffices(&self, load: u64, share: u64) -> bool {
        load <= self.capacity && self.capacity - load <= self.slack(share)
    }
}

/// The remaining work of a solution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Open weight of all dirty links together.
    pub opened: u64,
    /// The number of links that are overfull.
    pub overfull: u32,
}

/// A change of the rates of flows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// Sum of the flows' rates before and after the solution [b/s].
    pub had: u64,
    pub has: u64,
    pub weight: u64,
}

impl Step {
    /// Whether the rate changes.
    #[inline]
    pub fn moves(&self) -> bool {
        self.had != self.has
    }

    /// Adds the change of more flows.
    #[inline]
    pub fn add(&mut self, more: &Step) {
        self.had += more.had;
        self.has += more.has;
        self.weight += more.weight;
    }
}

/// The positions of a flow's path among the links of all paths.
#[inline]
pub fn hops(slot: u32, flow: &Flow) -> Range<usize> {
    let first = slot as usize * HOPS_MAX;
    first..first + flow.hops as usize
}

/// A flow, or several equal flows; the fields describe each of them.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Rate of the last solution [b/s].
    pub rate: u64,
    /// Limit of the rate [b/s]; `u64::MAX` for none.
    pub limit: u64,
    /// The level at which it settled: rate ÷ weight before rounding.
    pub level: f64,
    /// The solution in which it was last open.
    pub epoch: u32,
    pub weight: u32,
    /// The number of equal flows.
    pub count: u32,
    /// The bottleneck link of the flow, or `NONE` if its own limit sets its rate; and the flow's
    /// index among those of the bottleneck.
    pub bottleneck: u32,
    pub place: u32,
    pub hops: u8,
    /// Whether it has its rate in the solution `epoch`.
    pub settled: bool,
    /// Whether it has no rate and therefore takes part in the next solution.
    pub fresh: bool,
}

impl Flow {
    /// The weight of all equal flows together.
    #[inline]
    pub fn weights(&self) -> u64 {
        self.weight as u64 * self.count as u64
    }

    /// The rate of all equal flows together [b/s].
    #[inline]
    pub fn rates(&self) -> u64 {
        self.rate * self.count as u64
    }

    /// Whether its rate will change in this solution and is not known yet.
    #[inline]
    pub fn is_open(&self, epoch: u32) -> bool {
        self.epoch == epoch && !self.settled
    }
}
