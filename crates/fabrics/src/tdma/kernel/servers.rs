//! Servers whose links are slower than their rack's: packets cross them one by one, first
//! in, first out.

use super::{Event, Tdma, Todo};
use crate::tdma::links::Packet;
use lightloom_engine::{FlowId, HostId, Io, Time};

impl Tdma {
    /// Bytes that crossed a circuit are at the rack of their destination.
    pub(super) fn land(&mut self, flow: FlowId, bytes: u64, now: Time, io: &mut Io) {
        self.circuit_bytes += bytes;
        io.deliver(flow, bytes, now);
    }

    /// A packet is at the rack of its destination.
    pub(super) fn hand_down(&mut self, packet: Packet, now: Time, io: &mut Io, todo: &mut Todo) {
        let dst = io.flows.dst[packet.flow.index()];
        match &mut self.servers {
            None => io.deliver(packet.flow, u64::from(packet.bytes), now),
            Some(servers) => {
                if let Some(until) = servers.down.join(dst.index(), packet, now) {
                    self.record(self.down_port(dst), packet.bytes, now, until, io);
                    todo.schedule(until, Event::Down(dst));
                }
            }
        }
    }

    /// A server's idle link takes its next packet.
    pub(super) fn begin_up(&mut self, host: HostId, now: Time, io: &mut Io, todo: &mut Todo) {
        let Some(servers) = &mut self.servers else {
            return;
        };
        let packet = servers.up.front(host.index());
        servers.sending[host.index()] = packet.is_some();
        if let Some(packet) = packet {
            let until = now + servers.down.rate.time_for(u64::from(packet.bytes));
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
        let packet = servers.up.first(host.index());
        servers.up.pop(host.index(), packet.bytes, io);
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
        let packet = servers.down.first(host.index()).expect("it was sending");
        let next = servers.down.sent(host.index(), now);
        let then = servers.down.first(host.index());
        self.circuit_bytes += u64::from(packet.bytes) * u64::from(packet.circuit);
        io.deliver(packet.flow, u64::from(packet.bytes), now);
        if let (Some(until), Some(then)) = (next, then) {
            self.record(self.down_port(host), then.bytes, now, until, io);
            todo.schedule(until, Event::Down(host));
        }
    }

    /// Bytes that wait for the links of a rack's servers.
    pub(super) fn for_servers_of(&self, rack: u32) -> u64 {
        let Some(servers) = &self.servers else {
            return 0;
        };
        let each = self.setup.cluster.servers_per_rack as usize;
        let hosts = rack as usize * each..(rack as usize + 1) * each;
        hosts.map(|host| servers.down.at(host)).sum()
    }
}
