//! Packets that cross the packet switch beside the circuits: a link up, the switch, a link
//! down. All of the way between two racks lies behind the latter.

use super::{Event, Tdma, Todo};
use crate::links::Packet;
use lightloom_engine::{FlowId, Io, Time};

impl Tdma {
    /// An idle link to the packet switch takes what it may.
    pub(super) fn spill(&mut self, rack: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        let Some(packets) = &mut self.packets else {
            return;
        };
        if let Some((packet, until)) = packets.serve(rack, &mut self.voqs, now) {
            io.start(packet.flow, now);
            self.record(self.switch_port(rack, true), packet.bytes, now, until, io);
            todo.schedule(until, Event::Crosses(rack));
        }
    }

    /// Lost bytes of a flow are going to join their queue again, from which they may cross.
    pub(super) fn return_lost(&mut self, flow: FlowId, bytes: u64, io: &Io) {
        let (from, to) = self.ends(flow, io);
        if let Some(packets) = &mut self.packets {
            packets.return_lost(self.voqs.of(from, to), bytes);
        }
    }

    /// The packet switch has a rack's packet.
    pub(super) fn crosses(&mut self, rack: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        let Some(packets) = &mut self.packets else {
            return;
        };
        let packet = packets.up.first(rack as usize).expect("it was sending");
        packets.up.sent(rack as usize, now);
        let to = self
            .setup
            .cluster
            .rack_of(io.flows.dst[packet.flow.index()]);
        self.carried += u64::from(packet.bytes);
        if let Some(until) = packets.forward(to, packet, now) {
            self.record(self.switch_port(to, false), packet.bytes, now, until, io);
            todo.schedule(until, Event::Leaves(to));
        }
        self.spill(rack, now, io, todo);
    }

    /// A rack has a packet of the packet switch.
    pub(super) fn leaves(&mut self, rack: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        let Some(packets) = &mut self.packets else {
            return;
        };
        let packet = packets.down.first(rack as usize).expect("it was sending");
        let next = packets.down.sent(rack as usize, now);
        let then = packets.down.first(rack as usize);
        if let (Some(until), Some(then)) = (next, then) {
            self.record(self.switch_port(rack, false), then.bytes, now, until, io);
            todo.schedule(until, Event::Leaves(rack));
        }
        self.carried += u64::from(packet.bytes);
        if self.setup.propagation == Time::ZERO {
            return self.hand_down(packet, now, io, todo);
        }
        self.moving += u64::from(packet.bytes);
        let Packet { flow, bytes, .. } = packet;
        todo.schedule(now + self.setup.propagation, Event::Arrives { flow, bytes });
    }

    /// A packet has come the whole way.
    pub(super) fn arrives(
        &mut self,
        flow: FlowId,
        bytes: u32,
        now: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        self.moving -= u64::from(bytes);
        let packet = Packet {
            flow,
            bytes,
            circuit: false,
        };
        self.hand_down(packet, now, io, todo);
    }
}
