//! Notes on settings of a resolved table that affect its results and are easily missed, such as a
//! buffer below the round trip of its link.
//!
//! A fabric derives its findings from its table before the run
//! ([`FabricConfig::findings`](crate::FabricConfig::findings)). Findings that depend on the end of
//! the run follow after it
//! ([`FabricConfig::findings_of_run`](crate::FabricConfig::findings_of_run)), because the end of a
//! run that waits for its flows is not known before. Commands print them as notes.

use lightloom_engine::Time;
use serde::Serialize;

/// A value of a fabric's table that limits its results, with its effect and its remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The key of the fabric's table.
    pub parameter: &'static str,
    /// Its value in force.
    pub value: String,
    /// How it affects results, as a clause: "a lone flow gets 0.57 of its link".
    pub effect: String,
    /// The change that the user should make, as an instruction: "raise it to 84".
    pub remedy: String,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Time of its end.
    pub at: Time,
    /// Arrival of its last flow; `None` if all flows arrive at once or wait for each other.
    pub arrived: Option<Time>,
    /// The flow of its jobs with the longest duration; `None` without jobs.
    pub job_flow: Option<JobFlow>,
    /// How to make the run longer, as an instruction: "lengthen run.stop".
    pub longer: String,
}

/// A flow of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobFlow {
    /// Time from its arrival to its last byte.
    pub took: Time,
    /// The time that the largest flow would take alone.
    pub alone: Time,
}

/// A time with three digits: `6.75 ms`.
pub fn about(time: Time) -> String {
    const STEPS: [(&str, i64); 5] = [
        ("s", 1_000_000_000_000),
        ("ms", 1_000_000_000),
        ("µs", 1_000_000),
        ("ns", 1_000),
        ("ps", 1),
    ];
    let fits = |&&(_, size): &&(&str, i64)| time.0 >= size;
    let (unit, size) = STEPS.iter().find(fits).unwrap_or(&STEPS[4]);
    let value = time.0 as f64 / *size as f64;
    let digits = if value < 9.995 {
        2
    } else {
        usize::from(value < 99.95)
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_digits() {
        let shown = [
            6_754_000_000,
            798_468_160_000,
            10_800_000_000_000,
            2_011_500_000,
        ]
        .map(|ps| about(Time(ps)));
        assert_eq!(shown, ["6.75 ms", "798 ms", "10.8 s", "2.01 ms"]);
    }
}
