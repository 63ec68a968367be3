//! Speed and memory of the Clos kernel, one JSON object a line.
//!
//! The paper's simulation (Sirius §7): 128 racks of 24 servers, Pareto flows.
//! Every case runs in a process of its own, so that its peak memory is its own,
//! and several times; the fastest run counts, all are printed. Name cases to
//! run only those: `cargo bench --bench clos -- ideal`.

mod harness;

use harness::{each_in_a_process, least, peak_rss, repeat, site};
use lightloom_engine::run::{Plan, Stop};
use lightloom_engine::{Cluster, Flows, Nic, Rate, Time};
use lightloom_workload::WorkloadConfig;
use serde_json::{json, Value};

const RUNS: usize = 5;

const PAPER: Cluster = Cluster {
    racks: 128,
    servers_per_rack: 24,
    server_rate: Rate(400_000_000_000 / 24),
    nic: Nic::Uncapped,
};

/// Name, load, table.
fn cases() -> Vec<(&'static str, f64, Value)> {
    let delays = json!({"propagation": "500 ns", "switch_latency": "500 ns"});
    vec![
        ("ideal", 0.5, json!({})),
        ("ideal-load-10", 0.1, json!({})),
        ("ideal-load-100", 1.0, json!({})),
        ("3to1", 0.5, json!({"oversubscription": 3.0})),
        ("delays", 0.5, delays),
    ]
}

fn flows(load: f64) -> Flows {
    let table = json!({
        "arrivals": "poisson", "load": load, "flows": 200_000, "pattern": "uniform",
        "sizes": {"kind": "pareto", "shape": 1.05, "mean": "100 KB"},
    });
    let workload: WorkloadConfig = serde_json::from_value(table).expect("a workload");
    let workload = workload.resolve(&PAPER).expect("a workload that can run");
    workload.generate(&PAPER, 1).expect("flows")
}

fn measure(name: &str, load: f64, table: &Value) -> Value {
    let flows = flows(load);
    let plan = Plan {
        stop: Stop::LastArrival,
        limit: Time::S,
        sample: None,
        faults: Vec::new(),
    };
    let site = site(&PAPER, &flows, 1);
    let ran = repeat(RUNS, "clos", table, &site, &plan);
    let (ledger, outcome) = (&ran.ledger, &ran.outcome);
    let best = least(&ran.kernel_s);
    let hops = outcome.totals.packet_hops.expect("packets hop") as f64;
    json!({
        "bench": format!("clos/{name}"),
        "threads": 1,
        "packet_hops": hops,
        "M_packet_hops_per_s": hops / best / 1e6,
        "ns_per_hop": best * 1e9 / hops,
        "kernel_s": ran.kernel_s,
        "simulated_us": outcome.simulated.as_secs_f64() * 1e6,
        "flows_completed": ledger.flows_completed,
        "peak_rss_bytes": peak_rss(),
    })
}

fn main() {
    each_in_a_process(
        &cases(),
        |c| c.0,
        |(name, load, table)| measure(name, *load, table),
    );
}
