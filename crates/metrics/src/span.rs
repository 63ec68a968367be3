//! From when until when latency and throughput are measured.

use crate::batches::BATCHES;
use lightloom_engine::Time;

/// The least share of a stable load that is accepted, if more is missing than chance explains.
pub const CARRIED: f64 = 0.98;

/// From when until when is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The end of warming up.
    pub from: Time,
    /// The end of measuring; later than `from`.
    pub until: Time,
}

impl Span {
    /// The instants between its [`BATCHES`] stretches of equal time, its ends among them.
    pub fn instants(self) -> Vec<Time> {
        let (length, stretches) = ((self.until - self.from).0 as i128, BATCHES as i128);
        // Rounded up: an instant is the first of its stretch.
        let after = |b: i128| Time(((b * length + stretches - 1) / stretches) as i64);
        (0..=stretches).map(|b| self.from + after(b)).collect()
    }
}
