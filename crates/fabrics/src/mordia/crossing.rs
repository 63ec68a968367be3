//! Packets that cross the packet switch beside the circuits: a link up, the switch, a link
//! down. All of the way between two racks lies behind the latter.

use super::kernel::{Cx, Event, Mordia};
use crate::links::Packet;
use crate::tdma::rack_edge::Racks;
use lightloom_engine::{FlowId, Io, PortId, Time};

impl Mordia {
    /// The port of a rack's link to the packet switch, or of that from it.
    fn switch_port(&self, rack: u32, up: bool) -> PortId {
        let racks = if up { 0 } else { self.circuits.racks };
        PortId(self.edge.ports() + racks + rack)
    }

    /// A rack's idle link to the packet switch takes a packet that may cross it.
    pub(super) fn serve_packet_switch(&mut self, rack: u32, cx: Cx) {
        let Some(switch) = &mut self.packet_switch else {
            return;
        };
        if let Some((packet, until)) = switch.serve(rack, &mut self.voqs, cx.now) {
            cx.io.start(packet.flow, cx.now);
            let port = self.switch_port(rack, true);
            self.edge.record(port, packet.bytes, cx.now, until, cx.io);
            cx.schedule(until, Event::Crosses(rack));
        }
    }

    /// Lost bytes of a flow are going to join their queue again, from which they may cross.
    pub(super) fn return_lost(&mut self, flow: FlowId, bytes: u64, io: &Io) {
        let (from, to) = self.edge.ends(flow, io);
        if let Some(switch) = &mut self.packet_switch {
            switch.return_lost(self.voqs.of(from, to), bytes);
        }
    }

    /// The packet switch has a rack's packet.
    pub(super) fn crosses(&mut self, rack: u32, cx: Cx) {
        let Some(switch) = &mut self.packet_switch else {
            return;
        };
        let Some(packet) = switch.receive(rack, cx.now) else {
            return;
        };
        self.circuits.carried += u64::from(packet.bytes);
        let (_, to) = self.edge.ends(packet.flow, cx.io);
        if let Some(until) = switch.forward(to, packet, cx.now) {
            let port = self.switch_port(to, false);
            self.edge.record(port, packet.bytes, cx.now, until, cx.io);
            cx.schedule(until, Event::Leaves(to));
        }
        self.serve_packet_switch(rack, cx);
    }

    /// A rack has a packet of the packet switch.
    pub(super) fn leaves(&mut self, rack: u32, cx: Cx) {
        let Some(switch) = &mut self.packet_switch else {
            return;
        };
        let Some((packet, next)) = switch.sent(rack, cx.now) else {
            return;
        };
        if let Some((next, until)) = next {
            let port = self.switch_port(rack, false);
            self.edge.record(port, next.bytes, cx.now, until, cx.io);
            cx.schedule(until, Event::Leaves(rack));
        }
        let bytes = u64::from(packet.bytes);
        self.circuits.carried += bytes;
        if self.circuits.propagation == Time::ZERO {
            return self.hand_down(packet, cx);
        }
        self.circuits.moving += bytes;
        let Packet { flow, bytes, .. } = packet;
        let at = cx.now + self.circuits.propagation;
        cx.schedule(at, Event::Arrives { flow, bytes });
    }

    /// A packet has come the whole way.
    pub(super) fn arrives(&mut self, flow: FlowId, bytes: u32, cx: Cx) {
        self.circuits.moving -= u64::from(bytes);
        let packet = Packet {
            flow,
            bytes,
            circuit: false,
        };
        self.hand_down(packet, cx);
    }
}
