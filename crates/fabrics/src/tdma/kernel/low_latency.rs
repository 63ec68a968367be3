//! Packets that cross whatever circuits are lit.

use super::{Event, Tdma, Todo, NONE};
use crate::tdma::links::Packet;
use crate::tdma::low_latency::LowLatencyPacket;
use lightloom_engine::{FlowId, Io, PortId, Time};

impl Tdma {
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
        let urgent = |law: u64| io.flows.bytes[flow.index()] < law;
        if !{ self.low_latency.as_ref() }.is_some_and(|low_latency| urgent(low_latency.law.below)) {
            return self.wait(flow, bytes, now, io, todo);
        }
        let (from, _) = self.ends(flow, io);
        for bytes in self.setup.wire.split(0, bytes) {
            let packet = LowLatencyPacket {
                flow,
                bytes: (bytes.end - bytes.start) as u16,
                from: from as u16,
                at: from as u16,
                hops: 0,
            };
            self.forward(packet, now, io, todo);
        }
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
            return self.forward(packet, now, io, todo);
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

    /// A packet is at a rack that is not its last: it goes on, or waits for other circuits.
    fn forward(&mut self, packet: LowLatencyPacket, now: Time, io: &mut Io, todo: &mut Todo) {
        let held = { self.relays.as_ref() }.map_or(0, |relays| relays.held(packet.at.into()));
        let low_latency = self.low_latency.as_mut().expect("there are such packets");
        let queued = low_latency.join(&packet);
        self.queue_peak = self.queue_peak.max(queued + held);
        if !self.go_on(packet, now, io, todo) {
            self.hold(packet, todo);
        }
    }

    fn hold(&mut self, packet: LowLatencyPacket, todo: &mut Todo) {
        let low_latency = self.low_latency.as_mut().expect("there are such packets");
        low_latency.waiting[packet.at as usize].push_back(packet);
        self.ask_again(todo);
    }

    fn ask_again(&mut self, todo: &mut Todo) {
        let low_latency = self.low_latency.as_mut().expect("there are such packets");
        if !std::mem::replace(&mut low_latency.tried_again, true) {
            todo.schedule(low_latency.expander.until(), Event::Circuits);
        }
    }

    /// A packet takes a circuit on a shortest path, by chance one of those that will be free
    /// for it before their night, if there are any.
    fn go_on(&mut self, packet: LowLatencyPacket, now: Time, io: &mut Io, todo: &mut Todo) -> bool {
        self.see(now);
        let (_, to) = self.ends(packet.flow, io);
        let low_latency = self.low_latency.as_mut().expect("there are such packets");
        let mut choices = std::mem::take(&mut low_latency.choices);
        low_latency
            .expander
            .next(packet.at.into(), to, &mut choices);
        choices.retain(|&plane| {
            let line = self.line(plane, packet.at);
            self.settle_line(line, now, io, todo);
            self.takes(line, packet.bytes.into(), now)
        });
        let low_latency = self.low_latency.as_mut().expect("as before");
        let chosen = match choices.len() {
            0 => None,
            many => Some(choices[low_latency.choose(many)]),
        };
        low_latency.choices = choices;
        if let Some(plane) = chosen {
            self.cross(plane, packet, now, io, todo);
        }
        chosen.is_some()
    }

    fn line(&self, plane: u16, rack: u16) -> usize {
        plane as usize * self.racks as usize + rack as usize
    }

    /// Whether a line will have sent so many bytes before its night.
    fn takes(&self, line: usize, bytes: u64, now: Time) -> bool {
        let line = &self.lines[line];
        self.setup.wire.end(line.free.max(now), bytes) <= line.window.until
    }

    /// A packet crosses a plane's circuit next.
    fn cross(
        &mut self,
        plane: u16,
        packet: LowLatencyPacket,
        now: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        let at = self.line(plane, packet.at);
        let line = &mut self.lines[at];
        let (to, begins) = (line.to, line.free.max(now));
        let ends = self.setup.wire.end(begins, u64::from(packet.bytes));
        line.free = ends;
        io.start(packet.flow, begins);
        self.packet_hops += 1;
        if let Some(audit) = &mut io.audit {
            let rx = PortId(u32::from(plane) * self.racks + to);
            audit.transmit(PortId(at as u32), rx, begins, ends, packet.bytes.into());
        }
        let arrives = LowLatencyPacket {
            from: packet.at,
            at: to as u16,
            hops: packet.hops.saturating_add(1),
            ..packet
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

    /// The circuits have changed: packets that wait for others are tried again, in order.
    pub(super) fn try_again(&mut self, now: Time, io: &mut Io, todo: &mut Todo) {
        let Some(low_latency) = &mut self.low_latency else {
            return;
        };
        low_latency.tried_again = false;
        for rack in 0..self.racks as usize {
            let low_latency = self.low_latency.as_mut().expect("as before");
            let mut waiting = std::mem::take(&mut low_latency.waiting[rack]);
            let mut stay = Vec::new();
            while let Some(packet) = waiting.pop_front() {
                if !self.go_on(packet, now, io, todo) {
                    stay.push(packet);
                    if !self.has_room(rack as u16, now, io, todo) {
                        break;
                    }
                }
            }
            for packet in stay.into_iter().rev() {
                waiting.push_front(packet);
            }
            let any = !waiting.is_empty();
            let low_latency = self.low_latency.as_mut().expect("as before");
            low_latency.waiting[rack] = waiting;
            if any {
                self.ask_again(todo);
            }
        }
    }

    /// Whether any circuit of a rack could take a full packet.
    fn has_room(&mut self, rack: u16, now: Time, io: &mut Io, todo: &mut Todo) -> bool {
        let low_latency = self.low_latency.as_ref().expect("as before");
        let planes = low_latency.expander.planes().to_vec();
        planes.into_iter().any(|plane| {
            let line = self.line(plane, rack);
            self.settle_line(line, now, io, todo);
            self.takes(line, self.setup.wire.packet, now)
        })
    }
}
