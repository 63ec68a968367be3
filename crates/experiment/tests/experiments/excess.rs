//! The calculation shows that loads above the capacity of links are not carried, for runs of any
//! length; and no fabric carries more than the calculation permits.

use lightloom_engine::run::Silent;
use lightloom_experiment::Experiment;
use lightloom_metrics::Summary;
use serde_json::{json, Value};

/// 16 nodes of 10 Gb/s, each a rack, of equal flows; measured for 2 ms after 2 ms.
fn run(fabric: Value, load: f64, pattern: Value, flows: Option<u64>) -> Summary {
    let mut raw = json!({
        "cluster": {"hosts": 16, "server_rate": "10 Gb/s"},
        "workload": {
            "load": load, "pattern": pattern, "sizes": {"kind": "fixed", "size": "10 KB"},
        },
        "fabric": [fabric],
        "run": {"warm_up": "2 ms", "measure": "2 ms"},
    });
    if let Some(flows) = flows {
        raw["workload"]["flows"] = json!(flows);
        raw["run"] = json!({});
    }
    let prepared = Experiment::read(&raw)
        .expect("a good file")
        .prepare(0, 1, None);
    let output = prepared.expect("a good table").run(&mut Silent);
    output.expect("nothing fails").summary
}

fn excess(fabric: Value, load: f64, pattern: Value) -> Option<(String, f64)> {
    let found = run(fabric, load, pattern, Some(10)).excess;
    found.map(|excess| (excess.traffic, excess.times))
}

/// A fabric, and the load at which its links between racks are full.
fn fabrics() -> Vec<(Value, f64)> {
    let header = json!({"mtu": "1460 B", "header": "78 B"});
    let mut clos = json!({"kind": "clos", "oversubscription": 2.0, "oversubscription_at": "rack"});
    let plain = clos.clone();
    clos.as_object_mut()
        .unwrap()
        .extend(header.as_object().unwrap().clone());
    let mut tree = json!({"kind": "tree", "oversubscription": 4.0, "header": "100 B"});
    tree["packet"] = json!("900 B");
    let night = |kind: &str| {
        json!({
            "kind": kind, "switches": 3, "night": "10 us", "slot": "40 us", "link_rate": "3 Gb/s",
        })
    };
    vec![
        (json!({"kind": "tree", "oversubscription": 2.0}), 0.5),
        (tree, 0.25 * 0.9),
        (plain, 0.5),
        (clos, 0.5 * 1460.0 / 1538.0),
        // An oversubscription of √4 at the racks in four pods of 4, and of √4 above the pods, which
        // 12 of 15 flows cross.
        (
            json!({"kind": "tree", "oversubscription": 4.0, "levels": 3}),
            0.25 * 15.0 / 12.0,
        ),
        (night("rotornet"), 3.0 * 0.3 * 0.75),
        (
            json!({"kind": "cthrough", "oversubscription": 10.0, "circuit_rate": "1 Gb/s"}),
            0.2,
        ),
        (
            json!({"kind": "hydra", "oversubscription": 10.0, "circuit_rate": "1 Gb/s",
                "planes": 2}),
            0.3,
        ),
        (
            json!({"kind": "hybrid", "electrical": false, "circuit_rate": "5 Gb/s",
                "policy": "rotation"}),
            0.5,
        ),
    ]
}

#[test]
fn what_the_links_carry_is_known_before_the_run() {
    for (fabric, full) in fabrics() {
        let (traffic, times) = excess(fabric.clone(), 1.2 * full, json!("uniform"))
            .unwrap_or_else(|| panic!("{fabric}"));
        assert!(traffic.starts_with("between "), "{traffic}: {fabric}");
        assert!((times / 1.2 - 1.0).abs() < 0.01, "{times}: {fabric}");
        assert_eq!(excess(fabric, 0.99 * full, json!("uniform")), None);
    }
}

/// Otherwise the calculation would exclude a load that is carried.
#[test]
fn no_fabric_carries_more() {
    let sirius = json!({"kind": "sirius", "channel_rate": "5 Gb/s"});
    let more = ["opera", "sirius"].map(|kind| match kind {
        "sirius" => (sirius.clone(), 1.0),
        kind => (json!({"kind": kind, "link_rate": "1 Gb/s"}), 1.0),
    });
    for (fabric, _) in fabrics().into_iter().chain(more) {
        let summary = run(fabric.clone(), 1.0, json!("uniform"), None);
        let accepted = summary.window.expect("it was asked for").accepted;
        // If the links above pods are full, traffic within pods may take more than its share.
        let of_racks = summary
            .excess
            .filter(|excess| excess.traffic == "between racks");
        let most = of_racks.map_or(1.0, |excess| 1.0 / excess.times);
        assert!(accepted <= 1.02 * most, "{accepted} of {most}: {fabric}");
    }
}

/// Half of the flows go to node 3, whose link carries 5 Gb/s from others.
#[test]
fn one_hot_node_is_named() {
    let hot = json!({"kind": "hotspot", "targets": [3], "fraction": 0.5});
    let tree = || json!({"kind": "tree", "oversubscription": 2.0});
    let (traffic, times) = excess(tree(), 0.1, hot.clone()).expect("it is offered 8 of 5 Gb/s");
    assert_eq!(traffic, "to rack 3");
    // Half of 16 × 1 Gb/s; the other flows go elsewhere.
    let to = 16.0 * 0.5;
    assert!((times / (to / 5.0) - 1.0).abs() < 0.02, "{times}");
    assert_eq!(excess(tree(), 0.05, hot), None);
}

/// All four receivers of a LIONS output receive at the same time, so a hot spot of three times a
/// link's rate is carried.
#[test]
fn receivers_of_a_grating_hear_more_than_a_link() {
    let hot = json!({"kind": "hotspot", "targets": [3], "fraction": 0.9});
    let lions = |link: &str| json!({"kind": "lions", "receivers": 4, "host_link": link});
    assert_eq!(excess(lions("receivers"), 0.2, hot.clone()), None);
    let (traffic, times) = excess(lions("nic"), 0.2, hot).expect("a link hears a third of it");
    assert_eq!(traffic, "to server 3");
    assert!((times / (16.0 * 0.2 * 0.9) - 1.0).abs() < 0.02, "{times}");
}
