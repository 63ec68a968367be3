//! One decision of a policy: what `lightloom plan` asks for, and a simulated controller
//! at every interval.

use super::arrays::{demand, indices, table};
use super::matching::matched;
use super::schedules::slots;
use super::solve;
use super::switch::Switch;
use super::topology::ControlTopology;
use crate::errors::{refused, ConfigError};
use lightloom_control::circuits::{Circuit, Circuits};
use lightloom_control::demand::Matrix;
use lightloom_control::policies::{self, Entry};
use lightloom_control::policy::{Demand, Evidence, Policy, SwitchView, Target};
use lightloom_control::routes::Routes;
use lightloom_engine::Refusal;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(control_decide, m)?)
}

/// What is asked, in Rust's types.
struct Question {
    entry: &'static Entry,
    own: Value,
    bytes: Matrix,
    /// Entries are weights of undirected circuits.
    symmetric: bool,
    switch: Switch,
    lit: Circuits,
}

/// The answer, by the policy that can still say why.
struct Answer {
    policy: Box<dyn Policy>,
    target: Target,
    /// The switch's and the policy's keys, with all that the decision took.
    options: Map<String, Value>,
}

impl Question {
    fn decide(self) -> Result<Answer, Refusal> {
        let hardware = self.switch.hardware(self.bytes.n())?;
        let seen = Demand {
            bytes: match self.symmetric {
                true => once_a_pair(&self.bytes)?,
                false => self.bytes,
            },
            over: self.switch.over(),
        };
        let mut policy = (self.entry.build)(&self.own, &hardware)?;
        let own = (self.entry.for_demand)(&self.own, &seen, &hardware)?;
        let view = SwitchView {
            hardware,
            lit: &self.lit,
            works: &vec![true; hardware.columns()],
        };
        let target = policy.decide(&seen, &view)?;
        target.check(&view)?;
        let mut options = self.switch.table();
        options.extend(own.as_object().cloned().unwrap_or_default());
        Ok(Answer {
            policy,
            target,
            options,
        })
    }
}

/// What a policy decides for a demand, and why.
///
/// `table` is the policy's, as JSON with its `kind`; `switch` that of [`Switch`]; `lit`
/// lists circuits that are lit; `symmetric` says that entries are weights of undirected
/// circuits.
#[pyfunction]
fn control_decide<'py>(
    py: Python<'py>,
    table: &str,
    matrix: &Bound<'py, PyAny>,
    switch: &str,
    lit: Vec<(u32, u32)>,
    symmetric: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let (entry, own) = policy(table)?;
    let question = Question {
        switch: Switch::read(&read(switch)?, &entry.usual).map_err(refused)?,
        bytes: demand(matrix)?,
        lit: Circuits::both_ways(lit),
        entry,
        own,
        symmetric,
    };
    let answer = solve(py, move || question.decide())?;
    let found = PyDict::new(py);
    found.set_item("options", Value::Object(answer.options).to_string())?;
    add_target(py, &found, &answer.target)?;
    add_evidence(py, &found, answer.policy.evidence())?;
    Ok(found)
}

fn read(json: &str) -> PyResult<Value> {
    serde_json::from_str(json).map_err(|e| ConfigError::new_err(e.to_string()))
}

/// The policy of a table, and its own keys.
fn policy(table: &str) -> PyResult<(&'static Entry, Value)> {
    let table = read(table)?;
    let mut own: Map<String, Value> = table.as_object().cloned().unwrap_or_default();
    let kind = own.remove("kind");
    let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
    let entry = policies::find(kind, "kind").map_err(refused)?;
    Ok((entry, Value::Object(own)))
}

/// The entries above the diagonal of a symmetric matrix: what policies add up, both
/// directions, is then each entry.
fn once_a_pair(matrix: &Matrix) -> Result<Matrix, Refusal> {
    matrix.require_symmetric()?;
    let mut above = Matrix::zeros(matrix.n());
    for (a, b, weight) in matrix.entries().filter(|&(a, b, _)| a < b) {
        above.set(a, b, weight);
    }
    Ok(above)
}

/// Circuits, a row each: a, b, plane; whether they are directed; routes that are not
/// circuits by themselves; or a schedule.
fn add_target(py: Python<'_>, found: &Bound<'_, PyDict>, target: &Target) -> PyResult<()> {
    match target {
        Target::Network { circuits, routes } => {
            let rows = circuits
                .iter()
                .flat_map(|Circuit { a, b, plane }| [a, b, plane]);
            found.set_item("circuits", table(py, 3, rows.map(i64::from).collect())?)?;
            found.set_item("directed", circuits.directed())?;
            add_routes(py, found, routes)
        }
        Target::Schedule(schedule) => found.set_item("schedule", slots(py, schedule)?),
    }
}

/// Racks and planes of all routes, one route after another, and how many racks each has.
fn add_routes(py: Python<'_>, found: &Bound<'_, PyDict>, routes: &Routes) -> PyResult<()> {
    let (mut lengths, mut racks, mut planes) = (Vec::new(), Vec::new(), Vec::new());
    for (_, route) in routes.iter() {
        lengths.push(route.racks.len() as i64);
        racks.extend(route.racks.iter().copied().map(i64::from));
        planes.extend(route.planes.iter().copied().map(i64::from));
    }
    let columns = [lengths, racks, planes].map(|column| PyArray1::from_vec(py, column));
    found.set_item("routes", (&columns[0], &columns[1], &columns[2]))
}

fn add_evidence(
    py: Python<'_>,
    found: &Bound<'_, PyDict>,
    evidence: Option<Evidence<'_>>,
) -> PyResult<()> {
    match evidence {
        None => Ok(()),
        Some(Evidence::Matching { matching, weights }) => {
            found.set_item("matching", matched(py, matching, weights)?)
        }
        Some(Evidence::Assignment(assignment)) => {
            let columns = indices(py, assignment.column_of.iter().copied().map(Some));
            let rows = PyArray1::from_slice(py, &assignment.row_potential);
            let others = PyArray1::from_slice(py, &assignment.column_potential);
            found.set_item("assignment", (columns, rows, others))
        }
        Some(Evidence::Topology(topology, options)) => {
            found.set_item("topology", ControlTopology::of(topology.clone(), options))
        }
        Some(Evidence::Covers(bound)) => found.set_item("covers", bound),
        Some(Evidence::Completes { at, bound }) => found.set_item("completes", (at.0, bound.0)),
    }
}
