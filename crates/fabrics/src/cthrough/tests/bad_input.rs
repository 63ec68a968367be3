//! Tables that are refused, by the key that the refusal names.

use super::*;

fn refusal(cluster: &Cluster, table: Value) -> String {
    (ENTRY.resolve)(&table, cluster).unwrap_err().to_string()
}

#[test]
fn an_interval_must_hold_its_own_reconfiguration() {
    let table = json!({"interval": "600 ms", "computation_delay": "640 ms"});
    let e = refusal(&TESTBED, table);
    assert!(
        e.starts_with("fabric.interval = 600 ms: not longer than computation and reconfiguration, which take 650 ms; raise fabric.interval"),
        "{e}"
    );
}

#[test]
fn every_bound_is_named() {
    for (key, value) in [
        ("oversubscription", json!(0.9)),
        ("levels", json!(1)),
        ("racks_per_pod", json!(2)),
        ("circuit_rate", json!("0 b/s")),
        ("interval", json!("2 h")),
        ("interval", json!("10 ms")),
        ("socket_buffer", json!("0 B")),
        ("socket_buffer", json!("2 TB")),
        ("report_queue", json!("2 TB")),
        ("report_change", json!("2 TB")),
        ("hysteresis", json!("2 TB")),
        ("optical_weight", json!(0.4)),
        ("optical_weight", json!(1.0)),
        ("ramp", json!("3601 s")),
        ("dip", json!("3601 s")),
        ("controller_timeout", json!("3601 s")),
        ("unrequested", json!("dark")),
    ] {
        let e = refusal(&TESTBED, json!({ key: value }));
        assert!(e.starts_with(&format!("fabric.{key} = ")), "{e}");
    }
}

#[test]
fn a_switch_has_so_many_ports() {
    let cluster = Cluster {
        racks: 4_097,
        ..TESTBED
    };
    let e = refusal(&cluster, json!({}));
    assert_eq!(
        e,
        "cluster.racks = 4097: circuits join 2 to 4096 racks; lower it"
    );
}

#[test]
fn presets_can_run() {
    for preset in ENTRY.presets {
        let table: Value = serde_json::from_str(preset.table).expect("JSON");
        (ENTRY.resolve)(&table, &TESTBED).unwrap_or_else(|e| panic!("{}: {e}", preset.name));
    }
}
