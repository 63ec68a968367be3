//! Sirius: cells take two hops, over six uplinks of 10 Gb/s for two servers of 10 Gb/s.

use super::Row;
use crate::scenario::*;
use lightloom_engine::{Element, Time};
use serde_json::{json, Value};

const SERVER: &str =
    "bytes ÷ rate of the server: two hops of 20 Gb/s need 40 of the rack's 54 Gb/s";

/// A rack has 54 Gb/s of payload; two hops of 20 Gb/s need at most 40 Gb/s, so the links of the
/// servers are the limit.
fn table(gbps: u64) -> Value {
    json!({"channel_rate": format!("{gbps} Gb/s"), "uplinks": 6})
}

pub fn row() -> Row {
    let case = |flows, ms, formula| Case::new(cluster(8, 2, 10), table(10), flows, ms, formula);
    let one = |least: f64| {
        let formula = "8 ms at the server's link, plus the time for which the rack has failed";
        let table = json!({"channel_rate": "10 Gb/s", "uplinks": 4});
        let flows = vec![(0, 7, 10 * MB, Time::ZERO)];
        Case::new(cluster(8, 1, 10), table, flows, least, formula)
    };
    let dead = |case: Case, from, until| case.fails(Element::Node(0), from, until);
    let rates = [10, 25, 100].map(|gbps| {
        let (flows, least) = (lone(MB * gbps), ms(MB * gbps, gbps as f64));
        Case::new(cluster(8, 2, gbps), table(gbps), flows, least, SERVER)
    });
    let exchange = case(all_to_all(MB), 12.0, "15 MB ÷ rate of the server");
    let ends = "flows take turns on two links, of which one idles for up to 3 % at the end";
    let waits = case(
        mouse(),
        0.0,
        "turns by cells of 112 B at the server's link, and two hops",
    );
    let protocol = "epoch, request, grant and two hops take less than 2 µs";
    let most = in_turn(112) + 2e-3;
    let overlapping = dead(dead(one(13.0), 1, 6), 2, 3);
    vec![
        ("lone flow", takes(case(lone(10 * MB), 8.0, SERVER))),
        (
            "permutation",
            takes(case(permutation(10 * MB), 8.0, SERVER)),
        ),
        (
            "incast",
            takes(case(
                incast(10 * MB / 4),
                8.0,
                "all bytes ÷ rate of the receiver's link",
            )),
        ),
        ("all-to-all", takes(exchange.between(12.0, 12.36, ends))),
        (
            "mouse beside an elephant",
            takes(waits.of(1).between(ms(MOUSE, 10.0), most, protocol)),
        ),
        ("parallel paths", takes(case(two(10 * MB), 8.0, SERVER))),
        (
            "two planes",
            Verdict::DoesNotApply("uplinks of a rack are one set, over which cells are spread"),
        ),
        ("multihop route", takes(case(lone(10 * MB), 8.0, SERVER))),
        (
            "circuit beside electrical",
            Verdict::DoesNotApply("it has no electrical network"),
        ),
        ("failure and repair", takes(dead(one(10.0), 1, 3))),
        ("overlapping failures", takes(overlapping)),
        ("three server rates", Verdict::Takes(rates.into())),
    ]
}
