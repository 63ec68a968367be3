//! Measures speed and memory of complete runs of Mordia and prints one JSON object per line.
//!
//! Saturated: every pair of ports has unlimited traffic, so that a run consists of days only. With
//! arrivals: the time for flows. With traffic-matrix scheduling: the time for decisions, one
//! schedule in every period.
//!
//! Every case runs several times in a process of its own, so that its peak memory is measured
//! separately; the fastest run counts, all are printed. Name cases to run only those: `cargo bench
//! --bench mordia -- mordia/64-ports`.

mod harness;

use harness::{each_in_a_process, least, peak_rss, repeat, site};
use lightloom_engine::run::{Plan, Stop};
use lightloom_engine::{Cluster, Flows, HostId, Nic, Rate, Time};
use lightloom_fabrics::find;
use lightloom_workload::WorkloadConfig;
use serde_json::{json, Value};

const RUNS: usize = 5;

/// A simulation and its length.
struct Case {
    name: &'static str,
    ports: u32,
    table: Value,
    /// None: every pair has more than it can send.
    workload: Option<Value>,
    until: Time,
}

fn cases() -> Vec<Case> {
    let rotation = json!({"policy": "rotation", "wavelengths": 88});
    let tms = |interval: &str| json!({"wavelengths": 88, "rings": 4, "interval": interval});
    let poisson = json!({
        "arrivals": "poisson", "load": 0.5, "flows": 400_000, "pattern": "uniform",
        "sizes": {"kind": "pareto", "shape": 1.2, "mean": "100 KB"},
    });
    let all = |name, ports, table: &Value, until| Case {
        name,
        ports,
        table: table.clone(),
        workload: None,
        until,
    };
    vec![
        all("mordia/64-ports", 64, &rotation, Time::S),
        all(
            "mordia/24-ports-prototype",
            24,
            &json!({"preset": "prototype"}),
            Time::S,
        ),
        Case {
            workload: Some(poisson.clone()),
            ..all("mordia/64-ports-arrivals", 64, &rotation, Time::MS * 400)
        },
        Case {
            workload: Some(poisson.clone()),
            ..all(
                "mordia/320-ports-tms",
                320,
                &tms("33814 us"),
                Time::MS * 100,
            )
        },
        Case {
            workload: Some(poisson),
            ..all(
                "mordia/320-ports-tms-20-slots",
                320,
                &tms("2120 us"),
                Time::MS * 100,
            )
        },
    ]
}

fn cluster(case: &Case) -> Cluster {
    Cluster {
        racks: case.ports,
        servers_per_rack: 1,
        server_rate: Rate(10 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    }
}

fn flows(case: &Case) -> Flows {
    let cluster = cluster(case);
    if let Some(workload) = &case.workload {
        let workload: WorkloadConfig =
            serde_json::from_value(workload.clone()).expect("a workload");
        let workload = workload.resolve(&cluster).expect("one that can run");
        return workload.generate(&cluster, 1).expect("flows");
    }
    let mut flows = Flows::new();
    for a in 0..case.ports {
        for b in (0..case.ports).filter(|&b| b != a) {
            flows.push(HostId(a), HostId(b), 1 << 40, Time::ZERO);
        }
    }
    flows
}

/// The table, or that of a preset.
fn table(case: &Case) -> Value {
    let entry = find("mordia").expect("a fabric of the registry");
    match case.table["preset"].as_str() {
        None => case.table.clone(),
        Some(name) => {
            let preset = entry.presets.iter().find(|p| p.name == name);
            serde_json::from_str(preset.expect("a preset").table).expect("JSON")
        }
    }
}

fn measure(case: &Case) -> Value {
    let (flows, cluster) = (flows(case), cluster(case));
    let plan = Plan {
        stop: Stop::At(case.until),
        limit: case.until,
        sample: Some(case.until),
        faults: Vec::new(),
    };
    let site = site(&cluster, &flows, 1);
    let ran = repeat(RUNS, "mordia", &table(case), &site, &plan);
    let (ledger, outcome) = (&ran.ledger, &ran.outcome);
    let best = least(&ran.kernel_s);
    let mut nights: Vec<Time> = outcome.circuits.iter().map(|c| c.from).collect();
    nights.dedup();
    let events = ledger.flows_offered + ledger.flows_completed;
    json!({
        "bench": case.name,
        "threads": 1,
        "days": nights.len(),
        "us_per_day": best * 1e6 / nights.len() as f64,
        "flow_events": events,
        "flow_events_per_s": events as f64 / best,
        "kernel_s": ran.kernel_s,
        "processor_s": ran.processor_s,
        "simulated_us": outcome.simulated.as_secs_f64() * 1e6,
        "flows_completed": ledger.flows_completed,
        "bytes_delivered": ledger.delivered,
        "losses": ledger.losses,
        "circuits": outcome.circuits.len(),
        "peak_rss_bytes": peak_rss(),
    })
}

fn main() {
    each_in_a_process(&cases(), |c| c.name, measure);
}
