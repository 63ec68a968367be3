//! Reports of a run's progress.

/// Receives the number of further updates of a clock, and returns whether to continue.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> bool;
