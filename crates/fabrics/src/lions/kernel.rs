//! The event kernel: hosts that send at any time.
//!
//! Without contention there are two events per packet: its arrival at the arbiter, and its arrival
//! at its destination. The time of a host's next packet is known when the one before is arbitrated,
//! so hosts need no events of their own. Full packets take constant times, so most events use the
//! lanes of the agenda. This kernel handles loop-back buffers, packets that are dropped, and NACKs
//! for which an edge detector suffices: the outcome of at most one packet per host is then unknown.
//! [`Pipelined`] handles the other NACKs.
//!
//! [`Pipelined`]: super::pipelined::Pipelined

use super::arbiter::Arbiters;
use super::bound::Bound;
use super::config::{Architecture, LionsConfig};
use super::contest::{Contender, Contests};
use super::hosts::Senders;
use super::inside::Inside;
use super::nack::Nack;
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
    /// A host's packet has arrived at the arbiter.
    Asks {
        /// The host.
        host: u32,
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
    /// A receiver with requests of loop-back queues is free.
    Free {
        /// Its arbiter.
        arbiter: u32,
    },
    /// All requests for a receiver at this instant have been recorded.
    Decide {
        /// Its arbiter.
        arbiter: u32,
    },
    /// A packet has fully arrived at its loop-back queue.
    Stored {
        /// The packet.
        packet: u32,
    },
    /// The request of a virtual output queue of the shared buffer is arbitrated.
    Judged {
        /// Its output.
        output: u32,
    },
    /// A transmitter of a loop-back queue has tuned, and its request is arbitrated.
    Tuned {
        /// The transmitter.
        transmitter: u32,
    },
    /// A transmitter of a loop-back queue has sent its packet.
    Done {
        /// The transmitter.
        transmitter: u32,
    },
    /// A host's link has sent a packet.
    Heard {
        /// The host.
        host: u32,
    },
}

/// The time, and the state that may be changed.
struct Now<'a> {
    at: Time,
    io: &'a mut Io,
    todo: &'a mut Agenda<Event>,
}

impl Now<'_> {
    #[inline]
    fn schedule(&mut self, at: Time, event: Event) {
        self.todo.schedule(at, event);
    }

    /// Schedules an event that is usually a fixed time ahead.
    #[inline]
    fn usually(&mut self, ahead: Time, lane: usize, at: Time, event: Event) {
        if at == self.at + ahead {
            self.todo.append(lane, at, event);
        } else {
            self.todo.schedule(at, event);
        }
    }
}

/// Full packets that are delivered.
const DELIVERED: usize = 0;
/// Packets of hosts that were idle.
const FIRST: usize = 1;
/// Packets of hosts behind full packets.
const BEHIND: usize = 2;
/// Full packets that have left a loop-back queue.
const DONE: usize = 3;

/// The only queue of the shared buffer.
const SHARED: u32 = 0;

/// The kernel.
pub struct Switch {
    architecture: Architecture,
    cut_through: bool,
    /// Shortest time from a stored packet's request to the arbiter's decision.
    arbitration: Time,
    /// Time from the assignment of a transmitter to the decision; the transmitter tunes first.
    lead: Time,
    nack: Nack,
    pace: Pace,
    ports: Ports,
    inside: Inside,
    senders: Senders,
    arbiters: Arbiters,
    /// Set if loop-back queues do not always go first.
    contests: Option<Contests>,
    /// Hosts with requests for the receiver that is being decided.
    asked: Vec<u32>,
}

impl Switch {
    /// An empty switch of a resolved configuration.
    pub fn new(config: &LionsConfig, ports: Ports, bound: Bound, site: &Site) -> Switch {
        Switch {
            architecture: config.architecture,
            cut_through: config.cuts_through(),
            arbitration: config.arbitration,
            lead: config.tuning + config.arbitration,
            nack: Nack::new(config),
            pace: Pace::new(config),
            inside: Inside::new(config, &ports, bound, site),
            senders: Senders::new(ports.hosts()),
            arbiters: Arbiters::new(&ports, config.receivers),
            contests: Contests::new(
                config.arbiter_rule(),
                &ports,
                ports.hosts() * config.receivers as usize,
            ),
            asked: Vec::new(),
            ports,
        }
    }

    /// Arbitrates a host's packet: it gets the receiver or loses.
    #[inline]
    fn asks(&mut self, host: usize, now: &mut Now) {
        let packet = self.inside.hosts.first(host);
        let sent = now.at - self.pace.to_switch;
        now.io.start(packet.flow, sent);
        let output = now.io.flows.dst[packet.flow.index()].0;
        let arbiter = self.arbiters.of(output, self.ports.host_group[host]);
        if self.contests.is_some() && self.arbiters.free(arbiter) <= now.at {
            return self.contest(host, arbiter, now);
        }
        let open = self.arbiters.is_open(arbiter, now.at);
        self.judge(host, packet, arbiter, open, now);
    }

    /// Records a host packet's request for a receiver, which is decided at the end of this instant.
    #[cold]
    fn contest(&mut self, host: usize, arbiter: usize, now: &mut Now) {
        let contests = self.contests.as_mut();
        if contests.is_some_and(|contests| contests.ask(arbiter, host as u32)) {
            let arbiter = arbiter as u32;
            now.schedule(now.at, Event::Decide { arbiter });
        }
    }

    /// Handles the result of a contest for a host's packet. Not inlined, so that [`Switch::judge`]
    /// is inlined only into the path of packets without a contest.
    #[inline(never)]
    fn judge_contest(&mut self, host: usize, arbiter: usize, has: bool, now: &mut Now) {
        let packet = self.inside.hosts.first(host);
        self.judge(host, packet, arbiter, has, now);
    }

    /// Handles the result of the arbitration of a host's packet.
    #[inline(always)]
    fn judge(&mut self, host: usize, packet: Packet, arbiter: usize, has: bool, now: &mut Now) {
        let sent = now.at - self.pace.to_switch;
        let wire = self.pace.wire(packet.bytes);
        let busy = if has {
            self.inside.hosts.pop(host, packet.bytes);
            self.pass(host as u32, arbiter, packet, wire, now);
            self.nack.when_none(wire)
        } else {
            let output = self.arbiters.output(arbiter);
            self.loses(host, packet, output, wire, now)
        };
        let free = sent + busy + self.pace.gap;
        if let Some(start) = self
            .senders
            .next(host, free, &mut self.inside.hosts, now.io)
        {
            let (at, host) = (start + self.pace.to_switch, host as u32);
            now.usually(self.pace.slot(), BEHIND, at, Event::Asks { host });
        }
    }

    /// Sends a packet of a host or a loop-back queue, identified by its transmitter, to its
    /// destination.
    #[inline]
    fn pass(&mut self, tx: u32, arbiter: usize, packet: Packet, wire: Time, now: &mut Now) {
        let (until, stored) = (now.at + wire, tx >= self.ports.hosts() as u32);
        self.arbiters.occupy(arbiter, until + self.pace.settling);
        self.inside
            .passage
            .forward(tx, arbiter, packet, wire, now.at, now.io);
        let event = Event::Delivered {
            flow: packet.flow,
            bytes: packet.bytes as u16,
            stored,
        };
        if wire == self.pace.full {
            now.todo.append(DELIVERED, until + self.pace.to_host, event);
        } else {
            now.schedule(until + self.pace.to_host, event);
        }
    }

    /// Handles a host's packet that lost. Returns the time for which its transmitter is occupied.
    fn loses(
        &mut self,
        host: usize,
        packet: Packet,
        output: u32,
        wire: Time,
        now: &mut Now,
    ) -> Time {
        match self.architecture {
            Architecture::AoNack => {
                let (lasts, busy) = self.nack.when_one(wire);
                now.io.lose();
                self.inside
                    .passage
                    .detour(host, packet, lasts, now.at, now.io);
                return busy;
            }
            Architecture::Drop => {
                now.io.lose();
                now.io.drop(packet.bytes as u64);
                self.inside.hosts.pop(host, packet.bytes);
            }
            Architecture::Slb | Architecture::Mlb | Architecture::Dlb => {
                self.inside.hosts.pop(host, packet.bytes);
                self.inside
                    .passage
                    .detour(host, packet, wire, now.at, now.io);
                self.store(host, packet, output, now);
            }
        }
        wire
    }

    fn store(&mut self, host: usize, packet: Packet, output: u32, now: &mut Now) {
        let queue = self.ports.host_queue[host];
        let wire = self.pace.wire(packet.bytes);
        let packet = self.inside.loopback.admit(queue, packet);
        if self.cut_through {
            self.enqueue(packet, queue, output, now);
        } else {
            now.schedule(now.at + wire, Event::Stored { packet });
        }
        self.inside.loopback.note_peak(queue);
    }

    /// Adds a packet to its loop-back queue, from which it may leave from now on.
    fn enqueue(&mut self, packet: u32, queue: u32, output: u32, now: &mut Now) {
        if !self.inside.loopback.enqueue(packet, queue, output) {
            return;
        }
        if self.inside.loopback.is_tunable() {
            self.inside.loopback.await_transmitter(queue, output);
            self.assign(queue, now);
        } else {
            self.request(queue, output, now);
        }
    }

    /// Schedules the request of a VOQ of the shared buffer, which always has a transmitter, after
    /// the arbitration time.
    fn request(&mut self, queue: u32, output: u32, now: &mut Now) {
        if self.arbitration == Time::ZERO {
            self.ask(queue, output, now);
        } else {
            now.schedule(now.at + self.arbitration, Event::Judged { output });
        }
    }

    /// Gives idle transmitters of a queue to its VOQs that wait for one.
    fn assign(&mut self, queue: u32, now: &mut Now) {
        while let Some(output) = self.inside.loopback.assign(queue) {
            if self.lead == Time::ZERO {
                self.ask(queue, output, now);
                continue;
            }
            let transmitter = self.inside.loopback.transmitter(queue, output);
            now.schedule(now.at + self.lead, Event::Tuned { transmitter });
        }
    }

    /// Requests the receiver for a VOQ, which gets it now or waits.
    fn ask(&mut self, queue: u32, output: u32, now: &mut Now) {
        let group = self.ports.queue_group[queue as usize];
        let arbiter = self.arbiters.of(output, group);
        if self.contests.is_some() {
            self.arbiters.ask(arbiter, queue);
            self.contend(arbiter, now);
        } else if self.arbiters.is_open(arbiter, now.at) {
            self.leave(queue, arbiter, now);
        } else if let Some(free) = self.arbiters.ask(arbiter, queue) {
            let arbiter = arbiter as u32;
            now.schedule(free, Event::Free { arbiter });
        }
    }

    /// Handles requests of queues for a receiver: it is decided at the end of this instant if it is
    /// free, otherwise as soon as it becomes free.
    fn contend(&mut self, at: usize, now: &mut Now) {
        let Some(contests) = &mut self.contests else {
            return;
        };
        let (free, arbiter) = (self.arbiters.free(at), at as u32);
        if free <= now.at {
            if contests.decide(at) {
                now.schedule(now.at, Event::Decide { arbiter });
            }
        } else if contests.await_free(at, free) {
            now.schedule(free, Event::Free { arbiter });
        }
    }

    /// Grants a receiver to one of its requesters; hosts' packets without a grant have lost.
    fn decide(&mut self, arbiter: usize, now: &mut Now) {
        let Some(contests) = &mut self.contests else {
            return;
        };
        let mut asked = std::mem::take(&mut self.asked);
        contests.take_hosts(arbiter, &mut asked);
        let mut winner = None;
        if self.arbiters.free(arbiter) <= now.at {
            let came = |flow: FlowId| now.io.flows.arrival[flow.index()];
            let (output, inside) = (self.arbiters.output(arbiter), &self.inside);
            let hosts = asked.iter().map(|&host| {
                let first = inside.hosts.first(host as usize);
                (Contender::Host(host), came(first.flow))
            });
            let queues = self.arbiters.asking(arbiter).map(|queue| {
                let first = inside.loopback.first(queue, output);
                (Contender::Queue(queue), came(first))
            });
            winner = contests.winner(arbiter, &self.ports, hosts.chain(queues));
        }
        if let Some(Contender::Queue(queue)) = winner {
            self.arbiters.grant_to(arbiter, queue);
            self.leave(queue, arbiter, now);
        }
        for host in asked.drain(..) {
            let has = winner == Some(Contender::Host(host));
            self.judge_contest(host as usize, arbiter, has, now);
        }
        self.asked = asked;
        if self.arbiters.next_grant(arbiter).is_some() {
            self.contend(arbiter, now);
        }
    }

    /// Grants a free receiver to the queue whose turn it is.
    fn grant(&mut self, arbiter: usize, now: &mut Now) {
        if let Some(contests) = &mut self.contests {
            contests.fell_free(arbiter);
            return self.contend(arbiter, now);
        }
        let queue = self.arbiters.grant(arbiter);
        let others = self.arbiters.next_grant(arbiter).is_some();
        self.leave(queue, arbiter, now);
        if let (true, Some(free)) = (others, self.arbiters.next_grant(arbiter)) {
            let arbiter = arbiter as u32;
            now.schedule(free, Event::Free { arbiter });
        }
    }

    /// Sends the first packet of a VOQ to its destination.
    fn leave(&mut self, queue: u32, arbiter: usize, now: &mut Now) {
        let output = self.arbiters.output(arbiter);
        let packet = self.inside.loopback.dequeue(queue, output);
        let wire = self.pace.wire(packet.bytes);
        if self.inside.loopback.is_tunable() {
            let transmitter = self.inside.loopback.transmitter(queue, output);
            let tx = self.inside.passage.loopback(transmitter);
            self.pass(tx, arbiter, packet, wire, now);
            let (done, event) = (now.at + wire, Event::Done { transmitter });
            now.usually(self.pace.full, DONE, done, event);
            return;
        }
        let tx = self.inside.passage.loopback(output);
        self.pass(tx, arbiter, packet, wire, now);
        if self.inside.loopback.holds(queue, output) {
            self.request(queue, output, now);
        }
    }
}

impl EventKernel for Switch {
    type Event = Event;

    #[inline]
    fn arrive(&mut self, flow: FlowId, at: Time, io: &mut Io, todo: &mut Agenda<Event>) {
        let host = self.inside.hosts.admit(flow, io);
        if let Some(start) = self.senders.wake(host, at) {
            let (way, host) = (self.pace.to_switch, host as u32);
            let event = Event::Asks { host };
            Now { at, io, todo }.usually(way, FIRST, start + way, event);
        }
    }

    #[inline]
    fn handle(&mut self, at: Time, event: Event, io: &mut Io, todo: &mut Agenda<Event>) {
        let now = &mut Now { at, io, todo };
        match event {
            Event::Asks { host } => self.asks(host as usize, now),
            Event::Delivered {
                flow,
                bytes,
                stored,
            } => {
                let bytes = bytes as u32;
                let packet = Packet { flow, bytes };
                if let Some((host, until)) = self.inside.hear(packet, stored, at, now.io) {
                    now.schedule(until, Event::Heard { host });
                }
            }
            Event::Heard { host } => {
                if let Some(until) = self.inside.sent(host, at, now.io) {
                    now.schedule(until, Event::Heard { host });
                }
            }
            Event::Free { arbiter } => self.grant(arbiter as usize, now),
            Event::Decide { arbiter } => self.decide(arbiter as usize, now),
            Event::Stored { packet } => {
                let (queue, flow) = self.inside.loopback.arriving(packet);
                let output = now.io.flows.dst[flow.index()].0;
                self.enqueue(packet, queue, output, now);
            }
            Event::Judged { output } => self.ask(SHARED, output, now),
            Event::Tuned { transmitter } => {
                let (queue, output) = self.inside.loopback.aim(transmitter);
                self.ask(queue, output, now);
            }
            Event::Done { transmitter } => {
                let queue = self.inside.loopback.release(transmitter);
                self.assign(queue, now);
            }
        }
    }

    fn apply(&mut self, _: Command, _: Time, _: &mut Agenda<Event>) -> Result<(), Rejected> {
        Err(Rejected::no_failures("lions"))
    }

    fn idle(&self) -> bool {
        self.inside.is_empty()
    }
}

impl Delegates for Switch {
    type Reporter = Inside;

    fn reporter(&self) -> &Inside {
        &self.inside
    }

    fn reporter_mut(&mut self) -> &mut Inside {
        &mut self.inside
    }
}
