//! Tells Python how a run goes, and hears Ctrl-C.

use lightloom_engine::run::Progress;
use lightloom_engine::{Ledger, Time};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// Between two visits to Python: at most 20 a second.
const PERIOD: Duration = Duration::from_millis(50);

/// Visits Python now and then while a run goes on without the GIL.
pub struct Watch {
    callback: Option<Py<PyAny>>,
    total_bytes: u64,
    last: Option<Instant>,
    /// What the callback or a signal raised; it has stopped the run.
    pub error: Option<PyErr>,
}

impl Watch {
    /// Calls `callback(now_s, end_s, delivered_fraction)`.
    pub fn new(callback: Option<Py<PyAny>>, total_bytes: u64) -> Watch {
        Watch {
            callback,
            total_bytes,
            last: None,
            error: None,
        }
    }

    fn visit(&self, py: Python, now: Time, end: Time, ledger: &Ledger) -> PyResult<()> {
        py.check_signals()?;
        if let Some(callback) = &self.callback {
            let fraction = ledger.delivered as f64 / self.total_bytes.max(1) as f64;
            callback.call1(py, (now.as_secs_f64(), end.as_secs_f64(), fraction))?;
        }
        Ok(())
    }
}

impl Progress for Watch {
    fn tick(&mut self, now: Time, end: Time, ledger: &Ledger) -> bool {
        let ended = now >= end;
        if !ended && self.last.is_some_and(|t| t.elapsed() < PERIOD) {
            return true;
        }
        self.last = Some(Instant::now());
        self.error = Python::attach(|py| self.visit(py, now, end, ledger)).err();
        self.error.is_none()
    }
}
