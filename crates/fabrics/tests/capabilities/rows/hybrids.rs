//! Circuits that a policy decides on, beside a tree or alone: c-Through, HydRA, and any policy.

use super::{set, Row};
use crate::scenario::*;
use lightloom_engine::{Cluster, Time};
use serde_json::{json, Value};

const SERVER: &str = "bytes ÷ rate of the server";
const BESIDE: &str = "5 Gb/s of the tree until the circuit is lit at 11 ms, then 10 Gb/s";
const SLOW: &str =
    "a twentieth of the server's rate until the circuit is lit at 11 ms, then all of it";
const BOTH: &str = "2.5 Gb/s each until the circuit is lit at 11 ms, then 10 Gb/s each";

/// The table with ideal transport: a flow has its new rate at once.
fn at_once(mut table: Value) -> Value {
    for key in ["ramp", "dip"] {
        table[key] = json!("0 s");
    }
    table
}

fn two_racks() -> Cluster {
    cluster(8, 2, 10)
}

/// A flow of 30 MB has a quarter of a server's rate over the tree, and the full rate over a circuit
/// that is lit at 11 ms, and again at `again` after the failure of its port at 15 ms.
fn port_fails(table: Value, again: f64) -> Case {
    let of_tree = ms(MB, 2.5).recip();
    let of_circuit = ms(MB, 10.0).recip();
    let before = of_tree * 11.0 + of_circuit * 4.0 + of_tree * (again - 15.0);
    let formula = "2.5 Gb/s of the tree, 10 Gb/s of the circuit: lit from 11 to 15 ms, and from \
                   the end of the decision that follows the repair";
    let least = again + (30.0 - before) / of_circuit;
    let flows = vec![(0, 7, 30 * MB, Time::ZERO)];
    Case::new(cluster(8, 1, 10), table, flows, least, formula)
}

/// The failure of an optical port between two decisions, and two overlapping failures.
fn set_failures(row: &mut Row, table: &Value) {
    let once = port_fails(table.clone(), 21.0).fails(PORT, 15, 17);
    let twice = port_fails(table.clone(), 31.0).fails(PORT, 15, 28);
    set(row, "failure and repair", takes(once));
    set(
        row,
        "overlapping failures",
        takes(twice.fails(PORT, 16, 17)),
    );
}

/// Time for 10 MB with a share of the tree until 11 ms, and 10 Gb/s from then on [ms].
fn then_lit(share: f64) -> f64 {
    let sent = share * 11.0 / 10.0;
    11.0 + ms(10 * MB, 10.0) - sent
}

pub fn cthrough() -> Row {
    let table = |ratio: f64| {
        at_once(json!({
            "oversubscription": ratio, "interval": "10 ms", "reconfiguration_delay": "1 ms",
        }))
    };
    let mut row = beside_a_tree(&table);
    let beside = Case::new(
        two_racks(),
        table(4.0),
        lone(10 * MB),
        then_lit(5.0),
        BESIDE,
    );
    set(&mut row, "circuit beside electrical", takes(beside));
    let mut alone = table(4.0);
    alone["unrequested"] = json!("alone");
    set_failures(&mut row, &alone);
    row
}

pub fn hydra() -> Row {
    let table = |ratio: f64| {
        json!({
            "oversubscription": ratio, "planes": 1, "hops": 1, "interval": "10 ms",
            "settle": "1 ms", "retag": "0 s", "rule": "0 s", "transport_recovery": "0 s",
            "threshold": "0 B",
        })
    };
    let mut row = beside_a_tree(&table);
    let quick = table(4.0);
    let beside = Case::new(
        two_racks(),
        quick.clone(),
        lone(10 * MB),
        then_lit(5.0),
        BESIDE,
    );
    set(&mut row, "circuit beside electrical", takes(beside));
    set_failures(&mut row, &quick);
    let mut twice = quick;
    twice["planes"] = json!(2);
    let both = "2.5 Gb/s each until two circuits are lit at 11 ms, then 10 Gb/s each";
    let planes = Case::new(two_racks(), twice, two(10 * MB), then_lit(2.5), both);
    set(&mut row, "two planes", takes(planes));
    let chosen = "which pairs take several circuits is the policy's choice";
    set(&mut row, "multihop route", Verdict::DoesNotApply(chosen));
    row
}

/// The servers of racks at a distance of four send to each other.
fn partners() -> Vec<Flow> {
    let to_partner = |i| (i, (i + 8) % 16, 10 * MB, Time::ZERO);
    (0..16).map(to_partner).collect()
}

/// Time for four flows of 2.5 MB to one server [ms]. Until 11 ms they share the 5 Gb/s of its
/// rack's tree; then a circuit gives one of them the other 5 Gb/s of the server's link of 10 Gb/s,
/// and after its end the other three share the tree.
fn to_one_then_lit() -> f64 {
    let each = 2.5 * 8.0;
    let left = each - 11.0 * 5.0 / 4.0;
    let first = left / 5.0;
    11.0 + first + 3.0 * (left - first * 5.0 / 3.0) / 5.0
}

/// Time for 4 MB between all pairs of eight racks, if each rack has 1 Gb/s of a tree, and a circuit
/// of 20 Gb/s serves its pairs one after another, from 11, 21, 31 ms on.
fn in_rounds() -> f64 {
    let (mut left, mut until) = (32.0, 11.0);
    let mut since = 0.0;
    for pairs in (1..=7).rev() {
        left -= (until - since) / pairs as f64;
        (since, until) = (until, until + 10.0);
    }
    since + left / 20.0
}

/// Circuits beside a tree that is too slow for the traffic of the servers: `table` returns the
/// table for a ratio of oversubscription.
fn beside_a_tree(table: &dyn Fn(f64) -> Value) -> Row {
    let case = |ratio, flows, ms, formula| Case::new(two_racks(), table(ratio), flows, ms, formula);
    let lit = then_lit(1.0);
    let rates = [10, 25, 100].map(|gbps| {
        let flows = lone(MB * gbps);
        Case::new(cluster(8, 2, gbps), table(20.0), flows, lit, SLOW)
    });
    let partners_lit =
        "0.5 Gb/s of the tree each until circuits are lit at 11 ms, then 10 Gb/s each";
    let to_one =
        "5 Gb/s of the tree until 11 ms, then 5 Gb/s more of one circuit, to the end of one";
    let rounds = "seven matchings from 11 ms on, one in 10 ms, beside 1 Gb/s of the tree";
    let exchange = case(20.0, all_to_all(MB), in_rounds(), rounds);
    vec![
        ("lone flow", takes(case(20.0, lone(10 * MB), lit, SLOW))),
        (
            "permutation",
            takes(case(20.0, partners(), then_lit(0.5), partners_lit)),
        ),
        (
            "incast",
            takes(case(4.0, incast(10 * MB / 4), to_one_then_lit(), to_one)),
        ),
        ("all-to-all", takes(exchange)),
        (
            "mouse beside an elephant",
            takes(case(1.0, mouse(), half(3.0), HALF).of(1)),
        ),
        (
            "parallel paths",
            takes(case(4.0, two(10 * MB), then_lit(2.5), BOTH)),
        ),
        (
            "two planes",
            Verdict::DoesNotApply("it has one optical switch"),
        ),
        (
            "multihop route",
            Verdict::DoesNotApply("a route has one circuit"),
        ),
        ("circuit beside electrical", Verdict::DoesNotApply("")),
        ("failure and repair", Verdict::DoesNotApply("")),
        ("overlapping failures", Verdict::DoesNotApply("")),
        ("three server rates", Verdict::Takes(rates.into())),
    ]
}

const HALF: &str = "half of the server's rate, and the last packet again on each link more";

/// Time of a mouse that has half of its server's link and whose last packet crosses `links` more
/// links [ms].
fn half(links: f64) -> f64 {
    ms(MOUSE, 5.0) + links * ms(MOUSE % 1_500, 10.0)
}

/// Circuits (a, b, plane) that are always lit, and no electrical network.
fn lit(circuits: &[[u32; 3]], planes: u32) -> Value {
    at_once(json!({
        "electrical": false, "planes": planes, "interval": "1 us", "settle": "1 ns",
        "policy": {"kind": "fixed", "circuits": circuits},
    }))
}

/// Circuits from each rack to the rack two further on, on two planes.
const TO_SECOND: [[u32; 3]; 8] = [
    [0, 2, 0],
    [4, 6, 0],
    [2, 4, 1],
    [0, 6, 1],
    [1, 3, 0],
    [5, 7, 0],
    [3, 5, 1],
    [1, 7, 1],
];

pub fn hybrid() -> Row {
    let case = |circuits: &[[u32; 3]], planes, flows, ms, formula| {
        Case::new(two_racks(), lit(circuits, planes), flows, ms, formula)
    };
    let last = &[[0, 7, 0]];
    let to_last = [[0, 7, 0], [1, 7, 1], [2, 7, 2], [3, 7, 3]];
    let to_one = "all bytes ÷ rate of the receiver's link: four circuits of 5 Gb/s bring 20";
    let shared = "two flows of a rack over its circuit of 10 Gb/s";
    let mesh = "15 MB ÷ rate of the server; circuits of 20 ÷ 7 Gb/s take 11.2 ms";
    let four = (0..4).map(|i| (i, 4 + i, 100 * MB, Time::ZERO)).collect();
    let wide = lit(&[[0, 1, 0], [0, 1, 1], [0, 1, 2], [0, 1, 3]], 4);
    let wide = Case::new(cluster(2, 4, 100), wide, four, ms(100 * MB, 100.0), SERVER);
    let two_planes = &[[0, 7, 0], [0, 7, 1]];
    let beside = json!({"oversubscription": 4, "interval": "10 ms", "settle": "1 ms"});
    let beside = Case::new(
        two_racks(),
        at_once(beside),
        lone(10 * MB),
        then_lit(5.0),
        BESIDE,
    );
    let one = |least| {
        let formula = "8 ms at 10 Gb/s, plus the time for which the only circuit is dark";
        let flows = vec![(0, 7, 10 * MB, Time::ZERO)];
        Case::new(cluster(8, 1, 10), lit(last, 1), flows, least, formula)
    };
    let rates = [10, 25, 100].map(|gbps| {
        let (flows, least) = (lone(MB * gbps), ms(MB * gbps, gbps as f64));
        Case::new(cluster(8, 2, gbps), lit(last, 1), flows, least, SERVER)
    });
    let overlapping = one(13.0).fails(PORT, 1, 6).fails(PORT, 2, 3);
    let elephant = case(&[[0, 7, 0], [0, 6, 1]], 2, mouse(), half(2.0), HALF);
    vec![
        (
            "lone flow",
            takes(case(last, 1, lone(10 * MB), 8.0, SERVER)),
        ),
        (
            "permutation",
            takes(case(&TO_SECOND, 2, permutation(10 * MB), 16.0, shared)),
        ),
        (
            "incast",
            takes(case(&to_last, 4, incast(10 * MB / 4), 8.0, to_one)),
        ),
        (
            "all-to-all",
            takes(case(&tournament(), 7, all_to_all(MB), 12.0, mesh)),
        ),
        ("mouse beside an elephant", takes(elephant.of(1))),
        ("parallel paths", takes(wide)),
        (
            "two planes",
            takes(case(two_planes, 2, two(10 * MB), 8.0, SERVER)),
        ),
        (
            "multihop route",
            Verdict::DoesNotApply("circuits that are fixed have no routes of several"),
        ),
        ("circuit beside electrical", takes(beside)),
        ("failure and repair", takes(one(10.0).fails(PORT, 1, 3))),
        ("overlapping failures", takes(overlapping)),
        ("three server rates", Verdict::Takes(rates.into())),
    ]
}

/// Seven planes that connect every pair of eight racks once.
fn tournament() -> Vec<[u32; 3]> {
    let mut all = Vec::new();
    for plane in 0..7 {
        all.push([plane, 7, plane]);
        for k in 1..4 {
            let (a, b) = ((plane + k) % 7, (plane + 7 - k) % 7);
            all.push([a.min(b), a.max(b), plane]);
        }
    }
    all
}
