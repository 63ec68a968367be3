//! The loop that steers a clock, and its linear theory.
//!
//! Once per epoch a node measures e, the lead of the leader's clock. It advances its own clock by
//! kp·e and increases its correction per epoch by ki·e. A second-order loop with these gains is an
//! α–β filter with α = kp and β = ki, so its response to white jitter has a closed form (Benedict
//! and Bordner, IRE Trans. Automatic Control 7, 1962). The flight time of light and the computation
//! are assumed to end before the next epoch.

use super::quantity::Hertz;
use lightloom_engine::Time;

/// Gains of the loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// Gain of the time correction: change of the clock per picosecond of error [1].
    pub time: f64,
    /// Gain of the frequency correction: change per epoch and picosecond of error [1].
    pub frequency: f64,
}

impl Gains {
    /// The gains for a bandwidth and a damping, in epochs of this length: 2ζω·T and (ω·T)².
    pub fn new(bandwidth: Hertz, damping: f64, epoch: Time) -> Gains {
        let angle = Gains::natural_frequency(bandwidth, damping) * epoch.as_secs_f64();
        Gains {
            time: 2.0 * damping * angle,
            frequency: angle * angle,
        }
    }

    /// ω [rad/s] of a loop whose noise bandwidth is B = ω/2·(ζ + 1/4ζ).
    pub fn natural_frequency(bandwidth: Hertz, damping: f64) -> f64 {
        2.0 * bandwidth.0 / (damping + 0.25 / damping)
    }

    /// The bandwidth at which one correction equals the error, above which the loop overshoots
    /// because of its sampling alone: kp = 1, or ki = 1 if that is reached first.
    pub fn highest_bandwidth(damping: f64, epoch: Time) -> Hertz {
        let angle = (0.5 / damping).min(1.0);
        Hertz(angle / epoch.as_secs_f64() * (damping + 0.25 / damping) / 2.0)
    }

    /// Variance of the clock ÷ variance of white jitter.
    pub fn of_jitter(&self) -> f64 {
        let (a, b) = (self.time, self.frequency);
        (2.0 * a * a + 2.0 * b - 3.0 * a * b) / (a * (4.0 - 2.0 * a - b))
    }

    /// Variance of the clock ÷ variance that white frequency noise adds per epoch.
    pub fn of_white(&self) -> f64 {
        let (a, b) = (self.time, self.frequency);
        2.0 * (1.0 - a).powi(2) / (a * (4.0 - 2.0 * a - b))
    }
}
