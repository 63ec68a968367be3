//! Circuits without an electrical network, directed circuits, and several circuits per rack.

use super::*;

/// A table whose circuits are decided after an interval of 1 s and lit 10 ms later.
fn mesh(policy: Value) -> Value {
    ideal(json!({"policy": policy, "electrical": false}))
}

#[test]
fn without_an_electrical_network_a_flow_waits_for_its_circuit() {
    let rows = [
        (0, 2, 3 * MS, Time::ZERO),
        (1, 4, LONG, Time::ZERO),       // racks 0 and 2 are never connected
        (6, 7, 3 * MS, Time::ZERO),     // within rack 3
        (4, 6, LONG, Time::MS * 1_500), // arrives when its circuit is lit
    ];
    let mut bench = Bench::new(mesh(wired(json!([[0, 1], [2, 3]]))), &rows);
    assert_eq!(bench.until(1_010).delivered(), [0, 0, 3 * MS, 0]);
    assert_eq!(bench.until(1_012).delivered(), [2 * MS, 0, 3 * MS, 0]);
    assert_eq!(
        bench.until(2_000).delivered(),
        [3 * MS, 0, 3 * MS, 500 * MS]
    );
    assert_eq!(bench.io.flows.finish[0], Time::MS * 1_013);
    assert_eq!(
        bench.circuits(),
        [(0, 1, 1_010, 2_000), (2, 3, 1_010, 2_000)]
    );
    assert_eq!(bench.fabric.totals().circuit_bytes, Some(503 * MS));
    bench.fabric.settle(&mut bench.io);
    assert_eq!(bench.io.flows.hops[0], 1.0);
}

/// Waiting flows take no share of their server's link, which is for flows that send.
#[test]
fn flows_that_wait_take_no_share_of_a_link() {
    let rows = [
        (0, 2, LONG, Time::ZERO),
        (0, 4, LONG, Time::ZERO),
        (0, 6, LONG, Time::ZERO),
    ];
    let mut bench = Bench::new(mesh(wired(json!([[0, 1], [2, 3]]))), &rows);
    assert_eq!(bench.until(1_110).delivered(), [100 * MS, 0, 0]);
}

#[test]
fn a_directed_circuit_carries_one_way_only() {
    let rows = [(0, 2, LONG, Time::ZERO), (2, 0, LONG, Time::ZERO)];
    let one_way = || json!({"kind": "fixed", "circuits": [[0, 1]], "directed": true});
    let mut alone = Bench::new(mesh(one_way()), &rows);
    assert_eq!(alone.until(1_020).delivered(), [10 * MS, 0]);
    let mut both = Bench::new(mesh(wired(json!([[0, 1]]))), &rows);
    assert_eq!(both.until(1_020).delivered(), [10 * MS, 10 * MS]);
    // With a tree of 10:1 the other direction has the 1.6 Gb/s of a rack's uplink.
    let mut beside = Bench::new(ideal(json!({"policy": one_way()})), &rows);
    beside.until(1_010);
    assert_eq!(beside.carried_until(1_020), [10 * MS, 2 * MS]);
    let lit = beside.fabric.circuits(beside.now);
    assert!(lit[0].directed && (lit[0].a, lit[0].b) == (0, 1));
}

/// Racks 0 and 1 have a circuit on one plane, 1 and 2 on the other; 0 and 2 have ports
/// left on different planes, and share both circuits with them.
#[test]
fn paths_lead_over_circuits_in_a_row() {
    let policy = json!({"kind": "hydra", "hops": 2, "threshold": "0 B"});
    let rows = [
        (0, 2, 600 * MS, Time::ZERO),
        (3, 4, 500 * MS, Time::ZERO),
        (1, 5, 100 * MS, Time::ZERO),
    ];
    let table = json!({"policy": policy, "electrical": false, "planes": 2});
    let mut bench = Bench::new(ideal(table), &rows);
    bench.until(1_010);
    assert_eq!(bench.carried_until(1_110), [50 * MS; 3]);
    // The third flow is complete after 200 ms, and the others are alone.
    assert_eq!(bench.carried_until(1_310), [150 * MS, 150 * MS, 50 * MS]);
    bench.until(5_000);
    bench.fabric.settle(&mut bench.io);
    assert_eq!(bench.io.flows.hops, [1.0, 1.0, 2.0]);
}

/// §4.2 of c-Through with several circuits per rack. Two flows over circuits of 4 Gb/s fill a
/// server's link of 8 Gb/s: 0.9 of it is guaranteed to them, 3.6 Gb/s each, and a tenth remains for
/// the tree. Over one circuit they have 2 Gb/s each, and the tree's flow has the other half of the
/// link.
#[test]
fn servers_set_aside_what_all_circuits_of_a_rack_carry() {
    let rows = [
        (0, 2, LONG, Time::ZERO),
        (0, 3, LONG, Time::ZERO),
        (0, 4, LONG, Time::ZERO),
    ];
    let table = |planes: u32| {
        let circuits: Vec<_> = (0..planes).map(|plane| json!([0, 1, plane])).collect();
        ideal(json!({
            "policy": wired(json!(circuits)), "planes": planes, "circuit_rate": "4 Gb/s",
            "oversubscription": 1.0, "optical_weight": 0.9,
        }))
    };
    let mut one = Bench::new(table(1), &rows);
    one.until(1_010);
    assert_eq!(one.carried_until(1_110), [25 * MS, 25 * MS, 50 * MS]);
    let mut two = Bench::new(table(2), &rows);
    two.until(1_010);
    assert_eq!(two.carried_until(1_110), [45 * MS, 45 * MS, 10 * MS]);
    // One circuit goes dark, and both flows use the other.
    two.fail(Element::Port { node: 1, plane: 1 });
    assert_eq!(two.carried_until(1_210), [25 * MS, 25 * MS, 50 * MS]);
}
