//! Requests for an early end of a computation, from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A flag that requests the end of a computation; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// Requests the end; the results are then discarded.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the end was requested.
    #[inline]
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
