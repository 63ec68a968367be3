//! The slotted variant, which is the model of the closed forms: hosts send at the start of slots of
//! one full packet, and all packets that reach an arbiter in a slot are decided together.
//!
//! Loop-back queues go before hosts, unless the table has another rule; equal requests take turns.
//! A packet that loses is stored and may leave its loop-back queue from the next slot on, or its
//! host sends it again in the next slot ("ao-nack"), or it is lost ("drop").

use super::bound::Bound;
use super::config::{ArbiterRule, Architecture, LionsConfig};
use super::contest::{precedence, Contender};
use super::inside::Inside;
use super::pace::Pace;
use super::ports::Ports;
use crate::contract::Site;
use crate::hosts::Packet;
use lightloom_engine::kernel::delegates::Delegates;
use lightloom_engine::kernel::event::EventKernel;
use lightloom_engine::{Agenda, Command, FlowId, Io, Rejected, Time};

/// An event of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The packets of a slot have arrived at their arbiters.
    Slot {
        /// Number of the slot.
        number: i64,
    },
    /// A packet has reached its destination.
    Delivered {
        /// Its flow.
        flow: FlowId,
        /// Its payload.
        bytes: u16,
        /// Whether it came from a loop-back buffer.
        stored: bool,
    },
    /// A host's link has sent a packet.
    Heard {
        /// The host.
        host: u32,
    },
}

/// An arbiter in a slot.
#[derive(Clone, Copy, Debug)]
struct Arbiter {
    /// The requester with precedence so far.
    first: Option<(Contender, (i64, u32))>,
    /// The input whose turn it is.
    turn: u32,
}

/// The kernel.
pub struct Slotted {
    architecture: Architecture,
    rule: ArbiterRule,
    pace: Pace,
    ports: Ports,
    receivers: u32,
    inside: Inside,
    arbiters: Vec<Arbiter>,
    /// Arbiters with requests in this slot.
    asked: Vec<u32>,
    /// Hosts that send in this slot, and whether each has won.
    sending: Vec<u32>,
    won: Vec<bool>,
    /// VOQs that have a transmitter, as (queue, output).
    ready: Vec<(u32, u32)>,
    /// The last slot that was arbitrated, and whether another is scheduled.
    last: i64,
    planned: bool,
}

type Todo = Agenda<Event>;

impl Slotted {
    /// An empty switch of a resolved configuration.
    pub fn new(config: &LionsConfig, ports: Ports, bound: Bound, site: &Site) -> Slotted {
        let arbiter = Arbiter {
            first: None,
            turn: 0,
        };
        Slotted {
            architecture: config.architecture,
            rule: config.arbiter_rule(),
            pace: Pace::new(config),
            receivers: config.receivers,
            inside: Inside::new(config, &ports, bound, site),
            arbiters: vec![arbiter; ports.hosts() * config.receivers as usize],
            asked: Vec::new(),
            sending: Vec::new(),
            won: vec![false; ports.hosts()],
            ready: Vec::new(),
            last: -1,
            planned: false,
            ports,
        }
    }

    fn plan(&mut self, number: i64, todo: &mut Todo) {
        self.planned = true;
        let at = self.pace.slot() * number + self.pace.to_switch;
        todo.schedule(at, Event::Slot { number });
    }

    fn slot(&mut self, number: i64, now: Time, io: &mut Io, todo: &mut Todo) {
        self.last = number;
        self.planned = false;
        self.queues_ask(io);
        self.hosts_ask(self.pace.slot() * number, io);
        self.grant(now, io, todo);
        let loopback = &self.inside.loopback;
        self.ready.retain(|&(q, o)| loopback.is_ready(q, o));
        self.hosts_lose(now, io);
        if self.inside.hosts.bytes + self.inside.loopback.bytes().0 > 0 {
            self.plan(number + 1, todo);
        }
    }

    /// Records a request of every VOQ that has a transmitter.
    fn queues_ask(&mut self, io: &Io) {
        for queue in 0..self.ports.queues() as u32 {
            while let Some(output) = self.inside.loopback.assign(queue) {
                self.ready.push((queue, output));
            }
        }
        for i in 0..self.ready.len() {
            let (queue, output) = self.ready[i];
            let at = output * self.receivers + self.ports.queue_group[queue as usize];
            let flow = self.inside.loopback.first(queue, output);
            let input = self.ports.queue_input[queue as usize];
            self.ask(at, Contender::Queue(queue), input, flow, io);
        }
    }

    /// Lets every host send a packet that it had at `start`.
    fn hosts_ask(&mut self, start: Time, io: &mut Io) {
        for host in 0..self.ports.hosts() {
            if !self.inside.hosts.waits(host) {
                continue;
            }
            self.inside.hosts.pass_to_arrived(host, start, io);
            let flow = self.inside.hosts.first(host).flow;
            if io.flows.arrival[flow.index()] > start {
                continue;
            }
            io.start(flow, start);
            self.sending.push(host as u32);
            let at = self.arbiter_of(host, flow, io);
            let input = self.ports.host_input[host];
            self.ask(at, Contender::Host(host as u32), input, flow, io);
        }
    }

    /// Records the request of a host's packet, or of a queue's.
    fn ask(&mut self, at: u32, who: Contender, input: u32, flow: FlowId, io: &Io) {
        let (inputs, a) = (self.ports.inputs, &mut self.arbiters[at as usize]);
        let wait = (input + inputs - a.turn) % inputs;
        let key = precedence(self.rule, who, io.flows.arrival[flow.index()], wait);
        if a.first.is_none_or(|(_, first)| key < first) {
            a.first = Some((who, key));
        }
        self.asked.push(at);
    }

    fn arbiter_of(&self, host: usize, flow: FlowId, io: &Io) -> u32 {
        io.flows.dst[flow.index()].0 * self.receivers + self.ports.host_group[host]
    }

    /// Lets every arbiter with requests grant one.
    fn grant(&mut self, now: Time, io: &mut Io, todo: &mut Todo) {
        let asked = std::mem::take(&mut self.asked);
        for &at in &asked {
            let Some((first, _)) = self.arbiters[at as usize].first else {
                continue;
            };
            let winner = match first {
                Contender::Host(host) => {
                    let packet = self.inside.hosts.first(host as usize);
                    self.inside.hosts.pop(host as usize, packet.bytes);
                    self.won[host as usize] = true;
                    self.pass(host, at, packet, false, now, io, todo);
                    self.ports.host_input[host as usize]
                }
                Contender::Queue(queue) => {
                    self.leave(queue, at, now, io, todo);
                    self.ports.queue_input[queue as usize]
                }
            };
            self.arbiters[at as usize] = Arbiter {
                first: None,
                turn: (winner + 1) % self.ports.inputs,
            };
        }
        self.asked = asked;
        self.asked.clear();
    }

    /// Sends the first packet of a VOQ to its destination.
    fn leave(&mut self, queue: u32, arbiter: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        let output = arbiter / self.receivers;
        let packet = self.inside.loopback.dequeue(queue, output);
        let mut transmitter = output;
        if self.inside.loopback.is_tunable() {
            transmitter = self.inside.loopback.transmitter(queue, output);
            self.inside.loopback.release(transmitter);
        }
        let tx = self.inside.passage.loopback(transmitter);
        self.pass(tx, arbiter, packet, true, now, io, todo);
    }

    #[allow(clippy::too_many_arguments)]
    fn pass(
        &mut self,
        tx: u32,
        arbiter: u32,
        packet: Packet,
        stored: bool,
        now: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        let wire = self.pace.wire(packet.bytes);
        self.inside
            .passage
            .forward(tx, arbiter as usize, packet, wire, now, io);
        let event = Event::Delivered {
            flow: packet.flow,
            bytes: packet.bytes as u16,
            stored,
        };
        todo.schedule(now + wire + self.pace.to_host, event);
    }

    /// Handles the packets of hosts that were not granted.
    fn hosts_lose(&mut self, now: Time, io: &mut Io) {
        let sending = std::mem::take(&mut self.sending);
        for &host in &sending {
            if !std::mem::take(&mut self.won[host as usize]) {
                self.loses(host as usize, now, io);
            }
        }
        self.sending = sending;
        self.sending.clear();
    }

    fn loses(&mut self, host: usize, now: Time, io: &mut Io) {
        let packet = self.inside.hosts.first(host);
        let wire = self.pace.wire(packet.bytes);
        match self.architecture {
            Architecture::AoNack => {
                io.lose();
                self.inside.passage.detour(host, packet, wire, now, io);
            }
            Architecture::Drop => {
                io.lose();
                io.drop(packet.bytes as u64);
                self.inside.hosts.pop(host, packet.bytes);
            }
            Architecture::Slb | Architecture::Mlb | Architecture::Dlb => {
                self.inside.hosts.pop(host, packet.bytes);
                self.inside.passage.detour(host, packet, wire, now, io);
                let output = io.flows.dst[packet.flow.index()].0;
                self.store(self.ports.host_queue[host], output, packet);
            }
        }
    }

    fn store(&mut self, queue: u32, output: u32, packet: Packet) {
        let at = self.inside.loopback.admit(queue, packet);
        if self.inside.loopback.enqueue(at, queue, output) {
            if self.inside.loopback.is_tunable() {
                self.inside.loopback.await_transmitter(queue, output);
            } else {
                self.ready.push((queue, output));
            }
        }
        self.inside.loopback.note_peak(queue);
    }
}

impl EventKernel for Slotted {
    type Event = Event;

    fn arrive(&mut self, flow: FlowId, now: Time, io: &mut Io, todo: &mut Todo) {
        self.inside.hosts.admit(flow, io);
        if !self.planned {
            let number = now.div_ceil(self.pace.slot()).max(self.last + 1);
            self.plan(number, todo);
        }
    }

    fn handle(&mut self, now: Time, event: Event, io: &mut Io, todo: &mut Todo) {
        match event {
            Event::Slot { number } => self.slot(number, now, io, todo),
            Event::Delivered {
                flow,
                bytes,
                stored,
            } => {
                let bytes = bytes as u32;
                let packet = Packet { flow, bytes };
                if let Some((host, until)) = self.inside.hear(packet, stored, now, io) {
                    todo.schedule(until, Event::Heard { host });
                }
            }
            Event::Heard { host } => {
                if let Some(until) = self.inside.sent(host, now, io) {
                    todo.schedule(until, Event::Heard { host });
                }
            }
        }
    }

    fn apply(&mut self, _: Command, _: Time, _: &mut Todo) -> Result<(), Rejected> {
        Err(Rejected::no_failures("lions"))
    }

    fn idle(&self) -> bool {
        self.inside.is_empty()
    }
}

impl Delegates for Slotted {
    type Reporter = Inside;

    fn reporter(&self) -> &Inside {
        &self.inside
    }

    fn reporter_mut(&mut self) -> &mut Inside {
        &mut self.inside
    }
}
