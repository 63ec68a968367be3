//! Cases small enough to be worked out on paper.

use super::{built, cluster, BYTE_NS};
use lightloom_engine::{Io, Nic, Rate, Time};
use serde_json::{json, Value};
use std::collections::HashSet;

const NS: Time = Time::NS;

/// One switch; nights of 10 ns, days of 100 ns.
fn one_switch(indirect: &str) -> Value {
    json!({
        "switches": 1, "link_rate": "8 Gb/s", "night": "10 ns", "slot": "110 ns",
        "packet": "10 B", "indirect": indirect,
    })
}

/// In 3 slots of 3 switches each of 10 racks meets the 9 others once, and no rack receives from two
/// racks at the same time on one plane.
#[test]
fn in_a_cycle_everybody_meets_everybody() {
    let table = json!({"switches": 3, "night": "1 us", "slot": "11 us", "link_rate": "10 Gb/s"});
    let (mut fabric, mut io) = built(&cluster(10, BYTE_NS), &table, &[]);
    let cycle = Time::US * 11 * 3;
    fabric.advance(cycle * 2, &mut io);
    let circuits = fabric.circuits(cycle);
    assert_eq!(circuits.len(), 90);
    let met: HashSet<_> = circuits.iter().map(|c| (c.a, c.b)).collect();
    assert_eq!(met.len(), 90);
    let heard: HashSet<_> = circuits.iter().map(|c| (c.plane, c.b, c.from)).collect();
    assert_eq!(heard.len(), 90);
    // Switches step together: 3 slots, each lit 1 us after it begins.
    let mornings: HashSet<_> = circuits.iter().map(|c| c.from.0 / 1_000_000).collect();
    assert_eq!(mornings, HashSet::from([1, 12, 23]));
    // The second cycle repeats the first.
    assert_eq!(fabric.circuits(cycle * 2).len(), 180);
}

/// Two switches with one matching each: both are lit for 90 of 100 ns and carry traffic in
/// parallel.
#[test]
fn switches_carry_side_by_side() {
    let table = json!({
        "switches": 2, "link_rate": "8 Gb/s", "night": "10 ns", "slot": "100 ns",
        "packet": "1 B", "indirect": "none",
    });
    let rows = [(0, 1, 1 << 40, Time::ZERO), (0, 2, 1 << 40, Time::ZERO)];
    let (mut fabric, mut io) = built(&cluster(3, BYTE_NS), &table, &rows);
    let end = NS * 1_000;
    fabric.advance(end + Time(1), &mut io);
    assert_eq!(io.flows.delivered, [900, 900]);
    assert_eq!(fabric.lit_for(end), Some(NS * 900));
    let circuits = fabric.circuits(end);
    assert_eq!(circuits.len(), 2 * 10 * 3);
    assert!(circuits.is_sorted_by_key(|c| c.from));
}

/// With 8 racks and 3 switches the third slot has one matching for three switches.
#[test]
fn switches_without_a_matching_idle() {
    let table = json!({"switches": 3, "night": "1 us", "slot": "11 us", "link_rate": "10 Gb/s"});
    let (mut fabric, mut io) = built(&cluster(8, BYTE_NS), &table, &[]);
    let cycle = Time::US * 11 * 3;
    fabric.advance(cycle, &mut io);
    let circuits = fabric.circuits(cycle);
    let in_slot = |t: i64| {
        { circuits.iter() }
            .filter(|c| c.from.0 / 11_000_000 == t)
            .count()
    };
    assert_eq!([0, 1, 2].map(in_slot), [24, 24, 8]);
    let met: HashSet<_> = circuits.iter().map(|c| (c.a, c.b)).collect();
    assert_eq!(met.len(), 56);
}

/// Three racks meet in turn: rack 0 meets 1, then 2. Of 300 B from 0 to 2, the first slot carries
/// 100 B to rack 1 and the second 100 B directly. In the third slot rack 1 delivers its bytes and
/// receives another 100 B, which it delivers in the fifth.
#[test]
fn a_flow_over_a_relay() {
    let rows = [(0, 2, 300, Time::ZERO)];
    let (mut fabric, mut io) = built(&cluster(3, BYTE_NS), &one_switch("rotorlb"), &rows);
    let mut delivered = |slots: i64, io: &mut Io| {
        fabric.advance(NS * 110 * slots + Time(1), io);
        io.flows.delivered[0]
    };
    let after: Vec<u64> = (1..=5).map(|slots| delivered(slots, &mut io)).collect();
    assert_eq!(after, [0, 100, 200, 200, 300]);
    assert_eq!(io.flows.finish[0], NS * 550);
    fabric.settle(&mut io);
    // 100 B have crossed one circuit and 200 B two.
    assert!((io.flows.hops[0] - 5.0 / 3.0).abs() < 1e-6);
    let totals = fabric.totals();
    assert_eq!(totals.queue_peak_bytes, Some(100));
    assert_eq!(totals.packet_hops, Some(50));
    assert_eq!(totals.circuit_bytes, Some(300));
    // Without relays the flow uses its own slots: the second, the fourth and the sixth.
    let (mut fabric, mut io) = built(&cluster(3, BYTE_NS), &one_switch("none"), &rows);
    fabric.advance(NS * 1_000, &mut io);
    fabric.settle(&mut io);
    assert_eq!((io.flows.finish[0], io.flows.hops[0]), (NS * 660, 1.0));
    assert_eq!(fabric.totals().queue_peak_bytes, None);
}

/// The relay's own traffic to the destination leaves no room for relayed bytes.
#[test]
fn a_relay_with_traffic_of_its_own_takes_what_is_left() {
    let rows = [(0, 2, 300, Time::ZERO), (1, 2, 130, Time::ZERO)];
    let (mut fabric, mut io) = built(&cluster(3, BYTE_NS), &one_switch("rotorlb"), &rows);
    // In the first slot rack 1 sends 100 B of its own to 2 and keeps 30 B, so it accepts 70 B.
    fabric.advance(NS * 110 + Time(1), &mut io);
    assert_eq!(io.flows.delivered, [0, 100]);
    assert_eq!(fabric.totals().queue_peak_bytes, Some(70));
    // In the second slot rack 1 meets 0, and rack 0 meets 2, to which it sends 100 of its 230 B. In
    // the third, rack 1 delivers the 70 B before its own 30 B and accepts 100 B more; the last 30 B
    // go directly.
    fabric.advance(NS * 330 + Time(1), &mut io);
    assert_eq!(io.flows.delivered, [170, 130]);
    assert_eq!(io.flows.finish[1], NS * 330);
    fabric.advance(NS * 660, &mut io);
    assert_eq!(io.flows.finish[0], NS * 550);
}

/// Two racks offer 100 B each to one that has room for 100 B: each gets half.
#[test]
fn offers_for_one_destination_are_shared() {
    let table = json!({
        "switches": 2, "link_rate": "8 Gb/s", "night": "10 ns", "slot": "110 ns",
        "packet": "10 B",
    });
    let long = 1_000_000;
    let rows = [(2, 1, long, Time::ZERO), (3, 1, long, Time::ZERO)];
    let (mut fabric, mut io) = built(&cluster(6, BYTE_NS), &table, &rows);
    fabric.advance(NS * 110 + Time(1), &mut io);
    // Rack 2 meets 3 and 4, rack 3 meets 4 and 5. Racks 4 and 5 hold 100 B each for rack 1 at the
    // end of the slot; rack 3 has more bytes of its own for rack 1 than it can send and accepts
    // none.
    assert_eq!(fabric.totals().queue_peak_bytes, Some(100));
    io.flows.start.iter().for_each(|&t| assert_eq!(t, NS * 10));
    // In the second slot rack 4 meets 1 and delivers 50 B of each source; rack 3 sends 100 B
    // itself.
    fabric.advance(NS * 220 + Time(1), &mut io);
    assert_eq!(io.flows.delivered, [50, 150]);
}

/// Servers' links have half the rate of the rack: packets of 10 B take 10 ns each to the rack,
/// cross via a relay, and take 10 ns each to the server.
#[test]
fn servers_links_take_a_packet_at_a_time() {
    let mut capped = cluster(4, BYTE_NS);
    capped.nic = Nic::Capped(Rate(8 * Rate::GBPS.0));
    let rows = [(0, 3, 20, NS * 81)];
    let (mut fabric, mut io) = built(&capped, &one_switch("rotorlb"), &rows);
    fabric.advance(NS * 230, &mut io);
    // At the rack at 101 ns; from 120 to 140 ns to rack 2, which has them when the slot ends.
    assert_eq!(fabric.totals().queue_peak_bytes, Some(20));
    fabric.advance(NS * 1_000, &mut io);
    fabric.settle(&mut io);
    // Rack 2 meets 3 from 340 ns on; the packets reach the server by 360 and 370 ns.
    assert_eq!((io.flows.finish[0], io.flows.hops[0]), (NS * 370, 2.0));
}
