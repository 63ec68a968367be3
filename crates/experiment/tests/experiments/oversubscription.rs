//! Oversubscription that all electrical networks share, and circuits as fast as the cluster's
//! racks: tests which value is in force.

use crate::common::connects_single_nodes;
use lightloom_engine::run::Silent;
use lightloom_experiment::{Assumptions, Experiment};
use lightloom_fabrics::REGISTRY;
use proptest::prelude::*;
use serde_json::{json, Value};

/// 16 racks of four servers of 12.5 Gb/s, or the same number of nodes for a fabric that connects
/// only nodes.
fn raw(fabric: &Value, oversubscription: Option<f64>) -> Value {
    let nodes = connects_single_nodes(fabric["kind"].as_str().expect("a kind"));
    let mut cluster = match nodes {
        true => json!({"hosts": 16, "server_rate": "10 Gb/s"}),
        false => json!({"racks": 16, "servers_per_rack": 4, "server_rate": "12.5 Gb/s"}),
    };
    if let Some(ratio) = oversubscription {
        cluster["oversubscription"] = json!(ratio);
    }
    json!({
        "cluster": cluster,
        "workload": {"load": 0.3, "flows": 200, "sizes": {"kind": "fixed", "size": "1 MB"}},
        "run": {"stop": "drain", "limit": "1 s"},
        "fabric": [fabric],
    })
}

fn resolved(raw: &Value) -> Experiment {
    let read = Experiment::read(raw).expect("a good file");
    read.resolve().expect("it can run")
}

/// The fabric's completed table.
fn completed(raw: &Value) -> Value {
    resolved(raw).to_json()["fabric"][0].clone()
}

fn assumed(raw: &Value) -> Assumptions {
    resolved(raw).assumptions().expect("resolved").remove(0)
}

fn refused(raw: &Value) -> String {
    let found = Experiment::read(raw).and_then(|e| e.resolve());
    found.expect_err("it cannot run").to_string()
}

/// Whether the completed table has an electrical network, and its ratio.
fn ratio(raw: &Value) -> Option<f64> {
    completed(raw)["oversubscription"].as_f64()
}

#[test]
fn what_a_fabric_has_by_default_of_the_cluster_or_of_its_own() {
    for (kind, default) in [
        ("clos", 1.0),
        ("tree", 1.0),
        ("cthrough", 40.0),
        ("hydra", 10.0),
        ("hybrid", 10.0),
    ] {
        let bare = json!({"kind": kind});
        assert_eq!(ratio(&raw(&bare, None)), Some(default), "{kind}");
        assert_eq!(ratio(&raw(&bare, Some(3.0))), Some(3.0), "{kind}");
        let own = json!({"kind": kind, "oversubscription": 5});
        assert_eq!(ratio(&raw(&own, Some(3.0))), Some(5.0), "{kind}");
    }
    for (kind, preset, papers) in [
        ("clos", "ideal-3to1", 3.0),
        ("clos", "realistic", 1.0),
        ("tree", "40to1", 40.0),
        ("cthrough", "default-buffers", 40.0),
        ("hydra", "testbed", 10.0),
    ] {
        let fabric = json!({"kind": kind, "preset": preset});
        assert_eq!(ratio(&raw(&fabric, Some(2.0))), Some(papers), "{kind}");
    }
    // A preset without the key leaves it to the cluster.
    let mesh = json!({"kind": "hybrid", "preset": "rotation"});
    assert_eq!(ratio(&raw(&mesh, Some(2.0))), Some(2.0));
}

#[test]
fn without_an_electrical_network_there_is_nothing_to_set() {
    let alone = json!({"kind": "hybrid", "electrical": false});
    assert_eq!(ratio(&raw(&alone, Some(3.0))), None);
    let own = json!({"kind": "hybrid", "electrical": false, "oversubscription": 2});
    assert_eq!(
        refused(&raw(&own, Some(3.0))),
        "fabric.oversubscription = 2: there is no electrical network; \
         remove it, or set electrical = true"
    );
    let mut without = 0;
    for entry in REGISTRY {
        let bare = json!({"kind": entry.kind});
        if ratio(&raw(&bare, None)).is_none() {
            assert_eq!(
                completed(&raw(&bare, Some(3.0))),
                completed(&raw(&bare, None))
            );
            without += 1;
        }
    }
    assert_eq!(without, REGISTRY.len() - 5);
}

#[test]
fn a_key_that_goes_before_is_said() {
    let own = |fabric: Value| {
        let own = assumed(&raw(&fabric, Some(3.0))).own;
        let said = own.into_iter().map(|o| (o.term.key(), o.value));
        said.collect::<Vec<_>>()
    };
    assert_eq!(own(json!({"kind": "tree"})), []);
    assert_eq!(own(json!({"kind": "tree", "oversubscription": 3})), []);
    assert_eq!(
        own(json!({"kind": "clos", "preset": "ideal-3to1", "oversubscription": 2})),
        [("cluster.oversubscription", Some(json!(2.0)))]
    );
    assert_eq!(own(json!({"kind": "sirius"})), []);
}

#[test]
fn what_is_no_ratio_is_refused_whatever_fabrics_have() {
    let own = json!({"kind": "tree", "oversubscription": 4});
    for bad in [
        json!(0),
        json!(-1),
        json!(0.999),
        json!(1000.5),
        json!("3"),
        json!("3:1"),
        json!([3]),
        json!(true),
        json!({"ratio": 3}),
    ] {
        let mut raw = raw(&own, None);
        raw["cluster"]["oversubscription"] = bad.clone();
        assert_eq!(
            refused(&raw),
            format!(
                "cluster.oversubscription = {bad}: must be a number from 1 (full bisection) to \
                 1,000; write 3 for 3:1, or leave it out for each fabric's default"
            )
        );
    }
    for good in [json!(1), json!(1.5), json!(1000)] {
        let mut raw = raw(&json!({"kind": "tree"}), None);
        raw["cluster"]["oversubscription"] = good.clone();
        assert_eq!(ratio(&raw), good.as_f64());
    }
}

#[test]
fn a_refusal_says_that_the_ratio_is_the_clusters() {
    let pod = json!({"kind": "clos", "racks_per_pod": 16});
    assert!(refused(&raw(&pod, Some(3.0))).starts_with(
        "fabric.oversubscription = 3: as cluster.oversubscription has it, has no effect: all 16 \
         racks are in one pod"
    ));
}

/// With the papers' clusters, whose racks' uplinks determine the rate of circuits, circuits are
/// those of the papers: four servers of 1 Gb/s (c-Through §5.1), 32 planes for 32 servers of 10
/// Gb/s (HydRA §III.A).
#[test]
fn circuits_of_the_papers_clusters_are_the_papers() {
    for (fabric, servers, rate, circuit) in [
        (json!({"kind": "cthrough"}), 4, "1 Gb/s", "4 Gb/s"),
        (json!({"kind": "hydra"}), 32, "10 Gb/s", "10 Gb/s"),
        (json!({"kind": "hybrid"}), 1, "10 Gb/s", "10 Gb/s"),
        (json!({"kind": "hybrid"}), 4, "100 Gb/s", "400 Gb/s"),
        (
            json!({"kind": "hybrid", "planes": 3, "policy": "hydra"}),
            4,
            "1 Gb/s",
            "1.333333333 Gb/s",
        ),
        // Presets of papers keep the values of the papers on every cluster.
        (
            json!({"kind": "cthrough", "preset": "testbed-4to1"}),
            4,
            "100 Gb/s",
            "4 Gb/s",
        ),
        (
            json!({"kind": "hydra", "preset": "paper"}),
            4,
            "100 Gb/s",
            "10 Gb/s",
        ),
        (
            json!({"kind": "cthrough", "circuit_rate": "7 Gb/s"}),
            4,
            "1 Gb/s",
            "7 Gb/s",
        ),
    ] {
        let mut raw = raw(&fabric, None);
        raw["cluster"]["servers_per_rack"] = json!(servers);
        raw["cluster"]["server_rate"] = json!(rate);
        assert_eq!(completed(&raw)["circuit_rate"], circuit, "{fabric}");
    }
    let mut slow = raw(&json!({"kind": "hydra"}), None);
    slow["cluster"]["server_rate"] = json!("1 b/s");
    slow["workload"] = json!({"arrivals": "at-once", "flows": 1});
    slow["workload"]["sizes"] = json!({"kind": "fixed", "size": "1 B"});
    assert!(
        refused(&slow).starts_with("fabric.circuit_rate = 0 b/s: "),
        "{}",
        refused(&slow)
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The place of the ratio does not change a fabric or its results; without the ratio the
    /// results differ, otherwise the test would compare nothing.
    #[test]
    fn a_ratio_of_the_cluster_is_that_of_the_fabric(ratio in 2.0f64..50.0) {
        for kind in ["clos", "tree", "cthrough", "hydra", "hybrid"] {
            let (bare, own) = (
                json!({"kind": kind}),
                json!({"kind": kind, "oversubscription": ratio}),
            );
            let (cluster, fabric) = (raw(&bare, Some(ratio)), raw(&own, None));
            prop_assert_eq!(completed(&cluster), completed(&fabric), "{}", kind);
            let finish = |raw: &Value| {
                let run = resolved(raw).run(0, 1, &mut Silent).expect("nothing fails");
                run.flows.finish
            };
            let done = finish(&cluster);
            prop_assert_eq!(&done, &finish(&fabric), "{}", kind);
            let full = json!({"kind": kind, "oversubscription": 1});
            prop_assert_ne!(&done, &finish(&raw(&full, None)), "{}", kind);
        }
    }
}
