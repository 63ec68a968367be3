//! Measures speed and memory of the LIONS kernels and prints one JSON object per line.
//!
//! The paper's network (§IV): 64 nodes of 10 Gb/s, 10 m of fibre, k = 4, packets of 256 B to
//! uniform destinations. Every case runs several times in a process of its own, so that its peak
//! memory is measured separately; the fastest run counts, all are printed. Name cases to run only
//! those: `cargo bench --bench lions -- dlb`.

mod harness;

use harness::{each_in_a_process, least, peak_rss, repeat, site};
use lightloom_engine::run::{Plan, Stop};
use lightloom_engine::{Cluster, Flows, Nic, Rate, Time};
use lightloom_workload::WorkloadConfig;
use serde_json::{json, Value};

const RUNS: usize = 7;

/// Name, hosts, load, bytes of a flow, table.
fn cases() -> Vec<(&'static str, u32, f64, u64, Value)> {
    let of = |name: &str| json!({"architecture": name});
    vec![
        ("dlb-64", 64, 0.7, 256, of("dlb")),
        ("dlb-64-load-30", 64, 0.3, 256, of("dlb")),
        ("dlb-64-load-90", 64, 0.9, 256, of("dlb")),
        ("mlb-64", 64, 0.7, 256, of("mlb")),
        ("slb-64", 64, 0.7, 256, of("slb")),
        ("ao-nack-64", 64, 0.7, 256, of("ao-nack")),
        (
            "ao-nack-64-64B",
            64,
            0.55,
            64,
            json!({"architecture": "ao-nack", "packet": "64 B"}),
        ),
        ("dlb-64-flows", 64, 0.7, 25_600, of("dlb")),
        ("dlb-1024", 1024, 0.7, 256, of("dlb")),
    ]
}

fn cluster(hosts: u32) -> Cluster {
    Cluster {
        racks: hosts,
        servers_per_rack: 1,
        server_rate: Rate(10 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    }
}

/// A million packets.
fn flows(cluster: &Cluster, load: f64, bytes: u64, packet: u64) -> Flows {
    let table = json!({
        "arrivals": "poisson", "load": load, "flows": 1_000_000 * packet / bytes,
        "pattern": "uniform", "sizes": {"kind": "fixed", "size": format!("{bytes} B")},
    });
    let workload: WorkloadConfig = serde_json::from_value(table).expect("a workload");
    let workload = workload.resolve(cluster).expect("a workload that can run");
    workload.generate(cluster, 1).expect("flows")
}

fn measure(name: &str, hosts: u32, load: f64, bytes: u64, table: &Value) -> Value {
    let cluster = cluster(hosts);
    let packet = if table.get("packet").is_some() {
        64
    } else {
        256
    };
    let flows = flows(&cluster, load, bytes, packet);
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S,
        sample: None,
        faults: Vec::new(),
    };
    let site = site(&cluster, &flows, 1);
    let ran = repeat(RUNS, "lions", table, &site, &plan);
    let (ledger, outcome) = (&ran.ledger, &ran.outcome);
    let best = least(&ran.kernel_s);
    let packets = ledger.delivered as f64 / packet as f64;
    json!({
        "bench": format!("lions/{name}"),
        "threads": 1,
        "packets": packets,
        "M_packets_per_s": packets / best / 1e6,
        "ns_per_packet": best * 1e9 / packets,
        "packet_hops": outcome.totals.packet_hops,
        "kernel_s": ran.kernel_s,
        // Without the time of other processes; null if the system does not report it.
        "M_packets_per_cpu_s": Some(packets / least(&ran.processor_s) / 1e6)
            .filter(|_| !ran.processor_s.is_empty()),
        "simulated_us": outcome.simulated.as_secs_f64() * 1e6,
        "flows_completed": ledger.flows_completed,
        "peak_rss_bytes": peak_rss(),
    })
}

fn main() {
    each_in_a_process(
        &cases(),
        |c| c.0,
        |(name, hosts, load, bytes, table)| measure(name, *hosts, *load, *bytes, table),
    );
}
