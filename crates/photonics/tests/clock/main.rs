//! Clocks compared with their linear theory and with a naive model, and invariants.

mod failures;
mod invariants;
mod judged;
mod refusals;
mod theory;

use lightloom_photonics::clock::ClockConfig;
use serde_json::{json, Value};

/// A configuration without any term of the deviation, changed by a table.
fn quiet(with: Value) -> ClockConfig {
    let mut table = json!({
        "settle": "0 s",
        "oscillator": { "tolerance": "0 ppm", "white": "0 ppm", "walk": "0 ppm" },
        "timestamps": { "jitter": "0 ps", "quantisation": "0 ps" },
        "fibre": { "asymmetry": "0 ps", "table_error": 0.0 },
        "loopback": { "noise": "0 ps" },
    });
    lay_over(&mut table, with);
    ClockConfig::read(&table).expect("a configuration that can run")
}

fn lay_over(table: &mut Value, with: Value) {
    match (table, with) {
        (Value::Object(table), Value::Object(with)) => {
            for (key, value) in with {
                lay_over(table.entry(key).or_insert(Value::Null), value);
            }
        }
        (table, with) => *table = with,
    }
}

/// Largest difference between any two values.
fn spread(times: &[f64]) -> f64 {
    let most = times.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    most - times.iter().fold(f64::INFINITY, |a, &b| a.min(b))
}
