//! The limits of a periodic schedule.

use super::check_night;
use lightloom_engine::{Refusal, Time};

/// The limits of a periodic schedule: its length, and the cost of a slot.
///
/// ```
/// use lightloom_control::schedule::Frame;
/// use lightloom_engine::Time;
/// let mordia = Frame {
///     night: Time(11_500_000),
///     shortest: Time::US * 61,
///     ..Frame::of(Time::MS * 2)
/// };
/// assert!(mordia.check().is_ok());
/// assert_eq!(mordia.most_slots(), 32); // 2 ms / 61 µs
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// W: the time between two starts of the schedule.
    pub period: Time,
    /// t_setup: dark time at the start of every slot.
    pub night: Time,
    /// T_min: the shortest slot, with its night.
    pub shortest: Time,
    /// k_max: the largest number of slots.
    pub max_slots: usize,
}

impl Frame {
    /// A period without nights and with any number of slots, each at least 1 ps long.
    pub fn of(period: Time) -> Frame {
        Frame {
            period,
            night: Time::ZERO,
            shortest: Time(1),
            max_slots: usize::MAX,
        }
    }

    /// Refuses a frame in which no slot has a day.
    ///
    /// # Errors
    /// A night that is negative, or not shorter than the period or the shortest
    /// slot; a shortest slot longer than the period; no slots at all.
    ///
    /// ```
    /// use lightloom_control::schedule::Frame;
    /// use lightloom_engine::Time;
    /// let frame = Frame { night: Time::US * 70, shortest: Time::US * 61, ..Frame::of(Time::MS) };
    /// let refusal = frame.check().unwrap_err();
    /// assert!(refusal.to_string().starts_with("night = 70 us: not shorter than the shortest slot"));
    /// ```
    pub fn check(&self) -> Result<(), Refusal> {
        check_night(self.night)?;
        if self.night >= self.period {
            return Err(Refusal::new(
                "night",
                self.night,
                format!("not shorter than the period, {}", self.period),
                "raise the period, or lower the night",
            ));
        }
        if self.night >= self.shortest {
            return Err(Refusal::new(
                "night",
                self.night,
                format!("not shorter than the shortest slot, {}", self.shortest),
                "raise the shortest slot: a slot is a night and a day",
            ));
        }
        if self.shortest > self.period {
            return Err(Refusal::new(
                "shortest",
                self.shortest,
                format!("longer than the period, {}", self.period),
                "raise the period, or lower the shortest slot",
            ));
        }
        match self.max_slots {
            0 => Err(Refusal::new(
                "max_slots",
                0,
                "a schedule has at least one slot",
                "give 1 or more",
            )),
            _ => Ok(()),
        }
    }

    /// The largest number of slots that fit.
    pub fn most_slots(&self) -> usize {
        let fit = self.period.0 / self.shortest.0.max(1);
        self.max_slots.min(fit as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_frames_are_refused_by_name() {
        let good = Frame {
            night: Time::US,
            shortest: Time::US * 2,
            max_slots: 3,
            ..Frame::of(Time::US * 9)
        };
        assert_eq!((good.check(), good.most_slots()), (Ok(()), 3));
        // If no shortest slot was given, the message does not name one.
        let all_night = Frame {
            night: Time::US,
            shortest: Time(Time::US.0 + 1),
            ..Frame::of(Time::US)
        };
        assert_eq!(
            all_night.check().unwrap_err().to_string(),
            "night = 1 us: not shorter than the period, 1 us; raise the period, or lower the night"
        );
        let bad = [
            (
                "night",
                Frame {
                    night: Time::US * 2,
                    ..good
                },
            ),
            (
                "night",
                Frame {
                    night: Time(-1),
                    ..good
                },
            ),
            (
                "shortest",
                Frame {
                    period: Time(1_500_000),
                    ..good
                },
            ),
            (
                "max_slots",
                Frame {
                    max_slots: 0,
                    ..good
                },
            ),
        ];
        for (key, frame) in bad {
            assert_eq!(frame.check().unwrap_err().key, key);
        }
    }
}
