//! Lines that urgent packets interrupt: what waits for a circuit is worked out up to the
//! moment at which something happens to the line, and no farther.
//!
//! All packets that began before a line's `free` are known. A packet that comes at a time
//! finds the line as it is then: what began before is sent whole, and the packet after it.
//! What waits for the circuit goes on behind. When the first of it will have been sent, if
//! nothing comes between, is an event: flows end at the right time.

use super::days::Part;
use super::{Event, Tdma, Todo, NONE};
use lightloom_engine::{FlowId, Io, Time};

impl Tdma {
    /// The line whose circuit joins two racks now.
    fn lit(&self, from: u32, to: u32, now: Time) -> Option<usize> {
        let lines = (0..self.planes.len()).map(|plane| plane * self.racks as usize + from as usize);
        { lines }.find(|&at| self.lines[at].to == to && self.lines[at].window.until > now)
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
        let line = self.lit(from, to, now)?;
        self.settle_line(line, now, io, todo);
        Some(line)
    }

    /// That line, with what began before a time and waited for its circuit; what it sends
    /// to its relay is left.
    pub(super) fn sent_directly(
        &mut self,
        from: u32,
        to: u32,
        before: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) -> Option<usize> {
        let line = self.lit(from, to, before)?;
        self.send_before(line, before, io, todo);
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
        self.send_all_before(at, before, io, todo);
        let line = &mut self.lines[at];
        // It was idle, or what waits does not fit into its day.
        line.free = line.free.max(before.min(line.window.until));
    }

    fn send_all_before(&mut self, at: usize, before: Time, io: &mut Io, todo: &mut Todo) {
        self.send_before(at, before, io, todo);
        if self.relays.is_some() {
            self.detour(at, before, io, todo);
        }
    }

    fn send_before(&mut self, at: usize, before: Time, io: &mut Io, todo: &mut Todo) {
        if self.lines[at].to == NONE {
            return;
        }
        let part = Part {
            from: Time::ZERO,
            before,
        };
        if self.relays.is_some() {
            self.drain::<true>(at, part, io, todo);
        }
        self.drain::<false>(at, part, io, todo);
    }

    /// Sees to it that a line is looked at when the first of what waits for its circuit
    /// will have been sent, if nothing comes between; where servers take packets one by
    /// one, when the first packet begins.
    pub(super) fn arm(&mut self, at: usize, now: Time, todo: &mut Todo) {
        let line = &self.lines[at];
        let queue = self.voqs.of(at as u32 % self.racks, line.to);
        let wire = &self.setup.wire;
        let begins = line.free.max(now);
        let fits = |bytes: u64| wire.end(begins, bytes) <= line.window.until;
        let queues = [self.front::<true>(queue), self.front::<false>(queue)];
        // A packet that would be cut off does not begin, and lets others go before it.
        let mut first = queues.into_iter().flatten().map(|(_, bytes)| bytes);
        let Some(bytes) = first.find(|&bytes| fits(bytes.min(wire.packet))) else {
            return;
        };
        let due = match self.servers {
            None => wire.end(begins, bytes),
            Some(_) => begins,
        };
        if due <= line.window.until && due < self.due[at] {
            self.due[at] = due;
            todo.schedule(due, Event::Served(at as u32));
        }
    }

    /// What was first in a line's queues has been sent, or has been held up.
    pub(super) fn served(&mut self, at: usize, now: Time, io: &mut Io, todo: &mut Todo) {
        if self.due[at] != now {
            // Something came before.
            return;
        }
        self.due[at] = Time::NEVER;
        self.settle_line(at, now, io, todo);
        if self.servers.is_some() {
            // The packet that begins now, as well.
            self.send_all_before(at, now + Time(1), io, todo);
        }
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
