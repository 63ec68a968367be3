//! Fabrics with a circuit switch: the same bytes as with the derived values, its link budget, and
//! refusals.

use crate::tables::*;
use lightloom_fabrics::REGISTRY;
use serde_json::{json, Value};

/// The kind, other keys, devices, and the figures computed by hand.
fn by_hand() -> Vec<(&'static str, Value, Value, Value)> {
    let rotation = |night: Option<&str>| {
        let policy = json!({"kind": "rotation", "day": "1 ms"});
        match night {
            None => json!({ "policy": policy }),
            Some(night) => json!({ "policy": with(&policy, &json!({ "night": night })) }),
        }
    };
    vec![
        (
            "mordia",
            json!({}),
            json!("wss-ring"),
            json!({"night": "11.55 us", "night_deviation": "2.36 us", "wavelengths": 44}),
        ),
        (
            "cthrough",
            json!({}),
            json!("mems-hydra"),
            json!({"reconfiguration_delay": "100 ms"}),
        ),
        (
            "cthrough",
            json!({}),
            json!({"preset": "mems-cthrough", "settle": "20 ms", "loss": "1.5 dB"}),
            json!({"reconfiguration_delay": "20 ms"}),
        ),
        (
            "hydra",
            json!({}),
            json!("mems-cthrough"),
            json!({"settle": "10 ms"}),
        ),
        (
            "hybrid",
            json!({"interval": "50 ms"}),
            json!({"preset": "mems-cthrough", "settle": "3 ms"}),
            json!({"settle": "3 ms"}),
        ),
        (
            "hybrid",
            rotation(None),
            json!("wss-ring"),
            with(&json!({"settle": "11.55 us"}), &rotation(Some("11.55 us"))),
        ),
        (
            "rotornet",
            json!({}),
            json!("rotor-opera"),
            json!({"night": "10 us"}),
        ),
        (
            "opera",
            json!({}),
            json!({"preset": "rotor-opera", "settle": "7 us"}),
            json!({"night": "7 us"}),
        ),
    ]
}

#[test]
fn circuits_by_their_switch_are_circuits_by_its_figures() {
    for (kind, keys, devices, figures) in by_hand() {
        let base = with(&json!({ "kind": kind }), &keys);
        let named = raw(with(&base, &json!({ "devices": devices })));
        let written = raw(with(&base, &figures));
        assert_eq!(columns(&named), columns(&written), "{kind} {devices}");
        let once = resolved(&named);
        assert_eq!(resolved(&once), once);
        let mut table = once["fabric"][0].clone();
        let devices = table.as_object_mut().unwrap().remove("devices").unwrap();
        assert_eq!(table, resolved(&written)["fabric"][0]);
        let mut said = run(&named).summary.devices.expect("named");
        let budget = said.as_object_mut().unwrap().remove("budget").unwrap();
        assert!(budget["reach"].is_string(), "{budget}");
        for (key, value) in said.as_object().unwrap() {
            // Tables omit unknown values.
            assert_eq!(value, devices.get(key).unwrap_or(&Value::Null), "{key}");
        }
    }
}

/// Kinds whose schema has the key, and no other, are in the tests above (or are Sirius).
#[test]
fn every_kind_that_takes_a_switch_is_tested() {
    let takes =
        |entry: &&lightloom_fabrics::Entry| (entry.schema)()["properties"].get("devices").is_some();
    let mut takes: Vec<&str> = REGISTRY.iter().filter(takes).map(|e| e.kind).collect();
    let mut tested: Vec<&str> = by_hand().iter().map(|case| case.0).collect();
    tested.dedup();
    tested.push("sirius");
    takes.sort_unstable();
    tested.sort_unstable();
    assert_eq!(takes, tested);
}

/// Propagation, latencies and headers of `[physics]` are added to the values that follow from the
/// devices, which do not change; and the table itself takes precedence over both.
#[test]
fn physics_stand_beside_the_switch() {
    let physics = json!({"propagation": "400 ns", "header": "40 B", "fec_latency": "100 ns"});
    for (kind, keys, devices, figures) in by_hand() {
        let base = with(&json!({ "kind": kind }), &keys);
        let under = |fabric: Value| with(&raw(fabric), &json!({ "physics": physics }));
        let named = under(with(&base, &json!({ "devices": devices })));
        let written = under(with(&base, &figures));
        let once = resolved(&named);
        assert_eq!(resolved(&once), once, "{kind}");
        let mut table = once["fabric"][0].clone();
        assert!(table.as_object_mut().unwrap().remove("devices").is_some());
        assert_eq!(table, resolved(&written)["fabric"][0], "{kind}");
        assert_eq!(table["propagation"], "400 ns", "{kind}");
        assert_eq!(table["header"], "40 B", "{kind}");
        let own = json!({ "devices": devices, "propagation": "100 ns" });
        let own = resolved(&under(with(&base, &own)));
        assert_eq!(own["fabric"][0]["propagation"], "100 ns", "{kind}");
    }
}

/// Fibre that `[physics]` lays for all networks is longer than 0.7 dB carry at 0.4 dB/km.
#[test]
fn a_fibre_beyond_the_budget_is_refused() {
    for kind in ["cthrough", "hydra", "hybrid"] {
        let fabric = json!({"kind": kind, "devices": "mems-cthrough"});
        let far = json!({"physics": {"fibre": "1.751 km"}});
        let told = refused(&with(&raw(fabric.clone()), &far));
        let expect =
            "fabric.propagation = 8.755 us: as physics.propagation has it, light passes 1.751 km \
                      of fibre, but fabric.devices reach 1.75 km: 0.7 dB";
        assert!(told.starts_with(expect), "{told}");
        resolved(&with(
            &raw(fabric),
            &json!({"physics": {"fibre": "1.75 km"}}),
        ));
    }
}

#[test]
fn a_loss_that_does_not_close_is_refused() {
    for (kind, preset, most) in [
        ("cthrough", "mems-cthrough", "3.5 dB"),
        ("hydra", "mems-hydra", "3.5 dB"),
        ("hybrid", "mems-cthrough", "3.5 dB"),
        ("mordia", "wss-ring", "8.5 dB"),
        ("rotornet", "rotor-rotornet", "3.5 dB"),
        ("opera", "rotor-opera", "3.5 dB"),
    ] {
        let of = |loss: &str| {
            let devices = json!({ "preset": preset, "loss": loss });
            raw(json!({ "kind": kind, "devices": devices }))
        };
        resolved(&of(most));
        let beyond = most.replace(" dB", "1 dB");
        let told = refused(&of(&beyond));
        let expect =
            format!("fabric.devices.loss = {beyond}: more than the {most} that are left: ");
        assert!(told.starts_with(&expect), "{told}");
    }
}

#[test]
fn a_switch_that_does_not_fit_is_refused() {
    for (fabric, expect) in [
        (
            json!({"kind": "cthrough", "devices": {"preset": "mems-cthrough", "ports": 8}}),
            "fabric.devices.ports = 8: each of the 16 racks (cluster.racks) takes a port",
        ),
        (
            json!({"kind": "mordia", "devices": {"preset": "wss-ring", "ports": 8}}),
            "cluster.racks = 16: a ring of 8 wavelengths has 8 ports",
        ),
        (
            json!({"kind": "mordia", "devices": "mems-cthrough"}),
            "fabric.devices.constraint = \"matching\": a schedule lets a rack send to one rack and receive",
        ),
        (
            json!({"kind": "cthrough", "devices": "mems-hydra", "reconfiguration_delay": "10 ms"}),
            "fabric.reconfiguration_delay = 10 ms: fabric.devices give 100 ms; leave it out",
        ),
        (
            json!({"kind": "hydra", "preset": "instant", "devices": "mems-hydra"}),
            "fabric.settle = 0 s: fabric.devices give 100 ms; leave it out (a preset may set it)",
        ),
        (
            json!({"kind": "hydra", "devices": {"ports": 16, "constraint": "matching"}}),
            "fabric.devices.settle = (missing): required",
        ),
        (
            json!({"kind": "cthrough", "devices": {"preset": "mems-cthrough", "settle": "2 s"}}),
            "fabric.devices.settle = 2 s: must be from 0 ps to 1 s",
        ),
        (
            json!({"kind": "cthrough", "devices": {"preset": "mems-cthrough", "settle": "1 s"}}),
            "fabric.interval = 1 s: not longer than computation and reconfiguration, which take 1 s",
        ),
        (
            json!({"kind": "hybrid", "devices": "mems-hydra", "settle": "10 ms"}),
            "fabric.settle = 10 ms: fabric.devices give 100 ms; leave it out",
        ),
        (
            json!({"kind": "hybrid", "policy": "solstice", "devices": "mems-hydra"}),
            "fabric.devices.constraint = \"matching\": a schedule lets a rack send to one rack and receive",
        ),
        (
            json!({"kind": "hybrid", "devices": "rotor-opera"}),
            "fabric.devices.constraint = \"rotor\": it rotates through fixed matchings, but here a \
             policy decides; use one of \"wss-ring\", \"mems-cthrough\", \"mems-hydra\"",
        ),
        (
            json!({"kind": "hybrid", "preset": "rotation", "devices": "wss-ring"}),
            "fabric.policy.night = 1 ms: fabric.devices give 11.55 us; leave it out (a preset may",
        ),
        (
            json!({"kind": "hybrid", "devices": "wss-ring", "policy": {"kind": "fixed",
                   "schedule": {"ports": 16, "night_ps": 1_000_000, "slots": [
                       {"permutation": (1..16).chain([0]).collect::<Vec<u32>>(),
                        "day_ps": 50_000_000}]}}}),
            "fabric.policy.schedule = a schedule: its nights are 1 us, but fabric.devices are dark \
             for 11.55 us; plan longer nights, or change fabric.devices.settle",
        ),
        (
            json!({"kind": "rotornet", "devices": "mems-hydra"}),
            "fabric.devices.constraint = \"matching\": a schedule lets a rack send to one",
        ),
        (
            json!({"kind": "rotornet", "devices": "rotor-rotornet", "night": "10 us"}),
            "fabric.night = 10 us: fabric.devices give 20 us; leave it out",
        ),
        (
            json!({"kind": "rotornet", "devices": {"preset": "rotor-opera", "settle": "1 ms"}}),
            "fabric.slot = 200 us: ",
        ),
        (
            json!({"kind": "opera", "devices": {"preset": "rotor-opera", "ports": 15}}),
            "fabric.devices.ports = 15: each of the 16 racks (cluster.racks) takes a port",
        ),
        (
            json!({"kind": "opera", "devices": "mems-cthrough"}),
            "fabric.slice = 100 us: ",
        ),
        (
            json!({"kind": "lions", "devices": "mems-hydra"}),
            "fabric.devices = \"mems-hydra\": no such key",
        ),
    ] {
        let told = refused(&raw(fabric));
        assert!(told.starts_with(expect), "{told}");
    }
}
