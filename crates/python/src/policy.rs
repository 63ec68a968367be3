//! Policies that users write in Python: a file with a class that has `decide(demand, switch)`.
//!
//! `decide` is called from Rust, so that the traceback of an exception contains only the user's
//! frames. `lightloom.policies.answers` reads the return value, which is checked like the target of
//! every policy. Each fabric has its own policy object from its own module, so that parallel runs
//! share no state.

use crate::errors::{refusal_of, refused, ConfigError};
use lightloom_control::circuits::{Circuit, Circuits};
use lightloom_control::hardware::Hardware;
use lightloom_control::order::Order;
use lightloom_control::policies::library::Library;
use lightloom_control::policies::Built;
use lightloom_control::policy::{Demand, Policy, SwitchView, Target};
use lightloom_control::routes::{Route, Routes};
use lightloom_control::schedule::{Schedule, Slot};
use lightloom_engine::{Refusal, Time};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex};

/// The exception that a user's code raised; it becomes the cause of the refusal.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// Reads policies from Python files, for one run.
#[derive(Clone, Default)]
pub struct PyLibrary {
    raised: Raised,
}

impl PyLibrary {
    /// The exception for a refusal; see [`PyLibrary::with_cause`].
    pub fn error(&self, py: Python<'_>, refusal: Refusal) -> PyErr {
        self.with_cause(py, refused(refusal))
    }

    /// The same exception, with the exception of the user's code as its cause if there was one;
    /// KeyboardInterrupt is returned unchanged.
    pub fn with_cause(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let raised = { self.raised.lock().ok() }.and_then(|mut raised| raised.take());
        let Some(cause) = raised else {
            return error;
        };
        if cause.is_instance_of::<PyKeyboardInterrupt>(py) {
            return cause;
        }
        let both = (error.value(py), value(py, &cause));
        let blamed = py
            .import("lightloom.policies.blame")
            .and_then(|blame| blame.call_method1("with_cause", both));
        match blamed {
            Ok(_) => error,
            Err(other) => other,
        }
    }
}

impl Library for PyLibrary {
    fn policy(&self, file: &str, options: &Map<String, Value>, _: &Hardware) -> Built {
        Python::attach(|py| {
            let policy = PyPolicy::load(py, file, options, &self.raised);
            policy
                .map(|policy| Box::new(policy) as Box<dyn Policy>)
                .map_err(|error| {
                    let refusal = refusal_of(py, &error, "policy");
                    keep(
                        &self.raised,
                        error.cause(py).or_else(|| not_ours(py, error)),
                    );
                    refusal
                })
        })
    }
}

fn keep(raised: &Raised, error: Option<PyErr>) {
    if let (Ok(mut raised), Some(error)) = (raised.lock(), error) {
        *raised = Some(error);
    }
}

/// The exception object with its traceback.
fn value(py: Python<'_>, error: &PyErr) -> Py<pyo3::exceptions::PyBaseException> {
    error.clone_ref(py).into_value(py)
}

fn not_ours(py: Python<'_>, error: PyErr) -> Option<PyErr> {
    (!error.is_instance_of::<ConfigError>(py)).then_some(error)
}

/// The part of the last decision that is needed if `decide` returns `None`, which keeps that
/// decision.
enum Last {
    /// Circuits that carry the traffic between their own two racks.
    Direct,
    Routed(Routes),
    Schedule(Schedule),
}

/// A user's policy.
struct PyPolicy {
    /// The bound method `decide`.
    decide: Py<PyAny>,
    /// `lightloom.policies.Switch`.
    switch: Py<PyAny>,
    /// `lightloom.policies.answers`.
    answers: Py<PyModule>,
    order: Order,
    last: Last,
    raised: Raised,
}

impl PyPolicy {
    fn load(
        py: Python<'_>,
        file: &str,
        options: &Map<String, Value>,
        raised: &Raised,
    ) -> PyResult<PyPolicy> {
        let options = serde_json::to_string(options).expect("options are plain data");
        let files = py.import("lightloom.policies.files")?;
        let loaded = files.call_method1("load_json", (file, options))?;
        let order: Option<String> = loaded.getattr("order")?.extract()?;
        Ok(PyPolicy {
            decide: loaded.getattr("policy")?.getattr("decide")?.unbind(),
            switch: py
                .import("lightloom.policies.switch")?
                .getattr("Switch")?
                .unbind(),
            answers: py.import("lightloom.policies.answers")?.unbind(),
            order: order_of(order.as_deref()).map_err(refused)?,
            last: Last::Direct,
            raised: raised.clone(),
        })
    }

    fn ask(&mut self, py: Python<'_>, seen: &Demand, view: &SwitchView) -> Result<Target, Refusal> {
        let failed = |error: PyErr| self.failed(py, error);
        let demand = demand(py, seen).map_err(failed)?;
        let switch = self.switch_of(py, seen, view).map_err(failed)?;
        let returned = self
            .decide
            .bind(py)
            .call1((demand, &switch))
            .map_err(failed)?;
        let answers = self.answers.bind(py);
        let answer = answers.call_method1("read", (&returned, &switch));
        let answer = answer.map_err(|error| self.bad(py, error, &returned))?;
        let found = target(&answer).map_err(|error| self.bad(py, error, &returned))?;
        let (target, last) = match found {
            Some((target, last)) => (target, Some(last)),
            None => (self.kept(view), None),
        };
        target.check(view).map_err(|refusal| Refusal {
            key: "decide()".to_owned(),
            value: shown(answers, &returned),
            limit: format!("{} = {}: {}", refusal.key, refusal.value, refusal.limit),
            remedy: refusal.remedy,
        })?;
        if let Some(last) = last {
            self.last = last;
        }
        Ok(target)
    }

    /// The racks, planes and ports, the lit circuits, and the times of slots.
    fn switch_of<'py>(
        &self,
        py: Python<'py>,
        seen: &Demand,
        view: &SwitchView,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Hardware {
            racks,
            planes,
            ports,
            rate,
        } = view.hardware;
        let lit: Vec<(u32, u32, u32)> = view.lit.iter().map(Into::into).collect();
        let works = PyArray1::from_slice(py, view.works);
        let works = frozen(works.reshape([planes as usize, racks as usize])?.into_any())?;
        self.switch.bind(py).call1((
            racks,
            planes,
            ports,
            rate.0,
            seen.over.0,
            pyo3::types::PyTuple::new(py, lit)?,
            view.lit.directed(),
            works,
            view.slots.map_or(0, |slots| slots.night.0),
            view.slots.map_or(0, |slots| slots.shortest.0),
        ))
    }

    /// Keeps the lit circuits and the routes over them.
    fn kept(&self, view: &SwitchView) -> Target {
        let circuits = view.lit.clone();
        match &self.last {
            Last::Direct => Target::direct(circuits),
            Last::Schedule(schedule) => Target::Schedule(schedule.clone()),
            Last::Routed(routes) => {
                let mut rows: Vec<Circuit> = circuits.iter().collect();
                rows.sort_unstable();
                let mut routes = routes.clone();
                routes.keep_lit(|hop| {
                    let hop = Circuits::of(circuits.directed(), [hop]);
                    let lit = hop.iter().all(|hop| rows.binary_search(&hop).is_ok());
                    lit
                });
                Target::Network { circuits, routes }
            }
        }
    }

    /// Stores an exception that the user's code raised, and describes it.
    fn failed(&self, py: Python<'_>, error: PyErr) -> Refusal {
        self.raised_by("decide()", py, error)
    }

    /// Stores and describes an exception raised by `what`.
    fn raised_by(&self, what: &str, py: Python<'_>, error: PyErr) -> Refusal {
        let blamed = py
            .import("lightloom.policies.blame")
            .and_then(|blame| blame.call_method1("blame", (what, value(py, &error))))
            .and_then(|blamed| blamed.extract::<(String, String)>());
        let (limit, remedy) = blamed.unwrap_or_else(|_| (error.to_string(), "correct it".into()));
        keep(&self.raised, Some(error));
        Refusal::new("decide()", "", limit, remedy)
    }

    /// The refusal of a return value that is not circuits, or that contains an object that raises
    /// an exception when it is read.
    fn bad(&self, py: Python<'_>, error: PyErr, returned: &Bound<'_, PyAny>) -> Refusal {
        let refusal = match error.is_instance_of::<ConfigError>(py) {
            true => refusal_of(py, &error, "decide()"),
            false => self.raised_by("reading it", py, error),
        };
        Refusal {
            key: "decide()".to_owned(),
            value: shown(self.answers.bind(py), returned),
            ..refusal
        }
    }
}

impl Policy for PyPolicy {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        Python::attach(|py| self.ask(py, seen, switch))
    }

    fn order(&self) -> Order {
        self.order
    }
}

/// The order of a change; by default, circuits that stay are not interrupted.
/// `lightloom.policies.files`, which reads the class, checks the names.
fn order_of(name: Option<&str>) -> Result<Order, Refusal> {
    let Some(name) = name else {
        return Ok(Order::DELETE_CREATE);
    };
    let remedy = || format!("use one of {}", Order::NAMES.join(", "));
    Order::named(name).ok_or_else(|| Refusal::new("policy.order", name, "no such order", remedy()))
}

/// The demand as a read-only matrix, racks × racks [bytes].
fn demand<'py>(py: Python<'py>, seen: &Demand) -> PyResult<Bound<'py, PyAny>> {
    let n = seen.bytes.n();
    let cells = PyArray1::from_slice(py, seen.bytes.cells());
    frozen(cells.reshape([n, n])?.into_any())
}

fn frozen(array: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    array.call_method1("setflags", (false,))?;
    Ok(array)
}

/// The target of an answer, and the part to store for a later `None`; `None` if the answer is
/// `None`.
fn target(answer: &Bound<'_, PyAny>) -> PyResult<Option<(Target, Last)>> {
    if answer.is_none() {
        return Ok(None);
    }
    if let Ok((permutations, days, night)) = answer.extract() {
        let schedule = schedule(&permutations, days, night);
        return Ok(Some((
            Target::Schedule(schedule.clone()),
            Last::Schedule(schedule),
        )));
    }
    type Row = (u32, u32, u32);
    type Path = (Vec<u32>, Vec<u32>);
    let (rows, (directed, paths)): (Vec<Row>, (bool, Option<Vec<Path>>)) = answer.extract()?;
    let circuits = Circuits::of(directed, rows.into_iter().map(Circuit::from));
    let Some(paths) = paths else {
        return Ok(Some((Target::direct(circuits), Last::Direct)));
    };
    let mut routes = Routes::none(directed);
    for (racks, planes) in paths {
        routes.add(Route { racks, planes });
    }
    let last = Last::Routed(routes.clone());
    Ok(Some((Target::Network { circuits, routes }, last)))
}

fn schedule(permutations: &PyReadonlyArray2<'_, i64>, days: Vec<i64>, night: i64) -> Schedule {
    let rows = permutations.as_array();
    // -1 means idle, which is represented by the input's own number here. Another value that does
    // not fit the type is replaced by a number that no port has, and refused with the schedule.
    let port = |(input, &output): (u32, &i64)| match output {
        -1 => input,
        _ => u32::try_from(output).unwrap_or(u32::MAX),
    };
    let slot = |(row, &day): (usize, &i64)| Slot {
        permutation: (0..).zip(rows.row(row)).map(port).collect(),
        day: Time(day),
    };
    Schedule {
        ports: rows.ncols(),
        night: Time(night),
        slots: days.iter().enumerate().map(slot).collect(),
    }
}

/// The returned value in one line.
fn shown(answers: &Bound<'_, PyModule>, returned: &Bound<'_, PyAny>) -> String {
    let shown = answers.call_method1("shown", (returned,));
    shown
        .and_then(|text| text.extract())
        .unwrap_or_else(|_| "?".to_owned())
}
