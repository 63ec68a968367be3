//! AO-NACK with packets shorter than the round trip to the switch (L/2D < 1): a host continues to
//! send while the results for earlier packets are pending (§IV).
//!
//! Each packet in flight has a timer, or a sequence number that the host reads from the NACK, which
//! takes the time of its header. Returned packets go before packets that were never sent. Packets
//! of a flow may therefore overtake each other.

use super::arbiter::Arbiters;
use super::bound::Bound;
use super::config::{Detector, LionsConfig};
use super::inside::Inside;
use super::pace::Pace;
use super::ports::Ports;
use crate::contract::Site;
use crate::hosts::Packet;
use lightloom_engine::kernel::delegates::Delegates;
use lightloom_engine::kernel::event::EventKernel;
use lightloom_engine::{Agenda, Command, FlowId, Io, Rejected, Time};

/// Index that means "no packet"; it ends a chain.
const NONE: u32 = u32::MAX;

/// An event of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A host may send.
    Send {
        /// The host.
        host: u32,
    },
    /// A packet has arrived at its arbiter.
    Asks {
        /// The packet.
        packet: u32,
    },
    /// A host detects that a packet was reflected.
    Nack {
        /// The packet.
        packet: u32,
    },
    /// A packet has reached its destination.
    Delivered {
        /// Its flow.
        flow: FlowId,
        /// Its payload.
        bytes: u16,
    },
    /// A host's link has sent a packet.
    Heard {
        /// The host.
        host: u32,
    },
}

/// Lanes of the agenda: events that always, or after full packets, have the same delay.
const DELIVERED: usize = 0;
const ASKS: usize = 1;
const SEND: usize = 2;
const NACK: usize = 3;

/// A host's transmitter, and the packets that it has to retransmit.
#[derive(Clone, Copy, Debug)]
struct Sender {
    /// Time from which it may send.
    free: Time,
    /// Time of the next packet; never if none waits.
    next: Time,
    head: u32,
    tail: u32,
}

/// A packet in flight, or one that waits to be retransmitted. Its `next` is the next packet that
/// the host has to retransmit. In an unused row, `next` is the next unused row.
#[derive(Clone, Copy, Debug)]
struct Flight {
    packet: Packet,
    host: u32,
    next: u32,
}

/// The kernel.
pub struct Pipelined {
    pace: Pace,
    abort: bool,
    /// Time from the transmission of a packet's first bit until the host has identified its NACK.
    known: Time,
    ports: Ports,
    inside: Inside,
    senders: Vec<Sender>,
    flights: Vec<Flight>,
    unused: u32,
    arbiters: Arbiters,
}

type Todo = Agenda<Event>;

impl Pipelined {
    /// An empty switch of a resolved configuration.
    pub fn new(config: &LionsConfig, ports: Ports, bound: Bound, site: &Site) -> Pipelined {
        let read = match config.detector {
            Some(Detector::Sequence) => config.line_rate().time_for(config.header.0),
            _ => Time::ZERO,
        };
        let sender = Sender {
            free: Time::ZERO,
            next: Time::NEVER,
            head: NONE,
            tail: NONE,
        };
        Pipelined {
            pace: Pace::new(config),
            abort: config.aborts(),
            known: config.round_trip() + read,
            inside: Inside::new(config, &ports, bound, site),
            senders: vec![sender; ports.hosts()],
            flights: Vec::new(),
            unused: NONE,
            arbiters: Arbiters::new(&ports, config.receivers),
            ports,
        }
    }

    /// Schedules the next packet of a host that has none scheduled.
    fn wake(&mut self, host: u32, now: Time, todo: &mut Todo) {
        let sender = &mut self.senders[host as usize];
        if sender.next == Time::NEVER {
            sender.next = sender.free.max(now);
            todo.schedule(sender.next, Event::Send { host });
        }
    }

    /// Sends a packet of a host: a returned one if there is any, otherwise the next new one.
    fn send(&mut self, host: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        let at = host as usize;
        if self.senders[at].next != now {
            // A NACK has moved it.
            return;
        }
        let packet = match self.senders[at].head {
            NONE => self.first(host),
            again => {
                self.senders[at].head = self.flights[again as usize].next;
                again
            }
        };
        let Packet { flow, bytes } = self.flights[packet as usize].packet;
        io.start(flow, now);
        todo.append(ASKS, now + self.pace.to_switch, Event::Asks { packet });
        let waits = self.inside.hosts.waits(at);
        let sender = &mut self.senders[at];
        sender.free = now + self.pace.wire(bytes) + self.pace.gap;
        sender.next = Time::NEVER;
        if waits || sender.head != NONE {
            sender.next = sender.free;
            let event = Event::Send { host };
            if sender.next == now + self.pace.slot() {
                todo.append(SEND, sender.next, event);
            } else {
                todo.schedule(sender.next, event);
            }
        }
    }

    /// Takes the next packet that has not been sent yet.
    fn first(&mut self, host: u32) -> u32 {
        let packet = self.inside.hosts.first(host as usize);
        self.inside.hosts.pop(host as usize, packet.bytes);
        self.inside.open += packet.bytes as u64;
        let flight = Flight {
            packet,
            host,
            next: NONE,
        };
        if self.unused == NONE {
            self.flights.push(flight);
            return self.flights.len() as u32 - 1;
        }
        let row = self.unused;
        self.unused = self.flights[row as usize].next;
        self.flights[row as usize] = flight;
        row
    }

    /// Arbitrates a packet: it gets the receiver or is reflected.
    fn asks(&mut self, row: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        let Flight { packet, host, .. } = self.flights[row as usize];
        let (flow, wire) = (packet.flow, self.pace.wire(packet.bytes));
        let output = io.flows.dst[flow.index()].0;
        let group = self.ports.host_group[host as usize];
        let arbiter = self.arbiters.of(output, group);
        if !self.arbiters.is_open(arbiter, now) {
            let lasts = if self.abort {
                wire.min(self.known)
            } else {
                wire
            };
            io.lose();
            self.inside
                .passage
                .detour(host as usize, packet, lasts, now, io);
            let back = now + self.known - self.pace.to_switch;
            todo.append(NACK, back, Event::Nack { packet: row });
            return;
        }
        self.inside.open -= packet.bytes as u64;
        self.flights[row as usize].next = self.unused;
        self.unused = row;
        let settled = now + wire + self.pace.settling;
        self.arbiters.occupy(arbiter, settled);
        self.inside
            .passage
            .forward(host, arbiter, packet, wire, now, io);
        let there = now + wire + self.pace.to_host;
        let bytes = packet.bytes as u16;
        let event = Event::Delivered { flow, bytes };
        if wire == self.pace.full {
            todo.append(DELIVERED, there, event);
        } else {
            todo.schedule(there, event);
        }
    }

    /// Handles the NACK of a packet, which the host may still be sending.
    fn nack(&mut self, row: u32, now: Time, todo: &mut Todo) {
        let Flight { packet, host, .. } = self.flights[row as usize];
        self.flights[row as usize].next = NONE;
        let sender = &mut self.senders[host as usize];
        if sender.head == NONE {
            sender.head = row;
        } else {
            self.flights[sender.tail as usize].next = row;
        }
        let sender = &mut self.senders[host as usize];
        sender.tail = row;
        if self.abort && self.known < self.pace.wire(packet.bytes) {
            sender.free = now + self.pace.gap;
            sender.next = Time::NEVER;
        }
        self.wake(host, now, todo);
    }
}

impl EventKernel for Pipelined {
    type Event = Event;

    fn arrive(&mut self, flow: FlowId, now: Time, io: &mut Io, todo: &mut Todo) {
        let host = self.inside.hosts.admit(flow, io);
        self.wake(host as u32, now, todo);
    }

    fn handle(&mut self, now: Time, event: Event, io: &mut Io, todo: &mut Todo) {
        match event {
            Event::Send { host } => self.send(host, now, io, todo),
            Event::Asks { packet } => self.asks(packet, now, io, todo),
            Event::Nack { packet } => self.nack(packet, now, todo),
            Event::Delivered { flow, bytes } => {
                let bytes = bytes as u32;
                let packet = Packet { flow, bytes };
                if let Some((host, until)) = self.inside.hear(packet, false, now, io) {
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

impl Delegates for Pipelined {
    type Reporter = Inside;

    fn reporter(&self) -> &Inside {
        &self.inside
    }

    fn reporter_mut(&mut self) -> &mut Inside {
        &mut self.inside
    }
}
