//! Inputs of the controller, and the schedules that it requests.

use super::control::Asked;
use super::kernel::{Cx, Event, Mordia, RING};
use crate::tdma::voq::Voqs;
use lightloom_control::controller::Input;
use lightloom_control::demand::{Queue, Report};
use lightloom_engine::{Agenda, Time};
use std::sync::Arc;

impl Mordia {
    /// Passes an input to the controller and carries out its actions.
    pub(super) fn tell(&mut self, input: Input, cx: Cx) {
        let Some(control) = &mut self.control else {
            return;
        };
        let voqs = &self.voqs;
        let mut asked = control.tell(cx.now, input, &mut || report(voqs));
        // A decision without computation delay is in force before a night at the same instant.
        let due = asked.wakes.len();
        asked.wakes.retain(|&at| at > cx.now);
        let at_once = asked.wakes.len() < due;
        let computes = asked.wakes.len() > 1;
        let is_new = asked.follow.is_some() || (asked.measured && !computes && !at_once);
        self.ask(asked, cx.now, cx.agenda);
        if at_once {
            return self.tell(Input::Tick, cx);
        }
        if is_new {
            self.allow_residual(cx);
        }
    }

    /// Schedules the actions that the controller requested.
    pub(super) fn ask(&mut self, asked: Asked, now: Time, agenda: &mut Agenda<Event>) {
        for at in asked.wakes {
            agenda.schedule(at.max(now), Event::Wake);
        }
        let Some(schedule) = asked.follow.map(Arc::new) else {
            return;
        };
        let ring = &mut self.circuits.planes[RING];
        ring.next = Some(schedule);
        if !ring.has_next_night {
            ring.has_next_night = true;
            agenda.schedule(now, Event::Night);
        }
    }

    /// Allows the demand that the schedule does not serve to cross the packet switch.
    fn allow_residual(&mut self, cx: Cx) {
        let (Some(switch), Some(control)) = (&mut self.packet_switch, &self.control) else {
            return;
        };
        let (seen, schedule) = control.decided();
        switch.allow(seen, &self.voqs, schedule, self.circuits.wire.rate);
        for rack in 0..self.circuits.racks {
            self.serve_packet_switch(rack, cx);
        }
    }
}

/// The bytes that racks have for each other.
fn report(voqs: &Voqs) -> Report {
    let queue = |(from, to, bytes)| Queue { from, to, bytes };
    Report {
        queues: voqs.entries().map(queue).collect(),
    }
}
