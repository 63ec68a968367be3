//! Progressive filling, of what a change can reach and nothing else.
//!
//! In plain progressive filling the level of all flows rises together, and a
//! flow *settles* at its limit or when a link on its path is full. Here the
//! level sweeps upwards in the same way, but a link joins in only when it is
//! *dirty*: it was touched, or a flow over it has another rate than before.
//! All other flows are taken to settle where they did.
//!
//! - A dirty link knows its *open* weight (of flows that settle somewhere above
//!   the sweep) and the *fixed* rate of the others, hence a lower bound of the
//!   level at which it is full. When the sweep reaches that bound the link is
//!   looked at: either it is full there and its flows settle, or flows that are
//!   taken to settle higher elsewhere make the bound rise.
//! - Flows whose bottleneck is a dirty link are taken to settle there again
//!   until the sweep passes its old level without filling it. Then the link
//!   *loosens*: they are open on all their path, and those links are dirty.
//! - A flow that settles at another rate than before makes its links dirty.
//!
//! The sweep ends when nothing is open and no link is *overfull*, that is, has
//! more fixed than it can carry.
//!
//! A change at a link thus reaches only links of its level or above, and only
//! through flows whose rates change. A link is looked at once or a few times;
//! each costs its flows.
//!
//! Levels are floats: a quotient of whole numbers each, computed anew, never
//! summed. Rates are whole, so the books of links are exact. At equal levels
//! limits come before links and links before what loosens, in order of number:
//! the outcome depends on nothing but the changes and their order.

use super::columns::{Flow, Wait};
use super::{Fair, Slot, HOPS_MAX, NONE};
use std::cmp::Reverse;

/// What the sweep meets at a level, in this order.
const LIMIT: u32 = 0;
const FULL: u32 = 1;
const LOOSE: u32 = 2;
/// Numbers of flows and links end here.
const KIND_SHIFT: u32 = 30;

/// A level and what is there; in the order of the sweep.
pub type Stop = (u64, u32);

/// A link is filled to the precision ÷ this below its capacity. The more of it is left
/// the sooner completion times are off; nothing is gained below this.
const AIM: u64 = 8;

/// Not in the heap.
pub const NOWHERE: Stop = (u64::MAX, u32::MAX);

/// Levels are not negative, so their bits have their order.
#[inline]
fn stop(level: f64, kind: u32, number: u32) -> Stop {
    (level.to_bits(), kind << KIND_SHIFT | number)
}

impl Fair {
    /// Gives every flow its rate; returns [`Fair::changed`].
    pub fn solve(&mut self) -> &[Slot] {
        self.changed.clear();
        if std::mem::take(&mut self.dirty) {
            self.next_epoch();
            self.opened = 0;
            self.overfull = 0;
            self.begin();
            self.sweep();
        }
        &self.changed
    }

    /// Numbers the solution; all is forgotten when numbers run out.
    fn next_epoch(&mut self) {
        if self.epoch == u32::MAX {
            self.links.iter_mut().for_each(|l| l.epoch = 0);
            self.flows.iter_mut().for_each(|f| f.epoch = 0);
            self.epoch = 0;
        }
        self.epoch += 1;
    }

    /// Makes dirty what was touched, and opens the flows that have no rate.
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
        while let Some(&Reverse(at)) = self.heap.peek() {
            if self.opened == 0 && self.overfull == 0 {
                self.heap.clear();
                break;
            }
            let level = f64::from_bits(at.0);
            let (kind, number) = (at.1 >> KIND_SHIFT, at.1 & ((1 << KIND_SHIFT) - 1));
            if kind == LIMIT {
                self.heap.pop();
                let flow = &self.flows[number as usize];
                if flow.is_open(self.epoch) {
                    let rate = flow.limit;
                    self.settle(number, NONE, level, rate);
                }
                continue;
            }
            if self.waits[number as usize].queued != at {
                self.heap.pop();
                continue;
            }
            let next = self.next_stop(number, level);
            self.waits[number as usize].queued = match next > at {
                true => next,
                false => NOWHERE,
            };
            if next > at && next < NOWHERE {
                *self.heap.peek_mut().expect("the stop") = Reverse(next);
                continue;
            }
            self.heap.pop();
            match kind {
                _ if next > at => {}
                LOOSE if self.share > 0 && self.keep(number) => {}
                LOOSE => self.loosen(number, level),
                _ => self.fill(number, level),
            }
        }
    }

    /// Where the sweep, at `level` now, has to look at a dirty link next.
    #[inline]
    fn next_stop(&self, number: u32, level: f64) -> Stop {
        let link = &self.links[number as usize];
        let room = link.capacity.saturating_sub(link.fixed);
        let old = link.level.max(level);
        // What need not be divided: far from full at its old level.
        if link.tight && link.open > 0 && room as f64 > old * link.open as f64 * (1.0 + 1e-12) {
            return stop(old, LOOSE, number);
        }
        let bound = self.waits[number as usize].bound.max(level);
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
        let spare = self.slack(link.capacity) / AIM;
        if spare == 0 || link.open == 0 {
            return stop(full, FULL, number);
        }
        let enough = room.saturating_sub(spare) as f64 / link.open as f64;
        stop(enough.max(bound), FULL, number)
    }

    /// What a link may leave unused [b/s].
    #[inline]
    fn slack(&self, capacity: u64) -> u64 {
        ((capacity as u128 * self.share as u128) >> 64) as u64
    }

    /// Whether so much is enough for a link, and not too much.
    #[inline]
    fn suffices(&self, load: u64, capacity: u64) -> bool {
        load <= capacity && capacity - load <= self.slack(capacity)
    }

    /// Puts a dirty link's next stop into the heap, unless an earlier one is.
    #[inline]
    fn post(&mut self, number: u32, level: f64) {
        let next = self.next_stop(number, level);
        let queued = &mut self.waits[number as usize].queued;
        if next < *queued {
            *queued = next;
            self.heap.push(Reverse(next));
        }
    }

    /// The link takes part in the sweep from now on.
    #[inline]
    fn make_dirty(&mut self, number: u32) {
        let link = &mut self.links[number as usize];
        link.epoch = self.epoch;
        link.full = false;
        link.tight = link.own_weight > 0;
        link.open = std::mem::take(&mut link.own_weight);
        self.opened += link.open;
        link.fixed = link.load - std::mem::take(&mut link.own_rate);
        self.overfull += link.is_overfull() as u32;
        let wait = &mut self.waits[number as usize];
        *wait = Wait {
            bound: 0.0,
            queued: NOWHERE,
            joining: 0,
            most: wait.most,
        };
    }

    /// A flow without a rate joins the sweep; its links are dirty.
    fn open_flow(&mut self, slot: u32) {
        let flow = &mut self.flows[slot as usize];
        flow.epoch = self.epoch;
        flow.settled = false;
        let (weight, limit, hops) = (flow.weight, flow.limit, flow.hops as usize);
        let weights = flow.weights();
        if hops == 0 {
            // No link would keep the sweep going for it.
            return self.settle(slot, NONE, 0.0, limit);
        }
        let first = slot as usize * HOPS_MAX;
        for link in &self.path[first..first + hops] {
            self.links[link.index()].open += weights;
            self.waits[link.index()].joining += weights;
            self.opened += weights;
        }
        self.post_limit(slot, limit, weight);
    }

    #[inline]
    fn post_limit(&mut self, slot: u32, limit: u64, weight: u32) {
        if limit != u64::MAX {
            let level = limit as f64 / weight as f64;
            self.heap.push(Reverse(stop(level, LIMIT, slot)));
        }
    }

    /// The sweep has reached the old level of a link and more would fit. If that
    /// is within the precision the link keeps its level: what settled there does
    /// so again, and the link is as if it had not been dirty.
    fn keep(&mut self, number: u32) -> bool {
        let link = self.links[number as usize];
        let unused = (link.capacity - link.fixed) as f64 - link.open as f64 * link.level;
        if unused > self.slack(link.capacity) as f64 {
            return false;
        }
        if self.waits[number as usize].joining > 0 {
            self.take_in(number, link.level);
        }
        let link = &mut self.links[number as usize];
        let weight = std::mem::take(&mut link.open);
        link.own_weight += weight;
        link.own_rate += link.load - link.fixed;
        link.epoch = self.epoch - 1;
        self.opened -= weight;
        true
    }

    /// Flows that are open at a link that keeps its level settle there.
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

    /// The sweep passes the old level of a link: what settled there may rise.
    fn loosen(&mut self, number: u32, level: f64) {
        self.links[number as usize].tight = false;
        for k in 0..self.own[number as usize].len() {
            let slot = self.own[number as usize][k];
            let flow = self.flows[slot as usize];
            if flow.epoch == self.epoch {
                continue;
            }
            let first = slot as usize * HOPS_MAX;
            let hops = first..first + flow.hops as usize;
            self.flows[slot as usize].epoch = self.epoch;
            self.flows[slot as usize].settled = false;
            for hop in hops {
                let other = self.path[hop].0;
                if other == number {
                    continue;
                }
                if self.links[other as usize].epoch != self.epoch {
                    self.make_dirty(other);
                }
                let link = &mut self.links[other as usize];
                // What is full below this level settled the flow.
                debug_assert!(!link.full, "full below a flow's level");
                self.overfull -= link.is_overfull() as u32;
                link.fixed -= flow.rates();
                self.overfull += link.is_overfull() as u32;
                link.open += flow.weights();
                let wait = &mut self.waits[other as usize];
                wait.bound = 0.0;
                wait.joining += flow.weights();
                self.opened += flow.weights();
                self.post(other, level);
            }
            self.post_limit(slot, flow.limit, flow.weight);
        }
        self.post(number, level);
    }

    /// The sweep has reached a level at which a link may be full.
    fn fill(&mut self, number: u32, swept: f64) {
        let Some((level, room)) = self.root(number, swept) else {
            return;
        };
        let next = self.heap.peek().map_or(NOWHERE, |r| r.0);
        if stop(level, FULL, number) > next {
            self.waits[number as usize].bound = level;
            self.post(number, swept);
            return;
        }
        let link = &mut self.links[number as usize];
        link.full = true;
        link.level = level;
        let wait = &self.waits[number as usize];
        if wait.joining == 0 && wait.most < level {
            self.fill_own(number, level, room);
        } else {
            self.fill_all(number, level, room);
        }
    }

    /// All that settle at a full link did so before: what changes there is added up.
    fn fill_own(&mut self, number: u32, level: f64, mut room: u64) {
        let (mut had, mut has, mut weights) = (0, 0, 0);
        // Most have the same weight.
        let mut last = (0, 0);
        for k in 0..self.own[number as usize].len() {
            let slot = self.own[number as usize][k];
            let flow = &mut self.flows[slot as usize];
            let was = *flow;
            if was.is_settled(self.epoch) {
                continue;
            }
            if was.weight != last.0 {
                last = (was.weight, (was.weight as f64 * level) as u64);
            }
            let rate = within(last.1, was.count, &mut room);
            (flow.rate, flow.level) = (rate, level);
            (flow.epoch, flow.settled) = (self.epoch, true);
            let step = Step::of(&was, rate, level, self.epoch);
            had += step.had;
            has += step.has;
            weights += step.weight;
            self.elsewhere(slot, number, &step, &was);
        }
        let link = &mut self.links[number as usize];
        self.overfull -= link.is_overfull() as u32;
        link.open -= weights;
        link.fixed += has;
        self.opened -= weights;
        self.overfull += link.is_overfull() as u32;
        link.load = link.load - had + has;
        link.own_rate += has;
        link.own_weight += weights;
        self.waits[number as usize].bound = 0.0;
    }

    /// Flows from elsewhere may settle at a full link, too.
    fn fill_all(&mut self, number: u32, level: f64, mut room: u64) {
        for k in 0..self.members[number as usize].len() {
            let slot = self.members[number as usize][k] / HOPS_MAX as u32;
            let flow = &self.flows[slot as usize];
            let own = flow.bottleneck == number;
            if flow.epoch == self.epoch {
                if flow.settled {
                    continue;
                }
            } else if !own && flow.level < level {
                continue;
            }
            let rate = (flow.weight as f64 * level) as u64;
            let rate = within(rate, flow.count, &mut room);
            self.settle(slot, number, level, rate);
        }
    }

    /// The level at which a link is full, from `level` on, as far as is known,
    /// and what its flows that settle there share. Flows that are taken to
    /// settle higher elsewhere settle here.
    fn root(&mut self, number: u32, level: f64) -> Option<(f64, u64)> {
        let mut root = level;
        loop {
            let (cut, weight) = match self.waits[number as usize].most < root {
                true => (0, 0),
                false => self.cut(number, root),
            };
            let link = &self.links[number as usize];
            let room = link.capacity.saturating_sub(link.fixed - cut);
            if link.open + weight == 0 {
                return None;
            }
            let used = room.saturating_sub(self.slack(link.capacity) / AIM);
            let next = (used as f64 / (link.open + weight) as f64).max(root);
            if weight == 0 || next == root {
                return Some((next, room));
            }
            root = next;
        }
    }

    /// Rate and weight of the flows over a link that are taken to settle elsewhere,
    /// at a level or higher.
    fn cut(&mut self, number: u32, root: f64) -> (u64, u64) {
        let (mut cut, mut weight, mut most) = (0, 0, 0.0f64);
        for &hop in &self.members[number as usize] {
            let flow = &self.flows[hop as usize / HOPS_MAX];
            if flow.bottleneck == number {
                continue;
            }
            most = most.max(flow.level);
            if flow.epoch != self.epoch && flow.level >= root {
                cut += flow.rates();
                weight += flow.weights();
            }
        }
        self.waits[number as usize].most = most;
        (cut, weight)
    }

    /// A flow has its rate: on its path it is fixed, and what is not what it
    /// was there makes the links dirty. `bottleneck` is among the dirty ones.
    fn settle(&mut self, slot: u32, bottleneck: u32, level: f64, rate: u64) {
        let flow = &mut self.flows[slot as usize];
        let was = *flow;
        (flow.rate, flow.level) = (rate, level);
        (flow.epoch, flow.settled) = (self.epoch, true);
        flow.fresh = false;
        if bottleneck != was.bottleneck {
            self.disown(slot);
            self.own(slot, bottleneck);
        }
        let step = Step::of(&was, rate, level, self.epoch);
        if bottleneck != NONE {
            let link = &mut self.links[bottleneck as usize];
            self.overfull -= link.is_overfull() as u32;
            if step.was_open || was.bottleneck == bottleneck {
                link.open -= step.weight;
                link.fixed += step.has;
                self.opened -= step.weight;
            } else {
                link.fixed = link.fixed - step.had + step.has;
            }
            self.overfull += link.is_overfull() as u32;
            link.load = link.load - step.had + step.has;
            link.own_rate += step.has;
            link.own_weight += step.weight;
            let wait = &mut self.waits[bottleneck as usize];
            wait.bound = 0.0;
            if step.was_open && was.bottleneck != bottleneck {
                wait.joining -= step.weight;
            }
        }
        self.elsewhere(slot, bottleneck, &step, &was);
    }

    /// What a flow that has settled means for the other links on its path.
    #[inline]
    fn elsewhere(&mut self, slot: u32, bottleneck: u32, step: &Step, was: &Flow) {
        let moved = step.had != step.has;
        let stays = !moved && !step.was_open && bottleneck == was.bottleneck;
        if !stays || step.level > was.level {
            let first = slot as usize * HOPS_MAX;
            for hop in first..first + was.hops as usize {
                let number = self.path[hop].0;
                if number == bottleneck {
                    continue;
                }
                let most = &mut self.waits[number as usize].most;
                *most = most.max(step.level);
                if !stays {
                    self.pass(number, step, was.bottleneck == number);
                }
            }
        }
        if moved || was.fresh {
            self.changed.push(Slot(slot));
        }
    }

    /// A flow that has settled elsewhere goes over a link, which was its bottleneck
    /// or not.
    #[inline]
    fn pass(&mut self, number: u32, step: &Step, was_own: bool) {
        let link = &mut self.links[number as usize];
        let clean = link.epoch != self.epoch;
        if clean {
            let load = link.load - step.had + step.has;
            let capacity = link.capacity;
            let idle = link.own_weight == 0 && load <= capacity;
            let same = step.had == step.has;
            if same || idle || self.share != 0 && self.suffices(load, capacity) {
                let link = &mut self.links[number as usize];
                link.load = load;
                if was_own {
                    link.own_rate -= step.had;
                    link.own_weight -= step.weight;
                }
                return;
            }
            self.make_dirty(number);
        }
        let link = &mut self.links[number as usize];
        self.overfull -= link.is_overfull() as u32;
        if step.was_open || was_own {
            link.open -= step.weight;
            link.fixed += step.has;
            self.opened -= step.weight;
        } else {
            link.fixed = link.fixed - step.had + step.has;
        }
        self.overfull += link.is_overfull() as u32;
        link.load = link.load - step.had + step.has;
        let wait = &mut self.waits[number as usize];
        wait.bound = 0.0;
        if step.was_open && !was_own {
            wait.joining -= step.weight;
        }
        if clean {
            self.post(number, step.level);
        }
    }
}

/// A flow gets its rate.
struct Step {
    /// What all that it stands for had and have now.
    had: u64,
    has: u64,
    weight: u64,
    level: f64,
    /// Whether its links have it among what is open.
    was_open: bool,
}

impl Step {
    #[inline]
    fn of(was: &Flow, rate: u64, level: f64, epoch: u32) -> Step {
        Step {
            had: was.rates(),
            has: rate * was.count as u64,
            weight: was.weights(),
            level,
            was_open: was.is_open(epoch),
        }
    }
}

/// A rate for each of so many flows, or less if no more room is left; takes it from
/// the room.
#[inline]
fn within(rate: u64, count: u32, room: &mut u64) -> u64 {
    // Divided only where it has to be.
    let rate = match rate.checked_mul(count as u64) {
        Some(all) if all <= *room => rate,
        _ => rate.min(*room / count as u64),
    };
    *room -= rate * count as u64;
    rate
}
