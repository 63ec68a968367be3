//! Full links: the flows that settle there, and their rates.

use super::columns::{hops, Flow, Step};
use super::solve::{stop, FULL};
use super::{Fair, Slot, HOPS_MAX};

impl Fair {
    /// Handles a stop of the sweep at a level at which a link may be full.
    pub(super) fn fill(&mut self, number: u32, swept: f64) {
        let Some((level, room)) = self.root(number, swept) else {
            return;
        };
        if stop(level, FULL, number) > self.next() {
            self.links[number as usize].bound = level;
            self.post(number, swept);
            return;
        }
        let link = &mut self.links[number as usize];
        link.full = true;
        link.level = level;
        if link.joining == 0 && link.most < level {
            self.fill_own(number, level, room);
        } else {
            self.fill_all(number, level, room);
        }
    }

    /// Fills a link at which only flows settle that settled there before; adds up the changes.
    fn fill_own(&mut self, number: u32, level: f64, room: u64) {
        let room = Room::new(level, room);
        let sum = match self.links[number as usize].tight {
            true => self.settle_again(number, room),
            false => self.settle_loosened(number, room),
        };
        let link = &mut self.links[number as usize];
        link.close(&sum, 0, &mut self.tally);
        link.own_rate += sum.has;
        link.own_weight += sum.weight;
        self.post_sooner(level);
    }

    /// Settles flows at their old bottleneck; returns their joint change.
    fn settle_again(&mut self, number: u32, mut room: Room) -> Step {
        let (mut sum, mut tally) = (Step::default(), self.tally);
        for &slot in &self.own[number as usize] {
            let flow = &mut self.flows[slot as usize];
            if flow.epoch == self.epoch {
                continue;
            }
            let rises = room.level > flow.level;
            let step = room.settle(flow);
            flow.epoch = self.epoch;
            sum.add(&step);
            if !step.moves() && !rises {
                continue;
            }
            for &other in &self.path[hops(slot, flow)] {
                if other.0 == number {
                    continue;
                }
                let link = &mut self.links[other.index()];
                link.raise_most(room.level);
                if step.moves() && link.hear(&step, self.epoch, self.share, &mut tally) {
                    self.sooner.push(other.0);
                }
            }
            if step.moves() {
                self.changed.push(Slot(slot));
            }
        }
        self.tally = tally;
        sum
    }

    /// Settles flows at a link at which they had settled before it was loosened; returns the sum of
    /// their changes.
    fn settle_loosened(&mut self, number: u32, mut room: Room) -> Step {
        let (mut sum, mut tally) = (Step::default(), self.tally);
        for &slot in &self.own[number as usize] {
            let flow = &mut self.flows[slot as usize];
            if flow.settled {
                continue;
            }
            let step = room.settle(flow);
            sum.add(&step);
            for &other in &self.path[hops(slot, flow)] {
                if other.0 != number {
                    let link = &mut self.links[other.index()];
                    link.raise_most(room.level);
                    link.close(&step, step.weight, &mut tally);
                }
            }
            if step.moves() {
                self.changed.push(Slot(slot));
            }
        }
        self.tally = tally;
        sum
    }

    /// Fills a link at which flows from elsewhere may settle, too.
    fn fill_all(&mut self, number: u32, level: f64, room: u64) {
        let mut room = Room::new(level, room);
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
            let (rate, _) = room.give(flow.weight, flow.count);
            self.settle(slot, number, level, rate);
        }
    }

    /// The level at which a link is full (at least `level`) by present knowledge, and the capacity
    /// for the flows that settle there. Flows that were assumed to settle elsewhere at a higher
    /// level settle here.
    fn root(&mut self, number: u32, level: f64) -> Option<(f64, u64)> {
        let mut root = level;
        loop {
            let (cut, weight) = match self.links[number as usize].most < root {
                true => (0, 0),
                false => self.cut(number, root),
            };
            let link = &self.links[number as usize];
            let room = link.capacity.saturating_sub(link.fixed - cut);
            if link.open + weight == 0 {
                return None;
            }
            let used = room.saturating_sub(link.spare(self.share));
            let next = (used as f64 / (link.open + weight) as f64).max(root);
            if weight == 0 || next == root {
                return Some((next, room));
            }
            root = next;
        }
    }

    /// Rate and weight of the flows over a link that are assumed to settle elsewhere, at a level or
    /// above.
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
        self.links[number as usize].most = most;
        (cut, weight)
    }
}

/// The capacity of a full link for the flows that settle there.
struct Room {
    level: f64,
    /// The capacity that is not given to flows yet [b/s].
    left: u64,
    /// A weight and its rate, cached because most flows have the same weight.
    weight: u32,
    rate: u64,
}

impl Room {
    fn new(level: f64, left: u64) -> Room {
        Room {
            level,
            left,
            weight: 0,
            rate: 0,
        }
    }

    /// Gives a flow its rate.
    #[inline]
    fn settle(&mut self, flow: &mut Flow) -> Step {
        let (rate, has) = self.give(flow.weight, flow.count);
        let (had, weight) = (flow.rates(), flow.weights());
        (flow.rate, flow.level, flow.settled) = (rate, self.level, true);
        Step { had, has, weight }
    }

    /// The rate of each of `count` flows, which is reduced if not enough capacity is left, and
    /// their total rate.
    #[inline]
    fn give(&mut self, weight: u32, count: u32) -> (u64, u64) {
        if weight != self.weight {
            self.find(weight);
        }
        match self.rate.checked_mul(count as u64) {
            Some(all) if all <= self.left => {
                self.left -= all;
                (self.rate, all)
            }
            _ => self.give_rest(count),
        }
    }

    #[cold]
    fn find(&mut self, weight: u32) {
        self.weight = weight;
        self.rate = (weight as f64 * self.level) as u64;
    }

    /// Divides the remaining capacity among `count` flows that need more than is left; returns the
    /// rate of each and their total rate.
    #[cold]
    fn give_rest(&mut self, count: u32) -> (u64, u64) {
        let rate = self.rate.min(self.left / count as u64);
        let all = rate * count as u64;
        self.left -= all;
        (rate, all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each flow gets 10 b/s while available, then the rest, then nothing.
    #[test]
    fn nobody_is_given_what_is_not_there() {
        let mut room = Room::new(10.0, 25);
        let given = [(); 4].map(|()| room.give(1, 1));
        assert_eq!(given, [(10, 10), (10, 10), (5, 5), (0, 0)]);
    }

    /// Equal flows get equal rates: of 25 b/s each of three gets 8, and 1 is left.
    #[test]
    fn flows_that_are_alike_divide_what_is_left() {
        let mut room = Room::new(10.0, 25);
        assert_eq!(room.give(1, 3), (8, 24));
        assert_eq!(room.give(1, 1), (1, 1));
    }

    /// Rates are rounded down, each separately.
    #[test]
    fn rates_are_in_proportion_to_weights() {
        let mut room = Room::new(2.5, 100);
        let given =
            [(1, 2), (3, 1), (4, 2), (1, 1)].map(|(weight, count)| room.give(weight, count));
        assert_eq!(given, [(2, 4), (7, 7), (10, 20), (2, 2)]);
        assert_eq!(room.left, 100 - 33);
    }
}
