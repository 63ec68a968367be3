//! Store-and-forward: over the tree, over circuits, and when a flow moves.

use super::*;

/// Packets are stored; one of 1,500 B takes 1.5 us on a link of 8 Gb/s.
fn stored(more: Value) -> Value {
    let mut table = ideal(more);
    table["forwarding"] = json!("store-and-forward");
    table
}

const LINK: Time = Time(1_500_000);

/// The finish time of the first flow.
fn finish(table: Value, rows: &[Row]) -> Time {
    let mut bench = Bench::new(table, rows);
    bench.until(3_000);
    bench.io.flows.finish[0]
}

/// Ten packets over four links, each directly behind the previous one: 10 + 3 packet times of a
/// link. By rates alone it would be 10.
#[test]
fn packets_are_stored_unless_a_table_says_otherwise() {
    let cut = ideal(json!({"oversubscription": 1.0}));
    let mut silent = cut.clone();
    silent
        .as_object_mut()
        .expect("a table")
        .remove("forwarding");
    let row = [(0, 2, 15_000, Time::ZERO)];
    assert_eq!(finish(silent, &row), LINK * 13);
    assert_eq!(finish(cut, &row), LINK * 10);
}

/// Servers have 8 Gb/s, uplinks at 1:1 have 16 Gb/s, which are two links of 8 Gb/s each. A path has
/// four links, one of which is included in the flow's rate.
#[test]
fn a_flow_over_the_tree_is_stored_at_three_switches() {
    for packets in [1u64, 10, 1_000] {
        let row = [(0, 2, packets * 1_500, Time::ZERO)];
        let whole = stored(json!({"oversubscription": 1.0}));
        assert_eq!(finish(whole, &row), LINK * (packets as i64 + 3));
        // Within a rack at one.
        let row = [(0, 1, packets * 1_500, Time::ZERO)];
        assert_eq!(finish(stored(json!({})), &row), LINK * (packets as i64 + 1));
    }
    // A last packet of 300 B adds only its 0.3 us on each link, because it waits for the full
    // packet ahead of it.
    let row = [(0, 2, 3_300, Time::ZERO)];
    let short = Time::NS * 300;
    let whole = stored(json!({"oversubscription": 1.0, "packet": "1500 B"}));
    let took = finish(whole, &row);
    // In bundles of two links the last packet need not wait, so the extra time is at most that of
    // three server links.
    assert!(took >= LINK * 5 && took <= LINK * 5 + short, "{took}");
}

/// The circuit is lit at 1.01 s: two servers' links and a circuit of the same rate.
#[test]
fn a_flow_over_a_circuit_is_stored_at_both_racks() {
    let wired = wired(json!([[0, 1], [2, 3]]));
    let table = || stored(json!({"policy": wired, "electrical": false}));
    let lit = Time::MS * 1_010;
    for (packets, short) in [(1u64, 0u64), (7, 0), (1_000, 0), (7, 300)] {
        let row = [(0, 2, packets * 1_500 + short, Time::ZERO)];
        let last = Time::NS * short as i64;
        // A short packet follows the full one ahead of it from link to link.
        assert_eq!(
            finish(table(), &row),
            lit + LINK * (packets as i64 + 2) + last
        );
    }
    // A circuit of half the rate: its links are twice as slow for every packet.
    let mut slow = table();
    slow["circuit_rate"] = json!("4 Gb/s");
    let row = [(0, 2, 15_000, Time::ZERO)];
    assert_eq!(finish(slow, &row), lit + LINK * 2 + LINK * 2 * 10);
}

/// The last packet of a flow that has moved to a circuit passes two switches, not three, and starts
/// at the time that its rate gives.
#[test]
fn what_is_stored_is_that_of_the_path_at_the_end() {
    let policy = wired(json!([[0, 1], [2, 3]]));
    let row = [(0, 2, 1_500_000_000, Time::ZERO)];
    let table = |forwarding: &str| {
        let mut table = ideal(json!({"policy": policy}));
        table["forwarding"] = json!(forwarding);
        table
    };
    let beyond = finish(table("store-and-forward"), &row) - finish(table("cut-through"), &row);
    assert_eq!(beyond, LINK * 2);
}

#[test]
fn packets_have_a_size_where_they_are_stored() {
    let resolve = |more: Value| (ENTRY.resolve)(&ideal(more), &FOUR);
    let key = |more| resolve(more).expect_err("refused").key;
    let stored = json!({"forwarding": "store-and-forward", "packet": "9 KB"});
    let table = resolve(stored).expect("jumbo frames");
    assert_eq!(table["packet"], json!("9 KB"));
    assert_eq!(table["forwarding"], json!("store-and-forward"));
    // A completed table contains `forwarding` even if the given table does not.
    let silent = (ENTRY.resolve)(&json!({"packet": "9 KB"}), &FOUR).expect("good");
    assert_eq!(silent["forwarding"], json!("store-and-forward"));
    let cut = resolve(json!({})).expect("good");
    assert_eq!(cut["forwarding"], json!("cut-through"));
    assert_eq!(key(json!({"packet": "9 KB"})), "fabric.packet");
    let none = json!({"forwarding": "store-and-forward", "packet": "0 B"});
    assert_eq!(key(none), "fabric.packet");
}
