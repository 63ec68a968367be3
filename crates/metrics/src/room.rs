//! Whether a run, or a window of it, is long enough for intervals of its figures.
//!
//! How long figures resemble each other is a matter of queues (`relaxation`) or is not known; what
//! follows from the answer is in `batches` and `bounds`.

use lightloom_engine::Time;

/// So many relaxation times an interval takes at least. Of 200 runs of a Clos at loads 0.5 to 0.9
/// with fixed and exponential sizes, the intervals of mean, median and 99th percentile hold the truth
/// in 79 to 92 of 100 at 3 relaxation times, in 92 to 100 at 10, and in 95 to 100 at 20.
pub const RELAXATIONS: f64 = 20.0;

/// Whether a run, or a window of it, is long enough for intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Room {
    /// No theory says it: sizes without a variance, jobs, flows that arrive at once.
    #[default]
    Unknown,
    /// The time is shorter than [`RELAXATIONS`] relaxation times.
    Short,
    /// The run or the window lasts at least [`RELAXATIONS`] relaxation times.
    Long,
}

impl Room {
    /// The room in a time, with this relaxation time [s].
    pub(crate) fn of(time: Time, relaxation: Option<f64>) -> Room {
        match relaxation {
            None => Room::Unknown,
            Some(seconds) if time.as_secs_f64() < RELAXATIONS * seconds => Room::Short,
            Some(_) => Room::Long,
        }
    }
}
