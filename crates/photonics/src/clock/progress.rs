//! Reports of a run's progress.

/// Hears how many more updates of a clock are done, and says whether to go on.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> bool;
