//! Packets that cross the packet switch beside the circuits: over a link to the switch, the switch,
//! and a link from it. The whole propagation between two racks is counted after the latter link.

use super::kernel::{Cx, Event, Mordia};
use crate::links::Packet;
use crate::tdma::rack_edge::Racks;
use lightloom_engine::{FlowId, Io, PortId, Time};

impl Mordia {
    /// The port of a rack's link to the packet switch (`up`), or from it.
    fn switch_port(&self, rack: u32, up: bool) -> PortId {
        let racks = if up { 0 } else { self.circuits.racks };
        PortId(self.edge.ports() + racks + rack)
    }

    /// Sends a packet that may cross the packet switch over a rack's idle link to it.
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

    /// Records lost bytes of a flow that will join their queue again, from which they may cross the
    /// packet switch.
    pub(super) fn return_lost(&mut self, flow: FlowId, bytes: u64, io: &Io) {
        let (from, to) = self.edge.ends(flow, io);
        if let Some(switch) = &mut self.packet_switch {
            switch.return_lost(self.voqs.of(from, to), bytes);
        }
    }

    /// Handles a packet of a rack that has reached the packet switch.
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

    /// Handles a packet that the packet switch has sent to a rack.
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

    /// Handles a packet that has reached the rack of its destination.
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
