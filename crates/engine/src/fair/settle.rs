//! The effect of a settled flow on the links of its path.

use super::columns::{hops, Flow, Step};
use super::{Fair, Slot, NONE};

impl Fair {
    /// Gives a flow its rate. On its path the rate is fixed; if it differs from the old rate, the
    /// links become dirty. `bottleneck` is already dirty.
    pub(super) fn settle(&mut self, slot: u32, bottleneck: u32, level: f64, rate: u64) {
        let flow = &mut self.flows[slot as usize];
        let was = *flow;
        (flow.rate, flow.level) = (rate, level);
        (flow.epoch, flow.settled) = (self.epoch, true);
        flow.fresh = false;
        if bottleneck != was.bottleneck {
            self.disown(slot);
            self.own(slot, bottleneck);
        }
        let step = Step {
            had: was.rates(),
            has: rate * was.count as u64,
            weight: was.weights(),
        };
        if bottleneck != NONE {
            self.fix(bottleneck, &step, &was);
            let link = &mut self.links[bottleneck as usize];
            link.own_rate += step.has;
            link.own_weight += step.weight;
        }
        self.elsewhere(slot, bottleneck, level, &step, &was);
    }

    /// The effect of a flow that has settled on the other links of its path.
    #[inline]
    fn elsewhere(&mut self, slot: u32, bottleneck: u32, level: f64, step: &Step, was: &Flow) {
        let was_open = was.is_open(self.epoch);
        let stays = !step.moves() && !was_open && bottleneck == was.bottleneck;
        if !stays || level > was.level {
            for hop in hops(slot, was) {
                let number = self.path[hop].0;
                if number == bottleneck {
                    continue;
                }
                self.links[number as usize].raise_most(level);
                if !stays {
                    self.pass(number, level, step, was);
                }
            }
        }
        if step.moves() || was.fresh {
            self.changed.push(Slot(slot));
        } else if bottleneck != was.bottleneck {
            self.held_elsewhere.push(Slot(slot));
        }
    }

    /// Applies a flow that has settled elsewhere to a link, which may have been its bottleneck
    /// before.
    #[inline]
    fn pass(&mut self, number: u32, level: f64, step: &Step, was: &Flow) {
        let link = &mut self.links[number as usize];
        if link.epoch == self.epoch {
            return self.fix(number, step, was);
        }
        if !step.moves() || link.bears(step, self.share) {
            link.load = link.load - step.had + step.has;
            if was.bottleneck == number {
                link.own_rate -= step.had;
                link.own_weight -= step.weight;
            }
            return;
        }
        self.make_dirty(number);
        self.fix(number, step, was);
        self.post(number, level);
    }

    /// Applies the rate of a flow to a dirty link on its path.
    #[inline]
    fn fix(&mut self, number: u32, step: &Step, was: &Flow) {
        let link = &mut self.links[number as usize];
        let was_open = was.is_open(self.epoch);
        if was.bottleneck == number {
            link.close(step, 0, &mut self.tally);
        } else if was_open {
            link.close(step, step.weight, &mut self.tally);
        } else {
            link.correct(step, &mut self.tally);
        }
    }
}
