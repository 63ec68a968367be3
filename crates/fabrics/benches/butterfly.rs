//! Measures speed and memory of the flattened butterfly and prints one JSON object per line.
//!
//! The network of LIONS (§IV), 64 nodes of 10 Gb/s, and one of 1,024, with packets of 256 B to
//! uniform destinations. Every case runs several times in a process of its own, so that its peak
//! memory is measured separately; the fastest run counts, all are printed. Name cases to run only
//! those: `cargo bench --bench butterfly -- basic-64`.

mod harness;

use harness::{each_in_a_process, least, peak_rss, repeat, site};
use lightloom_engine::run::{Plan, Stop};
use lightloom_engine::{Cluster, Flows, Nic, Rate, Time};
use lightloom_fabrics::find;
use lightloom_workload::WorkloadConfig;
use serde_json::{json, Value};

const RUNS: usize = 5;
const PACKET: u64 = 256;

/// Name, preset, hosts, load, routing.
const CASES: [(&str, &str, u32, f64, &str); 8] = [
    ("basic-64", "basic", 64, 0.5, "dimension-order"),
    ("basic-64-load-5", "basic", 64, 0.05, "dimension-order"),
    ("basic-64-saturated", "basic", 64, 1.0, "dimension-order"),
    ("basic-64-valiant", "basic", 64, 0.25, "valiant"),
    ("basic-64-ugal", "basic", 64, 0.5, "ugal"),
    ("aggressive-64", "aggressive", 64, 0.7, "dimension-order"),
    ("basic-1024", "basic", 1024, 0.4, "dimension-order"),
    (
        "aggressive-1024",
        "aggressive",
        1024,
        0.7,
        "dimension-order",
    ),
];

fn cluster(hosts: u32) -> Cluster {
    Cluster {
        racks: hosts,
        servers_per_rack: 1,
        server_rate: Rate(10 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    }
}

/// Ten million flit-hops, about.
fn flows(cluster: &Cluster, load: f64) -> Flows {
    let table = json!({
        "arrivals": "poisson", "load": load, "flows": 120_000,
        "pattern": "uniform", "sizes": {"kind": "fixed", "size": format!("{PACKET} B")},
    });
    let workload: WorkloadConfig = serde_json::from_value(table).expect("a workload");
    let workload = workload.resolve(cluster).expect("a workload that can run");
    workload.generate(cluster, 1).expect("flows")
}

fn measure(name: &str, preset: &str, hosts: u32, load: f64, routing: &str) -> Value {
    let cluster = cluster(hosts);
    let flows = flows(&cluster, load);
    let entry = find("flattened-butterfly").expect("the butterfly is registered");
    let preset = entry.presets.iter().find(|p| p.name == preset);
    let table = serde_json::from_str(preset.expect("a preset").table);
    let mut table: Value = table.expect("a table");
    table["routing"] = json!(routing);
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S,
        sample: None,
        faults: Vec::new(),
    };
    let site = site(&cluster, &flows, 1);
    let ran = repeat(RUNS, "flattened-butterfly", &table, &site, &plan);
    let (ledger, outcome) = (&ran.ledger, &ran.outcome);
    let best = least(&ran.kernel_s);
    let hops = outcome.totals.cell_hops.expect("flits are counted") as f64;
    json!({
        "bench": format!("flattened-butterfly/{name}"),
        "threads": 1,
        "flit_hops": hops,
        "M_flit_hops_per_s": hops / best / 1e6,
        "ns_per_flit_hop": best * 1e9 / hops,
        "packet_hops": outcome.totals.packet_hops,
        "kernel_s": ran.kernel_s,
        // Without the time of other processes; null if the system does not report it.
        "M_flit_hops_per_cpu_s": Some(hops / least(&ran.processor_s) / 1e6)
            .filter(|_| !ran.processor_s.is_empty()),
        "simulated_us": outcome.simulated.as_secs_f64() * 1e6,
        "flows_completed": ledger.flows_completed,
        "peak_rss_bytes": peak_rss(),
    })
}

fn main() {
    each_in_a_process(
        &CASES,
        |c| c.0,
        |&(name, preset, hosts, load, routing)| measure(name, preset, hosts, load, routing),
    );
}
