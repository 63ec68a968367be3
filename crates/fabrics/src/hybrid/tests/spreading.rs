//! Flows of a pair over all its routes: one route per flow, and no route is idle while flows share
//! another.

use super::*;
use lightloom_control::circuits::Circuits;
use lightloom_control::hardware::Hardware;
use lightloom_control::order::Order;
use lightloom_control::policies::Built;
use lightloom_control::policy::{Demand, Policy, SwitchView, Target};
use lightloom_control::routes::{Route, Routes};
use lightloom_engine::Refusal;
use proptest::prelude::*;
use serde_json::Map;

/// Racks of nine servers; each has a link of 1 B/ns, and so has a circuit.
const WIDE: Cluster = Cluster {
    servers_per_rack: 9,
    ..FOUR
};

/// Circuits come up at 1 ms and a ns.
const LIT: Time = Time(Time::MS.0 + Time::NS.0);

fn table(planes: u32, policy: Value) -> Value {
    ideal(json!({
        "electrical": false, "planes": planes, "policy": policy, "interval": "1 ms",
        "settle": "1 ns",
    }))
}

/// A table that connects racks 0 and 1 on every plane.
fn parallel(planes: u32) -> Value {
    let circuits: Vec<[u32; 3]> = (0..planes).map(|plane| [0, 1, plane]).collect();
    table(planes, wired(json!(circuits)))
}

/// Runs until all bytes are delivered, for at most 20 s.
fn finish_all(bench: &mut Bench) {
    for at in (1..=200).map(|n| n * 100) {
        let ends = &bench.io.flows.finish;
        if ends.iter().all(|&end| end != Time::NEVER) {
            return;
        }
        bench.until(at);
    }
}

/// When each flow arrives.
fn finishes(cluster: &Cluster, library: &dyn Library, table: Value, rows: &[Row]) -> Vec<Time> {
    let mut bench = Bench::on(cluster, library, table, rows);
    finish_all(&mut bench);
    bench.io.flows.finish.clone()
}

fn is_near(time: Time, expected: Time) -> bool {
    (time - expected).0.abs() <= Time::NS.0
}

/// The time until the last of `flows` equal flows ends, which start together over `circuits`
/// circuits of 1 B/ns. Some circuits have one flow more than the others; when the flows of the
/// other circuits are finished, the remaining flows spread over all circuits again.
fn all_over(flows: u32, circuits: u32, ns: f64) -> f64 {
    let (each, more) = (f64::from(flows / circuits), flows % circuits);
    if more == 0 {
        return each * ns;
    }
    if each == 0.0 {
        return ns;
    }
    let left = more * (flows / circuits + 1);
    each * ns + all_over(left, circuits, ns / (each + 1.0))
}

#[test]
fn flows_share_all_circuits_of_their_pair() {
    const BYTES: u64 = 40 * MS;
    for (flows, planes) in (1..=9).flat_map(|n| [1, 2, 3, 4].map(|m| (n, m))) {
        // Either all flows wait for the circuits, or they arrive one after the other when the
        // circuits are lit.
        for at in [Time::ZERO, Time::MS * 2] {
            let rows: Vec<Row> = (0..flows).map(|n| (n, 9 + n, BYTES, at)).collect();
            let ends = finishes(&WIDE, &Empty, parallel(planes), &rows);
            let last = *ends.iter().max().unwrap();
            let ns = all_over(flows, planes, BYTES as f64);
            let expected = at.max(LIT) + Time((ns * 1e3) as i64);
            assert!(
                is_near(last, expected),
                "{flows} over {planes}: {last}, not {expected}"
            );
        }
    }
}

/// Long flows share one circuit, short flows the other; when the short ones end, one long flow
/// moves.
#[test]
fn a_route_that_falls_idle_is_taken() {
    let long_and_short = [30, 10, 30, 10].iter().zip(0..);
    let rows: Vec<Row> = long_and_short
        .map(|(ms, n)| (n, 9 + n, ms * MS, Time::MS * 2))
        .collect();
    let ends = finishes(&WIDE, &Empty, parallel(2), &rows);
    // Each flow has half a circuit until 20 ms; then a long flow has 20 MB left and a whole
    // circuit.
    let expected = [40, 20, 40, 20].map(|ms| Time::MS * 2 + Time::MS * ms);
    let near = ends
        .iter()
        .zip(expected)
        .all(|(&end, expected)| is_near(end, expected));
    assert!(near, "{ends:?}");
}

/// The second of two circuits fails and is repaired.
#[test]
fn flows_return_to_a_circuit_that_is_lit_again() {
    let rows = [(0, 9, LONG, Time::ZERO), (1, 10, LONG, Time::ZERO)];
    let mut table = parallel(2);
    table["interval"] = json!("1 ms");
    let mut bench = Bench::on(&WIDE, &Empty, table, &rows);
    let port = Element::Port { node: 1, plane: 1 };
    bench.until(10);
    bench.fail(port);
    bench.until(20);
    assert_eq!(bench.carried_until(30), [5 * MS; 2]);
    bench.repair(port);
    bench.until(40);
    assert_eq!(bench.carried_until(50), [10 * MS; 2]);
}

/// Always the same circuits and routes.
struct Fixed(Circuits, Vec<(Vec<u32>, Vec<u32>)>);

impl Policy for Fixed {
    fn decide(&mut self, _: &Demand, _: &SwitchView) -> Result<Target, Refusal> {
        let mut routes = Routes::none(false);
        for (racks, planes) in self.1.clone() {
            routes.add(Route { racks, planes });
        }
        let circuits = self.0.clone();
        Ok(Target::Network { circuits, routes })
    }

    fn order(&self) -> Order {
        Order::DELETE_CREATE
    }
}

/// A library with a policy that connects racks 0 and 1 via rack 2 and via rack 3, with these
/// routes.
struct Paths(Vec<(Vec<u32>, Vec<u32>)>);

impl Library for Paths {
    fn policy(&self, _: &str, _: &Map<String, Value>, _: &Hardware) -> Built {
        let circuits = [(0, 2, 1), (2, 1, 2), (0, 3, 0), (3, 1, 1)];
        Ok(Box::new(Fixed(
            Circuits::on_planes(circuits),
            self.0.clone(),
        )))
    }
}

const OVER_2: ([u32; 3], [u32; 2]) = ([0, 2, 1], [1, 2]);
const OVER_3: ([u32; 3], [u32; 2]) = ([0, 3, 1], [0, 1]);

fn paths(routes: &[([u32; 3], [u32; 2])]) -> Paths {
    let route = |(racks, planes): &([u32; 3], [u32; 2])| (racks.to_vec(), planes.to_vec());
    Paths(routes.iter().map(route).collect())
}

/// One route via another rack, and two routes, also if two demands share one.
#[test]
fn flows_share_routes_over_other_racks() {
    let rows: Vec<Row> = (0..4).map(|n| (n, 9 + n, 20 * MS, Time::MS * 2)).collect();
    let policy = json!("paths.py:Fixed");
    for (routes, ms) in [
        (paths(&[OVER_2]), 80),
        (paths(&[OVER_2, OVER_3]), 40),
        (paths(&[OVER_2, OVER_2, OVER_3, OVER_2]), 40),
    ] {
        let ends = finishes(&WIDE, &routes, table(3, policy.clone()), &rows);
        let expected = Time::MS * 2 + Time::MS * ms;
        assert!(ends.iter().all(|&end| is_near(end, expected)), "{ends:?}");
    }
}

/// The flow of racks 0 and 1 leaves the route via rack 2 when a flow from rack 2 arrives.
#[test]
fn a_flow_leaves_a_circuit_that_others_need() {
    let mut routes = paths(&[OVER_2, OVER_3]);
    routes.0.push((vec![2, 1], vec![2]));
    let rows = [
        (0, 9, 40 * MS, Time::MS * 2),
        (18, 10, 20 * MS, Time::MS * 5),
        (19, 11, 20 * MS, Time::MS * 5),
    ];
    let ends = finishes(&WIDE, &routes, table(3, json!("paths.py:Fixed")), &rows);
    let expected = [Time::MS * 2 + Time::MS * 40, Time::MS * 45, Time::MS * 45];
    let near = ends
        .iter()
        .zip(expected)
        .all(|(&end, expected)| is_near(end, expected));
    assert!(near, "{ends:?}");
}

/// Bytes that circuits of 0.1 B/ns carry if none of them is idle while another is shared, so that
/// the number of used circuits is that of the flows [B].
fn carried(rows: &[Row], ends: &[Time], planes: u32) -> f64 {
    let from = rows.iter().map(|row| (row.3.max(LIT), 1i64));
    let mut edges: Vec<(Time, i64)> = from.chain(ends.iter().map(|&end| (end, -1))).collect();
    edges.sort_unstable();
    let (mut open, mut sum) = (0, 0.0);
    for at in 0..edges.len() {
        open += edges[at].1;
        let until = edges.get(at + 1).map_or(edges[at].0, |next| next.0);
        let used = open.min(i64::from(planes)) as f64;
        sum += used * (until - edges[at].0).0 as f64 / 10_000.0;
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// No circuit of a pair is idle while flows share another, and results do not depend on the
    /// horizons of the engine.
    #[test]
    fn circuits_of_a_pair_are_all_used(
        planes in 1u32..5,
        rows in prop::collection::vec((0u32..9, 0u32..9, 1u64..20, 0i64..200), 1..24),
        looks in prop::collection::vec(0i64..600, 0..12),
    ) {
        let rows: Vec<Row> = { rows.iter() }
            .map(|&(src, dst, ms, at)| (src, 9 + dst, ms * MS, Time::MS * at))
            .collect();
        let mut rows = rows;
        rows.sort_by_key(|row| row.3);
        let mut table = parallel(planes);
        table["circuit_rate"] = json!("0.8 Gb/s");
        let ends = finishes(&WIDE, &Empty, table.clone(), &rows);
        let offered: u64 = rows.iter().map(|row| row.2).sum();
        let carried = carried(&rows, &ends, planes);
        prop_assert!((carried / offered as f64 - 1.0).abs() < 1e-6, "{carried} of {offered}");
        let mut bench = Bench::on(&WIDE, &Empty, table, &rows);
        let mut looks = looks;
        looks.sort_unstable();
        for at in looks {
            bench.until(at);
        }
        finish_all(&mut bench);
        prop_assert_eq!(&bench.io.flows.finish, &ends);
    }
}
