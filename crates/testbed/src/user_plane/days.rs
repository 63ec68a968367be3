//! The matching that is lit at a given time: a sequence of slots, each with a night and a day.

use std::io;

/// A matching and the length of its day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The output of each input; an input whose output has its own number is idle.
    pub outputs: Vec<u32>,
    /// Time for which the matching is lit [ns].
    pub day_ns: u64,
}

/// Slots that repeat without end; each begins with a night.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The dark time at the start of each slot [ns].
    pub night_ns: u64,
    /// The slots in their order.
    pub slots: Vec<Slot>,
}

/// The longest period of a schedule [ns].
const MOST: u64 = 3_600_000_000_000;

impl Schedule {
    /// Refuses a schedule that a switch with `ports` ports cannot follow.
    ///
    /// # Errors
    /// If there are no slots, if a matching is not a permutation of the ports, if a day has no
    /// length, or if the period is longer than an hour.
    pub fn check(&self, ports: u32) -> io::Result<()> {
        let refuse = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        if self.slots.is_empty() {
            return refuse("a schedule without slots".to_owned());
        }
        for (at, slot) in self.slots.iter().enumerate() {
            let mut outputs = slot.outputs.clone();
            outputs.sort_unstable();
            if outputs != (0..ports).collect::<Vec<u32>>() {
                return refuse(format!("slot {at} is not a permutation of {ports} ports"));
            }
            if slot.day_ns == 0 {
                return refuse(format!("the day of slot {at} has no length"));
            }
        }
        let slots = self
            .slots
            .iter()
            .map(|slot| slot.day_ns.saturating_add(self.night_ns));
        match slots.fold(0, u64::saturating_add) > MOST {
            true => refuse("a schedule of more than an hour".to_owned()),
            false => Ok(()),
        }
    }
}

/// A slot at its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Day {
    /// Index of the slot in the schedule.
    pub slot: usize,
    /// When its circuits are lit [ns].
    pub from: u64,
    /// When its circuits go dark and the next slot begins [ns].
    pub until: u64,
}

/// The position in a schedule.
#[derive(Clone, Debug, Default)]
pub struct Days {
    schedule: Schedule,
    day: Day,
    /// Replaces the schedule when the present slot ends.
    next: Option<Schedule>,
}

impl Days {
    /// Follows a schedule. Its first night begins when the present slot ends, as in the simulated
    /// fabric, and at `now` if there is none.
    pub fn follow(&mut self, schedule: Schedule, now: u64) {
        if self.schedule.slots.is_empty() {
            self.schedule = schedule;
            self.day = self.at(0, now);
        } else {
            self.next = Some(schedule);
        }
    }

    fn at(&self, slot: usize, begins: u64) -> Day {
        let from = begins + self.schedule.night_ns;
        Day {
            slot,
            from,
            until: from + self.schedule.slots[slot].day_ns,
        }
    }

    /// The slot at `now` and the number of slots that have begun since the last call; `None`
    /// without a schedule.
    pub fn advance(&mut self, now: u64) -> Option<(Day, u64)> {
        if self.schedule.slots.is_empty() {
            return None;
        }
        let mut begun = 0;
        while self.day.until <= now {
            let slot = match self.next.take() {
                Some(next) => {
                    self.schedule = next;
                    0
                }
                None => (self.day.slot + 1) % self.schedule.slots.len(),
            };
            self.day = self.at(slot, self.day.until);
            begun += 1;
        }
        Some((self.day, begun))
    }

    /// The length of the shortest day, including those of a schedule that begins with the next
    /// night [ns]; 0 without a schedule.
    pub fn shortest(&self) -> u64 {
        let schedules = [Some(&self.schedule), self.next.as_ref()];
        let slots = schedules.into_iter().flatten().flat_map(|one| &one.slots);
        slots.map(|slot| slot.day_ns).min().unwrap_or(0)
    }

    /// The outputs of a slot.
    pub fn outputs(&self, slot: usize) -> &[u32] {
        &self.schedule.slots[slot].outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn two(night_ns: u64, days: [u64; 2]) -> Schedule {
        let outputs = [vec![1, 0, 2], vec![2, 1, 0]];
        let slots = { outputs.into_iter().zip(days) }
            .map(|(outputs, day_ns)| Slot { outputs, day_ns })
            .collect();
        Schedule { night_ns, slots }
    }

    #[test]
    fn slots_follow_each_other_without_a_gap() {
        let mut days = Days::default();
        assert_eq!((days.advance(7), days.shortest()), (None, 0));
        days.follow(two(10, [90, 40]), 1_000);
        assert_eq!(days.shortest(), 40);
        let day = |slot, from, until| Day { slot, from, until };
        assert_eq!(days.advance(1_000), Some((day(0, 1_010, 1_100), 0)));
        assert_eq!(days.advance(1_099), Some((day(0, 1_010, 1_100), 0)));
        assert_eq!(days.advance(1_100), Some((day(1, 1_110, 1_150), 1)));
        // The period is 150 ns: after two periods the slot is the same, and four slots have begun.
        assert_eq!(days.advance(1_430), Some((day(1, 1_410, 1_450), 4)));
    }

    #[test]
    fn another_schedule_begins_with_its_night_when_the_slot_ends() {
        let mut days = Days::default();
        let day = |slot, from, until| Day { slot, from, until };
        days.follow(two(10, [90, 40]), 0);
        days.advance(50);
        days.follow(two(20, [30, 60]), 50);
        assert_eq!(days.shortest(), 30);
        assert_eq!(days.advance(99), Some((day(0, 10, 100), 0)));
        assert_eq!(days.outputs(0), [1, 0, 2]);
        assert_eq!(days.advance(100), Some((day(0, 120, 150), 1)));
        assert_eq!(days.advance(150), Some((day(1, 170, 230), 1)));
        assert_eq!(days.shortest(), 30);
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        assert!(two(0, [1, 1]).check(3).is_ok());
        assert!(two(0, [1, 1]).check(4).is_err());
        assert!(two(0, [1, 0]).check(3).is_err());
        assert!(two(u64::MAX, [1, 1]).check(3).is_err());
        assert!(Schedule::default().check(3).is_err());
        let mut twice = two(0, [1, 1]);
        twice.slots[1].outputs = vec![0, 0, 1];
        assert!(twice.check(3).is_err());
    }

    proptest! {
        /// The slot at a given time depends only on the time modulo the period, not on the
        /// intervals between calls.
        #[test]
        fn the_day_does_not_depend_on_when_one_asks(
            night in 0u64..50, first in 1u64..100, second in 1u64..100,
            steps in prop::collection::vec(1u64..400, 1..40),
        ) {
            let mut days = Days::default();
            days.follow(two(night, [first, second]), 0);
            let period = 2 * night + first + second;
            let (mut now, mut begun) = (0, 0);
            for step in steps {
                now += step;
                let (day, more) = days.advance(now).unwrap();
                begun += more;
                let late = now % period >= night + first;
                prop_assert_eq!(day.slot, usize::from(late));
                prop_assert_eq!(begun, now / period * 2 + u64::from(late));
                prop_assert!(day.from <= day.until && now < day.until);
                prop_assert!(now + day.until - day.from + night >= day.until);
            }
        }
    }
}
