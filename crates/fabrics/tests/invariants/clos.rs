//! Tables of the Clos.

use crate::switches::{failures, faults, Parts};
use crate::tables::{merged, nic, picoseconds, switches, Fitted};
use crate::trials::Trial;
use lightloom_engine::{Cluster, Rate};
use proptest::prelude::*;
use serde_json::{json, Value};

/// `kind = "clos"`.
pub const TRIAL: Trial = Trial {
    kind: "clos",
    tables: || tables().boxed(),
    out_of_range,
};

/// Values that its keys may not have.
pub fn out_of_range() -> Vec<(&'static str, Value, &'static str)> {
    let same = |key: &'static str, value| (key, value, key);
    vec![
        same("oversubscription", json!(0.5)),
        same("oversubscription", json!(1001.0)),
        same("racks_per_pod", json!(0)),
        same("tiers", json!(1)),
        same("racks_per_pod", json!(1_000_003)),
        same("mtu", json!("63 B")),
        same("mtu", json!("70 KB")),
        same("header", json!("70 KB")),
        same("propagation", json!("200 ms")),
        same("switch_latency", json!("200 ms")),
        same("flow_buffer", json!(0)),
        same("flow_buffer", json!(2_000_000)),
        same("link_rate", json!("0 b/s")),
        same("link_rate", json!("1 b/s")),
        same("aggregation_switches", json!(0)),
        same("core_switches", json!(1_000_000)),
    ]
}

/// Tables that it must accept.
pub fn tables() -> impl Strategy<Value = Fitted> {
    let pods = (1u32..7, 1u32..5).prop_filter("two racks or more", |(p, r)| p * r > 1);
    let servers = (1u32..5, 1u64..30);
    let shape = (prop::sample::select(vec![1.0, 1.7, 3.0]), 1u64..60);
    let packets = (
        prop::sample::select(vec![64u64, 300, 1_500, 9_000]),
        prop::sample::select(vec![0u64, 78]),
        prop::option::of(1u32..12),
    );
    let delays = (
        prop::sample::select(vec![0i64, 1, 350_000, 1_000_000]),
        prop::sample::select(vec![0i64, 40_000]),
    );
    let rest = (switches("clos", &[]), failures());
    (pods, servers, nic(), shape, packets, delays, rest).prop_map(
        |((pods, pod), (servers, gbps), nic, (ratio, link), (mtu, header, buffer), (fly, switch), (words, failures))| {
            let cluster = Cluster {
                racks: pods * pod,
                servers_per_rack: servers,
                server_rate: Rate(gbps * Rate::GBPS.0 + 7),
                nic,
            };
            // A single pod has no core whose capacity could be reduced.
            let at_rack = words.get("oversubscription_at") == Some(&json!("rack"));
            let ratio = if pods == 1 && !at_rack { 1.0 } else { ratio };
            let table = json!({
                "racks_per_pod": pod, "oversubscription": ratio, "link_rate": format!("{link} Gb/s"),
                "mtu": format!("{mtu} B"), "header": format!("{header} B"), "flow_buffer": buffer,
                "propagation": picoseconds(fly), "switch_latency": picoseconds(switch),
            });
            // With one switch per tier, its failure stops all traffic, for any number of uplinks.
            let one = Parts { racks: cluster.racks, uplinks: 1, aggregation: pods, core: 1 };
            let mut table = merged(table, words);
            table["aggregation_switches"] = json!(1);
            // A single pod has no core, and the number of core switches is refused.
            if pods > 1 {
                table["core_switches"] = json!(1);
            }
            Fitted { cluster, table, faults: faults(&failures, one), delivers: true }
        },
    )
}
