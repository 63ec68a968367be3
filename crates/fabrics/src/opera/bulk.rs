//! Bulk traffic waits for its direct circuit, which costs no extra bandwidth; with RotorLB it also
//! takes two hops if circuits have spare capacity.

use super::kernel::{Cx, Opera};
use crate::tdma::rack_edge::Racks;
use crate::tdma::rotor::offers::{Spare, Taken};
use crate::tdma::rotor::relays::Crossing;
use lightloom_engine::{FlowId, Time};
use std::ops::Range;

impl Opera {
    /// Adds bulk bytes of a flow to the queue for its destination rack.
    pub(super) fn queue_bulk(&mut self, flow: FlowId, bytes: u64, cx: Cx) {
        if self.bulk.join_host(flow, bytes, cx.io) {
            return;
        }
        let (from, to) = self.edge.ends(flow, cx.io);
        let line = self.advance_direct_line(from, to, cx);
        self.advance_detours(from, cx);
        self.bulk.own.push(self.bulk.own.of(from, to), flow, bytes);
        if let Some(line) = line {
            self.schedule_bulk(line, cx.now, cx);
        }
    }

    /// Sends the bytes that a rack had for relays until now, before new bytes join the queues.
    fn advance_detours(&mut self, rack: u32, cx: Cx) {
        for switch in 0..self.circuits.planes.len() {
            let line = self.circuits.line(switch, rack);
            if self.bulk.has_detours(line) {
                self.advance_line(line, cx.now, cx);
            }
        }
    }

    /// Adds the bytes that a switch carried to relays to the relays' queues.
    pub(super) fn gather(&mut self, switch: usize, cx: Cx) {
        let crossed = self.bulk.take_crossed(switch, &mut self.circuits);
        let mut more = self.bulk.gather_at_hosts(switch, &mut self.circuits);
        for crossing in &crossed {
            self.queue_at_relay(crossing, cx);
        }
        if !crossed.is_empty() {
            self.bulk.recycle_crossed(switch, crossed);
            more = true;
        }
        if more {
            (0..self.circuits.racks).for_each(|rack| self.update_peak(rack));
        }
    }

    /// Adds bytes to the queue of their relay, which sends them at once if its circuit is idle.
    fn queue_at_relay(&mut self, crossing: &Crossing, cx: Cx) {
        let line = self.advance_direct_line(crossing.relay, crossing.to, cx);
        self.bulk.join_relay(crossing);
        if let Some(line) = line {
            self.schedule_bulk(line, cx.now, cx);
        }
    }

    /// RotorLB: grants two-hop bulk traffic the capacity that direct bulk traffic will leave on new
    /// circuits.
    pub(super) fn plan_detours(&mut self, lines: Range<usize>, cx: Cx) {
        if self.bulk.relays.is_none() {
            return;
        }
        let spare: Vec<Spare> = { lines }
            .filter(|&line| self.circuits.lines[line].is_lit())
            .filter_map(|line| self.bulk.spare(line, self.direct(line), &self.circuits))
            .collect();
        let taken = self.direct_rests(cx.now);
        let grants = self.bulk.grants(&spare, taken);
        for grant in &grants {
            self.bulk.plan_detour(grant, &self.circuits);
        }
        self.bulk.recycle_grants(grants);
        self.update_contested(cx);
    }

    /// Bytes at the rack of a line that wait for its circuit, both from sources and as relayed
    /// bytes.
    fn direct(&self, line: usize) -> u64 {
        let to = self.circuits.lines[line].to;
        let queue = self.bulk.own.of(self.circuits.rack(line), to);
        let relays = self.bulk.relays.as_ref();
        self.bulk.own.waiting(queue) + relays.map_or(0, |r| r.queues.waiting(queue))
    }

    /// The bytes that may still go directly over lit circuits.
    fn direct_rests(&self, now: Time) -> Vec<Taken> {
        let lines = self.circuits.lines.iter().enumerate();
        let lit = lines.filter(|(_, line)| line.is_lit() && line.window.until > now);
        { lit }
            .map(|(number, line)| {
                let rest = line.window.until - line.free.max(now);
                Taken {
                    from: self.circuits.rack(number),
                    to: line.to,
                    bytes: self.circuits.wire.rate.bytes_in(rest),
                }
            })
            .collect()
    }

    /// RotorLB per host: decides the traffic of new circuits until they change.
    pub(super) fn plan_for_hosts(&mut self, lines: Range<usize>, cx: Cx) {
        for circuit in self.bulk.plan_for_hosts(lines, &self.circuits) {
            self.schedule_bulk(circuit.line, cx.now, cx);
        }
    }
}
