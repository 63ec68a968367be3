//! A run that drains ends as soon as no flow can make progress any more, and not before.

use lightloom_engine::run::Silent;
use lightloom_engine::{Flows, HostId, Time};
use lightloom_experiment::Experiment;
use serde_json::{json, Value};

const CONTROLLER_FAILS: &str = "100 us";

/// The summary of a complete run on four racks of two servers, with flows of these sizes from
/// server 0 to server 2.
fn summary(fabric: Value, server_rate: &str, bytes: &[u64], fault: Option<Value>) -> Value {
    limited(Some("100000 s"), fabric, server_rate, bytes, fault)
}

/// The same with a limit, or with the default.
fn limited(
    limit: Option<&str>,
    fabric: Value,
    server_rate: &str,
    bytes: &[u64],
    fault: Option<Value>,
) -> Value {
    let mut raw = json!({
        "cluster": {"racks": 4, "servers_per_rack": 2, "server_rate": server_rate},
        "workload": {"trace": "given.parquet"},
        "run": {"stop": "drain"},
        "fabric": [fabric],
    });
    if let Some(limit) = limit {
        raw["run"]["limit"] = json!(limit);
    }
    if let Some(fault) = fault {
        raw["fault"] = json!([fault]);
    }
    let mut flows = Flows::new();
    for &bytes in bytes {
        flows.push(HostId(0), HostId(2), bytes, Time::ZERO);
    }
    let experiment = Experiment::read(&raw).expect("of this shape");
    let prepared = experiment.prepare(0, 1, Some(flows)).expect("can run");
    let output = prepared.run(&mut Silent).expect("nothing fails");
    serde_json::to_value(output.summary).expect("plain")
}

/// 10 s is the least patience; the fabric's decisions are shorter here.
#[test]
fn a_mordia_without_its_controller_ends() {
    let fails = json!({"element": "controller", "at": CONTROLLER_FAILS});
    let found = summary(
        json!({"kind": "mordia"}),
        "10 Gb/s",
        &[1_000_000],
        Some(fails.clone()),
    );
    let since = found["cut"]["still_since_s"]
        .as_f64()
        .expect("it stood still");
    assert!(since < 1e-3, "{found}");
    let end = found["simulated_s"].as_f64().unwrap();
    assert!((10.0..10.2).contains(&(end - since)), "{found}");
    assert_eq!(found["cut"]["flows_unfinished"], json!(1));
    // The run waits for a future repair, however late it is.
    let mut repaired = fails;
    repaired["repair_at"] = json!("60 s");
    let found = summary(
        json!({"kind": "mordia"}),
        "10 Gb/s",
        &[1_000_000],
        Some(repaired),
    );
    assert_eq!(
        (&found["flows_completed"], found.get("cut")),
        (&json!(1), None)
    );
    assert!(found["simulated_s"].as_f64().unwrap() > 60.0, "{found}");
}

/// The default limit is not longer than the patience: it ends the run and is reported as the
/// reason.
#[test]
fn a_run_that_stands_still_says_so_at_its_default_limit() {
    let port = json!({"element": "optical-port", "node": 0, "plane": 0, "at": "1 ms"});
    let circuits = json!({"kind": "hybrid", "electrical": false, "interval": "1 ms",
        "policy": {"kind": "fixed", "circuits": [[0, 1]]}});
    let controller = json!({"element": "controller", "at": CONTROLLER_FAILS});
    for (fabric, fault, at_most) in [
        (json!({"kind": "mordia"}), controller.clone(), 1e-3),
        (circuits, port, 5e-3),
        (
            json!({"kind": "hybrid", "preset": "mesh"}),
            controller,
            20.0,
        ),
    ] {
        let found = limited(None, fabric, "10 Gb/s", &[50_000_000], Some(fault));
        let since = found["cut"]["still_since_s"].as_f64();
        let since = since.unwrap_or_else(|| panic!("it stood still: {found}"));
        assert!(since <= at_most, "{found}");
    }
    // Neither a slow run nor one that ends before its flows could move is reported as standing
    // still.
    let tree = || json!({"kind": "tree"});
    for (limit, rate) in [(Some("10 ms"), "1 Gb/s"), (Some("10 s"), "1 Mb/s")] {
        let found = limited(limit, tree(), rate, &[50_000_000], None);
        assert!(
            found["cut"].is_object() && found["cut"]["still_since_s"].is_null(),
            "{found}"
        );
    }
    let slow = json!({"kind": "hybrid", "preset": "mesh"});
    let found = limited(Some("1 ms"), slow, "10 Gb/s", &[50_000_000], None);
    assert!(
        found["cut"].is_object() && found["cut"]["still_since_s"].is_null(),
        "{found}"
    );
}

/// Rates do not change for 800 s, during which a fabric of flows records nothing.
#[test]
fn a_long_flow_is_not_taken_for_a_run_that_stands_still() {
    for fabric in [
        json!({"kind": "tree"}),
        json!({"kind": "clos", "detail": "flows"}),
        json!({"kind": "sirius", "detail": "flows", "channel_rate": "1 Gb/s"}),
        json!({"kind": "hybrid", "electrical": false, "interval": "1 s",
               "policy": {"kind": "fixed", "circuits": [[0, 1]]}}),
    ] {
        let found = summary(fabric, "1 Gb/s", &[100_000_000_000], None);
        assert_eq!(
            (&found["flows_completed"], found.get("cut")),
            (&json!(1), None),
            "{found}"
        );
        assert!(found["simulated_s"].as_f64().unwrap() > 799.0, "{found}");
    }
}

/// A packet of 1,500 B takes 12 s over a link of 1 kb/s.
#[test]
fn slow_packets_are_not_taken_for_a_run_that_stands_still() {
    let found = summary(json!({"kind": "clos"}), "1 Kb/s", &[6_000], None);
    assert_eq!(
        (&found["flows_completed"], found.get("cut")),
        (&json!(1), None),
        "{found}"
    );
    assert!(found["simulated_s"].as_f64().unwrap() > 47.9, "{found}");
}
