//! Matchings dealt to switches: in the last slot of a cycle some have none, and idle.

use crate::findings::Finding;

/// A share of a cycle for which switches may idle without a word.
const LITTLE: f64 = 0.05;

/// The share of a cycle for which switches idle, on average.
fn idle(matchings: u32, switches: u32) -> f64 {
    let slots = matchings.div_ceil(switches) * switches;
    1.0 - f64::from(matchings) / f64::from(slots)
}

/// That switches idle for more than a little of a cycle, with the nearest number of them, `least`
/// or more, that does not.
pub fn finding(matchings: u32, switches: u32, least: u32) -> Option<Finding> {
    let idles = idle(matchings, switches);
    if idles <= LITTLE {
        return None;
    }
    let mut fit: Vec<u32> = (least..=matchings)
        .filter(|&s| idle(matchings, s) <= LITTLE)
        .collect();
    // Of two as near the larger, which has the shorter cycle.
    fit.sort_by_key(|&s| (s.abs_diff(switches), u32::MAX - s));
    let better = fit.first()?;
    Some(Finding {
        parameter: "switches",
        value: switches.to_string(),
        effect: format!(
            "{:.0} % of what circuits could carry is lost: {matchings} matchings are dealt to \
             {switches} switches, of which some idle in the last slot of a cycle",
            100.0 * idles
        ),
        remedy: format!("set it to {better}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seven matchings on six switches are two slots, in the second of which five idle.
    #[test]
    fn a_number_that_does_not_divide_is_told() {
        assert!((idle(7, 6) - 5.0 / 12.0).abs() < 1e-12);
        let remedy = |matchings, switches| finding(matchings, switches, 2).map(|f| f.remedy);
        assert_eq!(remedy(7, 6), Some("set it to 7".into()));
        assert_eq!(remedy(15, 6), Some("set it to 5".into()));
        assert_eq!(remedy(107, 6), None);
        assert_eq!(remedy(6, 6), None);
    }
}
