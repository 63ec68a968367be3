//! Opera's state and events.

use super::low_latency::state::{LowLatencyLaw, LowLatencyPacket, LowLatencyTraffic};
use crate::tdma::circuits::Circuits;
use crate::tdma::context::Context;
use crate::tdma::rack_edge::{EdgeEvent, RackEdge, Racks};
use crate::tdma::rotor::bulk::Bulk;
use crate::tdma::rotor::per_host::fairness::Division;
use crate::tdma::sending::Landing;
use crate::tdma::setup::Setup;
use lightloom_engine::kernel::event::EventKernel;
use lightloom_engine::{Agenda, Cluster, Command, FlowId, Io, Rejected, Time};

/// An event of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The run begins, in the middle of a slot of every switch but the last.
    Start,
    /// The night of a switch begins, and with it its next slot.
    Reconfigures(u16),
    /// The bytes that a switch carried to relays in its last slot have arrived.
    Relayed(u16),
    /// Bulk bytes that a circuit carried have reached the rack of their destination.
    Lands(Landing),
    /// A low-latency packet has reached the next rack.
    Hop(LowLatencyPacket),
    /// The circuits change while low-latency packets wait.
    CircuitsChange,
    /// A circuit of a rack has room for a waiting low-latency packet.
    HasRoom(u32),
    /// The first bulk bytes of a line have been sent.
    BulkSent(u32),
    /// An event on the links between servers and racks.
    Edge(EdgeEvent),
}

impl From<Landing> for Event {
    #[inline]
    fn from(landing: Landing) -> Event {
        Event::Lands(landing)
    }
}

impl From<EdgeEvent> for Event {
    #[inline]
    fn from(event: EdgeEvent) -> Event {
        Event::Edge(event)
    }
}

pub(super) type Cx<'a, 'b> = &'a mut Context<'b, Event>;

/// The parts of an Opera network.
pub struct OperaSetup {
    /// Racks, rotor switches and their matchings.
    pub network: Setup,
    /// Time that the reconfiguration of a switch takes.
    pub night: Time,
    /// By switch, the time before the start at which its first slot began.
    pub ahead: Vec<Time>,
    /// How RotorLB divides circuits.
    pub division: Division,
    /// The rule that selects low-latency traffic.
    pub low_latency: LowLatencyLaw,
}

/// The fabric.
pub struct Opera {
    pub(super) cluster: Cluster,
    pub(super) night: Time,
    pub(super) ahead: Vec<Time>,
    /// The circuits of all switches.
    pub(super) circuits: Circuits,
    /// Racks' switches and servers' links.
    pub(super) edge: RackEdge,
    /// Bulk traffic that waits at sources and relays.
    pub(super) bulk: Bulk,
    /// Low-latency packets, and the expander that they cross.
    pub(super) low_latency: LowLatencyTraffic,
    /// By line, the time at which it will have sent the first bulk traffic of its queues.
    pub(super) due: Vec<Time>,
    /// By rack, whether several of its circuits take from the same queue.
    pub(super) contested: Vec<bool>,
    /// Peak of the bytes in transit at any rack.
    pub(super) queue_peak: u64,
}

impl Opera {
    /// An empty network for `flows` flows.
    pub fn new(setup: OperaSetup, flows: usize, seed: u64) -> Opera {
        let network = &setup.network;
        let racks = network.cluster.racks;
        let circuits = Circuits::new(network);
        Opera {
            cluster: network.cluster,
            night: setup.night,
            ahead: setup.ahead,
            edge: RackEdge::new(network, flows, true),
            bulk: Bulk::new(network, setup.division, flows),
            low_latency: LowLatencyTraffic::new(setup.low_latency, racks, flows, seed),
            due: vec![Time::NEVER; circuits.lines.len()],
            contested: vec![false; racks as usize],
            queue_peak: 0,
            circuits,
        }
    }
}

impl Racks for Opera {
    type Event = Event;

    fn edge(&mut self) -> &mut RackEdge {
        &mut self.edge
    }

    /// Handles bytes of a flow that have reached the rack of their source: bulk waits for its
    /// circuit; low-latency traffic is forwarded at once.
    fn enter(&mut self, flow: FlowId, bytes: u64, cx: Cx) {
        match self.is_low_latency(flow, cx.io) {
            true => self.enter_expander(flow, bytes, cx),
            false => self.queue_bulk(flow, bytes, cx),
        }
    }

    #[inline]
    fn landed(&mut self, landing: &Landing) {
        self.circuits.landed(landing.bytes);
        self.bulk.landed(landing);
    }

    fn update_peak(&mut self, rack: u32) {
        self.queue_peak = self.queue_peak.max(self.queued_at(rack));
    }

    fn is_low_latency(&self, flow: FlowId, io: &Io) -> bool {
        io.flows.bytes[flow.index()] < self.low_latency.law.below
    }
}

impl EventKernel for Opera {
    type Event = Event;

    fn begin(&mut self, agenda: &mut Agenda<Event>) {
        for plane in &mut self.circuits.planes {
            plane.has_next_night = true;
        }
        agenda.schedule(Time::ZERO, Event::Start);
    }

    fn arrive(&mut self, flow: FlowId, now: Time, io: &mut Io, agenda: &mut Agenda<Event>) {
        self.offer(flow, &mut Context { now, io, agenda });
    }

    fn handle(&mut self, now: Time, event: Event, io: &mut Io, agenda: &mut Agenda<Event>) {
        let cx = &mut Context { now, io, agenda };
        match event {
            Event::Start => self.start(cx),
            Event::Reconfigures(switch) => self.reconfigure(switch.into(), cx),
            Event::Relayed(switch) => self.gather(switch.into(), cx),
            Event::Lands(landing) => self.land(landing, cx),
            Event::Hop(packet) => self.hop(packet, cx),
            Event::CircuitsChange => self.circuits_change(cx),
            Event::HasRoom(rack) => self.circuit_has_room(rack, cx),
            Event::BulkSent(line) => self.bulk_sent(line as usize, cx),
            Event::Edge(event) => self.handle_at_edge(event, cx),
        }
    }

    fn catch_up(&mut self, to: Time, _: &mut Io) {
        self.bulk.count_crossed(to, &mut self.circuits);
    }

    fn apply(&mut self, command: Command, _: Time, _: &mut Agenda<Event>) -> Result<(), Rejected> {
        self.circuits.set_switch("Opera", command)?;
        self.bulk.update_meetings(&self.circuits);
        Ok(())
    }

    fn idle(&self) -> bool {
        self.waiting() + self.circuits.moving + self.edge.local() + self.queued() == 0
    }
}
