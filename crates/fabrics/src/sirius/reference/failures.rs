//! Failures (§4.5): injection, detection, avoidance, rescheduling.
//!
//! In epoch e a part dies. Its peers hear nothing for k epochs, the news takes one more, and
//! from then on everybody acts on it ([`Event::Declare`]): what is wired to the part stays
//! dark, who cannot be reached is asked for nothing, and what waits for them is called back.
//! A part that is heard again is used again once everybody knows ([`Event::Withdraw`]). With
//! `recovery = "reschedule"` the nodes that are left agree on a round robin of their own.
//! Every cell stays with its source until it has arrived: what is lost is sent again two
//! epochs later, or when the part that took it is declared dead.
//!
//! With the first command all cells that wait take their places anew: in the order in which
//! they would have left.

use super::{Cell, Place, Queued, Reference, Tuple};
use crate::sirius::config::{Intermediates, Recovery};
use crate::sirius::topology::Schedule;
use lightloom_control::algorithms::cyclic::RoundRobin;
use lightloom_engine::{Command, Element, Io, Stream, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// A part, its nodes by label.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Node(usize),
    Transceiver(usize, u32),
    Grating(u32),
}

/// A part that loses cells, or that everybody thinks dead.
#[derive(Clone, Debug)]
struct Broken {
    part: Part,
    /// Probability of losing a cell: 1 for a dead part, less for a grey failure.
    loss: f64,
    /// When it was, or will be, declared dead.
    declared: i64,
    /// Whether everybody acts on that.
    known: bool,
}

/// What everybody does at the start of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Declare(Part),
    Withdraw(Part),
    Reschedule,
}

/// A schedule that came into force.
#[derive(Clone, Debug)]
struct Era {
    slot: i64,
    epoch: i64,
    /// Who meets whom by a round robin; none where all meet by the wiring.
    members: Option<Vec<usize>>,
}

/// What is broken, and what follows from it.
#[derive(Clone, Debug)]
pub struct Failures {
    commands: Vec<Command>,
    /// Whether there ever was one.
    ever: bool,
    broken: Vec<Broken>,
    events: Vec<(i64, Event)>,
    eras: Vec<Era>,
    /// Pairs that never meet but over parts that are known to be dead.
    cut: BTreeSet<(usize, usize)>,
    /// Lost cells, by the epoch in which they are sent again.
    lost: BTreeMap<i64, Vec<Cell>>,
    /// Grants whose cells were lost, as (intermediate, destination), by the epoch in which
    /// the intermediate knows.
    missed: BTreeMap<i64, Vec<(usize, usize)>>,
    /// Cells of flows from or to dead nodes, by source.
    parked: BTreeMap<usize, Vec<Tuple>>,
}

/// The light of an uplink in a slot.
struct Link {
    to: usize,
    /// Probability that a cell gets through.
    passes: f64,
    /// Whether anything is broken, and is known to be dead.
    broken: bool,
    known: bool,
    /// When what is dead on it is declared so.
    declared: i64,
}

impl Failures {
    pub fn none() -> Failures {
        Failures {
            commands: Vec::new(),
            ever: false,
            broken: Vec::new(),
            events: Vec::new(),
            eras: vec![Era {
                slot: 0,
                epoch: 0,
                members: None,
            }],
            cut: BTreeSet::new(),
            lost: BTreeMap::new(),
            missed: BTreeMap::new(),
            parked: BTreeMap::new(),
        }
    }

    pub fn order(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Whether something is going to happen by itself.
    pub fn pending(&self) -> bool {
        let waits = self.commands.is_empty() && self.events.is_empty();
        !(waits && self.lost.is_empty() && self.missed.is_empty())
    }

    /// Cells that are at their source because they were lost, or cannot go.
    pub fn cells(&self) -> u64 {
        let parked = self.parked.values().flatten().map(|t| t.cells as u64);
        parked.sum::<u64>() + self.lost.values().map(|l| l.len() as u64).sum::<u64>()
    }

    fn node(&self, node: usize) -> Option<&Broken> {
        self.broken.iter().find(|b| b.part == Part::Node(node))
    }

    fn is_dead(&self, node: usize) -> bool {
        self.node(node).is_some_and(|b| b.loss >= 1.0)
    }

    fn is_known(&self, node: usize) -> bool {
        self.node(node).is_some_and(|b| b.known)
    }

    /// Whether a flow between these nodes has to wait.
    pub fn bars(&self, src: usize, dst: usize) -> bool {
        self.is_dead(src) || self.is_known(src) || self.is_known(dst)
    }

    fn of(&mut self, part: Part) -> &mut Broken {
        let at = self.broken.iter().position(|b| b.part == part);
        let at = at.unwrap_or_else(|| {
            self.broken.push(Broken {
                part,
                loss: 0.0,
                declared: i64::MAX,
                known: false,
            });
            self.broken.len() - 1
        });
        &mut self.broken[at]
    }

    fn forget_the_sound(&mut self) {
        self.broken.retain(|b| b.loss > 0.0 || b.known);
    }
}

// Schedules.

impl Reference {
    fn era(&self, slot: i64) -> &Era {
        let eras = self.failures.eras.iter().rev();
        eras.into_iter()
            .find(|e| e.slot <= slot)
            .expect("the first")
    }

    /// Slots of an epoch of an era, as a fraction.
    fn epoch_length(&self, era: &Era) -> (i64, i64) {
        match &era.members {
            None => self.derived.epoch,
            Some(members) => {
                let ring = self.ring(members);
                (ring.nodes as i64, ring.uplinks as i64)
            }
        }
    }

    fn ring(&self, members: &[usize]) -> RoundRobin {
        let nodes = members.len() as u32;
        RoundRobin {
            nodes,
            uplinks: self.derived.uplinks.min(nodes),
        }
    }

    /// The epoch of a slot by the schedule in force.
    fn epoch_of(&self, slot: i64) -> i64 {
        let era = self.failures.eras.last().expect("the first");
        let (slots, of) = self.epoch_length(era);
        era.epoch + ((slot - era.slot) * of).div_euclid(slots)
    }

    /// The epoch that begins with `slot`, if one does.
    pub(super) fn epoch_from(&self, slot: i64) -> Option<i64> {
        let epoch = self.epoch_of(slot);
        (self.epoch_of(slot - 1) < epoch).then_some(epoch)
    }

    /// The slots of the epoch that begins with `slot`.
    pub(super) fn slots_from(&self, slot: i64) -> Range<i64> {
        let next = (slot + 1..).find(|&s| self.epoch_of(s) > self.epoch_of(slot));
        slot..next.expect("epochs end")
    }

    /// Whom an uplink of a node meets in a slot, and on which of its receive ports.
    fn met(&self, node: usize, uplink: u32, slot: i64) -> Option<(usize, u32)> {
        let Some(members) = &self.era(slot).members else {
            let schedule = &self.derived.schedule;
            let (peer, port) = schedule.peer(schedule.node(node as u32), uplink, slot);
            return Some((schedule.label(peer) as usize, port));
        };
        let (ring, place) = (self.ring(members), members.iter().position(|&m| m == node)?);
        let to = ring.peer(place as u32, uplink, slot) as usize;
        (uplink < ring.uplinks).then_some((members[to], uplink))
    }

    /// Nodes that are left agree on a schedule of their own.
    fn reschedule(&mut self, slot: i64, epoch: i64) {
        let all = 0..self.nodes;
        let living: Vec<usize> = all.filter(|&n| !self.failures.is_known(n)).collect();
        // One node alone has nobody to meet.
        if living.len() < 2 {
            return;
        }
        let members = (living.len() < self.nodes).then_some(living);
        if self.failures.eras.last().expect("the first").members != members {
            self.failures.eras.push(Era {
                slot,
                epoch,
                members,
            });
        }
    }
}

// Injection.

impl Reference {
    fn part(&self, element: Element) -> Part {
        let label = |node| self.derived.schedule.label(node) as usize;
        match element {
            Element::Node(node) => Part::Node(label(node)),
            Element::Transceiver { node, uplink } => Part::Transceiver(label(node), uplink),
            Element::Grating(grating) => Part::Grating(grating),
            _ => unreachable!("no part of Sirius"),
        }
    }

    /// Parts fail and are repaired at the start of a slot.
    pub(super) fn carry_out(&mut self, slot: i64, io: &mut Io) {
        let commands = std::mem::take(&mut self.failures.commands);
        if commands.is_empty() {
            return;
        }
        if !std::mem::replace(&mut self.failures.ever, true) {
            self.take_places_anew(slot);
        }
        let (epoch, now) = (self.epoch_of(slot), self.config.slot * slot);
        for command in commands {
            let (element, loss) = match command {
                Command::Fail { element, loss } => (element, loss),
                Command::Repair(element) => (element, 0.0),
            };
            let part = self.part(element);
            let was = self.failures.of(part).loss;
            self.set_loss(part, loss, epoch);
            if let Part::Node(node) = part {
                self.stop_or_go_on(node, (was >= 1.0, loss >= 1.0), epoch, now, io);
            }
        }
        self.unpark();
        self.failures.forget_the_sound();
    }

    /// A part loses cells from now on, and what everybody will do about it.
    fn set_loss(&mut self, part: Part, loss: f64, epoch: i64) {
        let hop = self.hop();
        let k = self.config.detection_epochs as i64;
        let broken = self.failures.of(part);
        let was = std::mem::replace(&mut broken.loss, loss);
        if was < 1.0 && loss >= 1.0 {
            // Silent for k epochs; the report of the last takes an epoch, and so does the news.
            broken.declared = epoch + k + 2 * hop - 1;
            let declare = (broken.declared, Event::Declare(part));
            self.failures.events.push(declare);
        } else if was >= 1.0 && loss < 1.0 {
            let back = epoch + 2 * hop;
            if broken.known || broken.declared < back {
                let agree = matches!(part, Part::Node(_)) && self.reschedules();
                let back = back + if agree { hop } else { 0 };
                self.failures.events.push((back, Event::Withdraw(part)));
            } else {
                let events = &mut self.failures.events;
                events.retain(|e| e.1 != Event::Declare(part));
            }
        }
    }

    fn reschedules(&self) -> bool {
        self.config.recovery == Recovery::Reschedule
    }

    fn stop_or_go_on(
        &mut self,
        node: usize,
        dead: (bool, bool),
        epoch: i64,
        now: Time,
        io: &mut Io,
    ) {
        let rack = self.derived.schedule.node(node as u32) as usize;
        match dead {
            (false, true) => {
                self.racks.stop(rack, now);
                self.bury(node, epoch, io);
            }
            (true, false) => self.racks.resume(rack, now),
            _ => (),
        }
    }

    /// A node dies with all the cells that it was to relay, and all that are on their way to
    /// it. Its requests are void.
    fn bury(&mut self, node: usize, epoch: i64, io: &mut Io) {
        let declared = self.failures.of(Part::Node(node)).declared;
        for peer in self.in_order_of_meeting(node) {
            for cell in self.pull(node, peer, |_| true) {
                if cell.relayed {
                    self.m[node][peer] -= 1;
                    self.lose(cell, epoch, Some(declared), io);
                } else {
                    self.call_back(cell, peer);
                }
            }
        }
        (0..self.nodes).for_each(|destination| self.park_local(node, destination));
        let mut gone = Vec::new();
        for sent in self.fibres.values_mut() {
            gone.extend(sent.extract_if(.., |s| s.to == node));
        }
        for cell in gone.into_iter().map(|s| s.cell) {
            if !cell.relayed {
                self.m[node][self.flows[cell.flow].dst] -= 1;
            }
            self.lose(cell, epoch, Some(declared), io);
        }
        for asked in self.epochs.values_mut() {
            let Some(wants) = asked.requests.get_mut(&node) else {
                continue;
            };
            for (by, want) in wants.iter_mut().enumerate() {
                if let (Some(destination), true) = (want.take(), asked.answered) {
                    self.m[by][destination] -= 1;
                }
            }
        }
    }

    fn in_order_of_meeting(&self, node: usize) -> Vec<usize> {
        let peer = |turn| self.visits.peer(node, turn);
        (0..self.nodes).map(peer).collect()
    }

    /// Takes cells out of a queue.
    fn pull(&mut self, node: usize, peer: usize, goes: impl Fn(&Cell) -> bool) -> Vec<Cell> {
        let queue = std::mem::take(&mut self.queues[node][peer]);
        let (gone, kept): (VecDeque<Queued>, _) = queue.into_iter().partition(|q| goes(&q.cell));
        self.queues[node][peer] = kept;
        gone.into_iter().map(|q| q.cell).collect()
    }

    fn take_places_anew(&mut self, slot: i64) {
        let mut order = Vec::new();
        for (node, peer) in self.pairs() {
            let meets = |s: &i64| (0..self.derived.uplinks).any(|u| self.meets(node, u, *s, peer));
            let mut meetings = (slot..).filter(meets);
            for (k, queued) in self.queues[node][peer].iter().enumerate() {
                let leaves = match queued.place {
                    Place::Taken(_) => meetings.next().expect("there is always another"),
                    Place::Aside(_) => i64::MAX,
                };
                order.push((leaves, queued.place, node, peer, k));
            }
        }
        order.sort();
        self.aside.clear();
        for (_, was, node, peer, k) in order {
            self.queues[node][peer][k].place = match was {
                Place::Taken(_) => Place::Taken(self.places),
                Place::Aside(_) => {
                    self.aside.push((node, peer, Place::Aside(self.places)));
                    Place::Aside(self.places)
                }
            };
            self.places += 1;
        }
    }

    fn meets(&self, node: usize, uplink: u32, slot: i64, peer: usize) -> bool {
        self.met(node, uplink, slot).is_some_and(|m| m.0 == peer)
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let nodes = self.nodes;
        (0..nodes).flat_map(move |a| (0..nodes).map(move |b| (a, b)))
    }
}

// What light passes.

impl Reference {
    /// The light of an uplink, if it meets anybody.
    fn link(&self, from: usize, uplink: u32, slot: i64) -> Option<Link> {
        let (to, port) = self.met(from, uplink, slot)?;
        let mut link = Link {
            to,
            passes: 1.0,
            broken: false,
            known: false,
            declared: i64::MAX,
        };
        let schedule = &self.derived.schedule;
        let grating = schedule.grating(schedule.node(from as u32), uplink);
        for b in &self.failures.broken {
            let through = match b.part {
                Part::Node(_) => false,
                Part::Transceiver(n, u) => (n, u) == (from, uplink) || (n, u) == (to, port),
                Part::Grating(g) => grating == Some(g),
            };
            if through {
                link.passes *= 1.0 - b.loss;
                link.broken = true;
                link.known |= b.known;
                if b.loss >= 1.0 {
                    link.declared = link.declared.min(b.declared);
                }
            }
        }
        Some(link)
    }

    /// Whom an uplink sends to in a slot: nobody from a node that is dead, or thought so, or
    /// over what is known to be.
    pub(super) fn peer(&self, node: usize, uplink: u32, slot: i64) -> Option<usize> {
        let silent = self.failures.is_dead(node) || self.failures.is_known(node);
        let link = self.link(node, uplink, slot)?;
        (!silent && !link.known).then_some(link.to)
    }

    /// Whether a cell that is sent is lost; if so, its source is going to send it again, and
    /// the intermediate finds out that the cell for its grant does not come.
    pub(super) fn is_lost(
        &mut self,
        (cell, from, uplink): (Cell, usize, u32),
        slot: i64,
        io: &mut Io,
    ) -> bool {
        let link = self.link(from, uplink, slot).expect("it was sent");
        let (mut passes, mut declared) = (link.passes, link.declared);
        let ends = [Some(from), (link.to != from).then_some(link.to)];
        let ends = ends.into_iter().flatten();
        for b in ends.filter_map(|n| self.failures.node(n)) {
            passes *= 1.0 - b.loss;
            if b.loss >= 1.0 {
                declared = declared.min(b.declared);
            }
        }
        let index = (slot as u64) << 32 | (from as u64) << 16 | uplink as u64;
        let drawn = || Stream::new(self.seed, "sirius.corrupted", index).unit();
        let dead = passes <= 0.0;
        if !dead && (passes >= 1.0 || drawn() < passes) {
            return false;
        }
        let epoch = self.epoch_of(slot);
        if !cell.relayed {
            let missed = self.failures.missed.entry(epoch + self.hop());
            let destination = self.flows[cell.flow].dst;
            missed.or_default().push((link.to, destination));
        }
        self.lose(cell, epoch, dead.then_some(declared), io);
        true
    }

    /// Pairs that in some slots meet only over links that `counts` names, and the
    /// probability that what rides on their cells gets through.
    fn silent(
        &self,
        slots: Range<i64>,
        counts: impl Fn(&Link) -> bool,
    ) -> BTreeMap<(usize, usize), f64> {
        let mut fails = BTreeMap::new();
        let mut others = BTreeSet::new();
        for slot in slots {
            for node in 0..self.nodes {
                for uplink in 0..self.derived.uplinks {
                    let Some(link) = self.link(node, uplink, slot) else {
                        continue;
                    };
                    if counts(&link) {
                        *fails.entry((node, link.to)).or_insert(1.0) *= 1.0 - link.passes;
                    } else {
                        others.insert((node, link.to));
                    }
                }
            }
        }
        fails.retain(|pair, _| !others.contains(pair));
        fails
            .into_iter()
            .map(|(pair, fails)| (pair, 1.0 - fails))
            .collect()
    }

    /// Requests and grants ride on the cells of an epoch: those that do not arrive, and the
    /// requests whose answers would not, are void.
    pub(super) fn strike(&mut self, asked: i64, slot: i64, epoch: i64) {
        let Some(requests) = self.epochs.get(&asked).filter(|e| !e.requests.is_empty()) else {
            return;
        };
        let (there, back) = (requests.slots.clone(), self.slots_from(slot));
        let there = self.not_through("sirius.lost-requests", there, epoch);
        let back = self.not_through("sirius.lost-grants", back, epoch);
        let back = back.into_iter().map(|(from, to)| (to, from));
        let requests = &mut self.epochs.get_mut(&asked).expect("looked up").requests;
        for (source, by) in there.into_iter().chain(back) {
            if let Some(wants) = requests.get_mut(&source) {
                wants[by] = None;
            }
        }
    }

    /// Pairs between which nothing gets through in an epoch: first those that meet over
    /// broken links only, then those of nodes that lose cells.
    fn not_through(&self, purpose: &str, slots: Range<i64>, epoch: i64) -> Vec<(usize, usize)> {
        let mut pairs: Vec<_> = self.silent(slots, |l| l.broken).into_iter().collect();
        for b in self.failures.broken.iter().filter(|b| b.loss > 0.0) {
            if let Part::Node(n) = b.part {
                let all = 0..self.nodes;
                let to = all.clone().map(|other| ((n, other), 1.0 - b.loss));
                pairs.extend(to);
                let from = all.filter(|&other| other != n);
                pairs.extend(from.map(|other| ((other, n), 1.0 - b.loss)));
            }
        }
        let numbered = (0u64..).zip(pairs);
        let fails = numbered.filter(|&(at, ((from, to), passes))| {
            let number = (epoch as u64) << 8 | at & 0xFF;
            let index = number << 32 | (from as u64) << 16 | to as u64;
            passes <= 0.0 || Stream::new(self.seed, purpose, index).unit() >= passes
        });
        fails.map(|(_, (pair, _))| pair).collect()
    }
}

// Detection, and what follows from it at the start of an epoch.

impl Reference {
    pub(super) fn recover(&mut self, slot: i64, epoch: i64, io: &mut Io) {
        let later = self.failures.missed.split_off(&(epoch + 1));
        let now = std::mem::replace(&mut self.failures.missed, later);
        for (by, destination) in now.into_values().flatten() {
            self.m[by][destination] -= 1;
        }
        let mut changed = false;
        while let Some(event) = self.due(epoch) {
            changed = true;
            match event {
                Event::Declare(part) => self.act_on(part, true, epoch),
                Event::Withdraw(part) => self.act_on(part, false, epoch),
                Event::Reschedule => self.reschedule(slot, epoch),
            }
        }
        if changed {
            self.failures.cut = self.find_cut(slot);
            for node in 0..self.nodes {
                for peer in self.in_order_of_meeting(node) {
                    self.sweep(node, peer, epoch, io);
                }
            }
            self.unpark();
        }
        self.send_again(epoch);
        self.failures.forget_the_sound();
    }

    /// The next event: the earliest; of one epoch, in order of their causes.
    fn due(&mut self, epoch: i64) -> Option<Event> {
        let events = &mut self.failures.events;
        let (at, _) = (0..).zip(&*events).min_by_key(|(_, e)| e.0)?;
        (events[at].0 <= epoch).then(|| events.remove(at).1)
    }

    /// Everybody acts on a part being dead, or does so no more.
    fn act_on(&mut self, part: Part, known: bool, epoch: i64) {
        self.failures.of(part).known = known;
        let Part::Node(node) = part else { return };
        if self.reschedules() {
            let agreed = epoch + if known { self.hop() } else { 0 };
            self.failures.events.push((agreed, Event::Reschedule));
        }
        if known {
            (0..self.nodes).for_each(|source| self.park_local(source, node));
        }
    }

    fn find_cut(&self, slot: i64) -> BTreeSet<(usize, usize)> {
        let frame = match (&self.era(slot).members, &self.derived.schedule) {
            (None, schedule @ Schedule::Gratings(_)) => schedule.frame() as i64,
            (None, _) => self.nodes as i64,
            (Some(members), _) => members.len() as i64,
        };
        let silent = self.silent(slot..slot + frame, |l| l.known);
        silent.into_keys().collect()
    }

    /// Whether everybody knows that a cell cannot go from `node` over `peer`.
    fn is_hopeless(&self, cell: &Cell, node: usize, peer: usize) -> bool {
        let (f, destination) = (&self.failures, self.flows[cell.flow].dst);
        let onwards = !f.is_known(destination)
            && (peer == destination || !f.cut.contains(&(peer, destination)));
        f.is_known(peer) || f.cut.contains(&(node, peer)) || !cell.relayed && !onwards
    }

    /// Calls back what waits for a peer that it cannot reach, or could not be relayed by.
    fn sweep(&mut self, node: usize, peer: usize, epoch: i64, io: &mut Io) {
        let queue = self.queues[node][peer].iter();
        let hopeless = queue.filter(|q| self.is_hopeless(&q.cell, node, peer));
        let hopeless: Vec<Cell> = hopeless.map(|q| q.cell).collect();
        for cell in self.pull(node, peer, |cell| hopeless.contains(cell)) {
            if cell.relayed {
                self.m[node][peer] -= 1;
                self.lose(cell, epoch, None, io);
            } else {
                self.call_back(cell, peer);
            }
        }
    }

    /// The same for what came too late for the news.
    pub(super) fn sweep_late(&mut self, epoch: i64, io: &mut Io) {
        let known = (0..self.nodes).filter(|&n| self.failures.is_known(n));
        let mut pairs: Vec<(usize, usize)> = known
            .flat_map(|n| (0..self.nodes).map(move |node| (node, n)))
            .collect();
        pairs.extend(&self.failures.cut);
        for (node, peer) in pairs {
            self.sweep(node, peer, epoch, io);
        }
    }
}

// What is called back or lost, and enters again.

impl Reference {
    fn lose(&mut self, cell: Cell, epoch: i64, declared: Option<i64>, io: &mut Io) {
        io.lose();
        let heard = epoch + 2 * self.hop();
        let again = self.failures.lost.entry(heard.max(declared.unwrap_or(0)));
        again.or_default().push(cell);
    }

    fn send_again(&mut self, epoch: i64) {
        let later = self.failures.lost.split_off(&(epoch + 1));
        let now = std::mem::replace(&mut self.failures.lost, later);
        let mut cells: Vec<Cell> = now.into_values().flatten().collect();
        cells.sort_by_key(|c| (self.flows[c.flow].dst, c.flow, c.seq));
        let neighbours = |a: &Cell, b: &Cell| a.flow == b.flow && a.seq + 1 == b.seq;
        let runs: Vec<(Cell, u32)> = cells
            .chunk_by(neighbours)
            .map(|run| (run[0], run.len() as u32))
            .collect();
        for (first, cells) in runs {
            self.enter_again(first, cells);
        }
    }

    /// A granted cell goes back to LOCAL.
    fn call_back(&mut self, cell: Cell, by: usize) {
        self.m[by][self.flows[cell.flow].dst] -= 1;
        self.enter_again(cell, 1);
    }

    /// Cells that had left LOCAL go before all that never have.
    fn enter_again(&mut self, first: Cell, cells: u32) {
        let tuple = Tuple {
            flow: first.flow,
            seq: first.seq,
            cells,
            grows: false,
            returned: true,
        };
        if !self.park(tuple) {
            let local = &mut self.local[self.flows[first.flow].src];
            let after = local.iter().take_while(|t| t.returned).count();
            local.insert(after, tuple);
        }
    }

    /// Cells join LOCAL, or wait outside while they cannot go.
    pub(super) fn enter(&mut self, tuple: Tuple) {
        if !self.park(tuple) {
            self.local[self.flows[tuple.flow].src].push(tuple);
        }
    }

    /// Puts cells aside that cannot go; says whether it did.
    fn park(&mut self, tuple: Tuple) -> bool {
        let (src, dst) = (self.flows[tuple.flow].src, self.flows[tuple.flow].dst);
        let barred = self.failures.bars(src, dst);
        if barred {
            let (grows, returned) = (false, false);
            let parked = self.failures.parked.entry(src).or_default();
            parked.push(Tuple {
                grows,
                returned,
                ..tuple
            });
        }
        barred
    }

    fn park_local(&mut self, source: usize, destination: usize) {
        let (flows, local) = (&self.flows, &mut self.local[source]);
        let goes = |t: &mut Tuple| flows[t.flow].dst == destination;
        let gone: Vec<Tuple> = local.extract_if(.., goes).collect();
        gone.into_iter().for_each(|tuple| self.enter(tuple));
    }

    fn unpark(&mut self) {
        let parked = std::mem::take(&mut self.failures.parked);
        let tuples = parked.into_values().flatten();
        tuples.for_each(|tuple| self.enter(tuple));
    }
}

// Avoidance.

impl Reference {
    /// Pairs (source, intermediate) that are not asked in some slots: all their light is
    /// known to be dark, or the intermediate could not answer.
    pub(super) fn dark_in(&self, slots: Range<i64>) -> BTreeSet<(usize, usize)> {
        let f = &self.failures;
        if f.broken.is_empty() {
            return BTreeSet::new();
        }
        let silent = self.silent(slots, |l| l.known).into_keys();
        let cut = f.cut.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        silent.chain(cut).collect()
    }

    /// Puts the requests of a node to those who can be asked, from a random one on.
    pub(super) fn avoid(
        &mut self,
        source: usize,
        dark: &BTreeSet<(usize, usize)>,
        wants: &mut [Option<usize>],
    ) {
        let f = &self.failures;
        let known: Vec<usize> = (0..self.nodes).filter(|&n| f.is_known(n)).collect();
        let mut again = Vec::new();
        let dark_here = dark.range((source, 0)..(source + 1, 0)).map(|d| d.1);
        for by in known.iter().copied().chain(dark_here) {
            again.extend(wants[by].take());
        }
        for &(by, destination) in f.cut.iter().filter(|c| c.0 != c.1) {
            again.extend(wants[by].take_if(|d| *d == destination));
        }
        let all = self.config.intermediates == Intermediates::All;
        for destination in again {
            let start = self.rng[source].below(self.nodes as u32) as usize;
            let other = (start..self.nodes).chain(0..start).find(|&by| {
                wants[by].is_none()
                    && !known.contains(&by)
                    && !dark.contains(&(source, by))
                    && (by == destination || !f.cut.contains(&(by, destination)))
                    && (all || by != source && by != destination)
            });
            if let Some(by) = other {
                wants[by] = Some(destination);
            }
        }
    }
}
