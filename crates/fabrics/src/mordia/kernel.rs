//! Mordia's state and events.

use super::control::Control;
use super::frames::{Frames, Punctuality};
use super::packet_switch::PacketSwitch;
use crate::tdma::circuits::Circuits;
use crate::tdma::context::Context;
use crate::tdma::failures::refuse_grey;
use crate::tdma::rack_edge::{EdgeEvent, RackEdge, Racks};
use crate::tdma::sending::Landing;
use crate::tdma::setup::Setup;
use crate::tdma::voq::Voqs;
use lightloom_control::controller::Input;
use lightloom_engine::kernel::event::EventKernel;
use lightloom_engine::{Agenda, Command, Element, FlowId, Io, Rate, Rejected, Time};

/// The plane of switches: all rings together.
pub(super) const RING: usize = 0;

/// An event of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A night begins, and with it the next slot.
    Night,
    /// Bytes that a circuit carried have reached the rack of their destination.
    Lands(Landing),
    /// Bytes that were lost on a dark circuit join their queue again.
    Again {
        /// Their flow.
        flow: FlowId,
        /// Number of bytes.
        bytes: u64,
    },
    /// This number of packets have been lost on a dark circuit.
    Lost(u32),
    /// An event on the links between servers and racks.
    Edge(EdgeEvent),
    /// A rack has sent a packet to the packet switch.
    Crosses(u32),
    /// The packet switch has sent a packet to a rack.
    Leaves(u32),
    /// A packet of the packet switch has reached its rack.
    Arrives {
        /// Its flow.
        flow: FlowId,
        /// Its bytes.
        bytes: u32,
    },
    /// A tick that the controller requested.
    Wake,
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

/// The parts of a Mordia network.
pub struct MordiaSetup {
    /// Racks, the ring and its schedule at the start.
    pub network: Setup,
    /// The distributions of set-up times and frame times.
    pub punctuality: Punctuality,
    /// Time from the end of the day in which bytes were lost until they join their queue again.
    pub retransmit_after: Time,
    /// The rate of each rack's link to a packet switch that takes residual demand, if there is
    /// one.
    pub packet_rate: Option<Rate>,
    /// The controller; without it the initial schedule repeats without end.
    pub control: Option<Control>,
}

/// The fabric.
pub struct Mordia {
    pub(super) cluster: lightloom_engine::Cluster,
    /// The circuits of the ring.
    pub(super) circuits: Circuits,
    /// Racks' switches and servers' links.
    pub(super) edge: RackEdge,
    /// The queues of each rack, one for each other rack.
    pub(super) voqs: Voqs,
    /// Light, and synchronisation frames.
    pub(super) frames: Frames,
    pub(super) retransmit_after: Time,
    pub(super) packet_switch: Option<PacketSwitch>,
    pub(super) control: Option<Control>,
    /// Peak of the bytes at any rack that wait for its servers' links.
    pub(super) queue_peak: u64,
}

impl Mordia {
    /// An empty network for `flows` flows.
    pub fn new(setup: MordiaSetup, flows: usize, seed: u64) -> Mordia {
        let network = &setup.network;
        let (racks, packet) = (network.cluster.racks, network.wire.packet);
        Mordia {
            cluster: network.cluster,
            circuits: Circuits::new(network),
            edge: RackEdge::new(network, flows, false),
            voqs: Voqs::new(racks),
            frames: Frames::new(setup.punctuality, racks, seed),
            retransmit_after: setup.retransmit_after,
            packet_switch: { setup.packet_rate }.map(|rate| PacketSwitch::new(racks, rate, packet)),
            control: setup.control,
            queue_peak: 0,
        }
    }

    /// Adds bytes to the queue for their rack, which sends them at once if its circuit is lit.
    fn wait(&mut self, flow: FlowId, bytes: u64, cx: Cx) {
        let (from, to) = self.edge.ends(flow, cx.io);
        self.voqs.push(self.voqs.of(from, to), flow, bytes);
        let line = self.circuits.line(RING, from);
        if self.circuits.lines[line].to == to {
            // The packet first passes the interface.
            let leaves = cx.now + self.frames.law.nic_delay;
            self.serve_line(line, leaves, cx);
        }
        self.serve_packet_switch(from, cx);
    }
}

impl Racks for Mordia {
    type Event = Event;

    fn edge(&mut self) -> &mut RackEdge {
        &mut self.edge
    }

    fn enter(&mut self, flow: FlowId, bytes: u64, cx: Cx) {
        self.wait(flow, bytes, cx);
    }

    #[inline]
    fn landed(&mut self, landing: &Landing) {
        self.circuits.landed(landing.bytes);
    }

    fn update_peak(&mut self, rack: u32) {
        self.queue_peak = self.queue_peak.max(self.edge.for_rack(rack));
    }
}

impl EventKernel for Mordia {
    type Event = Event;

    fn begin(&mut self, agenda: &mut Agenda<Event>) {
        if let Some(control) = &mut self.control {
            let asked = control.begin();
            self.ask(asked, Time::ZERO, agenda);
        }
        let ring = &mut self.circuits.planes[RING];
        if ring.next.is_some() && !ring.has_next_night {
            ring.has_next_night = true;
            agenda.schedule(Time::ZERO, Event::Night);
        }
    }

    fn arrive(&mut self, flow: FlowId, now: Time, io: &mut Io, agenda: &mut Agenda<Event>) {
        self.offer(flow, &mut Context { now, io, agenda });
    }

    fn handle(&mut self, now: Time, event: Event, io: &mut Io, agenda: &mut Agenda<Event>) {
        let cx = &mut Context { now, io, agenda };
        match event {
            Event::Night => self.night(cx),
            Event::Lands(landing) => self.land(landing, cx),
            Event::Lost(packets) => (0..packets).for_each(|_| cx.io.lose()),
            Event::Again { flow, bytes } => {
                self.circuits.moving -= bytes;
                self.return_lost(flow, bytes, cx.io);
                self.wait(flow, bytes, cx);
            }
            Event::Edge(event) => self.handle_at_edge(event, cx),
            Event::Crosses(rack) => self.crosses(rack, cx),
            Event::Leaves(rack) => self.leaves(rack, cx),
            Event::Arrives { flow, bytes } => self.arrives(flow, bytes, cx),
            Event::Wake => self.tell(Input::Tick, cx),
        }
    }

    fn catch_up(&mut self, to: Time, io: &mut Io) {
        for line in 0..self.circuits.lines.len() {
            if let Some(landing) = self.circuits.count_open(line, to) {
                self.count(landing, to - Time(1), io);
            }
        }
    }

    fn apply(
        &mut self,
        command: Command,
        now: Time,
        agenda: &mut Agenda<Event>,
    ) -> Result<(), Rejected> {
        let (element, works) = match command {
            Command::Fail { element, .. } => (element, false),
            Command::Repair(element) => (element, true),
        };
        if element != Element::Controller {
            return Err(Rejected(
                "in Mordia the controller alone can fail; write element = \"controller\", or \
                 remove it"
                    .to_owned(),
            ));
        }
        refuse_grey("the controller fails", command)?;
        if let Some(control) = &mut self.control {
            let asked = control.set(works, now);
            self.ask(asked, now, agenda);
        }
        Ok(())
    }

    fn idle(&self) -> bool {
        self.waiting() + self.circuits.moving + self.edge.local() + self.queued() == 0
    }
}
