//! Idle switches: in the last slot of a cycle, some switches may have no matching left. A note
//! before the run states the share of a cycle that is lost; the kernel simulates it.

use crate::findings::Finding;
use lightloom_engine::Time;
use std::ops::RangeInclusive;

/// The largest share of a cycle for which switches may idle without a note.
const LITTLE: f64 = 0.05;

/// The number of slots of a cycle.
pub fn slots(matchings: u32, switches: u32) -> i64 {
    i64::from(matchings.div_ceil(switches))
}

/// The share of a cycle for which switches idle, on average.
fn idle(matchings: u32, switches: u32) -> f64 {
    let slots = matchings.div_ceil(switches) * switches;
    1.0 - f64::from(matchings) / f64::from(slots)
}

/// The finding that switches idle for more than `LITTLE` of a cycle, with the nearest number of
/// `allowed` switches for which they do not.
pub fn finding(matchings: u32, switches: u32, allowed: RangeInclusive<u32>) -> Option<Finding> {
    let idles = idle(matchings, switches);
    if idles <= LITTLE {
        return None;
    }
    let mut fit: Vec<u32> = allowed.filter(|&s| idle(matchings, s) <= LITTLE).collect();
    // If two are equally near, the larger, which has the shorter cycle.
    fit.sort_by_key(|&s| (s.abs_diff(switches), u32::MAX - s));
    let better = fit.first()?;
    Some(Finding {
        parameter: "switches",
        value: switches.to_string(),
        effect: format!(
            "circuits carry {:.0} % less than they could: {matchings} matchings are dealt to \
             {switches} switches, and some switches idle in the last slot of a cycle",
            100.0 * idles
        ),
        remedy: format!("set it to {better}"),
    })
}

/// The finding that a single switch connects all racks in turn, with a number of switches that do
/// so in a shorter cycle at the same rate per rack, with links of about a server's rate; `None` if
/// there are several switches, or one server per rack.
pub fn one_switch(matchings: u32, switches: u32, servers: u32, slot: Time) -> Option<Finding> {
    let fit = |&s: &u32| s > 1 && idle(matchings, s) <= LITTLE;
    let better = (2..=matchings)
        .filter(fit)
        .min_by_key(|&s| (s.abs_diff(servers), u32::MAX - s))?;
    let cycle = |switches: u32| slot * slots(matchings, switches);
    (switches == 1 && servers > 1).then(|| Finding {
        parameter: "switches",
        value: switches.to_string(),
        effect: format!(
            "a rack has a circuit to one other at a time, and meets each once in a cycle of {}",
            cycle(switches)
        ),
        remedy: format!(
            "set it to {better} for a cycle of {} at the same rate of a rack",
            cycle(better)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 15 matchings on one switch are 15 slots; with 8 servers five switches are nearest, with 16
    /// servers 15.
    #[test]
    fn one_switch_is_noted_with_a_shorter_cycle() {
        let found = |switches, servers| one_switch(15, switches, servers, Time::US * 200);
        let told = found(1, 8).expect("one switch");
        assert!(told.effect.ends_with("a cycle of 3 ms"), "{}", told.effect);
        assert!(
            told.remedy.starts_with("set it to 5 for a cycle of 600 us"),
            "{}",
            told.remedy
        );
        let many = found(1, 16).expect("one switch").remedy;
        assert!(
            many.starts_with("set it to 15 for a cycle of 200 us"),
            "{many}"
        );
        assert_eq!((found(3, 8), found(1, 1)), (None, None));
        assert_eq!(one_switch(1, 1, 8, Time::US), None);
    }

    /// Seven matchings on six switches are two slots, in the second of which five idle.
    #[test]
    fn a_number_that_does_not_divide_is_noted() {
        assert!((idle(7, 6) - 5.0 / 12.0).abs() < 1e-12);
        let remedy = |matchings, switches, most| {
            let found = finding(matchings, switches, 2..=most);
            found.map(|f| f.remedy)
        };
        assert_eq!(remedy(7, 6, 7), Some("set it to 7".into()));
        assert_eq!(remedy(15, 6, 15), Some("set it to 5".into()));
        // Nine racks have nine matchings, and eight switches at most.
        assert_eq!(remedy(9, 6, 8), Some("set it to 3".into()));
        assert_eq!(remedy(107, 6, 107), None);
        assert_eq!(remedy(6, 6, 6), None);
    }
}
