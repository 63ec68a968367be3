//! What nodes do about failures: the cold steps of the kernel. What happens to
//! whom and when is told in [`crate::sirius::failure::faults`].
//!
//! M stays exact: whatever is lost or called back releases the count at the
//! intermediate that granted it. A lost cell stays with its source, so nothing
//! is both lost and delivered.

use crate::sirius::cell::{Cell, Routes};
use crate::sirius::config::Intermediates;
use crate::sirius::failure::avoid::Avoid;
use crate::sirius::failure::faults::{Event, Part, Stretch};
use crate::sirius::kernel::Sirius;
use crate::sirius::relay::by_pair::ByPair;
use crate::sirius::relay::local::Local;
use crate::sirius::relay::queued::Queued;
use crate::sirius::schedule::peer_order::PeerOrder;
use crate::sirius::shard::Shard;
use lightloom_engine::{Command, Element, Io, Rejected, Time};

impl Shard {
    /// Keeps cells by pair from now on, for the schedule may change. They take their places
    /// anew, in the order in which they would have left.
    #[cold]
    fn keep_by_pair(&mut self, peer_order: &PeerOrder, routes: &Routes) {
        let Some(by_slot) = self.by_slot.take() else {
            return;
        };
        self.by_pair = ByPair::new(self.rows, self.nodes);
        for q in by_slot.each() {
            let (cell, destination) = (q.cell(), q.destination());
            let (from, to) = match cell.is_second() {
                true => (q.row(), destination),
                false => (routes.src[cell.rank() as usize] as usize, q.row()),
            };
            let queued = Queued::new(cell, from - self.lo, destination as u16);
            let turn = peer_order.turn(from, to);
            self.by_pair.push(turn, queued, &mut self.next_place);
        }
    }

    /// Takes the cells out of the queues for the peer at `turn` that `goes` names.
    #[cold]
    fn pull(&mut self, row: usize, turn: usize, goes: impl Fn(Cell) -> bool) -> Vec<Cell> {
        let gone = self.by_pair.pull(row, turn, &goes);
        self.held -= gone.len() as u64;
        self.relaying[row] -= gone.iter().filter(|c| c.is_second()).count() as u32;
        gone
    }
}

impl Sirius {
    /// Checks a command, and keeps it for the start of the next slot.
    pub(crate) fn order(&mut self, command: Command) -> Result<(), Rejected> {
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
    pub(crate) fn keep_by_pair(&mut self) {
        self.timetable = None;
        for shard in &mut self.shards {
            shard.keep_by_pair(&self.peer_order, &self.routes);
        }
    }

    /// Parts fail or are repaired, at the start of a slot.
    #[cold]
    pub(crate) fn carry_out(&mut self, slot: i64, io: &mut Io) {
        let (epoch, now) = (self.schedules.epoch_of(slot), self.config.slot * slot);
        for command in std::mem::take(&mut self.faults.commands) {
            let (element, loss) = match command {
                Command::Fail { element, loss } => (element, loss),
                Command::Repair(element) => (element, 0.0),
            };
            let part = self.part(element).expect("checked when it was ordered");
            let Part::Node(n) = part else {
                self.faults.set(part, loss, epoch, &self.schedules);
                continue;
            };
            let was = self.faults.dead[n as usize];
            self.faults.set(part, loss, epoch, &self.schedules);
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
        self.faults.update(&self.schedules);
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
        for turn in 0..self.partition.nodes {
            let peer = self.peer_order.peer(n as usize, turn) as u16;
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
        for destination in 0..self.partition.nodes as u16 {
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
        let (shard, none) = (
            self.partition.shard[n as usize] as usize,
            self.partition.nodes as u16,
        );
        let row = n as usize - self.shards[shard].lo;
        for k in 0..self.epochs.len() {
            if !self.epochs[k].askers[shard].has(row) {
                continue;
            }
            let answered = self.epochs[k].answered;
            let mut first = 0;
            for column in 0..self.shards.len() {
                let wants = self.epochs[k].matrices[shard][column].row(row);
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
    pub(crate) fn recover(&mut self, slot: i64, epoch: i64, io: &mut Io) {
        for (by, destination) in self.faults.lapsed_by(epoch) {
            self.release(by, destination);
        }
        let mut changed = false;
        while let Some(event) = self.faults.due(epoch) {
            changed = true;
            match event {
                Event::Declare(part) => {
                    self.faults.declare(part, true, epoch, &self.schedules);
                    if let Part::Node(n) = part {
                        (0..self.partition.nodes as u16).for_each(|s| self.park_local(s, n));
                    }
                }
                Event::Withdraw(part) => self.faults.declare(part, false, epoch, &self.schedules),
                Event::Reschedule => self.reschedule(slot, epoch),
            }
        }
        if changed {
            self.faults.find_cut(&self.schedules);
            for from in 0..self.partition.nodes as u16 {
                (0..self.partition.nodes).for_each(|turn| self.sweep(from, turn, epoch, io));
            }
            self.unpark();
        }
        for s in self.faults.resent_by(epoch) {
            self.enter_again(s);
        }
        self.faults.update(&self.schedules);
    }

    fn reschedule(&mut self, slot: i64, epoch: i64) {
        let all = 0..self.partition.nodes as u16;
        let members: Vec<u16> = all.filter(|&n| !self.faults.known[n as usize]).collect();
        let same = match self.schedules.members() {
            Some(now) => now == members,
            None => members.len() == self.partition.nodes,
        };
        // One node alone has nobody to meet.
        if !same && members.len() > 1 {
            self.schedules.begin(slot, epoch, members, &self.peer_order);
        }
    }

    /// Calls back what waits for a peer that it cannot reach, or could not be
    /// relayed by.
    fn sweep(&mut self, from: u16, turn: usize, epoch: i64, io: &mut Io) {
        let peer = self.peer_order.peer(from as usize, turn) as u16;
        let (faults, destinations) = (&self.faults, &self.routes.dst);
        let unreachable = faults.known[peer as usize] || faults.cut.contains(&(from, peer));
        let goes = |cell: Cell| {
            let d = destinations[cell.rank() as usize];
            let onwards = || peer != d && faults.cut.contains(&(peer, d));
            unreachable || !cell.is_second() && (faults.known[d as usize] || onwards())
        };
        let shard = &mut self.shards[self.partition.shard[from as usize] as usize];
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
    pub(crate) fn sweep_late(&mut self, epoch: i64, io: &mut Io) {
        let nodes = 0..self.partition.nodes as u16;
        let known = nodes.clone().filter(|&n| self.faults.known[n as usize]);
        let mut pairs: Vec<(u16, u16)> = known
            .flat_map(|n| nodes.clone().map(move |from| (from, n)))
            .collect();
        pairs.extend(&self.faults.cut);
        for (from, to) in pairs {
            let turn = self.peer_order.turn(from as usize, to as usize);
            self.sweep(from, turn, epoch, io);
        }
    }

    /// The cells of the slot that did not arrive.
    #[cold]
    pub(crate) fn note_lost(&mut self, slot: i64, io: &mut Io) {
        let epoch = self.schedules.epoch_of(slot);
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

    fn row(&mut self, label: u16) -> (&mut Shard, usize) {
        let shard = &mut self.shards[self.partition.shard[label as usize] as usize];
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
    pub(crate) fn enter(&mut self, s: Stretch) {
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
