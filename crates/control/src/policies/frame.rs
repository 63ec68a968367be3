//! The limits of schedules that policies compute; limits that are not given follow from the demand.

use crate::demand::Matrix;
use crate::hardware::Hardware;
use crate::policy::Target;
use crate::schedule::{Frame, Schedule};
use lightloom_engine::{Rate, Refusal, Time};

/// The default night of a slot.
pub const NIGHT: Time = Time(10 * Time::US.0);

/// The default of the shortest slot, in nights.
const NIGHTS: i64 = 5;

/// Refuses limits that are invalid for every demand.
///
/// # Errors
/// Those of [`Frame::check`], with keys below `policy.`.
pub fn check(
    night: Time,
    period: Option<Time>,
    shortest: Option<Time>,
    max_slots: usize,
) -> Result<(), Refusal> {
    let frame = Frame {
        // Without a given period, the schedule is as long as necessary.
        period: period.unwrap_or(Time(i64::MAX)),
        night,
        shortest: shortest.unwrap_or(least(night)),
        max_slots,
    };
    frame.check().map_err(below_policy)
}

/// Adds `policy.` to the key of a refusal.
pub fn below_policy(refusal: Refusal) -> Refusal {
    Refusal {
        key: format!("policy.{}", refusal.key),
        ..refusal
    }
}

/// The default of the shortest slot.
fn least(night: Time) -> Time {
    Time(night.0.saturating_mul(NIGHTS).max(1))
}

/// The limits for a demand. By default the period is the time that the busiest port needs plus a
/// quarter, with room for one slot per node, and slots last at least five nights.
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

/// The time that the busiest port needs to send or receive all its demand, plus a quarter for the
/// overhead of schedules, and at least five nights for each of `slots` slots; rounded up to two
/// significant digits.
pub fn period(demand: &Matrix, rate: Rate, night: Time, slots: usize) -> Time {
    let ps = u128::from(demand.line_max() as u64) * 8_000_000_000_000;
    let busiest = ps.div_ceil(u128::from(rate.0.max(1)));
    let nights = (NIGHTS as u128 * night.0.max(0) as u128).saturating_mul(slots as u128);
    round_up((busiest * 5 / 4).max(nights))
}

/// The smallest time with two significant digits that is not shorter.
fn round_up(ps: u128) -> Time {
    let ps = ps.max(1);
    let digit = 10u128.pow(ps.ilog10().saturating_sub(1));
    Time(i64::try_from(ps.div_ceil(digit) * digit).unwrap_or(i64::MAX))
}

/// A dark schedule, for the case that no rack has demand.
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
        // 1,007 bytes at 8 Gb/s take 1,007 ns; a quarter more, rounded up to two digits.
        let rate = Rate(8 * Rate::GBPS.0);
        assert_eq!(period(&demand, rate, Time::ZERO, 3), Time::NS * 1_300);
        assert_eq!(period(&demand, rate, Time::US, 3), Time::US * 15);
        assert_eq!(period(&Matrix::zeros(3), rate, Time::ZERO, 3), Time(1));
        let frame = frame(&demand, rate, Time::NS, None, None, 9);
        assert_eq!((frame.shortest, frame.max_slots), (Time::NS * 5, 9));
        assert!(frame.check().is_ok());
    }

    /// For every demand, allowed limits lead to a decision, and other limits are refused before any
    /// demand exists.
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
        // A shortest slot that is longer than the time that the demand needs.
        let mut little = Matrix::zeros(3);
        little.set(0, 1, 1);
        let frame = frame(&little, Rate::GBPS, Time::US, None, us(70), 9);
        assert_eq!(
            (frame.period, frame.check().is_ok()),
            (Time::US * 210, true)
        );
    }
}
