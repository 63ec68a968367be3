//! Step 3 of the control cycle, its three substeps (§III.B.1).
//!
//! 3-1 pushes rules that lead the affected traffic to the tree; then the circuits
//! that are not wanted any more go dark. 3-2 sets mirrors (`settle`, `link_up`),
//! tags ports (`retag`) and installs rules, all at once. 3-3 deletes the rules of
//! 3-1, and traffic enters the new paths.

use super::config::Pushing;
use super::kernel::{Event, Hydra};
use lightloom_control::vlan::Rules;
use lightloom_engine::kernel::flow::{Net, Todo};
use lightloom_engine::{Io, Time};

impl Hydra {
    /// Pairs in force that the cycle under way moves.
    fn affected(&self) -> Vec<(u32, u32)> {
        let mut pairs = self.routes.differing(&self.next);
        pairs.retain(|&(a, b)| !self.routes.between(a, b).is_empty());
        pairs
    }

    /// What it takes to push so many rules, of which no server gets more than
    /// `most`.
    fn push(&self, rules: u64, most: u64) -> Time {
        let rules = match self.config.pushing {
            Pushing::Sequential => rules,
            Pushing::Parallel => most,
        };
        let ps = (self.config.rule.0 as i128).saturating_mul(rules as i128);
        Time(i64::try_from(ps).unwrap_or(i64::MAX / 4).min(i64::MAX / 4))
    }

    /// What it takes to install the rules of paths between these racks.
    fn install(&self, paths: &[(u32, u32)]) -> Time {
        if let Some(rules) = self.config.rules {
            let most = rules.div_ceil(self.cluster.hosts() as u64);
            return self.push(rules, most);
        }
        let mut of_rack = vec![0; self.cluster.racks as usize];
        for &(a, b) in paths {
            of_rack[a as usize] += 1;
            of_rack[b as usize] += 1;
        }
        let rules = Rules::of(paths.iter().copied(), self.servers()).install;
        self.push(rules, of_rack.into_iter().max().unwrap_or(0))
    }

    fn servers(&self) -> u64 {
        self.cluster.servers_per_rack as u64
    }

    /// 3-1 begins.
    pub(super) fn decided(&mut self, now: Time, todo: &mut Todo<Event>) {
        let rules = Rules::of(self.affected(), self.servers());
        let at = now + self.push(rules.leave, rules.leave.min(1));
        todo.schedule(at, Event::Left(self.term));
    }

    /// 3-1 is done and 3-2 begins.
    pub(super) fn left(&mut self, now: Time, io: &Io, net: &mut Net, todo: &mut Todo<Event>) {
        let affected = self.affected();
        let mut paths = self.routes.differing(&self.next);
        paths.retain(|&(a, b)| !self.next.between(a, b).is_empty());
        let each = paths.iter().flat_map(|&(a, b)| {
            let routes = self.next.between(a, b).len();
            std::iter::repeat_n((a, b), routes)
        });
        let install = self.install(&each.collect::<Vec<_>>());
        let rules = Rules::of(affected.iter().copied(), self.servers());
        let delete = self.push(rules.enter, rules.enter.min(1));
        for pair in affected {
            self.routes.drop_pair(pair);
        }
        self.follow(now, io, net, todo);
        self.darken_unwanted(now);
        let mirrors = self.config.settle + self.config.link_up;
        let ready = mirrors.max(self.config.retag).max(install);
        todo.schedule(now + mirrors, Event::Lit(self.term));
        todo.schedule(now + ready + delete, Event::Entered(self.term));
    }

    fn darken_unwanted(&mut self, now: Time) {
        let wanted: std::collections::BTreeSet<_> = self.controller.circuits().collect();
        for plane in 0..self.config.planes {
            for rack in 0..self.cluster.racks {
                let Some(peer) = self.record.peer(rack, plane as u16) else {
                    continue;
                };
                if !wanted.contains(&(rack.min(peer), rack.max(peer), plane)) {
                    self.record.down(rack, plane as u16, now);
                }
            }
        }
    }

    /// The circuits of the topology that are not lit come up, where ports work.
    pub(super) fn light(&mut self, now: Time) {
        let works = |rack, plane| !self.controller.is_broken(rack, plane);
        let wanted: Vec<_> = self
            .controller
            .circuits()
            .filter(|&c| !self.is_lit(c))
            .filter(|&(a, b, plane)| works(a, plane) && works(b, plane))
            .collect();
        for (a, b, plane) in wanted {
            self.record.up(a, b, plane as u16, now);
        }
    }

    /// 3-3 is done. Ports may have broken meanwhile.
    pub(super) fn entered(&mut self, now: Time, io: &Io, net: &mut Net, todo: &mut Todo<Event>) {
        self.routes = std::mem::take(&mut self.next);
        self.keep_lit();
        self.follow(now, io, net, todo);
        self.busy = false;
        if std::mem::take(&mut self.due) {
            self.cycle(now, io, net, todo);
        }
    }
}
