//! First hops: the capacity of a slot that direct traffic and second hops leave unused carries
//! bytes to relays.

use super::bulk::Bulk;
use super::offers::{Grant, Spare, Taken};
use super::relays::Crossing;
use super::sending::Part;
use crate::tdma::burst::Burst;
use crate::tdma::circuits::{Circuits, NONE};
use crate::tdma::sending::Departure;
use lightloom_engine::{FlowId, Io, Time};

impl Bulk {
    /// The capacity that a line's slot has left if `waits` bytes still wait for its circuit.
    pub fn spare(&self, at: usize, waits: u64, circuits: &Circuits) -> Option<Spare> {
        let line = &circuits.lines[at];
        let left = line.window.until - line.free;
        if line.to == NONE || left <= Time::ZERO {
            return None;
        }
        let bytes = circuits.wire.rate.bytes_in(left).saturating_sub(waits);
        (bytes > 0).then_some(Spare {
            line: at as u32,
            from: circuits.rack(at),
            relay: line.to,
            bytes,
        })
    }

    /// The bytes that lines may send to relays, without `taken` and without bytes that are already
    /// granted.
    pub fn grants(&mut self, spare: &[Spare], mut taken: Vec<Taken>) -> Vec<Grant> {
        let Some(relays) = &mut self.relays else {
            return Vec::new();
        };
        taken.extend(relays.promised());
        taken.sort_unstable();
        relays.grant(spare, &taken, &self.own)
    }

    /// Permits a line to send the granted bytes to its relay.
    pub fn plan_detour(&mut self, grant: &Grant, circuits: &Circuits) {
        if let Some(relays) = &mut self.relays {
            relays.plan(grant, circuits.lines[grant.line as usize].to);
        }
    }

    /// Takes back the list of grants, whose memory is used again.
    pub fn recycle_grants(&mut self, grants: Vec<Grant>) {
        if let Some(relays) = &mut self.relays {
            relays.recycle_grants(grants);
        }
    }

    /// Whether a line may still send bytes to its relay.
    pub fn has_detours(&self, line: usize) -> bool {
        { self.relays.as_ref() }.is_some_and(|relays| relays.planned(line).is_some())
    }

    /// Sends a rack's granted bytes to its relay, in packets that begin before a time.
    pub fn detour(&mut self, at: usize, before: Time, circuits: &mut Circuits, io: &mut Io) {
        let Some(relays) = &mut self.relays else {
            return;
        };
        let (line, wire, rack) = (circuits.lines[at], circuits.wire, circuits.rack(at));
        let (part, plane) = (Part::until(before), circuits.plane(at));
        let mut free = line.free;
        while free < line.window.until.min(before) {
            let Some(grant) = relays.planned(at) else {
                break;
            };
            let queue = self.own.of(rack, grant.to);
            let Some((flow, waits)) = self.own.front(queue) else {
                relays.drop_grant(at, line.to);
                continue;
            };
            let room = wire.rate.bytes_in(line.window.until - free);
            let begun = part.begun(&wire, free, waits.min(grant.bytes));
            let carried = wire.fitting(begun, room);
            if carried == 0 {
                relays.drop_grant(at, line.to);
                continue;
            }
            relays.use_grant(at, carried);
            let crossing = Crossing {
                relay: line.to,
                to: grant.to,
                flow,
                bytes: carried,
            };
            relays.cross(plane, crossing);
            self.crossed_count.begin(plane, free, carried);
            self.own.take(queue, carried);
            io.start(flow, free);
            circuits.cross(at, flow, free, carried, io);
            free = wire.end(free, carried);
        }
        circuits.lines[at].free = free;
    }

    /// Ends the slot of a plane: all bytes that it carried to relays have arrived. Returns the
    /// bytes that join their queues.
    pub fn take_crossed(&mut self, plane: usize, circuits: &mut Circuits) -> Vec<Crossing> {
        circuits.carried += self.crossed_count.end(plane);
        let crossed =
            { self.relays.as_mut() }.map_or(Vec::new(), |relays| relays.take_crossed(plane));
        circuits.moving -= crossed.iter().map(|crossing| crossing.bytes).sum::<u64>();
        crossed
    }

    /// Adds bytes to the queue of their relay.
    pub fn join_relay(&mut self, crossing: &Crossing) {
        if let Some(relays) = &mut self.relays {
            relays.join(crossing);
        }
    }

    /// Returns the list of crossed bytes, empty, so that its memory is used again.
    pub fn recycle_crossed(&mut self, plane: usize, crossed: Vec<Crossing>) {
        if let Some(relays) = &mut self.relays {
            relays.recycle_crossed(plane, crossed);
        }
    }
}

impl Circuits {
    /// Sends bytes of a flow to a relay.
    pub(super) fn cross(&mut self, line: usize, flow: FlowId, at: Time, bytes: u64, io: &mut Io) {
        self.moving += bytes;
        self.packet_hops += self.wire.packets(bytes);
        let departure = Departure {
            line,
            flow,
            burst: Burst::carried(bytes),
            at,
            relayed: false,
        };
        self.record(&departure, io);
    }
}
