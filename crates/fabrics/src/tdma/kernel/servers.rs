//! Servers whose links are slower than their rack's.

use super::{Event, Tdma, Todo};
use crate::links::Packet;
use lightloom_engine::{FlowId, HostId, Io, Time};

impl Tdma {
    /// Bytes that crossed a circuit are at the rack of their destination.
    pub(super) fn land(&mut self, flow: FlowId, bytes: u64, now: Time, io: &mut Io) {
        self.circuit_bytes += bytes;
        io.deliver(flow, bytes, now);
    }

    /// A packet is at the rack of its destination.
    pub(super) fn hand_down(&mut self, packet: Packet, now: Time, io: &mut Io, todo: &mut Todo) {
        let to = io.flows.dst[packet.flow.index()];
        let first = self.is_low_latency(packet.flow, io);
        let Some(servers) = &mut self.servers else {
            return io.deliver(packet.flow, u64::from(packet.bytes), now);
        };
        if let Some(until) = servers.hand_down(to, packet, first, now) {
            self.record(self.down_port(to), packet.bytes, now, until, io);
            todo.schedule(until, Event::Down(to));
        }
        self.queue_grew(self.setup.cluster.rack_of(to));
    }

    /// A server's idle link takes its next packet.
    pub(super) fn begin_up(&mut self, host: HostId, now: Time, io: &mut Io, todo: &mut Todo) {
        let Some(servers) = &mut self.servers else {
            return;
        };
        if let Some((packet, until)) = servers.send(host, now) {
            io.start(packet.flow, now);
            self.record(self.up_port(host), packet.bytes, now, until, io);
            todo.schedule(until, Event::Up(host));
        }
    }

    /// A server's packet is at its rack.
    pub(super) fn up(&mut self, host: HostId, now: Time, io: &mut Io, todo: &mut Todo) {
        let Some(servers) = &mut self.servers else {
            return;
        };
        let packet = servers.sent(host);
        let (from, to) = self.ends(packet.flow, io);
        if from == to {
            let packet = Packet {
                flow: packet.flow,
                bytes: packet.bytes,
                circuit: false,
            };
            self.hand_down(packet, now, io, todo);
        } else {
            self.enter(packet.flow, u64::from(packet.bytes), now, io, todo);
        }
        self.begin_up(host, now, io, todo);
    }

    /// A server has its packet.
    pub(super) fn down(&mut self, host: HostId, now: Time, io: &mut Io, todo: &mut Todo) {
        let Some(servers) = &mut self.servers else {
            return;
        };
        let (packet, next) = servers.received(host, now);
        self.circuit_bytes += u64::from(packet.bytes) * u64::from(packet.circuit);
        io.deliver(packet.flow, u64::from(packet.bytes), now);
        if let Some((packet, until)) = next {
            self.record(self.down_port(host), packet.bytes, now, until, io);
            todo.schedule(until, Event::Down(host));
        }
    }
}
