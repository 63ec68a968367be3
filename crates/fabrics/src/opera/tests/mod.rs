//! Oracles of Opera: bytes that slots carry, cases worked out by hand, a reference that simulates
//! every packet, and refusals.

mod by_hand;
mod reference;
mod saturation;

use super::ENTRY;
use crate::tdma::testing::{self, cluster, Row};
use lightloom_engine::{Cluster, Fabric, Io, Rate};
use serde_json::{json, Value};

fn built(cluster: &Cluster, table: &Value, rows: &[Row]) -> (Box<dyn Fabric>, Io) {
    testing::built(&ENTRY, cluster, table, testing::flows(rows))
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let says = |racks, table: Value, words: &str| {
        let cluster = cluster(racks, Rate(10 * Rate::GBPS.0));
        let refusal = (ENTRY.resolve)(&table, &cluster).expect_err("refused");
        let said = refusal.to_string();
        assert!(said.contains(words), "{said}");
    };
    says(
        8,
        json!({"switches": 8}),
        "fabric.switches = 8: must be at most 7, one for each other rack; use 2 to 7, or raise \
         cluster.racks",
    );
    says(
        8,
        json!({"switches": 1}),
        "fabric.switches = 1: must be 2 or more, because one reconfigures while the others are \
         lit; use 2 to 7",
    );
    says(2, json!({}), "cluster.racks = 2");
    says(2_000, json!({}), "must be at most 1024");
    says(8, json!({"slice": "10 us"}), "no longer than its night");
    says(
        8,
        json!({"slice": "11 us", "link_rate": "10 Gb/s"}),
        "without the night, 1 us remain, but a packet takes 1.2 us",
    );
    says(8, json!({"propagation": "11 us"}), "longer than the night");
}

/// The published set-up: 6 switches at 108 racks; small networks have 6, too.
#[test]
fn the_number_of_switches_follows_the_racks() {
    let resolved = |racks| {
        let cluster = cluster(racks, Rate(60 * Rate::GBPS.0));
        (ENTRY.resolve)(&json!({}), &cluster).expect("a good table")
    };
    assert_eq!(resolved(108)["switches"], 6);
    assert_eq!(resolved(108)["link_rate"], "10 Gb/s");
    assert_eq!(resolved(20)["switches"], 6);
    assert_eq!(resolved(3)["switches"], 2);
}
