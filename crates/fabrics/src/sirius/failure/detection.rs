//! The times at which nodes learn of a failure or a repair (Sirius §4.5).

use super::faults::{Delays, Event, Faults, Part};
use crate::sirius::schedule::reschedule::Schedules;

impl Faults {
    /// `part` loses cells with probability `loss` from now, in `epoch`, on; 0 for a repair. A
    /// failure of a dead part and a repair of a working part have no effect.
    pub fn set(&mut self, part: Part, loss: f64, epoch: i64, schedules: &Schedules) {
        let Delays {
            detection: k,
            lag,
            reschedule,
        } = self.delays;
        let known_from = epoch + k + 2 * lag - 1;
        let b = self.of(part, schedules);
        let was = std::mem::replace(&mut b.loss, loss);
        let (dies, heard) = (loss >= 1.0 && was < 1.0, loss < 1.0 && was >= 1.0);
        let (known, noticed) = (b.known, b.known_from < epoch + 2 * lag);
        if dies {
            b.known_from = known_from;
            self.events.push((known_from, Event::Declare(part)));
        }
        let node = matches!(part, Part::Node(_));
        if heard && (known || noticed) {
            let agreed = epoch + 2 * lag + if node && reschedule { lag } else { 0 };
            self.events.push((agreed, Event::Withdraw(part)));
        } else if heard {
            self.events.retain(|e| e.1 != Event::Declare(part));
        }
        if let Part::Node(n) = part {
            self.dead[n.index()] = loss >= 1.0;
        }
    }

    /// Takes the next event that is due.
    pub fn due(&mut self, epoch: i64) -> Option<Event> {
        // The earliest event comes first; events of one epoch are in order of their causes.
        let first = self.events.iter().map(|e| e.0).min()?;
        let at = self.events.iter().position(|e| e.0 == first)?;
        (first <= epoch).then(|| self.events.remove(at).1)
    }

    /// All nodes begin, or stop, to act on the failure of a part.
    pub fn declare(&mut self, part: Part, known: bool, epoch: i64, schedules: &Schedules) {
        self.of(part, schedules).known = known;
        if let Part::Node(n) = part {
            self.known[n.index()] = known;
            if self.delays.reschedule {
                let wait = if known { self.delays.lag } else { 0 };
                self.events.push((epoch + wait, Event::Reschedule));
            }
        }
    }
}
