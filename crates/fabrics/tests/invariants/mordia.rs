//! Tables of Mordia: slots of microseconds, every policy that makes schedules, random nights and
//! synchronisation frames, with or without a packet switch.

use crate::scenario::scenarios;
use crate::tables::{merged, nic, picoseconds, Fitted};
use crate::trials::Trial;
use crate::watch::Run;
use lightloom_engine::run::Fault;
use lightloom_engine::{Cluster, Command, Element, Rate, Time};
use lightloom_fabrics::find;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{json, Map, Value};

/// `kind = "mordia"`.
pub const TRIAL: Trial = Trial {
    kind: "mordia",
    tables: || tables().boxed(),
    out_of_range,
};

/// Values that its keys may not have.
pub fn out_of_range() -> Vec<(&'static str, Value, &'static str)> {
    let same = |key: &'static str, value| (key, value, key);
    vec![
        same("policy", json!("no-such-policy")),
        (
            "policy",
            json!({"kind": "rotation", "dya": "1 us"}),
            "policy.dya",
        ),
        (
            "policy",
            json!({"kind": "rotation", "night": "1 s", "period": "1 s"}),
            "policy.period",
        ),
        same("link_rate", json!("0 b/s")),
        same("link_rate", json!("2000 Tb/s")),
        same("stack_rate", json!("0 b/s")),
        same("stack_rate", json!("900 Tb/s")),
        same("packet_rate", json!("0 b/s")),
        same("packet_rate", json!("900 Tb/s")),
        same("wavelengths", json!(1)),
        same("wavelengths", json!(5_000)),
        same("rings", json!(0)),
        same("rings", json!(5_000)),
        same("night", json!("62 us")),
        same("night", json!("4000 s")),
        same("night_deviation", json!("4000 s")),
        same("slot", json!("1 ps")),
        ("shortest_slot", json!("107 us"), "slot"),
        ("interval", json!("0 ps"), "interval"),
        same("interval", json!("4000 s")),
        same("computation_delay", json!("4000 s")),
        same("smoothing", json!(0.0)),
        same("smoothing", json!(1.5)),
        same("nic_delay", json!("4000 s")),
        same("nic_delay", json!("94 us")),
        same("sync_jitter", json!("4000 s")),
        same("late_sync_fraction", json!(-0.1)),
        same("late_sync_fraction", json!(1.1)),
        same("packet", json!("0 B")),
        same("packet", json!("70 KB")),
        same("retransmit_after", json!("4000 s")),
        same("propagation", json!("4000 s")),
    ]
}

/// Microseconds, as users write them.
fn us(from: i64, to: i64) -> impl Strategy<Value = i64> {
    from * 1_000_000..to * 1_000_000
}

/// A policy, and whether every pair has its turn repeatedly.
fn policies() -> impl Strategy<Value = (Value, bool)> {
    let scaling = prop::sample::select(vec!["sinkhorn", "quickstuff"]);
    prop_oneof![
        2 => Just((json!("rotation"), true)),
        1 => scaling.prop_map(|s| (json!({"kind": "mordia", "scaling": s}), false)),
        1 => prop::sample::select(vec!["solstice", "eclipse", "tms"])
            .prop_map(|kind| (json!(kind), false)),
    ]
}

/// The controller fails, and may be repaired.
fn failures() -> impl Strategy<Value = Vec<Fault>> {
    let failure = (0i64..200_000_000, prop::option::of(0i64..80_000_000));
    prop::option::weighted(0.3, failure).prop_map(|failure| {
        let (element, loss) = (Element::Controller, 1.0);
        let Some((at, after)) = failure else {
            return Vec::new();
        };
        let fault = |at, command| Fault {
            at: Time(at),
            command,
        };
        let fails = fault(at, Command::Fail { element, loss });
        let repair = after.map(|after| fault(at + after, Command::Repair(element)));
        std::iter::once(fails).chain(repair).collect()
    })
}

/// Any clusters, schedules, nights, frames and failures.
pub fn tables() -> impl Strategy<Value = Fitted> {
    let cluster = (2u32..9, 1u32..5, 10u64..40, nic());
    let rates = (
        prop::option::of(10u64..60),
        prop::option::of(5u64..10),
        prop::option::of(1u64..5),
    );
    let slots = (us(0, 2), us(6, 20), us(0, 3), prop::option::of(us(20, 90)));
    let punctuality = (
        0.0..0.3f64,
        0i64..300_000,
        prop_oneof![2 => Just(0.0), 1 => 0.0..0.3f64],
        prop_oneof![Just(0), us(0, 2)],
    );
    let rest = (
        prop::sample::select(vec![64u64, 300, 1_500]),
        prop_oneof![Just(0), us(0, 9)],
        prop_oneof![Just(0i64), 0i64..500_000],
        us(0, 4),
        prop_oneof![2 => Just(1.0), 1 => Just(0.3)],
    );
    (
        cluster,
        policies(),
        rates,
        slots,
        prop::option::of(punctuality),
        rest,
        failures(),
    )
        .prop_map(
            |(
                (racks, servers_per_rack, gbps, nic),
                (policy, joins_all),
                (link, stack, packets),
                (night, slot, shortest, interval),
                punctuality,
                (packet, again, fly, delay, smoothing),
                faults,
            )| {
                let gbps_of = |rate: Option<u64>| rate.map(|rate| format!("{rate} Gb/s"));
                let (deviation, jitter, late, nic_delay) = punctuality.unwrap_or_default();
                let silent = night + nic_delay;
                // A packet of the slowest stack fits into the shortest slot.
                let sends = (packet as i64 * 1_600 + 1).max(1 + shortest);
                let table = json!({
                    "policy": policy, "link_rate": gbps_of(link), "stack_rate": gbps_of(stack),
                    "packet_rate": gbps_of(packets),
                    "night": picoseconds(night), "slot": picoseconds(slot),
                    "shortest_slot": picoseconds(silent + sends.min(slot - silent)),
                    "interval": interval.map(|ps| picoseconds(ps + 40_000_000)),
                    "night_deviation": picoseconds((night as f64 * deviation) as i64),
                    "sync_jitter": picoseconds(jitter), "late_sync_fraction": late,
                    "nic_delay": picoseconds(nic_delay), "packet": format!("{packet} B"),
                    "retransmit_after": picoseconds(again), "propagation": picoseconds(fly),
                    "computation_delay": picoseconds(delay), "smoothing": smoothing,
                });
                Fitted {
                    cluster: Cluster {
                        racks,
                        servers_per_rack,
                        server_rate: Rate(gbps * Rate::GBPS.0 + 7),
                        nic,
                    },
                    table: merged(table, Map::new()),
                    faults,
                    delivers: joins_all,
                }
            },
        )
}

/// Checks that losses and decisions occur; otherwise the invariants would be tested on a network
/// that is never late, or never lit.
#[test]
fn losses_and_decisions_are_tried() {
    let entry = find("mordia").expect("registered");
    let (strategy, mut runner) = (scenarios("mordia"), TestRunner::deterministic());
    let (mut lossy, mut crossed) = (0, 0);
    for _ in 0..100 {
        let tree = strategy.new_tree(&mut runner).expect("a scenario");
        let mut run = Run::new(entry, &tree.current(), 1);
        run.advance(Time::MS);
        lossy += usize::from(run.io.ledger.losses > 0);
        crossed += usize::from(run.fabric.totals().circuit_bytes > Some(0));
    }
    assert!(
        crossed >= 70 && lossy >= 15,
        "{crossed} crossed, {lossy} lost"
    );
}
