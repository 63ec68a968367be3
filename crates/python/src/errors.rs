//! Converts refusals to Python exceptions.

use lightloom_engine::Refusal;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    _core,
    ConfigError,
    PyValueError,
    "A configuration that cannot run: its text names the key, the value, the limit and the remedy."
);

const FIELDS: [&str; 4] = ["key", "value", "limit", "remedy"];

/// Adds the exception. Its fields are None unless a refusal sets them; its `trace` is None unless a
/// user's code raised an exception.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let class = m.py().get_type::<ConfigError>();
    class.setattr("__module__", "lightloom")?;
    for field in FIELDS {
        class.setattr(field, m.py().None())?;
    }
    class.setattr("trace", m.py().None())?;
    m.add("ConfigError", class)
}

/// The exception of a refusal, with its fields as attributes.
pub fn refused(refusal: Refusal) -> PyErr {
    let error = ConfigError::new_err(refusal.to_string());
    Python::attach(move |py| {
        let value = error.value(py);
        let texts = [refusal.key, refusal.value, refusal.limit, refusal.remedy];
        for (field, text) in FIELDS.into_iter().zip(texts) {
            if let Err(e) = value.setattr(field, text) {
                return e;
            }
        }
        error
    })
}

/// The refusal of a [`ConfigError`]; a refusal of `key` if the exception has no fields.
pub fn refusal_of(py: Python<'_>, error: &PyErr, key: &str) -> Refusal {
    let text = |field: &str| {
        let value = error.value(py).getattr(field).ok()?;
        value.extract::<String>().ok()
    };
    let [of, value, limit, remedy] = FIELDS.map(text);
    Refusal::new(
        of.unwrap_or_else(|| key.to_owned()),
        value.unwrap_or_default(),
        limit.unwrap_or_else(|| error.value(py).to_string()),
        remedy.unwrap_or_else(|| "correct it".to_owned()),
    )
}
