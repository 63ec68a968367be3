//! The physics of an experiment, with which the tables of fabrics are combined.

use crate::scenario::Scenario;
use lightloom_engine::{Bytes, Time};
use lightloom_fabrics::{Entry, Physics};
use proptest::prelude::*;
use serde_json::Value;

/// Some terms, small enough for the tables of these tests, whose nights are a few microseconds.
pub fn physics() -> impl Strategy<Value = Physics> {
    let time = || prop::option::of((0i64..900_000).prop_map(Time));
    let bytes = || prop::option::of((0u64..60).prop_map(Bytes));
    (time(), time(), time(), bytes(), bytes()).prop_map(
        |(propagation, switch_latency, fec_latency, header, gap)| Physics {
            propagation,
            switch_latency,
            fec_latency,
            header,
            gap,
            oversubscription: None,
            discipline: None,
            nic: None,
        },
    )
}

/// The scenario with the keys by which the fabric follows the physics; unchanged if the fabric
/// refuses them, for example because its nights are shorter than the propagation delay.
pub fn obeying(entry: &Entry, mut scenario: Scenario, physics: &Physics) -> Option<Scenario> {
    let cluster = scenario.cluster;
    let obeyed = (entry.obey)(&scenario.table, physics, &cluster).expect("a valid table");
    let Value::Object(table) = &mut scenario.table else {
        unreachable!("a table")
    };
    for obeying in obeyed.keys {
        table.entry(obeying.key.to_owned()).or_insert(obeying.value);
    }
    let resolved = (entry.resolve)(&scenario.table, &cluster);
    resolved.is_ok().then_some(scenario)
}
