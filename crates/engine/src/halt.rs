//! Asking a computation to end early, from another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A flag that requests the end of a computation; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// Asks for the end: what is computed from here on is thrown away.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for.
    #[inline]
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
