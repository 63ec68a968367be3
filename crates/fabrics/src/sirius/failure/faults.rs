//! What is broken, what is known of it, and what was lost by it (Sirius §4.5).
//!
//! - A *node* is dead or loses cells with a probability; a *transceiver* is the
//!   sending and receiving half of an uplink; a *grating* takes all that is
//!   plugged into it. Several faults add up. What happens to a cell is decided
//!   when it is sent; what is in the fibre when its receiver dies is lost too.
//! - *Detection*: who hears nothing from a part in its slot for k epochs declares
//!   it dead, and the news spreads in cells, one epoch a hop. A part that dies in
//!   epoch e is heard for the last time in e, found silent in e .. e + k − 1, and
//!   from the start of epoch e + k + 1 on everybody acts on it. A part that is
//!   heard again in epoch e is back in use from e + 2 on, or, where it must be
//!   let into the schedule again, from e + 3.
//! - A grey failure (probability below 1) is never declared: its checksums fail,
//!   but its light is heard.
//! - *Requests and grants* ride on the cells of an epoch: they are lost with all
//!   cells that the pair could exchange in it. The first hop of a cell and the
//!   request for it go one way, the grant the other, so a pair that is cut off in
//!   one direction relays nothing in either.
//! - *Retransmission*: the source keeps a copy of every cell. A corrupted cell is
//!   sent again two epochs later (checksum, negative acknowledgement on the next
//!   cell), one lost in a dead part when the part is declared dead, if that is
//!   later; and before what was never sent, for the rest of its flow waits for it.
//! - What is wired to a part that was declared dead is left dark; cells wait for
//!   the pair's next meeting over another one. A pair that has none left relays
//!   nothing, and is asked for nothing.
//!
//! *Not modelled*: declaring parts that corrupt nearly everything, false alarms,
//! the bandwidth of the news and of the agreement on another schedule, and the
//! loss of either on the way.

use crate::sirius::cell::Cell;
use crate::sirius::schedule::peer_order::{Matching, PeerOrder};
use crate::sirius::schedule::reschedule::Schedules;
use lightloom_engine::{Command, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A part, by label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A node.
    Node(u16),
    /// An uplink of a node.
    Transceiver(u16, u16),
    /// A grating.
    Grating(u32),
}

/// A part that is broken, or declared dead.
#[derive(Clone, Debug)]
struct Broken {
    part: Part,
    /// Probability of losing a cell; 0 once repaired.
    loss: f64,
    /// The epoch from which on everybody knows.
    known_from: i64,
    /// Whether everybody acts on it.
    known: bool,
    /// What is plugged into it (gratings).
    inputs: Vec<(u16, u16)>,
}

/// A link of a slot that is not sound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Uplink of the sender.
    pub uplink: u16,
    /// Label of the sender.
    pub from: u16,
    /// Label of the receiver.
    pub to: u16,
    /// Probability that a cell gets through.
    pub passes: f64,
    /// Whether it is left dark.
    pub known: bool,
    /// The epoch from which on a dead link is left dark.
    pub known_from: i64,
}

/// A cell lost by its sender's link.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// The cell.
    pub cell: Cell,
    /// Where it was going.
    pub via: u16,
    /// When it is known to be lost, if a dead part took it.
    pub known_from: Option<i64>,
}

/// Cells `seq .. seq + count` of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Rank of the flow.
    pub rank: u32,
    /// First cell.
    pub seq: u32,
    /// Cells.
    pub count: u32,
}

/// Something that everybody does at the start of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// Acts on a declaration.
    Declare(Part),
    /// Uses a part again.
    Withdraw(Part),
    /// Changes to the round robin of the living.
    Reschedule,
}

/// Delays, in epochs.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// k.
    pub detection: i64,
    /// From sending something in a cell to acting on it: 1, more over long fibres.
    pub hop: i64,
    /// Whether nodes agree on another schedule.
    pub reschedule: bool,
}

/// All faults of a fabric.
#[derive(Clone, Debug)]
pub struct Faults {
    seed: u64,
    delays: Delays,
    /// Whether anything differs from a sound fabric.
    pub on: bool,
    /// Commands to carry out at the start of the next slot.
    pub commands: Vec<Command>,
    broken: Vec<Broken>,
    events: Vec<(i64, Event)>,
    /// By node: whether it is dead, known or not.
    pub dead: Vec<bool>,
    /// By node: whether it is left alone.
    pub known: Vec<bool>,
    /// Pairs that never meet over a part that is not declared dead.
    pub cut: BTreeSet<(u16, u16)>,
    /// Links of this slot.
    links: Vec<Link>,
    /// Columns of this slot without those that stay dark.
    pub matchings: Vec<Matching>,
    /// Lost cells by the epoch in which their source sends them again.
    lost: BTreeMap<i64, Vec<Cell>>,
    /// M to release, as (intermediate, destination), by epoch.
    lapsed: BTreeMap<i64, Vec<(u16, u16)>>,
    /// Cells of cut off flows, by source.
    pub parked: BTreeMap<u16, Vec<Stretch>>,
}

impl Faults {
    /// None.
    pub fn new(nodes: usize, seed: u64, delays: Delays) -> Faults {
        Faults {
            seed,
            delays,
            on: false,
            commands: Vec::new(),
            broken: Vec::new(),
            events: Vec::new(),
            dead: vec![false; nodes],
            known: vec![false; nodes],
            cut: BTreeSet::new(),
            links: Vec::new(),
            matchings: Vec::new(),
            lost: BTreeMap::new(),
            lapsed: BTreeMap::new(),
            parked: BTreeMap::new(),
        }
    }

    /// Whether something is going to happen by itself.
    pub fn pending(&self) -> bool {
        !(self.commands.is_empty()
            && self.events.is_empty()
            && self.lost.is_empty()
            && self.lapsed.is_empty())
    }

    /// Settles whether anything is left to do.
    pub fn update(&mut self, schedules: &Schedules) {
        self.broken.retain(|b| b.loss > 0.0 || b.known);
        let sound = self.broken.is_empty() && self.parked.is_empty() && schedules.full();
        self.on = !sound || self.pending();
    }

    fn of(&mut self, part: Part, schedules: &Schedules) -> &mut Broken {
        let at = self.broken.iter().position(|b| b.part == part);
        let at = at.unwrap_or_else(|| {
            let inputs = match part {
                Part::Grating(g) => schedules.inputs(g),
                _ => Vec::new(),
            };
            self.broken.push(Broken {
                part,
                loss: 0.0,
                known_from: i64::MAX,
                known: false,
                inputs,
            });
            self.broken.len() - 1
        });
        &mut self.broken[at]
    }

    /// `part` loses cells with probability `loss` from now, in `epoch`, on; 0 for
    /// a repair. Whoever dies a second time, or is repaired healthy, does not
    /// notice.
    pub fn set(&mut self, part: Part, loss: f64, epoch: i64, schedules: &Schedules) {
        let Delays {
            detection: k,
            hop,
            reschedule,
        } = self.delays;
        let known_from = epoch + k + 2 * hop - 1;
        let b = self.of(part, schedules);
        let was = std::mem::replace(&mut b.loss, loss);
        let (dies, heard) = (loss >= 1.0 && was < 1.0, loss < 1.0 && was >= 1.0);
        let (known, noticed) = (b.known, b.known_from < epoch + 2 * hop);
        if dies {
            b.known_from = known_from;
            self.events.push((known_from, Event::Declare(part)));
        }
        let node = matches!(part, Part::Node(_));
        if heard && (known || noticed) {
            let agreed = epoch + 2 * hop + if node && reschedule { hop } else { 0 };
            self.events.push((agreed, Event::Withdraw(part)));
        } else if heard {
            self.events.retain(|e| e.1 != Event::Declare(part));
        }
        if let Part::Node(n) = part {
            self.dead[n as usize] = loss >= 1.0;
        }
    }

    /// Takes the next event that is due.
    pub fn due(&mut self, epoch: i64) -> Option<Event> {
        // The earliest first; of one epoch, in order of their causes.
        let first = self.events.iter().map(|e| e.0).min()?;
        let at = self.events.iter().position(|e| e.0 == first)?;
        (first <= epoch).then(|| self.events.remove(at).1)
    }

    /// Everybody acts, or acts no more, on a part being dead.
    pub fn declare(&mut self, part: Part, known: bool, epoch: i64, schedules: &Schedules) {
        self.of(part, schedules).known = known;
        if let Part::Node(n) = part {
            self.known[n as usize] = known;
            if self.delays.reschedule {
                let wait = if known { self.delays.hop } else { 0 };
                self.events.push((epoch + wait, Event::Reschedule));
            }
        }
    }

    /// Finds the pairs that are cut off; after a declaration or another schedule.
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
        let mut dark: BTreeMap<(u16, u16), u32> = BTreeMap::new();
        for slot in slots {
            for l in self.links_of(slot, schedules).iter().filter(|l| l.known) {
                *dark.entry((l.from, l.to)).or_default() += 1;
            }
        }
        let cut = dark.iter().filter(|(_, &n)| n >= meetings);
        self.cut = cut.map(|(&pair, _)| pair).collect();
    }

    /// The links of a slot that go through broken transceivers and gratings, in
    /// order of uplink and sender.
    fn links_of(&self, slot: i64, schedules: &Schedules) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        for b in &self.broken {
            let mut ends: Vec<(u16, u16)> = match b.part {
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

    /// Looks up the links of a slot, and darkens its matchings.
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
                labels[l.from as usize / 64] &= !(1 << (l.from % 64));
            }
        }
    }

    fn node(&self, n: u16) -> Option<&Broken> {
        self.broken
            .iter()
            .find(|b| b.part == Part::Node(n) && b.loss > 0.0)
    }

    /// What becomes of a cell that `from` sends to `to` now: `None` if it
    /// arrives, else when everybody knows what took it.
    pub fn fate(&self, slot: i64, uplink: u16, from: u16, to: u16) -> Option<Option<i64>> {
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
        let index = (slot as u64) << 32 | (from as u64) << 16 | uplink as u64;
        (passes < 1.0 && Stream::new(self.seed, "sirius.corrupted", index).unit() >= passes)
            .then_some(None)
    }

    /// The chance that what rides on the cells of `slots` gets through, of all
    /// pairs that meet in them only over broken transceivers and gratings among
    /// those that `counts` names.
    fn silent_in(
        &self,
        slots: Range<i64>,
        schedules: &Schedules,
        counts: impl Fn(&Link) -> bool,
    ) -> BTreeMap<(u16, u16), f64> {
        let mut pairs: BTreeMap<(u16, u16), (u32, f64)> = BTreeMap::new();
        for slot in slots.clone() {
            for l in self.links_of(slot, schedules).iter().filter(|l| counts(l)) {
                let (meetings, fails) = pairs.entry((l.from, l.to)).or_insert((0, 1.0));
                *meetings += 1;
                *fails *= 1.0 - l.passes;
            }
        }
        let senders: BTreeSet<u16> = pairs.keys().map(|p| p.0).collect();
        let met = |&from| (from, schedules.met(from, slots.clone()));
        let met: BTreeMap<u16, BTreeMap<u16, u32>> = senders.iter().map(met).collect();
        let all = |&((from, to), (n, _)): &((u16, u16), (u32, f64))| met[&from][&to] == n;
        let passes = |(pair, (_, fails))| (pair, 1.0 - fails);
        pairs.into_iter().filter(all).map(passes).collect()
    }

    /// The chance that what rides on cells from one node to another gets through,
    /// of all pairs that meet in `slots` only over broken transceivers and gratings.
    pub fn pairs_in(&self, slots: Range<i64>, schedules: &Schedules) -> Vec<(u16, u16, f64)> {
        let silent = self.silent_in(slots, schedules, |_| true);
        silent.into_iter().map(|((a, b), p)| (a, b, p)).collect()
    }

    /// Nodes that lose what rides on cells, and how much gets through.
    pub fn lossy_nodes(&self) -> Vec<(u16, f64)> {
        let node = |b: &Broken| match b.part {
            Part::Node(n) if b.loss > 0.0 => Some((n, 1.0 - b.loss)),
            _ => None,
        };
        self.broken.iter().filter_map(node).collect()
    }

    /// Pairs (source, intermediate) that are not to be asked in the epoch of
    /// `slots`: known not to meet.
    pub fn dark_in(&self, slots: Range<i64>, schedules: &Schedules) -> BTreeSet<(u16, u16)> {
        let silent = self.silent_in(slots, schedules, |l| l.known);
        let mut dark: BTreeSet<_> = silent.into_keys().collect();
        // Neither is a pair that could not answer.
        dark.extend(self.cut.iter().flat_map(|&(a, b)| [(a, b), (b, a)]));
        dark
    }

    /// A number in [0, 1) for what rides from one node to another in an epoch.
    pub fn chance(&self, purpose: &str, epoch: i64, from: u16, to: u16) -> f64 {
        let index = (epoch as u64) << 32 | (from as u64) << 16 | to as u64;
        Stream::new(self.seed, purpose, index).unit()
    }

    /// Whether a flow between these nodes has to wait.
    pub fn bars(&self, src: u16, dst: u16) -> bool {
        self.dead[src as usize] || self.known[src as usize] || self.known[dst as usize]
    }

    /// A cell was lost in `epoch`: its source sends it again.
    pub fn resend(&mut self, cell: Cell, epoch: i64, known_from: Option<i64>) {
        let due = (epoch + 2 * self.delays.hop).max(known_from.unwrap_or(0));
        self.lost.entry(due).or_default().push(cell.on_hop(false));
    }

    /// An intermediate will hear nothing where it granted a cell.
    pub fn lapse(&mut self, by: u16, destination: u16, epoch: i64) {
        let due = epoch + self.delays.hop;
        self.lapsed.entry(due).or_default().push((by, destination));
    }

    /// The grants that lapse by `epoch`.
    pub fn lapsed_by(&mut self, epoch: i64) -> Vec<(u16, u16)> {
        let later = self.lapsed.split_off(&(epoch + 1));
        let now = std::mem::replace(&mut self.lapsed, later);
        now.into_values().flatten().collect()
    }

    /// The cells to send again by `epoch`, neighbours together.
    pub fn resent_by(&mut self, epoch: i64) -> Vec<Stretch> {
        let later = self.lost.split_off(&(epoch + 1));
        let now = std::mem::replace(&mut self.lost, later);
        let mut cells: Vec<_> = now
            .into_values()
            .flatten()
            .map(|c| (c.rank(), c.seq()))
            .collect();
        // Whatever the order in which the shards lost them.
        cells.sort_unstable();
        let mut stretches: Vec<Stretch> = Vec::new();
        for (rank, seq) in cells {
            match stretches.last_mut() {
                Some(s) if s.rank == rank && s.seq + s.count == seq => s.count += 1,
                _ => stretches.push(Stretch {
                    rank,
                    seq,
                    count: 1,
                }),
            }
        }
        stretches
    }

    /// The part that a dead node of `epoch` is known to be dead from.
    pub fn known_from(&self, node: u16) -> Option<i64> {
        self.node(node).map(|b| b.known_from)
    }

    /// Every cell that its source keeps because it was lost or cannot go.
    pub fn each_cell(&self) -> impl Iterator<Item = Cell> + '_ {
        let parked = self.parked.values().flatten();
        let parked =
            parked.flat_map(|s| (s.seq..s.seq + s.count).map(|seq| Cell::new(s.rank, seq)));
        parked.chain(self.lost.values().flatten().copied())
    }

    /// Their number.
    pub fn cells(&self) -> u64 {
        let parked: u64 = self.parked.values().flatten().map(|s| s.count as u64).sum();
        parked + self.lost.values().map(|l| l.len() as u64).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sirius::schedule::plan::{gratings, UplinkPlan};
    use crate::sirius::schedule::Schedule;

    /// By the wiring itself: who is heard in no slot of a frame, and in no slot
    /// of an epoch, without the grating.
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
                hop: 1,
                reschedule: false,
            };
            let mut faults = Faults::new(16, 1, delays);
            faults.set(Part::Grating(3), 1.0, 0, &schedules);
            faults.declare(Part::Grating(3), true, 4, &schedules);
            faults.find_cut(&schedules);
            let epoch = schedules.slots_from(0);
            let unmet = |slots: Range<i64>| -> BTreeSet<(u16, u16)> {
                let mut sound = BTreeSet::new();
                let mut all = BTreeSet::new();
                for slot in slots {
                    for (node, u) in (0..16).flat_map(|n| (0..uplinks).map(move |u| (n, u))) {
                        let to = s.peer(node, u, slot).0;
                        let pair = (s.label(node) as u16, s.label(to) as u16);
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
