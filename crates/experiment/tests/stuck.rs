//! Runs in which nothing can move any more end at once, and say what waits.

use lightloom_engine::run::Silent;
use lightloom_engine::{Flows, HostId, Time};
use lightloom_experiment::Experiment;
use serde_json::{json, Value};

/// One flow of 50 MB from rack 0 to rack 1; `fault` is for good.
fn run(fabric: &Value, faults: &[Value]) -> Value {
    let raw = json!({
        "cluster": {"racks": 4, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
        "workload": {"load": 0.1, "flows": 1, "sizes": {"kind": "fixed", "size": "1 KB"}},
        "run": {"stop": "drain"},
        "fabric": [fabric],
        "fault": faults,
    });
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(2), 50_000_000, Time::ZERO);
    flows.push(HostId(1), HostId(0), 1_000, Time::ZERO);
    let experiment = Experiment::read(&raw).expect("a good file");
    let prepared = experiment.prepare(0, 1, Some(flows));
    let prepared = prepared.unwrap_or_else(|refusal| panic!("{refusal}"));
    let output = prepared.run(&mut Silent).expect("nothing is refused");
    serde_json::to_value(output.summary).expect("plain data")
}

#[test]
fn a_flow_that_is_cut_off_for_good_ends_the_run() {
    let fault = |part: Value, at: &str| {
        let mut fault = part;
        fault["at"] = json!(at);
        fault
    };
    let uplinks = |count: u32| -> Vec<Value> {
        let part = |uplink| json!({"element": "transceiver", "node": 0, "uplink": uplink});
        (0..count)
            .map(|uplink| fault(part(uplink), "1 ms"))
            .collect()
    };
    let planes = |count: u32, at: &str| -> Vec<Value> {
        let part = |plane| json!({"element": "plane", "plane": plane});
        (0..count).map(|plane| fault(part(plane), at)).collect()
    };
    let clos = json!({"kind": "clos", "link_rate": "10 Gb/s"});
    let flows = json!({"kind": "clos", "link_rate": "10 Gb/s", "detail": "flows"});
    let rotation = json!({"kind": "hybrid", "preset": "rotation", "electrical": false});
    for (fabric, faults) in [
        (clos, uplinks(2)),
        (flows, uplinks(2)),
        (json!({"kind": "rotornet", "uplinks": 2}), planes(2, "1 ms")),
        (rotation, planes(1, "1100 ms")),
        (
            json!({"kind": "hybrid", "preset": "mesh"}),
            planes(4, "10020 ms"),
        ),
    ] {
        let summary = run(&fabric, &faults);
        let delivered = summary["bytes_delivered"].as_u64().expect("a number");
        assert_eq!(summary["stuck_bytes"], 50_001_000 - delivered, "{fabric}");
        assert!(delivered > 1_000, "{fabric}: {delivered}");
        let end = summary["simulated_s"].as_f64().expect("a number");
        assert!(end < 60.0, "{fabric}: {end} s");
    }
}

/// Before the repair nothing moves for 20 s, and afterwards all arrives.
#[test]
fn a_repair_that_is_to_come_is_waited_for() {
    let mesh = json!({"kind": "hybrid", "preset": "mesh"});
    let fault = |plane: u32| json!({"element": "plane", "plane": plane, "at": "10020 ms", "repair_at": "500 s"});
    let summary = run(&mesh, &(0..4).map(fault).collect::<Vec<_>>());
    assert_eq!(summary["stuck_bytes"], Value::Null);
    assert_eq!(summary["bytes_delivered"], 50_001_000);
}
