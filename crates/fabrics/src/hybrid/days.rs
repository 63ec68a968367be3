//! The position in a schedule that the switch follows by itself.

use lightloom_control::circuits::Circuits;
use lightloom_control::schedule::Schedule;
use lightloom_engine::Time;

/// The schedule that is followed, if any.
#[derive(Clone, Debug, Default)]
pub struct Followed {
    days: Option<Days>,
    /// The number of schedules so far: events of earlier schedules are void.
    number: u32,
}

impl Followed {
    /// Follows a schedule from now on. Returns its number.
    pub fn follow(&mut self, schedule: Schedule) -> u32 {
        self.number += 1;
        self.days = Some(Days {
            schedule,
            slot: 0,
            dusk: Time::ZERO,
        });
        self.number
    }

    /// The schedule.
    pub fn schedule(&self) -> Option<&Schedule> {
        self.days.as_ref().map(|days| &days.schedule)
    }

    /// Whether the schedule of that number is followed.
    pub fn is(&self, number: u32) -> bool {
        self.number == number
    }

    /// The days of the schedule of that number, if it is followed and has slots.
    pub fn days(&mut self, number: u32) -> Option<&mut Days> {
        let days = self.days.as_mut().filter(|d| !d.schedule.slots.is_empty());
        days.filter(|_| self.number == number)
    }
}

/// A schedule that repeats without end, starting with a night.
#[derive(Clone, Debug)]
pub struct Days {
    schedule: Schedule,
    slot: usize,
    /// End of the day, according to the schedule.
    dusk: Time,
}

impl Days {
    /// Darkness before each day.
    pub fn night(&self) -> Time {
        self.schedule.night
    }

    /// Begins the day; returns its circuits and its end.
    pub fn begin(&mut self, now: Time) -> (Circuits, Time) {
        let slot = &self.schedule.slots[self.slot];
        let pairs = slot.circuits().map(|(a, b)| (a as u32, b as u32));
        self.slot = (self.slot + 1) % self.schedule.slots.len();
        self.dusk = now + slot.day;
        (Circuits::one_way(pairs), self.dusk)
    }

    /// Whether a flow that ends at `at`, after the day, still counts as ending in it: days are
    /// planned to the byte for the flows that they carry, but the end of each flow is rounded to a
    /// picosecond.
    pub fn covers(&self, at: Time) -> bool {
        at <= self.dusk + Time::NS
    }
}
