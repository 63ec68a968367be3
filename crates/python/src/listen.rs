//! Work in a thread of its own, without the GIL, while the caller listens for signals.
//!
//! Python's handlers run in the thread that called, and only when it looks. Work that is
//! interrupted is asked to halt and not waited for: its result is thrown away when it comes.

use lightloom_engine::Halt;
use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// Between two looks at whether a signal was raised.
const PATIENCE: Duration = Duration::from_millis(50);
/// As much as a main thread has [B]; what is not touched takes no memory.
const STACK: usize = 8 << 20;

/// The result of `work`, unless a signal or `visit` raises first; `visit` is called at intervals.
pub fn visited<T: Send + 'static>(
    py: Python<'_>,
    halt: &Halt,
    mut visit: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::channel();
    // Once a signal was raised, the result is no longer received.
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

/// The result of `work`, unless a signal is raised first.
pub fn listened<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    visited(py, &Halt::default(), |_| Ok(()), work)
}
