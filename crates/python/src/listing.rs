//! The lists of fabrics, policies and workloads, as JSON.

use crate::control::switch::Switch;
use lightloom_control::order::Order;
use lightloom_control::policies::REGISTRY as POLICIES;
use lightloom_fabrics::{Entry, REGISTRY};
use pyo3::prelude::*;
use serde_json::{json, Value};

/// Returns every fabric.
#[pyfunction]
pub fn registry() -> String {
    Value::from_iter(REGISTRY.iter().map(describe)).to_string()
}

fn describe(entry: &Entry) -> Value {
    let presets = entry.presets.iter().map(|p| {
        let table: Value = serde_json::from_str(p.table).expect("presets are tables");
        json!({ "name": p.name, "summary": p.summary, "table": table })
    });
    json!({
        "kind": entry.kind,
        "title": entry.title,
        "name": entry.name,
        "drops": entry.drops,
        "in_turn": entry.in_turn,
        "no_circuits": entry.no_circuits,
        "bounds": entry.bounds,
        "testbed": entry.testbed,
        "source": entry.source,
        "summary": entry.summary,
        "presets": Value::from_iter(presets),
        "schema": (entry.schema)(),
    })
}

/// Returns every policy: its table, the properties of the switch that `lightloom plan` needs for
/// it, whether it matches racks, the form of its decisions, and whether it obeys rules itself.
#[pyfunction]
pub fn policies() -> String {
    let described = POLICIES.iter().map(|entry| {
        json!({
            "kind": entry.kind,
            "aliases": entry.aliases,
            "source": entry.source,
            "summary": entry.summary,
            "schema": (entry.schema)(),
            "switch": Switch::schema(&entry.usual),
            "matches": entry.usual.matches,
            "decides": entry.decides,
            "obeys_rules": entry.obeys_rules,
        })
    });
    Value::from_iter(described).to_string()
}

/// Returns the names of the orders in which a change can be applied.
#[pyfunction]
pub fn orders() -> Vec<&'static str> {
    Order::NAMES.to_vec()
}

/// Returns the published flow-size distributions.
#[pyfunction]
pub fn workloads() -> String {
    lightloom_workload::sizes::registry::describe().to_string()
}
