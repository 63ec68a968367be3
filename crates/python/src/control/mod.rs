//! The control library: takes matrices and returns circuits and schedules, both as NumPy arrays.
//! `lightloom.control` documents the functions.
//!
//! Solvers run in separate threads ([`crate::listen`]). An interrupted solver is not stopped; its
//! result is discarded.

mod arbiters;
mod arrays;
mod decide;
mod live;
mod matching;
mod replay;
mod schedules;
pub mod switch;
mod topology;

use crate::errors::refused;
use crate::listen::listened;
use lightloom_engine::Refusal;
use pyo3::prelude::*;

/// Adds the functions with the prefix `control_`.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(arrays::control_time, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::control_time_text, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::control_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::control_rate, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::control_demand, m)?)?;
    arbiters::register(m)?;
    decide::register(m)?;
    live::register(m)?;
    matching::register(m)?;
    replay::register(m)?;
    schedules::register(m)?;
    topology::register(m)
}

/// Converts a refusal, with the argument's name in Python.
fn named(refusal: Refusal) -> PyErr {
    match refusal.key.as_str() {
        "circuit" => refused(Refusal {
            key: "rate".to_owned(),
            ..refusal
        }),
        _ => refused(refusal),
    }
}

/// Returns the result of `solver`, unless a signal is raised first.
fn solve<T: Send + 'static>(
    py: Python<'_>,
    solver: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> PyResult<T> {
    listened(py, solver)?.map_err(named)
}
