//! Bytes that leave over circuits: their arrival and how they are counted.

use super::burst::Burst;
use super::circuits::{Circuits, Open};
use super::context::Context;
use lightloom_engine::{FlowId, Io, PortId, Time};

/// Bytes that a circuit carried are at the rack of their destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landing {
    /// Number of bytes.
    pub bytes: u64,
    /// Their flow.
    pub flow: FlowId,
    /// Whether they come from a relay.
    pub relayed: bool,
}

/// A burst of a flow on a line.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The line.
    pub line: usize,
    /// The flow.
    pub flow: FlowId,
    /// The bytes that leave; `carried` of them arrive.
    pub burst: Burst,
    /// Time at which the first byte leaves.
    pub at: Time,
    /// Whether it leaves from a relay.
    pub relayed: bool,
}

impl Departure {
    #[inline(always)]
    fn landing(&self, bytes: u64) -> Landing {
        Landing {
            bytes,
            flow: self.flow,
            relayed: self.relayed,
        }
    }
}

/// The counting of the bytes of a burst, if servers' links have no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// The bytes count in pieces of one millisecond, not before this time.
    Pieces(Time),
    /// The bytes count at the end of the day, because the flow continues.
    Open,
}

impl Circuits {
    /// Sends the bytes of a burst that a circuit carries.
    pub fn send<E: Copy + From<Landing>>(
        &mut self,
        departure: &Departure,
        count: Count,
        cx: &mut Context<E>,
    ) {
        let bytes = departure.burst.carried;
        self.moving += bytes;
        self.packet_hops += self.wire.packets(bytes);
        self.record(departure, cx.io);
        if self.by_packet {
            return self.land_packets(departure, cx);
        }
        match count {
            Count::Pieces(known) => self.land_in_pieces(departure, known, cx),
            Count::Open => {
                self.lines[departure.line].open = Open {
                    flow: departure.flow,
                    from: self.wire.end(departure.at, departure.burst.early),
                    bytes,
                    counted: 0,
                    relayed: departure.relayed,
                };
            }
        }
    }

    /// Schedules the arrival of a burst packet by packet, because servers' links take packets one
    /// by one.
    fn land_packets<E: Copy + From<Landing>>(&self, departure: &Departure, cx: &mut Context<E>) {
        let burst = &departure.burst;
        for packet in self.wire.split(burst.early, burst.carried) {
            let bytes = packet.end - packet.start;
            cx.schedule(self.lands(departure, packet.end), departure.landing(bytes));
        }
    }

    /// Schedules the arrival of a burst as a whole, or in pieces of one millisecond if it takes
    /// longer; not before its size is `known`.
    #[inline(always)]
    fn land_in_pieces<E: Copy + From<Landing>>(
        &self,
        departure: &Departure,
        known: Time,
        cx: &mut Context<E>,
    ) {
        let (burst, mut sent) = (&departure.burst, 0);
        while sent < burst.carried {
            let piece = (burst.carried - sent).min(self.wire.whole_packets(Time::MS));
            sent += piece;
            let at = self.lands(departure, burst.early + sent).max(known);
            cx.schedule(at, departure.landing(piece));
        }
    }

    /// Time at which this number of bytes of a burst has arrived.
    #[inline(always)]
    fn lands(&self, departure: &Departure, sent: u64) -> Time {
        self.wire.end(departure.at, sent) + self.propagation
    }

    /// Records the packets of a burst that cross a circuit.
    #[inline]
    pub fn record(&self, departure: &Departure, io: &mut Io) {
        let Some(audit) = &mut io.audit else {
            return;
        };
        let (line, burst, wire) = (departure.line, &departure.burst, &self.wire);
        let rx = PortId(self.line(self.plane(line), self.lines[line].to) as u32);
        for packet in wire.split(burst.early, burst.carried) {
            let [from, until] = [packet.start, packet.end].map(|b| wire.end(departure.at, b));
            let bytes = packet.end - packet.start;
            audit.transmit(PortId(line as u32), rx, from, until, bytes);
        }
    }

    /// Returns the bytes of a line's open flow that have arrived before a time and are not counted:
    /// whole packets except the last one, which counts when the day ends, so that no flow ends
    /// here.
    pub fn count_open(&mut self, line: usize, before: Time) -> Option<Landing> {
        let wire = self.wire;
        let open = &mut self.lines[line].open;
        let span = before - Time(1) - self.propagation - open.from;
        if open.counted == open.bytes || span < Time::ZERO {
            return None;
        }
        let whole = wire.rate.bytes_in(span) / wire.packet * wire.packet;
        let most = open.bytes.saturating_sub(wire.packet);
        let bytes = whole.min(most).saturating_sub(open.counted);
        open.counted += bytes;
        (bytes > 0).then_some(Landing {
            bytes,
            flow: open.flow,
            relayed: open.relayed,
        })
    }

    /// Ends the day of a line. Returns the bytes of its open flow that have arrived and are not
    /// counted, with the time at which they count; those still in the fibre arrive later.
    pub fn close_day<E: Copy + From<Landing>>(
        &mut self,
        line: usize,
        cx: &mut Context<E>,
    ) -> Option<(Landing, Time)> {
        if self.propagation == Time::ZERO {
            return self.close(line).map(|landing| (landing, cx.now));
        }
        let arrived = self.count_open(line, cx.now);
        if let Some(landing) = self.close(line) {
            cx.schedule(cx.now + self.propagation, landing);
        }
        arrived.map(|landing| (landing, cx.now - Time(1)))
    }

    /// Ends the open flow of a line, and returns its bytes that are not counted.
    fn close(&mut self, line: usize) -> Option<Landing> {
        let open = std::mem::replace(&mut self.lines[line].open, Open::NONE);
        let bytes = open.bytes - open.counted;
        (bytes > 0).then_some(Landing {
            bytes,
            flow: open.flow,
            relayed: open.relayed,
        })
    }

    /// Counts bytes that have crossed their last circuit.
    #[inline]
    pub fn landed(&mut self, bytes: u64) {
        self.moving -= bytes;
        self.carried += bytes;
    }
}
