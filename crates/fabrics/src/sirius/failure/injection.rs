//! Failures and repairs of parts: the commands, and the cells that are lost with a node.

use super::faults::Part;
use crate::sirius::cell::Routes;
use crate::sirius::index::{Label, Row, Turn};
use crate::sirius::kernel::Sirius;
use crate::sirius::relay::by_pair::ByPair;
use crate::sirius::relay::by_slot::BySlot;
use crate::sirius::relay::Queues;
use crate::sirius::schedule::peer_order::PeerOrder;
use crate::sirius::shard::Shard;
use lightloom_engine::{Command, Element, Io, Rejected, Time};

impl Shard {
    /// Keeps cells by pair from now on, because the schedule may change. Cells get new places, in
    /// the order in which they would have left.
    #[cold]
    fn keep_by_pair(&mut self, peer_order: &PeerOrder, routes: &Routes) {
        if let Queues::ByPair(_) = self.queues {
            return;
        }
        let mut by_pair = ByPair::new(self.rows, self.nodes);
        for q in self.queues.each() {
            let (from, to) = match q.cell().is_second() {
                true => (q.intermediate(), q.destination()),
                false => (routes.source(q.cell()), q.intermediate()),
            };
            by_pair.push(peer_order.turn_of(from, to), Row::of(from, self.lo), q);
        }
        self.queues = Queues::ByPair(by_pair);
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
        let label = |n| Label(schedule.label(n) as u16);
        let node = |n| within("node", n, self.cluster.racks).map(|()| label(n));
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
            Element::Port { .. } | Element::Plane(_) => {
                let limit = "Sirius has no planes of circuits; fail a transceiver";
                return Err(Rejected(limit.to_owned()));
            }
            Element::Switch { .. } => {
                let limit = "no switches are above Sirius's racks; fail a transceiver or grating";
                return Err(Rejected(limit.to_owned()));
            }
        })
    }

    /// Marks that a part may be broken from now on: departures are no longer known in advance.
    #[cold]
    pub(crate) fn keep_by_pair(&mut self) {
        self.by_pair = true;
        for shard in &mut self.shards {
            shard.keep_by_pair(&self.peer_order, &self.routes);
        }
    }

    /// Marks that all parts work again, and `slot` is the next: departures are known in advance, if
    /// the schedule allows it.
    #[cold]
    pub(crate) fn keep_by_slot(&mut self, slot: i64) {
        self.by_pair = false;
        let Some(timetable) = &self.timetable else {
            return;
        };
        for shard in &mut self.shards {
            let part = (shard.lo, shard.rows);
            let uplinks = self.derived.uplinks;
            let mut by_slot = BySlot::new(timetable, part, &self.partition, uplinks);
            if let Queues::ByPair(by_pair) = &shard.queues {
                by_slot.join_all(timetable, slot, by_pair.in_order());
            }
            shard.queues = Queues::BySlot(by_slot);
        }
    }

    /// Lets parts fail and repairs parts at the start of a slot.
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
            let was = self.faults.dead[n.index()];
            self.faults.set(part, loss, epoch, &self.schedules);
            let rack = self.derived.schedule.node(n.0.into());
            match (was, loss >= 1.0) {
                (false, true) => {
                    self.stop_rack(rack, now, io);
                    self.node_dies(n, epoch, io);
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

    /// Handles the death of a node: the cells that it was to relay are lost.
    fn node_dies(&mut self, n: Label, epoch: i64, io: &mut Io) {
        let known_from = self.faults.known_from(n);
        for turn in Turn::all(self.partition.nodes) {
            let peer = self.peer_order.peer_of(n, turn);
            let (shard, row) = self.row(n);
            for cell in shard.pull(turn, row, |_| true) {
                if cell.is_second() {
                    self.release(n, peer);
                    self.lose(cell, epoch, known_from, io);
                } else {
                    self.call_back(cell, peer);
                }
            }
        }
        for destination in Label::all(self.partition.nodes) {
            self.park_local(n, destination);
        }
        if self.flights.len() > 1 {
            let flights = self.flights.iter_mut().flatten();
            let gone: Vec<_> = flights.flat_map(|f| f.purge(n)).collect();
            for (cell, relayed) in gone {
                if relayed || !cell.is_second() {
                    let destination = self.routes.destination(cell);
                    self.release(n, destination);
                }
                self.lose(cell, epoch, known_from, io);
            }
        }
        self.forget_requests(n);
    }

    /// Discards the requests of a node and the answers to them.
    fn forget_requests(&mut self, n: Label) {
        let (shard, none) = (self.partition.shard_of(n), self.partition.nodes as u16);
        let row = Row::of(n, self.shards[shard].lo);
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
                        self.release(Label(by), Label(*want));
                    }
                }
                first += was.len() as u16;
            }
        }
    }
}
