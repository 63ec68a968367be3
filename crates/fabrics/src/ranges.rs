//! Ranges that the tables of several fabrics share, and their refusals. Keys are named without
//! `fabric.`, which refusals prepend.

use lightloom_engine::{check_range, Bytes, Cluster, Nic, Rate, Refusal, Time};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Largest number of racks with circuits: matrices of all pairs are stored, and the largest mirror
/// switches have a few thousand ports.
pub const RACKS_MAX: u32 = 4_096;
/// Largest rate, so that sums over all racks stay in range.
pub const RATE_MAX: Rate = Rate(1_000_000_000_000_000);
/// No time is longer.
pub const TIME_MAX: Time = Time(3_600 * Time::S.0);
/// No packet is larger.
pub const PACKET_MAX: Bytes = Bytes(65_535);

/// Refuses the value of a key.
///
/// # Errors
/// Always.
pub fn refuse<T>(
    key: &str,
    value: impl Display,
    limit: impl Into<String>,
    remedy: impl Into<String>,
) -> Result<T, Refusal> {
    Err(Refusal::new(format!("fabric.{key}"), value, limit, remedy))
}

/// Refuses a value outside `range`, both ends included, like [`check_range`] but with a `remedy` of
/// the caller.
///
/// # Errors
/// If the value of `key` is out of range.
pub fn within<T: PartialOrd + Display>(
    key: &str,
    value: T,
    range: RangeInclusive<T>,
    remedy: impl Into<String>,
) -> Result<(), Refusal> {
    check_range(format!("fabric.{key}"), value, range).map_err(|refusal| Refusal {
        remedy: remedy.into(),
        ..refusal
    })
}

/// Refuses a propagation that no fibre of a data centre has.
///
/// # Errors
/// If the propagation is negative or longer than `most`.
pub fn propagation(key: &str, value: Time, most: Time) -> Result<(), Refusal> {
    let remedy = "lower it: light takes 5 ns a metre of fibre";
    within(key, value, Time::ZERO..=most, remedy)
}

/// Refuses fewer than two racks, or more than can have circuits.
///
/// # Errors
/// If there are fewer than 2 or more than [`RACKS_MAX`] racks.
pub fn racks(racks: u32) -> Result<(), Refusal> {
    let remedy = match racks {
        2..=RACKS_MAX => return Ok(()),
        0 | 1 => "raise it",
        _ => "lower it",
    };
    let limit = format!("circuits join 2 to {RACKS_MAX} racks");
    Err(Refusal::new("cluster.racks", racks, limit, remedy))
}

/// Refuses the first time that is too long.
///
/// # Errors
/// If a time is too long.
pub fn times(times: &[(&str, Time)]) -> Result<(), Refusal> {
    match times.iter().find(|(_, time)| *time > TIME_MAX) {
        None => Ok(()),
        Some((key, time)) => refuse(key, time, format!("must be at most {TIME_MAX}"), "lower it"),
    }
}

/// Refuses a rate of 0, or above that of all links.
///
/// # Errors
/// If the rate is 0 or above the largest rate.
pub fn rate(key: &str, rate: Rate) -> Result<(), Refusal> {
    if rate.0 > 0 && rate <= RATE_MAX {
        return Ok(());
    }
    let limit = "must be above 0 b/s and at most 1000 Tb/s";
    refuse(key, rate, limit, "use 10 Gb/s")
}

/// The `circuit_rate` of racks: the given rate; otherwise a plane's share of the rate of their
/// uplinks.
pub fn circuit_rate(given: Option<Rate>, planes: u32, cluster: &Cluster) -> Rate {
    given.unwrap_or(Rate(cluster.rack_rate().0 / u64::from(planes.max(1))))
}

/// The `rate` of single nodes: the given rate; otherwise that of their links. Refuses the same
/// rates as [`rate`], and rates above that of the links.
///
/// # Errors
/// If `rate` is refused.
pub fn host_rate(given: Option<Rate>, cluster: &Cluster) -> Result<Rate, Refusal> {
    let link = match cluster.nic {
        Nic::Uncapped => None,
        Nic::Capped(rate) => Some(rate),
    };
    let chosen = given.or(link).unwrap_or(cluster.server_rate);
    rate("rate", chosen)?;
    match link {
        Some(link) if chosen > link => {
            let limit = format!("is faster than the server's link of {link} (cluster.nic)");
            let remedy = format!("lower it, or set cluster.nic = \"{chosen}\" or \"uncapped\"");
            refuse("rate", chosen, limit, remedy)
        }
        _ => Ok(chosen),
    }
}

/// Refuses the first amount of data that is above `most`.
///
/// # Errors
/// If an amount is above `most`.
pub fn amounts(amounts: &[(&str, Bytes)], most: Bytes) -> Result<(), Refusal> {
    match amounts.iter().find(|(_, bytes)| *bytes > most) {
        None => Ok(()),
        Some((key, bytes)) => refuse(key, bytes, format!("must be at most {most}"), "lower it"),
    }
}

/// Refuses empty packets, and packets larger than all frames.
///
/// # Errors
/// If `packet` is out of range.
pub fn packet(packet: Bytes) -> Result<(), Refusal> {
    within("packet", packet, Bytes(1)..=PACKET_MAX, "use 1500 B")
}

/// Refuses a time in which no packet can be sent: after subtracting `left_out`, a packet has to
/// fit.
///
/// # Errors
/// If the time of `key` is too short.
pub fn day(
    (key, time): (&str, Time),
    left_out: &str,
    day: Time,
    packet: Time,
) -> Result<(), Refusal> {
    if day >= packet {
        return Ok(());
    }
    let day = day.max(Time::ZERO);
    let limit = format!("without {left_out}, {day} remain, but a packet takes {packet}");
    refuse(key, time, limit, "raise it, or lower fabric.packet")
}

/// Refuses a turn that is not longer than its night.
///
/// # Errors
/// If the time of `key` is too short.
pub fn turn((key, time): (&str, Time), night: Time) -> Result<(), Refusal> {
    if time > night {
        return Ok(());
    }
    let limit = format!("no longer than its night, {night}");
    refuse(key, time, limit, "use ten times the night")
}

/// Refuses a share of a new measurement that is 0 or less, or above 1.
///
/// # Errors
/// If `smoothing` is out of range.
pub fn smoothing(share: f64) -> Result<(), Refusal> {
    if share > 0.0 && share <= 1.0 {
        return Ok(());
    }
    let limit = "must be above 0 and at most 1";
    refuse("smoothing", share, limit, "use 1 to average nothing")
}

/// Refuses a share of servers' links for circuits that starves one of the two networks.
///
/// # Errors
/// If `optical_weight` is out of range.
pub fn optical_weight(share: f64, remedy: &str) -> Result<(), Refusal> {
    if (0.5..1.0).contains(&share) {
        return Ok(());
    }
    let limit = "must be at least 0.5 and below 1, so that no queue starves";
    refuse("optical_weight", share, limit, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(refused: Result<(), Refusal>) -> String {
        refused.unwrap_err().to_string()
    }

    #[test]
    fn ends_are_within() {
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
        assert_eq!((racks(2), racks(4_096)), (Ok(()), Ok(())));
        assert_eq!(
            said(racks(1)),
            "cluster.racks = 1: circuits join 2 to 4096 racks; raise it"
        );
        assert!(said(racks(4_097)).ends_with("lower it"));
        assert_eq!((packet(Bytes(1)), packet(Bytes(65_535))), (Ok(()), Ok(())));
        for bad in [0, 65_536] {
            let end = "must be from 1 B to 65.535 KB; use 1500 B";
            assert!(said(packet(Bytes(bad))).ends_with(end));
        }
        assert_eq!((smoothing(1e-9), smoothing(1.0)), (Ok(()), Ok(())));
        assert!(smoothing(0.0).is_err() && smoothing(1.1).is_err() && smoothing(f64::NAN).is_err());
        assert_eq!(optical_weight(0.5, "use 0.9"), Ok(()));
        assert!(optical_weight(1.0, "use 0.9").is_err());
    }

    #[test]
    fn a_turn_has_a_day_for_a_packet() {
        let (slot, night) = (("slot", Time::NS * 100), Time::NS * 100);
        assert_eq!(
            said(turn(slot, night)),
            "fabric.slot = 100 ns: no longer than its night, 100 ns; use ten times the night"
        );
        assert_eq!(turn(slot, night - Time(1)), Ok(()));
        assert_eq!(day(slot, "the night", Time::NS, Time::NS), Ok(()));
        assert_eq!(
            said(day(slot, "the night", Time::NS, Time::NS * 2)),
            "fabric.slot = 100 ns: without the night, 1 ns remain, but a packet takes 2 ns; \
             raise it, or lower fabric.packet"
        );
    }

    #[test]
    fn the_first_that_is_too_much_is_named() {
        let most = Bytes(1_000_000_000_000);
        let all = [
            ("a", most),
            ("b", Bytes(most.0 + 1_000_000_000)),
            ("c", Bytes(u64::MAX)),
        ];
        assert_eq!(
            said(amounts(&all, most)),
            "fabric.b = 1.001 TB: must be at most 1 TB; lower it"
        );
    }
}
