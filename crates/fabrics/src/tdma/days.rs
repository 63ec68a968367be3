//! Planes of switches that follow a schedule: a slot each matching, a night and a day in it.

use super::light::Light;
use lightloom_control::schedule::Schedule;
use lightloom_engine::Time;
use std::sync::Arc;

/// A slot as it is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The circuits of the slot before are torn down.
    pub begins: Time,
    /// First light, if the night is as long as it should be.
    pub day: Time,
    /// The next night.
    pub ends: Time,
}

/// One switch, or several that act as one.
pub struct Plane {
    /// The schedule that it follows.
    pub schedule: Option<Arc<Schedule>>,
    /// The schedule that it follows from the next night on.
    pub next: Option<Arc<Schedule>>,
    /// The number of the next slot of the schedule.
    slot: usize,
    /// When which circuits were lit.
    pub light: Light,
    /// Whether a night is due.
    pub turns: bool,
    /// Whether its switch works. Without it no circuit is lit from the next night on.
    pub works: bool,
    /// First light and end of this slot.
    pub day: (Time, Time),
}

/// A slot that has begun.
pub struct Begun {
    /// Its times.
    pub slot: Slot,
    /// First light.
    pub light: Time,
    schedule: Arc<Schedule>,
    number: usize,
    works: bool,
}

impl Begun {
    /// The slot of the schedule.
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
    /// A plane that follows a schedule from its first night on, or waits for one.
    pub fn new(schedule: Option<Arc<Schedule>>) -> Plane {
        Plane {
            schedule: None,
            next: schedule,
            slot: 0,
            light: Light::default(),
            turns: false,
            works: true,
            day: (Time::ZERO, Time::ZERO),
        }
    }

    /// The next slot begins, with a night of at most this length. `light` returns when its
    /// circuits are lit. Returns `None` if there is no schedule to follow.
    pub fn turn(
        &mut self,
        begins: Time,
        night: Time,
        light: impl FnOnce(&Slot) -> Time,
    ) -> Option<Begun> {
        if let Some(schedule) = self.next.take() {
            self.light.follow(schedule.clone());
            self.schedule = Some(schedule);
            self.slot = 0;
        }
        let schedule = self.schedule.clone().filter(|s| !s.slots.is_empty());
        self.turns = schedule.is_some();
        let schedule = schedule?;
        let number = self.slot;
        self.slot = (number + 1) % schedule.slots.len();
        // A schedule may have been planned for longer nights, those of racks' interfaces.
        let slot = Slot {
            begins,
            day: begins + schedule.night.min(night),
            ends: begins + schedule.night + schedule.slots[number].day,
        };
        let light = light(&slot);
        let begun = Begun {
            slot,
            light,
            schedule,
            number,
            works: self.works,
        };
        let is_circuit = |(rack, &to): (u32, &u32)| to != rack;
        let mut circuits = (0..).zip(begun.permutation().unwrap_or_default());
        if circuits.any(is_circuit) {
            self.light.shine(number, light.max(Time::ZERO), slot.ends);
        }
        self.day = (light, slot.ends);
        Some(begun)
    }
}
