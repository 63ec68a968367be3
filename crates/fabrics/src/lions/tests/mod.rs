//! Oracles of LIONS: closed forms within confidence intervals, times by hand, and refusals.

mod arbiters;
mod attempts;
mod bad_input;
mod by_hand;
mod detours;
mod host_links;
mod pipelined;
mod slotted;
mod traffic;
mod tuning;
mod turns;
mod unslotted;
mod waits;

use super::ENTRY;
use crate::contract::Site;
use lightloom_engine::run::{run, Outcome, Plan, Silent, Stop};
use lightloom_engine::{Cluster, Fabric, Flows, Io, Nic, Rate, Time};
use serde_json::{json, Value};

/// Single nodes of 10 Gb/s.
fn cluster(hosts: u32) -> Cluster {
    Cluster {
        racks: hosts,
        servers_per_rack: 1,
        server_rate: Rate(10 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    }
}

/// A slot of the closed forms: 250 B at 10 Gb/s, without headers and gaps.
const SLOT: Time = Time(200_000);
const PACKET: u64 = 250;

/// A switch of the closed forms: packets only, no header, gap or delay.
fn bare(architecture: &str, timing: &str, k: u32) -> Value {
    json!({
        "architecture": architecture, "timing": timing, "receivers": k,
        "packet": "250 B", "header": "0 B", "guard": "0 B",
        "tuning": "0 ns", "fibre": "0 m",
    })
}

/// `table` with other keys.
fn with(mut table: Value, keys: Value) -> Value {
    for (key, value) in keys.as_object().expect("a table") {
        table[key] = value.clone();
    }
    table
}

fn fabric(hosts: u32, table: &Value, flows: &Flows) -> Box<dyn Fabric> {
    let cluster = cluster(hosts);
    let site = Site {
        cluster: &cluster,
        flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let table = (ENTRY.resolve)(table, &cluster).unwrap_or_else(|e| panic!("{e}"));
    (ENTRY.build)(&table, &site).expect("a fabric")
}

fn simulate(hosts: u32, table: &Value, flows: Flows, stop: Stop) -> (Io, Outcome) {
    let mut fabric = fabric(hosts, table, &flows);
    let mut io = Io::new(flows);
    let plan = Plan {
        stop,
        limit: Time::S,
        sample: None,
        faults: vec![],
    };
    let outcome = run(&mut *fabric, &mut io, &plan, &mut Silent).expect("no faults");
    (io, outcome)
}

/// A mean and the half-width of its confidence interval.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    mean: f64,
    half: f64,
}

/// Number of batches: small enough for long, nearly independent batches.
const BATCHES: usize = 20;
/// Student's t, 19 degrees of freedom, 99.9 % two-sided.
const T: f64 = 3.883;

impl Estimate {
    /// The estimate from the means of batches of `values`, which are in order of time; the first
    /// eighth is warm-up.
    fn of(values: &[f64]) -> Estimate {
        let steady = &values[values.len() / 8..];
        let size = steady.len() / BATCHES;
        let batch = |b: usize| steady[b * size..(b + 1) * size].iter().sum::<f64>() / size as f64;
        let batches: Vec<f64> = (0..BATCHES).map(batch).collect();
        let n = BATCHES as f64;
        let mean = batches.iter().sum::<f64>() / n;
        let variance = batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Estimate {
            mean,
            half: T * (variance / n).sqrt(),
        }
    }

    /// Fails if the interval is not between the theoretical bounds `least` and `most`, or if it is
    /// too wide.
    fn is_from(self, least: f64, most: f64, what: &str) {
        let Estimate { mean, half } = self;
        assert!(
            mean + half >= least && mean - half <= most,
            "{what}: {mean:.4} ± {half:.4} for {least:.4} to {most:.4}"
        );
        assert!(
            half <= 0.04 * mean,
            "{what}: {mean:.4} ± {half:.4} is too wide"
        );
    }

    /// Fails if the theoretical value is outside of the interval, widened by the error of the
    /// theory (0 if it is exact), or if the interval is too wide.
    fn agrees(self, theory: f64, error: f64, what: &str) {
        let Estimate { mean, half } = self;
        let within = half + error * theory;
        assert!(
            (mean - theory).abs() <= within,
            "{what}: {mean:.4} ± {half:.4} for {theory:.4}"
        );
        assert!(
            half <= 0.04 * theory,
            "{what}: {mean:.4} ± {half:.4} is too wide"
        );
    }
}

/// Time from arrival to the last byte of each flow, in slots.
fn latencies(io: &Io) -> Vec<f64> {
    latencies_in(SLOT, io)
}

/// The same in slots of any length.
fn latencies_in(slot: Time, io: &Io) -> Vec<f64> {
    let done = (0..io.flows.len()).filter(|&f| io.flows.finish[f] != Time::NEVER);
    done.map(|f| (io.flows.finish[f] - io.flows.arrival[f]).0 as f64 / slot.0 as f64)
        .collect()
}

/// Packets delivered in each slot, for each host, of single-packet flows.
fn delivered(io: &Io, hosts: u32, slots: usize) -> Vec<f64> {
    delivered_in(SLOT, io, hosts, slots)
}

/// The same in slots of any length.
fn delivered_in(slot: Time, io: &Io, hosts: u32, slots: usize) -> Vec<f64> {
    let mut count = vec![0.0; slots];
    for finish in io.flows.finish.iter().filter(|&&t| t != Time::NEVER) {
        // A packet that is there at the end of a slot was sent in it.
        if let Some(c) = count.get_mut(((finish.0 - 1) / slot.0) as usize) {
            *c += 1.0 / hosts as f64;
        }
    }
    count
}
