//! Shared parts of the strategies of fabrics' tables.

use lightloom_engine::run::Fault;
use lightloom_engine::{Cluster, Nic, Rate};
use lightloom_fabrics::find;
use proptest::prelude::*;
use serde_json::{json, Map, Value};

/// A table, and a cluster that it fits.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The servers.
    pub cluster: Cluster,
    /// The fabric's table.
    pub table: Value,
    /// Faults of parts that it has.
    pub faults: Vec<Fault>,
    /// Whether all flows finish if all parts work in the end: false if flows may wait for a circuit
    /// that is never set.
    pub delivers: bool,
}

/// Any setting of every switch (a key whose values are words) of a fabric, from its schema, so that
/// a new switch is tested without a change here.
pub fn switches(kind: &str, except: &[&str]) -> BoxedStrategy<Map<String, Value>> {
    let schema = (find(kind).expect("a registered fabric").schema)();
    let mut all = Just(Map::new()).boxed();
    let properties = schema["properties"].as_object().expect("a table");
    for key in properties.keys().filter(|k| !except.contains(&k.as_str())) {
        let Some(words) = words(&schema, key) else {
            continue;
        };
        let (key, word) = (key.clone(), prop::sample::select(words));
        all = (all, prop::option::of(word))
            .prop_map(move |(mut all, word)| {
                all.extend(word.map(|w| (key.clone(), w)));
                all
            })
            .boxed();
    }
    all
}

/// The words that a key may have as its value, if it is a switch.
pub fn words(schema: &Value, key: &str) -> Option<Vec<Value>> {
    let reference = schema["properties"][key]["$ref"].as_str()?;
    let variants = schema.pointer(reference.strip_prefix('#')?)?["oneOf"].as_array()?;
    variants.iter().map(|v| v.get("const").cloned()).collect()
}

/// Keys that are set, and switches.
pub fn merged(keys: Value, switches: Map<String, Value>) -> Value {
    let Value::Object(mut table) = keys else {
        unreachable!("a table")
    };
    table.retain(|_, v| !v.is_null());
    table.extend(switches);
    Value::Object(table)
}

/// A duration as users write it.
pub fn picoseconds(ps: i64) -> Value {
    json!(format!("{ps} ps"))
}

/// Links between servers and rack switches: as fast as the rack, or slower.
pub fn nic() -> impl Strategy<Value = Nic> {
    let capped = (1u64..40).prop_map(|gbps| Nic::Capped(Rate(gbps * Rate::GBPS.0)));
    prop_oneof![Just(Nic::Uncapped), capped]
}
