//! Fingerprints of 400 runs over all fabrics, for changes that must not change a result.
//!
//! ```sh
//! export FINGERPRINTS=/tmp/fingerprints
//! cargo test -p lightloom-fabrics --test invariants fingerprints -- --ignored   # before: writes
//! cargo test -p lightloom-fabrics --test invariants fingerprints -- --ignored   # after: compares
//! ```
//!
//! A line holds the fabric, the number of the run, and the hashes of its flow table, of its time
//! series, of its totals (with circuits, links and the record of the controller), and of every
//! transmission. Tables, faults and half of the flows are those of the invariants; the other half
//! are 200 flows of a heavy-tailed law, at up to 1.2 times the capacity of the servers.

use crate::scenario::{scenarios, Scenario};
use lightloom_engine::run::{run, Plan, Silent, Stop};
use lightloom_engine::{Audit, Fabric, Flows, Io, Time};
use lightloom_fabrics::{find, Site, REGISTRY};
use lightloom_workload::WorkloadConfig;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fmt::Debug;
use std::path::PathBuf;

/// Numbers of runs of the fabrics whose kernels have the most options; other fabrics have [`FEW`]
/// each.
const MANY: [(&str, usize); 4] = [
    ("opera", 100),
    ("rotornet", 80),
    ("mordia", 80),
    ("hybrid", 42),
];
const FEW: usize = 14;

fn hash(what: &impl Debug) -> String {
    let digest = Sha256::digest(format!("{what:?}"));
    digest[..6].iter().map(|b| format!("{b:02x}")).collect()
}

/// 200 flows, if the workload has pairs to draw from.
fn heavy(scenario: &Scenario, number: usize) -> Option<Flows> {
    let workload = json!({
        "arrivals": "poisson", "load": 0.3 * (1 + number % 4) as f64, "flows": 200,
        "pattern": "uniform", "sizes": {"kind": "pareto", "shape": 1.1, "mean": "8 KB"},
    });
    let config: WorkloadConfig = serde_json::from_value(workload).expect("a workload");
    let workload = config.resolve(&scenario.cluster).ok()?;
    workload.generate(&scenario.cluster, scenario.seed).ok()
}

/// The results of a run in four hashes, or the reason why there are none.
fn fingerprint(kind: &str, scenario: &Scenario, flows: &Flows) -> String {
    let site = Site {
        cluster: &scenario.cluster,
        flows,
        seed: scenario.seed,
        threads: 1,
        library: None,
    };
    let entry = find(kind).expect("a registered fabric");
    let table = (entry.resolve)(&scenario.table, site.cluster).expect("a valid table");
    let mut fabric = match (entry.build)(&table, &site) {
        Ok(fabric) => fabric,
        Err(refusal) => return format!("refused {}", hash(&refusal)),
    };
    fabric.record_control("fingerprint");
    let mut io = Io::new(flows.clone());
    io.audit = Some(Audit::default());
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::MS * 2,
        sample: Some(Time::US * 7),
        faults: scenario.faults.clone(),
    };
    match run(fabric.as_mut(), &mut io, &plan, &mut Silent) {
        Err(broken) => format!("broken {}", hash(&broken)),
        Ok(outcome) => {
            let totals = (&outcome.totals, &outcome.circuits, &outcome.links);
            let rest = (outcome.lit, outcome.simulated, record(&mut *fabric));
            let flows = &io.flows;
            let times = (&flows.arrival, &flows.start, &flows.finish);
            let table = hash(&(times, &flows.delivered, &flows.hops));
            let series = hash(&outcome.samples);
            let totals = hash(&(totals, rest, &io.ledger));
            format!("{table} {series} {totals} {}", hash(&io.audit))
        }
    }
}

/// The log of the controller; computation times of this machine differ from run to run.
fn record(fabric: &mut dyn Fabric) -> Option<String> {
    fabric.control_record().and_then(|record| record.log)
}

fn fingerprints(kind: &'static str) -> Vec<String> {
    let many = MANY.iter().find(|(name, _)| *name == kind);
    let runs = many.map_or(FEW, |&(_, runs)| runs);
    let (strategy, mut runner) = (scenarios(kind), TestRunner::deterministic());
    let of = |number: usize| {
        let tree = strategy.new_tree(&mut runner).expect("a scenario");
        let scenario = tree.current();
        let flows = match number % 2 {
            0 => None,
            _ => heavy(&scenario, number / 2),
        };
        let flows = flows.unwrap_or_else(|| scenario.flows());
        format!("{kind} {number} {}", fingerprint(kind, &scenario, &flows))
    };
    (0..runs).map(of).collect()
}

#[test]
#[ignore = "compares with the record that FINGERPRINTS names"]
fn results_are_those_of_the_record() {
    let path = std::env::var_os("FINGERPRINTS").map(PathBuf::from);
    let path = path.expect("FINGERPRINTS names a file");
    let lines: Vec<String> = { REGISTRY.iter() }
        .flat_map(|entry| fingerprints(entry.kind))
        .collect();
    let Ok(before) = std::fs::read_to_string(&path) else {
        std::fs::write(&path, lines.join("\n")).expect("the record can be written");
        return;
    };
    let before: Vec<&str> = before.lines().collect();
    let differ: Vec<&String> = { lines.iter().zip(&before) }
        .filter(|(now, before)| now != *before)
        .map(|(now, _)| now)
        .collect();
    assert!(differ.is_empty(), "{} differ: {differ:#?}", differ.len());
    assert_eq!(lines.len(), before.len());
}
