//! Whether a run, or a window of it, is long enough for intervals of its figures.
//!
//! The time over which figures are correlated follows from the queues (`relaxation`) or is not
//! known. `batches` and `bounds` use the answer.

use lightloom_engine::Time;

/// The smallest number of relaxation times for an interval. In 200 runs of a Clos at loads 0.5 to
/// 0.9 with fixed and exponential sizes, 79 to 92 of 100 intervals of mean, median and 99th
/// percentile contain the true value at 3 relaxation times, 92 to 100 at 10, and 95 to 100 at 20.
pub const RELAXATIONS: f64 = 20.0;

/// Whether a run, or a window of it, is long enough for intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Room {
    /// No theory applies: sizes without a variance, jobs, flows that arrive at once.
    #[default]
    Unknown,
    /// The time is shorter than [`RELAXATIONS`] relaxation times.
    Short,
    /// The run or the window lasts at least [`RELAXATIONS`] relaxation times.
    Long,
}

impl Room {
    /// The result for a time, with this relaxation time [s].
    pub(crate) fn of(time: Time, relaxation: Option<f64>) -> Room {
        match relaxation {
            None => Room::Unknown,
            Some(seconds) if time.as_secs_f64() < RELAXATIONS * seconds => Room::Short,
            Some(_) => Room::Long,
        }
    }
}
