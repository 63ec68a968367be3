//! Measures speed and memory of complete runs of c-Through and HydRA and prints one JSON object per
//! line.
//!
//! Both are built through the registry, so the cases measure their kernels, whatever their
//! structure. The time of a run is spent on flows that start and end (64 racks) or on decisions:
//! matching 1,000 racks, a topology of 320 racks on 32 planes. In the latter all flows begin at
//! once and few end, no server's link limits them and transport is ideal, so that rates are seldom
//! recomputed; delays are short, so that there is a decision in every interval.
//!
//! Every case runs several times in a process of its own, so that its peak memory is measured
//! separately; the fastest run counts, all are printed. Name cases to run only those: `cargo bench
//! --bench hybrid -- cthrough/1000-racks`.

mod harness;

use harness::{each_in_a_process, least, peak_rss, repeat, site};
use lightloom_engine::run::{Fault, Plan, Stop};
use lightloom_engine::{Cluster, Command, Element, Flows, Nic, Rate, Time};
use lightloom_workload::WorkloadConfig;
use serde_json::{json, Value};

const RUNS: usize = 5;

/// A simulation and its length.
struct Case {
    name: &'static str,
    kind: &'static str,
    table: Value,
    cluster: Cluster,
    workload: Value,
    until: Time,
    faults: Vec<Fault>,
    /// From one decision to the next, where there is one in every interval.
    decides_every: Option<Time>,
}

/// Racks of servers at 1 Gb/s, as in c-Through's testbed (§5.1).
fn racks(racks: u32, servers_per_rack: u32) -> Cluster {
    Cluster {
        racks,
        servers_per_rack,
        server_rate: Rate::GBPS,
        nic: Nic::Capped(Rate::GBPS),
    }
}

/// Racks that are a single node each, whose link does not limit.
fn nodes(racks: u32) -> Cluster {
    Cluster {
        racks,
        servers_per_rack: 1,
        server_rate: Rate(4 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    }
}

/// More flows than arrive within the run; few hold most bytes.
fn coming_and_going(load: f64, mean: &str) -> Value {
    json!({
        "arrivals": "poisson", "load": load, "flows": 100_000, "pattern": "uniform",
        "sizes": {"kind": "pareto", "shape": 1.2, "mean": mean},
    })
}

/// Flows that begin at once, most of which outlast the run.
fn at_once(flows: u32) -> Value {
    json!({
        "arrivals": "at-once", "flows": flows, "pattern": "uniform",
        "sizes": {"kind": "pareto", "shape": 1.2, "mean": "10 GB"},
    })
}

/// The controller fails twice, for two seconds; of every eighth rack the port on
/// plane 0 breaks, one rack a second, for three seconds.
fn failures(racks: u32) -> Vec<Fault> {
    let for_a_while = |element, at: Time, span: Time| {
        let fail = Command::Fail { element, loss: 1.0 };
        let repair = Command::Repair(element);
        [(at, fail), (at + span, repair)].map(|(at, command)| Fault { at, command })
    };
    let ports = (0..racks).step_by(8).zip(1..).flat_map(|(node, second)| {
        let port = Element::Port { node, plane: 0 };
        for_a_while(port, Time::S * second, Time::S * 3)
    });
    let controller =
        [3, 8].map(|second| for_a_while(Element::Controller, Time::S * second, Time::S * 2));
    ports.chain(controller.into_iter().flatten()).collect()
}

fn cases() -> Vec<Case> {
    let cthrough = Case {
        name: "cthrough/40to1-64-racks",
        kind: "cthrough",
        table: json!({"oversubscription": 40.0, "circuit_rate": "4 Gb/s"}),
        cluster: racks(64, 16),
        workload: coming_and_going(0.08, "20 MB"),
        until: Time::S * 20,
        faults: Vec::new(),
        decides_every: Some(Time::S),
    };
    let hydra = Case {
        name: "hydra/64-racks",
        kind: "hydra",
        table: json!({
            "planes": 4, "circuit_rate": "10 Gb/s", "interval": "2 s", "threshold": "100 MB", "pushing": "parallel",
        }),
        cluster: racks(64, 16),
        workload: coming_and_going(0.2, "20 MB"),
        until: Time::S * 12,
        faults: Vec::new(),
        // Rules may take longer than an interval.
        decides_every: None,
    };
    vec![
        Case {
            name: "cthrough/40to1-64-racks-faults",
            table: cthrough.table.clone(),
            workload: cthrough.workload.clone(),
            faults: failures(64),
            decides_every: None,
            ..cthrough
        },
        Case {
            name: "hydra/64-racks-faults",
            table: hydra.table.clone(),
            workload: hydra.workload.clone(),
            faults: failures(64),
            ..hydra
        },
        Case {
            name: "cthrough/1000-racks",
            kind: "cthrough",
            table: json!({"oversubscription": 40.0, "circuit_rate": "4 Gb/s", "ramp": "0 s", "dip": "0 s"}),
            cluster: nodes(1_000),
            workload: at_once(8_000),
            until: Time::S * 30,
            faults: Vec::new(),
            decides_every: Some(Time::S),
        },
        Case {
            name: "hydra/320-racks-32-planes",
            kind: "hydra",
            table: json!({
                "circuit_rate": "10 Gb/s", "interval": "2 s", "reconfigure": "whole", "settle": "100 ms",
                "retag": "0 s", "rule": "0 s", "transport_recovery": "0 s",
            }),
            cluster: nodes(320),
            workload: at_once(16_824),
            until: Time::S * 40,
            faults: Vec::new(),
            decides_every: Some(Time::S * 2),
        },
        cthrough,
        hydra,
    ]
}

fn flows(case: &Case) -> Flows {
    let workload: WorkloadConfig =
        serde_json::from_value(case.workload.clone()).expect("a workload");
    let workload = workload.resolve(&case.cluster).expect("one that can run");
    workload.generate(&case.cluster, 1).expect("flows")
}

fn measure(case: &Case) -> Value {
    let flows = flows(case);
    let plan = Plan {
        stop: Stop::At(case.until),
        limit: case.until,
        sample: Some(Time::S),
        faults: case.faults.clone(),
    };
    let site = site(&case.cluster, &flows, 1);
    let ran = repeat(RUNS, case.kind, &case.table, &site, &plan);
    let (ledger, outcome) = (&ran.ledger, &ran.outcome);
    // On a busy machine CPU time is more reliable than wall time.
    let best = match ran.processor_s.is_empty() {
        true => least(&ran.kernel_s),
        false => least(&ran.processor_s),
    };
    let events = ledger.flows_offered + ledger.flows_completed;
    // Events at the end itself are not simulated.
    let before_end = case.until - Time(1);
    let decisions = case.decides_every.map(|every| before_end.0 / every.0);
    let crossed = outcome.totals.circuit_bytes.expect("it has circuits");
    json!({
        "bench": case.name,
        "threads": 1,
        "flow_events": events,
        "flow_events_per_s": events as f64 / best,
        "decisions": decisions,
        "decisions_per_s": decisions.map(|n| n as f64 / best),
        "kernel_s": ran.kernel_s,
        "processor_s": ran.processor_s,
        "simulated_us": outcome.simulated.as_secs_f64() * 1e6,
        "flows_completed": ledger.flows_completed,
        "bytes_delivered": ledger.delivered,
        "circuit_bytes": crossed,
        "circuits": outcome.circuits.len(),
        "peak_rss_bytes": peak_rss(),
    })
}

fn main() {
    each_in_a_process(&cases(), |c| c.name, measure);
}
