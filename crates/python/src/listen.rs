//! Runs work in a separate thread, without the GIL, while the caller checks for signals.
//!
//! Python's signal handlers run in the calling thread, and only when it checks for signals.
//! Interrupted work is asked to halt but not waited for; its result is discarded.

use lightloom_engine::Halt;
use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// Time between two checks for signals.
const PATIENCE: Duration = Duration::from_millis(50);
/// The stack size of a main thread [B]; unused pages take no memory.
const STACK: usize = 8 << 20;

/// Returns the result of `work`, unless a signal or `visit` raises an exception first; `visit` is
/// called at intervals.
pub fn visited<T: Send + 'static>(
    py: Python<'_>,
    halt: &Halt,
    mut visit: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::channel();
    // After a signal the result has no receiver.
    let thread = thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || drop(sender.send(work())))?;
    let receiver = Mutex::new(receiver);
    loop {
        let waited = py.detach(|| {
            let receiver = receiver.lock().expect("no other thread has it");
            receiver.recv_timeout(PATIENCE)
        });
        match waited {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(raised) = py.check_signals().and_then(|()| visit(py)) {
                    halt.ask();
                    return Err(raised);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let panic = thread.join().expect_err("only a panic sends nothing");
    std::panic::resume_unwind(panic)
}

/// Returns the result of `work`, unless a signal is raised first.
pub fn listened<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    visited(py, &Halt::default(), |_| Ok(()), work)
}
