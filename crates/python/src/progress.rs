//! Reports the progress of a run to Python.

use lightloom_engine::run::Progress;
use lightloom_engine::{Halt, Ledger, Time};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Time between two reports of a run: at most 20 reports a second.
const PERIOD: Duration = Duration::from_millis(50);

/// The progress of a run: simulated time [s], its end [s], fraction of bytes delivered. While flows
/// are drawn, the end is 0 and the fraction is that of the flows drawn.
type Place = (f64, f64, f64);

/// State shared by the thread of the run and the thread that reports.
#[derive(Clone, Default)]
pub struct Told {
    place: Arc<Mutex<Option<Place>>>,
    /// Ends the run.
    pub halt: Halt,
}

impl Told {
    fn tell(&self, place: Place) {
        if let Ok(mut told) = self.place.lock() {
            *told = Some(place);
        }
    }

    /// Records the drawn share of the flows; returns whether to continue.
    pub fn drawn(&self, share: f64) -> bool {
        self.tell((0.0, 0.0, share));
        !self.halt.asked()
    }

    /// Calls `callback(now_s, end_s, fraction)` if the progress has changed.
    ///
    /// # Errors
    /// The exception of the callback.
    pub fn visit(&self, py: Python<'_>, callback: Option<&Py<PyAny>>) -> PyResult<()> {
        let news = self.place.lock().ok().and_then(|mut told| told.take());
        if let (Some(place), Some(callback)) = (news, callback) {
            callback.call1(py, place)?;
        }
        Ok(())
    }
}

/// Reports the progress of a run, and ends the run on request.
pub struct Teller {
    told: Told,
    total_bytes: u64,
    last: Option<Instant>,
}

impl Teller {
    /// Creates the reporter of a run whose flows have this number of bytes.
    pub fn new(told: Told, total_bytes: u64) -> Teller {
        Teller {
            told,
            total_bytes,
            last: None,
        }
    }
}

impl Progress for Teller {
    fn tick(&mut self, now: Time, end: Time, ledger: &Ledger) -> bool {
        let ended = now >= end;
        if ended || self.last.is_none_or(|t| t.elapsed() >= PERIOD) {
            self.last = Some(Instant::now());
            let fraction = ledger.delivered as f64 / self.total_bytes.max(1) as f64;
            self.told
                .tell((now.as_secs_f64(), end.as_secs_f64(), fraction));
        }
        !self.told.halt.asked()
    }
}
