//! The links of a slot that carry light, and the fate of the cells on them (Sirius §4.5).

use super::faults::{Broken, Faults, Link, Part};
use crate::sirius::index::Label;
use crate::sirius::schedule::peer_order::PeerOrder;
use crate::sirius::schedule::reschedule::Schedules;
use lightloom_engine::Stream;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

impl Faults {
    /// The links of a slot that go through broken transceivers and gratings, in
    /// order of uplink and sender.
    fn links_of(&self, slot: i64, schedules: &Schedules) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        for b in &self.broken {
            let mut ends: Vec<(Label, u16)> = match b.part {
                Part::Node(_) => continue,
                Part::Transceiver(n, u) => {
                    let heard = schedules.sender(n, u, slot);
                    [(n, u)].into_iter().chain(heard).collect()
                }
                Part::Grating(_) => b.inputs.clone(),
            };
            ends.dedup();
            links.extend(ends.into_iter().filter_map(|(from, uplink)| {
                let (to, _) = schedules.peer(from, uplink, slot)?;
                let dead = b.loss >= 1.0;
                Some(Link {
                    uplink,
                    from,
                    to,
                    passes: 1.0 - b.loss,
                    known: b.known,
                    known_from: if dead { b.known_from } else { i64::MAX },
                })
            }));
        }
        links.sort_by_key(|l| (l.uplink, l.from));
        links.dedup_by(|b, a| {
            let same = (a.uplink, a.from) == (b.uplink, b.from);
            if same {
                a.passes *= b.passes;
                a.known |= b.known;
                a.known_from = a.known_from.min(b.known_from);
            }
            same
        });
        links
    }

    /// Determines the broken links of a slot and removes the dark links from its matchings.
    pub fn prepare(&mut self, slot: i64, schedules: &Schedules, peer_order: &PeerOrder) {
        self.links = self.links_of(slot, schedules);
        self.matchings = schedules.matchings(slot, peer_order);
        let nodes = self.dead.len();
        let mut sending = vec![0u64; nodes.div_ceil(64)];
        for n in (0..nodes).filter(|&n| !self.dead[n] && !self.known[n]) {
            sending[n / 64] |= 1 << (n % 64);
        }
        for c in &mut self.matchings {
            let labels = c
                .labels
                .get_or_insert_with(|| vec![u64::MAX; sending.len()]);
            labels.iter_mut().zip(&sending).for_each(|(l, s)| *l &= s);
            for l in self
                .links
                .iter()
                .filter(|l| l.known && l.uplink == c.uplink)
            {
                labels[l.from.index() / 64] &= !(1 << (l.from.0 % 64));
            }
        }
    }

    /// The fate of a cell that `from` sends to `to` now: `None` if it arrives, otherwise the time
    /// at which all nodes have the news of the part that lost it.
    pub fn fate(&self, slot: i64, uplink: u16, from: Label, to: Label) -> Option<Option<i64>> {
        let key = (uplink, from);
        let link = self
            .links
            .binary_search_by_key(&key, |l| (l.uplink, l.from));
        let mut passes = 1.0;
        let mut known_from = i64::MAX;
        if let Ok(at) = link {
            passes = self.links[at].passes;
            known_from = self.links[at].known_from;
        }
        for n in [Some(from), (to != from).then_some(to)]
            .into_iter()
            .flatten()
        {
            if let Some(b) = self.node(n) {
                passes *= 1.0 - b.loss;
                if b.loss >= 1.0 {
                    known_from = known_from.min(b.known_from);
                }
            }
        }
        if passes <= 0.0 {
            return Some(Some(known_from));
        }
        let index = (slot as u64) << 32 | (from.0 as u64) << 16 | uplink as u64;
        (passes < 1.0 && Stream::new(self.seed, "sirius.corrupted", index).unit() >= passes)
            .then_some(None)
    }

    /// The probability that requests and grants on the cells of `slots` arrive, for all pairs whose
    /// meetings in these slots all use broken transceivers or gratings that `counts` names.
    fn silent_in(
        &self,
        slots: Range<i64>,
        schedules: &Schedules,
        counts: impl Fn(&Link) -> bool,
    ) -> BTreeMap<(Label, Label), f64> {
        let mut pairs: BTreeMap<(Label, Label), (u32, f64)> = BTreeMap::new();
        for slot in slots.clone() {
            for l in self.links_of(slot, schedules).iter().filter(|l| counts(l)) {
                let (meetings, fails) = pairs.entry((l.from, l.to)).or_insert((0, 1.0));
                *meetings += 1;
                *fails *= 1.0 - l.passes;
            }
        }
        let senders: BTreeSet<Label> = pairs.keys().map(|p| p.0).collect();
        let met = |&from| (from, schedules.met(from, slots.clone()));
        let met: BTreeMap<Label, BTreeMap<Label, u32>> = senders.iter().map(met).collect();
        let all = |&((from, to), (n, _)): &((Label, Label), (u32, f64))| met[&from][&to] == n;
        let passes = |(pair, (_, fails))| (pair, 1.0 - fails);
        pairs.into_iter().filter(all).map(passes).collect()
    }

    /// The probability that data carried by cells from one node to another arrives, for all pairs
    /// that meet in `slots` only over broken transceivers and gratings.
    pub fn pairs_in(&self, slots: Range<i64>, schedules: &Schedules) -> Vec<(Label, Label, f64)> {
        let silent = self.silent_in(slots, schedules, |_| true);
        silent.into_iter().map(|((a, b), p)| (a, b, p)).collect()
    }

    /// The nodes that lose data carried by cells, each with the share that arrives.
    pub fn lossy_nodes(&self) -> Vec<(Label, f64)> {
        let node = |b: &Broken| match b.part {
            Part::Node(n) if b.loss > 0.0 => Some((n, 1.0 - b.loss)),
            _ => None,
        };
        self.broken.iter().filter_map(node).collect()
    }

    /// The pairs (source, intermediate) without requests in the epoch of `slots`, because all nodes
    /// know that they do not meet.
    pub fn dark_in(&self, slots: Range<i64>, schedules: &Schedules) -> BTreeSet<(Label, Label)> {
        let silent = self.silent_in(slots, schedules, |l| l.known);
        let mut dark: BTreeSet<_> = silent.into_keys().collect();
        dark.extend(self.dark_for_good());
        dark
    }

    /// The pairs (source, intermediate) without requests in any epoch: those that never meet, and
    /// those whose answers would be lost.
    pub fn dark_for_good(&self) -> impl Iterator<Item = (Label, Label)> + '_ {
        self.cut.iter().flat_map(|&(a, b)| [(a, b), (b, a)])
    }

    /// Finds the pairs that are cut off. Called after a declaration and after a change of schedule.
    pub fn find_cut(&mut self, schedules: &Schedules) {
        self.cut.clear();
        if self
            .broken
            .iter()
            .all(|b| !b.known || matches!(b.part, Part::Node(_)))
        {
            return;
        }
        let (slots, meetings) = schedules.frame();
        let mut dark: BTreeMap<(Label, Label), u32> = BTreeMap::new();
        for slot in slots {
            for l in self.links_of(slot, schedules).iter().filter(|l| l.known) {
                *dark.entry((l.from, l.to)).or_default() += 1;
            }
        }
        let cut = dark.iter().filter(|(_, &n)| n >= meetings);
        self.cut = cut.map(|(&pair, _)| pair).collect();
    }

    /// A number in [0, 1) for the data carried from one node to another in an epoch.
    pub fn chance(&self, purpose: &str, epoch: i64, from: Label, to: Label) -> f64 {
        let index = (epoch as u64) << 32 | (from.0 as u64) << 16 | to.0 as u64;
        Stream::new(self.seed, purpose, index).unit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sirius::failure::faults::Delays;
    use crate::sirius::schedule::plan::{gratings, UplinkPlan};
    use crate::sirius::schedule::Schedule;

    /// The expected pairs follow from the wiring alone: without the grating, the receiver has no
    /// slot of a frame, or of an epoch, in which it receives the sender.
    #[test]
    fn a_pair_is_cut_off_when_all_its_meetings_go_over_dead_gratings() {
        for (plan, uplinks) in [
            (UplinkPlan::Mixed, 4),
            (UplinkPlan::Mixed, 6),
            (UplinkPlan::Wide, 6),
            (UplinkPlan::Mixed, 8),
        ] {
            let wiring = gratings(plan, 16, 4, uplinks).unwrap();
            let s = Schedule::Gratings(wiring);
            let schedules = Schedules::new(&s, s.epoch());
            let delays = Delays {
                detection: 3,
                lag: 1,
                reschedule: false,
            };
            let mut faults = Faults::new(16, 1, delays);
            faults.set(Part::Grating(3), 1.0, 0, &schedules);
            faults.declare(Part::Grating(3), true, 4, &schedules);
            faults.find_cut(&schedules);
            let epoch = schedules.slots_from(0);
            let unmet = |slots: Range<i64>| -> BTreeSet<(Label, Label)> {
                let mut sound = BTreeSet::new();
                let mut all = BTreeSet::new();
                for slot in slots {
                    for (node, u) in (0..16).flat_map(|n| (0..uplinks).map(move |u| (n, u))) {
                        let to = s.peer(node, u, slot).0;
                        let pair = (Label(s.label(node) as u16), Label(s.label(to) as u16));
                        all.insert(pair);
                        if s.grating(node, u) != Some(3) {
                            sound.insert(pair);
                        }
                    }
                }
                all.difference(&sound).copied().collect()
            };
            assert_eq!(faults.cut, unmet(0..64), "{plan:?} {uplinks}");
            assert_eq!(faults.cut.is_empty(), uplinks > 4);
            let silent = faults.pairs_in(epoch.clone(), &schedules);
            let silent: BTreeSet<_> = silent.iter().map(|p| (p.0, p.1)).collect();
            assert_eq!(silent, unmet(epoch));
        }
    }
}
