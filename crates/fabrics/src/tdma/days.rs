//! Planes of switches that follow a schedule: each matching has a slot, with a night and a day.

use super::light::Light;
use lightloom_control::schedule::Schedule;
use lightloom_engine::Time;
use std::ops::Range;
use std::sync::Arc;

/// Planned times of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotTimes {
    /// Start of the night, at which the circuits of the previous slot go dark.
    pub begins: Time,
    /// First light, if the night has its planned length.
    pub first_light: Time,
    /// The next night begins.
    pub ends: Time,
}

/// One switch, or several that reconfigure together.
pub struct Plane {
    /// The schedule that it follows.
    pub schedule: Option<Arc<Schedule>>,
    /// The schedule that it follows from the next night on.
    pub next: Option<Arc<Schedule>>,
    /// The number of the next slot of the schedule.
    slot: usize,
    /// The circuits that were lit, with their times.
    pub light: Light,
    /// Whether this slot ends with a night: it does if the switch follows a schedule.
    pub has_next_night: bool,
    /// Whether its switch works. If it does not, no circuit is lit from the next night on.
    pub works: bool,
    /// From first light to the end of this slot.
    pub lit: Range<Time>,
}

/// A slot that has begun.
pub struct Begun {
    /// The planned times.
    pub times: SlotTimes,
    /// Actual time of first light.
    pub light: Time,
    schedule: Arc<Schedule>,
    number: usize,
    works: bool,
}

impl Begun {
    /// The current slot of the schedule.
    pub fn planned(&self) -> &lightloom_control::schedule::Slot {
        &self.schedule.slots[self.number]
    }

    /// The rack to which each rack sends, itself if it has no circuit; `None` if the switch has
    /// failed.
    pub fn permutation(&self) -> Option<&[u32]> {
        self.works.then(|| &self.planned().permutation[..])
    }
}

impl Plane {
    /// Creates a plane that follows a schedule from its first night on, or waits for one.
    pub fn new(schedule: Option<Arc<Schedule>>) -> Plane {
        Plane {
            schedule: None,
            next: schedule,
            slot: 0,
            light: Light::default(),
            has_next_night: false,
            works: true,
            lit: Time::ZERO..Time::ZERO,
        }
    }

    /// Begins the next slot, with a night of at most this length. `light` returns the time at which
    /// its circuits are lit. Returns `None` if there is no schedule to follow.
    pub fn turn(
        &mut self,
        begins: Time,
        night: Time,
        light: impl FnOnce(&SlotTimes) -> Time,
    ) -> Option<Begun> {
        if let Some(schedule) = self.next.take() {
            self.light.follow(schedule.clone());
            self.schedule = Some(schedule);
            self.slot = 0;
        }
        let schedule = self.schedule.clone().filter(|s| !s.slots.is_empty());
        self.has_next_night = schedule.is_some();
        let schedule = schedule?;
        let number = self.slot;
        self.slot = (number + 1) % schedule.slots.len();
        // A schedule may be planned for longer nights, those of the interfaces of racks.
        let times = SlotTimes {
            begins,
            first_light: begins + schedule.night.min(night),
            ends: begins + schedule.night + schedule.slots[number].day,
        };
        let light = light(&times);
        let begun = Begun {
            times,
            light,
            schedule,
            number,
            works: self.works,
        };
        let is_circuit = |(rack, &to): (u32, &u32)| to != rack;
        let mut circuits = (0..).zip(begun.permutation().unwrap_or_default());
        if circuits.any(is_circuit) {
            self.light.shine(number, light.max(Time::ZERO), times.ends);
        }
        self.lit = light..times.ends;
        Some(begun)
    }
}
