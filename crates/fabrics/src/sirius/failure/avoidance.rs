//! Requests and grants ride on cells: which are lost with them, and who is not asked (Sirius
//! §4.5).

use super::avoid::Avoid;
use crate::sirius::config::Intermediates;
use crate::sirius::kernel::Sirius;

impl Sirius {
    /// Removes the requests of `kept` that did not arrive, or that will hear no
    /// answer: they ride on cells.
    #[cold]
    pub(crate) fn strike(&mut self, kept: usize, slot: i64, epoch: i64) {
        if self.epochs[kept].askers.iter().all(|a| a.is_empty()) {
            return;
        }
        let asked = self.epochs[kept].slots.clone();
        let answered = self.schedules.slots_from(slot);
        let nodes = self.faults.lossy_nodes();
        for (purpose, slots, back) in [
            ("sirius.lost-requests", asked, false),
            ("sirius.lost-grants", answered, true),
        ] {
            let mut pairs = self.faults.pairs_in(slots, &self.schedules);
            for &(n, passes) in &nodes {
                let others = 0..self.partition.nodes as u16;
                pairs.extend(others.clone().map(|other| (n, other, passes)));
                let rest = others.filter(|&other| other != n);
                pairs.extend(rest.map(|other| (other, n, passes)));
            }
            for (at, (from, to, passes)) in pairs.into_iter().enumerate() {
                // A pair may be named twice, by its link and by its node.
                let chance = || {
                    self.faults
                        .chance(purpose, epoch << 8 | (at & 0xFF) as i64, from, to)
                };
                if passes <= 0.0 || chance() >= passes {
                    let (source, by) = if back { (to, from) } else { (from, to) };
                    self.strike_one(kept, source, by);
                }
            }
        }
    }

    fn strike_one(&mut self, kept: usize, source: u16, by: u16) {
        let (from, to) = (
            self.partition.shard[source as usize],
            self.partition.shard[by as usize],
        );
        let row = source as usize - self.shards[from as usize].lo;
        let column = by as usize - self.shards[to as usize].lo;
        let kept = &mut self.epochs[kept];
        if !kept.askers[from as usize].has(row) {
            return;
        }
        let none = self.partition.nodes as u16;
        let want = &mut kept.matrices[from as usize][to as usize].row(row)[column];
        *want = none;
    }

    /// Whom nobody asks in the epoch that begins with `slot`.
    #[cold]
    pub(crate) fn avoid(&self, slot: i64) -> Avoid {
        let nodes = 0..self.partition.nodes as u16;
        Avoid {
            nodes: nodes.filter(|&n| self.faults.known[n as usize]).collect(),
            dark: self
                .faults
                .dark_in(self.schedules.slots_from(slot), &self.schedules),
            cut: self.faults.cut.clone(),
            ends: self.config.intermediates == Intermediates::All,
        }
    }
}
