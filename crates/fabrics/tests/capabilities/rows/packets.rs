//! Fabrics of single nodes: LIONS, and its baseline, the flattened butterfly.

use super::Row;
use crate::scenario::*;
use lightloom_engine::{Cluster, Time};
use serde_json::json;

fn hosts(gbps: u64) -> Cluster {
    cluster(16, 1, gbps)
}

const FAILURES: Verdict = Verdict::DoesNotApply("failures are not modelled");
const NO_CIRCUITS: Verdict = Verdict::DoesNotApply("it has no circuits that come and go");

/// The time at which the mouse has left its server [ms]: it waits for the elephant's packet on the
/// link, and for one packet of the elephant before each of its own packets except the first; its
/// last packet has the remaining bytes and a header. A packet of 256 B takes `packet` [ms], and the
/// mouse arrives after 1 ms.
fn turns(packet: f64, header: f64) -> f64 {
    let whole = MOUSE / 256;
    let on_link = packet - 1.0 % packet;
    on_link + (2 * whole + 1) as f64 * packet + ms(MOUSE % 256, 10.0) + header
}

pub fn lions() -> Row {
    // 256 B, 5 B of header and 17 B of guard at 10 Gb/s, in which converters tune.
    let packet = 278.0 * 8.0 / 10.0 * 1e-6;
    let lasts = |bytes: u64| bytes.div_ceil(256) as f64 * packet;
    let case = |flows, ms, formula| Case::new(hosts(10), json!({}), flows, ms, formula);
    let alone = "222.4 ns for every packet of 256 B";
    let rates = [10u64, 25, 100].map(|gbps| {
        // The gap between packets is the longer of 10 ns of tuning and 17 B of guard.
        let silence = (17.0 * 8.0 / gbps as f64).max(10.0);
        let packet = (261.0 * 8.0 / gbps as f64 + silence) * 1e-6;
        let least = (MB * gbps).div_ceil(256) as f64 * packet;
        let formula = "261 B at the rate, and 17 B of guard or 10 ns of tuning, a packet";
        Case::new(hosts(gbps), json!({}), lone(MB * gbps), least, formula)
    });
    let to_one = case(
        incast(10 * MB / 4),
        ms(10 * MB, 10.0) * 261.0 / 256.0,
        "261 B at the receiver's link for every 256 B: guards of one sender pass in others' packets",
    );
    let least = 15.0 * lasts(MB / 10);
    let receivers = "1.5 MB by packets of 222.4 ns: no receiver is idle before the end";
    let exchange = case(all_to_all(MB / 10), least, receivers);
    let way = 2.0 * 50e-6 + 10e-6;
    let waits = case(
        mouse(),
        turns(packet, ms(5, 10.0)) + way,
        "the packet on the link and 47 in turn, 88 B, twice 10 m of fibre, 10 ns of tuning",
    );
    vec![
        (
            "lone flow",
            takes(case(lone(10 * MB), lasts(10 * MB), alone)),
        ),
        (
            "permutation",
            takes(case(permutation(10 * MB), lasts(10 * MB), alone)),
        ),
        ("incast", takes(to_one)),
        ("all-to-all", takes(exchange)),
        ("mouse beside an elephant", takes(waits.of(1))),
        (
            "parallel paths",
            takes(case(two(10 * MB), lasts(10 * MB), alone)),
        ),
        ("two planes", Verdict::DoesNotApply("it has one grating")),
        (
            "multihop route",
            Verdict::DoesNotApply("every path crosses the grating once, but for detours"),
        ),
        ("circuit beside electrical", NO_CIRCUITS),
        ("failure and repair", FAILURES),
        ("overlapping failures", FAILURES),
        ("three server rates", Verdict::Takes(rates.into())),
    ]
}

pub fn butterfly() -> Row {
    // 256 B and 5 B of header are 33 flits of 8 B.
    let wire = 264.0 / 256.0;
    let lasts = |bytes: u64| ms(bytes, 10.0) * wire;
    let case = |flows, ms, formula| Case::new(hosts(10), json!({}), flows, ms, formula);
    let alone = "264 B at the rate for every 256 B";
    let rates = [10u64, 25, 100].map(|gbps| {
        let least = ms(MB * gbps / 10, gbps as f64) * wire;
        Case::new(hosts(gbps), json!({}), lone(MB * gbps / 10), least, alone)
    });
    let shared = 4.0 * lasts(MB);
    let four = "four flows of a router share a wire";
    let least = 32.0 * lasts(MB / 10);
    let exchange = "a wire carries 16 flows to its router and 16 to the next: 3.2 MB";
    let exchange = case(all_to_all(MB / 10), least, exchange);
    let blocked =
        "a wire of the first dimension idles only while the wires of the second dimension to \
                   which it leads are busy: no closed form for how long packets block each other";
    let waits = case(
        mouse(),
        0.0,
        "the packet on the link and 47 in turn, 88 B, three routers of 100 ns",
    );
    let soonest = turns(ms(264, 10.0), ms(5, 10.0)) + 3.0 * 100e-6;
    let wires = "four wires take less than 100 ns";
    let neighbours = vec![(0, 12, MB, Time::ZERO), (1, 13, MB, Time::ZERO)];
    let both = "by dimensions there is one path: two flows share its wires";
    vec![
        ("lone flow", takes(case(lone(MB), lasts(MB), alone))),
        ("permutation", takes(case(permutation(MB), shared, four))),
        ("incast", takes(case(incast(MB / 4), lasts(MB), alone))),
        (
            "all-to-all",
            takes(exchange.between(least, 2.0 * least, blocked)),
        ),
        (
            "mouse beside an elephant",
            takes(waits.of(1).between(soonest, soonest + 100e-6, wires)),
        ),
        (
            "parallel paths",
            takes(case(neighbours, 2.0 * lasts(MB), both)),
        ),
        ("two planes", Verdict::DoesNotApply("it has one network")),
        ("multihop route", takes(case(lone(MB), lasts(MB), alone))),
        ("circuit beside electrical", NO_CIRCUITS),
        ("failure and repair", FAILURES),
        ("overlapping failures", FAILURES),
        ("three server rates", Verdict::Takes(rates.into())),
    ]
}
