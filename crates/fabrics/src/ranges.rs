//! Ranges that tables of several fabrics have in common.

use lightloom_engine::{Rate, Refusal, Time};

/// No rate is higher.
pub const RATE_MAX: Rate = Rate(1_000_000_000_000_000);
/// No time is longer.
pub const TIME_MAX: Time = Time(3_600 * Time::S.0);

/// Refuses the first time that is too long, as `fabric.` and its key.
///
/// # Errors
/// As it says.
pub fn times(times: &[(&str, Time)]) -> Result<(), Refusal> {
    match times.iter().find(|(_, time)| *time > TIME_MAX) {
        None => Ok(()),
        Some((key, time)) => {
            let limit = format!("must be at most {TIME_MAX}");
            Err(Refusal::new(
                format!("fabric.{key}"),
                time,
                limit,
                "lower it",
            ))
        }
    }
}

/// Refuses a rate at which nothing is sent, or that is beyond all links.
///
/// # Errors
/// Of `fabric.` and its key.
pub fn rate(key: &str, rate: Rate) -> Result<(), Refusal> {
    if rate.0 > 0 && rate <= RATE_MAX {
        return Ok(());
    }
    let limit = "must be above 0 b/s and at most 1000 Tb/s";
    Err(Refusal::new(
        format!("fabric.{key}"),
        rate,
        limit,
        "use 10 Gb/s",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_within() {
        let said = |refused: Result<(), Refusal>| refused.unwrap_err().to_string();
        assert_eq!(rate("link_rate", RATE_MAX), Ok(()));
        for bad in [Rate(0), Rate(RATE_MAX.0 + 1)] {
            let words = format!(
                "fabric.link_rate = {bad}: must be above 0 b/s and at most 1000 Tb/s; use 10 Gb/s"
            );
            assert_eq!(said(rate("link_rate", bad)), words);
        }
        assert_eq!(times(&[("slot", Time::ZERO), ("night", TIME_MAX)]), Ok(()));
        assert_eq!(
            said(times(&[("slot", TIME_MAX), ("night", TIME_MAX + Time::S)])),
            "fabric.night = 3601 s: must be at most 3600 s; lower it"
        );
    }
}
