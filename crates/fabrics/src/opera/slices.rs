//! Topology slices and offset reconfiguration: in each slice one switch reconfigures while the
//! circuits of all others stay lit. After each reconfiguration RotorLB divides the new circuits
//! among bulk traffic.

use super::kernel::{Cx, Event, Opera};
use crate::tdma::circuits::Line;
use lightloom_engine::Time;
use std::ops::Range;

impl Opera {
    /// Starts the run when the last switch becomes lit; all others are in the middle of their
    /// slots.
    pub(super) fn start(&mut self, cx: Cx) {
        for switch in 0..self.circuits.planes.len() {
            self.begin_slot(switch, self.ahead[switch], cx);
        }
        self.divide_circuits(0..self.circuits.lines.len(), cx);
    }

    /// Handles the last part of a slice: the night of a switch begins, and with it the next slot of
    /// that switch.
    pub(super) fn reconfigure(&mut self, switch: usize, cx: Cx) {
        let relays = self.bulk.relays_traffic();
        if relays {
            // First send all bytes that leave before now, so that RotorLB does not count them as
            // waiting.
            (0..self.circuits.lines.len()).for_each(|line| self.advance_line(line, cx.now, cx));
        }
        let lines = self.circuits.lines_of(switch);
        for line in lines.clone() {
            self.end_day(line, cx);
            self.bulk.drop_plans(line, self.circuits.lines[line].to);
        }
        if relays {
            let at = cx.now + self.circuits.propagation;
            cx.schedule(at, Event::Relayed(switch as u16));
        }
        self.begin_slot(switch, Time::ZERO, cx);
        self.divide_circuits(lines, cx);
    }

    /// Begins the next slot of a switch, which started `ago` before.
    fn begin_slot(&mut self, switch: usize, ago: Time, cx: Cx) {
        let lines = self.circuits.lines_of(switch);
        let plane = &mut self.circuits.planes[switch];
        let begun = plane.turn(cx.now - ago, self.night, |times| {
            times.first_light.min(times.ends)
        });
        let Some(begun) = begun else {
            return self.circuits.lines[lines].fill(Line::DARK);
        };
        cx.schedule(begun.times.ends, Event::Reconfigures(switch as u16));
        self.circuits.light_plane(switch, &begun);
        for line in lines {
            if self.circuits.lines[line].is_lit() {
                self.schedule_bulk(line, cx.now, cx);
            }
        }
    }

    /// RotorLB: grants bulk traffic for other racks the capacity that direct bulk leaves on new
    /// circuits.
    fn divide_circuits(&mut self, lines: Range<usize>, cx: Cx) {
        match self.bulk.hosts {
            Some(_) => self.plan_for_hosts(lines, cx),
            None => self.plan_detours(lines, cx),
        }
    }

    /// Determines the circuits that low-latency packets may cross, and the time at which these
    /// change. A switch takes no low-latency packet in the slice in which it reconfigures, so that
    /// none is lost in its night.
    pub(super) fn update_expander(&mut self, now: Time) {
        if now < self.low_latency.expander.until() {
            return;
        }
        let drain = self.low_latency.law.drain;
        let following = self.circuits.planes.iter();
        let following = following.filter(|plane| plane.has_next_night);
        let changes = following.map(|plane| {
            let (light, night) = (plane.lit.start, plane.lit.end);
            let times = [light, night - drain, night];
            // A switch whose night is due now reconfigures at this same instant.
            times.into_iter().find(|&at| at > now).unwrap_or(now)
        });
        let until = changes.min().unwrap_or(Time::NEVER);
        let expander = &mut self.low_latency.expander;
        expander.replace_circuits(until);
        let racks = self.circuits.racks as usize;
        let lines = self.circuits.lines.chunks_exact(racks);
        let mut permutation = Vec::with_capacity(racks);
        for ((number, plane), lines) in (0..).zip(&self.circuits.planes).zip(lines) {
            let (light, night) = (plane.lit.start, plane.lit.end);
            if light <= now && now < night - drain {
                let to = |(rack, line): (u32, &Line)| if line.is_lit() { line.to } else { rack };
                permutation.clear();
                permutation.extend((0..).zip(lines).map(to));
                expander.add_plane(number, &permutation);
            }
        }
    }
}
