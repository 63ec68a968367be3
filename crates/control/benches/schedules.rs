//! Speed of the schedulers and of HydRA's topology, one JSON object a line.
//!
//! CPU time of one core, since other work on the machine must not count; the
//! fastest of `RUNS` batches on each of three instances, and their median. Beside it
//! what the result is worth, so that no speed is bought with quality. Name cases
//! to run only those: `cargo bench -p lightloom-control --bench schedules -- solstice-256`.

#[path = "../tests/matching_cases/mod.rs"]
mod matching_cases;

use lightloom_control::birkhoff::{decompose, Scaling, Stop};
use lightloom_control::demand::Matrix;
use lightloom_control::sinkhorn;
use lightloom_control::solstice::{self, Network};
use lightloom_engine::{Rate, Stream, Time};
use matching_cases::Family;
use std::time::Duration;

/// Runs of every instance.
const RUNS: usize = 5;
/// Length of one measurement [ms].
const BATCH: f64 = 60.0;
/// Instances of every kind of demand.
const INSTANCES: u64 = 3;

/// CPU time that this thread has taken, where the system tells.
fn cpu_time() -> Option<Duration> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = schedstat.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Time of `count` calls [ms]: the processor's, or the clock's where the system
/// tells no other.
fn time(count: u32, call: &impl Fn()) -> f64 {
    let (wall, cpu) = (std::time::Instant::now(), cpu_time());
    (0..count).for_each(|_| call());
    let taken = match (cpu, cpu_time()) {
        (Some(from), Some(to)) => to - from,
        _ => wall.elapsed(),
    };
    taken.as_secs_f64() * 1e3
}

/// What a call returns, and its time [ms]: the mean over as many calls as take
/// [`BATCH`], since the system counts in steps of some milliseconds; the fastest
/// of `RUNS` such batches.
fn fastest<T>(call: impl Fn() -> T) -> (T, f64) {
    let result = call();
    let drop_it = || drop(std::hint::black_box(call()));
    let began = std::time::Instant::now();
    drop_it();
    let once = began.elapsed().as_secs_f64() * 1e3;
    let count = (BATCH / once.max(1e-4)).ceil() as u32;
    let batches = (0..RUNS).map(|_| time(count, &drop_it) / f64::from(count));
    (result, batches.fold(f64::INFINITY, f64::min))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The kinds of demand that are scheduled.
#[derive(Clone, Copy)]
enum Kind {
    Matching(Family),
    /// Every port sends 4 large flows, 70 % of its bytes, and 12 small ones, each
    /// 10 % around the even share: the traffic on which Solstice was presented.
    Sums,
}

const KINDS: [(&str, Kind); 4] = [
    ("uniform", Kind::Matching(Family::Uniform)),
    ("heavy", Kind::Matching(Family::Heavy)),
    ("sparse", Kind::Matching(Family::Sparse)),
    ("sums", Kind::Sums),
];

impl Kind {
    fn demand(self, n: usize, seed: u64) -> Matrix {
        match self {
            Kind::Matching(family) => {
                Matrix::new(n, n, family.demand(n, seed)).expect("demand in range")
            }
            Kind::Sums => sums(n, seed),
        }
    }
}

fn sums(n: usize, seed: u64) -> Matrix {
    let mut rng = Stream::new(seed, "sums", 0);
    let mut cells = vec![0i64; n * n];
    let flows = [[70e6 / 4.0; 4].as_slice(), &[30e6 / 12.0; 12]].concat();
    for bytes in flows {
        let mut to: Vec<usize> = (0..n).collect();
        rng.shuffle(&mut to);
        for (from, to) in to.into_iter().enumerate().filter(|(from, to)| from != to) {
            cells[from * n + to] += (bytes * (0.9 + 0.2 * rng.unit())) as i64;
        }
    }
    Matrix::new(n, n, cells).expect("demand in range")
}

/// One line of figures: each an instance's.
fn report(name: &str, kind: &str, ms: &[f64], figures: &[(&str, Vec<f64>)]) {
    let extra: String = figures
        .iter()
        .map(|(figure, values)| format!(r#", "{figure}": {values:.4?}"#))
        .collect();
    println!(
        r#"{{"bench": "control/{name}/{kind}", "cpu_ms": {ms:.3?}, "median_ms": {:.3}{extra}}}"#,
        median(ms.iter().copied())
    );
}

fn birkhoff(name: &str, mass: f64, scaling: Scaling) {
    for (label, kind) in KINDS {
        let (mut ms, mut scale_ms, mut terms) = (vec![], vec![], vec![]);
        for seed in 1..=INSTANCES {
            let demand = kind.demand(64, seed);
            let (matrix, took) = fastest(|| scaling.apply(&demand).expect("a scaling"));
            scale_ms.push(took);
            let stop = Stop {
                mass,
                ..Stop::NEVER
            };
            let (found, took) = fastest(|| decompose(&matrix, stop).expect("equal lines"));
            ms.push(took);
            terms.push(found.terms.len() as f64);
        }
        report(
            name,
            label,
            &ms,
            &[("scaling_ms", scale_ms), ("permutations", terms)],
        );
    }
}

fn solstice(name: &str, n: usize) {
    let network = Network {
        circuit: Rate(100 * Rate::GBPS.0),
        packet: Rate(10 * Rate::GBPS.0),
        night: Time::US * 20,
    };
    for (label, kind) in KINDS {
        let (mut ms, mut slots, mut gap) = (vec![], vec![], vec![]);
        for seed in 1..=INSTANCES {
            let demand = kind.demand(n, seed);
            let (plan, took) = fastest(|| solstice::plan(&demand, &network).expect("a plan"));
            ms.push(took);
            slots.push(plan.schedule.slots.len() as f64);
            let bound = solstice::lower_bound(&demand, &network).expect("a bound");
            gap.push(plan.total.0 as f64 / bound.0 as f64);
        }
        report(
            name,
            label,
            &ms,
            &[("slots", slots), ("times_lower_bound", gap)],
        );
    }
}

fn main() {
    let cases: Vec<(&str, Box<dyn Fn(&str)>)> = vec![
        (
            "birkhoff-64-90",
            Box::new(|name| birkhoff(name, 0.9, sinkhorn_scaling())),
        ),
        (
            "birkhoff-64-all",
            Box::new(|name| birkhoff(name, 1.0, sinkhorn_scaling())),
        ),
        (
            "birkhoff-64-90-stuffed",
            Box::new(|name| birkhoff(name, 0.9, Scaling::QuickStuff)),
        ),
        ("solstice-64", Box::new(|name| solstice(name, 64))),
        ("solstice-128", Box::new(|name| solstice(name, 128))),
        ("solstice-256", Box::new(|name| solstice(name, 256))),
    ];
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    for (name, run) in cases {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            run(name);
        }
    }
}

fn sinkhorn_scaling() -> Scaling {
    Scaling::Sinkhorn(sinkhorn::Options::default())
}
