//! Other kernels and rules that a key of a fabric selects: the part of its row that applies with
//! this key. Scenarios that the key does not affect take the same time; those that it affects have
//! a separate answer here.

use super::{circuits, electrical, packets, set, sirius, Row};
use crate::scenario::*;
use serde_json::{json, Value};

/// A fabric with another value of a key.
pub struct Variant {
    pub kind: &'static str,
    /// The key, as a user writes it.
    pub title: &'static str,
    pub row: Row,
}

pub fn all() -> Vec<Variant> {
    let variant = |kind, title, row| Variant { kind, title, row };
    vec![
        variant("sirius", "detail = \"flows\"", sirius_by_rates()),
        variant("sirius", "mode = \"ideal\"", sirius_ideal()),
        variant("clos", "detail = \"flows\"", clos_by_rates()),
        variant("lions", "discipline = \"fifo\"", lions_in_order()),
        variant("rotornet", "rotorlb = \"per-host\"", rotornet_by_hosts()),
        variant("opera", "rotorlb = \"per-host\"", opera_by_hosts()),
        variant("lions", "architecture = \"slb\"", lions("slb")),
        variant("lions", "architecture = \"mlb\"", lions("mlb")),
        variant("lions", "architecture = \"ao-nack\"", lions("ao-nack")),
    ]
}

/// The cases of a row, with other keys.
fn with(row: Row, keys: &Value) -> Row {
    let keys = keys.as_object().expect("a table");
    let changed = |(scenario, verdict)| match verdict {
        Verdict::Takes(mut cases) => {
            for case in &mut cases {
                let table = case.table.as_object_mut().expect("a table");
                table.extend(keys.clone());
            }
            Some((scenario, Verdict::Takes(cases)))
        }
        Verdict::DoesNotApply(_) => None,
    };
    row.into_iter().filter_map(changed).collect()
}

const HALF: &str = "half of the server's rate, and the same way";

/// With rates, two flows share a link equally from the start, and neither idles before its end.
fn by_rates(row: Row, keys: &Value, way: f64, why: &'static str) -> Row {
    let mut row = with(row, keys);
    let table = table_of(&row, "all-to-all");
    let case = |flows, ms, formula| Case::new(cluster(8, 2, 10), table.clone(), flows, ms, formula);
    let exchange = case(all_to_all(MB), 12.0, "15 MB ÷ rate of the server");
    set(&mut row, "all-to-all", takes(exchange));
    let half = ms(MOUSE, 5.0);
    let waits = case(mouse(), half, HALF).of(1);
    let waits = waits.between(half, half + way, why);
    set(&mut row, "mouse beside an elephant", takes(waits));
    row
}

fn table_of(row: &Row, scenario: &str) -> Value {
    let found = row.iter().find(|(name, _)| *name == scenario);
    match &found.expect("a scenario").1 {
        Verdict::Takes(cases) => cases[0].table.clone(),
        Verdict::DoesNotApply(_) => unreachable!("a case"),
    }
}

/// Removes the failures, which only the model of cells with requests and grants has.
fn without_failures(mut row: Row) -> Row {
    row.retain(|(scenario, _)| !["failure and repair", "overlapping failures"].contains(scenario));
    row
}

fn sirius_by_rates() -> Row {
    let protocol = "epoch, request, grant and two hops take less than 2 µs";
    let keys = json!({"detail": "flows"});
    without_failures(by_rates(sirius::row(), &keys, 2e-3, protocol))
}

fn sirius_ideal() -> Row {
    without_failures(with(sirius::row(), &json!({"mode": "ideal"})))
}

fn clos_by_rates() -> Row {
    let links = "a packet takes its time again on each of three links more";
    let keys = json!({"detail": "flows"});
    by_rates(electrical::clos(), &keys, 3.0 * ms(1_500, 10.0), links)
}

/// Only two-hop traffic is divided among hosts; `judged` lists the scenarios of a row that have
/// results.
fn by_hosts(row: Row, judged: &[&str]) -> Row {
    let mut row = with(row, &json!({"rotorlb": "per-host"}));
    row.retain(|(scenario, _)| judged.contains(scenario));
    row
}

fn rotornet_by_hosts() -> Row {
    by_hosts(circuits::rotornet(), &["multihop route"])
}

fn opera_by_hosts() -> Row {
    let judged = ["mouse beside an elephant", "multihop route"];
    let mut row = by_hosts(circuits::opera(), &judged);
    let table = table_of(&row, "multihop route");
    let formula = "half of 20 Gb/s and of 97.5 % of the time, of which the 162.5 packets of a day \
                   are 81 whole ones for each of two hosts";
    let relayed = circuits::relayed(table, 9.75 * 162.0 / 162.5, circuits::OPERA_CYCLE, formula);
    set(&mut row, "multihop route", relayed);
    row
}

fn lions(architecture: &str) -> Row {
    with(packets::lions(), &json!({"architecture": architecture}))
}

/// The mouse waits for the rest of the elephant.
fn lions_in_order() -> Row {
    let mut row = with(packets::lions(), &json!({"discipline": "fifo"}));
    let table = table_of(&row, "mouse beside an elephant");
    let formula = "14 MB and 5,971 B by packets of 222.4 ns, less 1 ms";
    let packets = (14 * MB).div_ceil(256) + MOUSE.div_ceil(256);
    let least = packets as f64 * 222.4e-6 - 1.0;
    let waits = Case::new(cluster(16, 1, 10), table, mouse(), least, formula);
    set(&mut row, "mouse beside an elephant", takes(waits.of(1)));
    // All hosts send to the first host, then to the second, and so on: they reach the last after 14
    // others.
    let table = table_of(&row, "all-to-all");
    let formula = "fourteen times 0.1 MB by packets of 222.4 ns, then 1.5 MB of 261 B for 256 B \
                   at the last receiver's link";
    let before = 14.0 * (MB / 10).div_ceil(256) as f64 * 222.4e-6;
    let least = before + ms(15 * MB / 10, 10.0) * 261.0 / 256.0;
    let exchange = Case::new(
        cluster(16, 1, 10),
        table,
        all_to_all(MB / 10),
        least,
        formula,
    );
    set(&mut row, "all-to-all", takes(exchange));
    row
}
