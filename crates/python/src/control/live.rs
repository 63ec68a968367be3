//! The controller of an experiment's fabric in real time, for the testbed and for services.

use super::replay::policy_of;
use crate::errors::{refused, ConfigError};
use crate::policy::PyLibrary;
use lightloom_control::controller::Input;
use lightloom_control::live::Live;
use lightloom_control::log::{self, Read};
use lightloom_engine::{Refusal, Time};
use lightloom_experiment::Experiment;
use pyo3::prelude::*;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<ControlLoop>()
}

/// A controller that takes inputs and returns actions, both as JSON in the format of its log.
#[pyclass(module = "lightloom._core")]
struct ControlLoop {
    live: Mutex<Live>,
    library: PyLibrary,
}

/// Reads the start of the log of the fabric at an index.
fn opening(json: &str, fabric: usize, library: &PyLibrary) -> Result<Read, Refusal> {
    let mut json: Value = serde_json::from_str(json).map_err(|e| odd(e.to_string()))?;
    if let Some(run) = json.get_mut("run").and_then(Value::as_object_mut) {
        run.insert("controller_log".to_owned(), Value::Bool(true));
    }
    let experiment = Experiment::read(&json)?;
    let prepared = experiment.prepare_with(fabric, 1, None, library)?;
    match prepared.opening() {
        Some(text) => log::read(&text),
        None => Err(Refusal::new(
            "fabric",
            fabric,
            "it has no controller",
            "choose cthrough, hydra, mordia or hybrid",
        )),
    }
}

fn odd(why: String) -> Refusal {
    Refusal::new("experiment", "", why, "give JSON")
}

impl ControlLoop {
    /// After a panic of a policy the state is as valid as after an error.
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl ControlLoop {
    /// Creates the loop of the fabric at index `fabric` of an experiment in JSON. Its log records
    /// `host` as the name of the component that performs its actions.
    #[new]
    fn new(py: Python<'_>, json: &str, fabric: usize, host: &str) -> PyResult<ControlLoop> {
        let library = PyLibrary::default();
        let read = opening(json, fabric, &library);
        let read = read.map_err(|refusal| library.error(py, refusal))?;
        let policy = policy_of(&read.header, &library)?;
        Ok(ControlLoop {
            live: Mutex::new(Live::new(&read, policy, host)),
            library,
        })
    }

    /// The first line of its log: policy, switch, timing.
    fn header(&self) -> String {
        serde_json::to_string(self.live().header()).expect("plain data")
    }

    /// The inputs that start the loop, as JSON.
    fn opening(&self) -> Vec<String> {
        let live = self.live();
        { live.opening().iter() }
            .map(|input| serde_json::to_string(input).expect("plain data"))
            .collect()
    }

    /// Processes an input that arrived at `now_ps`; returns the actions to perform, in order.
    fn on(&self, py: Python<'_>, now_ps: i64, input: &str) -> PyResult<Vec<String>> {
        let input: Input =
            serde_json::from_str(input).map_err(|e| ConfigError::new_err(e.to_string()))?;
        let heard = self.live().on(Time(now_ps), input);
        let heard = heard.map_err(|refusal| self.library.with_cause(py, refused(refusal)))?;
        let texts = heard.iter().map(serde_json::to_string);
        Ok(texts.map(|text| text.expect("plain data")).collect())
    }

    /// Makes the controller ignore all inputs until an input `silence`.
    fn silent(&self, now_ps: i64) {
        self.live().silent(Time(now_ps));
    }

    /// The log so far.
    fn log(&self) -> String {
        self.live().log()
    }
}
