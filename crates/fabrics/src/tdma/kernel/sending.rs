//! What racks send in their days, worked out when a slot begins: in bursts, without an event for
//! each packet.

use super::{Event, Line, Open, Tdma, Todo};
use crate::tdma::burst::{Burst, Wire};
use lightloom_engine::{FlowId, Io, PortId, Time};

/// What of a day is worked out: packets that begin in [`from`, `before`), from where the
/// line is free.
///
/// [`from`]: Part::from
/// [`before`]: Part::before
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) from: Time,
    pub(super) before: Time,
}

impl Part {
    /// Of so many bytes that could begin at `at`, those whose packets begin in time.
    #[inline]
    pub(super) fn begun(&self, wire: &Wire, at: Time, bytes: u64) -> u64 {
        match self.before {
            Time::NEVER => bytes,
            before => bytes.min(wire.begun(at, before)),
        }
    }
}

/// A burst on a circuit, from a time on.
struct Departed {
    flow: FlowId,
    burst: Burst,
    relayed: bool,
    at: Time,
}

impl Departed {
    /// Some of its bytes land.
    #[inline(always)]
    fn landing(&self, bytes: u64) -> Event {
        Event::Lands {
            flow: self.flow,
            bytes,
            relayed: self.relayed,
        }
    }
}

impl Tdma {
    /// Sends what waits for a line's circuit, as far as the day goes; what is relayed first.
    #[inline]
    pub(super) fn serve(&mut self, at: usize, now: Time, io: &mut Io, todo: &mut Todo) {
        let all = Part {
            from: now,
            before: Time::NEVER,
        };
        if self.relays.is_some() {
            self.drain::<true>(at, all, io, todo);
        }
        self.drain::<false>(at, all, io, todo);
    }

    /// Sends what waits in one of a line's two queues, as far as a part of the day goes.
    #[inline]
    pub(super) fn drain<const RELAYED: bool>(
        &mut self,
        at: usize,
        part: Part,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        let line = self.lines[at];
        let rack = at as u32 % self.racks;
        let queue = self.voqs.of(rack, line.to);
        let mut free = line.free.max(part.from);
        while let Some((flow, left)) = self.front::<RELAYED>(queue) {
            if free >= line.window.until || free >= part.before {
                break;
            }
            let begun = part.begun(&self.setup.wire, free, left);
            let burst = self.burst(&line, free, begun);
            let sent = burst.sent();
            if sent == 0 {
                // The next packet would be cut off.
                break;
            }
            match (&mut self.relays, RELAYED) {
                (Some(relays), true) => relays.take(rack, queue, sent),
                _ => self.voqs.take(queue, sent),
            }
            io.start(flow, free);
            self.send::<RELAYED>(at, flow, burst, sent == left, part, free, io, todo);
            if sent < begun {
                free = match part.before {
                    Time::NEVER => line.window.until,
                    // Shorter packets may go before the next.
                    _ => self.setup.wire.end(free, sent),
                };
                break;
            }
            free = self.setup.wire.end(free, sent);
        }
        self.lines[at].free = free;
    }

    #[inline]
    pub(super) fn front<const RELAYED: bool>(&self, queue: usize) -> Option<(FlowId, u64)> {
        match RELAYED {
            true => self.relays.as_ref()?.queues.front(queue),
            false => self.voqs.front(queue),
        }
    }

    #[inline]
    pub(super) fn burst(&self, line: &Line, at: Time, bytes: u64) -> Burst {
        let wire = &self.setup.wire;
        if at == line.window.from && line.window.is_lit() {
            return Burst {
                carried: wire.fitting(bytes, line.room),
                ..Burst::default()
            };
        }
        wire.burst(&line.window, at, bytes)
    }

    /// Bytes leave a rack from `at` on; `all` that waited together.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn send<const RELAYED: bool>(
        &mut self,
        line: usize,
        flow: FlowId,
        burst: Burst,
        all: bool,
        part: Part,
        at: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        let wire = self.setup.wire;
        self.moving += burst.sent();
        if burst.early + burst.late > 0 {
            self.send_again(line, flow, &burst, at, todo);
        }
        if burst.carried == 0 {
            return;
        }
        self.packet_hops += wire.packets(burst.carried);
        if io.audit.is_some() {
            self.write_down(line, &burst, at, io);
        }
        let (bytes, relayed) = (burst.carried, RELAYED);
        let departed = Departed {
            flow,
            burst,
            relayed,
            at,
        };
        if self.servers.is_some() {
            self.land_packets(&departed, todo);
        } else if all || part.before < Time::NEVER {
            // A day that is cut off ends up to a packet before its night.
            let known = if all { Time::ZERO } else { part.before };
            self.land_in_pieces(&departed, known, todo);
        } else {
            self.lines[line].open = Open {
                flow,
                from: wire.end(at, burst.early),
                bytes,
                counted: 0,
                relayed,
            };
        }
    }

    /// What of a burst is lost at the ends of the day is sent again.
    fn send_again(&mut self, line: usize, flow: FlowId, burst: &Burst, at: Time, todo: &mut Todo) {
        let pair = self.voqs.of(line as u32 % self.racks, self.lines[line].to);
        if let Some(packets) = &mut self.packets {
            packets.lose(pair, burst, self.voqs.waiting(pair));
        }
        let wire = &self.setup.wire;
        let packets = wire.packets(burst.early) + wire.packets(burst.late);
        let again = self.lines[line].window.dark + self.setup.retransmit_after;
        let left = wire.end(at, burst.sent());
        todo.schedule(left, Event::Lost(packets as u32));
        // Not before the last of it has left.
        let bytes = burst.early + burst.late;
        todo.schedule(again.max(left), Event::Again { flow, bytes });
    }

    /// A burst comes packet by packet, as servers' links take them one by one.
    fn land_packets(&self, departed: &Departed, todo: &mut Todo) {
        let burst = &departed.burst;
        for packet in self.setup.wire.split(burst.early, burst.carried) {
            let bytes = packet.end - packet.start;
            todo.schedule(self.lands(departed, packet.end), departed.landing(bytes));
        }
    }

    /// A burst comes as a whole, but what takes long a millisecond at a time; not before it is
    /// `known` how much of it there is.
    #[inline(always)]
    fn land_in_pieces(&self, departed: &Departed, known: Time, todo: &mut Todo) {
        let (burst, mut sent) = (&departed.burst, 0);
        while sent < burst.carried {
            let piece = (burst.carried - sent).min(self.setup.wire.whole_packets(Time::MS));
            sent += piece;
            let at = self.lands(departed, burst.early + sent).max(known);
            todo.schedule(at, departed.landing(piece));
        }
    }

    /// When so many bytes of a burst are at the other end.
    #[inline(always)]
    fn lands(&self, departed: &Departed, sent: u64) -> Time {
        self.setup.wire.end(departed.at, sent) + self.setup.propagation
    }

    /// The packets of a burst that crossed a circuit, for the record.
    pub(super) fn write_down(&self, line: usize, burst: &Burst, at: Time, io: &mut Io) {
        let Some(audit) = &mut io.audit else {
            return;
        };
        let wire = &self.setup.wire;
        let plane = line as u32 / self.racks;
        let rx = PortId(plane * self.racks + self.lines[line].to);
        for packet in wire.split(burst.early, burst.carried) {
            let (from, until) = (wire.end(at, packet.start), wire.end(at, packet.end));
            let bytes = packet.end - packet.start;
            audit.transmit(PortId(line as u32), rx, from, until, bytes);
        }
    }

    /// Bytes have crossed their last circuit.
    #[inline]
    pub(super) fn landed(&mut self, flow: FlowId, bytes: u64, relayed: bool) {
        self.moving -= bytes;
        self.carried += bytes;
        match (relayed, &mut self.relays, &mut self.hosts) {
            (true, Some(relays), _) => relays.land(flow, bytes),
            (true, None, Some(hosts)) => hosts.land(flow, bytes),
            _ => {}
        }
    }
}
