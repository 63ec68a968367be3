//! Clock synchronisation: takes a table, returns figures as JSON and columns as NumPy arrays.

use crate::columns::{load_numpy, put};
use crate::errors::refused;
use lightloom_engine::Time;
use lightloom_photonics::clock::{self, ClockConfig, Judged, LoopFigures};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{json, Value};
use std::time::{Duration, Instant};

/// Time between two calls of Python: at most 20 calls per second.
const PERIOD: Duration = Duration::from_millis(50);

fn read(table: &str) -> PyResult<ClockConfig> {
    let table: Value = serde_json::from_str(table)
        .map_err(|e| crate::errors::ConfigError::new_err(e.to_string()))?;
    ClockConfig::read(&table).map_err(refused)
}

/// Returns the configuration with all defaults, as JSON.
#[pyfunction]
pub fn clock_resolve(table: &str) -> PyResult<String> {
    Ok(serde_json::to_string(&read(table)?).expect("plain data"))
}

/// Returns the JSON Schema of a clock's configuration.
#[pyfunction]
pub fn clock_schema() -> String {
    serde_json::to_string(&schemars::schema_for!(ClockConfig)).expect("plain data")
}

/// Returns when each node starts its first epoch, from the delays between the nodes and the
/// grating. All are in the same unit, such as picoseconds (Sirius A.2).
#[pyfunction]
pub fn clock_starts(delays: Vec<i64>) -> Vec<i64> {
    let delays: Vec<Time> = delays.into_iter().map(Time).collect();
    let starts = clock::starts::epoch_starts(&delays);
    starts.into_iter().map(|start| start.0).collect()
}

/// Calls Python at intervals while clocks run without the GIL.
struct Visitor {
    callback: Option<Py<PyAny>>,
    done: u64,
    all: u64,
    last: Instant,
    error: Option<PyErr>,
}

impl Visitor {
    /// Counts `more` updates; returns whether to continue.
    fn hear(&mut self, more: u64) -> bool {
        self.done += more;
        if self.last.elapsed() < PERIOD {
            return true;
        }
        self.last = Instant::now();
        let share = (self.done as f64 / self.all.max(1) as f64).min(1.0);
        self.error = Python::attach(|py| {
            py.check_signals()?;
            match &self.callback {
                Some(callback) => callback.call1(py, (share,)).map(|_| ()),
                None => Ok(()),
            }
        })
        .err();
        self.error.is_none()
    }
}

type Columns<'py> = Bound<'py, PyDict>;

/// The columns of a judge for samples and nodes, by name.
fn columns<'py>(py: Python<'py>, judged: Judged) -> PyResult<(Columns<'py>, Columns<'py>)> {
    let (samples, nodes) = (PyDict::new(py), PyDict::new(py));
    let seen = judged.samples;
    put(&samples, "time_ps", seen.time_ps)?;
    put(&samples, "deviation_ps", seen.deviation_ps)?;
    put(&samples, "ahead", seen.ahead)?;
    put(&samples, "behind", seen.behind)?;
    put(&samples, "wander_ps", seen.wander_ps)?;
    put(&samples, "pair_ps", seen.pair_ps)?;
    let found = judged.nodes;
    put(&nodes, "node", (0..found.sound.len() as u32).collect())?;
    put(&nodes, "sound", found.sound)?;
    put(&nodes, "mean_ps", found.mean_ps)?;
    put(&nodes, "rms_ps", found.rms_ps)?;
    put(&nodes, "least_ps", found.least_ps)?;
    put(&nodes, "most_ps", found.most_ps)?;
    Ok((samples, nodes))
}

/// Runs clocks. Returns the figures as JSON and {"epochs" and "day": (sample columns, node
/// columns)}.
#[pyfunction]
#[pyo3(signature = (table, contributions, progress=None))]
pub fn clock_run<'py>(
    py: Python<'py>,
    table: &str,
    contributions: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Columns<'py>)> {
    load_numpy(py)?;
    let config = read(table)?;
    let of_terms = match contributions {
        true => clock::updates_of_contributions(&config),
        false => 0,
    };
    let mut visitor = Visitor {
        callback: progress,
        done: 0,
        all: clock::updates(&config) + of_terms,
        last: Instant::now(),
        error: None,
    };
    let made = py.detach(|| {
        let mut heard = |more| visitor.hear(more);
        let outcome = clock::run(&config, &mut heard)?;
        let parts = match contributions {
            true => clock::contributions(&config, &mut heard)?,
            false => Vec::new(),
        };
        Some((outcome, parts))
    });
    let Some((outcome, parts)) = made else {
        return Err(visitor.error.expect("only an error stops a run"));
    };
    let figures = json!({
        "epochs": outcome.epochs.verdict,
        "day": outcome.day.as_ref().map(|day| &day.verdict),
        "common_frequency_ppm": outcome.common_frequency_ppm,
        "loop": LoopFigures::of(&config),
        "contributions": contributions.then_some(parts),
    });
    let found = PyDict::new(py);
    found.set_item("epochs", columns(py, outcome.epochs)?)?;
    if let Some(day) = outcome.day {
        found.set_item("day", columns(py, day)?)?;
    }
    Ok((figures.to_string(), found))
}
