//! Schedules of slots, and the algorithms that compute them.

use super::arrays::{column, demand, optional, quantity, table, with_diagonal};
use super::solve;
use crate::errors::refused;
use lightloom_control::algorithms::birkhoff::{self, Scaling, Stop};
use lightloom_control::algorithms::{eclipse, quickstuff, sinkhorn, solstice};
use lightloom_control::schedule::{Frame, Schedule};
use lightloom_engine::{Bytes, Rate, Refusal, Time};
use lightloom_fabrics::hybrid::schedule_file::read_plan;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(control_sinkhorn, m)?)?;
    m.add_function(wrap_pyfunction!(control_quickstuff, m)?)?;
    m.add_function(wrap_pyfunction!(control_birkhoff, m)?)?;
    m.add_function(wrap_pyfunction!(control_traffic_matrix, m)?)?;
    m.add_function(wrap_pyfunction!(control_solstice, m)?)?;
    m.add_function(wrap_pyfunction!(control_eclipse, m)?)?;
    m.add_function(wrap_pyfunction!(control_coverage_bound, m)?)?;
    m.add_function(wrap_pyfunction!(control_round_robin, m)?)?;
    m.add_function(wrap_pyfunction!(control_round_robin_in, m)?)?;
    m.add_function(wrap_pyfunction!(control_read_plan, m)?)?;
    m.add_function(wrap_pyfunction!(control_bytes_in, m)?)
}

type Any<'a, 'py> = &'a Bound<'py, PyAny>;
type Row<'py> = Bound<'py, PyArray1<i64>>;
type Table<'py, T> = Bound<'py, PyArray2<T>>;
/// The output of every input in each slot; the days [ps]; the night [ps].
pub type Slots<'py> = (Table<'py, i64>, Row<'py>, i64);

pub fn slots<'py>(py: Python<'py>, schedule: &Schedule) -> PyResult<Slots<'py>> {
    let outputs = schedule.slots.iter().flat_map(|slot| &slot.permutation);
    let permutations = table(py, schedule.ports, outputs.map(|&o| i64::from(o)).collect())?;
    let days = schedule.slots.iter().map(|slot| slot.day.0).collect();
    Ok((permutations, PyArray1::from_vec(py, days), schedule.night.0))
}

/// Reads the names of a plan's nodes from its file, if there are any, and its schedule.
#[pyfunction]
fn control_read_plan<'py>(py: Python<'py>, path: &str) -> PyResult<(Vec<String>, Slots<'py>)> {
    let planned = read_plan(path, "schedule").map_err(refused)?;
    Ok((planned.names, slots(py, &planned.schedule)?))
}

/// Returns shares, shares in whole units of 2⁻⁴⁰, rounds, and the error.
#[pyfunction]
fn control_sinkhorn<'py>(
    py: Python<'py>,
    matrix: Any<'_, 'py>,
    epsilon: f64,
    tolerance: f64,
    max_rounds: usize,
) -> PyResult<(Table<'py, f64>, Table<'py, i64>, usize, f64)> {
    let matrix = demand(matrix)?;
    let options = sinkhorn::Options {
        epsilon,
        tolerance,
        max_rounds,
    };
    let (scaled, units) = solve(py, move || {
        let scaled = sinkhorn::scale(&matrix, &options)?;
        let units = scaled.units();
        Ok((scaled, units))
    })?;
    let (rounds, error) = (scaled.rounds, scaled.error);
    let units = table(py, scaled.n, units.cells().to_vec())?;
    Ok((table(py, scaled.n, scaled.cells)?, units, rounds, error))
}

/// Returns the stuffed matrix.
#[pyfunction]
fn control_quickstuff<'py>(py: Python<'py>, matrix: Any<'_, 'py>) -> PyResult<Table<'py, i64>> {
    let matrix = demand(matrix)?;
    let stuffed = solve(py, move || Ok(quickstuff::stuff(&matrix).matrix))?;
    table(py, stuffed.n(), stuffed.cells().to_vec())
}

/// Returns permutations, one per row, and their weights; and the line sum.
#[pyfunction]
fn control_birkhoff<'py>(
    py: Python<'py>,
    matrix: Any<'_, 'py>,
    mass: f64,
    terms: Option<usize>,
) -> PyResult<(Table<'py, i64>, Row<'py>, i64)> {
    let matrix = with_diagonal(matrix)?;
    let terms = terms.unwrap_or(usize::MAX);
    let found = solve(py, move || {
        birkhoff::decompose(&matrix, Stop { mass, terms })
    })?;
    let outputs = found.terms.iter().flat_map(|term| &term.permutation);
    let permutations = table(py, found.n, outputs.map(|&o| i64::from(o)).collect())?;
    let weights = found.terms.iter().map(|term| term.weight).collect();
    Ok((
        permutations,
        PyArray1::from_vec(py, weights),
        found.line_sum,
    ))
}

/// The limits of a schedule, from texts with units; the default is that of `Frame::of`.
fn frame(
    period: Any<'_, '_>,
    night: Any<'_, '_>,
    shortest: Option<Any<'_, '_>>,
    max_slots: Option<usize>,
) -> PyResult<Frame> {
    let frame = Frame::of(quantity("period", period)?);
    let night: Time = quantity("night", night)?;
    Ok(Frame {
        night,
        shortest: optional("shortest", shortest)?.unwrap_or(Time(night.0.saturating_add(1))),
        max_slots: max_slots.unwrap_or(frame.max_slots),
        ..frame
    })
}

/// Computes Mordia's schedule.
#[pyfunction]
fn control_traffic_matrix<'py>(
    py: Python<'py>,
    matrix: Any<'_, 'py>,
    scaling: &str,
    period: Any<'_, 'py>,
    night: Any<'_, 'py>,
    shortest: Option<Any<'_, 'py>>,
    max_slots: Option<usize>,
) -> PyResult<Slots<'py>> {
    let scaling = match scaling {
        "sinkhorn" => Scaling::Sinkhorn(sinkhorn::Options::default()),
        "quickstuff" => Scaling::QuickStuff,
        _ => {
            let limit = "no such scaling";
            let remedy = "use \"sinkhorn\" or \"quickstuff\"";
            return Err(refused(Refusal::new("scaling", scaling, limit, remedy)));
        }
    };
    let (matrix, frame) = (demand(matrix)?, frame(period, night, shortest, max_slots)?);
    let schedule = solve(py, move || birkhoff::plan(&matrix, scaling, &frame))?;
    slots(py, &schedule)
}

/// Returns the schedule; the demand that packets carry [bytes]; the time at which all demand is
/// served; and a lower bound on that time for every schedule [ps].
#[pyfunction]
fn control_solstice<'py>(
    py: Python<'py>,
    matrix: Any<'_, 'py>,
    circuit: Any<'_, 'py>,
    packet_rate: Any<'_, 'py>,
    night: Any<'_, 'py>,
    shortest: Any<'_, 'py>,
    packet: Any<'_, 'py>,
) -> PyResult<(Slots<'py>, Table<'py, i64>, i64, i64)> {
    let network = solstice::Network {
        circuit: quantity("rate", circuit)?,
        packet: quantity("packet_rate", packet_rate)?,
        night: quantity("night", night)?,
    };
    let packet: Bytes = quantity("packet", packet)?;
    let limits = solstice::Limits {
        shortest: quantity("shortest", shortest)?,
        packet: i64::try_from(packet.0).unwrap_or(i64::MAX),
    };
    let matrix = demand(matrix)?;
    let (plan, bound) = solve(py, move || {
        let plan = solstice::plan_within(&matrix, &network, &limits)?;
        Ok((plan, solstice::lower_bound(&matrix, &network)?))
    })?;
    let residual = table(py, plan.residual.n(), plan.residual.cells().to_vec())?;
    Ok((slots(py, &plan.schedule)?, residual, plan.total.0, bound.0))
}

/// Returns the schedule, the bytes that it carries, and an upper bound on the bytes of every
/// schedule.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the same arguments as its Python function
fn control_eclipse<'py>(
    py: Python<'py>,
    matrix: Any<'_, 'py>,
    rate: Any<'_, 'py>,
    period: Any<'_, 'py>,
    night: Any<'_, 'py>,
    shortest: Option<Any<'_, 'py>>,
    max_slots: Option<usize>,
    step: f64,
) -> PyResult<(Slots<'py>, i64, i64)> {
    let options = eclipse::Options {
        rate: quantity("rate", rate)?,
        frame: frame(period, night, shortest, max_slots)?,
        step,
    };
    let matrix = demand(matrix)?;
    let plan = solve(py, move || eclipse::plan(&matrix, &options))?;
    Ok((slots(py, &plan.schedule)?, plan.covered, plan.upper_bound))
}

/// Returns an upper bound on the bytes that a schedule can carry.
#[pyfunction]
fn control_coverage_bound<'py>(
    py: Python<'py>,
    matrix: Any<'_, 'py>,
    rate: Any<'_, 'py>,
    period: Any<'_, 'py>,
    night: Any<'_, 'py>,
) -> PyResult<i64> {
    let frame = frame(period, night, None, None)?;
    let options = eclipse::Options::new(quantity("rate", rate)?, frame);
    let matrix = demand(matrix)?;
    solve(py, move || eclipse::upper_bound(&matrix, &options))
}

#[pyfunction]
fn control_round_robin<'py>(
    py: Python<'py>,
    ports: usize,
    day: Any<'_, 'py>,
    night: Any<'_, 'py>,
) -> PyResult<Slots<'py>> {
    let (day, night): (Time, Time) = (quantity("day", day)?, quantity("night", night)?);
    let schedule = solve(py, move || Schedule::round_robin(ports, day, night))?;
    slots(py, &schedule)
}

#[pyfunction]
fn control_round_robin_in<'py>(
    py: Python<'py>,
    ports: usize,
    period: Any<'_, 'py>,
    night: Any<'_, 'py>,
) -> PyResult<Slots<'py>> {
    let frame = frame(period, night, None, None)?;
    let schedule = solve(py, move || Schedule::round_robin_in(ports, &frame))?;
    slots(py, &schedule)
}

/// Returns the whole bytes that `rate` carries in each of the given days [ps].
#[pyfunction]
fn control_bytes_in<'py>(
    py: Python<'py>,
    days: Any<'_, 'py>,
    rate: Any<'_, 'py>,
) -> PyResult<Row<'py>> {
    let rate: Rate = quantity("rate", rate)?;
    let whole = |day: i64| i64::try_from(rate.bytes_in(Time(day))).unwrap_or(i64::MAX);
    Ok(PyArray1::from_vec(
        py,
        column(days)?.into_iter().map(whole).collect(),
    ))
}
