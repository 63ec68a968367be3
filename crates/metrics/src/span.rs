//! The time in which latency and throughput are measured.

use crate::batches::BATCHES;
use lightloom_engine::Time;

/// The smallest accepted share of a stable load, if more is missing than chance explains.
pub const CARRIED: f64 = 0.98;

/// The measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The end of the warm-up.
    pub from: Time,
    /// The end of the measurement; later than `from`.
    pub until: Time,
}

impl Span {
    /// The boundaries of its [`BATCHES`] intervals of equal length, with both ends.
    pub fn instants(self) -> Vec<Time> {
        let (length, stretches) = ((self.until - self.from).0 as i128, BATCHES as i128);
        // Rounded up: an instant is the first of its interval.
        let after = |b: i128| Time(((b * length + stretches - 1) / stretches) as i64);
        (0..=stretches).map(|b| self.from + after(b)).collect()
    }
}
