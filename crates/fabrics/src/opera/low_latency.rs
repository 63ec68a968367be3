//! Low-latency packets cross the expander, the network of all lit circuits, over shortest paths.

pub mod state;

use self::state::LowLatencyPacket;
use super::kernel::{Cx, Event, Opera};
use super::waiting::Waiting;
use crate::tdma::rack_edge::Racks;
use lightloom_engine::{FlowId, PortId, Time};

impl Opera {
    /// Handles bytes of a low-latency flow that have reached the rack of their source.
    pub(super) fn enter_expander(&mut self, flow: FlowId, bytes: u64, cx: Cx) {
        let (from, _) = self.edge.ends(flow, cx.io);
        let hops = 0;
        self.forward(from, Waiting { flow, bytes, hops }, cx);
    }

    /// Handles a packet that has crossed a circuit.
    pub(super) fn hop(&mut self, packet: LowLatencyPacket, cx: Cx) {
        self.low_latency.remove_from_rack(&packet);
        let (flow, bytes) = (packet.flow, u64::from(packet.bytes));
        self.circuits.carried += bytes;
        let (_, to) = self.edge.ends(flow, cx.io);
        if to == u32::from(packet.at) {
            self.low_latency.count_landed(&packet);
            return self.deliver(flow, bytes, cx);
        }
        let hops = packet.hops;
        self.forward(packet.at.into(), Waiting { flow, bytes, hops }, cx);
    }

    /// Forwards bytes at a rack that is not their destination, packet by packet, while circuits
    /// have room; the rest waits.
    fn forward(&mut self, rack: u32, mut rest: Waiting, cx: Cx) {
        self.low_latency.add_at_rack(rack, rest.bytes);
        self.update_peak(rack);
        self.serve_earlier_packets(rack, cx);
        self.update_expander(cx.now);
        let (_, to) = self.edge.ends(rest.flow, cx.io);
        while rest.bytes > 0 {
            let Some(plane) = self.choose_plane(rack, to, cx) else {
                break;
            };
            let bytes = rest.bytes.min(self.circuits.wire.packet);
            self.send_packet(plane, rack, Waiting { bytes, ..rest }, cx);
            rest.bytes -= bytes;
        }
        if rest.bytes > 0 {
            self.low_latency.waiting.push(rack, to, rest);
            self.watch_circuits(rack, cx);
        }
    }

    /// Sends waiting packets of a rack on circuits that have room from this instant on, before
    /// packets that arrive at the same instant.
    fn serve_earlier_packets(&mut self, rack: u32, cx: Cx) {
        if self.low_latency.changes_at <= cx.now {
            self.serve_all_racks(cx);
        } else if self.low_latency.room_at[rack as usize] == cx.now + Time(1) {
            self.serve_waiting_packets(rack, cx);
        }
    }

    /// Chooses at random among the planes with room on which a shortest path begins. Returns `None`
    /// if there is none, or if other packets wait at this rack for the same destination.
    fn choose_plane(&mut self, rack: u32, to: u32, cx: Cx) -> Option<u16> {
        if self.low_latency.waiting.any_for(rack, to) {
            return None;
        }
        let mut choices = std::mem::take(&mut self.low_latency.choices);
        self.low_latency
            .expander
            .find_planes(rack, to, &mut choices);
        choices.retain(|&plane| {
            let line = self.circuits.line(plane.into(), rack);
            self.advance_line(line, cx.now, cx);
            self.has_room(line, cx.now)
        });
        let chosen = match choices.len() {
            0 => None,
            many => Some(choices[self.low_latency.choose(many)]),
        };
        self.low_latency.choices = choices;
        chosen
    }

    /// Sends waiting packets of a rack on circuits with room, plane by plane.
    fn serve_waiting_packets(&mut self, rack: u32, cx: Cx) {
        self.update_expander(cx.now);
        let low_latency = &mut self.low_latency;
        for &to in low_latency.waiting.destinations(rack) {
            low_latency.expander.ensure_distances(to);
        }
        for place in 0..self.low_latency.expander.planes().len() {
            let plane = self.low_latency.expander.planes()[place];
            let line = self.circuits.line(plane.into(), rack);
            self.advance_line(line, cx.now, cx);
            while self.has_room(line, cx.now) {
                let Some(packet) = self.take_waiting_packet(place, rack) else {
                    break;
                };
                self.send_packet(plane, rack, packet, cx);
            }
        }
        self.watch_circuits(rack, cx);
    }

    /// Removes the next packet for a plane from the waiting packets of a rack.
    fn take_waiting_packet(&mut self, place: usize, rack: u32) -> Option<Waiting> {
        let expander = &self.low_latency.expander;
        let waiting = &mut self.low_latency.waiting;
        let to = waiting.first(rack, |to| expander.is_nearer(place, rack, to))?;
        waiting.take(rack, to, self.circuits.wire.packet)
    }

    /// If packets wait at a rack, schedules its service when a circuit has room for one, and the
    /// service of all racks when circuits change.
    fn watch_circuits(&mut self, rack: u32, cx: Cx) {
        if !self.low_latency.waiting.any(rack) {
            return;
        }
        let planes = self.low_latency.expander.planes().iter();
        let room = planes.filter_map(|&plane| self.room_at(self.circuits.line(plane.into(), rack)));
        let soonest = room.filter(|&at| at > cx.now).min();
        let low_latency = &mut self.low_latency;
        if low_latency.changes_at == Time::NEVER {
            low_latency.changes_at = low_latency.expander.until();
            cx.schedule(low_latency.changes_at, Event::CircuitsChange);
        }
        let due = &mut low_latency.room_at[rack as usize];
        if let Some(at) = soonest.filter(|at| at < due) {
            *due = at;
            cx.schedule(at, Event::HasRoom(rack));
        }
    }

    /// Serves a rack one of whose circuits has room.
    pub(super) fn circuit_has_room(&mut self, rack: u32, cx: Cx) {
        let due = &mut self.low_latency.room_at[rack as usize];
        if *due == cx.now {
            *due = Time::NEVER;
            self.serve_waiting_packets(rack, cx);
        }
    }

    /// Serves all racks at a change of circuits, unless they have been served since it was
    /// scheduled.
    pub(super) fn circuits_change(&mut self, cx: Cx) {
        if self.low_latency.changes_at == cx.now {
            self.serve_all_racks(cx);
        }
    }

    /// Sends waiting packets of all racks after a change of circuits.
    fn serve_all_racks(&mut self, cx: Cx) {
        self.low_latency.changes_at = Time::NEVER;
        (0..self.circuits.racks).for_each(|rack| self.serve_waiting_packets(rack, cx));
    }

    /// Whether a line accepts another full packet: its queue has room, and the packet can be sent
    /// before the night.
    fn has_room(&self, line: usize, now: Time) -> bool {
        let line = &self.circuits.lines[line];
        let begins = line.free.max(now);
        begins - now <= self.longest_queue_with_room() && self.fits(begins, line.window.until)
    }

    /// The time at which a full line has room again and all events of that instant are processed,
    /// if this is before its night.
    fn room_at(&self, line: usize) -> Option<Time> {
        let line = &self.circuits.lines[line];
        let fits = self.fits(line.free, line.window.until);
        fits.then(|| line.free - self.longest_queue_with_room() + Time(1))
    }

    fn fits(&self, begins: Time, until: Time) -> bool {
        let wire = &self.circuits.wire;
        wire.end(begins, wire.packet) <= until
    }

    /// Time that a circuit needs to send the longest queue that has room for one more packet.
    fn longest_queue_with_room(&self) -> Time {
        let wire = &self.circuits.wire;
        wire.rate.time_for(wire.packet) * i64::from(self.low_latency.law.queue - 1)
    }

    /// Sends a packet at a rack over the circuit of a plane.
    fn send_packet(&mut self, plane: u16, rack: u32, packet: Waiting, cx: Cx) {
        let at = self.circuits.line(plane.into(), rack);
        let line = &mut self.circuits.lines[at];
        let (to, begins) = (line.to, line.free.max(cx.now));
        let ends = self.circuits.wire.end(begins, packet.bytes);
        line.free = ends;
        cx.io.start(packet.flow, begins);
        self.circuits.packet_hops += 1;
        if let Some(audit) = &mut cx.io.audit {
            let rx = PortId(self.circuits.line(plane.into(), to) as u32);
            audit.transmit(PortId(at as u32), rx, begins, ends, packet.bytes);
        }
        let arrives = LowLatencyPacket {
            flow: packet.flow,
            bytes: packet.bytes as u16,
            from: rack as u16,
            at: to as u16,
            hops: packet.hops.saturating_add(1),
        };
        let at = ends + self.circuits.propagation;
        cx.schedule(at, Event::Hop(arrives));
    }
}
