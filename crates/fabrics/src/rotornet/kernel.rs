//! RotorNet's state and events.

use crate::tdma::circuits::Circuits;
use crate::tdma::context::Context;
use crate::tdma::rack_edge::{EdgeEvent, RackEdge, Racks};
use crate::tdma::rotor::bulk::Bulk;
use crate::tdma::rotor::per_host::fairness::Division;
use crate::tdma::rotor::Part;
use crate::tdma::sending::Landing;
use crate::tdma::setup::Setup;
use lightloom_engine::kernel::event::EventKernel;
use lightloom_engine::{Agenda, Cluster, Command, FlowId, Io, Rejected, Time};

/// An event of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// All switches reconfigure, and the next slot begins.
    Slot,
    /// Bytes that a circuit carried have reached the rack of their destination.
    Lands(Landing),
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

/// The fabric.
pub struct RotorNet {
    pub(super) cluster: Cluster,
    /// Time that the reconfiguration of a switch takes.
    pub(super) night: Time,
    /// The circuits of all switches.
    pub(super) circuits: Circuits,
    /// Racks' switches and servers' links.
    pub(super) edge: RackEdge,
    /// The bytes that wait at sources and relays.
    pub(super) bulk: Bulk,
    /// Peak of the bytes at any rack that have left their source.
    pub(super) queue_peak: u64,
}

impl RotorNet {
    /// An empty network for `flows` flows.
    pub fn new(setup: &Setup, night: Time, division: Division, flows: usize) -> RotorNet {
        RotorNet {
            cluster: setup.cluster,
            night,
            circuits: Circuits::new(setup),
            edge: RackEdge::new(setup, flows, false),
            bulk: Bulk::new(setup, division, flows),
            queue_peak: 0,
        }
    }
}

impl Racks for RotorNet {
    type Event = Event;

    fn edge(&mut self) -> &mut RackEdge {
        &mut self.edge
    }

    /// Adds bytes to the queue for their rack, and sends them at once if a circuit to it is idle.
    fn enter(&mut self, flow: FlowId, bytes: u64, cx: Cx) {
        if self.bulk.join_host(flow, bytes, cx.io) {
            return;
        }
        let (from, to) = self.edge.ends(flow, cx.io);
        self.bulk.own.push(self.bulk.own.of(from, to), flow, bytes);
        let now = Part::rest(cx.now);
        for plane in 0..self.circuits.planes.len() {
            let line = self.circuits.line(plane, from);
            if self.circuits.lines[line].to == to {
                self.bulk.serve(line, now, &mut self.circuits, cx);
            }
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
}

impl EventKernel for RotorNet {
    type Event = Event;

    fn begin(&mut self, agenda: &mut Agenda<Event>) {
        agenda.schedule(Time::ZERO, Event::Slot);
    }

    fn arrive(&mut self, flow: FlowId, now: Time, io: &mut Io, agenda: &mut Agenda<Event>) {
        self.offer(flow, &mut Context { now, io, agenda });
    }

    fn handle(&mut self, now: Time, event: Event, io: &mut Io, agenda: &mut Agenda<Event>) {
        let cx = &mut Context { now, io, agenda };
        match event {
            Event::Slot => self.begin_slot(cx),
            Event::Lands(landing) => self.land(landing, cx),
            Event::Edge(event) => self.handle_at_edge(event, cx),
        }
    }

    fn catch_up(&mut self, to: Time, io: &mut Io) {
        self.bulk.count_crossed(to, &mut self.circuits);
        for line in 0..self.circuits.lines.len() {
            if let Some(landing) = self.circuits.count_open(line, to) {
                self.count(landing, to - Time(1), io);
            }
        }
    }

    fn apply(&mut self, command: Command, _: Time, _: &mut Agenda<Event>) -> Result<(), Rejected> {
        self.circuits.set_switch("RotorNet", command)?;
        self.bulk.update_meetings(&self.circuits);
        Ok(())
    }

    fn idle(&self) -> bool {
        self.waiting() + self.circuits.moving + self.edge.local() + self.queued() == 0
    }
}
