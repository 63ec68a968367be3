//! Failures of one part that overlap: the part works while none of them is in force, in every
//! fabric of the registry.

use crate::common::connects_single_nodes;
use lightloom_engine::run::Silent;
use lightloom_engine::{Flows, HostId, Time};
use lightloom_experiment::{Experiment, RunOutput};
use lightloom_fabrics::REGISTRY;
use proptest::prelude::*;
use serde_json::{json, Value};

/// Parts in the form in which a fault names them.
fn parts() -> Vec<Value> {
    vec![
        json!({"element": "node", "node": 1}),
        json!({"element": "transceiver", "node": 1, "uplink": 0}),
        json!({"element": "grating", "grating": 1}),
        json!({"element": "controller"}),
        json!({"element": "optical-port", "node": 1, "plane": 0}),
        json!({"element": "plane", "plane": 0}),
        json!({"element": "switch", "tier": "core", "switch": 0}),
        json!({"element": "switch", "tier": "aggregation", "switch": 0}),
    ]
}

/// Fabrics by table, and one unit of time for each, which is the time of its decisions.
fn fabrics() -> Vec<(Value, Time)> {
    let mut all: Vec<(Value, Time)> = Vec::new();
    for entry in REGISTRY {
        let unit = match entry.kind {
            "hydra" => Time::S * 10,
            "cthrough" | "hybrid" => Time::S,
            "opera" => Time::MS * 5,
            _ => Time::US * 100,
        };
        all.push((json!({"kind": entry.kind}), unit));
    }
    all.push((json!({"kind": "clos", "detail": "flows"}), Time::US * 100));
    all.push((json!({"kind": "clos", "racks_per_pod": 2}), Time::US * 100));
    all.push((json!({"kind": "tree", "levels": 3}), Time::US * 100));
    all.push((
        json!({"kind": "sirius", "uplink_plan": "wide"}),
        Time::US * 100,
    ));
    all.push((json!({"kind": "hybrid", "preset": "mesh"}), Time::S * 10));
    all.push((json!({"kind": "hybrid", "preset": "rotation"}), Time::S));
    all
}

fn faults(part: &Value, unit: Time, spans: &[(i64, i64)]) -> Value {
    let fault = |&(from, until): &(i64, i64)| {
        let mut fault = part.clone();
        fault["at"] = json!((unit * from).to_string());
        fault["repair_at"] = json!((unit * until).to_string());
        fault
    };
    spans.iter().map(fault).collect()
}

/// Every server sends to three racks in turn every half unit, at a fraction of its link's rate.
fn flows(hosts: u32, per_rack: u32, unit: Time) -> Flows {
    let mut flows = Flows::new();
    // 0.1 of 10 Gb/s over half a unit.
    let bytes = (unit.0 / Time::NS.0) as u64 / 16;
    for turn in 0..16 {
        for host in 0..hosts {
            let to = (host + per_rack * (1 + turn % 3)) % hosts;
            flows.push(HostId(host), HostId(to), bytes, unit * i64::from(turn) / 2);
        }
    }
    flows
}

/// 8 racks of two servers, or 8 nodes, of 50 Gb/s.
fn run(fabric: &Value, unit: Time, faults: Value) -> Result<RunOutput, String> {
    let single = fabric["kind"].as_str().is_some_and(connects_single_nodes);
    let per_rack = if single { 1 } else { 2 };
    let raw = json!({
        "cluster": {"racks": 8, "servers_per_rack": per_rack, "server_rate": "50 Gb/s"},
        "workload": {"load": 0.1, "flows": 1, "sizes": {"kind": "fixed", "size": "1 KB"}},
        "run": {"stop": (unit * 10).to_string()},
        "fabric": [fabric],
        "fault": faults,
    });
    let experiment = Experiment::read(&raw).map_err(|e| e.to_string())?;
    let flows = flows(8 * per_rack, per_rack, unit);
    let prepared = experiment.prepare(0, 1, Some(flows));
    let prepared = prepared.map_err(|e| e.to_string())?;
    prepared.run(&mut Silent).map_err(|e| e.to_string())
}

/// All results of a run except its wall-clock time.
fn outcome(output: &RunOutput) -> String {
    let mut summary = serde_json::to_value(&output.summary).unwrap();
    let machine = |key: &String| {
        ["wall", "kernel", "rss", "per_s", "memory"]
            .iter()
            .any(|word| key.contains(word))
    };
    let table = summary.as_object_mut().unwrap();
    table.retain(|key, _| !machine(key));
    let Flows {
        start,
        finish,
        delivered,
        hops,
        ..
    } = &output.flows;
    let (series, circuits) = (&output.series, &output.circuits);
    format!("{summary}\n{start:?}\n{finish:?}\n{delivered:?}\n{hops:?}\n{series:?}\n{circuits:?}")
}

/// Parts of a fabric, with the effect of a failure from 1 to 6 units.
fn failing(fabric: &Value, unit: Time) -> Vec<(Value, String)> {
    let fails = |part: Value| match run(fabric, unit, faults(&part, unit, &[(1, 6)])) {
        Ok(output) => Some((part, outcome(&output))),
        Err(refusal) => {
            assert!(refusal.starts_with("fault[0] = "), "{fabric}: {refusal}");
            None
        }
    };
    parts().into_iter().filter_map(fails).collect()
}

/// Fabrics that model no failures at all.
const NEVER_FAIL: [&str; 2] = ["lions", "flattened-butterfly"];

#[test]
fn a_part_works_when_no_failure_is_in_force() {
    for (fabric, unit) in fabrics() {
        let sound = outcome(&run(&fabric, unit, json!([])).unwrap());
        let failing = failing(&fabric, unit);
        let kind = fabric["kind"].as_str().unwrap();
        assert_eq!(failing.is_empty(), NEVER_FAIL.contains(&kind), "{fabric}");
        let matters = failing.iter().any(|(_, outcome)| *outcome != sound);
        assert!(
            failing.is_empty() || matters || kind == "mordia",
            "{fabric}"
        );
        for (part, expected) in failing {
            for spans in [
                &[(1, 6), (2, 3)][..],
                &[(2, 3), (1, 6)],
                &[(1, 3), (3, 6)],
                &[(1, 4), (2, 5), (3, 6)],
            ] {
                let output = run(&fabric, unit, faults(&part, unit, spans)).unwrap();
                assert!(outcome(&output) == expected, "{fabric} {part} {spans:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Overlapping failures of one part have the effect of their union.
    #[test]
    fn failures_are_their_union(
        which in 0..fabrics().len(),
        spans in prop::collection::vec((1i64..8, 1i64..4), 2..5),
        part in 0..parts().len(),
    ) {
        let (fabric, unit) = fabrics().swap_remove(which);
        let part = parts().swap_remove(part);
        let spans: Vec<(i64, i64)> = spans.iter().map(|&(from, long)| (from, from + long)).collect();
        let Ok(output) = run(&fabric, unit, faults(&part, unit, &spans)) else {
            return Ok(());
        };
        let union = run(&fabric, unit, faults(&part, unit, &union(spans))).unwrap();
        prop_assert!(outcome(&output) == outcome(&union));
    }
}

/// Spans that neither overlap nor touch.
fn union(mut spans: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    spans.sort_unstable();
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (from, until) in spans {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(until),
            _ => joined.push((from, until)),
        }
    }
    joined
}

/// 50 MB over a link of 50 Gb/s take 8 ms; the link is down for 5 ms.
#[test]
fn a_transceiver_that_fails_twice_works_again_when_both_failures_are_over() {
    let raw = json!({
        "cluster": {"racks": 2, "servers_per_rack": 1, "server_rate": "50 Gb/s"},
        "workload": {"load": 0.1, "flows": 1, "sizes": {"kind": "fixed", "size": "1 KB"}},
        "run": {"stop": "drain"},
        "fabric": [{"kind": "clos", "header": "0 B"}],
        "fault": [
            {"element": "transceiver", "node": 0, "uplink": 0, "at": "1 ms", "repair_at": "6 ms"},
            {"element": "transceiver", "node": 0, "uplink": 0, "at": "2 ms", "repair_at": "3 ms"},
        ],
    });
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(1), 50_000_000, Time::ZERO);
    let experiment = Experiment::read(&raw).unwrap();
    let prepared = experiment.prepare(0, 1, Some(flows)).unwrap();
    let finish = prepared.run(&mut Silent).unwrap().flows.finish[0];
    let over = finish - Time::MS * 13;
    assert!(over >= Time::ZERO && over < Time::US * 2, "{finish}");
}
