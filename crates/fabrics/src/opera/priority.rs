//! Priority: low-latency packets go before bulk traffic on a circuit. Bulk is therefore sent only
//! up to the time of the line's next event.
//!
//! All packets that began before a line's `free` are sent. When a low-latency packet arrives, the
//! bulk packet in transmission is completed; the low-latency packet follows, then bulk continues.
//! The time at which the first bulk flow will have been sent, if no low-latency packet arrives, is
//! an event, so that flows end at the right time.

use super::kernel::{Cx, Event, Opera};
use crate::tdma::rotor::Part;
use lightloom_engine::Time;

impl Opera {
    /// The line whose circuit connects two racks in this slot, until its night has begun. Events at
    /// the same instant may be processed before the night.
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
            // The line was idle, or no bulk packet fits into its day.
            line.free = line.free.max(before.min(line.window.until));
        }
    }

    fn is_contested(&self, line: usize) -> bool {
        self.contested[line % self.contested.len()]
    }

    /// The line alone, or all lines of its rack.
    fn lines_with(&self, at: usize, all: bool) -> impl Iterator<Item = usize> {
        let racks = self.circuits.racks as usize;
        let (first, step, count) = match all {
            true => (at % racks, racks, self.circuits.planes.len()),
            false => (at, 1, 1),
        };
        (0..count).map(move |k| first + k * step)
    }

    /// Sends bulk of a rack several of whose circuits take from the same queue (directly, or to
    /// relays): packet by packet, in order of time, then of switches.
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
                // No packet fits on this line, unless another line sends the first one before.
                lines.retain(|&at| at != next);
            } else {
                self.retry_lines(&mut lines, at, free);
            }
        }
    }

    /// Retries, after a packet has left a queue, the lines of the rack for which no packet fitted:
    /// the next packet of the queue may be shorter.
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

    /// Updates, for each rack, whether two of its circuits may take from the same queue: directly
    /// and to a relay, or to two relays.
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

    /// Schedules the time at which the first bulk bytes of a line will have been sent if nothing
    /// intervenes. If servers' links take packets one by one, or other circuits take from the same
    /// queue, schedules the start of the first packet instead.
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
        // A packet that does not fit into the day does not start; others may go before it.
        let first = queues.into_iter().flatten().map(|(_, bytes)| bytes);
        let mut first = first.chain(planned.map(|part| part.bytes));
        let Some(bytes) = first.find(|&bytes| fits(bytes.min(wire.packet))) else {
            return self.schedule_bulk_behind(at, begins, cx);
        };
        let room = wire.rate.bytes_in(line.window.until - begins);
        let due = match self.edge.has_server_links() || self.is_contested(at) {
            // The part of the first bytes that fits: a shorter packet may go behind it.
            false => wire.end(begins, wire.fitting(bytes, room)),
            // After it has started and all events of that instant are processed.
            true => begins + Time(1),
        };
        self.schedule_line(at, due, cx);
    }

    /// Schedules the line again if its first packet does not fit into the rest of its day: another
    /// line may send that packet to a relay, and the next packet may fit.
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

    /// Schedules the service of a line at `due`, if this is earlier than scheduled so far and
    /// before its night.
    fn schedule_line(&mut self, at: usize, due: Time, cx: Cx) {
        if due <= self.circuits.lines[at].window.until && due < self.due[at] {
            self.due[at] = due;
            cx.schedule(due, Event::BulkSent(at as u32));
        }
    }

    /// Handles the event that the first bulk bytes of a line should have been sent; low-latency
    /// packets may have delayed them.
    pub(super) fn bulk_sent(&mut self, at: usize, cx: Cx) {
        if self.due[at] != cx.now {
            // Something came before.
            return;
        }
        self.due[at] = Time::NEVER;
        self.advance_line(at, cx.now, cx);
        self.schedule_bulk(at, cx.now, cx);
    }

    /// Ends the day of a line: sends all bytes that the day carries.
    pub(super) fn end_day(&mut self, at: usize, cx: Cx) {
        if self.circuits.lines[at].is_lit() {
            self.advance_line(at, cx.now, cx);
        }
        self.due[at] = Time::NEVER;
    }
}
