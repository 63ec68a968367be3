//! Common checks of all jobs. Keys are those of the job's own table.

use crate::arrivals::MAX_ARRIVAL;
use crate::sizes::MAX_BYTES;
use lightloom_engine::{Bytes, Rate, Refusal, Time};

/// Refuses an amount of data below `least` bytes, or larger than a flow can be.
pub(crate) fn bytes(key: &str, value: Bytes, least: u64) -> Result<(), Refusal> {
    let refuse = |limit: String, remedy: &str| Err(Refusal::new(key, value, limit, remedy));
    match value.0 {
        n if n < least => refuse(format!("must be at least {}", Bytes(least)), "raise it"),
        n if n > MAX_BYTES => refuse("must be at most 9 PB".to_owned(), "lower it"),
        _ => Ok(()),
    }
}

/// Moves a refusal into the table `at` of the job.
pub(crate) fn within<T>(at: &str, checked: Result<T, Refusal>) -> Result<T, Refusal> {
    checked.map_err(|e| Refusal {
        key: format!("{at}.{}", e.key),
        ..e
    })
}

/// Refuses a count outside `1..=most`.
pub(crate) fn count(key: &str, value: u64, most: u64) -> Result<(), Refusal> {
    let refuse = |limit: String, remedy: &str| Err(Refusal::new(key, value, limit, remedy));
    match value {
        0 => refuse("must be at least 1".to_owned(), "raise it"),
        n if n > most => refuse(format!("must be at most {most}"), "lower it"),
        _ => Ok(()),
    }
}

/// Refuses a number that is not a fraction in (0, 1]; if `zero` is set, 0 is accepted as well.
pub(crate) fn fraction(key: &str, value: f64, zero: bool) -> Result<(), Refusal> {
    let above = value > 0.0 || (zero && value == 0.0);
    if above && value <= 1.0 {
        return Ok(());
    }
    let from = if zero { "from 0" } else { "above 0" };
    let limit = format!("must be {from} and at most 1");
    Err(Refusal::new(key, value, limit, "write a fraction"))
}

/// Refuses a rate of zero.
pub(crate) fn rate(key: &str, value: Rate) -> Result<(), Refusal> {
    match value.0 {
        0 => Err(Refusal::new(key, value, "must be above 0", "raise it")),
        _ => Ok(()),
    }
}

/// Time to process `bytes`; at most the range of the clock.
pub(crate) fn time_for(rate: Rate, bytes: u64) -> Time {
    let ps = (bytes as u128 * 8_000_000_000_000).div_ceil(rate.0.max(1) as u128);
    Time(ps.min(MAX_ARRIVAL.0 as u128) as i64)
}

/// A fraction of `bytes`, rounded to whole bytes.
pub(crate) fn scaled(bytes: u64, by: f64) -> u64 {
    (bytes as f64 * by).round() as u64
}

/// The size of part `i` of `total`, divided into `parts` that differ by at most one byte.
pub(crate) fn part(total: u64, parts: u64, i: u64) -> u64 {
    until(total, parts, i + 1) - until(total, parts, i)
}

/// The bytes of the first `i` of `parts` parts of `total`.
pub(crate) fn until(total: u64, parts: u64, i: u64) -> u64 {
    (total as u128 * i as u128 / parts as u128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_add_up_and_differ_by_a_byte(total in 0u64..1_000_000, parts in 1u64..50) {
            let all: Vec<u64> = (0..parts).map(|i| part(total, parts, i)).collect();
            prop_assert_eq!(all.iter().sum::<u64>(), total);
            let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
            prop_assert!(most - least <= 1);
        }
    }

    #[test]
    fn no_time_is_beyond_the_clock() {
        assert_eq!(time_for(Rate(8), 3), Time::S * 3);
        assert_eq!(time_for(Rate(1), MAX_BYTES), MAX_ARRIVAL);
    }
}
