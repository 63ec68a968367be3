//! Configurations that are refused, and the messages.

use super::*;
use serde_json::json;

fn refusal(cluster: &Cluster, table: Value) -> String {
    (ENTRY.resolve)(&table, cluster).unwrap_err().to_string()
}

#[test]
fn refuses_by_name() {
    let c = cluster(128, 24);
    for (table, message) in [
        (
            json!({"oversubscription": 0.5}),
            "fabric.oversubscription = 0.5: must be from 1 (non-blocking) to 1,000; write 3 for 3:1",
        ),
        (
            json!({"racks_per_pod": 24}),
            "fabric.racks_per_pod = 24: must divide the 128 racks of the cluster; try 16, or leave \
             it out",
        ),
        (
            json!({"racks_per_pod": 128, "oversubscription": 3}),
            "fabric.oversubscription = 3: has no effect: all 128 racks are in one pod and nothing \
             passes the core; lower fabric.racks_per_pod, or set fabric.oversubscription_at = \
             \"rack\"",
        ),
        (
            json!({"tiers": 1}),
            "fabric.tiers = 1: must be from 2 to 8, those of the racks included; leave it out",
        ),
        (
            json!({"tiers": 2, "racks_per_pod": 16}),
            "fabric.tiers = 2: racks_per_pod = 16 makes several pods and a core; remove \
             fabric.racks_per_pod or fabric.tiers",
        ),
        (
            json!({"tiers": 3, "racks_per_pod": 128}),
            "fabric.tiers = 3: all 128 racks are in one pod, which has 2 tiers; remove \
             fabric.racks_per_pod or fabric.tiers",
        ),
        (
            json!({"mtu": "0 B"}),
            "fabric.mtu = 0 B: must be from 64 B to 65.535 KB; use 1500 B",
        ),
        (
            json!({"flow_buffer": 0}),
            "fabric.flow_buffer = 0: must be from 1 to 1,048,576 packets; remove it for the \
             default, which never idles a link",
        ),
        (
            json!({"link_rate": "1 kb/s"}),
            "fabric.link_rate = 1 kb/s: makes bundles of 3840000000 links; at most 65536 are \
             modelled; raise fabric.link_rate",
        ),
        (
            json!({"link_rate": "0 b/s"}),
            "fabric.link_rate = 0 b/s: must be more than 0 b/s; use 50 Gb/s",
        ),
        (
            json!({"propagation": "1 s"}),
            "fabric.propagation = 1 s: must be from 0 ps to 100 ms; lower it: light takes 5 ns a \
             metre of fibre",
        ),
        (
            json!({"switch_latency": "1 s"}),
            "fabric.switch_latency = 1 s: must be from 0 ps to 100 ms; lower it",
        ),
        (
            json!({"oversubscribtion": 3}),
            "fabric.oversubscribtion = 3: no such key; did you mean \"oversubscription\"?",
        ),
    ] {
        assert_eq!(refusal(&c, table), message);
    }
}

#[test]
fn defaults_are_filled_in() {
    let c = resolved(&cluster(128, 40), &json!({}));
    assert_eq!((c.racks_per_pod, c.flow_buffer), (Some(16), Some(8)));
    let of_tiers = |tiers: u32| resolved(&cluster(128, 40), &json!({"tiers": tiers})).racks_per_pod;
    assert_eq!([2, 3, 4].map(of_tiers), [Some(128), Some(16), Some(16)]);
    // Four pods or more, also where few racks or a prime number allow no 16.
    for (racks, pod) in [
        (1, 1),
        (2, 1),
        (4, 1),
        (8, 2),
        (13, 1),
        (16, 4),
        (48, 12),
        (4096, 16),
    ] {
        let c = resolved(&cluster(racks, 4), &json!({}));
        assert_eq!(c.racks_per_pod, Some(pod), "{racks} racks");
    }
}

#[test]
fn every_preset_runs_on_the_papers_cluster() {
    for preset in ENTRY.presets {
        let table: Value = serde_json::from_str(preset.table).unwrap();
        let f = flows(&[(0, 3_071, 1_000_000, Time::ZERO)]);
        let (io, _) = simulate(&cluster(128, 24), &table, f, Stop::Drain);
        assert_eq!(io.ledger.flows_completed, 1, "{}", preset.name);
    }
}

/// 3:1 of 16 racks × 400 Gb/s is 42⅔ links of 50 Gb/s: 43 that share it evenly.
#[test]
fn bundles_keep_their_capacity() {
    let c = cluster(128, 40);
    let config = resolved(&c, &json!({"oversubscription": 3.0}));
    let bundles = super::super::layout::Layout::new(&config, &c).bundles;
    assert_eq!(
        (bundles[1].links, bundles[1].rate),
        (8, Rate(50_000_000_000))
    );
    assert_eq!(
        (bundles[2].links, bundles[2].rate),
        (43, Rate(2_133_333_333_333 / 43))
    );
}

#[test]
fn faults_are_rejected() {
    use lightloom_engine::{Command, Element};
    let mut fabric = fabric(&cluster(4, 4), &json!({}), &Flows::new());
    let e = fabric.apply(Command::Repair(Element::Node(0))).unwrap_err();
    assert!(e.to_string().contains("disconnects its servers"), "{e}");
}
