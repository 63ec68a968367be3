//! Packets that cross whatever circuits are lit.

use super::{Event, Tdma, Todo, NONE};
use crate::links::Packet;
use crate::tdma::low_latency::LowLatencyPacket;
use crate::tdma::waiting::Waiting;
use lightloom_engine::{FlowId, Io, PortId, Time};

impl Tdma {
    /// Whether a flow is low-latency traffic.
    pub(super) fn is_low_latency(&self, flow: FlowId, io: &Io) -> bool {
        { self.low_latency.as_ref() }
            .is_some_and(|low_latency| io.flows.bytes[flow.index()] < low_latency.law.below)
    }

    /// Bytes of a flow are at the rack of their source: they wait for their circuit, or go
    /// on at once.
    pub(super) fn enter(
        &mut self,
        flow: FlowId,
        bytes: u64,
        now: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        if !self.is_low_latency(flow, io) {
            return self.wait(flow, bytes, now, io, todo);
        }
        let (from, _) = self.ends(flow, io);
        let hops = 0;
        self.forward(from, Waiting { flow, bytes, hops }, now, io, todo);
    }

    /// A packet has crossed a circuit.
    pub(super) fn hop(
        &mut self,
        packet: LowLatencyPacket,
        now: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        let Some(low_latency) = &mut self.low_latency else {
            return;
        };
        low_latency.leave(&packet);
        self.carried += u64::from(packet.bytes);
        let (_, to) = self.ends(packet.flow, io);
        if to != u32::from(packet.at) {
            let rest = Waiting {
                flow: packet.flow,
                bytes: packet.bytes.into(),
                hops: packet.hops,
            };
            return self.forward(packet.at.into(), rest, now, io, todo);
        }
        self.low_latency.as_mut().expect("it hops").land(&packet);
        if self.servers.is_none() {
            return self.land(packet.flow, u64::from(packet.bytes), now, io);
        }
        let packet = Packet {
            flow: packet.flow,
            bytes: u32::from(packet.bytes),
            circuit: true,
        };
        self.hand_down(packet, now, io, todo);
    }

    /// Bytes are at a rack that is not their last: they go on, packet by packet, as far as
    /// circuits have room, and the rest waits.
    fn forward(&mut self, rack: u32, mut rest: Waiting, now: Time, io: &mut Io, todo: &mut Todo) {
        let low_latency = self.low_latency.as_mut().expect("there are such packets");
        low_latency.join(rack, rest.bytes);
        self.queue_grew(rack);
        self.let_go_first(rack, now, io, todo);
        self.see(now);
        let (_, to) = self.ends(rest.flow, io);
        while rest.bytes > 0 {
            let Some(plane) = self.plane_with_room(rack, to, now, io, todo) else {
                break;
            };
            let bytes = rest.bytes.min(self.setup.wire.packet);
            self.cross(plane, rack, Waiting { bytes, ..rest }, now, io, todo);
            rest.bytes -= bytes;
        }
        if rest.bytes > 0 {
            let low_latency = self.low_latency.as_mut().expect("as before");
            low_latency.waiting.push(rack, to, rest);
            self.look_again(rack, now, todo);
        }
    }

    /// What waits at a rack takes the room that a circuit has from this very moment on before
    /// what comes then.
    fn let_go_first(&mut self, rack: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        let low_latency = self.low_latency.as_ref().expect("there are such packets");
        if low_latency.changes_at <= now {
            self.circuits_change(now, io, todo);
        } else if low_latency.room_at[rack as usize] == now + Time(1) {
            self.refill(rack, now, io, todo);
        }
    }

    /// Of the planes on which a shortest path begins and that have room, one by chance;
    /// none if others wait for them.
    fn plane_with_room(
        &mut self,
        rack: u32,
        to: u32,
        now: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) -> Option<u16> {
        let low_latency = self.low_latency.as_mut().expect("there are such packets");
        if low_latency.waiting.any_for(rack, to) {
            return None;
        }
        let mut choices = std::mem::take(&mut low_latency.choices);
        low_latency.expander.next(rack, to, &mut choices);
        choices.retain(|&plane| {
            let line = self.line(plane, rack);
            self.settle_line(line, now, io, todo);
            self.has_room(line, now)
        });
        let low_latency = self.low_latency.as_mut().expect("as before");
        let chosen = match choices.len() {
            0 => None,
            many => Some(choices[low_latency.choose(many)]),
        };
        low_latency.choices = choices;
        chosen
    }

    /// What waits at a rack takes the room that its circuits have.
    fn refill(&mut self, rack: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        self.see(now);
        let low_latency = self.low_latency.as_mut().expect("there are such packets");
        for &to in low_latency.waiting.destinations(rack) {
            low_latency.expander.reach(to);
        }
        for place in 0..low_latency.expander.planes().len() {
            let low_latency = self.low_latency.as_ref().expect("as before");
            let plane = low_latency.expander.planes()[place];
            let line = self.line(plane, rack);
            self.settle_line(line, now, io, todo);
            while self.has_room(line, now) {
                let Some(packet) = self.next_over(place, rack) else {
                    break;
                };
                self.cross(plane, rack, packet, now, io, todo);
            }
        }
        self.look_again(rack, now, todo);
    }

    /// Of what waits at a rack, the packet that goes next over a plane.
    fn next_over(&mut self, place: usize, rack: u32) -> Option<Waiting> {
        let low_latency = self.low_latency.as_mut().expect("there are such packets");
        let expander = &low_latency.expander;
        let waiting = &mut low_latency.waiting;
        let to = waiting.first(rack, |to| expander.nearer(place, rack, to))?;
        waiting.take(rack, to, self.setup.wire.packet)
    }

    /// Where packets wait, their rack is looked at when a circuit has room for one, and all
    /// racks when circuits change.
    fn look_again(&mut self, rack: u32, now: Time, todo: &mut Todo) {
        let low_latency = self.low_latency.as_ref().expect("there are such packets");
        if !low_latency.waiting.any(rack) {
            return;
        }
        let planes = low_latency.expander.planes().iter();
        let room = planes.filter_map(|&plane| self.room_at(self.line(plane, rack)));
        let soonest = room.filter(|&at| at > now).min();
        let low_latency = self.low_latency.as_mut().expect("as before");
        if low_latency.changes_at == Time::NEVER {
            low_latency.changes_at = low_latency.expander.until();
            todo.schedule(low_latency.changes_at, Event::Circuits);
        }
        let due = &mut low_latency.room_at[rack as usize];
        if let Some(at) = soonest.filter(|at| at < due) {
            *due = at;
            todo.schedule(at, Event::Room(rack));
        }
    }

    /// One of a rack's circuits has room.
    pub(super) fn room(&mut self, rack: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        let low_latency = self.low_latency.as_mut().expect("packets wait");
        let due = &mut low_latency.room_at[rack as usize];
        if *due == now {
            *due = Time::NEVER;
            self.refill(rack, now, io, todo);
        }
    }

    /// Circuits change now, if that has not been noticed.
    pub(super) fn circuits(&mut self, now: Time, io: &mut Io, todo: &mut Todo) {
        if { self.low_latency.as_ref() }.is_some_and(|l| l.changes_at == now) {
            self.circuits_change(now, io, todo);
        }
    }

    /// The circuits have changed: what waits takes their room.
    fn circuits_change(&mut self, now: Time, io: &mut Io, todo: &mut Todo) {
        if let Some(low_latency) = &mut self.low_latency {
            low_latency.changes_at = Time::NEVER;
            (0..self.racks).for_each(|rack| self.refill(rack, now, io, todo));
        }
    }

    fn line(&self, plane: u16, rack: u32) -> usize {
        plane as usize * self.racks as usize + rack as usize
    }

    /// Whether a line takes another full packet: few are ahead, and it will have been sent
    /// before the night.
    fn has_room(&self, line: usize, now: Time) -> bool {
        let line = &self.lines[line];
        let begins = line.free.max(now);
        begins - now <= self.full_queue() && self.fits(begins, line.window.until)
    }

    /// When a line that has no room has some, and all that happened at that moment is known,
    /// if it does before its night.
    fn room_at(&self, line: usize) -> Option<Time> {
        let line = &self.lines[line];
        let fits = self.fits(line.free, line.window.until);
        fits.then(|| line.free - self.full_queue() + Time(1))
    }

    fn fits(&self, begins: Time, until: Time) -> bool {
        self.setup.wire.end(begins, self.setup.wire.packet) <= until
    }

    /// What a circuit's queue takes to be sent when there is room for one packet more.
    fn full_queue(&self) -> Time {
        let law = self
            .low_latency
            .as_ref()
            .expect("there are such packets")
            .law;
        let packet = self.setup.wire.rate.time_for(self.setup.wire.packet);
        packet * i64::from(law.queue - 1)
    }

    /// A packet at a rack crosses a plane's circuit next.
    fn cross(
        &mut self,
        plane: u16,
        rack: u32,
        packet: Waiting,
        now: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        let at = self.line(plane, rack);
        let line = &mut self.lines[at];
        let (to, begins) = (line.to, line.free.max(now));
        let ends = self.setup.wire.end(begins, packet.bytes);
        line.free = ends;
        io.start(packet.flow, begins);
        self.packet_hops += 1;
        if let Some(audit) = &mut io.audit {
            let rx = PortId(u32::from(plane) * self.racks + to);
            audit.transmit(PortId(at as u32), rx, begins, ends, packet.bytes);
        }
        let arrives = LowLatencyPacket {
            flow: packet.flow,
            bytes: packet.bytes as u16,
            from: rack as u16,
            at: to as u16,
            hops: packet.hops.saturating_add(1),
        };
        todo.schedule(ends + self.setup.propagation, Event::Hop(arrives));
    }

    /// Notices which circuits are lit, and will be for a while.
    fn see(&mut self, now: Time) {
        let low_latency = self.low_latency.as_mut().expect("there are such packets");
        if now < low_latency.expander.until() {
            return;
        }
        let guard = low_latency.law.guard;
        let turning = self.planes.iter().filter(|plane| plane.turns);
        let changes = turning.map(|plane| {
            let (light, night) = plane.day;
            let times = [light, night - guard, night];
            // One whose night is due now turns before this moment is over.
            times.into_iter().find(|&at| at > now).unwrap_or(now)
        });
        let until = changes.min().unwrap_or(Time::NEVER);
        low_latency.expander.change(until);
        let days = self.planes.iter().map(|plane| plane.day);
        let planes = self.lines.chunks_exact(self.racks as usize);
        let mut permutation = Vec::with_capacity(self.racks as usize);
        for (plane, ((light, night), lines)) in (0..).zip(days.zip(planes)) {
            if light <= now && now < night - guard {
                let to = |(rack, line): (u32, &super::Line)| match line.to {
                    NONE => rack,
                    to => to,
                };
                permutation.clear();
                permutation.extend((0..).zip(lines).map(to));
                low_latency.expander.add(plane, &permutation);
            }
        }
    }
}
