//! Nights and days: to whom each rack sends in a slot, from when to when.

use super::{Event, Line, Tdma, Todo, DARK};
use crate::tdma::frames::Slot;
use lightloom_control::schedule;
use lightloom_engine::{Io, Time};

impl Tdma {
    /// The day is over, and the next slot begins.
    pub(super) fn night(&mut self, plane: u16, now: Time, io: &mut Io, todo: &mut Todo) {
        let begins = now == Time::ZERO && !self.setup.ahead.is_empty();
        let planes = match self.setup.together || begins {
            false => plane..plane + 1,
            true => 0..self.planes.len() as u16,
        };
        let relays = self.relays.is_some() || self.hosts.is_some();
        if relays && self.low_latency.is_some() {
            // What has been sent by now, also to relays, does not wait for the next circuits.
            (0..self.lines.len()).for_each(|line| self.settle_line(line, now, io, todo));
        }
        for line in self.lines_of(planes.clone()) {
            self.close(line, now, io, todo);
            if let Some(relays) = &mut self.relays {
                relays.unplan(line, self.lines[line].to);
            }
            if let Some(hosts) = &mut self.hosts {
                hosts.unplan(line);
            }
        }
        for plane in planes.clone() {
            match self.setup.together {
                // All others are dark, too, for as long as it takes to get there.
                true => self.gather(plane, now, io, todo),
                false if relays && !begins => {
                    todo.schedule(now + self.setup.propagation, Event::Relayed(plane));
                }
                false => {}
            }
        }
        for plane in planes.clone() {
            self.turn(plane, now, io, todo);
        }
        match self.hosts {
            Some(_) => self.plan_by_hosts(planes, now, io, todo),
            None => self.relay(planes, now, io, todo),
        }
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
        self.leave_rests(&schedule.slots[at], now, io, todo);
    }

    /// What a slot's circuits leave of their share of the demand may cross the packet switch.
    fn leave_rests(&mut self, slot: &schedule::Slot, now: Time, io: &mut Io, todo: &mut Todo) {
        let Some(packets) = &mut self.packets else {
            return;
        };
        packets.end_of_slot(slot, self.setup.wire.rate);
        for rack in 0..self.racks {
            self.spill(rack, now, io, todo);
        }
    }

    /// Sends what waits for a circuit; the packet switch need not carry it.
    pub(super) fn serve_line(&mut self, line: usize, now: Time, io: &mut Io, todo: &mut Todo) {
        if self.packets.is_none() {
            return self.serve(line, now, io, todo);
        }
        let rack = line as u32 % self.racks;
        let pair = self.voqs.of(rack, self.lines[line].to);
        let waiting = self.voqs.waiting(pair);
        if let Some(packets) = &mut self.packets {
            packets.begin_taking(waiting);
        }
        self.serve(line, now, io, todo);
        let left = self.voqs.waiting(pair);
        if let Some(packets) = &mut self.packets {
            packets.take_seen(pair, waiting - left);
        }
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
                None => self.serve_line(line, slot.begins, io, todo),
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
}
