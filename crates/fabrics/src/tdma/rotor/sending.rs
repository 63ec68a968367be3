//! Direct traffic and second hops: the bytes that a circuit sends from two queues, in bursts,
//! without an event for each packet.

use super::bulk::Bulk;
use crate::tdma::burst::{Burst, Wire};
use crate::tdma::circuits::{Circuits, Line};
use crate::tdma::context::Context;
use crate::tdma::sending::{Count, Departure, Landing};
use lightloom_engine::{FlowId, Time};

/// The part of a day in which packets begin: [`from`, `before`), after the line is free.
///
/// [`from`]: Part::from
/// [`before`]: Part::before
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Start of the part.
    pub from: Time,
    /// End of the part; [`Time::NEVER`] is the end of the day.
    pub before: Time,
}

impl Part {
    /// The rest of a day from a time on.
    pub fn rest(from: Time) -> Part {
        let before = Time::NEVER;
        Part { from, before }
    }

    /// The part of a day before a time.
    pub fn until(before: Time) -> Part {
        let from = Time::ZERO;
        Part { from, before }
    }

    /// The part of `bytes`, which could begin at `at`, whose packets begin in time.
    #[inline]
    pub(super) fn begun(&self, wire: &Wire, at: Time, bytes: u64) -> u64 {
        match self.before {
            Time::NEVER => bytes,
            before => bytes.min(wire.begun(at, before)),
        }
    }

    /// The counting of the bytes of a flow that leave in this part; `all` if these are all bytes
    /// that wait together. A day that is interrupted ends up to a packet before its night.
    fn count(&self, all: bool) -> Count {
        match (all, self.before) {
            (true, _) => Count::Pieces(Time::ZERO),
            (false, Time::NEVER) => Count::Open,
            (false, before) => Count::Pieces(before),
        }
    }
}

/// Bytes of whole packets that fit into the rest of a line's day.
#[inline]
fn fitting(wire: &Wire, line: &Line, at: Time, bytes: u64) -> u64 {
    match at == line.window.from {
        true => wire.fitting(bytes, line.room),
        false => wire.fitting(bytes, wire.rate.bytes_in(line.window.until - at)),
    }
}

impl Bulk {
    /// Sends the traffic that waits for a line's circuit, second hops first, up to the end of a
    /// part of the day.
    #[inline]
    pub fn serve<E: Copy + From<Landing>>(
        &mut self,
        at: usize,
        part: Part,
        circuits: &mut Circuits,
        cx: &mut Context<E>,
    ) {
        if self.relays.is_some() {
            self.drain::<true, E>(at, part, circuits, cx);
        }
        self.drain::<false, E>(at, part, circuits, cx);
    }

    #[inline]
    fn drain<const RELAYED: bool, E: Copy + From<Landing>>(
        &mut self,
        at: usize,
        part: Part,
        circuits: &mut Circuits,
        cx: &mut Context<E>,
    ) {
        let (line, wire, rack) = (circuits.lines[at], circuits.wire, circuits.rack(at));
        let queue = self.own.of(rack, line.to);
        let mut free = line.free.max(part.from);
        while let Some((flow, left)) = self.front::<RELAYED>(queue) {
            if free >= line.window.until || free >= part.before {
                break;
            }
            let begun = part.begun(&wire, free, left);
            let carried = fitting(&wire, &line, free, begun);
            if carried == 0 {
                // The next packet would be cut off.
                break;
            }
            self.take::<RELAYED>(rack, queue, carried);
            cx.io.start(flow, free);
            let departure = Departure {
                line: at,
                flow,
                burst: Burst::carried(carried),
                at: free,
                relayed: RELAYED,
            };
            circuits.send(&departure, part.count(carried == left), cx);
            if carried < begun {
                free = match part.before {
                    Time::NEVER => line.window.until,
                    // Shorter packets may leave before the next one.
                    _ => wire.end(free, carried),
                };
                break;
            }
            free = wire.end(free, carried);
        }
        circuits.lines[at].free = free;
    }

    /// The first flow in one of the two queues, and the bytes of it that wait together.
    #[inline]
    pub fn front<const RELAYED: bool>(&self, queue: usize) -> Option<(FlowId, u64)> {
        match RELAYED {
            true => self.relays.as_ref()?.queues.front(queue),
            false => self.own.front(queue),
        }
    }

    #[inline]
    fn take<const RELAYED: bool>(&mut self, rack: u32, queue: usize, bytes: u64) {
        match (&mut self.relays, RELAYED) {
            (Some(relays), true) => relays.take(rack, queue, bytes),
            _ => self.own.take(queue, bytes),
        }
    }
}
