//! The loop that steers a clock, and its linear theory.
//!
//! Once an epoch a node measures by how much the leader's clock is ahead, e. It puts its own
//! clock forward by kp·e, and what it adds to each epoch by ki·e. A loop of second order with
//! these gains is an α–β filter, with α = kp and β = ki, so what it makes of white jitter has
//! a closed form (Benedict and Bordner, IRE Trans. Automatic Control 7, 1962). Light's time of
//! flight and the computation are taken to be over before the next epoch.

use super::config::{ClockConfig, Filter, Loop};
use super::quantity::Hertz;
use lightloom_engine::Time;

/// Gains of the loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// Of time: what a picosecond of error moves the clock [1].
    pub time: f64,
    /// Of frequency: what a picosecond of error adds to each epoch [1].
    pub frequency: f64,
}

impl Gains {
    /// Those of a bandwidth and a damping, in epochs of a length: 2ζω·T and (ω·T)².
    pub fn new(pll: &Loop, epoch: Time) -> Gains {
        let angle = Gains::natural_frequency(pll) * epoch.as_secs_f64();
        Gains {
            time: 2.0 * pll.damping * angle,
            frequency: angle * angle,
        }
    }

    /// ω [rad/s] of a loop whose noise bandwidth is B = ω/2·(ζ + 1/4ζ).
    pub fn natural_frequency(pll: &Loop) -> f64 {
        2.0 * pll.bandwidth.0 / (pll.damping + 0.25 / pll.damping)
    }

    /// The bandwidth at which an error moves the clock by itself, beyond which the loop
    /// overshoots by its sampling alone: kp = 1, or ki = 1 where that comes first.
    pub fn highest_bandwidth(damping: f64, epoch: Time) -> Hertz {
        let angle = (0.5 / damping).min(1.0);
        Hertz(angle / epoch.as_secs_f64() * (damping + 0.25 / damping) / 2.0)
    }

    /// Variance of the clock ÷ variance of white jitter.
    pub fn of_jitter(&self) -> f64 {
        let (a, b) = (self.time, self.frequency);
        (2.0 * a * a + 2.0 * b - 3.0 * a * b) / (a * (4.0 - 2.0 * a - b))
    }

    /// Variance of the clock ÷ variance of what white frequency noise adds in an epoch.
    pub fn of_white(&self) -> f64 {
        let (a, b) = (self.time, self.frequency);
        2.0 * (1.0 - a).powi(2) / (a * (4.0 - 2.0 * a - b))
    }
}

/// What a node makes of a measurement before its loop sees it.
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    /// Step in which errors are measured [ps]; 0: none.
    pub quantum: f64,
    /// Largest error that counts [ps].
    pub limit: f64,
    /// What becomes of one that is larger.
    pub filter: Filter,
}

impl Detector {
    /// The detector of a configuration: an error of `limit` in an epoch is a frequency of `clip`.
    pub fn new(config: &ClockConfig) -> Detector {
        Detector {
            quantum: config.timestamps.quantisation.0,
            limit: config.pll.clip.0 * 1e-6 * config.epoch_ps(),
            filter: config.pll.filter,
        }
    }

    /// The error that counts [ps].
    #[inline(always)]
    pub fn measure(&self, error: f64) -> f64 {
        let mut seen = error;
        if self.quantum > 0.0 {
            // Halves away from zero, without a call to a library.
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
