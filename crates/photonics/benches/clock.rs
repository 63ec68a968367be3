//! Measures the speed of the clocks' fast loop and prints one JSON object per line.
//!
//! It reports the CPU time of one thread for each of three runs, so that other work on the machine
//! does not count. Name cases to run only those: `cargo bench -p lightloom-photonics -- clock-128`.

use lightloom_photonics::clock::{run, updates, ClockConfig};
use serde_json::json;
use std::time::{Duration, Instant};

/// Nodes, and network time.
const CASES: [(u32, &str); 2] = [(128, "1 s"), (4_096, "20 ms")];
/// Runs of each case.
const RUNS: usize = 3;

/// CPU time that this thread has used, if the system reports it.
fn cpu_time() -> Option<Duration> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(
        schedstat.split_whitespace().next()?.parse().ok()?,
    ))
}

/// CPU time of a call [s], or wall time if the system reports no CPU time.
fn time<T>(call: impl FnOnce() -> T) -> (T, f64) {
    let (wall, cpu) = (Instant::now(), cpu_time());
    let result = call();
    let taken = match (cpu, cpu_time()) {
        (Some(from), Some(to)) => to - from,
        _ => wall.elapsed(),
    };
    (result, taken.as_secs_f64())
}

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    for (nodes, duration) in CASES {
        let name = format!("clock-{nodes}");
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let table = json!({ "nodes": nodes, "duration": duration, "settle": "0 s" });
        let config = ClockConfig::read(&table).expect("a configuration that can run");
        let mut seconds = Vec::new();
        let mut deviation = 0.0;
        for _ in 0..RUNS {
            let (outcome, took) =
                time(|| run(&config, &mut |_| true).expect("it is not cancelled"));
            deviation = outcome.epochs.verdict.deviation_max_ps;
            seconds.push(took);
        }
        let updates = updates(&config);
        let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let figure = json!({
            "bench": format!("clock/{name}"),
            "updates": updates,
            "network_s": config.duration.as_secs_f64(),
            "processor_s": seconds,
            "M_updates_per_s": updates as f64 / best / 1e6,
            "deviation_max_ps": deviation,
        });
        println!("{figure}");
    }
}
