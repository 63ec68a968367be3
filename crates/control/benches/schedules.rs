//! Measures the speed of the schedulers and of HydRA's topology and prints one JSON object per
//! line.
//!
//! The time is that of the fastest of many runs on each of three instances, or their mean CPU time
//! if other work always interrupts them, and the median of the three. The quality of the results is
//! printed as well, so that a gain in speed at the cost of quality is visible. Name cases to run
//! only those: `cargo bench -p lightloom-control --bench schedules -- solstice-256`.

#[path = "../tests/matching_cases/mod.rs"]
mod matching_cases;

use lightloom_control::algorithms::birkhoff::{decompose, Scaling, Stop};
use lightloom_control::algorithms::drrm::Drrm;
use lightloom_control::algorithms::eclipse;
use lightloom_control::algorithms::islip::Islip;
use lightloom_control::algorithms::multihop;
use lightloom_control::algorithms::sinkhorn;
use lightloom_control::algorithms::solstice::{self, Network};
use lightloom_control::algorithms::vlan;
use lightloom_control::demand::Matrix;
use lightloom_control::schedule::Frame;
use lightloom_engine::{Rate, Stream, Time};
use matching_cases::{Draws, Family};
use std::time::{Duration, Instant};

/// The time for which one instance is repeated.
const PATIENCE: Duration = Duration::from_millis(400);
/// Instances of every kind of demand.
const INSTANCES: u64 = 3;

/// The result of a call, and its time [ms].
fn fastest<T>(call: impl Fn() -> T) -> (T, f64) {
    let ms = time(|| drop(std::hint::black_box(call())));
    (call(), ms)
}

/// The time of a call [ms]: that of the fastest of many calls, or the mean CPU time of all calls,
/// whichever is less. Other work on the machine slows down some short calls and interrupts all long
/// ones.
fn time(mut call: impl FnMut()) -> f64 {
    let (began, cpu) = (Instant::now(), cpu_time());
    let (mut fastest, mut count) = (Duration::MAX, 0);
    while count == 0 || began.elapsed() <= PATIENCE {
        let from = Instant::now();
        call();
        fastest = fastest.min(from.elapsed());
        count += 1;
    }
    let mean = match (cpu, cpu_time()) {
        (Some(from), Some(to)) => (to - from) / count,
        _ => Duration::MAX,
    };
    fastest.min(mean).as_secs_f64() * 1e3
}

/// CPU time that this thread has used, if the system reports it.
fn cpu_time() -> Option<Duration> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = schedstat.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
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
    /// Every port sends 4 large flows, with 70 % of its bytes, and 12 small ones, each within 10 %
    /// of an equal share: the traffic of the Solstice paper.
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

/// The figures of one case, one value per instance.
struct Figures {
    ms: Vec<f64>,
    worth: Vec<(&'static str, Vec<f64>)>,
}

impl Figures {
    /// Measures every instance: a time [ms] and measures of quality.
    fn of(measure: impl Fn(u64) -> (f64, Vec<(&'static str, f64)>)) -> Figures {
        let (mut ms, mut worth) = (Vec::new(), Vec::new());
        for seed in 1..=INSTANCES {
            let (took, figures) = measure(seed);
            ms.push(took);
            worth.resize_with(figures.len(), || ("", Vec::new()));
            for (column, (name, value)) in worth.iter_mut().zip(figures) {
                column.0 = name;
                column.1.push(value);
            }
        }
        Figures { ms, worth }
    }

    fn print(&self, name: &str) {
        let worth = self.worth.iter();
        let worth: String = worth
            .map(|(figure, values)| format!(r#", "{figure}": {values:.4?}"#))
            .collect();
        println!(
            r#"{{"bench": "control/{name}", "ms": {:.3?}, "median_ms": {:.3}{worth}}}"#,
            self.ms,
            median(self.ms.iter().copied())
        );
    }
}

fn birkhoff(kind: Kind, mass: f64, scaling: Scaling) -> Figures {
    Figures::of(|seed| {
        let demand = kind.demand(64, seed);
        let (matrix, scaling_ms) = fastest(|| scaling.apply(&demand).expect("a scaling"));
        let stop = Stop {
            mass,
            ..Stop::NEVER
        };
        let (found, ms) = fastest(|| decompose(&matrix, stop).expect("equal lines"));
        let terms = found.terms.len() as f64;
        (
            ms,
            vec![("scaling_ms", scaling_ms), ("permutations", terms)],
        )
    })
}

fn solstice(kind: Kind, n: usize) -> Figures {
    let network = Network {
        circuit: Rate(100 * Rate::GBPS.0),
        packet: Rate(10 * Rate::GBPS.0),
        night: Time::US * 20,
    };
    Figures::of(|seed| {
        let demand = kind.demand(n, seed);
        let (plan, ms) = fastest(|| solstice::plan(&demand, &network).expect("a plan"));
        let bound = solstice::lower_bound(&demand, &network).expect("a bound");
        let slots = plan.schedule.slots.len() as f64;
        let gap = plan.total.0 as f64 / bound.0 as f64;
        (ms, vec![("slots", slots), ("times_lower_bound", gap)])
    })
}

/// A window in which about half of uniform demand fits, with nights of a hundredth of it.
fn eclipse(kind: Kind, n: usize) -> Figures {
    let rate = Rate(100 * Rate::GBPS.0);
    Figures::of(|seed| {
        let demand = kind.demand(n, seed);
        let mean = demand.total() as u64 / n as u64;
        let period = rate.time_for(mean);
        let night = period / 100;
        let frame = Frame {
            night,
            shortest: night + Time(1),
            ..Frame::of(period)
        };
        let options = eclipse::Options::new(rate, frame);
        let (plan, ms) = fastest(|| eclipse::plan(&demand, &options).expect("a plan"));
        let covered = plan.covered as f64;
        let figures = [
            ("slots", plan.schedule.slots.len() as f64),
            ("share", covered / demand.total() as f64),
            ("of_upper_bound", covered / plan.upper_bound as f64),
        ];
        (ms, figures.to_vec())
    })
}

/// The demands of HydRA: the number of communicating pairs of 320 racks.
const TALKING: usize = 16_824;

/// Pairs of racks drawn at random, with heavy-tailed weights. Each needs a third of a circuit, or a
/// share in proportion to its weight, up to a whole circuit.
fn hydra_demands(seed: u64, proportional: bool) -> Vec<multihop::Demand> {
    let (mut rng, mut draws) = (Stream::new(seed, "pairs", 0), Draws::new(seed));
    let mut pairs: Vec<(u32, u32)> = (0..320)
        .flat_map(|a| (a + 1..320).map(move |b| (a, b)))
        .collect();
    rng.shuffle(&mut pairs);
    let demand = |&(a, b): &(u32, u32)| {
        let weight = draws.bytes();
        let need = match proportional {
            true => (weight * 100_000).min(CAPACITY),
            false => CAPACITY / 3,
        };
        multihop::Demand { a, b, weight, need }
    };
    pairs[..TALKING].iter().map(demand).collect()
}

/// 10 Gb/s.
const CAPACITY: i64 = 10_000_000_000;

fn hydra(proportional: bool, without_ports: bool) -> Figures {
    let hardware = multihop::Hardware::new(320, 32, CAPACITY);
    let options = multihop::Options {
        hops: 4,
        without_ports,
    };
    Figures::of(|seed| {
        let demands = hydra_demands(seed, proportional);
        let plan = || multihop::plan(hardware, &demands, options).expect("a topology");
        let (topology, ms) = fastest(plan);
        let figures = [
            ("circuits", topology.circuits.len() as f64),
            ("served", topology.served() as f64),
        ];
        (ms, figures.to_vec())
    })
}

/// VLANs for the paths of HydRA's topology.
fn vlans(proportional: bool) -> Figures {
    let hardware = multihop::Hardware::new(320, 32, CAPACITY);
    let options = multihop::Options::default();
    Figures::of(|seed| {
        let demands = hydra_demands(seed, proportional);
        let topology = multihop::plan(hardware, &demands, options).expect("a topology");
        let circuits: Vec<(u32, u32)> = topology.circuits.iter().map(|c| (c.a, c.b)).collect();
        let allocate = || vlan::allocate(&circuits, &topology.routes, 1).expect("VLANs");
        let (found, ms) = fastest(allocate);
        let figures = [
            ("paths", found.distinct as f64),
            ("vlans", found.circuits.len() as f64),
            ("lower_bound", found.lower_bound as f64),
        ];
        (ms, figures.to_vec())
    })
}

/// 64 ports with full queues for a share `density` of the pairs: one slot of iSLIP or DRRM.
fn arbiters(density: f64, iterations: usize) -> Figures {
    Figures::of(|seed| {
        let mut rng = Stream::new(seed, "requests", 0);
        let mut row = || (0..64).fold(0, |row, j| row | u64::from(rng.unit() < density) << j);
        let wants: Vec<[u64; 1]> = (0..64).map(|_| [row()]).collect();
        const SLOTS: usize = 1000;
        let mut output_of = [0; 64];
        let mut served = 0;
        let mut switch = Islip::<1>::new(64);
        let ms = time(|| {
            served = (0..SLOTS)
                .map(|_| switch.schedule(iterations, |j| wants[j], |i, o| output_of[i] = o))
                .sum();
        });
        let mut switch = Drrm::<1>::new(64);
        let drrm = time(|| {
            (0..SLOTS).for_each(|_| {
                switch.schedule(iterations, |i| wants[i], |i, o| output_of[i] = o);
            });
        });
        let figures = [
            ("islip_ns_a_slot", ms * 1e6 / SLOTS as f64),
            ("drrm_ns_a_slot", drrm * 1e6 / SLOTS as f64),
            ("islip_matched", served as f64 / SLOTS as f64),
        ];
        (ms, figures.to_vec())
    })
}

type Case = Box<dyn Fn(Kind) -> Figures>;

fn cases() -> Vec<(&'static str, Case)> {
    let sinkhorn = Scaling::Sinkhorn(sinkhorn::Options::default());
    vec![
        (
            "birkhoff-64-90",
            Box::new(move |kind| birkhoff(kind, 0.9, sinkhorn)),
        ),
        (
            "birkhoff-64-all",
            Box::new(move |kind| birkhoff(kind, 1.0, sinkhorn)),
        ),
        (
            "birkhoff-64-90-stuffed",
            Box::new(|kind| birkhoff(kind, 0.9, Scaling::QuickStuff)),
        ),
        ("solstice-64", Box::new(|kind| solstice(kind, 64))),
        ("solstice-128", Box::new(|kind| solstice(kind, 128))),
        ("solstice-256", Box::new(|kind| solstice(kind, 256))),
        ("eclipse-64", Box::new(|kind| eclipse(kind, 64))),
        ("eclipse-128", Box::new(|kind| eclipse(kind, 128))),
        ("eclipse-256", Box::new(|kind| eclipse(kind, 256))),
        ("eclipse-1000", Box::new(|kind| eclipse(kind, 1000))),
    ]
}

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let is_wanted = |case: &str, name: &String| {
        wanted.is_empty() || wanted.iter().any(|w| w == case || w == name)
    };
    for (case, run) in cases() {
        for (label, kind) in KINDS {
            let name = format!("{case}/{label}");
            if is_wanted(case, &name) {
                run(kind).print(&name);
            }
        }
    }
    for (label, proportional, without_ports) in [
        ("equal", false, false),
        ("equal-beyond-ports", false, true),
        ("proportional", true, false),
        ("proportional-beyond-ports", true, true),
    ] {
        let name = format!("hydra-320/{label}");
        if is_wanted("hydra-320", &name) {
            hydra(proportional, without_ports).print(&name);
        }
    }
    for (label, proportional) in [("equal", false), ("proportional", true)] {
        let name = format!("vlan-320/{label}");
        if is_wanted("vlan-320", &name) {
            vlans(proportional).print(&name);
        }
    }
    for (label, density, iterations) in [("full-1", 1.0, 1), ("half-1", 0.5, 1), ("half-4", 0.5, 4)]
    {
        let name = format!("round-robin-64/{label}");
        if is_wanted("round-robin-64", &name) {
            arbiters(density, iterations).print(&name);
        }
    }
}
