//! A schedule that the switch follows by itself: which of its days it is.

use lightloom_control::circuits::Circuits;
use lightloom_control::schedule::Schedule;
use lightloom_engine::Time;

/// A schedule that is repeated for ever, from a night on.
#[derive(Clone, Debug)]
pub struct Days {
    schedule: Schedule,
    slot: usize,
    /// When the day is over, by the schedule.
    dusk: Time,
    /// Events of schedules that were followed before are void.
    number: u32,
}

impl Days {
    /// The `number`-th schedule that is followed; none if it has no slots.
    pub fn new(schedule: Schedule, number: u32) -> Option<Days> {
        let slot = 0;
        (!schedule.slots.is_empty()).then_some(Days {
            schedule,
            slot,
            dusk: Time::ZERO,
            number,
        })
    }

    /// Which schedule it is.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Darkness before each day.
    pub fn night(&self) -> Time {
        self.schedule.night
    }

    /// The day begins: its circuits, and when it is over.
    pub fn begin(&mut self, now: Time) -> (Circuits, Time) {
        let slot = &self.schedule.slots[self.slot];
        let pairs = slot.circuits().map(|(a, b)| (a as u32, b as u32));
        self.slot = (self.slot + 1) % self.schedule.slots.len();
        self.dusk = now + slot.day;
        (Circuits::one_way(pairs), self.dusk)
    }

    /// Whether a flow that ends at `at`, after the day, ends in it all the same: a day is planned
    /// to the byte for the flows that it carries, and each of their ends is a whole picosecond.
    pub fn covers(&self, at: Time) -> bool {
        at <= self.dusk + Time::NS
    }
}
