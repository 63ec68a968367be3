//! Failures of the controller and of optical ports.

use super::*;
use lightloom_engine::Element;

fn fail(element: Element) -> Command {
    Command::Fail { element, loss: 1.0 }
}

fn port(node: u32) -> Element {
    Element::Port { node, plane: 0 }
}

const LONG: u64 = 90_000_000_000;

/// Rack 0 has demand for rack 1 from the start, and more demand for rack 2 from 2.5 s on.
fn bench(timeout: &str) -> Bench {
    let mut rows = vec![(0, 4, LONG, Time::ZERO)];
    rows.extend((0..4).map(|s| (s, 8 + s, LONG, Time::MS * 2_500)));
    let table = ideal(json!({"controller_timeout": timeout}));
    Bench::new(&TESTBED, table, &rows)
}

#[test]
fn without_a_controller_circuits_stay_and_then_servers_give_up() {
    let mut bench = bench("4 s");
    bench.until(2_200).command(fail(Element::Controller));
    bench.until(9_500);
    assert_eq!(
        bench.circuits(),
        [(0, 1, 1_010, 6_200), (2, 3, 1_010, 6_200)]
    );
    bench.command(Command::Repair(Element::Controller));
    bench.until(11_000);
    let circuits = bench.circuits();
    assert_eq!(
        circuits[2..],
        [(0, 2, 10_010, 11_000), (1, 3, 10_010, 11_000)]
    );
}

#[test]
fn a_controller_that_comes_back_in_time_goes_on() {
    let mut bench = bench("4 s");
    bench.until(2_200).command(fail(Element::Controller));
    bench
        .until(5_500)
        .command(Command::Repair(Element::Controller));
    bench.until(8_000);
    let from: Vec<(u32, u32, i64)> = bench.circuits().iter().map(|c| (c.0, c.1, c.2)).collect();
    assert_eq!(
        from,
        [(0, 1, 1_010), (2, 3, 1_010), (0, 2, 6_010), (1, 3, 6_010)]
    );
}

/// Servers moved their traffic to the tree, and there is no controller to move it back.
#[test]
fn a_controller_that_fails_in_the_dark_leaves_the_dark() {
    let mut bench = bench("4 s");
    bench.until(1_005).command(fail(Element::Controller));
    bench.until(9_000);
    assert!(bench.circuits().is_empty());
}

#[test]
fn a_broken_port_takes_its_circuit_down_and_its_rack_out() {
    let mut bench = bench("4 s");
    bench.until(1_700).command(fail(port(1)));
    bench.until(3_900);
    // The other circuit stays until the next decision, which connects 2 and 3 again, so nothing
    // changes. At 3 s rack 0 has demand for rack 2.
    let circuits = bench.circuits();
    assert_eq!(circuits[..2], [(0, 1, 1_010, 1_700), (2, 3, 1_010, 3_000)]);
    assert_eq!(circuits[2..], [(0, 2, 3_010, 3_900)]);
    bench.command(Command::Repair(port(1)));
    bench.until(6_000);
    assert_eq!(
        bench.circuits()[3..],
        [(0, 2, 4_010, 6_000), (1, 3, 4_010, 6_000)]
    );
}

/// The flow leaves the circuit at once and has the tree's 100 Mb/s.
#[test]
fn flows_of_a_broken_port_take_the_tree() {
    let mut bench = Bench::new(&TESTBED, ideal(json!({})), &[(0, 4, LONG, Time::ZERO)]);
    bench.until(1_500).command(fail(port(0)));
    let before = bench.delivered()[0];
    let after = bench.until(1_900).delivered()[0] - before;
    assert_eq!(after, 400 * GBPS_MS / 10);
}

#[test]
fn a_port_that_breaks_in_the_dark_stays_dark() {
    let mut bench = bench("4 s");
    bench.until(1_005).command(fail(port(0)));
    bench.until(1_500);
    assert_eq!(bench.circuits(), [(2, 3, 1_010, 1_500)]);
}

#[test]
fn parts_that_are_not_there_are_rejected() {
    let mut bench = bench("4 s");
    let mut reason = |c: Command| bench.fabric.apply(c).unwrap_err().to_string();
    assert!(reason(fail(port(4))).contains("the racks are 0 to 3"));
    let plane = Element::Port { node: 0, plane: 1 };
    assert!(reason(fail(plane)).contains("the planes 0 to 0"));
    assert!(reason(fail(Element::Node(1))).contains("optical ports"));
    assert!(reason(Command::Repair(Element::Grating(0))).contains("optical ports"));
    let grey = Command::Fail {
        element: port(0),
        loss: 0.5,
    };
    assert!(reason(grey).contains("loss 0.5"));
}
