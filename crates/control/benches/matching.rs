//! Measures the speed of matching and assignment and prints one JSON object per line.
//!
//! It reports the CPU time of one thread, so that other work on the machine does not count, for
//! each of three instances and their median. Each instance is repeated until the clock's resolution
//! no longer matters. For matching the time starts at the demand matrix and includes the sum of
//! both directions. The certificate of every result is checked. Name cases to run only those:
//! `cargo bench -p lightloom-control --bench matching -- matching-1000`.

#[path = "../tests/matching_cases/mod.rs"]
mod matching_cases;

use lightloom_control::algorithms::assignment;
use lightloom_control::algorithms::matching::{maximum_weight_perfect, Weights};
use lightloom_control::demand::Matrix;
use matching_cases::{Family, EXTREMES, FAMILIES};
use std::time::{Duration, Instant};

/// Instances of every family.
const INSTANCES: u64 = 3;
/// The time for which an instance is repeated.
const LONG_ENOUGH: Duration = Duration::from_millis(250);

/// CPU time of one instance [ms], and the size of its proof.
type Figure = (f64, Option<Proof>);

/// A measurement of an instance: a family, its size, a seed.
type Measure = fn(Family, usize, u64) -> Figure;

/// The size of the proof of an optimum.
#[derive(Clone, Copy)]
struct Proof {
    /// The number of times that all pairs were priced.
    rounds: u32,
    /// Pairs in the last sparse graph.
    edges: usize,
    /// Odd sets in the certificate.
    blossoms: usize,
}

const CASES: [(&str, usize, Measure); 4] = [
    ("matching", 256, matching),
    ("matching", 1_000, matching),
    ("assignment", 1_000, assignment),
    ("assignment", 4_096, assignment),
];

/// CPU time that this thread has used, if the system reports it; its resolution is a scheduler
/// tick, some milliseconds.
fn cpu_time() -> Option<Duration> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(
        schedstat.split_whitespace().next()?.parse().ok()?,
    ))
}

/// CPU time of a call [ms], or wall time if the system reports no CPU time.
fn time<T>(mut call: impl FnMut() -> T) -> (T, f64) {
    let (wall, cpu) = (Instant::now(), cpu_time());
    let mut calls = 0;
    loop {
        let result = call();
        calls += 1;
        if wall.elapsed() >= LONG_ENOUGH {
            let taken = match (cpu, cpu_time()) {
                (Some(from), Some(to)) => to - from,
                _ => wall.elapsed(),
            };
            return (result, taken.as_secs_f64() * 1e3 / f64::from(calls));
        }
    }
}

fn matching(family: Family, n: usize, seed: u64) -> Figure {
    let demand = Matrix::new(n, n, family.demand(n, seed)).expect("demand");
    let ((weights, found), ms) = time(|| {
        let weights = Weights::symmetrise(&demand).expect("weights in range");
        let found = maximum_weight_perfect(&weights);
        (weights, found)
    });
    found.verify(&weights).expect("a proven optimum");
    let blossoms = found.certificate.blossoms.len();
    (
        ms,
        Some(Proof {
            rounds: found.rounds,
            edges: found.edges,
            blossoms,
        }),
    )
}

fn assignment(family: Family, n: usize, seed: u64) -> Figure {
    let demand = family.demand(n, seed);
    let weights = assignment::Weights::new(n, &demand);
    let mut solver = assignment::Solver::new();
    let (found, ms) = time(|| solver.maximum(&weights).expect("weights in range"));
    found.verify(&weights).expect("a proven optimum");
    (ms, None)
}

/// The output line of a case.
fn line(case: &str, figures: &[Figure]) -> String {
    let ms: Vec<f64> = figures.iter().map(|figure| figure.0).collect();
    let mut sorted = ms.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    let proofs: Vec<Proof> = figures.iter().filter_map(|figure| figure.1).collect();
    let list = |of: fn(&Proof) -> usize| proofs.iter().map(of).collect::<Vec<_>>();
    let proof = match proofs.is_empty() {
        true => String::new(),
        false => format!(
            r#", "rounds": {:?}, "edges": {:?}, "blossoms": {:?}"#,
            list(|proof| proof.rounds as usize),
            list(|proof| proof.edges),
            list(|proof| proof.blossoms),
        ),
    };
    format!(r#"{{"bench": "{case}", "ms": {ms:.3?}, "median_ms": {median:.3}{proof}}}"#)
}

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    for (what, n, measure) in CASES {
        let name = format!("{what}-{n}");
        for family in FAMILIES.into_iter().chain(EXTREMES) {
            let full = format!("{name}-{}", family.name());
            if wanted.is_empty() || wanted.iter().any(|w| *w == name || *w == full) {
                let figures: Vec<Figure> = (1..=INSTANCES)
                    .map(|seed| measure(family, n, seed))
                    .collect();
                println!("{}", line(&format!("control/{full}"), &figures));
            }
        }
    }
}
