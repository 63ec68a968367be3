//! Converts NumPy arrays to the types of the control library, and back.

use crate::errors::refused;
use lightloom_control::demand::Matrix;
use lightloom_engine::quantity::Bytes;
use lightloom_engine::{Rate, Refusal, Time};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::str::FromStr;

/// Rows, columns, and the entries row by row, for any memory layout of the array.
type Entries<T> = (usize, usize, Vec<T>);

fn entries<T: numpy::Element + Copy>(array: &PyReadonlyArray2<'_, T>) -> Entries<T> {
    let view = array.as_array();
    let (rows, columns) = view.dim();
    let cells = match view.as_slice() {
        Some(cells) => cells.to_vec(),
        None => view.iter().copied().collect(),
    };
    (rows, columns, cells)
}

/// Reads a two-dimensional array of f64 or i64 as demand [bytes].
pub fn demand(array: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, f64>>() {
        let (rows, columns, cells) = entries(&array);
        return Matrix::from_f64(rows, columns, &cells).map_err(refused);
    }
    let (rows, columns, cells) = integers(array)?;
    Matrix::new(rows, columns, cells).map_err(refused)
}

/// Reads a two-dimensional array of i64 whose diagonal may be used.
pub fn with_diagonal(array: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    let (rows, columns, cells) = integers(array)?;
    Matrix::with_diagonal(rows, columns, cells).map_err(refused)
}

/// Reads a one-dimensional array of i64.
pub fn column(array: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let array: PyReadonlyArray1<'_, i64> = array.extract()?;
    Ok(array.as_array().iter().copied().collect())
}

/// Reads a two-dimensional array of i64.
pub fn integers(array: &Bound<'_, PyAny>) -> PyResult<Entries<i64>> {
    match array.extract::<PyReadonlyArray2<'_, i64>>() {
        Ok(array) => Ok(entries(&array)),
        Err(_) => Err(PyTypeError::new_err(
            "an array of two dimensions of int64 or float64",
        )),
    }
}

/// Reads a two-dimensional array of Booleans.
pub fn booleans(array: &Bound<'_, PyAny>) -> PyResult<Entries<bool>> {
    match array.extract::<PyReadonlyArray2<'_, bool>>() {
        Ok(array) => Ok(entries(&array)),
        Err(_) => Err(PyTypeError::new_err("an array of two dimensions of bool")),
    }
}

/// Reads a quantity with its unit: `"10 us"`, `"10 Gb/s"`.
pub fn quantity<T: FromStr<Err = String>>(key: &str, value: &Bound<'_, PyAny>) -> PyResult<T> {
    let text = value.str()?.to_string();
    text.parse().map_err(|problem| {
        refused(Refusal::new(
            key,
            format!("\"{text}\""),
            problem,
            "correct the value",
        ))
    })
}

/// Reads an optional quantity.
pub fn optional<T: FromStr<Err = String>>(
    key: &str,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<T>> {
    value.map(|value| quantity(key, value)).transpose()
}

/// Returns indices; -1 stands for none, because NumPy's integers have no null value.
pub fn indices(
    py: Python<'_>,
    found: impl IntoIterator<Item = Option<u32>>,
) -> Bound<'_, PyArray1<i64>> {
    let index = |found: Option<u32>| found.map_or(-1, i64::from);
    PyArray1::from_vec(py, found.into_iter().map(index).collect())
}

/// Returns a table of `columns` columns from its rows.
pub fn table<T: numpy::Element + Copy>(
    py: Python<'_>,
    columns: usize,
    cells: Vec<T>,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let rows = cells.len().checked_div(columns).unwrap_or(0);
    PyArray1::from_vec(py, cells).reshape([rows, columns])
}

/// Reads a time [ps] from text with a unit.
#[pyfunction]
pub fn control_time(key: &str, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    quantity::<Time>(key, value).map(|time| time.0)
}

/// Reads an amount of data [bytes] from text with a unit.
#[pyfunction]
pub fn control_bytes(key: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    quantity::<Bytes>(key, value).map(|bytes| bytes.0)
}

/// Reads a rate [b/s] from text with a unit.
#[pyfunction]
pub fn control_rate(key: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    quantity::<Rate>(key, value).map(|rate| rate.0)
}

/// Returns a time [ps] as text with its unit.
#[pyfunction]
pub fn control_time_text(time: i64) -> String {
    Time(time).to_string()
}

/// Returns a checked demand in whole bytes.
#[pyfunction]
pub fn control_demand<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let matrix = demand(array)?;
    table(py, matrix.n(), matrix.into_cells())
}
