//! Servers that receive nothing from the controller, and ports that fail.

use super::*;

fn table(electrical: bool, timeout: Option<&str>) -> Value {
    let mut table = ideal(json!({
        "policy": wired(json!([[0, 1], [2, 3]])), "electrical": electrical,
    }));
    if let Some(timeout) = timeout {
        table["controller_timeout"] = json!(timeout);
    }
    table
}

const ROWS: [Row; 1] = [(0, 2, LONG, Time::ZERO)];

#[test]
fn circuits_carry_on_without_their_controller() {
    let mut bench = Bench::new(table(false, None), &ROWS);
    bench.until(1_500).fail(Element::Controller);
    assert_eq!(bench.until(9_010).delivered(), [8_000 * MS]);
}

/// Servers use the circuits until 2.5 s; mirrors do not move. The controller is repaired at 3.5 s
/// and decides at 4 s; traffic enters the circuits after the settling time of the mirrors.
#[test]
fn servers_leave_circuits_that_stay_lit() {
    for (electrical, meanwhile) in [(false, 0), (true, 1_510 * MS / 5)] {
        let mut bench = Bench::new(table(electrical, Some("1 s")), &ROWS);
        bench.until(1_500).fail(Element::Controller);
        bench.until(2_500);
        assert_eq!(bench.carried_until(3_500)[0], meanwhile * 1_000 / 1_510);
        bench.repair(Element::Controller);
        assert_eq!(bench.carried_until(4_010)[0], meanwhile * 510 / 1_510);
        assert_eq!(bench.carried_until(4_020), [10 * MS]);
        let circuits = bench.circuits();
        assert_eq!(circuits, [(0, 1, 1_010, 4_020), (2, 3, 1_010, 4_020)]);
    }
}

/// A change in progress is cancelled when the controller fails: circuits of moving mirrors stay
/// dark until the next decision.
#[test]
fn a_change_that_was_under_way_is_begun_anew() {
    let mut bench = Bench::new(table(false, None), &ROWS);
    bench.until(1_005).fail(Element::Controller);
    bench.until(1_995).repair(Element::Controller);
    assert_eq!(bench.until(2_020).delivered(), [10 * MS]);
    assert_eq!(bench.circuits()[0], (0, 1, 2_010, 2_020));
}

#[test]
fn a_wired_circuit_comes_back_with_its_port() {
    let mut bench = Bench::new(table(false, None), &ROWS);
    let port = Element::Port { node: 1, plane: 0 };
    bench.until(1_110).fail(port);
    assert_eq!(bench.until(2_200).delivered(), [100 * MS]);
    bench.repair(port);
    assert_eq!(bench.until(3_020).delivered(), [110 * MS]);
    // The other circuit never goes dark.
    let circuits = bench.circuits();
    assert_eq!(circuits[0], (0, 1, 1_010, 1_110));
    assert_eq!(circuits[1..], [(2, 3, 1_010, 3_020), (0, 1, 3_010, 3_020)]);
}
