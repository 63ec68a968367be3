//! Priority: low-latency packets go before bulk traffic on a circuit, so bulk is sent up to the
//! time of the line's next event, and no further.
//!
//! All packets that began before a line's `free` are sent. When a low-latency packet arrives, the
//! bulk packet in transmission is completed, and the low-latency packet follows. Bulk continues
//! behind it. The time at which the first bulk flow will have been sent, if nothing intervenes, is
//! an event, so that flows end at the right time.

use super::kernel::{Cx, Event, Opera};
use crate::tdma::rotor::Part;
use lightloom_engine::Time;

impl Opera {
    /// The line whose circuit connects two racks in this slot, until its night has begun; events at
    /// that very moment may come before the night.
    fn direct_line(&self, from: u32, to: u32, now: Time) -> Option<usize> {
        let circuits = &self.circuits;
        let lines = (0..circuits.planes.len()).map(|switch| circuits.line(switch, from));
        { lines }.find(|&at| circuits.lines[at].to == to && circuits.lines[at].window.until >= now)
    }

    /// Advances the line of the direct circuit: sends all packets that began before now.
    pub(super) fn advance_direct_line(&mut self, from: u32, to: u32, cx: Cx) -> Option<usize> {
        let line = self.direct_line(from, to, cx.now)?;
        self.advance_line(line, cx.now, cx);
        Some(line)
    }

    /// Sends all bulk that begins on a line before a time.
    pub(super) fn advance_line(&mut self, at: usize, before: Time, cx: Cx) {
        if self.circuits.lines[at].free >= before {
            return;
        }
        let contested = self.is_contested(at);
        match contested {
            true => self.send_in_turn(at, before, cx),
            false => self.send_bulk(at, before, cx),
        }
        for at in self.lines_with(at, contested) {
            let line = &mut self.circuits.lines[at];
            // The line was idle, or bulk does not fit into its day.
            line.free = line.free.max(before.min(line.window.until));
        }
    }

    fn is_contested(&self, line: usize) -> bool {
        self.contested[line % self.contested.len()]
    }

    /// A line; or all of its rack.
    fn lines_with(&self, at: usize, all: bool) -> impl Iterator<Item = usize> {
        let racks = self.circuits.racks as usize;
        let (first, step, count) = match all {
            true => (at % racks, racks, self.circuits.planes.len()),
            false => (at, 1, 1),
        };
        (0..count).map(move |k| first + k * step)
    }

    /// A rack's circuits take from the same queue, directly and to relays: packet by packet,
    /// in order of time, then of switches.
    fn send_in_turn(&mut self, at: usize, before: Time, cx: Cx) {
        let mut lines: Vec<usize> = self.lines_with(at, true).collect();
        loop {
            lines.retain(|&at| self.circuits.lines[at].free < before);
            let free = |&at: &usize| (self.circuits.lines[at].free, at);
            let Some(&next) = lines.iter().min_by_key(|&at| free(at)) else {
                return;
            };
            let free = self.circuits.lines[next].free;
            self.send_bulk(next, free + Time(1), cx);
            if self.circuits.lines[next].free == free {
                // The line has no packet that fits, unless another line sends the first one before.
                lines.retain(|&at| at != next);
            } else {
                self.retry_lines(&mut lines, at, free);
            }
        }
    }

    /// A packet has left a queue, and the one behind it may be shorter: lines of the rack
    /// that had nothing that fits try again from then on.
    fn retry_lines(&mut self, lines: &mut Vec<usize>, at: usize, now: Time) {
        for other in self.lines_with(at, true) {
            let line = &mut self.circuits.lines[other];
            if line.free <= now && now < line.window.until && !lines.contains(&other) {
                line.free = now;
                lines.push(other);
            }
        }
    }

    /// Sends bulk traffic for a line's own destination, then traffic to its relay.
    fn send_bulk(&mut self, at: usize, before: Time, cx: Cx) {
        if !self.circuits.lines[at].is_lit() {
            return;
        }
        let (part, circuits) = (Part::until(before), &mut self.circuits);
        if self.bulk.hosts.is_some() {
            return self.bulk.send_for_hosts(at, part, circuits, cx);
        }
        self.bulk.serve(at, part, circuits, cx);
        self.bulk.detour(at, before, circuits, cx.io);
    }

    /// Updates at which racks two circuits may take from the same queue: directly and to a
    /// relay, or to two relays.
    pub(super) fn update_contested(&mut self, cx: Cx) {
        let Some(relays) = &self.bulk.relays else {
            return;
        };
        let mut contested = vec![false; self.contested.len()];
        let mut promised: Vec<(u32, u32)> = relays.promised().map(|t| (t.from, t.to)).collect();
        promised.sort_unstable();
        for same in promised.chunk_by(|a, b| a == b) {
            let (from, to) = same[0];
            if same.len() > 1 || self.direct_line(from, to, cx.now).is_some() {
                contested[from as usize] = true;
            }
        }
        self.contested = contested;
        for at in 0..self.circuits.lines.len() {
            if self.is_contested(at) && self.circuits.lines[at].is_lit() {
                self.schedule_bulk(at, cx.now, cx);
            }
        }
    }

    /// Schedules when the first of the bulk for a line's circuit will have been sent, if nothing
    /// comes between; where servers take packets one by one, or other circuits take them, too,
    /// when its first packet begins.
    pub(super) fn schedule_bulk(&mut self, at: usize, now: Time, cx: Cx) {
        let line = &self.circuits.lines[at];
        let queue = self.bulk.own.of(self.circuits.rack(at), line.to);
        let wire = &self.circuits.wire;
        let begins = line.free.max(now);
        let fits = |bytes: u64| wire.end(begins, bytes) <= line.window.until;
        let planned = { self.bulk.hosts.as_ref() }.and_then(|hosts| hosts.next(at));
        let queues = [
            self.bulk.front::<true>(queue),
            self.bulk.front::<false>(queue),
        ];
        // A packet that would be cut off does not begin, and lets others go before it.
        let first = queues.into_iter().flatten().map(|(_, bytes)| bytes);
        let mut first = first.chain(planned.map(|part| part.bytes));
        let Some(bytes) = first.find(|&bytes| fits(bytes.min(wire.packet))) else {
            return self.schedule_bulk_behind(at, begins, cx);
        };
        let room = wire.rate.bytes_in(line.window.until - begins);
        let due = match self.edge.has_server_links() || self.is_contested(at) {
            // The part of the first bytes that fits: a shorter packet may go behind it.
            false => wire.end(begins, wire.fitting(bytes, room)),
            // Once it has begun and all events of that moment are processed.
            true => begins + Time(1),
        };
        self.schedule_line(at, due, cx);
    }

    /// A packet that does not fit into the rest of a line's day may leave for a relay, and the next
    /// packet may fit: the line is served again when the next one has left.
    fn schedule_bulk_behind(&mut self, at: usize, begins: Time, cx: Cx) {
        let to = self.circuits.lines[at].to;
        let queue = self.bulk.own.of(self.circuits.rack(at), to);
        if !self.is_contested(at) || self.bulk.own.front(queue).is_none() {
            return;
        }
        let others = { self.lines_with(at, true) }.filter(|&other| self.bulk.has_detours(other));
        let next = others.map(|other| self.circuits.lines[other].free.max(begins));
        if let Some(next) = next.min() {
            self.schedule_line(at, next + Time(1), cx);
        }
    }

    /// A line is served at a time, if that is sooner than it would be, and not in its night.
    fn schedule_line(&mut self, at: usize, due: Time, cx: Cx) {
        if due <= self.circuits.lines[at].window.until && due < self.due[at] {
            self.due[at] = due;
            cx.schedule(due, Event::BulkSent(at as u32));
        }
    }

    /// The first of a line's bulk has been sent, or has been held up.
    pub(super) fn bulk_sent(&mut self, at: usize, cx: Cx) {
        if self.due[at] != cx.now {
            // Something came before.
            return;
        }
        self.due[at] = Time::NEVER;
        self.advance_line(at, cx.now, cx);
        self.schedule_bulk(at, cx.now, cx);
    }

    /// The night of a line begins: all that its day carries is sent.
    pub(super) fn end_day(&mut self, at: usize, cx: Cx) {
        if self.circuits.lines[at].is_lit() {
            self.advance_line(at, cx.now, cx);
        }
        self.due[at] = Time::NEVER;
    }
}
