//! The measurement of a node's time difference to its leader, and the filter of these measurements
//! (Sirius §4.4: "it is also possible to digitally filter too large frequency variations").

use super::config::{ClockConfig, Filter};

/// The filter of a node's measurements before its loop.
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    /// Step in which errors are measured [ps]; 0 for no quantisation.
    pub quantum: f64,
    /// Largest error that is used as measured [ps].
    pub limit: f64,
    /// The treatment of larger errors.
    pub filter: Filter,
}

impl Detector {
    /// The detector of a configuration: an error of `limit` per epoch is a frequency difference of
    /// `clip`.
    pub fn new(config: &ClockConfig) -> Detector {
        Detector {
            quantum: config.timestamps.quantisation.0,
            limit: config.pll.clip.0 * 1e-6 * config.epoch_ps(),
            filter: config.pll.filter,
        }
    }

    /// The error that the loop uses [ps].
    #[inline(always)]
    pub fn measure(&self, error: f64) -> f64 {
        let mut seen = error;
        if self.quantum > 0.0 {
            // Rounds halves away from zero without a library call.
            let steps = error / self.quantum + 0.5f64.copysign(error);
            seen = steps as i64 as f64 * self.quantum;
        }
        match self.filter {
            Filter::Clip => seen.clamp(-self.limit, self.limit),
            Filter::Reject if seen.abs() > self.limit => 0.0,
            Filter::Reject => seen,
        }
    }
}
