//! What nodes do about failures: the cold steps of the kernel. What happens to
//! whom and when is told in [`super::faults`].
//!
//! M stays exact: whatever is lost or called back releases the count at the
//! intermediate that granted it. A lost cell stays with its source, so nothing
//! is both lost and delivered.

use super::cell::{Cell, Routes};
use super::config::Intermediates;
use super::faults::{Event, Part, Stretch};
use super::kernel::Sirius;
use super::lines::Lines;
use super::local::Local;
use super::queued::Queued;
use super::shard::Shard;
use super::topology::Visits;
use lightloom_engine::{Command, Element, Io, Rejected, Time};
use std::collections::BTreeSet;

/// Whom nobody asks, known at the start of an epoch.
pub struct Avoid {
    nodes: Vec<u16>,
    /// (source, intermediate) that do not meet.
    dark: BTreeSet<(u16, u16)>,
    /// (intermediate, destination) likewise.
    cut: BTreeSet<(u16, u16)>,
    /// Whether the ends of a flow may relay it.
    ends: bool,
}

impl Avoid {
    fn allows(&self, source: u16, by: u16, destination: u16) -> bool {
        !self.nodes.contains(&by)
            && !self.dark.contains(&(source, by))
            && (by == destination || !self.cut.contains(&(by, destination)))
            && (self.ends || (by != source && by != destination))
    }
}

impl Shard {
    /// Puts the requests of a row to those who can be asked; returns how many
    /// are left.
    #[cold]
    pub(super) fn ask_others(&mut self, row: usize, mut asked: u32, avoid: &Avoid) -> u32 {
        let (source, none) = ((self.lo + row) as u16, self.nodes as u16);
        let mut again = Vec::new();
        let dark = avoid.dark.range((source, 0)..=(source, u16::MAX));
        let all = avoid.nodes.iter().map(|&n| (n, none));
        let all = all.chain(dark.map(|d| (d.1, none)));
        for (by, destination) in all.chain(avoid.cut.iter().copied().filter(|c| c.0 != c.1)) {
            let want = &mut self.wants[by as usize];
            if *want != none && (destination == none || *want == destination) {
                again.push(std::mem::replace(want, none));
            }
        }
        for destination in again {
            let start = self.rng[row].below(none as u32) as u16;
            let other = (start..none).chain(0..start).find(|&by| {
                self.wants[by as usize] == none && avoid.allows(source, by, destination)
            });
            match other {
                Some(by) => self.wants[by as usize] = destination,
                None => asked -= 1,
            }
        }
        asked
    }

    /// Keeps cells by turn from now on, for the schedule may change. They take their places
    /// anew, in the order in which they would have left.
    #[cold]
    fn keep_by_turn(&mut self, visits: &Visits, routes: &Routes) {
        let Some(departures) = self.departures.take() else {
            return;
        };
        self.lines = Lines::new(self.rows, self.nodes);
        for q in departures.each() {
            let (cell, destination) = (q.cell(), q.destination());
            let (from, to) = match cell.is_second() {
                true => (q.row(), destination),
                false => (routes.src[cell.rank() as usize] as usize, q.row()),
            };
            let queued = Queued::new(cell, from - self.lo, destination as u16);
            let turn = visits.turn(from, to);
            self.lines.push(turn, queued, &mut self.next_place);
        }
    }

    /// Takes the cells out of the queues for the peer at `turn` that `goes` names.
    #[cold]
    fn pull(&mut self, row: usize, turn: usize, goes: impl Fn(Cell) -> bool) -> Vec<Cell> {
        let gone = self.lines.pull(row, turn, &goes);
        self.held -= gone.len() as u64;
        self.relaying[row] -= gone.iter().filter(|c| c.is_second()).count() as u32;
        gone
    }
}

impl Sirius {
    /// Checks a command, and keeps it for the start of the next slot.
    pub(super) fn order(&mut self, command: Command) -> Result<(), Rejected> {
        let element = match command {
            Command::Fail { element, loss } => {
                if !(loss > 0.0 && loss <= 1.0) {
                    let limit = "a probability of loss is above 0 and at most 1";
                    return Err(Rejected(format!("{limit}, not {loss}")));
                }
                element
            }
            Command::Repair(element) => element,
        };
        self.part(element)?;
        self.faults.commands.push(command);
        self.faults.on = true;
        Ok(())
    }

    fn part(&self, element: Element) -> Result<Part, Rejected> {
        let (schedule, uplinks) = (&self.derived.schedule, self.derived.uplinks);
        let within = |what: &str, value: u32, count: u32| {
            let limit = format!("this fabric has {what}s 0 to {}", count.max(1) - 1);
            (value < count).then_some(()).ok_or(Rejected(limit))
        };
        let node = |n| within("node", n, self.cluster.racks).map(|()| schedule.label(n) as u16);
        Ok(match element {
            Element::Node(n) => Part::Node(node(n)?),
            Element::Transceiver { node: n, uplink } => {
                let label = node(n)?;
                within("uplink", uplink, uplinks)?;
                Part::Transceiver(label, uplink as u16)
            }
            Element::Grating(g) => {
                let Some(count) = schedule.gratings() else {
                    let limit = "uplink_plan = \"rotor\" is an ideal that no gratings realise; \
                                 use fabric.uplink_plan = \"wide\"";
                    return Err(Rejected(limit.to_owned()));
                };
                within("grating", g, count)?;
                Part::Grating(g)
            }
            Element::Controller => {
                let limit = "Sirius has no controller; fail a node, transceiver or grating";
                return Err(Rejected(limit.to_owned()));
            }
            Element::Port { .. } => {
                let limit = "Sirius has no planes of circuits; fail a transceiver";
                return Err(Rejected(limit.to_owned()));
            }
        })
    }

    /// Something may fail from now on: it is no longer known who leaves when.
    #[cold]
    pub(super) fn keep_by_turn(&mut self) {
        self.timetable = None;
        for shard in &mut self.shards {
            shard.keep_by_turn(&self.visits, &self.routes);
        }
    }

    /// Parts fail or are repaired, at the start of a slot.
    #[cold]
    pub(super) fn carry_out(&mut self, slot: i64, io: &mut Io) {
        let (epoch, now) = (self.eras.epoch_of(slot), self.config.slot * slot);
        for command in std::mem::take(&mut self.faults.commands) {
            let (element, loss) = match command {
                Command::Fail { element, loss } => (element, loss),
                Command::Repair(element) => (element, 0.0),
            };
            let part = self.part(element).expect("checked when it was ordered");
            let Part::Node(n) = part else {
                self.faults.set(part, loss, epoch, &self.eras);
                continue;
            };
            let was = self.faults.dead[n as usize];
            self.faults.set(part, loss, epoch, &self.eras);
            let rack = self.derived.schedule.node(n as u32);
            match (was, loss >= 1.0) {
                (false, true) => {
                    self.stop_rack(rack, now, io);
                    self.bury(n, epoch, io);
                }
                (true, false) => self.resume_rack(rack, now),
                _ => (),
            }
        }
        self.unpark();
        self.faults.update(&self.eras);
    }

    fn stop_rack(&mut self, rack: u32, now: Time, io: &Io) {
        self.bypassed.stop(rack, now, io);
        if let Some(servers) = &mut self.servers {
            servers.stop(rack, now);
        }
    }

    fn resume_rack(&mut self, rack: u32, now: Time) {
        self.bypassed.resume(rack, now);
        if let Some(servers) = &mut self.servers {
            servers.resume(rack, now);
        }
    }

    /// A node dies with all the cells that it was to relay.
    fn bury(&mut self, n: u16, epoch: i64, io: &mut Io) {
        let known_from = self.faults.known_from(n);
        for turn in 0..self.deal.nodes {
            let peer = self.visits.peer(n as usize, turn) as u16;
            let (shard, row) = self.row(n);
            for cell in shard.pull(row, turn, |_| true) {
                if cell.is_second() {
                    self.release(n, peer);
                    self.lose(cell, epoch, known_from, io);
                } else {
                    self.call_back(cell, peer);
                }
            }
        }
        for destination in 0..self.deal.nodes as u16 {
            self.park_local(n, destination);
        }
        if self.flights.len() > 1 {
            let flights = self.flights.iter_mut().flatten();
            let gone: Vec<_> = flights.flat_map(|f| f.purge(n as usize)).collect();
            for (cell, relayed) in gone {
                if relayed || !cell.is_second() {
                    let destination = self.routes.dst[cell.rank() as usize];
                    self.release(n, destination);
                }
                self.lose(cell, epoch, known_from, io);
            }
        }
        self.forget_requests(n);
    }

    /// The requests of a node and the answers to them are void.
    fn forget_requests(&mut self, n: u16) {
        let (shard, none) = (self.deal.shard[n as usize] as usize, self.deal.nodes as u16);
        let row = n as usize - self.shards[shard].lo;
        for k in 0..self.books.len() {
            if !self.books[k].askers[shard].has(row) {
                continue;
            }
            let answered = self.books[k].answered;
            let mut first = 0;
            for column in 0..self.shards.len() {
                let wants = self.books[k].tiles[shard][column].row(row);
                let was = wants.to_vec();
                wants.fill(none);
                for (by, want) in (first..).zip(&was).filter(|w| *w.1 != none) {
                    if answered {
                        self.release(by, *want);
                    }
                }
                first += was.len() as u16;
            }
        }
    }

    /// The news of the epoch: who is left alone, who is back, what is sent again.
    #[cold]
    pub(super) fn recover(&mut self, slot: i64, epoch: i64, io: &mut Io) {
        for (by, destination) in self.faults.lapsed_by(epoch) {
            self.release(by, destination);
        }
        let mut changed = false;
        while let Some(event) = self.faults.due(epoch) {
            changed = true;
            match event {
                Event::Declare(part) => {
                    self.faults.declare(part, true, epoch, &self.eras);
                    if let Part::Node(n) = part {
                        (0..self.deal.nodes as u16).for_each(|s| self.park_local(s, n));
                    }
                }
                Event::Withdraw(part) => self.faults.declare(part, false, epoch, &self.eras),
                Event::Reschedule => self.reschedule(slot, epoch),
            }
        }
        if changed {
            self.faults.find_cut(&self.eras);
            for from in 0..self.deal.nodes as u16 {
                (0..self.deal.nodes).for_each(|turn| self.sweep(from, turn, epoch, io));
            }
            self.unpark();
        }
        for s in self.faults.resent_by(epoch) {
            self.enter_again(s);
        }
        self.faults.update(&self.eras);
    }

    fn reschedule(&mut self, slot: i64, epoch: i64) {
        let all = 0..self.deal.nodes as u16;
        let members: Vec<u16> = all.filter(|&n| !self.faults.known[n as usize]).collect();
        let same = match self.eras.members() {
            Some(now) => now == members,
            None => members.len() == self.deal.nodes,
        };
        // One node alone has nobody to meet.
        if !same && members.len() > 1 {
            self.eras.begin(slot, epoch, members, &self.visits);
        }
    }

    /// Calls back what waits for a peer that it cannot reach, or could not be
    /// relayed by.
    fn sweep(&mut self, from: u16, turn: usize, epoch: i64, io: &mut Io) {
        let peer = self.visits.peer(from as usize, turn) as u16;
        let (faults, destinations) = (&self.faults, &self.routes.dst);
        let unreachable = faults.known[peer as usize] || faults.cut.contains(&(from, peer));
        let goes = |cell: Cell| {
            let d = destinations[cell.rank() as usize];
            let onwards = || peer != d && faults.cut.contains(&(peer, d));
            unreachable || !cell.is_second() && (faults.known[d as usize] || onwards())
        };
        let shard = &mut self.shards[self.deal.shard[from as usize] as usize];
        let row = from as usize - shard.lo;
        for cell in shard.pull(row, turn, goes) {
            if cell.is_second() {
                self.release(from, peer);
                self.lose(cell, epoch, None, io);
            } else {
                self.call_back(cell, peer);
            }
        }
    }

    /// What came too late for the news is called back, too.
    #[cold]
    pub(super) fn sweep_late(&mut self, epoch: i64, io: &mut Io) {
        let nodes = 0..self.deal.nodes as u16;
        let known = nodes.clone().filter(|&n| self.faults.known[n as usize]);
        let mut pairs: Vec<(u16, u16)> = known
            .flat_map(|n| nodes.clone().map(move |from| (from, n)))
            .collect();
        pairs.extend(&self.faults.cut);
        for (from, to) in pairs {
            let turn = self.visits.turn(from as usize, to as usize);
            self.sweep(from, turn, epoch, io);
        }
    }

    /// The cells of the slot that did not arrive.
    #[cold]
    pub(super) fn note_lost(&mut self, slot: i64, io: &mut Io) {
        let epoch = self.eras.epoch_of(slot);
        for shard in 0..self.shards.len() {
            for lost in std::mem::take(&mut self.shards[shard].lost) {
                if !lost.cell.is_second() {
                    let destination = self.routes.dst[lost.cell.rank() as usize];
                    self.faults.lapse(lost.via, destination, epoch);
                }
                self.lose(lost.cell, epoch, lost.known_from, io);
            }
        }
    }

    /// Removes the requests of `book` that did not arrive, or that will hear no
    /// answer: they ride on cells.
    #[cold]
    pub(super) fn strike(&mut self, book: usize, slot: i64, epoch: i64) {
        if self.books[book].askers.iter().all(|a| a.is_empty()) {
            return;
        }
        let asked = self.books[book].slots.clone();
        let answered = self.eras.slots_from(slot);
        let nodes = self.faults.lossy_nodes();
        for (purpose, slots, back) in [
            ("sirius.lost-requests", asked, false),
            ("sirius.lost-grants", answered, true),
        ] {
            let mut pairs = self.faults.pairs_in(slots, &self.eras);
            for &(n, passes) in &nodes {
                let others = 0..self.deal.nodes as u16;
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
                    self.strike_one(book, source, by);
                }
            }
        }
    }

    fn strike_one(&mut self, book: usize, source: u16, by: u16) {
        let (from, to) = (
            self.deal.shard[source as usize],
            self.deal.shard[by as usize],
        );
        let row = source as usize - self.shards[from as usize].lo;
        let column = by as usize - self.shards[to as usize].lo;
        let book = &mut self.books[book];
        if !book.askers[from as usize].has(row) {
            return;
        }
        let none = self.deal.nodes as u16;
        let want = &mut book.tiles[from as usize][to as usize].row(row)[column];
        *want = none;
    }

    /// Whom nobody asks in the epoch that begins with `slot`.
    #[cold]
    pub(super) fn avoid(&self, slot: i64) -> Avoid {
        let nodes = 0..self.deal.nodes as u16;
        Avoid {
            nodes: nodes.filter(|&n| self.faults.known[n as usize]).collect(),
            dark: self.faults.dark_in(self.eras.slots_from(slot), &self.eras),
            cut: self.faults.cut.clone(),
            ends: self.config.intermediates == Intermediates::All,
        }
    }

    fn row(&mut self, label: u16) -> (&mut Shard, usize) {
        let shard = &mut self.shards[self.deal.shard[label as usize] as usize];
        let row = label as usize - shard.lo;
        (shard, row)
    }

    /// A cell that `by` counts will not come, or has gone.
    fn release(&mut self, by: u16, destination: u16) {
        let (shard, row) = self.row(by);
        shard.grants.release(row, destination as usize, true);
    }

    fn lose(&mut self, cell: Cell, epoch: i64, known_from: Option<i64>, io: &mut Io) {
        io.lose();
        self.faults.resend(cell, epoch, known_from);
    }

    /// A granted cell goes back to LOCAL.
    fn call_back(&mut self, cell: Cell, by: u16) {
        let destination = self.routes.dst[cell.rank() as usize];
        self.release(by, destination);
        self.enter_again(Stretch {
            rank: cell.rank(),
            seq: cell.seq(),
            count: 1,
        });
    }

    fn park_local(&mut self, source: u16, destination: u16) {
        let (shard, row) = self.row(source);
        let cells = shard.local.withdraw(row, destination);
        for (rank, seq, count) in cells {
            self.enter(Stretch { rank, seq, count });
        }
    }

    /// Cells join LOCAL of their source, or wait outside while they cannot go.
    pub(super) fn enter(&mut self, s: Stretch) {
        self.join(s, Local::admit);
    }

    /// The same for cells that had left it: they go before those that never have, for the
    /// rest of their flow cannot be used without them.
    fn enter_again(&mut self, s: Stretch) {
        self.join(s, Local::readmit);
    }

    fn join<T>(&mut self, s: Stretch, how: impl Fn(&mut Local, usize, u32, u16, u32, u32) -> T) {
        let rank = s.rank as usize;
        let (src, dst) = (self.routes.src[rank], self.routes.dst[rank]);
        if self.faults.bars(src, dst) {
            self.faults.parked.entry(src).or_default().push(s);
        } else {
            let (shard, row) = self.row(src);
            how(&mut shard.local, row, s.rank, dst, s.seq, s.count);
        }
    }

    fn unpark(&mut self) {
        for stretch in std::mem::take(&mut self.faults.parked)
            .into_values()
            .flatten()
        {
            self.enter(stretch);
        }
    }
}
