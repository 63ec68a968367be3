//! Requests and grants that are lost with the cells that carry them, and nodes that receive no
//! requests (Sirius §4.5).

use super::avoid::Avoid;
use crate::sirius::config::Intermediates;
use crate::sirius::index::{Label, Row};
use crate::sirius::kernel::Sirius;
use std::collections::BTreeSet;

impl Sirius {
    /// Removes the stored requests that were lost, and those whose answer will be lost: cells carry
    /// both.
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
                let others = Label::all(self.partition.nodes);
                pairs.extend(others.clone().map(|other| (n, other, passes)));
                let rest = others.filter(|&other| other != n);
                pairs.extend(rest.map(|other| (other, n, passes)));
            }
            for (at, (from, to, passes)) in pairs.into_iter().enumerate() {
                // A pair may occur twice: because of its link and because of its node.
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

    fn strike_one(&mut self, kept: usize, source: Label, by: Label) {
        let [from, to] = [source, by].map(|label| self.partition.shard_of(label));
        let row = Row::of(source, self.shards[from].lo);
        let column = Row::of(by, self.shards[to].lo).0;
        let kept = &mut self.epochs[kept];
        if !kept.askers[from].has(row) {
            return;
        }
        let none = self.partition.nodes as u16;
        let want = &mut kept.matrices[from][to].row(row)[column];
        *want = none;
    }

    /// The nodes and pairs that are not requested in the epoch that begins with `slot`.
    #[cold]
    pub(crate) fn avoid(&self, slot: i64) -> Avoid {
        let slots = self.schedules.slots_from(slot);
        self.avoiding(self.faults.dark_in(slots, &self.schedules))
    }

    /// The nodes and paths that are avoided in every epoch until something is repaired.
    #[cold]
    pub(crate) fn avoid_for_good(&self) -> Avoid {
        self.avoiding(self.faults.dark_for_good().collect())
    }

    fn avoiding(&self, dark: BTreeSet<(Label, Label)>) -> Avoid {
        let nodes = Label::all(self.partition.nodes);
        Avoid {
            nodes: nodes.filter(|n| self.faults.known[n.index()]).collect(),
            dark,
            cut: self.faults.cut.clone(),
            ends: self.config.intermediates == Intermediates::All,
        }
    }
}
