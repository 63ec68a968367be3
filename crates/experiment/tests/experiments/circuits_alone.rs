//! Circuits without an electrical network: all circuits of a pair carry its flows, and no demand is
//! too small for a circuit.

use lightloom_engine::run::Silent;
use lightloom_engine::{Dependencies, FlowId, Flows, HostId, Time};
use lightloom_experiment::Experiment;
use proptest::prelude::*;
use serde_json::{json, Value};

fn flows(rows: &[(u32, u32, u64)]) -> Flows {
    let mut flows = Flows::new();
    for &(src, dst, bytes) in rows {
        flows.push(HostId(src), HostId(dst), bytes, Time::ZERO);
    }
    flows
}

/// A table with the keys of another one.
fn with(mut table: Value, more: Value) -> Value {
    let keys = more.as_object().expect("a table").clone();
    table.as_object_mut().expect("a table").extend(keys);
    table
}

fn circuits(more: Value) -> Value {
    let alone = json!({
        "kind": "hybrid", "electrical": false, "planes": 4, "settle": "1 ns", "ramp": "0 s",
        "dip": "0 s",
    });
    with(alone, more)
}

/// Two racks of four servers of 100 Gb/s; four planes are circuits of 100 Gb/s.
fn experiment(fabric: Value, more: Value) -> Experiment {
    let raw = json!({
        "cluster": {"racks": 2, "servers_per_rack": 4, "server_rate": "100 Gb/s"},
        "fabric": [fabric],
    });
    Experiment::read(&with(raw, more)).expect("a good file")
}

fn is_near(time: Time, expected: Time) -> bool {
    (time - expected).0.abs() < 10 * Time::US.0
}

fn finishes(fabric: Value, flows: Flows) -> Vec<Time> {
    let run = json!({"workload": {"load": 0.1, "flows": 1, "sizes": {"kind": "fixed", "size": "1 KB"}}, "run": {"stop": "drain", "limit": "100 s"}});
    let prepared = experiment(fabric, run).prepare(0, 1, Some(flows));
    let output = prepared.expect("a good table").run(&mut Silent);
    output.expect("nothing fails").flows.finish
}

/// Ring all-reduces of 1 GB between servers 0 and 4, 1 and 5, 2 and 6, 3 and 7: two rounds with
/// half of the data in each direction. In the second round, a server sends the data that it
/// received in the first.
fn all_reduces() -> Flows {
    let half = 500_000_000;
    let rows = (0..4).flat_map(|n| [(n, 4 + n, half), (4 + n, n, half)].repeat(2));
    let mut flows = flows(&rows.collect::<Vec<_>>());
    let flow = |n: u32, k: u32| FlowId(4 * n + k);
    let waits = |n| [(flow(n, 2), flow(n, 1)), (flow(n, 3), flow(n, 0))];
    let edges: Vec<(FlowId, FlowId)> = (0..4).flat_map(waits).collect();
    for (second, _) in &edges {
        flows.arrival[second.index()] = Time::NEVER;
    }
    flows.after = Dependencies::of(vec![Time::ZERO; flows.len()], &edges);
    flows
}

/// 1 GB of each pair takes 80 ms at 100 Gb/s. Stored packets and the first decision add some
/// microseconds.
#[test]
fn four_all_reduces_take_four_circuits() {
    let fixed = |circuits: Value| json!({"kind": "fixed", "circuits": circuits});
    let four = fixed(json!([[0, 1, 0], [0, 1, 1], [0, 1, 2], [0, 1, 3]]));
    let parallel = circuits(json!({"policy": four, "interval": "1 us"}));
    let one = circuits(json!({
        "policy": fixed(json!([[0, 1, 0]])), "interval": "1 us", "circuit_rate": "400 Gb/s",
    }));
    for fabric in [parallel, one] {
        let ends = finishes(fabric, all_reduces());
        let last = *ends.iter().max().expect("flows");
        assert!(is_near(last, Time::MS * 80), "{last}");
    }
}

/// Demand for more than three circuits requires four: 4 GB in 100 ms are 320 Gb/s. They are decided
/// after 100 ms and take 80 ms.
#[test]
fn hydra_carries_a_pair_over_all_its_circuits() {
    let rows: Vec<(u32, u32, u64)> = (0..4).map(|n| (n, 4 + n, 1_000_000_000)).collect();
    let fabric = circuits(json!({"policy": "hydra", "interval": "100 ms"}));
    let ends = finishes(fabric, flows(&rows));
    assert!(
        ends.iter().all(|&end| is_near(end, Time::MS * 180)),
        "{ends:?}"
    );
}

/// The first decision falls due after 10 s, and its circuits are lit 10 ms later.
#[test]
fn no_flow_is_too_small_for_a_circuit() {
    for bytes in [1, 900_000, 5_000_000] {
        let mesh = json!({"kind": "hybrid", "preset": "mesh"});
        let ends = finishes(mesh, flows(&[(0, 4, bytes)]));
        assert!(
            ends[0] > Time::S * 10 && ends[0] < Time::MS * 10_020,
            "{bytes}: {ends:?}"
        );
    }
}

#[test]
fn a_threshold_is_refused_where_nothing_else_carries_what_is_below() {
    let policy = json!({"kind": "hydra", "threshold": "1 MB"});
    let resolve = |more: Value| {
        let fabric = with(circuits(json!({"policy": policy})), more);
        let workload = json!({"workload": {"load": 0.1, "flows": 1, "sizes": {"kind": "fixed", "size": "1 KB"}}});
        experiment(fabric, workload)
            .resolve()
            .map_err(|refusal| refusal.to_string())
    };
    assert!(resolve(json!({"electrical": true})).is_ok());
    assert_eq!(
        resolve(json!({})).expect_err("a threshold"),
        "fabric.policy.threshold = 1 MB: pairs with less would wait for ever without an \
         electrical network; remove it, or set electrical = true"
    );
}

/// The preset decides every 10 s, and first after 10 s: a lone flow of 900 kB is delivered soon
/// after that (mirrors settle in 10 ms), and the run does not end before.
#[test]
fn a_run_that_drains_outlasts_the_first_decision() {
    let workload = json!({"load": 0.1, "flows": 1, "sizes": {"kind": "fixed", "size": "1 KB"}});
    let run = json!({"workload": workload, "run": {"stop": "drain"}});
    let mesh = json!({"kind": "hybrid", "preset": "mesh"});
    let prepared = experiment(mesh, run).prepare(0, 1, Some(flows(&[(0, 5, 900_000)])));
    let output = prepared.expect("a good table").run(&mut Silent);
    let finish = output.expect("nothing fails").flows.finish[0];
    assert!(Time::S * 10 < finish && finish < Time::S * 11, "{finish}");
}

/// A pair whose demand is not received, or that is not connected, would wait without end.
#[test]
fn what_would_strand_flows_is_refused() {
    let workload = json!({"load": 0.1, "flows": 1, "sizes": {"kind": "fixed", "size": "1 KB"}});
    let run = json!({"workload": workload, "run": {"stop": "drain"}});
    let prepared = |more: Value, electrical: bool| {
        let fabric = with(circuits(more), json!({ "electrical": electrical }));
        experiment(fabric, run.clone())
            .prepare(0, 1, None)
            .map(|_| ())
    };
    let one = json!({"planes": 1});
    for (key, more) in [
        (
            "report_queue",
            json!({"report_queue": "1 MB", "policy": "hydra"}),
        ),
        (
            "report_change",
            json!({"report_change": "1 MB", "policy": "hydra"}),
        ),
        ("demand", json!({"demand": "monitored", "policy": "hydra"})),
        (
            "policy.hysteresis",
            with(
                one.clone(),
                json!({"policy": {"kind": "cthrough", "hysteresis": "1 MB"}}),
            ),
        ),
        (
            "policy.threshold",
            json!({"policy": {"kind": "hydra", "threshold": "1 MB"}}),
        ),
    ] {
        let refusal = prepared(more.clone(), false).expect_err(key);
        assert_eq!(refusal.key, format!("fabric.{key}"), "{refusal}");
        prepared(more, true).unwrap_or_else(|refusal| panic!("{key}: {refusal}"));
    }
    // Circuits that need no demand are lit for any monitoring.
    let fixed = json!({"kind": "fixed", "circuits": [[0, 1, 0]]});
    let fixed = with(one, json!({"policy": fixed, "demand": "monitored"}));
    prepared(fixed, false).expect("it needs no demand");
}

/// Policies that decide by demand; `rotate`, `keep` and `alone` define the treatment of racks
/// without any.
fn deciding() -> impl Strategy<Value = Value> {
    let cthrough = |unrequested: &str| json!({"kind": "cthrough", "unrequested": unrequested});
    let of_demand = ["hydra", "assignment", "mordia", "solstice", "eclipse"].map(Value::from);
    let mut all: Vec<Value> = ["rotate", "keep", "alone"].map(cthrough).into();
    all.extend(of_demand);
    prop::sample::select(all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any demand, no pair waits without end for a policy of the registry.
    #[test]
    fn every_policy_comes_to_every_pair(
        policy in deciding(),
        pairs in prop::collection::vec((0u32..5, 0u32..5, 1u64..3_000_000), 1..16),
    ) {
        let rows: Vec<_> = { pairs.iter() }.filter(|(a, b, _)| a != b).copied().collect();
        prop_assume!(!rows.is_empty());
        let raw = json!({
            "cluster": {"racks": 5, "servers_per_rack": 1, "server_rate": "10 Gb/s"},
            "workload": {"trace": "given.parquet"},
            "run": {"stop": "drain"},
            "fabric": [circuits(json!({
                "policy": policy, "planes": 1, "interval": "2 ms", "settle": "10 us",
            }))],
        });
        let experiment = Experiment::read(&raw).expect("a good file");
        let prepared = experiment.prepare(0, 1, Some(flows(&rows)));
        let output = prepared.expect("a good table").run(&mut Silent).expect("nothing fails");
        let late = output.flows.finish.iter().filter(|&&at| at == Time::NEVER).count();
        prop_assert_eq!(late, 0, "{}", policy);
    }
}
