//! The limits of schedules that policies compute; limits that are not given follow from the demand.

use crate::demand::Matrix;
use crate::hardware::Hardware;
use crate::policy::Target;
use crate::schedule::{Frame, Schedule};
use lightloom_engine::{Rate, Refusal, Time};

/// Darkness at the start of a slot, unless told otherwise.
pub const NIGHT: Time = Time(10 * Time::US.0);

/// The least multiple of its night that a slot lasts, unless told otherwise.
const NIGHTS: i64 = 5;

/// Refuses what is a frame for no demand at all.
///
/// # Errors
/// As [`Frame::check`], of keys below `policy.`.
pub fn check(
    night: Time,
    period: Option<Time>,
    shortest: Option<Time>,
    max_slots: usize,
) -> Result<(), Refusal> {
    let frame = Frame {
        // A period that is not given is as long as needed.
        period: period.unwrap_or(Time(i64::MAX)),
        night,
        shortest: shortest.unwrap_or(least(night)),
        max_slots,
    };
    frame.check().map_err(below_policy)
}

/// The refusal of a policy's key.
pub fn below_policy(refusal: Refusal) -> Refusal {
    Refusal {
        key: format!("policy.{}", refusal.key),
        ..refusal
    }
}

/// The shortest slot, unless told otherwise.
fn least(night: Time) -> Time {
    Time(night.0.saturating_mul(NIGHTS).max(1))
}

/// A frame for a demand: the period unless given is what the busiest port needs and a
/// quarter more, and room for a slot for every node; slots unless told otherwise last
/// five nights at least.
pub fn frame(
    demand: &Matrix,
    rate: Rate,
    night: Time,
    period: Option<Time>,
    shortest: Option<Time>,
    max_slots: usize,
) -> Frame {
    let shortest = shortest.unwrap_or(least(night));
    let whole = || {
        let slots = Time(shortest.0.saturating_mul(demand.n() as i64));
        self::period(demand, rate, night, demand.n()).max(slots)
    };
    Frame {
        period: period.unwrap_or_else(whole),
        night,
        shortest,
        max_slots,
    }
}

/// Time for the busiest port to send or receive everything, a quarter more for what
/// schedules waste, and room for so many slots; rounded up to two digits.
pub fn period(demand: &Matrix, rate: Rate, night: Time, slots: usize) -> Time {
    let ps = u128::from(demand.line_max() as u64) * 8_000_000_000_000;
    let busiest = ps.div_ceil(u128::from(rate.0.max(1)));
    let nights = (NIGHTS as u128 * night.0.max(0) as u128).saturating_mul(slots as u128);
    round_up((busiest * 5 / 4).max(nights))
}

/// The least time of two digits that is not shorter.
fn round_up(ps: u128) -> Time {
    let ps = ps.max(1);
    let digit = 10u128.pow(ps.ilog10().saturating_sub(1));
    Time(i64::try_from(ps.div_ceil(digit) * digit).unwrap_or(i64::MAX))
}

/// A dark schedule, if no rack has anything to send.
pub fn no_slots(hardware: &Hardware, night: Time) -> Target {
    Target::Schedule(Schedule {
        ports: hardware.racks as usize,
        night,
        slots: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_holds_the_busiest_port_or_the_nights() {
        let mut demand = Matrix::zeros(3);
        demand.set(0, 1, 1_000);
        demand.set(2, 1, 7);
        // 1,007 bytes at 8 Gb/s are 1,007 ns; a quarter more, of two digits.
        let rate = Rate(8 * Rate::GBPS.0);
        assert_eq!(period(&demand, rate, Time::ZERO, 3), Time::NS * 1_300);
        assert_eq!(period(&demand, rate, Time::US, 3), Time::US * 15);
        assert_eq!(period(&Matrix::zeros(3), rate, Time::ZERO, 3), Time(1));
        let frame = frame(&demand, rate, Time::NS, None, None, 9);
        assert_eq!((frame.shortest, frame.max_slots), (Time::NS * 5, 9));
        assert!(frame.check().is_ok());
    }

    /// Whatever the demand: what the keys allow is decided on, and what they do not is
    /// refused before anybody has sent a byte.
    #[test]
    fn frames_that_cannot_be_are_refused_without_a_demand() {
        let us = |n: i64| Some(Time::US * n);
        let refused = |night: Option<Time>, period, shortest, slots| {
            check(night.unwrap(), period, shortest, slots)
                .unwrap_err()
                .key
        };
        assert_eq!(refused(us(10), us(5), None, 9), "policy.night");
        assert_eq!(refused(us(10), us(40), None, 9), "policy.shortest"); // five nights
        assert_eq!(refused(us(10), None, us(10), 9), "policy.night");
        assert_eq!(refused(us(10), us(60), us(70), 9), "policy.shortest");
        assert_eq!(refused(us(10), None, None, 0), "policy.max_slots");
        assert!(check(Time::US * 10, us(50), None, 1).is_ok());
        assert!(check(Time::ZERO, None, None, 1).is_ok());
        // A shortest slot that is longer than the demand needs.
        let mut little = Matrix::zeros(3);
        little.set(0, 1, 1);
        let frame = frame(&little, Rate::GBPS, Time::US, None, us(70), 9);
        assert_eq!(
            (frame.period, frame.check().is_ok()),
            (Time::US * 210, true)
        );
    }
}
