//! What of a slot is left when all have sent what goes directly: bytes leave for relays.

use super::sending::Part;
use super::{Tdma, Todo, NONE};
use crate::tdma::burst::Burst;
use crate::tdma::relays::{Crossing, Spare, Taken};
use lightloom_engine::{Io, Time};
use std::ops::Range;

impl Tdma {
    /// What a plane carried to relays is there.
    pub(super) fn gather(&mut self, plane: u16, now: Time, io: &mut Io, todo: &mut Todo) {
        self.carried += self.crossings.end(plane as usize);
        if self.hosts.is_some() {
            return self.gather_at_hosts(plane);
        }
        let Some(relays) = &mut self.relays else {
            return;
        };
        let crossed = relays.crossed(plane as usize);
        for crossing in &crossed {
            self.moving -= crossing.bytes;
            self.relayed(crossing, now, io, todo);
        }
        if let (Some(relays), false) = (&mut self.relays, crossed.is_empty()) {
            relays.end_of_crossing(plane as usize, crossed);
            (0..self.racks).for_each(|rack| self.queue_grew(rack));
        }
    }

    /// Bytes join the queue of their relay; they leave it at once, if that is lit.
    fn relayed(&mut self, crossing: &Crossing, now: Time, io: &mut Io, todo: &mut Todo) {
        let line = match self.low_latency {
            Some(_) => self.settled(crossing.relay, crossing.to, now, io, todo),
            None => None,
        };
        if let Some(relays) = &mut self.relays {
            relays.join(crossing);
        }
        if let Some(line) = line {
            self.arm(line, now, todo);
        }
    }

    /// All have sent what may go directly, or will: the rest of the slot is for relays.
    pub(super) fn relay(&mut self, planes: Range<u16>, now: Time, io: &mut Io, todo: &mut Todo) {
        let Some(mut relays) = self.relays.take() else {
            return;
        };
        let mut taken = self.go_directly(now);
        taken.extend(relays.promised());
        taken.sort_unstable();
        let lines = self.lines_of(planes);
        let waiting = |queue| relays.queues.waiting(queue);
        let spare: Vec<Spare> = { lines }
            .filter_map(|line| self.spare(line, waiting))
            .collect();
        let grants = relays.share(&spare, &taken, &self.voqs);
        self.relays = Some(relays);
        for grant in &grants {
            if let Some(relays) = &mut self.relays {
                relays.plan(grant, self.lines[grant.line as usize].to);
            }
            if self.low_latency.is_none() {
                self.detour(grant.line as usize, Time::NEVER, io);
            }
        }
        if let Some(relays) = &mut self.relays {
            relays.end_of(grants);
        }
        if self.low_latency.is_some() {
            self.contest(now, todo);
        }
    }

    /// What a line's slot has left when what waits for its circuit is sent.
    fn spare(&self, number: usize, relayed: impl Fn(usize) -> u64) -> Option<Spare> {
        let line = &self.lines[number];
        let left = line.window.until - line.free;
        if line.to == NONE || left <= Time::ZERO {
            return None;
        }
        let from = number as u32 % self.racks;
        // Where lines can be interrupted, nothing of it has been sent.
        let waits = match self.low_latency {
            None => 0,
            Some(_) => {
                let queue = self.voqs.of(from, line.to);
                self.voqs.waiting(queue) + relayed(queue)
            }
        };
        let bytes = self.setup.wire.rate.bytes_in(left).saturating_sub(waits);
        (bytes > 0).then_some(Spare {
            line: number as u32,
            from,
            relay: line.to,
            bytes,
        })
    }

    /// What may still cross circuits that are lit: nothing where all of it has been sent.
    fn go_directly(&self, now: Time) -> Vec<Taken> {
        if self.low_latency.is_none() {
            return Vec::new();
        }
        let lines = self.lines.iter().enumerate();
        let lit = lines.filter(|(_, line)| line.to != NONE && line.window.until > now);
        { lit }
            .map(|(number, line)| Taken {
                from: number as u32 % self.racks,
                to: line.to,
                bytes: { self.setup.wire.rate }.bytes_in(line.window.until - line.free.max(now)),
            })
            .collect()
    }

    /// A rack sends to its relay what it may, in packets that begin before a time.
    pub(super) fn detour(&mut self, at: usize, before: Time, io: &mut Io) {
        let (line, wire, rack) = (self.lines[at], self.setup.wire, at as u32 % self.racks);
        let part = Part {
            from: Time::ZERO,
            before,
        };
        let mut free = line.free;
        while free < line.window.until.min(before) {
            let Some(grant) = self.relays.as_ref().and_then(|relays| relays.planned(at)) else {
                break;
            };
            let queue = self.voqs.of(rack, grant.to);
            let room = wire.rate.bytes_in(line.window.until - free);
            let Some((flow, waits)) = self.voqs.front(queue) else {
                self.relays.as_mut().expect("it planned").skip(at, line.to);
                continue;
            };
            let begun = part.begun(&wire, free, waits.min(grant.bytes));
            let carried = wire.fitting(begun, room);
            let relays = self.relays.as_mut().expect("it planned");
            if carried == 0 {
                relays.skip(at, line.to);
                continue;
            }
            relays.used(at, carried);
            let crossing = Crossing {
                relay: line.to,
                to: grant.to,
                flow,
                bytes: carried,
            };
            let plane = at / self.racks as usize;
            relays.cross(plane, crossing);
            self.crossings.begin(plane, free, carried);
            self.voqs.take(queue, carried);
            io.start(flow, free);
            self.moving += carried;
            self.packet_hops += wire.packets(carried);
            let burst = Burst {
                carried,
                ..Burst::default()
            };
            self.write_down(at, &burst, free, io);
            free = wire.end(free, carried);
        }
        self.lines[at].free = free;
    }
}
