//! The output scheduler of a server: 0.9 for the connected rack, 0.1 for all others,
//! work-conserving.

use super::*;
use lightloom_engine::fair::LinkId;
use lightloom_engine::kernel::flow::Net;
use lightloom_engine::FlowId;
use proptest::prelude::*;

/// The tree has full bisection bandwidth, so that only servers' links are a limit.
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
    // Server 8 sends to the same receiver in rack 1: at first each has 0.5.
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

/// 19 flows over the circuit and one over the tree: by number of flows it would have a twentieth;
/// the scheduler gives it a tenth.
#[test]
fn all_other_racks_have_a_tenth() {
    let table = json!({"oversubscription": 1.0});
    let mut rows = vec![(0, 4, LONG, Time::ZERO); 19];
    rows.push((0, 8, LONG, Time::ZERO));
    let rates = rates(table, &rows);
    assert!((rates[19] - 0.1).abs() < 1e-6, "{rates:?}");
    for rate in &rates[..19] {
        assert!((rate - 0.9 / 19.0).abs() < 1e-6, "{rates:?}");
    }
}

/// At 40:1 the tree carries 100 Mb/s out of the rack, of which this server's flow has a quarter;
/// the 49 flows over the circuit use the rest of the link.
#[test]
fn of_its_tenth_the_tree_leaves_what_it_cannot_carry() {
    let mut rows = vec![(0, 4, LONG, Time::ZERO); 49];
    rows.extend([(0, 8, LONG, Time::ZERO), (1, 9, LONG, Time::ZERO)]);
    rows.extend([(2, 10, LONG, Time::ZERO), (3, 11, LONG, Time::ZERO)]);
    let rates = rates(json!({}), &rows);
    for rate in &rates[..49] {
        assert!((rate - 0.975 / 49.0).abs() < 1e-6, "{rates:?}");
    }
    for rate in &rates[49..] {
        assert!((rate - 0.025).abs() < 1e-6, "{rates:?}");
    }
}

/// The link of receiver 4 limits each of the two circuit flows of server 0 to a quarter; the
/// server's flow over the tree then has all that is left of its link.
#[test]
fn a_slow_receiver_keeps_nothing_free_that_flows_have_anyway() {
    let table = json!({"oversubscription": 1.0});
    let rows = [
        (0, 4, LONG, Time::ZERO),
        (0, 4, LONG, Time::ZERO),
        (0, 8, LONG, Time::ZERO),
        (8, 4, LONG / 4, Time::ZERO),
        (9, 4, LONG / 4, Time::ZERO),
    ];
    let rates = rates(table, &rows);
    let expected = [0.25, 0.25, 0.5, 0.25, 0.25];
    for (rate, expected) in rates.iter().zip(expected) {
        assert!((rate - expected).abs() < 1e-6, "{rates:?}");
    }
}

/// Number of links of servers, tree and circuits; the scheduler's bounds have the numbers after
/// them.
const LINKS: u32 = 2 * 16 + 2 * 4 + 4;

/// Tolerance of rates [b/s].
const FINE: u64 = 5_000_000;

/// Every flow is limited where the scheduler may limit it: at a full link on which no flow has a
/// higher rate; or at its server's full link if no flow of its side has a higher rate there and its
/// side has its share (all of the link if the other side has no flows).
fn flows_are_held(net: &Net, flows: u32) -> Result<(), TestCaseError> {
    let rate = |f: u32| net.rate(FlowId(f)).0;
    let path = |f: u32| net.path(FlowId(f));
    let is_full = |link: LinkId| net.load(link).0 + FINE >= net.capacity(link).0;
    let is_optical = |f: u32| path(f).iter().any(|l| (40..LINKS).contains(&l.0));
    let most = |of: &mut dyn Iterator<Item = u32>| of.map(rate).max().unwrap_or(0);
    for f in 0..flows {
        let over = |link: LinkId| (0..flows).filter(move |&g| path(g).contains(&link));
        let elsewhere = path(f)[1..]
            .iter()
            .filter(|l| l.0 < LINKS)
            .any(|&link| is_full(link) && rate(f) + FINE >= most(&mut over(link)));
        let server = path(f)[0];
        let side = || over(server).filter(|&g| is_optical(g) == is_optical(f));
        let has: u64 = side().map(rate).sum();
        let share = match (side().count() == over(server).count(), is_optical(f)) {
            (true, _) => 1_000_000_000,
            (false, true) => 900_000_000,
            (false, false) => 100_000_000,
        };
        let here = is_full(server) && rate(f) + FINE >= most(&mut side());
        prop_assert!(
            elsewhere || here && has + FINE >= share,
            "flow {} of {:?}",
            f,
            (0..flows).map(|g| (path(g), rate(g))).collect::<Vec<_>>()
        );
    }
    Ok(())
}

proptest! {
    /// Compares the rates with the scheduler's definition, independently of the solver. One server
    /// sends to many racks, the others to one rack each, because the solver is not exact for
    /// several schedulers whose rates depend on each other.
    #[test]
    fn both_sides_have_their_shares_or_all_that_they_can_use(
        ends in prop::collection::vec((0_u32..8, 0_u32..8), 2..50),
        ratio in prop::sample::select(vec![1.0, 4.0, 10.0, 40.0]),
        circuit in prop::sample::select(vec!["400 Mb/s", "1 Gb/s", "4 Gb/s"]),
    ) {
        let (from, to) = ([0, 0, 0, 1, 2, 5, 8, 9], [1, 4, 5, 8, 9, 10, 12, 13]);
        let pair = |&(a, b): &(u32, u32)| {
            let src = from[a as usize];
            let its_rack = (src + 1 + src % 3) % 4;
            let dst = match src {
                0 => to[b as usize],
                _ => 4 * its_rack + b % 2,
            };
            (src, dst)
        };
        let pairs: Vec<_> = ends.iter().map(pair).filter(|(src, dst)| src != dst).collect();
        prop_assume!(!pairs.is_empty());
        let rows: Vec<Row> = { pairs.iter() }
            .map(|&(src, dst)| (src, dst, LONG, Time::ZERO))
            .collect();
        let table = json!({"oversubscription": ratio, "circuit_rate": circuit});
        let mut bench = Bench::new(&TESTBED, ideal(table), &rows);
        bench.until(1_900);
        flows_are_held(bench.fabric.net(), rows.len() as u32)?;
    }
}

/// Two servers send over one circuit of 4 Gb/s. One has four flows that a receiver limits to a
/// quarter each; the flow of the other still has its nine tenths, although it is one of five flows.
#[test]
fn a_circuit_is_not_shared_by_counts() {
    let table = json!({"oversubscription": 1.0, "circuit_rate": "4 Gb/s"});
    let mut rows = vec![(2, 4, LONG, Time::ZERO); 4];
    rows.extend([(0, 5, LONG, Time::ZERO), (0, 1, LONG, Time::ZERO)]);
    let rates = rates(table, &rows);
    assert!((rates[4] - 0.9).abs() < 1e-6, "{rates:?}");
    assert!((rates[5] - 0.1).abs() < 1e-6, "{rates:?}");
}
