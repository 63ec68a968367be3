//! The edge of the network: the switch of a rack, through which a flow enters, and the links of
//! its servers.
//!
//! A kernel implements [`Racks`], which handles bytes at the rack of their source; this module is
//! the rest of the path between servers and racks.

use super::context::Context;
use super::sending::Landing;
use super::servers::ServerLinks;
use super::setup::Setup;
use crate::links::Packet;
use crate::overheads::Overheads;
use lightloom_engine::{Cluster, FlowId, HostId, Io, Nic, PortId, Rate, Time};

/// An event at the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeEvent {
    /// A flow has passed the switch of its own rack.
    Enters(FlowId),
    /// A flow within a rack is complete.
    Local(FlowId),
    /// A server's link has sent a packet to its rack.
    Up(HostId),
    /// A rack has sent a packet to its server.
    Down(HostId),
}

/// The switches of racks and the links of servers.
pub struct RackEdge {
    cluster: Cluster,
    overheads: Overheads,
    /// `None` if servers' links have no limit.
    servers: Option<ServerLinks>,
    /// Lines have the port numbers below this one. The links from servers follow, then those to
    /// servers.
    first_port: u32,
    /// Bytes of flows that have not passed the switch of their own rack.
    entering: u64,
    /// Bytes of flows within racks, if servers' links have no limit.
    local: u64,
    /// Bytes that came over circuits and were delivered.
    pub circuit_bytes: u64,
    /// Packets on electrical links.
    pub packet_hops: u64,
}

impl RackEdge {
    /// Creates the idle edge of a network for `flows` flows; with `expedites`, some flows may go
    /// before others.
    pub fn new(setup: &Setup, flows: usize, expedites: bool) -> RackEdge {
        let cluster = setup.cluster;
        let servers = match cluster.nic {
            Nic::Uncapped => None,
            Nic::Capped(rate) => {
                let rate = setup.overheads.payload(rate);
                let (packet, discipline) = (setup.wire.packet, setup.discipline);
                Some(ServerLinks::new(
                    &cluster, rate, flows, packet, expedites, discipline,
                ))
            }
        };
        RackEdge {
            cluster,
            overheads: setup.overheads,
            servers,
            first_port: cluster.racks * setup.planes.len() as u32,
            entering: 0,
            local: 0,
            circuit_bytes: 0,
            packet_hops: 0,
        }
    }

    /// Whether servers' links are slower than their racks.
    pub fn has_server_links(&self) -> bool {
        self.servers.is_some()
    }

    /// The racks of a flow's source and destination.
    #[inline]
    pub fn ends(&self, flow: FlowId, io: &Io) -> (u32, u32) {
        let f = flow.index();
        let rack = |host| self.cluster.rack_of(host);
        (rack(io.flows.src[f]), rack(io.flows.dst[f]))
    }

    /// Bytes that have not left their servers.
    pub fn waiting(&self) -> u64 {
        self.servers.as_ref().map_or(0, ServerLinks::waiting) + self.entering
    }

    /// Bytes of flows within racks.
    pub fn local(&self) -> u64 {
        self.local
    }

    /// Bytes at all racks that are destined for their servers.
    pub fn for_servers(&self) -> u64 {
        self.servers.as_ref().map_or(0, |s| s.down.bytes)
    }

    /// Bytes at a rack that are destined for its servers.
    pub fn for_rack(&self, rack: u32) -> u64 {
        self.servers.as_ref().map_or(0, |s| s.for_rack(rack))
    }

    /// The rate of a single flow within a rack, if servers' links have no limit.
    fn rack_rate(&self) -> Rate {
        self.overheads.payload(self.cluster.rack_rate())
    }

    /// The shortest time from server to server, if circuits between racks have the rate `racks`.
    pub fn soonest(&self, src: HostId, dst: HostId, bytes: u64, racks: Rate) -> Time {
        let server = match self.cluster.nic {
            Nic::Uncapped => self.rack_rate(),
            Nic::Capped(rate) => self.overheads.payload(rate),
        };
        let entrance = self.overheads.switch_latency;
        if self.cluster.rack_of(src) == self.cluster.rack_of(dst) {
            return entrance + server.time_for(bytes);
        }
        let across = match self.cluster.nic {
            Nic::Uncapped => racks,
            Nic::Capped(_) => racks.min(server),
        };
        entrance + across.time_for(bytes)
    }

    /// The rate of a port that does not belong to a line: that of a server's link, otherwise 0.
    pub fn link_rate_of(&self, port: PortId) -> Rate {
        match &self.servers {
            Some(servers) if port.0 < self.ports() => servers.down.rate,
            _ => Rate(0),
        }
    }

    /// Upper bound of the port numbers of lines and servers.
    pub fn ports(&self) -> u32 {
        self.first_port + 2 * self.cluster.hosts()
    }

    fn up_port(&self, host: HostId) -> PortId {
        PortId(self.first_port + host.0)
    }

    fn down_port(&self, host: HostId) -> PortId {
        PortId(self.first_port + self.cluster.hosts() + host.0)
    }

    /// Records a packet on an electrical link.
    pub fn record(&mut self, port: PortId, bytes: u32, from: Time, until: Time, io: &mut Io) {
        self.packet_hops += 1;
        if let Some(audit) = &mut io.audit {
            audit.transmit(port, port, from, until, u64::from(bytes));
        }
    }

    /// Delivers bytes that crossed a circuit, if servers' links have no limit.
    #[inline]
    pub fn deliver(&mut self, flow: FlowId, bytes: u64, at: Time, io: &mut Io) {
        self.circuit_bytes += bytes;
        io.deliver(flow, bytes, at);
    }

    /// Sets the mean number of circuits that the bytes of each flow crossed: one, plus `more(flow,
    /// bytes)`.
    pub fn settle(&self, io: &mut Io, more: impl Fn(FlowId, u64) -> f64) {
        for f in 0..io.flows.len() {
            let flow = FlowId(f as u32);
            let (from, to) = self.ends(flow, io);
            let delivered = io.flows.delivered[f];
            if delivered > 0 {
                let more = more(flow, delivered);
                io.flows.hops[f] = if from == to { 0.0 } else { 1.0 + more as f32 };
            }
        }
    }

    /// Sends the next packet of a server, whose link is idle.
    fn begin_up<E: Copy + From<EdgeEvent>>(&mut self, host: HostId, cx: &mut Context<E>) {
        let Some(servers) = &mut self.servers else {
            return;
        };
        if let Some((packet, until)) = servers.send(host, cx.now) {
            cx.io.start(packet.flow, cx.now);
            let port = self.up_port(host);
            self.record(port, packet.bytes, cx.now, until, cx.io);
            cx.schedule(until, EdgeEvent::Up(host));
        }
    }

    /// Puts a flow at the link of its server, or begins a flow within a rack; returns the bytes of
    /// any other flow, which is at its rack.
    fn admit<E: Copy + From<EdgeEvent>>(
        &mut self,
        flow: FlowId,
        first: bool,
        cx: &mut Context<E>,
    ) -> Option<u64> {
        if let Some(servers) = &mut self.servers {
            if let Some(host) = servers.admit(flow, first, cx.io) {
                self.begin_up(host, cx);
            }
            return None;
        }
        let bytes = cx.io.flows.bytes[flow.index()];
        let (from, to) = self.ends(flow, cx.io);
        if from != to {
            return Some(bytes);
        }
        cx.io.start(flow, cx.now);
        self.local += bytes;
        let finish = cx.now + self.rack_rate().time_for(bytes);
        cx.schedule(finish, EdgeEvent::Local(flow));
        None
    }

    /// Delivers a packet to its server, whose link takes the next one.
    fn down<E: Copy + From<EdgeEvent>>(&mut self, host: HostId, cx: &mut Context<E>) {
        let Some(servers) = &mut self.servers else {
            return;
        };
        let (packet, next) = servers.received(host, cx.now);
        self.circuit_bytes += u64::from(packet.bytes) * u64::from(packet.circuit);
        cx.io.deliver(packet.flow, u64::from(packet.bytes), cx.now);
        if let Some((packet, until)) = next {
            let port = self.down_port(host);
            self.record(port, packet.bytes, cx.now, until, cx.io);
            cx.schedule(until, EdgeEvent::Down(host));
        }
    }
}

/// Interface of a kernel to the edge.
pub trait Racks: Sized {
    /// The events of the kernel.
    type Event: Copy + From<EdgeEvent> + From<Landing>;

    /// The edge.
    fn edge(&mut self) -> &mut RackEdge;

    /// Called when bytes of a flow are at the rack of their source.
    fn enter(&mut self, flow: FlowId, bytes: u64, cx: &mut Context<Self::Event>);

    /// Called when bytes have crossed their last circuit.
    fn landed(&mut self, landing: &Landing);

    /// Called when there are more bytes at a rack than before.
    fn update_peak(&mut self, rack: u32);

    /// Whether a flow goes before others.
    fn is_low_latency(&self, _: FlowId, _: &Io) -> bool {
        false
    }

    /// A flow is offered.
    fn offer(&mut self, flow: FlowId, cx: &mut Context<Self::Event>) {
        let entrance = self.edge().overheads.switch_latency;
        if entrance == Time::ZERO {
            return self.admit(flow, cx);
        }
        self.edge().entering += cx.io.flows.bytes[flow.index()];
        cx.schedule(cx.now + entrance, EdgeEvent::Enters(flow));
    }

    /// A flow is through the switch of its own rack.
    fn admit(&mut self, flow: FlowId, cx: &mut Context<Self::Event>) {
        let first = self.is_low_latency(flow, cx.io);
        if let Some(bytes) = self.edge().admit(flow, first, cx) {
            self.enter(flow, bytes, cx);
        }
    }

    /// Handles an event at the edge.
    fn handle_at_edge(&mut self, event: EdgeEvent, cx: &mut Context<Self::Event>) {
        match event {
            EdgeEvent::Enters(flow) => {
                self.edge().entering -= cx.io.flows.bytes[flow.index()];
                self.admit(flow, cx);
            }
            EdgeEvent::Local(flow) => {
                let bytes = cx.io.flows.bytes[flow.index()];
                self.edge().local -= bytes;
                cx.io.deliver(flow, bytes, cx.now);
            }
            EdgeEvent::Up(host) => self.take_from_server(host, cx),
            EdgeEvent::Down(host) => self.edge().down(host, cx),
        }
    }

    /// Handles a packet of a server at its rack.
    fn take_from_server(&mut self, host: HostId, cx: &mut Context<Self::Event>) {
        let Some(servers) = &mut self.edge().servers else {
            return;
        };
        let packet = servers.sent(host);
        let (from, to) = self.edge().ends(packet.flow, cx.io);
        if from == to {
            let packet = Packet {
                flow: packet.flow,
                bytes: packet.bytes,
                circuit: false,
            };
            self.hand_down(packet, cx);
        } else {
            self.enter(packet.flow, u64::from(packet.bytes), cx);
        }
        self.edge().begin_up(host, cx);
    }

    /// Handles a packet at the rack of its destination.
    fn hand_down(&mut self, packet: Packet, cx: &mut Context<Self::Event>) {
        let to = cx.io.flows.dst[packet.flow.index()];
        let first = self.is_low_latency(packet.flow, cx.io);
        let edge = self.edge();
        let Some(servers) = &mut edge.servers else {
            return cx.io.deliver(packet.flow, u64::from(packet.bytes), cx.now);
        };
        if let Some(until) = servers.hand_down(to, packet, first, cx.now) {
            let port = edge.down_port(to);
            edge.record(port, packet.bytes, cx.now, until, cx.io);
            cx.schedule(until, EdgeEvent::Down(to));
        }
        let rack = edge.cluster.rack_of(to);
        self.update_peak(rack);
    }

    /// Handles bytes at the rack of their destination: they are delivered, or wait for the link of
    /// their server.
    fn deliver(&mut self, flow: FlowId, bytes: u64, cx: &mut Context<Self::Event>) {
        if self.edge().servers.is_none() {
            return self.edge().deliver(flow, bytes, cx.now, cx.io);
        }
        let packet = Packet {
            flow,
            bytes: bytes as u32,
            circuit: true,
        };
        self.hand_down(packet, cx);
    }

    /// Bytes of a circuit land.
    fn land(&mut self, landing: Landing, cx: &mut Context<Self::Event>) {
        self.landed(&landing);
        self.deliver(landing.flow, landing.bytes, cx);
    }

    /// Counts bytes of a continuing flow that have arrived by a time.
    fn count(&mut self, landing: Landing, at: Time, io: &mut Io) {
        self.landed(&landing);
        self.edge().deliver(landing.flow, landing.bytes, at, io);
    }
}
