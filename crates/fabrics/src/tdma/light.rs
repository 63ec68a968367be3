//! The times of lit circuits: stored slot by slot, reported circuit by circuit. The first four
//! million circuits of a plane are stored; the total time of light is counted for all.

use lightloom_control::schedule::Schedule;
use lightloom_engine::{Circuit, Time};
use std::sync::Arc;

/// A past day: from first light to the next night.
#[derive(Clone, Copy, Debug)]
struct Day {
    from: Time,
    until: Time,
    schedule: u32,
    slot: u32,
}

/// The days of one plane of switches, in order.
#[derive(Clone, Debug, Default)]
pub struct Light {
    schedules: Vec<Arc<Schedule>>,
    days: Vec<Day>,
    /// Circuits of these days.
    circuits: usize,
    /// Lit time of the days that are not stored, except for the last of them, which is in `last`.
    forgotten: Time,
    last: Option<(Time, Time)>,
}

impl Light {
    /// Largest number of stored circuits of a plane; later circuits are not stored.
    pub const MOST: usize = 4_000_000;

    /// Approximate memory of `days` days of `circuits` circuits, including their final report [B];
    /// without the schedules, which are shared.
    pub fn memory(days: u64, circuits: u64) -> u64 {
        let kept = days.min((Light::MOST as u64).div_ceil(circuits.max(1)));
        kept * (size_of::<Day>() as u64 + circuits * size_of::<Circuit>() as u64)
    }

    /// Sets the schedule of the following days.
    pub fn follow(&mut self, schedule: Arc<Schedule>) {
        if self.circuits < Light::MOST {
            self.schedules.push(schedule);
        }
    }

    /// Adds a day of the current schedule, whose circuits are lit in [`from`, `until`).
    pub fn shine(&mut self, slot: usize, from: Time, until: Time) {
        if from >= until {
            return;
        }
        if self.circuits >= Light::MOST {
            let before = self.last.replace((from, until));
            self.forgotten += before.map_or(Time::ZERO, |(from, until)| until - from);
            return;
        }
        let day = Day {
            from,
            until,
            schedule: self.schedules.len() as u32 - 1,
            slot: slot as u32,
        };
        self.circuits += self.permutation(&day).len();
        self.days.push(day);
    }

    fn permutation(&self, day: &Day) -> &[u32] {
        let schedule = &self.schedules[day.schedule as usize];
        &schedule.slots[day.slot as usize].permutation
    }

    /// Whether there was a circuit from `from` to `to` at `at`.
    pub fn was_lit(&self, from: u32, to: u32, at: Time) -> bool {
        let after = self.days.partition_point(|day| day.from <= at);
        let day = after.checked_sub(1).map(|last| &self.days[last]);
        day.is_some_and(|day| at < day.until && self.permutation(day)[from as usize] == to)
    }

    /// Lit time before `now`.
    pub fn lasted(&self, now: Time) -> Time {
        let before = self.days.iter().take_while(|day| day.from < now);
        let kept = Time(before.map(|day| (day.until.min(now) - day.from).0).sum());
        let last = { self.last }.map_or(Time::ZERO, |(from, until)| {
            (until.min(now) - from).max(Time::ZERO)
        });
        kept + self.forgotten + last
    }

    /// All stored circuits of this plane so far; those that are lit end at `now`.
    pub fn circuits(&self, plane: u16, now: Time) -> impl Iterator<Item = Circuit> + '_ {
        let before = self.days.iter().take_while(move |day| day.from < now);
        before.flat_map(move |day| {
            let ports = self.permutation(day).iter().enumerate();
            let used = ports.filter(|(from, to)| *from as u32 != **to);
            used.map(move |(from, &to)| Circuit {
                a: from as u32,
                b: to,
                directed: true,
                plane,
                from: day.from,
                until: day.until.min(now),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_control::schedule::Slot;

    /// Compares the result with a count of the stored entries.
    #[test]
    fn memory_is_that_of_days_that_are_kept() {
        let racks = 1_000;
        for days in [7, 3_000, 5_000] {
            let slot = Slot {
                permutation: (0..racks).map(|rack| (rack + 1) % racks).collect(),
                day: Time(10),
            };
            let mut light = Light::default();
            light.follow(Arc::new(Schedule {
                ports: racks as usize,
                night: Time(2),
                slots: vec![slot],
            }));
            for day in 0..days {
                light.shine(0, Time(12 * day + 2), Time(12 * day + 12));
            }
            let told: Vec<Circuit> = light.circuits(0, Time(12 * days)).collect();
            let bytes = size_of_val(&light.days[..]) + size_of_val(&told[..]);
            assert_eq!(Light::memory(days as u64, racks.into()), bytes as u64);
            assert_eq!(told.len() as i64, days.min(4_000) * i64::from(racks));
        }
    }

    #[test]
    fn light_is_of_its_slot_and_its_schedule() {
        let slot = |permutation: [u32; 3]| Slot {
            permutation: permutation.to_vec(),
            day: Time(10),
        };
        let schedule = |slots: Vec<Slot>| {
            Arc::new(Schedule {
                ports: 3,
                night: Time(2),
                slots,
            })
        };
        let mut light = Light::default();
        light.follow(schedule(vec![slot([1, 2, 0]), slot([2, 1, 0])]));
        light.shine(0, Time(2), Time(12));
        light.shine(1, Time(14), Time(24));
        light.follow(schedule(vec![slot([1, 0, 2])]));
        light.shine(0, Time(30), Time(30)); // a night as long as the slot
        light.shine(0, Time(36), Time(40));
        let lit = |a, b, at| light.was_lit(a, b, Time(at));
        let seen = [1, 2, 11, 12, 14].map(|at| lit(0, 1, at));
        assert_eq!(seen, [false, true, true, false, false]);
        assert!(lit(0, 2, 14) && lit(2, 0, 23) && !lit(1, 2, 14) && !lit(0, 2, 24));
        assert!(lit(0, 1, 36) && lit(1, 0, 39) && !lit(0, 1, 40) && !lit(0, 1, 30));
        assert_eq!(light.lasted(Time(20)), Time(16));
        assert_eq!(light.lasted(Time(99)), Time(24));
        let told: Vec<_> = light.circuits(0, Time(20)).collect();
        assert_eq!(told.len(), 3 + 2);
        assert_eq!((told[4].a, told[4].b, told[4].until), (2, 0, Time(20)));
    }
}
