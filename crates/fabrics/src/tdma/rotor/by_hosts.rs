//! Sending of bulk traffic if RotorLB divides circuits among hosts.

use super::bulk::Bulk;
use super::per_host::{Circuit, Planned, Way};
use super::sending::Part;
use crate::tdma::burst::Burst;
use crate::tdma::circuits::{Circuits, Line, NONE};
use crate::tdma::context::Context;
use crate::tdma::sending::{Count, Departure, Landing};
use lightloom_engine::Time;
use std::ops::Range;

impl Bulk {
    /// Ends the slot of a plane: the bytes that it carried to relays are at their hosts. Returns
    /// whether it carried any.
    pub fn gather_at_hosts(&mut self, plane: usize, circuits: &mut Circuits) -> bool {
        let bytes = { self.hosts.as_mut() }.map_or(0, |hosts| hosts.move_to_relays(plane));
        circuits.moving -= bytes;
        bytes > 0
    }

    /// Decides, after planes have changed, the traffic of their circuits until they change again.
    /// Returns the circuits.
    pub fn plan_for_hosts(&mut self, lines: Range<usize>, circuits: &Circuits) -> Vec<Circuit> {
        let new: Vec<Circuit> = lines.filter_map(|line| circuits.circuit(line)).collect();
        if let Some(hosts) = &mut self.hosts {
            hosts.plan(&new);
        }
        new
    }

    /// Sends the planned traffic of a line in a part of the day. If low-latency packets leave too
    /// little time for its next packet, the line sends no more in this slot.
    pub fn send_for_hosts<E: Copy + From<Landing>>(
        &mut self,
        at: usize,
        part: Part,
        circuits: &mut Circuits,
        cx: &mut Context<E>,
    ) {
        let Some(hosts) = &mut self.hosts else {
            return;
        };
        let (line, wire) = (circuits.lines[at], circuits.wire);
        let plane = circuits.plane(at);
        let mut free = line.free.max(part.from);
        while free < line.window.until && free < part.before {
            let Some(next) = hosts.next(at) else {
                break;
            };
            let begun = part.begun(&wire, free, next.bytes);
            let bytes = wire.fitting(begun, wire.rate.bytes_in(line.window.until - free));
            if bytes == 0 {
                break;
            }
            hosts.send(at, bytes);
            cx.io.start(next.flow, free);
            if matches!(next.way, Way::First { .. }) {
                circuits.cross(at, next.flow, free, bytes, cx.io);
                self.crossed_count.begin(plane, free, bytes);
                hosts.cross(plane, Planned { bytes, ..next });
            } else {
                let departure = Departure {
                    line: at,
                    flow: next.flow,
                    burst: Burst::carried(bytes),
                    at: free,
                    relayed: next.way == Way::Second,
                };
                circuits.send(&departure, count(&part), cx);
            }
            free = wire.end(free, bytes);
        }
        circuits.lines[at].free = free;
    }
}

/// A part counts when its last byte has arrived, also if the flow continues after the day.
fn count(part: &Part) -> Count {
    Count::Pieces(match part.before {
        Time::NEVER => Time::ZERO,
        before => before,
    })
}

impl Circuits {
    /// The circuit of a line, with its capacity in this slot.
    fn circuit(&self, line: usize) -> Option<Circuit> {
        let Line {
            to, free, window, ..
        } = self.lines[line];
        let left = window.until - free;
        (to != NONE && left > Time::ZERO).then(|| Circuit {
            line,
            from: self.rack(line),
            to,
            bytes: self.wire.rate.bytes_in(left),
        })
    }
}
