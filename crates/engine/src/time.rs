//! Simulated time and rates: integer picoseconds, integer bits per second.
//!
//! Floats are used only in metrics: every duration that decides the order of events is exact, so
//! that the same seed gives the same bytes on every machine.

use crate::units::{format_whole, RATES, SPANS};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Rem, Sub, SubAssign};

/// An instant or a span [ps]. An `i64` reaches 106 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// The start of every simulation.
    pub const ZERO: Time = Time(0);
    /// One nanosecond.
    pub const NS: Time = Time(1_000);
    /// One microsecond.
    pub const US: Time = Time(1_000_000);
    /// One millisecond.
    pub const MS: Time = Time(1_000_000_000);
    /// One second.
    pub const S: Time = Time(1_000_000_000_000);
    /// Later than all events; also "never" in flow columns.
    pub const NEVER: Time = Time(i64::MAX);

    /// Seconds, for metrics and messages only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }

    /// Rounds a span in seconds to the nearest picosecond.
    pub fn from_secs_f64(s: f64) -> Time {
        Time((s * 1e12).round() as i64)
    }

    /// The number of steps that cover this time.
    pub fn div_ceil(self, step: Time) -> i64 {
        (self.0 + step.0 - 1).div_euclid(step.0)
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, o: Time) -> Time {
        Time(self.0 + o.0)
    }
}
impl AddAssign for Time {
    fn add_assign(&mut self, o: Time) {
        self.0 += o.0;
    }
}
impl Sub for Time {
    type Output = Time;
    fn sub(self, o: Time) -> Time {
        Time(self.0 - o.0)
    }
}
impl SubAssign for Time {
    fn sub_assign(&mut self, o: Time) {
        self.0 -= o.0;
    }
}
impl Mul<i64> for Time {
    type Output = Time;
    fn mul(self, k: i64) -> Time {
        Time(self.0 * k)
    }
}
impl Div<i64> for Time {
    type Output = Time;
    fn div(self, k: i64) -> Time {
        Time(self.0.div_euclid(k))
    }
}
impl Rem for Time {
    type Output = Time;
    fn rem(self, o: Time) -> Time {
        Time(self.0.rem_euclid(o.0))
    }
}
impl Neg for Time {
    type Output = Time;
    fn neg(self) -> Time {
        Time(-self.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let span = format_whole(self.0.unsigned_abs() as u128, SPANS);
        write!(f, "{sign}{span}")
    }
}

/// A data rate [b/s].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

impl Rate {
    /// One gigabit per second.
    pub const GBPS: Rate = Rate(1_000_000_000);

    /// Time to serialise `bytes`, rounded up so that no link exceeds its rate.
    pub fn time_for(self, bytes: u64) -> Time {
        let ps = (bytes as u128 * 8 * 1_000_000_000_000).div_ceil(self.0 as u128);
        Time(ps as i64)
    }

    /// Whole bytes that fit into `span`.
    pub fn bytes_in(self, span: Time) -> u64 {
        (self.0 as u128 * span.0.max(0) as u128 / 8_000_000_000_000) as u64
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rates are divided among links: a third of 100 Gb/s has no exact number of kb/s.
        f.write_str(&format_whole(self.0 as u128, RATES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sirius_slot_carries_562_bytes() {
        assert_eq!(Rate(50_000_000_000).bytes_in(Time::NS * 90), 562);
    }

    #[test]
    fn serialisation_never_beats_the_rate() {
        let r = Rate(3);
        assert_eq!(r.time_for(1), Time(2_666_666_666_667));
        assert_eq!(Rate(10 * Rate::GBPS.0).time_for(1500), Time::NS * 1200);
    }
}
