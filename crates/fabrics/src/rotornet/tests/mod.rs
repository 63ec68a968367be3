//! Oracles of RotorNet: bytes that cycles carry, cases worked out by hand, failed switches, a
//! reference that simulates every byte, and refusals.

mod by_hand;
mod failures;
mod per_host;
mod reference;
mod saturation;

use super::ENTRY;
use crate::contract::Site;
use crate::tdma::testing::{self, cluster, Row};
use lightloom_engine::{Cluster, Fabric, Io, Nic, Rate, Time};
use serde_json::{json, Value};

/// A byte a nanosecond.
const BYTE_NS: Rate = Rate(8 * Rate::GBPS.0);

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
        "fabric.switches = 8: 8 racks have matchings for 1 to 7 switches",
    );
    says(8, json!({"switches": 0}), "fabric.switches = 0");
    says(1, json!({}), "cluster.racks = 1");
    says(8, json!({"slot": "20 us"}), "no longer than its night");
    says(
        8,
        json!({"slot": "21 us"}),
        "without the night, 1 us remain, but a packet takes 1.2 us",
    );
    says(8, json!({"propagation": "21 us"}), "longer than the night");
    says(8, json!({"indirect": "vlb"}), "fabric.indirect");
    let direct = json!({"propagation": "21 us", "indirect": "none"});
    let cluster = cluster(8, Rate(10 * Rate::GBPS.0));
    assert!((ENTRY.resolve)(&direct, &cluster).is_ok());
}

/// An uplink for every 16 racks, so that a cycle is 16 slots: 3.2 ms.
#[test]
fn the_number_of_switches_follows_the_racks() {
    let resolved = |racks| {
        let cluster = cluster(racks, Rate(160 * Rate::GBPS.0));
        (ENTRY.resolve)(&json!({}), &cluster).expect("a good table")
    };
    assert_eq!(resolved(128)["switches"], 8);
    assert_eq!(resolved(128)["link_rate"], "20 Gb/s");
    assert_eq!(resolved(129)["switches"], 9);
    assert_eq!(resolved(2)["switches"], 1);
}

/// One rotor switch without relays is equal to Mordia's round robin: the same flows finish at the
/// same picoseconds, with and without a rate of servers' links.
#[test]
fn one_switch_without_relays_is_a_round_robin() {
    let mordia = crate::registry::find("mordia").expect("registered");
    let rows: Vec<Row> = (0..300u32)
        .map(|k| {
            let (src, places) = (k * 7 % 9, 1 + k * k % 8);
            let bytes = 1 + u64::from(k) * 7_919 % 90_000;
            (src, (src + places) % 9, bytes, Time::US * i64::from(3 * k))
        })
        .collect();
    for nic in [Nic::Uncapped, Nic::Capped(Rate(7 * Rate::GBPS.0))] {
        let mut cluster = cluster(9, Rate(10 * Rate::GBPS.0));
        cluster.nic = nic;
        let table = json!({"switches": 1, "indirect": "none", "propagation": "3 us"});
        let (mut rotor, mut io) = built(&cluster, &table, &rows);
        rotor.advance(Time::MS * 300, &mut io);
        let flows = io.flows.clone();
        let site = Site::plain(&cluster, &flows);
        let table = json!({
            "policy": "rotation", "night": "20 us", "slot": "200 us", "propagation": "3 us",
        });
        let table = (mordia.resolve)(&table, &cluster).expect("a good table");
        let mut fabric = (mordia.build)(&table, &site).expect("a table that was resolved");
        let (_, mut other) = built(&cluster, &json!({}), &rows);
        fabric.advance(Time::MS * 300, &mut other);
        assert_eq!(io.flows.finish, other.flows.finish);
        assert!(io.flows.finish.iter().all(|&t| t != Time::NEVER));
    }
}
