//! The circuits that are lit when a run begins.

use super::*;

fn begins(table: Value, rows: &[Row]) -> Bench {
    Bench::beginning(&FOUR, &Empty, table, rows)
}

/// A flow takes size ÷ rate over a circuit that needs no decision, at any interval.
#[test]
fn circuits_that_need_no_demand_are_lit_at_once() {
    let rows = [
        (0, 2, 3 * MS, Time::ZERO),
        (6, 4, 5 * MS, Time::MS * 2),
        (1, 4, LONG, Time::ZERO), // racks 0 and 2 are never connected
    ];
    for interval in ["1 ms", "1 s", "100 s"] {
        let table = ideal(json!({
            "policy": wired(json!([[0, 1], [2, 3]])), "electrical": false, "interval": interval,
        }));
        let mut bench = begins(table, &rows);
        assert_eq!(bench.until(3_000).delivered(), [3 * MS, 5 * MS, 0]);
        assert_eq!(bench.io.flows.finish[..2], [Time::MS * 3, Time::MS * 7]);
        // The circuits of the decisions' target are already lit.
        assert_eq!(bench.circuits(), [(0, 1, 0, 3_000), (2, 3, 0, 3_000)]);
    }
}

/// Directed circuits, and a schedule from its first night on.
#[test]
fn directed_circuits_and_schedules_begin_at_once() {
    let rows = [(0, 2, LONG, Time::ZERO), (2, 0, LONG, Time::ZERO)];
    let one_way = json!({"kind": "fixed", "circuits": [[0, 1]], "directed": true});
    let table = ideal(json!({"policy": one_way, "electrical": false}));
    assert_eq!(begins(table, &rows).until(10).delivered(), [10 * MS, 0]);

    // Three matchings of four racks: each pair has 20 of 63 ms; racks 0 and 1 have the first slot,
    // because a round robin first connects each rack with the next one.
    let policy = json!({"kind": "rotation", "day": "20 ms", "night": "1 ms"});
    let table = ideal(json!({"policy": policy, "electrical": false}));
    let mut bench = begins(table, &rows[..1]);
    assert_eq!(bench.until(63).delivered(), [20 * MS]);
    assert_eq!(bench.until(126).delivered(), [40 * MS]);
    assert_eq!(bench.circuits()[0].2, 1);
}

/// Any policy accepts circuits that are lit at the start; it decides by demand after its interval.
#[test]
fn what_is_given_is_lit_until_a_policy_decides_otherwise() {
    let rows = [(0, 2, 2_000 * MS, Time::ZERO), (4, 6, 10 * MS, Time::ZERO)];
    let keys = |policy: &str, initial: Value| {
        ideal(json!({"policy": policy, "electrical": false, "initial": initial}))
    };
    for policy in ["hydra", "assignment"] {
        let mut bench = begins(keys(policy, json!([[0, 1]])), &rows);
        assert_eq!(bench.until(1_000).delivered(), [1_000 * MS, 0], "{policy}");
        bench.until(1_030);
        // The first circuit stays, because it is in the target; the other one is lit after settling
        // for 10 ms.
        assert_eq!(bench.delivered(), [1_030 * MS, 10 * MS], "{policy}");
        assert_eq!(bench.io.flows.finish[1], Time::MS * 1_020, "{policy}");
        let mut dark = begins(keys(policy, json!([])), &rows);
        assert_eq!(dark.until(1_000).delivered(), [0, 0], "{policy}");
    }
    let mut unless_told = ideal(json!({"policy": "assignment", "electrical": false}));
    unless_told.as_object_mut().unwrap().remove("initial");
    assert_eq!(begins(unless_told, &rows).until(1_000).delivered(), [0, 0]);
}

#[test]
fn circuits_that_cannot_be_lit_are_refused() {
    let refused = |initial: Value| {
        let table = json!({"initial": initial});
        (ENTRY.resolve)(&table, &FOUR).unwrap_err().to_string()
    };
    for (initial, key) in [
        (json!([[0, 4]]), "initial"),
        (json!([[0, 1], [1, 2]]), "initial"),
        (json!([[0, 1, 1]]), "initial"),
        (json!([[0]]), "initial"),
    ] {
        let refusal = refused(initial.clone());
        assert!(
            refusal.starts_with(&format!("fabric.{key}")),
            "{initial}: {refusal}"
        );
    }
    let turns = json!({"policy": "rotation", "initial": [[0, 1]]});
    let refusal = (ENTRY.resolve)(&turns, &FOUR).unwrap_err().to_string();
    assert!(refusal.contains("take turns"), "{refusal}");
}
