//! The DSDBR laser. Its wavelength rings after a step of the tuning current; a drive that first
//! overshoots and then undershoots prevents the ringing (Sirius §3.2).
//!
//! The wavelength is a second-order system, x″ + 2αx′ + (α² + ω²)x = (α² + ω²)u. Exactly one pair
//! of drive steps, on the grid of the converter, brings the system to rest at the target. Chips
//! differ: for every ordered pair of wavelengths the ringing frequency and the gain of the drive
//! deviate slightly from the values for which the steps were computed, and the remaining error
//! rings out. This takes longer for wavelengths that are farther apart.
//!
//! **Calibration**: the paper states two figures for all 12,432 pairs, median 14 ns and worst 92
//! ns. `decay` and `mismatch` are fitted to them for seed 3; the other values are assumed. Other
//! sets of values give the same two figures, and the distribution between them is not known. The
//! ringing crosses the tolerance at most once in half a period, so the worst time changes in jumps:
//! other chips (seeds 1 to 7) have 85 to 95 ns. The steps of the current are assumed equal. Mode
//! boundaries of real DSDBR lasers, heating, drift and the quantised amplitude of the converter are
//! not modelled.

use lightloom_engine::{check_range, Refusal, Stream, Time};
use rand_distr::{Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ringing of a DSDBR laser after a step of its current, and its drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Drive {
    /// Period of the ringing [time]; assumed.
    pub period: Time,
    /// Time in which the ringing falls to 1/e [time]; fitted, together with `mismatch`.
    pub decay: Time,
    /// Duration of the overshoot of the drive [time], a multiple of 1 ns (the step of the
    /// converter); assumed.
    pub overshoot: Time,
    /// Duration of the undershoot after the overshoot [time]; assumed.
    pub undershoot: Time,
    /// Standard deviation of the ringing frequency and the gain of a pair of wavelengths from the
    /// computed values, cut at three deviations [ratio]; fitted, together with `decay`.
    pub mismatch: f64,
    /// Largest distance from the target at which the laser counts as tuned [channels]; assumed.
    pub tolerance: f64,
    /// Seed of the mismatches, which represents the chip [number].
    pub seed: u64,
}

impl Default for Drive {
    fn default() -> Self {
        Drive {
            period: Time::NS * 20,
            decay: Time(29_200),
            overshoot: Time::NS * 3,
            undershoot: Time::NS * 3,
            mismatch: 0.003_8,
            tolerance: 0.1,
            seed: 3,
        }
    }
}

/// Step of the converter that drives the laser.
const GRID: Time = Time::NS;
/// Mismatches beyond this number of standard deviations are calibrated away.
const WORST_MISMATCH: f64 = 3.0;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Complex(f64, f64);

impl Complex {
    fn exp(self) -> Complex {
        let size = self.0.exp();
        Complex(size * self.1.cos(), size * self.1.sin())
    }
    fn times(self, o: Complex) -> Complex {
        Complex(self.0 * o.0 - self.1 * o.1, self.0 * o.1 + self.1 * o.0)
    }
    fn scaled(self, k: f64) -> Complex {
        Complex(self.0 * k, self.1 * k)
    }
    fn plus(self, o: Complex) -> Complex {
        Complex(self.0 + o.0, self.1 + o.1)
    }
}

/// The drive steps of a laser that rings as computed, relative to the change of wavelength.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// First step: overshoots if more than 1.
    pub over: f64,
    /// Second step: undershoots if less than 1.
    pub under: f64,
}

/// The deviation of a pair of wavelengths from the values for which its steps were computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mismatch {
    /// Error of the ringing frequency [ratio].
    pub frequency: f64,
    /// Error of the drive's gain beyond the final current [ratio].
    pub gain: f64,
}

impl Drive {
    fn decay_rate(&self) -> f64 {
        1.0 / self.decay.as_secs_f64()
    }

    fn frequency(&self, mismatch: Mismatch) -> f64 {
        std::f64::consts::TAU / self.period.as_secs_f64() * (1.0 + mismatch.frequency)
    }

    /// exp(−p·t) for the eigenvalue p = −α + iω: the effect of a step at `t` on the ringing.
    fn back(&self, mismatch: Mismatch, t: Time) -> Complex {
        let s = t.as_secs_f64();
        Complex(self.decay_rate() * s, -self.frequency(mismatch) * s).exp()
    }

    /// When the overshoot ends, and when the undershoot ends.
    fn switches(&self) -> [Time; 2] {
        [self.overshoot, self.overshoot + self.undershoot]
    }

    /// The two steps that bring a laser to rest at its target. `None` if the drive's times have no
    /// such steps, for example if both are half a period.
    pub fn steps(&self) -> Option<Steps> {
        // over·(1 − e₁) + under·(e₁ − e₂) + e₂ = 0, in the real and the imaginary part.
        let [e1, e2] = self.switches().map(|t| self.back(Mismatch::default(), t));
        let (a, b) = ((1.0 - e1.0, -e1.1), (e1.0 - e2.0, e1.1 - e2.1));
        let determinant = a.0 * b.1 - a.1 * b.0;
        (determinant.abs() > 1e-9).then(|| Steps {
            over: (-e2.0 * b.1 + e2.1 * b.0) / determinant,
            under: (-a.0 * e2.1 + a.1 * e2.0) / determinant,
        })
    }

    /// The ringing after the drive, extrapolated to its start: x(t) − 1 = −Re(r·exp(p·t)).
    fn ringing(&self, steps: Option<Steps>, mismatch: Mismatch) -> Complex {
        let ratio = self.decay_rate() / self.frequency(mismatch);
        let of_a_step = Complex(1.0, -ratio);
        let Some(steps) = steps else {
            return of_a_step;
        };
        let [over, under] =
            [steps.over, steps.under].map(|u| 1.0 + (u - 1.0) * (1.0 + mismatch.gain));
        let [e1, e2] = self.switches().map(|t| self.back(mismatch, t));
        let sum = Complex(over, 0.0)
            .plus(e1.scaled(under - over))
            .plus(e2.scaled(1.0 - under));
        sum.times(of_a_step)
    }

    /// When a laser last enters the tolerance of a wavelength at a distance of `channels`. `steps`
    /// are those of [`Drive::steps`]; `None` stands for a single step.
    pub fn settles(&self, steps: Option<Steps>, mismatch: Mismatch, channels: u32) -> Time {
        let driven = steps
            .map_or(Time::ZERO, |_| self.switches()[1])
            .as_secs_f64();
        let ringing = self.ringing(steps, mismatch);
        let limit = self.tolerance / f64::from(channels);
        let off = |t: f64| {
            let w = self.frequency(mismatch) * t;
            (-self.decay_rate() * t).exp() * (ringing.0 * w.cos() - ringing.1 * w.sin())
        };
        let half = std::f64::consts::PI / self.frequency(mismatch);
        let mut peak = self.peak_after_envelope(ringing, mismatch, limit);
        while peak > driven && off(peak).abs() <= limit {
            peak -= half;
        }
        let from = peak.max(driven);
        if off(from).abs() <= limit {
            return Time::from_secs_f64(driven);
        }
        // The error falls from the peak to 0 within half a period, and stays below the limit after.
        let outside = |t: f64| off(t).abs() > limit;
        let zero = last((from, from + half), |t| (off(t) > 0.0) == (off(from) > 0.0));
        Time::from_secs_f64(last((from, zero), outside))
    }

    /// The first time [s] after the envelope fell below the limit at which the wavelength has a
    /// peak below it. The wavelength peaks once in every half period, where tan(ωt + arg r) = −α/ω.
    fn peak_after_envelope(&self, ringing: Complex, mismatch: Mismatch, limit: f64) -> f64 {
        let (decay, frequency) = (self.decay_rate(), self.frequency(mismatch));
        let envelope = (ringing.0.hypot(ringing.1) / limit).ln().max(0.0) / decay;
        let shift = (decay / frequency).atan() + ringing.1.atan2(ringing.0);
        let half_periods = (envelope * frequency + shift) / std::f64::consts::PI;
        (half_periods.ceil() * std::f64::consts::PI - shift) / frequency
    }

    /// The mismatch of an ordered pair on this chip.
    pub fn mismatch(&self, wavelengths: u32, from: u32, to: u32) -> Mismatch {
        let index = u64::from(from) * u64::from(wavelengths) + u64::from(to);
        let mut stream = Stream::new(self.seed, "laser mismatch", index);
        let mut draw = || {
            let x: f64 = StandardNormal.sample(&mut stream);
            self.mismatch * x.clamp(-WORST_MISMATCH, WORST_MISMATCH)
        };
        Mismatch {
            frequency: draw(),
            gain: draw(),
        }
    }

    /// Refuses a drive that cannot be computed.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn check(&self, at: &str) -> Result<(), Refusal> {
        for (key, time) in [("period", self.period), ("decay", self.decay)] {
            check_range(format!("{at}.{key}"), time, Time::NS..=Time::US)?;
        }
        for (key, time) in [
            ("overshoot", self.overshoot),
            ("undershoot", self.undershoot),
        ] {
            check_range(format!("{at}.{key}"), time, GRID..=Time::US)?;
            if time % GRID != Time::ZERO {
                let limit = "the drive's converter has a grid of 1 ns";
                let key = format!("{at}.{key}");
                return Err(Refusal::new(key, time, limit, "take whole nanoseconds"));
            }
        }
        check_range(format!("{at}.mismatch"), self.mismatch, 0.0..=0.2)?;
        check_range(format!("{at}.tolerance"), self.tolerance, 1e-4..=0.5)?;
        if self.steps().is_none() {
            let limit = "no pair of steps of these lengths stops the ringing";
            let remedy = "change overshoot or undershoot by 1 ns";
            let key = format!("{at}.overshoot");
            return Err(Refusal::new(key, self.overshoot, limit, remedy));
        }
        Ok(())
    }
}

/// The time until which a condition holds that holds at the start of a range and not at its end.
fn last((mut holds, mut ended): (f64, f64), hold: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = (holds + ended) / 2.0;
        if hold(middle) {
            holds = middle;
        } else {
            ended = middle;
        }
    }
    ended
}
