//! Tables of Opera: few racks and switches, slices of microseconds, and all, some or no traffic of
//! low latency.

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

/// `kind = "opera"`.
pub const TRIAL: Trial = Trial {
    kind: "opera",
    tables: || tables().boxed(),
    out_of_range,
};

/// Values that its keys may not have.
pub fn out_of_range() -> Vec<(&'static str, Value, &'static str)> {
    let same = |key: &'static str, value| (key, value, key);
    vec![
        same("switches", json!(1)),
        same("switches", json!(4_096)),
        same("link_rate", json!("0 b/s")),
        same("link_rate", json!("2000 Tb/s")),
        same("night", json!("4000 s")),
        ("night", json!("250 us"), "slice"),
        same("slice", json!("0 ps")),
        same("slice", json!("4000 s")),
        same("indirect", json!("vlb")),
        same("rotorlb", json!("per-server")),
        same("matchings_seed", json!(1u64 << 60)),
        same("packet", json!("0 B")),
        same("packet", json!("70 KB")),
        same("propagation", json!("11 us")),
    ]
}

/// Any clusters, switches, slices, and switches that die.
pub fn tables() -> impl Strategy<Value = Fitted> {
    let cluster = (3u32..12, 1u32..5, 10u64..40, nic());
    let shape = (
        prop::option::of(2u32..8),
        prop::option::of(5u64..60),
        0u64..99,
    );
    let times = (0i64..1_000_000, 500_000i64..4_000_000, 0.0..1.0f64);
    let packet = prop::sample::select(vec![64u64, 300, 1_500]);
    let below = prop::sample::select(vec![0u64, 2_000, 20_000, 15_000_000]);
    let words = (switches("opera", &["rotorlb"]), rotors(), prop::bool::ANY);
    (cluster, shape, times, packet, below, words).prop_map(
        |(cluster, (uplinks, link, seed), (night, rest, fly), packet, below, words)| {
            let (racks, servers, gbps, nic) = cluster;
            let (words, dead, by_hosts) = words;
            let uplinks = uplinks.map(|k| k.min(racks - 1));
            let cluster = Cluster {
                racks,
                servers_per_rack: servers,
                server_rate: Rate(gbps * Rate::GBPS.0 + 7),
                nic,
            };
            // No slice is shorter than a packet, or than one for each pair of hosts.
            let fewest = if by_hosts { servers * servers } else { 1 };
            let most = u64::from(uplinks.unwrap_or(6.min(racks - 1)));
            let share = cluster.rack_rate().0 / most;
            let rate = link.map_or(Rate(share), |gbps| Rate(gbps * Rate::GBPS.0));
            let rest = rest.max(rate.time_for(packet * u64::from(fewest)).0);
            let mut table = json!({
                "switches": uplinks, "link_rate": link.map(|rate| format!("{rate} Gb/s")),
                "night": picoseconds(night), "slice": picoseconds(night + rest),
                "packet": format!("{packet} B"), "matchings_seed": seed,
                "low_latency": format!("{below} B"),
                "propagation": picoseconds((night as f64 * fly) as i64),
            });
            // A key may exclude relaying.
            if by_hosts && !words.iter().any(|(_, word)| *word == json!("none")) {
                table["rotorlb"] = json!("per-host");
            }
            Fitted {
                cluster,
                table: merged(table, words),
                faults: rotor_faults(&dead, most as u32),
                delivers: true,
            }
        },
    )
}

/// Ensures that the invariants are tested on the mechanisms of Opera.
#[test]
fn packets_cross_several_circuits_and_relays() {
    let entry = find("opera").expect("registered");
    let (strategy, mut runner) = (scenarios("opera"), TestRunner::deterministic());
    let (mut twice, mut relayed, mut crossed) = (0, 0, 0);
    for _ in 0..100 {
        let tree = strategy.new_tree(&mut runner).expect("a scenario");
        let scenario = tree.current();
        let mut run = Run::new(entry, &scenario, 1);
        run.advance(Time::MS);
        run.fabric.settle(&mut run.io);
        let far = run.io.flows.hops.iter().any(|&hops| hops > 1.0);
        let bulk = scenario.table["low_latency"] == "0 B";
        twice += usize::from(far && !bulk);
        relayed += usize::from(far && bulk);
        crossed += usize::from(run.fabric.totals().circuit_bytes > Some(0));
    }
    assert!(
        crossed >= 70 && twice >= 30 && relayed >= 5,
        "{crossed} crossed, {twice} over several, {relayed} relayed"
    );
}
