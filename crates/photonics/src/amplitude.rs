//! Amplitude: the time that a receiver needs to adapt its gain to another sender.
//!
//! Senders reach a receiver through different ports of the grating, and so at different powers.
//! With amplitude caching (Sirius §4.5) the receiver stores the gain of every sender and starts
//! with it; its error is drift × age. Without caching, a gain control of first order in dB sets the
//! gain for every cell: s·exp(−t ÷ τ) remains of a step of s dB, so it takes τ·ln(s ÷ tolerance).
//!
//! **Calibration**: the time for caching is fitted, because only its sum with the preamble follows
//! from the second prototype's guardband ([`crate::guardband`]). The spread is that of the grating.
//! Drift, tolerance and time constant are assumed; the paper states none.

use crate::grating::Grating;
use crate::quantity::{rounded, Decibel, DriftOfLevel};
use lightloom_engine::{check_range, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Symbols for caching: fitted, because only their sum with those of the preamble follows.
const CACHED_SYMBOLS: i64 = 24;

/// Method by which a receiver sets its gain for a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gain {
    /// The receiver stores the gain of every sender (Sirius §4.5).
    #[default]
    Caching,
    /// The receiver sets the gain anew for every cell.
    Control,
}

/// Adaptation of the receivers' gain to the amplitude of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Amplitude {
    /// How.
    pub kind: Gain,
    /// Largest difference between the powers of two senders [dB]. Default: the difference between
    /// the best and the worst path of the grating.
    pub spread: Option<Decibel>,
    /// Largest tolerated error of the gain [dB]; assumed. With fixed thresholds, PAM-4 loses its
    /// upper eye at 0.8 dB.
    pub tolerance: Decibel,
    /// Drift of a sender's power between its cells [dB/s]; assumed.
    pub drift: DriftOfLevel,
    /// Time constant of the gain control, after which 1/e of a step remains [time]; assumed.
    pub time_constant: Time,
}

impl Default for Amplitude {
    fn default() -> Self {
        Amplitude {
            kind: Gain::Caching,
            spread: None,
            tolerance: Decibel(0.2),
            drift: DriftOfLevel(0.1),
            time_constant: Time::NS * 10,
        }
    }
}

impl Amplitude {
    /// The power difference between the strongest and the weakest sender.
    pub fn spread(&self, grating: &Grating) -> Decibel {
        self.spread.unwrap_or(grating.spread())
    }

    /// Its part of the guardband: with caching a number of symbols, otherwise the time until the
    /// control is within the tolerance; 0 if all senders have equal power.
    pub fn settles(&self, grating: &Grating, symbol: Time) -> Time {
        if self.kind == Gain::Caching {
            return symbol * CACHED_SYMBOLS;
        }
        let steps = self.spread(grating).0 / self.tolerance.0;
        let constants = if steps > 1.0 { steps.ln() } else { 0.0 };
        Time((constants * self.time_constant.0 as f64).ceil() as i64)
    }

    /// The error of a cached gain of this age [dB]; `None` without caching.
    pub fn error(&self, age: Time) -> Option<f64> {
        (self.kind == Gain::Caching).then(|| self.drift.0 * age.as_secs_f64())
    }

    /// Like [`Self::error`], or the refusal of gains that are too old; keys are below `at`.
    ///
    /// # Errors
    /// If the drift is too large.
    pub fn error_within(&self, at: &str, age: Time) -> Result<Option<f64>, Refusal> {
        let found = self.error(age);
        let Some(error) = found.filter(|&error| error > self.tolerance.0) else {
            return Ok(found);
        };
        let limit = format!(
            "a cached gain is {} dB wrong after an epoch of {age}, but at most {} is allowed",
            rounded(error, 3),
            self.tolerance
        );
        let remedy = format!("lower it, or take {at}.amplitude.kind = \"control\"");
        let key = format!("{at}.amplitude.drift");
        Err(Refusal::new(key, self.drift, limit, remedy))
    }

    /// Refuses impossible values.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn check(&self, at: &str) -> Result<(), Refusal> {
        let of = |key: &str| format!("{at}.amplitude.{key}");
        let spread = self.spread.unwrap_or_default();
        check_range(of("spread"), spread, Decibel(0.0)..=Decibel(60.0))?;
        let tolerances = Decibel(1e-3)..=Decibel(10.0);
        check_range(of("tolerance"), self.tolerance, tolerances)?;
        let drifts = DriftOfLevel(0.0)..=DriftOfLevel(1e9);
        check_range(of("drift"), self.drift, drifts)?;
        let constants = Time(1)..=Time::MS;
        check_range(of("time_constant"), self.time_constant, constants)
    }
}
