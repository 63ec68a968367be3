//! Slots: all switches step to their next matching at the same time, racks send direct traffic and
//! second hops, and RotorLB divides the remaining capacity.

use super::kernel::{Cx, Event, RotorNet};
use crate::tdma::circuits::Line;
use crate::tdma::rack_edge::Racks;
use crate::tdma::rotor::offers::Spare;
use crate::tdma::rotor::Part;
use lightloom_engine::Time;

impl RotorNet {
    /// Ends the slot and begins the next one.
    pub(super) fn begin_slot(&mut self, cx: Cx) {
        for line in 0..self.circuits.lines.len() {
            self.close_day(line, cx);
            self.bulk.drop_plans(line, self.circuits.lines[line].to);
        }
        let planes = 0..self.circuits.planes.len();
        planes.clone().for_each(|plane| self.gather(plane));
        planes.for_each(|plane| self.step_to_next_matching(plane, cx));
        match self.bulk.hosts {
            Some(_) => self.plan_for_hosts(cx),
            None => self.relay(cx),
        }
    }

    /// Counts the bytes of a flow that the day carried, if the flow continues in a later day.
    fn close_day(&mut self, line: usize, cx: Cx) {
        if let Some((landing, at)) = self.circuits.close_day(line, cx) {
            self.count(landing, at, cx.io);
        }
    }

    /// Moves the bytes that a switch carried to relays into the relays' queues. They have arrived,
    /// because all switches are dark for at least the propagation delay.
    fn gather(&mut self, plane: usize) {
        let crossed = self.bulk.take_crossed(plane, &mut self.circuits);
        let mut more = self.bulk.gather_at_hosts(plane, &mut self.circuits);
        for crossing in &crossed {
            self.bulk.join_relay(crossing);
        }
        if !crossed.is_empty() {
            self.bulk.recycle_crossed(plane, crossed);
            more = true;
        }
        if more {
            (0..self.circuits.racks).for_each(|rack| self.update_peak(rack));
        }
    }

    /// Changes a switch's circuits; racks then send the traffic that waits for them.
    fn step_to_next_matching(&mut self, plane: usize, cx: Cx) {
        let lines = self.circuits.lines_of(plane);
        let switch = &mut self.circuits.planes[plane];
        let begun = switch.turn(cx.now, self.night, |times| {
            times.first_light.min(times.ends)
        });
        let Some(begun) = begun else {
            return self.circuits.lines[lines].fill(Line::DARK);
        };
        if plane == 0 {
            cx.schedule(begun.times.ends, Event::Slot);
        }
        self.circuits.light_plane(plane, &begun);
        let slot = Part::rest(cx.now);
        for line in lines {
            if self.circuits.lines[line].is_lit() {
                self.bulk.serve(line, slot, &mut self.circuits, cx);
            }
        }
    }

    /// Uses the rest of the slot for first hops after all direct traffic is sent.
    fn relay(&mut self, cx: Cx) {
        let lines = 0..self.circuits.lines.len();
        let spare: Vec<Spare> = { lines }
            .filter_map(|line| self.bulk.spare(line, 0, &self.circuits))
            .collect();
        let grants = self.bulk.grants(&spare, Vec::new());
        for grant in &grants {
            self.bulk.plan_detour(grant, &self.circuits);
            let line = grant.line as usize;
            self.bulk
                .detour(line, Time::NEVER, &mut self.circuits, cx.io);
        }
        self.bulk.recycle_grants(grants);
    }

    /// Uses the rest of the slot for first hops, if circuits are divided among hosts.
    fn plan_for_hosts(&mut self, cx: Cx) {
        let lines = 0..self.circuits.lines.len();
        for circuit in self.bulk.plan_for_hosts(lines, &self.circuits) {
            let day = Part::rest(Time::ZERO);
            self.bulk
                .send_for_hosts(circuit.line, day, &mut self.circuits, cx);
        }
    }
}
