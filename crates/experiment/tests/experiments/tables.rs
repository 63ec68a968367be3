//! Shared parts of the tests of devices: tables of experiments, and their results.

use lightloom_engine::run::Silent;
use lightloom_experiment::{Experiment, RunOutput};
use serde_json::{json, Map, Value};

/// A fabric for 16 racks of 200 Gb/s: with channels of 50 Gb/s, 4 base uplinks.
pub fn raw(fabric: Value) -> Value {
    json!({
        "cluster": {"racks": 16, "servers_per_rack": 4, "rack_rate": "200 Gb/s"},
        "workload": {"load": 0.4, "flows": 200, "sizes": {"kind": "fixed", "size": "20 KB"}},
        "fabric": [fabric],
    })
}

/// A table with the keys of another one.
pub fn with(base: &Value, more: &Value) -> Value {
    let keys = |table: &Value| table.as_object().expect("a table").clone();
    let both: Map<String, Value> = keys(base).into_iter().chain(keys(more)).collect();
    Value::Object(both)
}

/// The table with its defaults.
pub fn resolved(raw: &Value) -> Value {
    let experiment = Experiment::read(raw).and_then(|e| e.resolve());
    experiment.expect("it can run").to_json()
}

/// The reason why it cannot run.
pub fn refused(raw: &Value) -> String {
    let experiment = Experiment::read(raw).and_then(|e| e.resolve());
    experiment.expect_err("refused").to_string()
}

/// The results of its fabric.
pub fn run(raw: &Value) -> RunOutput {
    let experiment = Experiment::read(raw).expect("a good file");
    experiment.run(0, 1, &mut Silent).expect("nothing fails")
}

/// The columns that determine the bytes of `flows.parquet`.
pub fn columns(raw: &Value) -> impl PartialEq + std::fmt::Debug {
    let flows = run(raw).flows;
    let hops: Vec<u32> = flows.hops.iter().map(|hops| hops.to_bits()).collect();
    (flows.arrival, flows.start, flows.finish, hops)
}
