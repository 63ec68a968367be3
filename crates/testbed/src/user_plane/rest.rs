//! The rests of a thread with a real-time policy, which leave a twelfth of its processor to other
//! programs. The kernel suspends real-time threads for 50 ms in each second if they leave less than
//! 5 %, and the thread then misses 4 % of short days.

/// The thread works for this multiple of a rest's length before the next rest is due.
const WORK: u64 = 11;
/// The shortest sleep [ns]. In a virtual machine, falling asleep and waking take 15 us of processor
/// time, so that shorter sleeps cost more time than they leave to other programs.
const SHORT: u64 = 20_000;
/// The usual delay between the end of a sleep and the wake-up of the thread [ns].
const WAKE: u64 = 15_000;
/// If a rest is overdue by this time, the thread rests during a day [ns].
const OVERDUE: u64 = 20_000_000;

/// The time of the next rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    due: u64,
    /// The end of the last rest, and the time for which the thread had had its processor then.
    since: (u64, u64),
}

impl Rest {
    /// The first rest is due at once.
    ///
    /// `used` is the time for which the thread has had its processor; all times are in ns.
    pub fn new(now: u64, used: u64) -> Rest {
        Rest {
            due: now,
            since: (now, used),
        }
    }

    /// The length of the sleep that is due in a night [ns]; `None` if none is.
    pub fn in_night(&self, now: u64, ends: u64) -> Option<u64> {
        (now >= self.due).then(|| (ends - now).saturating_sub(WAKE).max(SHORT))
    }

    /// The length of the sleep that is due in a day because nights were too short [ns]; `None` if
    /// none is.
    pub fn in_day(&self, now: u64) -> Option<u64> {
        (now >= self.due + OVERDUE).then_some(SHORT)
    }

    /// Records a sleep. A rest is the time for which the thread did not have its processor.
    pub fn slept(&mut self, now: u64, used: u64) {
        let rested = (now - self.since.0).saturating_sub(used - self.since.1);
        self.since = (now, used);
        self.due += rested * (1 + WORK);
        // A long rest delays the next rest by at most `OVERDUE`.
        self.due = self.due.min(now + OVERDUE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_night_that_is_long_enough_is_rested_until_shortly_before_its_end() {
        let rest = Rest::new(1_000, 0);
        assert_eq!(rest.in_night(999, 100_999), None);
        assert_eq!(rest.in_night(1_000, 101_000), Some(85_000));
        assert_eq!(rest.in_night(1_000, 11_000), Some(SHORT));
        assert_eq!(rest.in_day(1_000), None);
        assert_eq!(rest.in_day(1_000 + OVERDUE), Some(SHORT));
    }

    proptest! {
        /// In any schedule 7 to 10 % of a second is rest, for any time that falling asleep and
        /// waking take.
        #[test]
        fn a_twelfth_of_the_time_is_rest(
            night in 1_000u64..40_000, day in 100_000u64..1_000_000, wake in 5_000u64..30_000,
        ) {
            let (mut rest, mut now, mut slept) = (Rest::new(0, 0), 0, 0);
            let second = 1_000_000_000;
            while now < second {
                let at = now % (night + day);
                let length = match at < night {
                    true => rest.in_night(now, now + night - at),
                    false => rest.in_day(now),
                };
                match length {
                    Some(length) => {
                        now += length + wake;
                        slept += length;
                        rest.slept(now, now - slept);
                    }
                    None => now += 1_000,
                }
            }
            prop_assert!(slept > second * 7 / 100, "{slept}");
            prop_assert!(slept < second * 10 / 100, "{slept}");
        }
    }
}
