//! Tables of policies for the switches of these tests.

use crate::anything::{self, ANYTHING};
use lightloom_control::hardware::Hardware;
use lightloom_engine::Rate;
use proptest::prelude::*;
use serde_json::{json, Value};

/// A switch, and a table that fits it.
pub fn tables(kind: &'static str) -> BoxedStrategy<(Hardware, Value)> {
    let switch = |racks, planes| Hardware::new(racks, planes, Rate(8 * Rate::GBPS.0));
    let one_plane = (2u32..8).prop_map(move |racks| switch(racks, 1));
    let night = (0u32..400).prop_map(|us| format!("{us} us"));
    match kind {
        "cthrough" => {
            let unrequested = prop::sample::select(vec!["rotate", "keep", "alone"]);
            (
                one_plane,
                unrequested,
                prop_oneof![Just(0u32), 0..900_000u32],
            )
                .prop_map(|(switch, unrequested, bytes)| {
                    let hysteresis = format!("{bytes} B");
                    (
                        switch,
                        json!({ "unrequested": unrequested, "hysteresis": hysteresis }),
                    )
                })
                .boxed()
        }
        "hydra" => hydra(),
        "assignment" => one_plane.prop_map(|switch| (switch, json!({}))).boxed(),
        "mordia" => {
            let scaling = prop::sample::select(vec!["sinkhorn", "quickstuff"]);
            (one_plane, night, scaling, 1u32..40)
                .prop_map(|(switch, night, scaling, max_slots)| {
                    let table = json!({"night": night, "scaling": scaling, "max_slots": max_slots});
                    (switch, table)
                })
                .boxed()
        }
        "solstice" => (one_plane, night, 0u32..8)
            .prop_map(|(switch, night, gbps)| {
                let rate = format!("{gbps} Gb/s");
                (switch, json!({ "night": night, "packet_rate": rate }))
            })
            .boxed(),
        "eclipse" => (one_plane, night, 1u32..9)
            .prop_map(|(switch, night, max_slots)| {
                (switch, json!({ "night": night, "max_slots": max_slots }))
            })
            .boxed(),
        "rotation" => (one_plane, night, prop::option::of(1u32..400))
            .prop_map(|(switch, night, us)| {
                let mut table = json!({ "night": night });
                if let Some(us) = us {
                    table["day"] = json!(format!("{us} us"));
                }
                (switch, table)
            })
            .boxed(),
        "fixed" => prop_oneof![2 => fixed(), 1 => planned()].boxed(),
        ANYTHING => anything::tables(),
        other => panic!("say here what tables of \"{other}\" may hold"),
    }
}

fn hydra() -> BoxedStrategy<(Hardware, Value)> {
    let switch = (2u32..8, 1u32..4, 1u32..3);
    let words = (
        prop::sample::select(vec!["rate", "circuit"]),
        prop::sample::select(vec!["partial", "whole"]),
        any::<bool>(),
        any::<bool>(),
    );
    let numbers = (1u32..5, prop_oneof![Just(4094u32), 1..4u32], 0u32..300_000);
    (switch, words, numbers)
        .prop_map(|((racks, planes, ports), words, (hops, vlans, bytes))| {
            let (need, reconfigure, stop_at_ports, split) = words;
            let table = json!({
                "hops": hops, "vlans": vlans, "threshold": format!("{bytes} B"), "need": need,
                "reconfigure": reconfigure, "stop_at_ports": stop_at_ports, "split": split,
            });
            let switch = Hardware::new(racks, planes, Rate(8 * Rate::GBPS.0));
            (Hardware { ports, ..switch }, table)
        })
        .boxed()
}

/// Connects racks in a random order in pairs; if directed, in a ring.
fn fixed() -> BoxedStrategy<(Hardware, Value)> {
    let orders = (2u32..8, 1u32..4).prop_flat_map(|(racks, planes)| {
        let order = Just((0..racks).collect::<Vec<u32>>()).prop_shuffle();
        let on_planes = prop::collection::vec(order, planes as usize);
        (Just(racks), on_planes, any::<bool>())
    });
    orders
        .prop_map(|(racks, orders, directed)| {
            let mut circuits = Vec::new();
            for (plane, order) in (0u32..).zip(&orders) {
                let step = if directed { 1 } else { 2 };
                let pairs = order.windows(2).step_by(step);
                circuits.extend(pairs.map(|p| vec![p[0], p[1], plane]));
            }
            let table = json!({ "circuits": circuits, "directed": directed });
            (
                Hardware::new(racks, orders.len() as u32, Rate(8 * Rate::GBPS.0)),
                table,
            )
        })
        .boxed()
}

/// Slots with racks in random orders.
fn planned() -> BoxedStrategy<(Hardware, Value)> {
    let slots = (2u32..8).prop_flat_map(|racks| {
        let order = Just((0..racks).collect::<Vec<u32>>()).prop_shuffle();
        let slot = (order, 1u32..400_000_000)
            .prop_map(|(order, day)| json!({"permutation": order, "day_ps": day}));
        (Just(racks), prop::collection::vec(slot, 1..6))
    });
    (slots, 0u32..400_000_000)
        .prop_map(|((racks, slots), night)| {
            let schedule = json!({"ports": racks, "night_ps": night, "slots": slots});
            let hardware = Hardware::new(racks, 1, Rate(8 * Rate::GBPS.0));
            (hardware, json!({ "schedule": schedule }))
        })
        .boxed()
}
