//! Weighted max-min fair rates of flows over links.
//!
//! A flow has a path of links, a weight and optionally a limit. A link has a capacity, which may
//! change and may be 0 (dark). Rates are *weighted max-min fair*: every flow either has its limit
//! or a *bottleneck*, which is a full link on its path on which no flow has a higher rate ÷ weight
//! (its *level*). There is exactly one such allocation. Per-flow queues and ideal congestion
//! control converge to it; a kernel may model the transients.
//!
//! Changes are collected and [solved](Fair::solve) together. Only flows whose rates may change are
//! visited. The result equals that of a solution from scratch, except for rounding: rates are
//! integer b/s, rounded down, so that no link ever carries more than its capacity.
//!
//! Two-level schedulers (classes at a server's link, flows within a class) are
//! weights that follow from class weights and counts: see [`classes`].
//!
//! Not modelled: round-trip times, slow start, losses. A flow has its share at once.

#[cfg(test)]
mod books;
pub mod classes;
mod columns;
mod fill;
mod members;
mod precision;
#[cfg(test)]
pub(crate) mod reference;
#[cfg(test)]
mod says;
mod settle;
mod solve;
#[cfg(test)]
mod tests;

pub use precision::Precision;

use crate::indexed::{Entry as Stop, IndexedHeap};
use crate::time::Rate;
use columns::{Flow, Link, Tally};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Index that means "no link, flow or place".
const NONE: u32 = u32::MAX;

/// The weight of an ordinary flow. Weights are integers, so that their sums are exact; this value
/// leaves room for fractions.
pub const WEIGHT: u32 = 1 << 24;

/// Most links on a path.
pub const HOPS_MAX: usize = 16;

/// A link, numbered in the order in which links were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// A flow's index in the columns of [`Fair`]; it is reused after the flow is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl LinkId {
    /// The slot as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Slot {
    /// The link as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Links, flows, and their rates.
///
/// ```
/// use lightloom_engine::fair::{Fair, WEIGHT};
/// use lightloom_engine::Rate;
/// let mut fair = Fair::new();
/// let (a, b) = (fair.add_link(Rate(10)), fair.add_link(Rate(4)));
/// let long = fair.open(&[a, b], WEIGHT, None);
/// let short = fair.open(&[a], WEIGHT, None);
/// fair.solve();
/// assert_eq!((fair.rate(long), fair.rate(short)), (Rate(4), Rate(6)));
/// fair.set_capacity(b, Rate(0));
/// fair.solve();
/// assert_eq!((fair.rate(long), fair.rate(short)), (Rate(0), Rate(10)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fair {
    links: Vec<Link>,
    /// The flows of each link as hops; the order does not matter.
    members: Vec<Vec<u32>>,
    /// The slots of the flows whose bottleneck each link is.
    own: Vec<Vec<u32>>,
    flows: Vec<Flow>,
    /// Links of the paths; those of flow `s` begin at `s * HOPS_MAX`.
    path: Vec<LinkId>,
    /// The position of each hop among the members of its link.
    place: Vec<u32>,
    unused: Vec<Slot>,
    /// Links that the next solution begins with.
    touched: Vec<u32>,
    fresh: Vec<u32>,
    changed: Vec<Slot>,
    held_elsewhere: Vec<Slot>,
    /// Links that may have to be visited earlier.
    sooner: Vec<u32>,
    /// During a solution: the next visit of the sweep to each dirty link, or an earlier time, and
    /// the levels of limits.
    stops: IndexedHeap,
    limits: BinaryHeap<Reverse<Stop>>,
    epoch: u32,
    /// The share of its capacity that a link may leave unused, in parts of 2^64.
    share: u64,
    tally: Tally,
    dirty: bool,
}

impl Fair {
    /// A solver without links and flows.
    pub fn new() -> Fair {
        Fair::default()
    }

    /// Limits how far a change spreads, from the next solution on. Rates are then exact for links
    /// whose capacities are reduced by at most this share; see [`Precision`].
    pub fn set_precision(&mut self, precision: Precision) {
        self.share = precision.share();
    }

    /// Adds a link.
    pub fn add_link(&mut self, capacity: Rate) -> LinkId {
        self.links.push(Link::new(capacity.0));
        self.members.push(Vec::new());
        self.own.push(Vec::new());
        LinkId(self.links.len() as u32 - 1)
    }

    /// The number of links.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// The capacity of a link.
    pub fn capacity(&self, link: LinkId) -> Rate {
        Rate(self.links[link.index()].capacity)
    }

    /// Sum of the rates of the flows over a link in the last solution.
    pub fn load(&self, link: LinkId) -> Rate {
        Rate(self.links[link.index()].load)
    }

    /// Changes the capacity of a link; 0 is dark.
    pub fn set_capacity(&mut self, link: LinkId, capacity: Rate) {
        if self.links[link.index()].capacity != capacity.0 {
            self.links[link.index()].capacity = capacity.0;
            self.touch(link);
        }
    }

    /// Opens a flow over `path` (each link once) with a weight of at least 1 and an optional
    /// `limit`. It has no rate until the next solution.
    ///
    /// # Panics
    /// If nothing limits the flow (no path, no limit), or the path has more than [`HOPS_MAX`]
    /// links.
    pub fn open(&mut self, path: &[LinkId], weight: u32, limit: Option<Rate>) -> Slot {
        let flow = Flow {
            rate: 0,
            limit: limit.map_or(u64::MAX, |l| l.0),
            level: 0.0,
            epoch: 0,
            weight: weight.max(1),
            count: 1,
            bottleneck: NONE,
            place: NONE,
            hops: 0,
            settled: false,
            fresh: false,
        };
        let slot = self.unused.pop().unwrap_or(Slot(self.flows.len() as u32));
        if slot.index() == self.flows.len() {
            self.flows.push(flow);
            let hops = self.flows.len() * HOPS_MAX;
            self.path.resize(hops, LinkId(NONE));
            self.place.resize(hops, NONE);
        }
        self.flows[slot.index()] = flow;
        self.attach(slot, path);
        self.freshen(slot);
        slot
    }

    /// Closes a flow, or one of several equal flows; the slot is free after the last one.
    pub fn close(&mut self, slot: Slot) {
        if self.flows[slot.index()].count > 1 {
            return self.part(slot);
        }
        self.unsettle(slot);
        self.detach(slot);
        self.flows[slot.index()].fresh = false;
        self.unused.push(slot);
    }

    /// Removes one of several equal flows.
    fn part(&mut self, slot: Slot) {
        let flow = &mut self.flows[slot.index()];
        flow.count -= 1;
        let flow = *flow;
        let first = slot.index() * HOPS_MAX;
        for hop in first..first + flow.hops as usize {
            let link = self.path[hop];
            self.touch(link);
            let books = &mut self.links[link.index()];
            books.load -= flow.rate;
            if flow.bottleneck == link.0 {
                books.own_rate -= flow.rate;
                books.own_weight -= flow.weight as u64;
            }
        }
    }

    /// Adds the flows of a slot to those of another if the last solution has settled them equally,
    /// so that changes of rates visit them as one. Returns whether it has done so; the slot is then
    /// free.
    pub fn merge(&mut self, into: Slot, from: Slot) -> bool {
        let (a, b) = (self.flows[into.index()], self.flows[from.index()]);
        let settled = !a.fresh && !b.fresh && a.bottleneck == b.bottleneck;
        let alike = a.weight == b.weight && a.limit == b.limit;
        let at = |f: &Flow| (f.rate, f.level.to_bits());
        if !settled || !alike || at(&a) != at(&b) || self.path(into) != self.path(from) {
            return false;
        }
        self.flows[into.index()].count += b.count;
        self.disown(from.0);
        self.detach(from);
        self.unused.push(from);
        true
    }

    /// Whether a link on the flow's path has no other flow.
    pub fn is_apart(&self, slot: Slot) -> bool {
        let alone = |l: &LinkId| self.members[l.index()].len() == 1;
        self.path(slot).iter().any(alone)
    }

    /// The number of equal flows in a slot.
    pub fn count(&self, slot: Slot) -> u32 {
        self.flows[slot.index()].count
    }

    /// Changes the path of a flow. It has no rate until the next solution.
    ///
    /// # Panics
    /// As for [`Fair::open`].
    pub fn reroute(&mut self, slot: Slot, path: &[LinkId]) {
        self.unsettle(slot);
        self.detach(slot);
        self.attach(slot, path);
        self.freshen(slot);
    }

    /// Changes the weight of a flow, at least 1. If the weight differs, the flow has no rate until
    /// the next solution.
    pub fn set_weight(&mut self, slot: Slot, weight: u32) {
        if self.flows[slot.index()].weight != weight.max(1) {
            self.unsettle(slot);
            self.flows[slot.index()].weight = weight.max(1);
            self.freshen(slot);
        }
    }

    /// Changes the limit of a flow. If the limit differs, the flow has no rate until the next
    /// solution.
    pub fn set_limit(&mut self, slot: Slot, limit: Option<Rate>) {
        let limit = limit.map_or(u64::MAX, |l| l.0);
        if self.flows[slot.index()].limit != limit {
            self.unsettle(slot);
            self.flows[slot.index()].limit = limit;
            self.freshen(slot);
        }
    }

    /// The rate of a flow, as of the last solution.
    #[inline]
    pub fn rate(&self, slot: Slot) -> Rate {
        Rate(self.flows[slot.index()].rate)
    }

    /// The weight of a flow.
    pub fn weight(&self, slot: Slot) -> u32 {
        self.flows[slot.index()].weight
    }

    /// The largest rate of a flow; `None` without a limit.
    pub fn limit(&self, slot: Slot) -> Option<Rate> {
        let limit = self.flows[slot.index()].limit;
        (limit != u64::MAX).then_some(Rate(limit))
    }

    /// The path of a flow.
    #[inline]
    pub fn path(&self, slot: Slot) -> &[LinkId] {
        let first = slot.index() * HOPS_MAX;
        &self.path[first..first + self.flows[slot.index()].hops as usize]
    }

    /// The flows over a link, in an arbitrary order that is the same in every run.
    pub fn flows_over(&self, link: LinkId) -> impl ExactSizeIterator<Item = Slot> + '_ {
        let members = &self.members[link.index()];
        members.iter().map(|h| Slot(h / HOPS_MAX as u32))
    }

    /// The flows whose rate the last solution changed, including those that were opened or rerouted
    /// before it.
    pub fn changed(&self) -> &[Slot] {
        &self.changed
    }

    /// The flows whose bottleneck has changed in the last solution, at the same rate.
    pub fn held_elsewhere(&self) -> &[Slot] {
        &self.held_elsewhere
    }

    /// The flows whose bottleneck is this link, as of the last solution; the order has no meaning.
    pub fn held_by(&self, link: LinkId) -> impl ExactSizeIterator<Item = Slot> + '_ {
        self.own[link.index()].iter().map(|&slot| Slot(slot))
    }

    /// Whether anything has changed since the last solution.
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }
}
