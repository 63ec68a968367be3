//! Nights and days: what each rack sends in its day is worked out when its slot begins.

use super::{Event, Line, Open, Tdma, Todo, DARK};
use crate::tdma::burst::{Burst, Wire};
use crate::tdma::frames::Slot;
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

impl Tdma {
    /// The day is over, and the next slot begins.
    pub(super) fn night(&mut self, plane: u16, now: Time, io: &mut Io, todo: &mut Todo) {
        let begins = now == Time::ZERO && !self.setup.ahead.is_empty();
        let planes = match self.setup.together || begins {
            false => plane..plane + 1,
            true => 0..self.planes.len() as u16,
        };
        if self.relays.is_some() && self.low_latency.is_some() {
            // What has been sent by now, also to relays, does not wait for the next circuits.
            (0..self.lines.len()).for_each(|line| self.settle_line(line, now, io, todo));
        }
        for line in self.lines_of(planes.clone()) {
            self.close(line, now, io, todo);
            if let Some(relays) = &mut self.relays {
                relays.unplan(line, self.lines[line].to);
            }
        }
        for plane in planes.clone() {
            match self.setup.together {
                // All others are dark, too, for as long as it takes to get there.
                true => self.gather(plane, now, io, todo),
                false if self.relays.is_some() && !begins => {
                    todo.schedule(now + self.setup.propagation, Event::Relayed(plane));
                }
                false => {}
            }
        }
        for plane in planes.clone() {
            self.turn(plane, now, io, todo);
        }
        self.relay(planes, now, io, todo);
    }

    pub(super) fn lines_of(&self, planes: std::ops::Range<u16>) -> std::ops::Range<usize> {
        let first = |plane: u16| plane as usize * self.racks as usize;
        first(planes.start)..first(planes.end)
    }

    /// A plane's next slot begins.
    pub(super) fn turn(&mut self, plane: u16, now: Time, io: &mut Io, todo: &mut Todo) {
        let lines = self.lines_of(plane..plane + 1);
        let state = &mut self.planes[plane as usize];
        if let Some(schedule) = state.next.take() {
            state.light.follow(schedule.clone());
            state.schedule = Some(schedule);
            state.slot = 0;
        }
        let schedule = state.schedule.clone().filter(|s| !s.slots.is_empty());
        state.turns = schedule.is_some();
        let Some(schedule) = schedule else {
            self.lines[lines].fill(DARK);
            return;
        };
        let at = state.slot;
        state.slot = (at + 1) % schedule.slots.len();
        let ahead = match now {
            Time::ZERO => self.setup.ahead.get(plane as usize),
            _ => None,
        };
        let begins = now - ahead.copied().unwrap_or(Time::ZERO);
        // A schedule may have been planned for longer nights, those of racks' interfaces.
        let slot = Slot {
            begins,
            day: begins + schedule.night.min(self.setup.punctuality.night),
            ends: begins + schedule.night + schedule.slots[at].day,
        };
        let light = self.frames.light(&slot);
        let unlit = self.unlit.clone();
        let state = &mut self.planes[plane as usize];
        let permutation = match state.works {
            true => &schedule.slots[at].permutation[..],
            false => &unlit,
        };
        if (0..).zip(permutation).any(|(rack, &to)| to != rack) {
            state.light.shine(at, light.max(Time::ZERO), slot.ends);
        }
        state.day = (light, slot.ends);
        if !self.setup.together || plane == 0 {
            todo.schedule(slot.ends, Event::Night(plane));
        }
        self.dawn(lines, permutation, &slot, light, io, todo);
    }

    /// Every rack is told to whom it sends, and when.
    pub(super) fn dawn(
        &mut self,
        lines: std::ops::Range<usize>,
        permutation: &[u32],
        slot: &Slot,
        light: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        let rate = self.setup.wire.rate;
        let mut window = self.frames.window(0, slot, light);
        // A slot may have begun before the run.
        window.from = window.from.max(Time::ZERO);
        let mut room = rate.bytes_in(window.until - window.from);
        let punctual = self.frames.are_punctual();
        for (rack, line) in lines.enumerate() {
            if !punctual && rack > 0 {
                window = self.frames.window(rack as u32, slot, light);
                room = rate.bytes_in(window.until - window.from);
            }
            let to = permutation[rack];
            if to == rack as u32 {
                self.lines[line] = DARK;
                continue;
            }
            self.lines[line] = Line {
                to,
                free: window.from,
                window,
                room,
                open: DARK.open,
            };
            match self.low_latency {
                None => self.serve(line, slot.begins, io, todo),
                Some(_) => self.arm(line, slot.begins.max(Time::ZERO), todo),
            }
        }
    }

    /// What the day carried of a flow that goes on is counted.
    pub(super) fn close(&mut self, line: usize, now: Time, io: &mut Io, todo: &mut Todo) {
        if self.low_latency.is_some() {
            return self.end_of_day(line, now, io, todo);
        }
        if self.setup.propagation > Time::ZERO {
            self.count_open(line, now, io);
        }
        let open = std::mem::replace(&mut self.lines[line].open, DARK.open);
        let (flow, relayed) = (open.flow, open.relayed);
        let bytes = open.bytes - open.counted;
        if bytes == 0 {
            return;
        }
        if self.setup.propagation > Time::ZERO {
            let event = Event::Lands {
                flow,
                bytes,
                relayed,
            };
            return todo.schedule(now + self.setup.propagation, event);
        }
        self.landed(flow, bytes, relayed);
        self.land(flow, bytes, now, io);
    }

    /// What is at the rack of its destination before a time, of a flow that goes on, is
    /// counted, packet by packet; but the last with the day, so that no flow ends by it.
    pub(super) fn count_open(&mut self, line: usize, before: Time, io: &mut Io) {
        let wire = self.setup.wire;
        let open = self.lines[line].open;
        let span = before - Time(1) - self.setup.propagation - open.from;
        if open.counted == open.bytes || span < Time::ZERO {
            return;
        }
        let whole = wire.rate.bytes_in(span) / wire.packet * wire.packet;
        let most = open.bytes.saturating_sub(wire.packet);
        let bytes = whole.min(most).saturating_sub(open.counted);
        if bytes > 0 {
            self.lines[line].open.counted += bytes;
            self.landed(open.flow, bytes, open.relayed);
            self.land(open.flow, bytes, before - Time(1), io);
        }
    }

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
        let lost = burst.early + burst.late;
        if lost > 0 {
            let packets = wire.packets(burst.early) + wire.packets(burst.late);
            let again = self.lines[line].window.dark + self.setup.retransmit_after;
            let left = wire.end(at, burst.sent());
            todo.schedule(left, Event::Lost(packets as u32));
            // Not before the last of it has left.
            let bytes = lost;
            todo.schedule(again.max(left), Event::Again { flow, bytes });
        }
        if burst.carried == 0 {
            return;
        }
        self.packet_hops += wire.packets(burst.carried);
        if io.audit.is_some() {
            self.write_down(line, &burst, at, io);
        }
        let lands = |sent: u64| wire.end(at, sent) + self.setup.propagation;
        let (bytes, relayed) = (burst.carried, RELAYED);
        if self.servers.is_some() {
            // Servers' links take them one by one.
            for packet in wire.split(burst.early, bytes) {
                let bytes = packet.end - packet.start;
                let event = Event::Lands {
                    flow,
                    bytes,
                    relayed,
                };
                todo.schedule(lands(packet.end), event);
            }
        } else if all || part.before < Time::NEVER {
            // A day that is cut off ends up to a packet before its night.
            let known = if all { Time::ZERO } else { part.before };
            let mut sent = 0;
            while sent < bytes {
                // What takes long counts a millisecond at a time.
                let piece = (bytes - sent).min(wire.whole_packets(Time::MS));
                sent += piece;
                let event = Event::Lands {
                    flow,
                    bytes: piece,
                    relayed,
                };
                todo.schedule(lands(burst.early + sent).max(known), event);
            }
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
        if let (true, Some(relays)) = (relayed, &mut self.relays) {
            relays.land(flow, bytes);
        }
    }
}
