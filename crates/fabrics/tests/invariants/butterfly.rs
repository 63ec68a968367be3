//! Tables of the flattened butterfly: every shape, router and routing, down to
//! buffers of a single flit.

use crate::tables::{merged, nic, picoseconds, switches, Fitted};
use crate::trials::Trial;
use lightloom_engine::{Cluster, Rate};
use proptest::prelude::*;
use serde_json::{json, Value};

/// `kind = "flattened-butterfly"`.
pub const TRIAL: Trial = Trial {
    kind: "flattened-butterfly",
    tables: || tables().boxed(),
    out_of_range,
};

/// Values that its keys may not have.
pub fn out_of_range() -> Vec<(&'static str, Value, &'static str)> {
    let same = |key: &'static str, value| (key, value, key);
    vec![
        same("routers", json!([])),
        same("routers", json!([0])),
        same("routers", json!([1_009])),
        same("concentration", json!(0)),
        same("concentration", json!(1_000_003)),
        same("packet", json!("0 B")),
        same("packet", json!("70 KB")),
        same("header", json!("70 KB")),
        ("header", json!("60 KB"), "packet"),
        same("flit", json!("0 B")),
        same("flit", json!("70 KB")),
        ("flit", json!("60 KB"), "packet"),
        same("ugal_bias", json!("2 GB")),
        same("rate", json!("0 b/s")),
        same("rate", json!("2000 Tb/s")),
        same("vcs", json!(0)),
        same("vcs", json!(65)),
        same("vc_buffer", json!(0)),
        same("vc_buffer", json!(65_536)),
        same("speedup", json!(0)),
        same("speedup", json!(5)),
        same("output_buffer", json!(0)),
        same("output_buffer", json!(4_097)),
        same("input_speedup", json!(0)),
        same("input_speedup", json!(5)),
        same("allocator_iterations", json!(0)),
        same("allocator_iterations", json!(17)),
        same("router_latency", json!("2 ms")),
        same("credit_latency", json!("2 ms")),
        same("host_wire", json!("2000 km")),
        same("spacing", json!("2000 km")),
    ]
}

/// Concentration and routers by dimension, two hosts or more.
fn shapes() -> impl Strategy<Value = (u32, Vec<u32>)> {
    let sizes = prop_oneof![
        prop::collection::vec(1u32..6, 1..3),
        prop::collection::vec(1u32..4, 3..5),
    ];
    (1u32..6, sizes).prop_filter("two hosts or more", |(c, sizes)| {
        (2..=120).contains(&(c * sizes.iter().product::<u32>()))
    })
}

/// Any shape, router, packets and delays.
pub fn tables() -> impl Strategy<Value = Fitted> {
    let packets = (
        prop::sample::select(vec![64u64, 256, 1_500]),
        0u64..20,
        prop::sample::select(vec![4u64, 8, 16, 24, 64]),
    );
    let buffer = prop_oneof![1u32..4, 4u32..100];
    // Half of the routers have a queue at each output, of at least one flit.
    let speedup = (
        prop_oneof![Just(1u32), 2u32..5],
        prop_oneof![Just(None), (1u32..100).prop_map(Some)],
    );
    let router = (
        prop_oneof![1u32..10, Just(16)],
        buffer,
        speedup,
        1u32..5,
        1u32..4,
        prop::bool::weighted(0.3),
    );
    let delays = (
        prop::array::uniform2(prop_oneof![Just(0i64), 0i64..120_000]),
        prop::array::uniform2(prop_oneof![Just(0u64), 0u64..8_000]),
    );
    let words = switches("flattened-butterfly", &["flow_control"]);
    (shapes(), 1u64..40, nic(), packets, router, delays, words).prop_map(
        |((c, sizes), gbps, nic, (packet, header, flit), router, delays, words)| {
            let (vcs, buffer, (speedup, queue), input_speedup, rounds, whole) = router;
            let ([latency, credit], [host_wire, spacing]) = delays;
            let hosts = c * sizes.iter().product::<u32>();
            let flits = (packet + header).div_ceil(flit) as u32;
            let ugal = words.get("routing").is_some_and(|w| w == "ugal");
            let minimal = words.get("routing").is_none_or(|w| w == "dimension-order");
            let mut table = json!({
                "routers": sizes, "concentration": c,
                "packet": format!("{packet} B"), "header": format!("{header} B"),
                "flit": format!("{flit} B"), "ugal_bias": format!("{} B", if ugal { flit * 3 } else { 0 }),
                "vcs": if minimal { vcs } else { vcs + 1 },
                "vc_buffer": if whole { buffer + flits } else { buffer },
                "flow_control": if whole { "virtual-cut-through" } else { "wormhole" },
                "speedup": speedup,
                "input_speedup": input_speedup, "allocator_iterations": rounds,
                "router_latency": picoseconds(latency), "credit_latency": picoseconds(credit),
                "host_wire": format!("{host_wire} mm"), "spacing": format!("{spacing} mm"),
            });
            if let Some(flits) = queue.filter(|_| speedup > 1) {
                table["output_buffer"] = json!(flits);
            }
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
