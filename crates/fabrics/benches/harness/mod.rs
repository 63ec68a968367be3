//! Shared parts of the fabrics' benches: a process for each case, so that no case finds memory or
//! caches as another left them, and the system's statistics of a process.

// Every benchmark is a separate program and uses only some of this module.
#![allow(dead_code)]

use lightloom_engine::run::{run, Outcome, Plan, Silent};
use lightloom_engine::{Cluster, Flows, Io, Ledger};
use lightloom_fabrics::{find, Site};
use serde_json::Value;

/// Marks the process that measures one case.
const CHILD: &str = "--measure";

/// Runs the cases that the command line names, or all, each in a separate process, and prints their
/// measurements, one per line.
pub fn each_in_a_process<C>(cases: &[C], name: impl Fn(&C) -> &str, measure: impl Fn(&C) -> Value) {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let itself = std::env::current_exe().expect("the path of this program");
    for case in cases {
        let name = name(case);
        if args.first().is_some_and(|a| a == CHILD) {
            if args.get(1).is_some_and(|a| a == name) {
                println!("{}", measure(case));
            }
        } else if args.is_empty() || args.iter().any(|a| a == name) {
            let child = std::process::Command::new(&itself)
                .args([CHILD, name])
                .status()
                .expect("a process for the case");
            assert!(child.success(), "{name} failed");
        }
    }
}

/// A fabric that ran several times: the times of each run, and the results of the last.
pub struct Repeated {
    /// The kernel's time [s], run by run.
    pub kernel_s: Vec<f64>,
    /// Processor time [s], if the system reports it.
    pub processor_s: Vec<f64>,
    /// The sums of the last run.
    pub ledger: Ledger,
    /// The remaining results.
    pub outcome: Outcome,
}

/// The inputs of a fabric, with seed 1.
pub fn site<'a>(cluster: &'a Cluster, flows: &'a Flows, threads: usize) -> Site<'a> {
    Site {
        cluster,
        flows,
        seed: 1,
        threads,
        library: None,
    }
}

/// Runs the fabric of a table `runs` times, each time from the start.
pub fn repeat(runs: usize, kind: &str, table: &Value, site: &Site, plan: &Plan) -> Repeated {
    let entry = find(kind).expect("a fabric of the registry");
    let table = (entry.resolve)(table, site.cluster).expect("a table that can run");
    let (mut kernel_s, mut cpu_s) = (Vec::new(), Vec::new());
    let mut last = None;
    for _ in 0..runs {
        let mut fabric = (entry.build)(&table, site).expect("a fabric");
        let mut io = Io::new(site.flows.clone());
        let before = processor_s();
        let outcome = run(fabric.as_mut(), &mut io, plan, &mut Silent).expect("faults it has");
        cpu_s.extend(before.zip(processor_s()).map(|(from, to)| to - from));
        kernel_s.push(outcome.kernel_s);
        last = Some((io.ledger, outcome));
    }
    let (ledger, outcome) = last.expect("at least one run");
    Repeated {
        kernel_s,
        processor_s: cpu_s,
        ledger,
        outcome,
    }
}

/// The time of the fastest run; slower runs were delayed by other processes.
pub fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Time for which this thread has had a processor [s], if the system reports it.
pub fn processor_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// Peak memory of this process [B], if the system reports it.
pub fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kb: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kb * 1024)
}
