//! Tables of Sirius: every plan, mode and detail, with failures of parts if cells are simulated.

use crate::tables::{merged, nic, picoseconds, switches, Fitted};
use crate::trials::Trial;
use lightloom_engine::run::Fault;
use lightloom_engine::{Cluster, Command, Element, Rate, Time};
use proptest::prelude::*;
use serde_json::{json, Value};

/// `kind = "sirius"`.
pub const TRIAL: Trial = Trial {
    kind: "sirius",
    tables: || tables().boxed(),
    out_of_range,
};

/// Values that its keys may not have.
pub fn out_of_range() -> Vec<(&'static str, Value, &'static str)> {
    let same = |key: &'static str, value| (key, value, key);
    vec![
        same("queue", json!(1)),
        same("queue", json!(65)),
        same("uplinks", json!(0)),
        same("uplinks", json!(1_000_000)),
        same("grating_ports", json!(0)),
        same("grating_ports", json!(1_000_003)),
        same("cell", json!("0 B")),
        same("cell", json!("1 GB")),
        same("channel_rate", json!("0 b/s")),
        same("slot", json!("0 ps")),
        same("slot", json!("2 ms")),
        ("guardband", json!("500 us"), "slot"),
        same("epoch_slots", json!(0.5)),
        same("epoch_slots", json!(1e9)),
        same("propagation", json!("2 ms")),
        same("ideal_window", json!(0)),
        same("ideal_window", json!(256)),
        same("detection_epochs", json!(0)),
        same("detection_epochs", json!(256)),
    ]
}

/// Valid combinations of racks, ports of a base grating, uplinks and plan.
fn wirings() -> impl Strategy<Value = (u32, Option<u32>, u32, &'static str)> {
    let rotor = (2u32..25, 1u32..9).prop_map(|(n, u)| (n, None, u.min(n), "rotor"));
    // Large enough that threads share the work.
    let large = (97u32..130, 1u32..9).prop_map(|(n, u)| (n, None, u, "rotor"));
    let groups = || (1u32..5, 1u32..7).prop_filter("two nodes or more", |(g, p)| g * p > 1);
    let wide = (groups(), 1u32..9)
        .prop_map(|((g, p), u)| (g * p, Some(p), u.min(g * p).min(2 * g), "wide"));
    let mixed = (groups(), 0u32..3, any::<prop::sample::Index>()).prop_map(|((g, p), banks, k)| {
        let rests: Vec<u32> = (0..g).filter(|&r| r == 0 || g.is_multiple_of(r)).collect();
        let uplinks = g * banks + rests[k.index(rests.len())];
        (g * p, Some(p), uplinks.clamp(1, g * p), "mixed")
    });
    let large_gratings = (4u32..9).prop_map(|g| (g * 16, Some(16), g, "mixed"));
    prop_oneof![8 => rotor, 1 => large, 8 => wide, 8 => mixed, 1 => large_gratings]
}

/// Tables that it must accept.
pub fn tables() -> impl Strategy<Value = Fitted> {
    // Time to send and guardband [ps].
    let timing = (20_000i64..150_000, prop_oneof![Just(0), 1i64..40_000]);
    let protocol = (
        prop::sample::select(vec![2, 3, 4, 5, 8, 9, 16, 17, 64]),
        1u32..4,
    );
    let propagation = prop_oneof![
        2 => Just(0i64), 1 => Just(1), 2 => 1i64..400_000, 1 => 1_000_000i64..2_500_000,
    ];
    let servers = (1u32..5, 1u32..5, 20u64..101, nic());
    (
        wirings(),
        servers,
        timing,
        protocol,
        propagation,
        prop::option::of(3u64..=10),
        switches("sirius", &["uplink_plan"]),
        failures(),
    )
        .prop_map(
            |(
                (racks, ports, uplinks, plan),
                (servers, base, gbps, nic),
                (send, guardband),
                (queue, window),
                propagation,
                tenths,
                mut switches,
                failures,
            )| {
                // Rates exist only for the protocol.
                let rates = switches.get("detail") == Some(&json!("flows"));
                if rates {
                    switches.remove("mode");
                }
                let ideal = switches.get("mode") == Some(&json!("ideal"));
                let cluster = Cluster {
                    racks,
                    servers_per_rack: servers,
                    server_rate: Rate(base as u64 * gbps * Rate::GBPS.0 / servers as u64),
                    nic,
                };
                let fits = Rate(gbps * Rate::GBPS.0).bytes_in(Time(send));
                let table = json!({
                    "uplink_plan": plan, "grating_ports": ports, "uplinks": uplinks,
                    "channel_rate": format!("{gbps} Gb/s"),
                    "slot": picoseconds(send + guardband), "guardband": picoseconds(guardband),
                    "cell": tenths.map(|k| format!("{} B", fits * k / 10)),
                    "queue": queue, "ideal_window": window,
                    "propagation": picoseconds(propagation),
                });
                if racks == 2 {
                    // Two nodes have no possible intermediate.
                    switches.remove("intermediates");
                }
                if plan != "rotor" {
                    // A schedule over gratings cannot omit a node.
                    switches.remove("recovery");
                }
                let mut table = merged(table, switches);
                without_idle_keys(&mut table, ideal, rates);
                // Rates have no failures.
                let failures = if rates { Vec::new() } else { failures };
                Fitted {
                    cluster,
                    table,
                    faults: faults(&failures, racks, uplinks, plan != "rotor"),
                    delivers: true,
                }
            },
        )
}

/// Sirius without a protocol refuses the keys of the protocol, and with it those of the ideal mode;
/// with `detail = "flows"` it refuses those of failures.
fn without_idle_keys(table: &mut Value, ideal: bool, rates: bool) {
    let idle: &[&str] = match (ideal, rates) {
        (true, _) => &["queue", "grant_rule", "recovery"],
        (false, true) => &["ideal_window", "recovery", "discipline"],
        (false, false) => &["ideal_window"],
    };
    let table = table.as_object_mut().expect("a table");
    table.retain(|key, _| !idle.contains(&key.as_str()));
}

/// A part that fails.
#[derive(Clone, Copy, Debug)]
enum Part {
    Node,
    Transceiver(u32),
    FirstGrating,
}

/// The failure of a part, complete or with a probability of loss, and its repair, if any.
#[derive(Clone, Copy, Debug)]
struct Failure {
    node: u32,
    part: Part,
    loss: f64,
    at: Time,
    repaired_after: Option<Time>,
}

fn failures() -> impl Strategy<Value = Vec<Failure>> {
    let part = prop_oneof![
        2 => Just(Part::Node),
        3 => any::<u32>().prop_map(Part::Transceiver),
        1 => Just(Part::FirstGrating),
    ];
    let loss = prop_oneof![Just(1.0), 0.01f64..0.5];
    let span = || (0i64..20_000_000).prop_map(Time);
    let failure = (any::<u32>(), part, loss, span(), prop::option::of(span())).prop_map(
        |(node, part, loss, at, repaired_after)| Failure {
            node,
            part,
            loss,
            at,
            repaired_after,
        },
    );
    prop_oneof![Just(Vec::new()), prop::collection::vec(failure, 1..3)]
}

/// The faults of `nodes` nodes with `uplinks` uplinks each.
fn faults(failures: &[Failure], nodes: u32, uplinks: u32, has_gratings: bool) -> Vec<Fault> {
    let mut faults = Vec::new();
    for f in failures {
        let node = f.node % nodes;
        let element = match f.part {
            Part::Node => Element::Node(node),
            Part::Transceiver(u) => Element::Transceiver {
                node,
                uplink: u % uplinks,
            },
            Part::FirstGrating if has_gratings => Element::Grating(0),
            Part::FirstGrating => continue,
        };
        let (at, loss) = (f.at, f.loss);
        let fail = Command::Fail { element, loss };
        faults.push(Fault { at, command: fail });
        faults.extend(f.repaired_after.map(|after| Fault {
            at: at + after,
            command: Command::Repair(element),
        }));
    }
    faults.sort_by_key(|f| f.at);
    faults
}
