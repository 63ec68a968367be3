//! Closed forms of the tree.

use super::ENTRY;
use crate::contract::Site;
use lightloom_engine::run::{run, Plan, Silent, Stop};
use lightloom_engine::{Cluster, Flows, HostId, Io, Nic, Rate, Time};
use serde_json::{json, Value};

/// The testbed of c-Through §5.1.
const TESTBED: Cluster = Cluster {
    racks: 4,
    servers_per_rack: 4,
    server_rate: Rate::GBPS,
    nic: Nic::Capped(Rate::GBPS),
};

/// (source, destination, bytes, arrival).
type Row = (u32, u32, u64, Time);

/// Time at which each flow finishes if packets are not stored, by rates alone.
fn finishes(cluster: &Cluster, mut table: Value, rows: &[Row]) -> Vec<Time> {
    table["forwarding"] = json!("cut-through");
    with_packets(cluster, table, rows)
}

/// Time at which each flow finishes if packets are stored, which is the default unless the table
/// contains another value.
fn with_packets(cluster: &Cluster, table: Value, rows: &[Row]) -> Vec<Time> {
    let mut flows = Flows::new();
    for &(src, dst, bytes, at) in rows {
        flows.push(HostId(src), HostId(dst), bytes, at);
    }
    let site = Site {
        cluster,
        flows: &flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let table = (ENTRY.resolve)(&table, cluster).expect("a good table");
    let mut fabric = (ENTRY.build)(&table, &site).expect("a fabric");
    let mut io = Io::new(flows);
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S * 1_000,
        sample: None,
        faults: Vec::new(),
    };
    run(&mut *fabric, &mut io, &plan, &mut Silent).expect("no faults");
    io.flows.finish
}

/// 100 MB at 1 Gb/s, 1 Gb/s, 400 Mb/s and 100 Mb/s.
#[test]
fn a_flow_alone_takes_its_bytes_at_the_narrowest_rate() {
    for (ratio, ms) in [(1.0, 800), (4.0, 800), (10.0, 2_000), (40.0, 8_000)] {
        let table = json!({ "oversubscription": ratio });
        let finish = finishes(&TESTBED, table, &[(0, 4, 100_000_000, Time::ZERO)]);
        assert_eq!(finish, [Time::MS * ms], "{ratio}:1");
    }
}

#[test]
fn the_uplink_is_shared_and_traffic_within_a_rack_is_not() {
    let rows = [
        // Two flows of rack 0 and one of rack 1 into rack 2: the downlink has 3 flows.
        (0, 8, 10_000_000, Time::ZERO),
        (1, 9, 10_000_000, Time::ZERO),
        (4, 10, 10_000_000, Time::ZERO),
        // Within rack 3, only the servers' links are limits.
        (12, 13, 125_000_000, Time::ZERO),
    ];
    let finish = finishes(&TESTBED, json!({"oversubscription": 40.0}), &rows);
    let shared = Rate(33_333_333).time_for(10_000_000);
    assert_eq!(finish, [shared, shared, shared, Time::S]);
}

/// n flows of one size over one uplink take n times as long as one of them.
#[test]
fn n_flows_share_evenly() {
    for n in [1u32, 2, 4, 8, 16] {
        let rows: Vec<Row> = (0..n)
            .map(|k| (k % 4, 4 + k % 12, 1_000_000, Time::ZERO))
            .collect();
        let finish = finishes(&TESTBED, json!({"oversubscription": 40.0}), &rows);
        assert_eq!(finish, vec![Time::MS * 80 * n as i64; n as usize]);
    }
}

#[test]
fn a_later_flow_slows_the_first_from_then_on() {
    let rows = [(0, 4, 25_000_000, Time::ZERO), (1, 5, 12_500_000, Time::S)];
    let finish = finishes(&TESTBED, json!({"oversubscription": 40.0}), &rows);
    assert_eq!(finish, [Time::S * 3, Time::S * 3]);
}

/// β = 4 over two levels of 2: within a pod a rack has half of its servers'
/// rate, between pods a quarter.
#[test]
fn a_fat_tree_narrows_level_by_level() {
    let cluster = Cluster {
        racks: 4,
        nic: Nic::Uncapped,
        ..TESTBED
    };
    let table = json!({"oversubscription": 4.0, "levels": 3, "racks_per_pod": 2});
    let mb = 125_000_000;
    let within = [(0, 4, mb, Time::ZERO)];
    assert_eq!(finishes(&cluster, table.clone(), &within), [Time::MS * 500]);
    // All eight servers of pod 0 into pod 1: 8 Gb/s ÷ 4.
    let across: Vec<Row> = (0..8).map(|s| (s, 8 + s, mb, Time::ZERO)).collect();
    assert_eq!(finishes(&cluster, table, &across), vec![Time::S * 4; 8]);
}

/// If servers' links have no limit, a flow within a rack has the rack's rate and shares nothing.
#[test]
fn uncapped_servers_limit_nothing() {
    let cluster = Cluster {
        nic: Nic::Uncapped,
        ..TESTBED
    };
    let rows = [
        (0, 1, 500_000_000, Time::ZERO),
        (0, 2, 500_000_000, Time::ZERO),
    ];
    assert_eq!(finishes(&cluster, json!({}), &rows), [Time::S, Time::S]);
}

/// One packet of 1,500 B: 12 us on a link of 1 Gb/s, 120 us on an uplink of 100 Mb/s. Rates alone
/// count the slowest of the four links.
#[test]
fn a_packet_is_stored_on_every_link() {
    let us = |table: Value, rows: &[Row]| with_packets(&TESTBED, table, rows)[0].0 / Time::US.0;
    let one = [(0, 4, 1_500, Time::ZERO)];
    assert_eq!(us(json!({}), &one), 4 * 12);
    assert_eq!(
        us(json!({"oversubscription": 40.0}), &one),
        2 * 12 + 2 * 120
    );
    assert_eq!(us(json!({"forwarding": "cut-through"}), &one), 12);
    assert_eq!(us(json!({}), &[(0, 1, 1_500, Time::ZERO)]), 2 * 12);
    // Ten consecutive packets: the first on four links, and nine behind it on the slowest link.
    let ten = [(0, 4, 15_000, Time::ZERO)];
    assert_eq!(us(json!({}), &ten), 4 * 12 + 9 * 12);
    assert_eq!(
        us(json!({"oversubscription": 40.0}), &ten),
        2 * 12 + 2 * 120 + 9 * 120
    );
}

/// Uplinks are made of links: a packet takes one of four of 1 Gb/s, or the only one of 4 Gb/s.
#[test]
fn a_packet_takes_one_link_of_an_uplink() {
    let cluster = Cluster {
        nic: Nic::Uncapped,
        ..TESTBED
    };
    let us = |table: Value, bytes| {
        let finish = with_packets(&cluster, table, &[(0, 4, bytes, Time::ZERO)]);
        finish[0].0 / Time::US.0
    };
    assert_eq!(us(json!({}), 1_500), 2 * 12);
    assert_eq!(us(json!({"link_rate": "4 Gb/s"}), 1_500), 2 * 3);
    // Four packets are sent in parallel, the fifth after one of them.
    assert_eq!(us(json!({}), 4 * 1_500), 2 * 12);
    assert_eq!(us(json!({}), 5 * 1_500), 3 * 12);
    assert_eq!(us(json!({"link_rate": "4 Gb/s"}), 5 * 1_500), 6 * 3);
}
