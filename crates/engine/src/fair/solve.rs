//! Progressive filling, restricted to the flows and links that a change can reach.
//!
//! In plain progressive filling the level of all flows rises together, and a flow *settles* at its
//! limit or when a link on its path is full. Here the level sweeps upwards in the same way, but
//! only *dirty* links take part: links that were changed, or whose flows have new rates. All other
//! flows are assumed to settle where they settled before.
//!
//! - A dirty link has the *open* weight (of flows that settle above the sweep) and the *fixed* rate
//!   of the others, and thus a lower bound of the level at which it is full. When the sweep reaches
//!   that bound, the link is visited: either it is full there and its flows settle, or flows that are
//!   assumed to settle elsewhere at a higher level raise the bound.
//! - Flows whose bottleneck is a dirty link are assumed to settle there again until the sweep
//!   passes its old level without filling it. Then the link *loosens*: these flows are open on their
//!   whole path, and all links of the path are dirty.
//! - A flow that settles at another rate than before makes its links dirty.
//!
//! Full links are handled in `fill`, the effect on other links in `settle`.
//!
//! The sweep ends when no flow is open and no link is *overfull*, that is, has a higher fixed rate
//! than it can carry.
//!
//! A change at a link thus reaches only links of its level or above, and only through flows whose
//! rates change. A link is visited once or a few times; each visit costs the number of its flows.
//!
//! Levels are floats, but each is computed as a quotient of integers and never summed. Rates are
//! integers, so the sums of links are exact. At equal levels limits are handled first, then full
//! links, then links that loosen, each in order of number. The result therefore depends only on the
//! changes and their order.

use super::columns::{hops, Flow, Tally};
use super::{Fair, Slot, Stop, HOPS_MAX, NONE};
use crate::indexed::{entry, kind, number, rank};
use std::cmp::Reverse;

/// The kinds of stops of the sweep at a level, in this order.
const LIMIT: u32 = 0;
pub(super) const FULL: u32 = 1;
const LOOSE: u32 = 2;

/// A value after all stops.
const NOWHERE: Stop = Stop::MAX;

/// The next stop of the sweep: a level, the kind of stop, the number of the flow or link. Levels
/// are not negative, so their bits have their order.
#[inline]
pub(super) fn stop(level: f64, kind: u32, number: u32) -> Stop {
    entry(level.to_bits(), kind, number)
}

/// The stop at which a flow reaches its limit, if it has one.
#[inline]
fn limit_of(slot: u32, flow: &Flow) -> Option<Stop> {
    let level = flow.limit as f64 / flow.weight as f64;
    (flow.limit != u64::MAX).then(|| stop(level, LIMIT, slot))
}

/// The level of a stop.
#[inline]
fn level(stop: Stop) -> f64 {
    f64::from_bits(rank(stop))
}

impl Fair {
    /// Gives every flow its rate; returns [`Fair::changed`].
    pub fn solve(&mut self) -> &[Slot] {
        self.changed.clear();
        self.held_elsewhere.clear();
        if std::mem::take(&mut self.dirty) {
            self.next_epoch();
            self.tally = Tally::default();
            self.begin();
            self.sweep();
        }
        &self.changed
    }

    /// Numbers the solution; resets all marks when numbers run out.
    fn next_epoch(&mut self) {
        if self.epoch == u32::MAX {
            self.links.iter_mut().for_each(|l| l.epoch = 0);
            self.flows.iter_mut().for_each(|f| f.epoch = 0);
            self.epoch = 0;
        }
        self.epoch += 1;
    }

    /// Marks touched links as dirty, and opens the flows that have no rate.
    fn begin(&mut self) {
        let touched = std::mem::take(&mut self.touched);
        for &link in &touched {
            self.links[link as usize].touched = false;
            self.make_dirty(link);
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        for slot in fresh.drain(..) {
            let flow = &self.flows[slot as usize];
            if flow.fresh && flow.epoch != self.epoch {
                self.open_flow(slot);
            }
        }
        self.fresh = fresh;
        for &link in &touched {
            self.post(link, 0.0);
        }
        self.touched = touched;
        self.touched.clear();
    }

    fn sweep(&mut self) {
        while self.tally.opened > 0 || self.tally.overfull > 0 {
            let at = self.next();
            match kind(at) {
                _ if at == NOWHERE => break,
                LIMIT => self.reach_limit(at),
                _ => self.look(at),
            }
        }
        self.stops.clear();
        self.limits.clear();
    }

    /// The next stop of the sweep.
    #[inline]
    pub(super) fn next(&self) -> Stop {
        let limit = self.limits.peek().map_or(NOWHERE, |limit| limit.0);
        self.stops.first().unwrap_or(NOWHERE).min(limit)
    }

    /// Handles a stop at the limit of a flow.
    fn reach_limit(&mut self, at: Stop) {
        self.limits.pop();
        let flow = &self.flows[number(at) as usize];
        if flow.is_open(self.epoch) {
            let limit = flow.limit;
            self.settle(number(at), NONE, level(at), limit);
        }
    }

    /// Handles a stop at a link.
    fn look(&mut self, at: Stop) {
        let (number, level) = (number(at), level(at));
        let next = self.next_stop(number, level);
        if next > at && next < NOWHERE {
            self.links[number as usize].queued = self::level(next);
            return self.stops.raise_first(next);
        }
        if next <= at && kind(at) == LOOSE && self.share == 0 {
            return self.loosen(number, level);
        }
        self.links[number as usize].queued = f64::NAN;
        self.stops.pop();
        match kind(at) {
            _ if next > at => {}
            LOOSE if self.keep(number) => {}
            LOOSE => self.loosen(number, level),
            _ => self.fill(number, level),
        }
    }

    /// The next stop of the sweep, which is at `level`, at a dirty link.
    #[inline]
    fn next_stop(&self, number: u32, level: f64) -> Stop {
        let link = &self.links[number as usize];
        let room = link.capacity.saturating_sub(link.fixed);
        let old = link.level.max(level);
        // If a link is far from full at its old level, no division is needed.
        if link.tight && link.open > 0 && room as f64 > old * link.open as f64 * (1.0 + 1e-12) {
            return stop(old, LOOSE, number);
        }
        let bound = link.bound.max(level);
        let full = if link.open > 0 {
            (room as f64 / link.open as f64).max(bound)
        } else if link.is_overfull() {
            bound
        } else {
            return NOWHERE;
        };
        if link.tight && full > old {
            return stop(old, LOOSE, number);
        }
        let spare = link.spare(self.share);
        if spare == 0 || link.open == 0 {
            return stop(full, FULL, number);
        }
        let enough = room.saturating_sub(spare) as f64 / link.open as f64;
        stop(enough.max(bound), FULL, number)
    }

    /// Adds the next stop of a dirty link to the heap, unless an earlier one is there.
    #[inline]
    pub(super) fn post(&mut self, number: u32, level: f64) {
        let next = self.next_stop(number, level);
        if next < NOWHERE && self.stops.lower(next) {
            self.links[number as usize].queued = self::level(next);
        }
    }

    /// Replaces a dirty link's stop in the heap by its next one.
    fn queue(&mut self, number: u32, level: f64) {
        let next = self.next_stop(number, level);
        if next < NOWHERE {
            self.stops.set(next);
            self.links[number as usize].queued = self::level(next);
        } else {
            self.stops.remove(number);
            self.links[number as usize].queued = f64::NAN;
        }
    }

    /// Calls [`Fair::post`] for links that may have to be visited earlier.
    pub(super) fn post_sooner(&mut self, level: f64) {
        let mut sooner = std::mem::take(&mut self.sooner);
        sooner.drain(..).for_each(|link| self.post(link, level));
        self.sooner = sooner;
    }

    /// Adds a link to the sweep.
    #[inline]
    pub(super) fn make_dirty(&mut self, number: u32) {
        self.links[number as usize].wake(self.epoch, &mut self.tally);
    }

    /// Adds a flow without a rate to the sweep; its links become dirty.
    fn open_flow(&mut self, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        (flow.epoch, flow.settled) = (self.epoch, false);
        let limit = flow.limit;
        if flow.hops == 0 {
            // A flow without links has no stop in the sweep, so it settles here.
            return self.settle(slot, NONE, 0.0, limit);
        }
        for link in &self.path[hops(slot, flow)] {
            self.links[link.index()].open(0, flow.weights(), &mut self.tally);
        }
        self.limits.extend(limit_of(slot, flow).map(Reverse));
    }

    /// Handles the sweep at the old level of a link that is not full. If the difference is within
    /// the precision, the link keeps its level: its flows settle there again, as if it had not been
    /// dirty.
    fn keep(&mut self, number: u32) -> bool {
        let link = self.links[number as usize];
        let unused = (link.capacity - link.fixed) as f64 - link.open as f64 * link.level;
        if unused > link.slack(self.share) as f64 {
            return false;
        }
        if link.joining > 0 {
            self.take_in(number, link.level);
        }
        let link = &mut self.links[number as usize];
        let weight = std::mem::take(&mut link.open);
        link.own_weight += weight;
        link.own_rate += link.load - link.fixed;
        link.epoch = self.epoch - 1;
        self.tally.opened -= weight;
        true
    }

    /// Settles open flows at a link that keeps its level.
    fn take_in(&mut self, number: u32, level: f64) {
        for k in 0..self.members[number as usize].len() {
            let slot = self.members[number as usize][k] / HOPS_MAX as u32;
            let flow = &self.flows[slot as usize];
            if flow.is_open(self.epoch) {
                let rate = (flow.weight as f64 * level) as u64;
                self.settle(slot, number, level, rate);
                self.flows[slot as usize].epoch = self.epoch - 1;
            }
        }
    }

    /// Loosens a link when the sweep passes its old level: its flows may get higher rates and are
    /// open on their whole path.
    fn loosen(&mut self, number: u32, level: f64) {
        self.links[number as usize].tight = false;
        let mut tally = self.tally;
        for &slot in &self.own[number as usize] {
            let flow = &mut self.flows[slot as usize];
            if flow.epoch == self.epoch {
                continue;
            }
            (flow.epoch, flow.settled) = (self.epoch, false);
            let (rates, weights) = (flow.rates(), flow.weights());
            for &other in &self.path[hops(slot, flow)] {
                if other.0 == number {
                    continue;
                }
                let link = &mut self.links[other.index()];
                if link.epoch != self.epoch {
                    link.wake(self.epoch, &mut tally);
                }
                // A link that is full below this level would have settled the flow.
                debug_assert!(!link.full, "full below a flow's level");
                link.open(rates, weights, &mut tally);
                if !link.waits(self.share) {
                    self.sooner.push(other.0);
                }
            }
            self.limits.extend(limit_of(slot, flow).map(Reverse));
        }
        self.tally = tally;
        self.post_sooner(level);
        self.queue(number, level);
    }
}
