//! Injection: parts fail and are repaired, at the start of a slot.

use super::{Event, Part};
use crate::sirius::config::Recovery;
use crate::sirius::reference::{Cell, Place, Queued, Reference};
use lightloom_engine::{Command, Element, Io, Time};
use std::collections::VecDeque;

impl Reference {
    pub(super) fn part(&self, element: Element) -> Part {
        let label = |node| self.derived.schedule.label(node) as usize;
        match element {
            Element::Node(node) => Part::Node(label(node)),
            Element::Transceiver { node, uplink } => Part::Transceiver(label(node), uplink),
            Element::Grating(grating) => Part::Grating(grating),
            _ => unreachable!("no part of Sirius"),
        }
    }

    /// Parts fail and are repaired at the start of a slot.
    pub(in crate::sirius::reference) fn carry_out(&mut self, slot: i64, io: &mut Io) {
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

    /// Sets the loss of a part from now on, and schedules the reaction of all nodes.
    pub(super) fn set_loss(&mut self, part: Part, loss: f64, epoch: i64) {
        let lag = self.lag();
        let k = self.config.detection_epochs as i64;
        let broken = self.failures.of(part);
        let was = std::mem::replace(&mut broken.loss, loss);
        if was < 1.0 && loss >= 1.0 {
            // The part is silent for k epochs; the report of the last one takes an epoch, and so
            // does the news.
            broken.declared = epoch + k + 2 * lag - 1;
            let declare = (broken.declared, Event::Declare(part));
            self.failures.events.push(declare);
        } else if was >= 1.0 && loss < 1.0 {
            let back = epoch + 2 * lag;
            if broken.known || broken.declared < back {
                let agree = matches!(part, Part::Node(_)) && self.reschedules();
                let back = back + if agree { lag } else { 0 };
                self.failures.events.push((back, Event::Withdraw(part)));
            } else {
                let events = &mut self.failures.events;
                events.retain(|e| e.1 != Event::Declare(part));
            }
        }
    }

    pub(super) fn reschedules(&self) -> bool {
        self.config.recovery == Recovery::Reschedule
    }

    pub(super) fn stop_or_go_on(
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
                self.node_dies(node, epoch, io);
            }
            (true, false) => self.racks.resume(rack, now),
            _ => (),
        }
    }

    /// A node dies with all the cells that it was to relay, and all that are on their way to
    /// it. Its requests are void.
    pub(super) fn node_dies(&mut self, node: usize, epoch: i64, io: &mut Io) {
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

    pub(super) fn in_order_of_meeting(&self, node: usize) -> Vec<usize> {
        let peer = |turn| self.peer_order.peer(node, turn);
        (0..self.nodes).map(peer).collect()
    }

    /// Takes cells out of a queue.
    pub(super) fn pull(
        &mut self,
        node: usize,
        peer: usize,
        goes: impl Fn(&Cell) -> bool,
    ) -> Vec<Cell> {
        let queue = std::mem::take(&mut self.queues[node][peer]);
        let (gone, kept): (VecDeque<Queued>, _) = queue.into_iter().partition(|q| goes(&q.cell));
        self.queues[node][peer] = kept;
        gone.into_iter().map(|q| q.cell).collect()
    }

    pub(super) fn take_places_anew(&mut self, slot: i64) {
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

    pub(super) fn meets(&self, node: usize, uplink: u32, slot: i64, peer: usize) -> bool {
        self.met(node, uplink, slot).is_some_and(|m| m.0 == peer)
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let nodes = self.nodes;
        (0..nodes).flat_map(move |a| (0..nodes).map(move |b| (a, b)))
    }
}
