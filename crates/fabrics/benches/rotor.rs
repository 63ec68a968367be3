//! Measures speed and memory of complete runs of RotorNet and Opera and prints one JSON object per
//! line.
//!
//! Saturated: every pair of racks has unlimited traffic. With arrivals: the time for bulk traffic
//! over relays, by racks and by hosts, and for low-latency packets.
//!
//! Every case runs several times in a process of its own; the fastest run counts, all are printed.
//! Name cases to run only those: `cargo bench --bench rotor -- opera/low-latency`.

mod harness;

use harness::{each_in_a_process, least, peak_rss, repeat, site};
use lightloom_engine::run::{Plan, Stop};
use lightloom_engine::{Cluster, Flows, HostId, Nic, Rate, Time};
use lightloom_workload::WorkloadConfig;
use serde_json::{json, Value};

const RUNS: usize = 3;
const RACKS: u32 = 64;

/// A simulation and its length.
struct Case {
    name: &'static str,
    kind: &'static str,
    table: Value,
    /// Mean flow size; none: every pair has more than it can send.
    mean: Option<&'static str>,
    until: Time,
}

fn cases() -> Vec<Case> {
    let case = |name, kind, table, mean, until| Case {
        name,
        kind,
        table,
        mean,
        until,
    };
    let bulk = json!({"low_latency": "0 B"});
    let by_hosts = json!({"rotorlb": "per-host"});
    vec![
        case("rotornet/saturated", "rotornet", json!({}), None, Time::S),
        case(
            "rotornet/arrivals",
            "rotornet",
            json!({}),
            Some("100 KB"),
            Time::MS * 40,
        ),
        case(
            "rotornet/per-host",
            "rotornet",
            by_hosts,
            Some("100 KB"),
            Time::MS * 40,
        ),
        case("opera/bulk", "opera", bulk, Some("1 MB"), Time::MS * 40),
        case(
            "opera/low-latency",
            "opera",
            json!({}),
            Some("20 KB"),
            Time::MS * 4,
        ),
    ]
}

fn cluster() -> Cluster {
    Cluster {
        racks: RACKS,
        servers_per_rack: 4,
        server_rate: Rate(10 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    }
}

fn flows(case: &Case) -> Flows {
    let Some(mean) = case.mean else {
        let mut flows = Flows::new();
        for a in 0..RACKS {
            for b in (0..RACKS).filter(|&b| b != a) {
                flows.push(HostId(4 * a), HostId(4 * b), 1 << 40, Time::ZERO);
            }
        }
        return flows;
    };
    let workload: WorkloadConfig = serde_json::from_value(json!({
        "arrivals": "poisson", "load": 0.2, "flows": 20_000, "pattern": "uniform",
        "sizes": {"kind": "pareto", "shape": 1.2, "mean": mean},
    }))
    .expect("a workload");
    let workload = workload.resolve(&cluster()).expect("one that can run");
    workload.generate(&cluster(), 1).expect("flows")
}

fn measure(case: &Case) -> Value {
    let (flows, cluster) = (flows(case), cluster());
    let plan = Plan {
        stop: Stop::At(case.until),
        limit: case.until,
        sample: Some(case.until),
        faults: Vec::new(),
    };
    let site = site(&cluster, &flows, 1);
    let ran = repeat(RUNS, case.kind, &case.table, &site, &plan);
    let ledger = &ran.ledger;
    let events = ledger.flows_offered + ledger.flows_completed;
    json!({
        "bench": case.name,
        "threads": 1,
        "flow_events": events,
        "flow_events_per_s": events as f64 / least(&ran.kernel_s),
        "kernel_s": ran.kernel_s,
        "processor_s": ran.processor_s,
        "simulated_us": ran.outcome.simulated.as_secs_f64() * 1e6,
        "flows_completed": ledger.flows_completed,
        "bytes_delivered": ledger.delivered,
        "peak_rss_bytes": peak_rss(),
    })
}

fn main() {
    each_in_a_process(&cases(), |c| c.name, measure);
}
