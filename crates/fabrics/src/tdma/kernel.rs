//! The event kernel of circuits that take turns: one event a matching, and what a rack sends
//! during its day in closed form ([`super::burst`]).
//!
//! When a slot begins, it is known for every rack when it will send and to whom, so all that
//! waits in the queue of that circuit is sent at once, as far as the day goes: what ends a
//! flow's bytes there is an event, the rest of a day is counted when the day is over.
//! Queues are first in, first out, so whatever joins during the day leaves behind it.
//! Where servers' links are slower, packets cross them one by one. Where low-latency packets
//! go before bulk, a line is worked out up to the moment at which one comes, and no farther.
//!
//! | file | what it is |
//! |---|---|
//! | here | the fabric's state, its queues and events |
//! | `reports` | what waits where; what the network says of itself |
//! | `days`, `sending` | nights and days; what is sent in a day |
//! | `control` | what the controller is told, and what it asks for |
//! | `ports` | numbers of ports, for the record |
//! | `servers` | servers' links |
//! | `crossing` | packets over the packet switch |
//! | `failures` | switches that die |
//! | `detours` | what relays take in the rest of a slot |
//! | `by_hosts` | what is sent where RotorLB divides circuits among hosts |
//! | `low_latency` | packets that cross whatever circuits are lit |
//! | `interrupted` | lines that such packets interrupt |

use super::burst::Window;
use super::crossings::Crossings;
use super::frames::Frames;
use super::light::Light;
use super::low_latency::{LowLatencyPacket, LowLatencyTraffic};
use super::per_host::PerHost;
use super::relays::Relays;
use super::residual::PacketSwitch;
use super::servers::ServerLinks;
use super::setup::Setup;
use super::voq::Voqs;
use crate::links::Packet;
use lightloom_control::controller::Input;
use lightloom_control::schedule::Schedule;
use lightloom_engine::kernel::event::EventKernel;
use lightloom_engine::{Agenda, Command, FlowId, HostId, Io, Nic, Rate, Rejected, Time};
use std::sync::Arc;

mod by_hosts;
mod control;
mod crossing;
mod days;
mod detours;
mod failures;
mod interrupted;
mod low_latency;
mod ports;
mod reports;
mod sending;
mod servers;

/// No circuit.
const NONE: u32 = u32::MAX;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// On a plane a night begins, and with it the next slot; where all turn together, on
    /// all of them.
    Night(u16),
    /// What a plane carried to relays in the last slot is there.
    Relayed(u16),
    /// Bytes that a circuit carried are at the rack of their destination.
    Lands {
        /// Of this flow.
        flow: FlowId,
        /// How many.
        bytes: u64,
        /// From a relay.
        relayed: bool,
    },
    /// Bytes that were sent into the dark join their queue again.
    Again {
        /// Of this flow.
        flow: FlowId,
        /// How many.
        bytes: u64,
    },
    /// So many packets have been sent into the dark.
    Lost(u32),
    /// A packet is at the next rack.
    Hop(LowLatencyPacket),
    /// Circuits change for which packets may wait.
    Circuits,
    /// A rack's circuit has room for one of the packets that wait.
    Room(u32),
    /// Of what waits for a line's circuit, some has been sent.
    Served(u32),
    /// A flow is through the switch of its own rack.
    Enters(FlowId),
    /// A flow within a rack is complete.
    Local(FlowId),
    /// A server's link has sent a packet to its rack.
    Up(HostId),
    /// A rack has sent a packet to its server.
    Down(HostId),
    /// A rack has sent a packet to the packet switch.
    Crosses(u32),
    /// The packet switch has sent one to a rack.
    Leaves(u32),
    /// A packet of the packet switch is at its rack.
    Arrives {
        /// Of this flow.
        flow: FlowId,
        /// How many bytes.
        bytes: u32,
    },
    /// The controller wanted to be woken.
    Wake,
}

type Todo = Agenda<Event>;

/// Where a rack sends on a plane during this slot.
#[derive(Clone, Copy, Debug)]
struct Line {
    to: u32,
    /// Nothing is sent before.
    free: Time,
    window: Window,
    /// Bytes of the window.
    room: u64,
    /// What is sent of a flow that does not end in this day.
    open: Open,
}

/// Bytes of a flow that goes on, back to back until the day is over: they count when it is,
/// or when somebody looks.
#[derive(Clone, Copy, Debug)]
struct Open {
    flow: FlowId,
    /// The first of them leaves then.
    from: Time,
    bytes: u64,
    /// Of them, these have been counted.
    counted: u64,
    relayed: bool,
}

const DARK: Line = Line {
    to: NONE,
    free: Time::ZERO,
    window: Window::NONE,
    room: 0,
    open: Open {
        flow: FlowId(0),
        from: Time::ZERO,
        bytes: 0,
        counted: 0,
        relayed: false,
    },
};

/// One switch, or several that act as one.
struct Plane {
    schedule: Option<Arc<Schedule>>,
    /// To be followed from the next night on.
    next: Option<Arc<Schedule>>,
    /// Of the schedule, the next.
    slot: usize,
    light: Light,
    /// A night is due.
    turns: bool,
    /// Its switch works.
    works: bool,
    /// When it is lit in this slot.
    day: (Time, Time),
}

/// The fabric.
pub struct Tdma {
    setup: Setup,
    racks: u32,
    planes: Vec<Plane>,
    lines: Vec<Line>,
    /// Every rack with itself: no circuit.
    unlit: Arc<[u32]>,
    voqs: Voqs,
    frames: Frames,
    servers: Option<ServerLinks>,
    packets: Option<PacketSwitch>,
    relays: Option<Relays>,
    hosts: Option<PerHost>,
    crossings: Crossings,
    low_latency: Option<LowLatencyTraffic>,
    /// Of each line that may be interrupted, when it has sent what is first in its queues.
    due: Vec<Time>,
    /// By rack: its circuits may take from the same queue.
    contested: Vec<bool>,
    /// Most bytes on their way at a rack, at any time.
    queue_peak: u64,
    /// Bytes that were sent and have not landed, or not come back.
    moving: u64,
    /// Bytes of flows that are not through the switch of their own rack.
    entering: u64,
    /// Bytes of flows within racks, where servers' links limit nothing.
    local: u64,
    carried: u64,
    circuit_bytes: u64,
    packet_hops: u64,
}

impl Tdma {
    /// An empty network that will be offered so many flows.
    pub fn new(mut setup: Setup, flows: usize, seed: u64) -> Tdma {
        let (cluster, racks) = (setup.cluster, setup.cluster.racks);
        let packet = setup.wire.packet;
        let expedites = setup.low_latency.is_some();
        let servers = match cluster.nic {
            Nic::Uncapped => None,
            Nic::Capped(rate) => {
                let rate = setup.overheads.payload(rate);
                let discipline = setup.discipline;
                Some(ServerLinks::new(
                    &cluster, rate, flows, packet, expedites, discipline,
                ))
            }
        };
        let plane = |schedule: &Option<Arc<Schedule>>| Plane {
            schedule: None,
            next: schedule.clone(),
            slot: 0,
            light: Light::default(),
            turns: false,
            works: true,
            day: (Time::ZERO, Time::ZERO),
        };
        let planes = setup.planes.len();
        let lines = racks as usize * planes;
        let low_latency = setup.low_latency;
        let low_latency = low_latency.map(|law| LowLatencyTraffic::new(law, racks, flows, seed));
        let hosts = setup.by_hosts;
        let hosts = hosts.map(|carries| PerHost::new(&cluster, carries, packet, planes, flows));
        Tdma {
            racks,
            planes: setup.planes.iter().map(plane).collect(),
            unlit: (0..racks).collect(),
            lines: vec![DARK; lines],
            voqs: Voqs::new(racks),
            frames: Frames::new(setup.punctuality, racks, seed),
            servers,
            relays: { setup.relaying.take() }.map(|rule| Relays::new(rule, racks, planes, flows)),
            hosts,
            crossings: Crossings::new(planes),
            due: vec![Time::NEVER; if low_latency.is_some() { lines } else { 0 }],
            low_latency,
            contested: vec![false; racks as usize],
            queue_peak: 0,
            packets: { setup.packet_rate }.map(|rate| PacketSwitch::new(racks, rate, packet)),
            moving: 0,
            entering: 0,
            local: 0,
            carried: 0,
            circuit_bytes: 0,
            packet_hops: 0,
            setup,
        }
    }

    /// Memory that so many racks and flows take, about [B].
    pub fn memory(racks: u64, hosts: u64, flows: u64) -> u64 {
        let (server, flow) = ServerLinks::BYTES;
        // Queues, and demand with what policies make of it.
        racks * racks * (16 + 48) + hosts * (64 + server) + flows * (24 + flow)
    }

    fn ends(&self, flow: FlowId, io: &Io) -> (u32, u32) {
        let f = flow.index();
        let rack = |host| self.setup.cluster.rack_of(host);
        (rack(io.flows.src[f]), rack(io.flows.dst[f]))
    }

    /// Bytes join the queue for their rack, and leave it at once if that is lit.
    fn wait(&mut self, flow: FlowId, bytes: u64, now: Time, io: &mut Io, todo: &mut Todo) {
        if let Some(hosts) = &mut self.hosts {
            let f = flow.index();
            return hosts.join(flow, io.flows.src[f].0, io.flows.dst[f].0, bytes);
        }
        let (from, to) = self.ends(flow, io);
        if self.low_latency.is_some() {
            return self.join(from, to, flow, bytes, now, io, todo);
        }
        self.voqs.push(self.voqs.of(from, to), flow, bytes);
        for plane in 0..self.planes.len() {
            let line = plane * self.racks as usize + from as usize;
            if self.lines[line].to == to {
                // It is in the interface first.
                let leaves = now + self.setup.punctuality.nic_delay;
                self.serve_line(line, leaves, io, todo);
            }
        }
        self.spill(from, now, io, todo);
    }

    /// A flow is through the switch of its own rack: at its server's link, or at its rack.
    fn admit(&mut self, flow: FlowId, now: Time, io: &mut Io, todo: &mut Todo) {
        let first = self.is_low_latency(flow, io);
        if let Some(servers) = &mut self.servers {
            if let Some(host) = servers.admit(flow, first, io) {
                self.begin_up(host, now, io, todo);
            }
            return;
        }
        let bytes = io.flows.bytes[flow.index()];
        let (from, to) = self.ends(flow, io);
        if from == to {
            io.start(flow, now);
            self.local += bytes;
            let finish = now + self.rack_rate().time_for(bytes);
            todo.schedule(finish, Event::Local(flow));
            return;
        }
        self.enter(flow, bytes, now, io, todo);
    }

    /// What a flow within a rack has to itself, where servers' links limit nothing.
    fn rack_rate(&self) -> Rate {
        self.setup.overheads.payload(self.setup.cluster.rack_rate())
    }
}

impl EventKernel for Tdma {
    type Event = Event;

    fn begin(&mut self, todo: &mut Todo) {
        if let Some(control) = &mut self.setup.control {
            let asked = control.begin();
            self.ask(asked, Time::ZERO, todo);
        }
        for (number, plane) in self.planes.iter_mut().enumerate() {
            if plane.next.is_some() && !plane.turns {
                plane.turns = true;
                // Slots that have begun before the start begin with it, all together.
                let together = self.setup.together || !self.setup.ahead.is_empty();
                if !together || number == 0 {
                    todo.schedule(Time::ZERO, Event::Night(number as u16));
                }
            }
        }
    }

    fn arrive(&mut self, flow: FlowId, now: Time, io: &mut Io, todo: &mut Todo) {
        let entrance = self.setup.overheads.switch_latency;
        if entrance == Time::ZERO {
            return self.admit(flow, now, io, todo);
        }
        self.entering += io.flows.bytes[flow.index()];
        todo.schedule(now + entrance, Event::Enters(flow));
    }

    fn handle(&mut self, now: Time, event: Event, io: &mut Io, todo: &mut Todo) {
        match event {
            Event::Night(plane) => self.night(plane, now, io, todo),
            Event::Lands {
                flow,
                bytes,
                relayed,
            } => {
                self.landed(flow, bytes, relayed);
                if self.servers.is_none() {
                    return self.land(flow, bytes, now, io);
                }
                let packet = Packet {
                    flow,
                    bytes: bytes as u32,
                    circuit: true,
                };
                self.hand_down(packet, now, io, todo);
            }
            Event::Lost(packets) => (0..packets).for_each(|_| io.lose()),
            Event::Again { flow, bytes } => {
                self.moving -= bytes;
                self.return_lost(flow, bytes, io);
                self.wait(flow, bytes, now, io, todo);
            }
            Event::Relayed(plane) => self.gather(plane, now, io, todo),
            Event::Hop(packet) => self.hop(packet, now, io, todo),
            Event::Circuits => self.circuits(now, io, todo),
            Event::Room(rack) => self.room(rack, now, io, todo),
            Event::Served(line) => self.served(line as usize, now, io, todo),
            Event::Enters(flow) => {
                self.entering -= io.flows.bytes[flow.index()];
                self.admit(flow, now, io, todo);
            }
            Event::Local(flow) => {
                let bytes = io.flows.bytes[flow.index()];
                self.local -= bytes;
                io.deliver(flow, bytes, now);
            }
            Event::Up(host) => self.up(host, now, io, todo),
            Event::Down(host) => self.down(host, now, io, todo),
            Event::Crosses(rack) => self.crosses(rack, now, io, todo),
            Event::Leaves(rack) => self.leaves(rack, now, io, todo),
            Event::Arrives { flow, bytes } => self.arrives(flow, bytes, now, io, todo),
            Event::Wake => self.tell(Input::Tick, now, io, todo),
        }
    }

    fn catch_up(&mut self, to: Time, io: &mut Io) {
        self.carried += self.crossings.crossed_by(to, &self.setup.wire);
        if self.servers.is_none() {
            (0..self.lines.len()).for_each(|line| self.count_open(line, to, io));
        }
    }

    fn apply(&mut self, command: Command, now: Time, todo: &mut Todo) -> Result<(), Rejected> {
        self.set(command, now, todo)
    }

    fn idle(&self) -> bool {
        self.waiting() + self.moving + self.local + self.queued() == 0
    }
}
