//! Tables of RotorNet: few racks and switches, slots of microseconds, with or without relays.

use crate::scenario::scenarios;
use crate::switches::{rotor_faults, rotors};
use crate::tables::{merged, nic, picoseconds, switches, Fitted};
use crate::trials::Trial;
use crate::watch::Run;
use lightloom_engine::{Cluster, Rate, Time};
use lightloom_fabrics::find;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{json, Value};

/// `kind = "rotornet"`.
pub const TRIAL: Trial = Trial {
    kind: "rotornet",
    tables: || tables().boxed(),
    out_of_range,
};

/// Values that its keys may not have.
pub fn out_of_range() -> Vec<(&'static str, Value, &'static str)> {
    let same = |key: &'static str, value| (key, value, key);
    vec![
        same("switches", json!(0)),
        same("switches", json!(4_096)),
        same("link_rate", json!("0 b/s")),
        same("link_rate", json!("2000 Tb/s")),
        same("night", json!("4000 s")),
        ("night", json!("250 us"), "slot"),
        same("slot", json!("0 ps")),
        same("slot", json!("4000 s")),
        same("indirect", json!("vlb")),
        same("rotorlb", json!("per-server")),
        same("packet", json!("0 B")),
        same("packet", json!("70 KB")),
        same("propagation", json!("4000 s")),
    ]
}

/// Any clusters, switches, slots, and switches that die.
pub fn tables() -> impl Strategy<Value = Fitted> {
    let cluster = (2u32..9, 1u32..5, 10u64..40, nic());
    let shape = (prop::option::of(1u32..8), prop::option::of(5u64..60));
    let times = (0i64..2_000_000, 3_000_000i64..20_000_000, 0.0..1.0f64);
    let packet = prop::sample::select(vec![64u64, 300, 1_500]);
    let words = (
        switches("rotornet", &["rotorlb"]),
        rotors(),
        prop::bool::ANY,
    );
    (cluster, shape, times, packet, words).prop_map(
        |((racks, servers, gbps, nic), (uplinks, link), (night, day, fly), packet, words)| {
            let (words, dead, by_hosts) = words;
            let uplinks = uplinks.map(|k| k.min(racks - 1));
            let cluster = Cluster {
                racks,
                servers_per_rack: servers,
                server_rate: Rate(gbps * Rate::GBPS.0 + 7),
                nic,
            };
            // No day is shorter than a packet, or than one for each pair of hosts.
            let fewest = if by_hosts { servers * servers } else { 1 };
            let share = cluster.rack_rate().0 / u64::from(uplinks.unwrap_or(1));
            let rate = link.map_or(Rate(share), |gbps| Rate(gbps * Rate::GBPS.0));
            let day = day.max(rate.time_for(packet * u64::from(fewest)).0);
            let mut table = json!({
                "switches": uplinks, "link_rate": link.map(|rate| format!("{rate} Gb/s")),
                "night": picoseconds(night), "slot": picoseconds(night + day),
                "packet": format!("{packet} B"),
                "propagation": picoseconds((night as f64 * fly) as i64),
            });
            // A key may exclude relaying.
            if by_hosts && !words.iter().any(|(_, word)| *word == json!("none")) {
                table["rotorlb"] = json!("per-host");
            }
            Fitted {
                cluster,
                table: merged(table, words),
                faults: rotor_faults(&dead, uplinks.unwrap_or(1)),
                delivers: true,
            }
        },
    )
}

/// Checks that relays are used; otherwise the invariants would be tested on a network without
/// relays.
#[test]
fn relays_are_tried() {
    let entry = find("rotornet").expect("registered");
    let (strategy, mut runner) = (scenarios("rotornet"), TestRunner::deterministic());
    let (mut relayed, mut crossed) = (0, 0);
    for _ in 0..100 {
        let tree = strategy.new_tree(&mut runner).expect("a scenario");
        let mut run = Run::new(entry, &tree.current(), 1);
        run.advance(Time::MS);
        let totals = run.fabric.totals();
        relayed += usize::from(totals.queue_peak_bytes > Some(0));
        crossed += usize::from(totals.circuit_bytes > Some(0));
    }
    assert!(
        crossed >= 70 && relayed >= 25,
        "{crossed} crossed, {relayed} relayed"
    );
}
