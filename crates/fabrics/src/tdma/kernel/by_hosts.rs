//! What is sent where RotorLB divides circuits among hosts.

use super::sending::Part;
use super::{Line, Tdma, Todo, NONE};
use crate::tdma::burst::Burst;
use crate::tdma::per_host::{Circuit, Planned, Way};
use lightloom_engine::{Io, Time};
use std::ops::Range;

impl Tdma {
    /// The bytes that a plane carried to relays arrive there.
    pub(super) fn gather_at_hosts(&mut self, plane: u16) {
        let Some(hosts) = &mut self.hosts else {
            return;
        };
        let bytes = hosts.gather(plane as usize);
        self.moving -= bytes;
        if bytes > 0 {
            (0..self.racks).for_each(|rack| self.queue_grew(rack));
        }
    }

    /// Planes have turned: what their circuits carry until they turn again is decided.
    pub(super) fn plan_by_hosts(
        &mut self,
        planes: Range<u16>,
        now: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        let circuits: Vec<Circuit> = { self.lines_of(planes.clone()) }
            .filter_map(|line| self.circuit(line))
            .collect();
        if let Some(hosts) = &mut self.hosts {
            hosts.plan(&circuits);
        }
        for circuit in circuits {
            match self.low_latency {
                Some(_) => self.arm(circuit.line, now, todo),
                None => {
                    let day = Part {
                        from: Time::ZERO,
                        before: Time::NEVER,
                    };
                    self.send_for_hosts(circuit.line, day, io, todo);
                }
            }
        }
    }

    /// The circuit of a line, with what it carries in this slot.
    fn circuit(&self, line: usize) -> Option<Circuit> {
        let Line {
            to, free, window, ..
        } = self.lines[line];
        let left = window.until - free;
        (to != NONE && left > Time::ZERO).then(|| Circuit {
            line,
            from: line as u32 % self.racks,
            to,
            bytes: self.setup.wire.rate.bytes_in(left),
        })
    }

    /// Sends what is planned for a line in a part of the day. The line sends no more in this slot
    /// once low-latency packets have left too little time for its next packet.
    pub(super) fn send_for_hosts(&mut self, at: usize, part: Part, io: &mut Io, todo: &mut Todo) {
        let (line, wire) = (self.lines[at], self.setup.wire);
        let mut free = line.free.max(part.from);
        while free < line.window.until && free < part.before {
            let Some(next) = self.hosts.as_ref().and_then(|hosts| hosts.next(at)) else {
                break;
            };
            let begun = part.begun(&wire, free, next.bytes);
            let bytes = wire.fitting(begun, wire.rate.bytes_in(line.window.until - free));
            if bytes == 0 {
                break;
            }
            if let Some(hosts) = &mut self.hosts {
                hosts.send(at, bytes);
            }
            io.start(next.flow, free);
            self.send_planned(at, Planned { bytes, ..next }, part, free, io, todo);
            free = wire.end(free, bytes);
        }
        self.lines[at].free = free;
    }

    fn send_planned(
        &mut self,
        at: usize,
        planned: Planned,
        part: Part,
        free: Time,
        io: &mut Io,
        todo: &mut Todo,
    ) {
        let Planned { flow, bytes, .. } = planned;
        let burst = Burst {
            carried: bytes,
            ..Burst::default()
        };
        // A part counts when its last byte has landed, also if the flow continues after the day.
        let all = part.before == Time::NEVER;
        match planned.way {
            Way::Direct => self.send::<false>(at, flow, burst, all, part, free, io, todo),
            Way::Second => self.send::<true>(at, flow, burst, all, part, free, io, todo),
            Way::First { .. } => {
                self.moving += bytes;
                self.packet_hops += self.setup.wire.packets(bytes);
                self.write_down(at, &burst, free, io);
                let plane = at / self.racks as usize;
                self.crossings.begin(plane, free, bytes);
                if let Some(hosts) = &mut self.hosts {
                    hosts.cross(plane, planned);
                }
            }
        }
    }
}
