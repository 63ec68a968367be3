//! Tables of HydRA: cycles are microseconds, so that circuits change within the short runs of these
//! tests.

use crate::tables::{merged, nic, picoseconds, switches, Fitted};
use crate::trials::Trial;
use lightloom_engine::run::Fault;
use lightloom_engine::{Cluster, Command, Element, Rate, Time};
use proptest::prelude::*;
use serde_json::{json, Value};

/// `kind = "hydra"`.
pub const TRIAL: Trial = Trial {
    kind: "hydra",
    tables: || tables().boxed(),
    out_of_range,
};

/// Values that its keys may not have.
pub fn out_of_range() -> Vec<(&'static str, Value, &'static str)> {
    let same = |key: &'static str, value| (key, value, key);
    vec![
        same("oversubscription", json!(0.5)),
        same("levels", json!(4)),
        same("racks_per_pod", json!(1_000_003)),
        same("planes", json!(0)),
        same("planes", json!(129)),
        same("hops", json!(0)),
        same("hops", json!(13)),
        same("circuit_rate", json!("0 b/s")),
        same("interval", json!("0 ps")),
        same("computation_delay", json!("4000 s")),
        same("threshold", json!("2 TB")),
        same("settle", json!("4000 s")),
        same("link_up", json!("4000 s")),
        same("retag", json!("4000 s")),
        same("rule", json!("4000 s")),
        same("rules", json!(2_000_000_000u64)),
        same("transport_recovery", json!("4000 s")),
    ]
}

/// Any clusters, delays, switches and failures.
pub fn tables() -> impl Strategy<Value = Fitted> {
    let cluster = (2u32..9, 1u32..5, 10u64..40, nic());
    let optics = (1u32..5, 1u32..5, 1u64..60);
    let us = |from: i64, to: i64| (from * 1_000_000..to * 1_000_000).prop_map(picoseconds);
    // No interval is shorter than a cycle, of at most 8 us.
    let delays = (us(8, 60), us(0, 2), us(0, 4), us(0, 2), us(0, 6));
    let rules = (0i64..300_000, prop::option::of(0u64..40), us(0, 6));
    let threshold = prop_oneof![Just(0u64), 0u64..60_000];
    let words = switches("hydra", &[]);
    let failures = prop::collection::vec((any::<u32>(), 0i64..200_000_000, 0i64..80_000_000), 0..4);
    (cluster, optics, delays, rules, threshold, words, failures).prop_map(
        |((racks, servers, gbps, nic), optics, delays, rules, threshold, words, failures)| {
            let mut table = json!({
                "oversubscription": 4.0, "planes": optics.0, "hops": optics.1,
                "circuit_rate": format!("{} Gb/s", optics.2),
                "interval": delays.0, "computation_delay": delays.1, "settle": delays.2,
                "link_up": delays.3, "retag": delays.4,
                "rule": picoseconds(rules.0), "transport_recovery": rules.2,
                "threshold": format!("{threshold} B"),
            });
            if let Some(count) = rules.1 {
                table["rules"] = json!(count);
            }
            Fitted {
                cluster: Cluster {
                    racks,
                    servers_per_rack: servers,
                    server_rate: Rate(gbps * Rate::GBPS.0 + 7),
                    nic,
                },
                table: merged(table, words),
                faults: faults(&failures, racks, optics.0),
                delivers: true,
            }
        },
    )
}

/// The controller or a port fails, and is repaired later.
fn faults(failures: &[(u32, i64, i64)], racks: u32, planes: u32) -> Vec<Fault> {
    let mut faults = Vec::new();
    for &(part, at, after) in failures {
        let element = match part % 4 {
            0 => Element::Controller,
            _ => Element::Port {
                node: part % racks,
                plane: (part / 7) % planes,
            },
        };
        let command = Command::Fail { element, loss: 1.0 };
        let repair = Command::Repair(element);
        faults.push(Fault {
            at: Time(at),
            command,
        });
        faults.push(Fault {
            at: Time(at + after),
            command: repair,
        });
    }
    faults.sort_by_key(|f| f.at);
    faults
}
