//! What the controller is told, and what it asks for.

use super::{Event, Tdma, Todo};
use crate::tdma::control::Asked;
use crate::tdma::voq::Voqs;
use lightloom_control::controller::Input;
use lightloom_control::demand::{Queue, Report};
use lightloom_engine::{Io, Time};
use std::sync::Arc;

impl Tdma {
    pub(super) fn tell(&mut self, input: Input, now: Time, io: &mut Io, todo: &mut Todo) {
        let Some(control) = &mut self.setup.control else {
            return;
        };
        let voqs = &self.voqs;
        let mut asked = control.tell(now, input, &mut || report(voqs));
        // A decision that takes no time is in force before the night that is due now.
        let due = asked.wakes.len();
        asked.wakes.retain(|&at| at > now);
        let at_once = asked.wakes.len() < due;
        let computes = asked.wakes.len() > 1;
        let is_new = asked.follow.is_some() || (asked.measured && !computes && !at_once);
        self.ask(asked, now, todo);
        if at_once {
            return self.tell(Input::Tick, now, io, todo);
        }
        if is_new {
            self.allow(now, io, todo);
        }
    }

    pub(super) fn ask(&mut self, asked: Asked, now: Time, todo: &mut Todo) {
        for at in asked.wakes {
            todo.schedule(at.max(now), Event::Wake);
        }
        let Some(schedule) = asked.follow.map(Arc::new) else {
            return;
        };
        for (number, plane) in self.planes.iter_mut().enumerate() {
            plane.next = Some(schedule.clone());
            if !plane.turns {
                plane.turns = true;
                todo.schedule(now, Event::Night(number as u16));
            }
        }
    }

    /// What the schedule leaves may cross the packet switch.
    pub(super) fn allow(&mut self, now: Time, io: &mut Io, todo: &mut Todo) {
        let (Some(packets), Some(control)) = (&mut self.packets, &self.setup.control) else {
            return;
        };
        let (seen, schedule) = control.decided();
        let (voqs, rate) = (&self.voqs, self.setup.wire.rate);
        packets.allow(seen, voqs, schedule, rate);
        for rack in 0..self.racks {
            self.spill(rack, now, io, todo);
        }
    }
}

/// What racks have for each other.
fn report(voqs: &Voqs) -> Report {
    let queue = |(from, to, bytes)| Queue { from, to, bytes };
    Report {
        queues: voqs.entries().map(queue).collect(),
    }
}
