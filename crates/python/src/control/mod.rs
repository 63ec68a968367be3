//! The control library: matrices in, circuits and schedules out, NumPy on both
//! sides. What the functions mean is written in `lightloom.control`.
//!
//! Solvers run without the GIL in a thread of their own while this one listens
//! for Ctrl-C. A solver that is interrupted is not stopped: its result is thrown
//! away when it comes.

mod arbiters;
mod arrays;
mod decide;
mod matching;
mod schedules;
pub mod switch;
mod topology;

use crate::errors::refused;
use lightloom_engine::Refusal;
use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Between two looks at whether Ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(50);

/// Adds the functions, their names preceded by `control_`.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(arrays::control_time, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::control_time_text, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::control_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::control_rate, m)?)?;
    m.add_function(wrap_pyfunction!(arrays::control_demand, m)?)?;
    arbiters::register(m)?;
    decide::register(m)?;
    matching::register(m)?;
    schedules::register(m)?;
    topology::register(m)
}

/// A refusal by the name that an argument has in Python.
fn named(refusal: Refusal) -> PyErr {
    let key = match refusal.key.as_str() {
        "circuit" => "rate".to_owned(),
        "packet" => "packet_rate".to_owned(),
        _ => return refused(refusal),
    };
    refused(Refusal { key, ..refusal })
}

/// What `solver` finds, unless a signal is raised first.
fn solve<T: Send + 'static>(
    py: Python<'_>,
    solver: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::channel();
    // Nobody listens any more once a signal was raised.
    let thread = thread::spawn(move || drop(sender.send(solver())));
    let receiver = std::sync::Mutex::new(receiver);
    loop {
        let waited = py.detach(|| {
            let receiver = receiver.lock().expect("no other thread has it");
            receiver.recv_timeout(PATIENCE)
        });
        match waited {
            Ok(found) => return found.map_err(named),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let panic = thread.join().expect_err("only a panic sends nothing");
    std::panic::resume_unwind(panic)
}
