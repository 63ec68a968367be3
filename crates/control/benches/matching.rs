//! Speed of matching and assignment, one JSON object a line.
//!
//! CPU time of one core, since other work on the machine must not count; the
//! fastest of `RUNS` runs on each of three instances, and their median. The
//! certificate of every result is checked. Name cases to run only those:
//! `cargo bench -p lightloom-control --bench matching -- assignment-4096`.

#[path = "../tests/matching_cases/mod.rs"]
mod matching_cases;

use lightloom_control::assignment::{self, Weights};
use matching_cases::{Family, FAMILIES};
use std::time::Duration;

/// Runs of every instance.
const RUNS: usize = 3;
/// Instances of every family.
const INSTANCES: u64 = 3;

/// CPU time that this process has taken, where the system tells.
fn cpu_time() -> Option<Duration> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(
        schedstat.split_whitespace().next()?.parse().ok()?,
    ))
}

/// CPU time of a call [ms], wall time where the system tells no other.
fn time<T>(call: impl FnOnce() -> T) -> (T, f64) {
    let (wall, cpu) = (std::time::Instant::now(), cpu_time());
    let result = call();
    let taken = match (cpu, cpu_time()) {
        (Some(from), Some(to)) => to - from,
        _ => wall.elapsed(),
    };
    (result, taken.as_secs_f64() * 1e3)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn assign(family: Family, n: usize, seed: u64) -> f64 {
    let demand = family.demand(n, seed);
    let weights = Weights::new(n, &demand);
    let mut solver = assignment::Solver::new();
    let runs = (0..RUNS).map(|_| {
        let (found, ms) = time(|| solver.maximum(&weights).expect("weights in range"));
        found.verify(&weights).expect("a proven optimum");
        ms
    });
    runs.fold(f64::INFINITY, f64::min)
}

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    for n in [1_000, 4_096] {
        let name = format!("assignment-{n}");
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        for family in FAMILIES {
            let ms: Vec<f64> = (1..=INSTANCES)
                .map(|seed| assign(family, n, seed))
                .collect();
            println!(
                r#"{{"bench": "control/{name}/{}", "cpu_ms": {ms:.3?}, "median_ms": {:.3}}}"#,
                family.name(),
                median(ms.clone())
            );
        }
    }
}
