//! The queueing discipline: the packets that a rack sends in its day, and those that are lost
//! (§5.2.1, §6.2).

use super::kernel::{Cx, Event, Mordia};
use crate::tdma::burst::Burst;
use crate::tdma::circuits::Line;
use crate::tdma::sending::{Count, Departure};
use lightloom_engine::Time;

impl Mordia {
    /// Sends queued bytes over a circuit and removes them from the allowance of the packet switch.
    pub(super) fn serve_line(&mut self, line: usize, from: Time, cx: Cx) {
        if self.packet_switch.is_none() {
            return self.drain(line, from, cx);
        }
        let pair = self
            .voqs
            .of(self.circuits.rack(line), self.circuits.lines[line].to);
        let waiting = self.voqs.waiting(pair);
        if let Some(switch) = &mut self.packet_switch {
            switch.begin_taking(waiting);
        }
        self.drain(line, from, cx);
        let left = self.voqs.waiting(pair);
        if let Some(switch) = &mut self.packet_switch {
            switch.take_seen(pair, waiting - left);
        }
    }

    /// Sends bytes of a line's queue, from a time on, up to the end of the day.
    #[inline]
    fn drain(&mut self, at: usize, from: Time, cx: Cx) {
        let (line, wire) = (self.circuits.lines[at], self.circuits.wire);
        let queue = self.voqs.of(self.circuits.rack(at), line.to);
        let mut free = line.free.max(from);
        while let Some((flow, left)) = self.voqs.front(queue) {
            if free >= line.window.until {
                break;
            }
            let burst = self.burst(&line, free, left);
            let sent = burst.sent();
            if sent == 0 {
                // The next packet does not fit into the day.
                break;
            }
            self.voqs.take(queue, sent);
            cx.io.start(flow, free);
            let departure = Departure {
                line: at,
                flow,
                burst,
                at: free,
                relayed: false,
            };
            self.send(&departure, sent == left, cx);
            if sent < left {
                free = line.window.until;
                break;
            }
            free = wire.end(free, sent);
        }
        self.circuits.lines[at].free = free;
    }

    #[inline]
    fn burst(&self, line: &Line, at: Time, bytes: u64) -> Burst {
        let wire = &self.circuits.wire;
        if at == line.window.from && line.window.is_lit() {
            return Burst::carried(wire.fitting(bytes, line.room));
        }
        wire.burst(&line.window, at, bytes)
    }

    /// Sends a burst; `all` if no bytes of its entry remain in the queue.
    #[inline]
    fn send(&mut self, departure: &Departure, all: bool, cx: Cx) {
        let burst = &departure.burst;
        if burst.early + burst.late > 0 {
            self.retransmit(departure, cx);
        }
        if burst.carried > 0 {
            let count = match all {
                true => Count::Pieces(Time::ZERO),
                false => Count::Open,
            };
            self.circuits.send(departure, count, cx);
        }
    }

    /// Schedules the retransmission of the packets of a burst that were lost at the ends of the
    /// day.
    fn retransmit(&mut self, departure: &Departure, cx: Cx) {
        let (burst, wire) = (&departure.burst, self.circuits.wire);
        let line = &self.circuits.lines[departure.line];
        let pair = self.voqs.of(self.circuits.rack(departure.line), line.to);
        if let Some(switch) = &mut self.packet_switch {
            switch.lose(pair, burst, self.voqs.waiting(pair));
        }
        let packets = wire.packets(burst.early) + wire.packets(burst.late);
        let again = line.window.dark + self.retransmit_after;
        let left = wire.end(departure.at, burst.sent());
        cx.schedule(left, Event::Lost(packets as u32));
        // Not before the last byte of the burst has left.
        let (flow, bytes) = (departure.flow, burst.early + burst.late);
        self.circuits.moving += bytes;
        cx.schedule(again.max(left), Event::Again { flow, bytes });
    }
}
