//! Circuits that a policy decides on, beside a tree or alone: c-Through, HydRA, and any policy.

use super::Row;
use crate::scenario::*;
use lightloom_engine::{Cluster, Time};
use serde_json::{json, Value};

const SERVER: &str = "bytes ÷ rate of the server";
const BESIDE: &str = "5 Gb/s of the tree until the circuit is lit at 11 ms, then 10 Gb/s";
const LINKS: &str = "the last packet takes its time again on each of three links more";

/// A flow has its new rate at once.
fn at_once(mut table: Value) -> Value {
    for key in ["ramp", "dip"] {
        table[key] = json!("0 s");
    }
    table
}

fn two_racks() -> Cluster {
    cluster(8, 2, 10)
}

/// A flow of 30 MB has a quarter of a server's rate of the tree, and all of it of a circuit that is
/// lit at 11 ms, and again at `again` after its port failed at 15 ms.
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

/// The failure of an optical port between two decisions, and two that overlap.
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

/// What 10 MB take that have a share of the tree until 11 ms, and then 10 Gb/s [ms].
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
    let mut row = beside_a_tree(table(1.0));
    let both = "2.5 Gb/s each until the circuit is lit at 11 ms, then 10 Gb/s each";
    let parallel = Case::new(two_racks(), table(4.0), two(10 * MB), then_lit(2.5), both);
    set(&mut row, "parallel paths", takes(parallel));
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
    let table = json!({"oversubscription": 1, "planes": 2});
    let mut row = beside_a_tree(table);
    let quick = json!({
        "oversubscription": 4, "planes": 1, "hops": 1, "interval": "10 ms", "settle": "1 ms",
        "retag": "0 s", "rule": "0 s", "transport_recovery": "0 s", "threshold": "0 B",
    });
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

/// Circuits that only ever help: the tree alone carries all that servers send.
fn beside_a_tree(table: Value) -> Row {
    let case = |flows, ms, formula| Case::new(two_racks(), table.clone(), flows, ms, formula);
    let rates = [10, 25, 100].map(|gbps| {
        let (flows, least) = (lone(MB * gbps), ms(MB * gbps, gbps as f64));
        Case::new(cluster(8, 2, gbps), table.clone(), flows, least, SERVER)
    });
    let to_one = "all bytes ÷ rate of the receiver's link";
    vec![
        ("lone flow", takes(case(lone(10 * MB), 8.0, SERVER))),
        (
            "permutation",
            takes(case(permutation(10 * MB), 8.0, SERVER)),
        ),
        ("incast", takes(case(incast(10 * MB / 4), 8.0, to_one))),
        (
            "all-to-all",
            takes(case(all_to_all(MB), 12.0, "15 MB ÷ rate of the server")),
        ),
        (
            "mouse beside an elephant",
            takes(small(case(mouse(), 0.0, HALF))),
        ),
        ("parallel paths", takes(case(two(10 * MB), 8.0, SERVER))),
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

const HALF: &str = "half of the server's rate, and three links more";

/// The mouse alone at the least, and turns with the elephant at the most.
fn small(case: Case) -> Case {
    let most = in_turn(1_500) + 3.0 * ms(1_500, 10.0);
    case.of(1).between(ms(MOUSE, 10.0), most, LINKS)
}

fn set(row: &mut Row, scenario: &str, verdict: Verdict) {
    let place = row.iter_mut().find(|(name, _)| *name == scenario);
    place.expect("a scenario").1 = verdict;
}

/// Circuits (a, b, plane) that are always lit, and no electrical network.
fn lit(circuits: &[[u32; 3]], planes: u32) -> Value {
    at_once(json!({
        "electrical": false, "planes": planes, "interval": "1 us", "settle": "1 ns",
        "policy": {"kind": "fixed", "circuits": circuits},
    }))
}

/// Circuits from each rack to the second next, on two planes.
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
        let formula = "8 ms at 10 Gb/s, and as long as the only circuit is dark";
        let flows = vec![(0, 7, 10 * MB, Time::ZERO)];
        Case::new(cluster(8, 1, 10), lit(last, 1), flows, least, formula)
    };
    let rates = [10, 25, 100].map(|gbps| {
        let (flows, least) = (lone(MB * gbps), ms(MB * gbps, gbps as f64));
        Case::new(cluster(8, 2, gbps), lit(last, 1), flows, least, SERVER)
    });
    let overlapping = one(13.0).fails(PORT, 1, 6).fails(PORT, 2, 3);
    let elephant = case(&[[0, 7, 0], [0, 6, 1]], 2, mouse(), 0.0, HALF);
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
        ("mouse beside an elephant", takes(small(elephant))),
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

/// Seven planes that join every pair of eight racks once.
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
