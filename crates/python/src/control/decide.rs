//! One decision of a policy: `lightloom plan` requests one, a simulated controller one in every
//! interval.

use super::arrays::{demand, indices, table};
use super::matching::matched;
use super::schedules::slots;
use super::solve;
use super::switch::Switch;
use super::topology::ControlTopology;
use crate::errors::{refused, ConfigError};
use crate::policy::PyLibrary;
use lightloom_control::circuits::{Circuit, Circuits};
use lightloom_control::demand::Matrix;
use lightloom_control::hardware::Hardware;
use lightloom_control::policies::library::Library;
use lightloom_control::policies::{self, Built, Entry, Usual};
use lightloom_control::policy::{Demand, Evidence, Policy, Rules, SwitchView, Target};
use lightloom_control::routes::Routes;
use lightloom_engine::{Rate, Refusal, Time};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(control_decide, m)?)
}

/// The request in Rust's types.
struct Question {
    source: Source,
    own: Map<String, Value>,
    bytes: Matrix,
    /// Entries are weights of undirected circuits.
    symmetric: bool,
    switch: Switch,
    lit: Circuits,
    /// Whether each port works, by the index [`Hardware::port`]; all work by default.
    works: Option<Vec<bool>>,
    rules: Rules,
}

/// The source of a policy.
enum Source {
    Registry(&'static Entry),
    /// `PATH:NAME`.
    File(String, PyLibrary),
}

impl Source {
    /// The properties of the switch that it uses; those of a user's policy are not known.
    fn usual(&self) -> Usual {
        match self {
            Source::Registry(entry) => entry.usual,
            Source::File(..) => Usual {
                planes: Some(1),
                over: Some(Time::S),
                rate: Some(Rate(10 * Rate::GBPS.0)),
                matches: false,
            },
        }
    }

    fn build(&self, own: &Map<String, Value>, hardware: &Hardware) -> Built {
        match self {
            Source::Registry(entry) => (entry.build)(&Value::Object(own.clone()), hardware),
            Source::File(file, library) => library.policy(file, own, hardware),
        }
    }

    /// Its own keys with all values that the decision used.
    fn filled(
        &self,
        own: Map<String, Value>,
        seen: &Demand,
        hardware: &Hardware,
    ) -> Result<Map<String, Value>, Refusal> {
        let Source::Registry(entry) = self else {
            return Ok(own);
        };
        let filled = (entry.for_demand)(&Value::Object(own), seen, hardware)?;
        Ok(filled.as_object().cloned().unwrap_or_default())
    }

    /// Adds the name of the policy to the refusal of a user's policy whose decision failed.
    fn blamed(&self, refusal: Refusal) -> Refusal {
        match (self, refusal.value.is_empty()) {
            (Source::Registry(_), _) => refusal,
            (Source::File(file, _), empty) => Refusal {
                key: "algorithm".to_owned(),
                value: format!("\"{file}\""),
                limit: match empty {
                    true => refusal.limit,
                    false => format!("{} = {}: {}", refusal.key, refusal.value, refusal.limit),
                },
                remedy: refusal.remedy,
            },
        }
    }
}

/// The answer, with the policy that can explain it.
struct Answer {
    policy: Box<dyn Policy>,
    target: Target,
    /// The keys of the switch and of the policy, with all values that the decision used.
    options: Map<String, Value>,
    /// Whether the policy applies rules by itself.
    heeds: bool,
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
        let mut policy = self.source.build(&self.own, &hardware)?;
        let heeds = policy.lay_down(&self.rules);
        let own = self.source.filled(self.own, &seen, &hardware)?;
        let all = vec![true; hardware.columns()];
        let works = self.works.filter(|works| works.len() == all.len());
        let view = SwitchView {
            hardware,
            lit: &self.lit,
            works: works.as_ref().unwrap_or(&all),
            slots: None,
        };
        let decided = policy.decide(&seen, &view);
        let target = decided.map_err(|refusal| self.source.blamed(refusal))?;
        target.check(&view)?;
        let mut options = self.switch.table();
        options.extend(own);
        Ok(Answer {
            policy,
            target,
            options,
            heeds,
        })
    }
}

/// The decision of a policy for a demand, with its evidence.
///
/// `table` is the policy's, as JSON with its `kind` or `file`; `switch` that of [`Switch`]; `lit`
/// lists circuits that are lit; `symmetric` states that entries are weights of undirected circuits;
/// `works` states which ports work, rack by rack and plane by plane; `pinned` lists circuits, and
/// `apart` pairs, for policies that support such rules (`heeds` of the answer).
#[pyfunction]
#[pyo3(signature = (table, matrix, switch, lit, symmetric, works=None, pinned=vec![], apart=vec![]))]
#[allow(clippy::too_many_arguments)] // one argument per key of the question
fn control_decide<'py>(
    py: Python<'py>,
    table: &str,
    matrix: &Bound<'py, PyAny>,
    switch: &str,
    lit: Vec<(u32, u32)>,
    symmetric: bool,
    works: Option<Vec<bool>>,
    pinned: Vec<(u32, u32, u32)>,
    apart: Vec<(u32, u32)>,
) -> PyResult<Bound<'py, PyDict>> {
    let library = PyLibrary::default();
    let (source, own) = policy(table, &library)?;
    let question = Question {
        switch: Switch::read(&read(switch)?, &source.usual()).map_err(refused)?,
        bytes: demand(matrix)?,
        lit: Circuits::both_ways(lit),
        source,
        own,
        symmetric,
        works,
        rules: Rules {
            pinned: pinned.into_iter().map(Circuit::from).collect(),
            apart,
        },
    };
    let answer = solve(py, move || question.decide());
    let answer = answer.map_err(|error| library.with_cause(py, error))?;
    let found = PyDict::new(py);
    found.set_item("options", Value::Object(answer.options).to_string())?;
    found.set_item("heeds", answer.heeds)?;
    add_target(py, &found, &answer.target)?;
    add_evidence(py, &found, answer.policy.evidence())?;
    Ok(found)
}

fn read(json: &str) -> PyResult<Value> {
    serde_json::from_str(json).map_err(|e| ConfigError::new_err(e.to_string()))
}

/// Returns the policy of a table and its own keys.
fn policy(table: &str, library: &PyLibrary) -> PyResult<(Source, Map<String, Value>)> {
    let table = read(table)?;
    let mut own: Map<String, Value> = table.as_object().cloned().unwrap_or_default();
    if let Some(Value::String(file)) = own.remove("file") {
        return Ok((Source::File(file, library.clone()), own));
    }
    let kind = own.remove("kind");
    let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
    let entry = policies::find(kind, "kind").map_err(refused)?;
    Ok((Source::Registry(entry), own))
}

/// The entries above the diagonal of a symmetric matrix. Policies add both directions of a pair,
/// and the sum is then the entry itself.
fn once_a_pair(matrix: &Matrix) -> Result<Matrix, Refusal> {
    matrix.require_symmetric()?;
    let mut above = Matrix::zeros(matrix.n());
    for (a, b, weight) in matrix.entries().filter(|&(a, b, _)| a < b) {
        above.set(a, b, weight);
    }
    Ok(above)
}

/// Adds the circuits, one per row: a, b, plane; whether they are directed; routes that are not
/// single circuits; or a schedule.
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

/// Adds the racks and planes of all routes, one route after another, and the number of racks of
/// each.
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
