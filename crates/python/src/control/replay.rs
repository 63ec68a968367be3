//! Logs of controllers, played again.

use super::solve;
use crate::errors::{refused, ConfigError};
use crate::policy::PyLibrary;
use lightloom_control::hardware::Hardware;
use lightloom_control::log::{self, Read};
use lightloom_control::policies::library::Library;
use lightloom_control::policies::{self, Built};
use lightloom_control::replay::replay;
use lightloom_engine::Refusal;
use pyo3::prelude::*;
use serde_json::{Map, Value};

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(control_replay, m)?)
}

/// A policy from its table, with its `kind` or `file`.
fn build(mut own: Map<String, Value>, hardware: &Hardware, library: &PyLibrary) -> Built {
    // What the log's own policy was made of may be there no more.
    own.remove("sha256");
    match (own.remove("kind"), own.remove("file")) {
        (Some(Value::String(kind)), None) => {
            (policies::find(&kind, "algorithm")?.build)(&Value::Object(own), hardware)
        }
        (None, Some(Value::String(file))) => library.policy(&file, &own, hardware),
        _ => Err(Refusal::new(
            "policy",
            Value::Object(own),
            "a policy has a kind or a file",
            "name one with --algorithm",
        )),
    }
}

/// What comes of playing a log against a policy, as JSON with the first line of the log
/// (`header`). `table` is the policy's as JSON; without it the log's own is asked again.
#[pyfunction]
#[pyo3(signature = (text, table=None))]
fn control_replay(py: Python<'_>, text: &str, table: Option<&str>) -> PyResult<String> {
    let Read { header, entries } = log::read(text).map_err(refused)?;
    let (own, order) = match table {
        None => (header.policy.clone(), header.order),
        Some(table) => {
            let table = serde_json::from_str(table);
            (
                table.map_err(|e| ConfigError::new_err(e.to_string()))?,
                None,
            )
        }
    };
    let Value::Object(own) = own else {
        return Err(ConfigError::new_err("a policy is a table of keys"));
    };
    let library = PyLibrary::default();
    let policy = build(own, &header.hardware, &library).map_err(|r| library.error(py, r))?;
    let log = Read { header, entries };
    let made = solve(py, move || {
        let replayed = replay(&log, policy, order)?;
        Ok(serde_json::json!({ "header": log.header, "replay": replayed }).to_string())
    });
    made.map_err(|error| library.with_cause(py, error))
}
