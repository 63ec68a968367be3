//! Matchings and assignments.

use super::arrays::{booleans, demand, indices, integers, table};
use super::solve;
use lightloom_control::algorithms::assignment;
use lightloom_control::algorithms::hopcroft_karp::{self, BitRows};
use lightloom_control::algorithms::matching::{self, Hysteresis, Matching, Weights};
use lightloom_control::circuits::Circuits;
use lightloom_control::demand::Matrix;
use lightloom_engine::Refusal;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(control_hopcroft_karp, m)?)?;
    m.add_function(wrap_pyfunction!(control_assignment, m)?)?;
    m.add_function(wrap_pyfunction!(control_matching, m)?)
}

/// Returns the column of every row, -1 if it has none.
#[pyfunction]
fn control_hopcroft_karp<'py>(
    py: Python<'py>,
    edges: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (rows, columns, cells) = booleans(edges)?;
    let found = solve(py, move || {
        let edges = BitRows::from_fn(rows, columns, |row, column| cells[row * columns + column]);
        Ok(hopcroft_karp::maximum(&edges))
    })?;
    let column = |row| found.column(row).map(|column| column as u32);
    Ok(indices(py, (0..rows).map(column)))
}

type Assigned<'py> = (
    Bound<'py, PyArray1<i64>>,
    i64,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
);

/// Returns the column of every row, the weight, and the potentials of rows and columns.
#[pyfunction]
fn control_assignment<'py>(
    py: Python<'py>,
    weights: &Bound<'py, PyAny>,
) -> PyResult<Assigned<'py>> {
    let (n, _, cells) = integers(weights)?;
    let found = solve(py, move || {
        assignment::maximum(&assignment::Weights::new(n, &cells))
    })?;
    Ok((
        indices(py, found.column_of.iter().copied().map(Some)),
        found.weight,
        PyArray1::from_vec(py, found.row_potential),
        PyArray1::from_vec(py, found.column_potential),
    ))
}

type Matched<'py> = (
    Row<'py>,
    i64,
    Bound<'py, PyArray2<i64>>,
    Row<'py>,
    Row<'py>,
    Row<'py>,
    Row<'py>,
);

/// Returns the mate of every node, the weight, the weights that the proof is for, y, the members of
/// all blossoms, their sizes, and z.
#[pyfunction]
fn control_matching<'py>(
    py: Python<'py>,
    matrix: &Bound<'py, PyAny>,
    symmetric: bool,
    up: Vec<(u32, u32)>,
    bonus: Option<i64>,
) -> PyResult<Matched<'py>> {
    let matrix = demand(matrix)?;
    let (found, plain, weights) = solve(py, move || {
        let plain = weigh(&matrix, symmetric).map_err(|r| of_demand(r, symmetric))?;
        let weights = match (up.is_empty(), bonus) {
            (true, None) => Ok(plain.clone()),
            (_, None) => plain.clone().favour(&up, Hysteresis::Ties),
            (_, Some(bonus)) => plain.clone().favour(&up, Hysteresis::Bonus(bonus)),
        };
        let weights = weights.map_err(|r| of_demand(r, symmetric))?;
        Ok((matching::maximum_weight_perfect(&weights), plain, weights))
    })?;
    let weight = plain.total(&found.circuits);
    let (mate, weights, y, members, sizes, z) = matched(py, &found, &weights)?;
    Ok((mate, weight, weights, y, members, sizes, z))
}

type Row<'py> = Bound<'py, PyArray1<i64>>;
/// Mates, weights, y, the members of all blossoms, their sizes, z.
pub type Proved<'py> = (
    Row<'py>,
    Bound<'py, PyArray2<i64>>,
    Row<'py>,
    Row<'py>,
    Row<'py>,
    Row<'py>,
);

/// Returns a matching and its proof.
pub fn matched<'py>(py: Python<'py>, found: &Matching, weights: &Weights) -> PyResult<Proved<'py>> {
    let sets = &found.certificate.blossoms;
    let row = |numbers: Vec<i64>| PyArray1::from_vec(py, numbers);
    let members = sets.iter().flat_map(|set| &set.members);
    Ok((
        indices(py, mates(weights.n(), &found.circuits)),
        table(py, weights.n(), weights.cells().to_vec())?,
        row(found.certificate.y.clone()),
        row(members.map(|&v| i64::from(v)).collect()),
        row(sets.iter().map(|set| set.members.len() as i64).collect()),
        row(sets.iter().map(|set| set.z).collect()),
    ))
}

/// The mate of each node.
fn mates(nodes: usize, circuits: &Circuits) -> Vec<Option<u32>> {
    let mut mates = vec![None; nodes];
    for circuit in circuits.iter() {
        mates[circuit.a as usize] = Some(circuit.b);
        mates[circuit.b as usize] = Some(circuit.a);
    }
    mates
}

fn weigh(demand: &Matrix, symmetric: bool) -> Result<Weights, Refusal> {
    if !symmetric {
        return Weights::symmetrise(demand);
    }
    demand.require_symmetric()?;
    Weights::new(demand.n(), demand.cells().to_vec())
}

/// Replaces a weight in a refusal by the demand from which it was computed.
fn of_demand(refusal: Refusal, symmetric: bool) -> Refusal {
    let Some(entry) = refusal.key.strip_prefix("weights") else {
        return refusal;
    };
    let indices = entry.trim_matches(['[', ']']).split_once("][");
    let key = match indices.filter(|_| !symmetric) {
        Some((i, j)) => format!("demand[{i}][{j}] + demand[{j}][{i}]"),
        None => format!("demand{entry}"),
    };
    Refusal { key, ..refusal }
}
