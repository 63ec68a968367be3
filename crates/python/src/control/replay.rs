//! Replays the logs of controllers.

use super::solve;
use crate::errors::{refused, ConfigError};
use crate::policy::PyLibrary;
use lightloom_control::hardware::Hardware;
use lightloom_control::log::{self, Header};
use lightloom_control::policies::library::Library;
use lightloom_control::policies::{self, Built};
use lightloom_control::policy::Policy;
use lightloom_control::replay::replay;
use lightloom_engine::Refusal;
use pyo3::prelude::*;
use serde_json::{json, Map, Value};

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(control_replay, m)?)
}

/// The policy that decides, and its origin.
struct Asked {
    /// Its table with its `kind` or `file`.
    table: Map<String, Value>,
    /// Whether the policy is the one in the first line of the log.
    is_own: bool,
}

impl Asked {
    fn of(header: &Header, table: Option<&str>) -> PyResult<Asked> {
        let (found, is_own) = match table {
            None => (header.policy.clone(), true),
            Some(table) => {
                let table = serde_json::from_str(table);
                (
                    table.map_err(|e| ConfigError::new_err(e.to_string()))?,
                    false,
                )
            }
        };
        match found {
            Value::Object(table) => Ok(Asked { table, is_own }),
            other => {
                let limit = "not a table of keys";
                let remedy = "name a kind or a file";
                Err(refused(Refusal::new("policy", other, limit, remedy)))
            }
        }
    }

    fn build(&self, hardware: &Hardware, library: &PyLibrary) -> Built {
        let mut own = self.table.clone();
        if self.is_own {
            // A changed file is reported with the result, not refused.
            own.remove("sha256");
        }
        match (own.remove("kind"), own.remove("file")) {
            (Some(Value::String(kind)), None) => {
                (policies::find(&kind, "policy.kind")?.build)(&Value::Object(own), hardware)
            }
            (None, Some(Value::String(file))) => library.policy(&file, &own, hardware),
            _ => {
                let table = Value::Object(self.table.clone());
                let limit = "not a table with a kind or a file";
                Err(Refusal::new("policy", table, limit, "give one of the two"))
            }
        }
    }

    fn name(&self) -> &str {
        let name = { ["kind", "file"].iter() }.find_map(|key| self.table.get(*key)?.as_str());
        name.unwrap_or_default()
    }

    /// In a refusal, changes keys of the log's switch and policy to keys of its first line.
    fn of_table(&self, refusal: Refusal) -> Refusal {
        let Refusal { key, .. } = &refusal;
        let of_switch = ["racks", "planes", "ports", "rate"].contains(&key.as_str());
        match of_switch {
            true => Refusal {
                key: format!("line 1: hardware.{key}"),
                remedy: "choose another policy for this switch".to_owned(),
                ..refusal
            },
            false if self.is_own => Refusal {
                key: format!("line 1: {key}"),
                ..refusal
            },
            false => refusal,
        }
    }

    /// Adds the policy's name to the refusal of its decision.
    fn of_decision(&self, refusal: Refusal) -> Refusal {
        if refusal.key != "policy" {
            return refusal;
        }
        Refusal {
            key: if self.is_own {
                "line 1: policy"
            } else {
                "algorithm"
            }
            .to_owned(),
            value: format!("\"{}\" {}", self.name(), refusal.value),
            ..refusal
        }
    }
}

/// Returns the policy of a log's first line.
pub(super) fn policy_of(header: &Header, library: &PyLibrary) -> PyResult<Box<dyn Policy>> {
    let asked = Asked::of(header, None)?;
    let built = asked.build(&header.hardware, library);
    Python::attach(|py| built.map_err(|r| library.error(py, asked.of_table(r))))
}

/// Replays a log with a policy, and returns the result as JSON with the first line of the log
/// (`header`) and the table of the policy (`policy`). `table` is the policy's as JSON; without it
/// the log's own policy decides again.
#[pyfunction]
#[pyo3(signature = (text, table=None))]
fn control_replay(py: Python<'_>, text: &str, table: Option<&str>) -> PyResult<String> {
    let log = log::read(text).map_err(refused)?;
    let asked = Asked::of(&log.header, table)?;
    let order = log.header.order.filter(|_| asked.is_own);
    let library = PyLibrary::default();
    let policy = asked.build(&log.header.hardware, &library);
    let policy = policy.map_err(|r| library.error(py, asked.of_table(r)))?;
    let made = solve(py, move || {
        let replayed = replay(&log, policy, order).map_err(|r| asked.of_decision(r))?;
        let Asked { table, .. } = asked;
        let told = json!({ "header": log.header, "policy": table, "replay": replayed });
        Ok(told.to_string())
    });
    made.map_err(|error| library.with_cause(py, error))
}
