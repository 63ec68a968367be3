//! Clos and tree, non-blocking unless stated otherwise.

use super::Row;
use crate::scenario::*;
use lightloom_engine::Time;
use serde_json::{json, Value};

pub fn clos() -> Row {
    row(json!({}), json!({"racks_per_pod": 2}))
}

pub fn tree() -> Row {
    row(json!({}), json!({"levels": 3, "racks_per_pod": 2}))
}

const SERVER: &str = "bytes ÷ rate of the server";

fn row(table: Value, levels: Value) -> Row {
    let case = |flows, ms, formula| Case::new(cluster(8, 2, 10), table.clone(), flows, ms, formula);
    let one = |least| {
        let formula = "8 ms at 10 Gb/s, plus the time for which the rack's only uplink has failed";
        let flows = vec![(0, 7, 10 * MB, Time::ZERO)];
        Case::new(cluster(8, 1, 10), table.clone(), flows, least, formula)
    };
    let rates = [10, 25, 100].map(|gbps| {
        let (flows, least) = (lone(MB * gbps), ms(MB * gbps, gbps as f64));
        Case::new(cluster(8, 2, gbps), table.clone(), flows, least, SERVER)
    });
    let to_one = "all bytes ÷ rate of the receiver's link";
    let exchange = case(all_to_all(MB), 12.0, "15 MB ÷ rate of the server");
    let ends = "flows take turns on two links, of which one idles for up to 3 % at the end";
    let waits = case(
        mouse(),
        0.0,
        "turns by packets of 1,500 B, and three links more",
    );
    let most = in_turn(1_500) + 3.0 * ms(1_500, 10.0);
    let packets = "the last packet takes its time again on each of three links more";
    let pods = "bytes ÷ rate of the server, through two pods and the core";
    let multihop = Case::new(cluster(8, 2, 10), levels, lone(10 * MB), 8.0, pods);
    let overlapping = one(13.0).fails(UPLINK, 1, 6).fails(UPLINK, 2, 3);
    vec![
        ("lone flow", takes(case(lone(10 * MB), 8.0, SERVER))),
        (
            "permutation",
            takes(case(permutation(10 * MB), 8.0, SERVER)),
        ),
        ("incast", takes(case(incast(10 * MB / 4), 8.0, to_one))),
        ("all-to-all", takes(exchange.between(12.0, 12.36, ends))),
        (
            "mouse beside an elephant",
            takes(waits.of(1).between(ms(MOUSE, 10.0), most, packets)),
        ),
        ("parallel paths", takes(case(two(10 * MB), 8.0, SERVER))),
        (
            "two planes",
            Verdict::DoesNotApply("its switches are not planes"),
        ),
        ("multihop route", takes(multihop)),
        (
            "circuit beside electrical",
            Verdict::DoesNotApply("it has no circuits"),
        ),
        ("failure and repair", takes(one(10.0).fails(UPLINK, 1, 3))),
        ("overlapping failures", takes(overlapping)),
        ("three server rates", Verdict::Takes(rates.into())),
    ]
}
