//! The output scheduler of a server: 0.9 for the connected rack, work-conserving.

use super::*;
use lightloom_engine::FlowId;

/// Full bisection beside the circuit, so that the servers' links alone limit.
fn rates(table: Value, rows: &[Row]) -> Vec<f64> {
    let mut bench = Bench::new(&TESTBED, ideal(table), rows);
    bench.until(1_900);
    let rate = |f: usize| bench.fabric.net().rate(FlowId(f as u32)).0 as f64 / 1e9;
    (0..rows.len()).map(rate).collect()
}

const LONG: u64 = 9_000_000_000;

#[test]
fn the_connected_rack_has_nine_tenths() {
    let table = json!({"oversubscription": 1.0});
    // One flow for rack 1, which has the largest queue, and three for others.
    let rows = [
        (0, 4, LONG, Time::ZERO),
        (8, 4, LONG, Time::ZERO),
        (0, 8, 150_000_000, Time::S / 2),
    ];
    // Rack 1's receiver is shared by server 8, too: 0.5 each at first.
    let _ = rates(table.clone(), &rows);
    let rows = [
        (0, 4, LONG, Time::ZERO),
        (0, 5, LONG, Time::ZERO),
        (0, 8, LONG, Time::ZERO),
        (0, 12, LONG, Time::ZERO),
        // Within the rack: electrical.
        (0, 1, LONG, Time::ZERO),
    ];
    let third = 0.1 / 3.0;
    let expected = [0.45, 0.45, third, third, third];
    for (rate, expected) in rates(table, &rows).iter().zip(expected) {
        assert!((rate - expected).abs() < 1e-6, "{rate} is not {expected}");
    }
}

#[test]
fn what_the_tree_cannot_use_the_circuit_may() {
    // 40:1: the tree carries 100 Mb/s out of the rack, half of it from here.
    let rows = [
        (0, 4, LONG, Time::ZERO),
        (0, 4, LONG, Time::ZERO),
        (0, 8, LONG, Time::ZERO),
        (1, 9, LONG, Time::ZERO),
    ];
    let rates = rates(json!({}), &rows);
    for (rate, expected) in rates.iter().zip([0.475, 0.475, 0.05, 0.05]) {
        assert!((rate - expected).abs() < 1e-6, "{rates:?}");
    }
}

#[test]
fn what_the_circuit_cannot_carry_the_tree_may() {
    let table = json!({"oversubscription": 1.0, "circuit_rate": "400 Mb/s"});
    // Two servers share the circuit; each has a flow for another rack.
    let rows = [
        (0, 4, LONG, Time::ZERO),
        (0, 4, LONG, Time::ZERO),
        (1, 5, LONG, Time::ZERO),
        (1, 6, LONG, Time::ZERO),
        (0, 8, LONG, Time::ZERO),
    ];
    let rates = rates(table, &rows);
    for (rate, expected) in rates.iter().zip([0.1, 0.1, 0.1, 0.1, 0.8]) {
        assert!((rate - expected).abs() < 1e-6, "{rates:?}");
    }
}

#[test]
fn without_a_connected_rack_nothing_is_set_aside() {
    let table = json!({"oversubscription": 1.0, "interval": "1000 s"});
    let rows = [(0, 4, LONG, Time::ZERO), (0, 8, LONG, Time::ZERO)];
    assert_eq!(rates(table, &rows), [0.5, 0.5]);
}
