//! Tables of LIONS: switches of every shape, except those that lose packets permanently.

use crate::tables::{merged, nic, picoseconds, switches, Fitted};
use crate::trials::Trial;
use lightloom_engine::{Cluster, Nic, Rate};
use proptest::prelude::*;
use serde_json::{json, Value};

/// `kind = "lions"`.
pub const TRIAL: Trial = Trial {
    kind: "lions",
    tables: || tables().boxed(),
    out_of_range,
};

/// Values that its keys may not have.
pub fn out_of_range() -> Vec<(&'static str, Value, &'static str)> {
    let same = |key: &'static str, value| (key, value, key);
    vec![
        same("receivers", json!(0)),
        same("receivers", json!(1_000_003)),
        same("hosts_per_queue", json!(0)),
        same("transmitter_rule", json!("turns")),
        same("arbiter", json!("turns")),
        same("host_link", json!("fibre")),
        same("discipline", json!("lifo")),
        same("detector", json!("nose")),
        same("transmitters", json!(0)),
        same("transmitters", json!(1_000_003)),
        same("packet", json!("0 B")),
        same("packet", json!("70 KB")),
        same("header", json!("70 KB")),
        ("header", json!("60 KB"), "packet"),
        same("guard", json!("70 KB")),
        same("rate", json!("0 b/s")),
        same("rate", json!("2000 Tb/s")),
        same("fibre", json!("2000 km")),
        same("label_reading", json!("2 ms")),
        same("arbitration", json!("2 ms")),
        same("tuning", json!("2 ms")),
        same("delay_line", json!("2 ms")),
    ]
}

/// Rules of the arbiter.
const ARBITERS: [&str; 4] = [
    "loop-back-first",
    "hosts-first",
    "round-robin",
    "oldest-first",
];

/// Valid combinations of hosts, receivers and hosts per queue, by architecture.
fn switch_shapes() -> impl Strategy<Value = (&'static str, u32, u32, u32)> {
    let divisor = |of: u32, most: u32, pick: u32| {
        let fit: Vec<u32> = (1..=most).filter(|k| of.is_multiple_of(*k)).collect();
        fit[pick as usize % fit.len()]
    };
    let names = prop::sample::select(vec!["slb", "mlb", "dlb", "ao-nack"]);
    (names, 1u32..9, 1u32..5, any::<u32>()).prop_map(move |(name, half, r, pick)| {
        let hosts = match name {
            "mlb" => 2 * r * half.min(4),
            "dlb" => 2 * half,
            _ => half + 1,
        };
        let inputs = match name {
            "mlb" => hosts + hosts / r,
            "dlb" => 2 * hosts,
            _ => hosts,
        };
        (name, hosts, divisor(inputs, hosts, pick), r)
    })
}

/// Any shape, timing, packets and delays.
pub fn tables() -> impl Strategy<Value = Fitted> {
    let packets = (
        prop::sample::select(vec![64u64, 256, 1_500]),
        0u64..20,
        0u64..40,
    );
    let delays = (
        prop_oneof![Just(0u64), 1u64..30_000],
        prop::array::uniform3(prop_oneof![Just(0i64), 0i64..20_000]),
        prop_oneof![3 => Just(0i64), 1 => 0i64..50_000],
    );
    let words = switches("lions", &["architecture", "timing"]);
    let choices = (
        prop::bool::weighted(0.3),
        any::<u32>(),
        prop::bool::ANY,
        any::<u32>(),
    );
    (
        switch_shapes(),
        1u64..40,
        nic(),
        packets,
        delays,
        choices,
        words,
    )
        .prop_map(
            |((name, hosts, k, r), gbps, nic, (packet, header, guard), delays, choices, words)| {
                let (millimetres, [label, arbitration, tuning], slack) = delays;
                let (slotted, m, abort, pick) = choices;
                let line = match nic {
                    Nic::Capped(rate) => rate,
                    Nic::Uncapped => Rate(gbps * Rate::GBPS.0 + 3),
                };
                let budget = label + arbitration + tuning + slack;
                let sent = line.time_for(packet + header).0;
                let (back, mut fibre) = (budget + 10 * millimetres as i64, millimetres);
                // In slotted operation a host has the result for its packet before the next slot.
                let slotted = slotted && (name != "ao-nack" || budget <= sent);
                if slotted && name == "ao-nack" {
                    fibre = fibre.min((sent - budget) as u64 / 10);
                }
                let detectors = match back <= sent {
                    true => ["auto", "edge", "timers", "sequence"],
                    false => ["auto", "timers", "timers", "sequence"],
                };
                let (tunable, nacks) = (matches!(name, "mlb" | "dlb"), name == "ao-nack");
                // Attempts of zero duration would follow each other without end.
                let abort = abort && back >= 1_000;
                let of = |has: bool, value: Value| if has { value } else { Value::Null };
                let table = json!({
                    "architecture": name, "timing": if slotted { "slotted" } else { "unslotted" },
                    "receivers": k, "hosts_per_queue": of(name == "mlb", json!(r)),
                    "transmitters": of(tunable && m % 3 > 0, json!(1 + m % hosts)),
                    "transmitter_rule": of(tunable, json!(["random", "round-robin"][m as usize % 2])),
                    "arbiter": of(!nacks && pick % 2 == 0, json!(ARBITERS[m as usize % 4])),
                    "host_link": of(
                        nic != Nic::Uncapped && pick % 3 > 0,
                        json!(["nic", "receivers"][pick as usize % 2]),
                    ),
                    "cut_through": of(!nacks && !slotted, json!(m % 2 == 0)),
                    "abort_on_nack": of(nacks && !slotted, json!(abort)),
                    "packet": format!("{packet} B"), "header": format!("{header} B"),
                    "guard": format!("{guard} B"), "fibre": format!("{fibre} mm"),
                    "label_reading": picoseconds(label), "arbitration": picoseconds(arbitration),
                    "tuning": picoseconds(tuning), "delay_line": picoseconds(budget),
                    "detector": of(nacks && !slotted, json!(detectors[m as usize % 4])),
                });
                let cluster = Cluster {
                    racks: hosts,
                    servers_per_rack: 1,
                    server_rate: Rate(gbps * Rate::GBPS.0 + 3),
                    nic,
                };
                Fitted {
                    cluster,
                    table: merged(table, words),
                    faults: Vec::new(),
                    delivers: true,
                }
            },
        )
}
