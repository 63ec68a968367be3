//! Physics that all fabrics share: the values in force, and the resulting times of flows.

use crate::common::connects_single_nodes;
use lightloom_engine::run::Silent;
use lightloom_engine::{Bytes, Flows, HostId, Time};
use lightloom_experiment::{Assumptions, Experiment};
use lightloom_fabrics::REGISTRY;
use proptest::prelude::*;
use serde_json::{json, Map, Value};

/// 16 racks of 200 Gb/s, or 16 nodes of 10 Gb/s for a fabric that connects nodes only.
fn raw(fabric: &Value, physics: Option<&Value>) -> Value {
    let nodes = connects_single_nodes(fabric["kind"].as_str().expect("a kind"));
    let cluster = match nodes {
        true => json!({"hosts": 16, "server_rate": "10 Gb/s"}),
        false => json!({"racks": 16, "servers_per_rack": 4, "rack_rate": "200 Gb/s"}),
    };
    let mut raw = json!({
        "cluster": cluster,
        "workload": {"load": 0.1, "flows": 10, "sizes": {"kind": "fixed", "size": "1 KB"}},
        "run": {"stop": "drain"},
        "fabric": [fabric],
    });
    if let Some(physics) = physics {
        raw["physics"] = physics.clone();
    }
    raw
}

fn read(raw: &Value) -> Experiment {
    Experiment::read(raw).expect("a good file")
}

/// The fabric's completed table.
fn completed(fabric: &Value, physics: Option<&Value>) -> Value {
    let resolved = read(&raw(fabric, physics)).resolve().expect("it can run");
    resolved.to_json()["fabric"][0].clone()
}

fn assumed(fabric: &Value, physics: Option<&Value>) -> Assumptions {
    let resolved = read(&raw(fabric, physics)).resolve().expect("it can run");
    resolved.assumptions().expect("resolved").remove(0)
}

/// The time of a lone flow from the first server to the last, and its hops.
fn lone(fabric: &Value, physics: Option<&Value>, bytes: u64) -> (Time, f32) {
    let experiment = read(&raw(fabric, physics));
    let last = experiment.cluster().expect("good").hosts() - 1;
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(last), bytes, Time::ZERO);
    let prepared = experiment.prepare(0, 1, Some(flows)).expect("it can run");
    let flows = prepared.run(&mut Silent).expect("nothing fails").flows;
    (flows.finish[0], flows.hops[0])
}

fn realistic() -> Value {
    json!({"preset": "realistic"})
}

fn ns(nanoseconds: f64) -> Time {
    Time((nanoseconds * 1e3).round() as i64)
}

/// Tolerates rounding: rates are whole bits per second, and times whole picoseconds.
fn near(took: Time, expected: Time, what: &Value) {
    assert!(
        (took - expected).0.abs() <= 2,
        "{what}: {took}, by hand {expected}"
    );
}

/// Propagation in the realistic preset; below it, the latencies of a switch and of error
/// correction.
const WAY: f64 = 500.0;
const SWITCH: f64 = 600.0;
const FEC: f64 = 102.4;
/// Time from one rack to another over one circuit, including the switch there.
const CROSSING: f64 = WAY + FEC + SWITCH;

/// 1,500 B with 38 B of framing at a rate in Gb/s [ns].
fn frame(gbps: f64) -> f64 {
    1_538.0 * 8.0 / gbps
}

/// Four links of 50 Gb/s to another pod, two within a pod; every switch stores the packet
/// completely.
#[test]
fn a_lone_packet_over_a_clos() {
    let clos = json!({"kind": "clos"});
    let (took, _) = lone(&clos, Some(&realistic()), 1_500);
    near(
        took,
        ns(4.0 * (frame(50.0) + FEC) + WAY + 5.0 * SWITCH),
        &clos,
    );
    // The same by rates.
    let flows = json!({"kind": "clos", "detail": "flows"});
    near(lone(&flows, Some(&realistic()), 1_500).0, took, &flows);
    // If all racks are in one pod, two links share the whole distance.
    let pod = json!({"kind": "clos", "racks_per_pod": 16});
    let (took, _) = lone(&pod, Some(&realistic()), 1_500);
    near(
        took,
        ns(2.0 * (frame(50.0) + FEC) + WAY + 3.0 * SWITCH),
        &pod,
    );
}

/// Over servers' links the distance is short.
#[test]
fn links_of_servers_have_none_of_the_way() {
    let clos = json!({"kind": "clos"});
    let mut raw = raw(&clos, Some(&realistic()));
    raw["cluster"]["nic"] = json!("50 Gb/s");
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(63), 1_500, Time::ZERO);
    let prepared = read(&raw).prepare(0, 1, Some(flows)).expect("it can run");
    let flows = prepared.run(&mut Silent).expect("nothing fails").flows;
    let by_hand = 6.0 * frame(50.0) + 4.0 * FEC + WAY + 5.0 * SWITCH;
    near(flows.finish[0], ns(by_hand), &clos);
}

/// Racks, core, racks: an uplink has four links of 50 Gb/s, or one at the ratio's rate. Packets are
/// stored at the core, so that each takes one link up and one down, as over a Clos.
#[test]
fn a_lone_flow_over_a_tree() {
    let latency = WAY + 2.0 * FEC + 3.0 * SWITCH;
    for (fabric, links, gbps) in [
        (json!({"kind": "tree"}), 4u64, 50.0),
        (json!({"kind": "cthrough"}), 1, 5.0),
        (json!({"kind": "hydra"}), 1, 20.0),
        (json!({"kind": "hybrid"}), 1, 20.0),
    ] {
        let packet = |bytes: u64| (bytes + 38) as f64 * 8.0 / gbps;
        let full = packet(1_500);
        // The last of ten packets is sent in the third round over four links.
        let rounds = 10u64.div_ceil(links) as f64;
        // A packet of 500 B has a link beside the full packet's, or waits behind it on both links.
        let beside = if links > 1 { 0.0 } else { packet(500) };
        for (bytes, stored) in [
            (1_500u64, 2.0 * full),
            (15_000, (rounds + 1.0) * full),
            (1, 2.0 * packet(1)),
            (2_000, 2.0 * full + beside),
        ] {
            let (took, _) = lone(&fabric, Some(&realistic()), bytes);
            near(took, ns(stored + latency), &fabric);
        }
    }
    // The packet passes racks, pods, the core and down again, over one link of 50 Gb/s at each
    // step.
    let fat = json!({"kind": "tree", "levels": 3});
    let latency = WAY + 4.0 * FEC + 5.0 * SWITCH;
    near(
        lone(&fat, Some(&realistic()), 1_500).0,
        ns(4.0 * frame(50.0) + latency),
        &fat,
    );
}

/// The same if switches forward packets without storing them: the whole flow has the lowest rate on
/// its path.
#[test]
fn a_lone_flow_over_a_tree_that_stores_nothing() {
    let latency = WAY + 2.0 * FEC + 3.0 * SWITCH;
    for (kind, gbps) in [
        ("tree", 200.0),
        ("cthrough", 5.0),
        ("hydra", 20.0),
        ("hybrid", 20.0),
    ] {
        let fabric = json!({"kind": kind, "forwarding": "cut-through"});
        for bytes in [1_500u64, 15_000, 1, 2_000] {
            let packets = bytes.div_ceil(1_500) as f64;
            let wire = (bytes as f64 + packets * 38.0) * 8.0 / gbps;
            let (took, _) = lone(&fabric, Some(&realistic()), bytes);
            near(took, ns(wire + latency), &fabric);
        }
    }
}

/// Days of 10 ms, nights of 1 ms, and circuits of 200 Gb/s, as fast as a rack's uplinks.
#[test]
fn a_lone_flow_over_a_circuit() {
    let rotation = json!({"kind": "rotation", "day": "10 ms", "night": "1 ms"});
    let hybrid = json!({
        "kind": "hybrid", "policy": rotation, "electrical": false, "ramp": "0 s", "dip": "0 s",
    });
    let (took, hops) = lone(&hybrid, Some(&realistic()), 1_500);
    assert_eq!(hops, 1.0);
    // Whenever its day begins, the packet is later than a flow without physics by the same time.
    let bare = lone(&hybrid, None, 1_500).0;
    let frame = frame(200.0) - 60.0;
    near(took - bare, ns(frame + CROSSING + SWITCH), &hybrid);
}

/// A flow passes its own rack's switch long before the night ends; the remaining time is that of a
/// packet and of the crossing.
#[test]
fn a_lone_packet_over_circuits_that_take_turns() {
    let mordia = json!({"kind": "mordia", "policy": "rotation"});
    let rotornet = json!({"kind": "rotornet", "indirect": "none"});
    for (fabric, slot, night) in [
        (mordia, Time::US * 106, Time::NS * 11_500),
        (rotornet, Time::US * 200, Time::US * 20),
    ] {
        let (took, hops) = lone(&fabric, Some(&realistic()), 1_500);
        assert_eq!(hops, 1.0);
        near(took % slot - night, ns(frame(200.0) + CROSSING), &fabric);
    }
}

/// Low-latency packets leave at once: through the switch of their rack, then over the circuits of
/// their path, each with a sixth of the rack's rate.
#[test]
fn a_lone_packet_over_an_expander() {
    let opera = json!({"kind": "opera"});
    let (took, hops) = lone(&opera, Some(&realistic()), 1_500);
    assert!((1.0..=4.0).contains(&hops), "{hops}");
    let by_hand = SWITCH + f64::from(hops) * (frame(200.0 / 6.0) + CROSSING);
    assert!(
        (took - ns(by_hand)).0.abs() <= 5,
        "{took}, by hand {by_hand} ns"
    );
}

/// Cells leave in slots of 100 ns in which their nodes are connected, which is within three slots.
#[test]
fn a_lone_cell_over_gratings() {
    let slots = |took: Time| {
        let left = took - ns(CROSSING);
        assert_eq!(left % (Time::NS * 100), Time::ZERO, "{took}");
        left / (Time::NS * 100).0
    };
    for mode in ["ideal", "request_grant"] {
        let sirius = json!({"kind": "sirius", "mode": mode});
        // 562 B less 18 B.
        assert_eq!(
            completed(&sirius, Some(&realistic()))["cell"],
            json!("544 B")
        );
        let (took, hops) = lone(&sirius, Some(&realistic()), 544);
        let sent = slots(took).0;
        // The cell passes its own switch in six slots; the relay has it after another crossing, in
        // slot 20.
        let soonest = if hops == 1.0 { 7 } else { 21 };
        match mode {
            "ideal" => assert!((soonest..=soonest + 3).contains(&sent), "{sent}"),
            _ => assert!(sent >= soonest, "{sent}"),
        }
    }
}

/// 50 m of fibre on each side, 274 B at 10 Gb/s, 10 ns of tuning.
#[test]
fn a_lone_packet_through_a_grating_switch() {
    let lions = json!({"kind": "lions"});
    let (took, _) = lone(&lions, Some(&realistic()), 256);
    near(took, ns(WAY + 274.0 * 0.8 + 10.0), &lions);
}

/// Three routers on the longest path, 35 flits of 6.4 ns. Cycles are whole, so each of four wires
/// takes up to two more.
#[test]
fn a_lone_packet_over_a_flattened_butterfly() {
    let butterfly = json!({"kind": "flattened-butterfly"});
    let (took, _) = lone(&butterfly, Some(&realistic()), 256);
    let least = WAY + 3.0 * SWITCH + 35.0 * 6.4;
    assert!(
        (ns(least)..=ns(least + 8.0 * 6.4)).contains(&took),
        "{took}, {least} ns"
    );
}

/// Terms that fabrics do not have; all others have all.
const MISSING: &[(&str, &[&str])] = &[
    ("lions", &["physics.switch_latency", "physics.fec_latency"]),
    (
        "flattened-butterfly",
        &["physics.gap", "physics.fec_latency"],
    ),
];

#[test]
fn what_a_fabric_does_not_have_is_said() {
    let missing = |kind: &str| {
        let found = assumed(&json!({"kind": kind}), Some(&realistic()));
        let found = serde_json::to_value(found.missing).expect("plain data");
        let terms = found.as_array().expect("a list").iter();
        terms
            .map(|m| m["term"].as_str().expect("a word").to_owned())
            .collect::<Vec<_>>()
    };
    for entry in REGISTRY {
        let expected = match MISSING.iter().find(|(kind, _)| *kind == entry.kind) {
            Some((_, terms)) => *terms,
            None => &[],
        };
        assert_eq!(missing(entry.kind), expected, "{}", entry.kind);
    }
    // A given cell size is payload only.
    let cell = json!({"kind": "sirius", "cell": "500 B"});
    let found = assumed(&cell, Some(&realistic()));
    assert_eq!(found.missing[0].why, "its cell is given and is all payload");
    assert_eq!(completed(&cell, Some(&realistic()))["cell"], json!("500 B"));
}

#[test]
fn what_is_ideal_is_not_so_any_more() {
    for entry in REGISTRY {
        let fabric = json!({"kind": entry.kind});
        let realistic = assumed(&fabric, Some(&realistic())).ideal;
        for zero in ["no propagation", "no switch latency", "no headers"] {
            assert!(!realistic.contains(&zero), "{}: {realistic:?}", entry.kind);
        }
    }
    let clos = assumed(&json!({"kind": "clos"}), None).ideal;
    let nothing = [
        "no propagation",
        "no switch latency",
        "no FEC",
        "no headers",
    ];
    assert_eq!(clos[..4], nothing);
    assert!(clos.contains(&"unlimited buffers"));
}

#[test]
fn a_key_that_goes_before_is_said() {
    let own = |fabric: Value| {
        let own = assumed(&fabric, Some(&realistic())).own;
        own.into_iter()
            .map(|o| (o.key, o.value))
            .collect::<Vec<_>>()
    };
    assert_eq!(own(json!({"kind": "clos"})), []);
    let given = json!({"kind": "clos", "switch_latency": "1 us"});
    assert_eq!(own(given), [("switch_latency", Some(json!("1 us")))]);
    // Zero is left out of the completed table.
    let given = json!({"kind": "tree", "header": "0 B"});
    assert_eq!(own(given), [("header", None)]);
    let preset = json!({"kind": "opera", "preset": "opera"});
    // 0.5 us, as realistic has it.
    assert_eq!(own(preset), []);
}

#[test]
fn a_refusal_says_where_the_value_is_from() {
    let rotornet = json!({"kind": "rotornet"});
    let far = json!({"propagation": "30 us"});
    let refused = read(&raw(&rotornet, Some(&far))).resolve().unwrap_err();
    let said = refused.to_string();
    assert!(
        said.starts_with(
            "fabric.propagation = 30 us: as physics.propagation has it, longer than the night"
        ),
        "{said}"
    );
}

/// A value of its own for a key.
fn own_value(key: &str) -> Value {
    match key {
        "header" => json!("7 B"),
        "fibre" | "spacing" => json!("3 m"),
        "vc_buffer" => json!(77),
        _ => json!("123 ns"),
    }
}

fn some_physics() -> impl Strategy<Value = Value> {
    let time = || prop::option::of((1i64..2_000).prop_map(|n| (Time::NS * n).to_string()));
    let bytes = || prop::option::of((1u64..50).prop_map(|n| Bytes(n).to_string()));
    (time(), time(), time(), bytes(), bytes()).prop_map(|(way, switch, fec, header, gap)| {
        let terms = [
            ("propagation", way),
            ("switch_latency", switch),
            ("fec_latency", fec),
            ("header", header),
            ("gap", gap),
        ];
        let given = terms
            .into_iter()
            .filter_map(|(k, v)| Some((k.to_owned(), json!(v?))));
        Value::Object(given.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        // The case is printed whole.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// A fabric's key has priority over its preset, the preset over the physics, the physics over
    /// the default; completed values stay as they are.
    #[test]
    fn keys_presets_physics_defaults(physics in some_physics(), given in any::<[bool; 8]>()) {
        for entry in REGISTRY {
            let presets = entry.presets.iter().map(|preset| Some(preset.name));
            for preset in presets.chain([None]) {
                check_precedence(entry, preset, &physics, given);
            }
        }
    }
}

fn check_precedence(
    entry: &lightloom_fabrics::Entry,
    preset: Option<&str>,
    physics: &Value,
    given: [bool; 8],
) {
    let mut fabric = json!({"kind": entry.kind});
    let bare = Value::Object(Map::new());
    let terms = read(&raw(&fabric, Some(physics)));
    let (cluster, terms) = (
        terms.cluster().expect("good"),
        terms.physics.expect("given"),
    );
    let terms = lightloom_fabrics::Physics {
        propagation: terms.propagation,
        switch_latency: terms.switch_latency,
        fec_latency: terms.fec_latency,
        header: terms.header,
        gap: terms.gap,
        oversubscription: None,
        discipline: None,
        nic: None,
    };
    let mut below = Map::new();
    if let Some(name) = preset {
        let found = entry
            .presets
            .iter()
            .find(|p| p.name == name)
            .expect("its own");
        below = serde_json::from_str(found.table).expect("a table");
        fabric["preset"] = json!(name);
    }
    let obeyed = (entry.obey)(&bare, &terms, &cluster)
        .expect("a good table")
        .keys;
    for (obeying, given) in obeyed.iter().zip(given) {
        if given {
            fabric[obeying.key] = own_value(obeying.key);
        }
    }
    let has = completed(&fabric, Some(physics));
    let without = completed(&fabric, None);
    for (obeying, given) in obeyed.iter().zip(given) {
        let key = obeying.key;
        match (given, below.contains_key(key)) {
            (true, _) => assert_eq!(has[key], own_value(key), "{fabric} {key}"),
            (_, true) => assert_eq!(has[key], without[key], "{fabric} {key}"),
            // Values that follow from other keys follow from those in force.
            _ if ["vc_buffer", "server_propagation"].contains(&key) => {}
            _ => assert_eq!(has[key], obeying.value, "{fabric} {key}"),
        }
    }
    let mut again = has.clone();
    again
        .as_object_mut()
        .expect("a table")
        .shift_remove("label");
    assert_eq!(completed(&again, Some(physics)), has, "{fabric}");
    assert_eq!(completed(&again, None), has, "{fabric}");
    let ideal = json!({"preset": "ideal"});
    assert_eq!(completed(&fabric, Some(&ideal)), without, "{fabric}");
}
