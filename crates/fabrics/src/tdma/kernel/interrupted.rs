//! Lines that low-latency packets interrupt: bulk for a circuit is worked out up to the
//! moment at which something happens to the line, and no farther.
//!
//! All packets that began before a line's `free` are known. A packet that comes at a time
//! finds the line as it is then: what began before is sent whole, and the packet after it.
//! Bulk goes on behind. When the first of it will have been sent, if
//! nothing comes between, is an event: flows end at the right time.

use super::sending::Part;
use super::{Event, Tdma, Todo, NONE};
use lightloom_engine::{FlowId, Io, Time};

impl Tdma {
    /// The line whose circuit joins two racks in this slot, until its night has begun: what
    /// happens at that very moment may come before that.
    fn joining(&self, from: u32, to: u32, now: Time) -> Option<usize> {
        let lines = (0..self.planes.len()).map(|plane| plane * self.racks as usize + from as usize);
        { lines }.find(|&at| self.lines[at].to == to && self.lines[at].window.until >= now)
    }

    /// That line, with all that began before a time.
    pub(super) fn settled(
        &mut self,
        from: u32,
        to: u32,
        now: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) -> Option<usize> {
        let line = self.joining(from, to, now)?;
        self.settle_line(line, now, io, todo);
        Some(line)
    }

    /// Bytes join the queue for their rack.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn join(
        &mut self,
        from: u32,
        to: u32,
        flow: FlowId,
        bytes: u64,
        now: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        let line = self.settled(from, to, now, io, todo);
        self.settle_detours(from, now, io, todo);
        self.voqs.push(self.voqs.of(from, to), flow, bytes);
        if let Some(line) = line {
            self.arm(line, now, todo);
        }
    }

    /// What a rack sends to relays before a time, before more waits that could be sent.
    fn settle_detours(&mut self, rack: u32, now: Time, io: &mut Io, todo: &mut Todo) {
        for plane in 0..self.planes.len() {
            let at = plane * self.racks as usize + rack as usize;
            if { self.relays.as_ref() }.is_some_and(|relays| relays.planned(at).is_some()) {
                self.settle_line(at, now, io, todo);
            }
        }
    }

    /// Works out all that begins on a line before a time.
    pub(super) fn settle_line(&mut self, at: usize, before: Time, io: &mut Io, todo: &mut Todo) {
        if self.lines[at].free >= before {
            return;
        }
        let contested = self.contested[at % self.racks as usize];
        self.send_before(at, before, io, todo);
        for at in self.lines_with(at, contested) {
            let line = &mut self.lines[at];
            // It was idle, or bulk does not fit into its day.
            line.free = line.free.max(before.min(line.window.until));
        }
    }

    /// A line; or all of its rack.
    fn lines_with(&self, at: usize, all: bool) -> impl Iterator<Item = usize> {
        let racks = self.racks as usize;
        let (first, step, count) = match all {
            true => (at % racks, racks, self.planes.len()),
            false => (at, 1, 1),
        };
        (0..count).map(move |k| first + k * step)
    }

    fn send_before(&mut self, at: usize, before: Time, io: &mut Io, todo: &mut Todo) {
        if self.contested[at % self.racks as usize] {
            self.send_in_turn(at, before, io, todo);
        } else {
            self.send_on(at, before, io, todo);
        }
    }

    /// A rack's circuits take from the same queue, directly and to relays: packet by packet,
    /// in order of time, then of planes.
    fn send_in_turn(&mut self, at: usize, before: Time, io: &mut Io, todo: &mut Todo) {
        let mut lines: Vec<usize> = self.lines_with(at, true).collect();
        loop {
            lines.retain(|&at| self.lines[at].free < before);
            let Some(&next) = lines.iter().min_by_key(|&&at| (self.lines[at].free, at)) else {
                return;
            };
            let free = self.lines[next].free;
            self.send_on(next, free + Time(1), io, todo);
            if self.lines[next].free == free {
                // It has nothing that fits, unless another sends what is first before that.
                lines.retain(|&at| at != next);
            } else {
                self.try_again(&mut lines, at, free);
            }
        }
    }

    /// A packet has left a queue, and the one behind it may be shorter: lines of the rack
    /// that had nothing that fits look from then on.
    fn try_again(&mut self, lines: &mut Vec<usize>, at: usize, now: Time) {
        for other in self.lines_with(at, true) {
            let line = &mut self.lines[other];
            if line.free <= now && now < line.window.until && !lines.contains(&other) {
                line.free = now;
                lines.push(other);
            }
        }
    }

    /// Bulk for a line's circuit, then what goes to its relay.
    fn send_on(&mut self, at: usize, before: Time, io: &mut Io, todo: &mut Todo) {
        if self.lines[at].to == NONE {
            return;
        }
        let part = Part {
            from: Time::ZERO,
            before,
        };
        if self.hosts.is_some() {
            return self.send_for_hosts(at, part, io, todo);
        }
        if self.relays.is_some() {
            self.drain::<true>(at, part, io, todo);
        }
        self.drain::<false>(at, part, io, todo);
        if self.relays.is_some() {
            self.detour(at, before, io);
        }
    }

    /// Notices at which racks two circuits may take from the same queue: directly and to a
    /// relay, or to two relays.
    pub(super) fn contest(&mut self, now: Time, todo: &mut Todo) {
        let Some(relays) = &self.relays else {
            return;
        };
        let mut contested = vec![false; self.racks as usize];
        let mut promised: Vec<(u32, u32)> = relays.promised().map(|t| (t.from, t.to)).collect();
        promised.sort_unstable();
        for same in promised.chunk_by(|a, b| a == b) {
            let (from, to) = same[0];
            if same.len() > 1 || self.joining(from, to, now).is_some() {
                contested[from as usize] = true;
            }
        }
        self.contested = contested;
        for at in 0..self.lines.len() {
            if self.contested[at % self.racks as usize] && self.lines[at].to != NONE {
                self.arm(at, now, todo);
            }
        }
    }

    /// Sees to it that a line is looked at when the first of the bulk for its circuit
    /// will have been sent, if nothing comes between; where servers take packets one by
    /// one, or other circuits take them, too, when the first packet begins.
    pub(super) fn arm(&mut self, at: usize, now: Time, todo: &mut Todo) {
        let line = &self.lines[at];
        let queue = self.voqs.of(at as u32 % self.racks, line.to);
        let wire = &self.setup.wire;
        let begins = line.free.max(now);
        let fits = |bytes: u64| wire.end(begins, bytes) <= line.window.until;
        let planned = self.hosts.as_ref().and_then(|hosts| hosts.next(at));
        let queues = [self.front::<true>(queue), self.front::<false>(queue)];
        // A packet that would be cut off does not begin, and lets others go before it.
        let first = queues.into_iter().flatten().map(|(_, bytes)| bytes);
        let mut first = first.chain(planned.map(|part| part.bytes));
        let Some(bytes) = first.find(|&bytes| fits(bytes.min(wire.packet))) else {
            self.arm_behind(at, begins, todo);
            return;
        };
        let room = wire.rate.bytes_in(line.window.until - begins);
        let due = match self.one_by_one(at) {
            // Of the first, what fits: something shorter may go behind it.
            false => wire.end(begins, wire.fitting(bytes, room)),
            // Once it has begun, and all that happened at that moment is known.
            true => begins + Time(1),
        };
        self.look_at(at, due, todo);
    }

    /// The packet that a line's day is too short for may leave for a relay, and what is behind
    /// it may fit: the line is looked at when the next one has left.
    fn arm_behind(&mut self, at: usize, begins: Time, todo: &mut Todo) {
        let Some(relays) = &self.relays else { return };
        let queue = self.voqs.of(at as u32 % self.racks, self.lines[at].to);
        if !self.contested[at % self.racks as usize] || self.voqs.front(queue).is_none() {
            return;
        }
        let others = { self.lines_with(at, true) }.filter(|&other| relays.planned(other).is_some());
        let next = others.map(|other| self.lines[other].free.max(begins)).min();
        if let Some(next) = next {
            self.look_at(at, next + Time(1), todo);
        }
    }

    /// A line is looked at then, if that is sooner than it would be, and not in its night.
    fn look_at(&mut self, at: usize, due: Time, todo: &mut Todo) {
        if due <= self.lines[at].window.until && due < self.due[at] {
            self.due[at] = due;
            todo.schedule(due, Event::Served(at as u32));
        }
    }

    /// Whether a line is looked at for each of its packets.
    fn one_by_one(&self, at: usize) -> bool {
        self.servers.is_some() || self.contested[at % self.racks as usize]
    }

    /// What was first in a line's queues has been sent, or has been held up.
    pub(super) fn served(&mut self, at: usize, now: Time, io: &mut Io, todo: &mut Todo) {
        if self.due[at] != now {
            // Something came before.
            return;
        }
        self.due[at] = Time::NEVER;
        self.settle_line(at, now, io, todo);
        self.arm(at, now, todo);
    }

    /// The night begins: nothing is left to be worked out.
    pub(super) fn end_of_day(&mut self, at: usize, now: Time, io: &mut Io, todo: &mut Todo) {
        if self.lines[at].to != NONE {
            self.settle_line(at, now, io, todo);
        }
        self.due[at] = Time::NEVER;
    }
}
