//! The receiver: its error rate at a received power, and the penalty of crosstalk.
//!
//! Levels of light are equally spaced, thresholds stay midway, and noise is Gaussian: thermal
//! noise, which does not depend on the light, and the beating of the signal with other light at its
//! wavelength, which does. PAM-4 has errors in ¾·Q(spacing ÷ 2σ) of its bits if all levels are
//! equally noisy, NRZ in Q(·).
//!
//! **Calibration** is one point: error-free with standard error correction at −8 dBm (Sirius §4.5,
//! §6), modelled as KP4's threshold of 2.4e-4 (IEEE 802.3bs-2017). One point determines the noise,
//! not its kind: with shot noise the error rate would fall half as fast in dB. The extinction ratio
//! and the polarisation are assumed, and matter only for crosstalk. Intersymbol interference,
//! dispersion and equalisation are part of the calibrated point.

use crate::grating::Interference;
use crate::quantity::{Dbm, Decibel};
use lightloom_engine::{check_range, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Modulation of light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Modulation {
    /// PAM-4, two bits per symbol: the second prototype of Sirius (§6).
    #[default]
    #[serde(rename = "pam-4")]
    Pam4,
    /// NRZ, one bit per symbol: the first prototype.
    Nrz,
}

impl Modulation {
    /// Bits of a symbol.
    pub fn bits(self) -> u32 {
        match self {
            Modulation::Pam4 => 2,
            Modulation::Nrz => 1,
        }
    }

    fn levels(self) -> usize {
        1 << self.bits()
    }

    /// The name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Modulation::Pam4 => "PAM-4",
            Modulation::Nrz => "NRZ",
        }
    }
}

/// Polarisation of crosstalk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Polarisation {
    /// Random: on average half of the crosstalk beats with the signal.
    #[default]
    Random,
    /// The polarisation of the signal, which is the worst case.
    Aligned,
}

/// A receiver of light.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Receiver {
    /// Mean power at which the bit error rate is `threshold` [dBm] (Sirius §4.5).
    pub sensitivity: Dbm,
    /// Bit error rate for which the error correction is designed [ratio]: that of KP4 (IEEE
    /// 802.3bs-2017).
    pub threshold: f64,
    /// Extinction ratio: highest level of light ÷ lowest [dB]; assumed.
    pub extinction: Decibel,
    /// Polarisation of crosstalk; assumed.
    pub polarisation: Polarisation,
}

impl Default for Receiver {
    fn default() -> Self {
        Receiver {
            sensitivity: Dbm(-8.0),
            threshold: 2.4e-4,
            extinction: Decibel(6.0),
            polarisation: Polarisation::Random,
        }
    }
}

/// The tail of the normal distribution beyond `x`.
pub fn q(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

/// Where a decreasing function crosses `target` within `range`.
fn bisect(mut range: (f64, f64), target: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..100 {
        let middle = (range.0 + range.1) / 2.0;
        if f(middle) > target {
            range.0 = middle;
        } else {
            range.1 = middle;
        }
    }
    range.1
}

impl Receiver {
    /// Bit error rate at a mean power, with light from other senders [ratio].
    pub fn ber(&self, modulation: Modulation, power: Dbm, others: &Interference) -> f64 {
        self.with_noise(modulation, self.noise(modulation), power, others)
    }

    fn with_noise(&self, of: Modulation, noise: f64, power: Dbm, others: &Interference) -> f64 {
        let thermal = (noise / power.milliwatts()).powi(2);
        self.errors(of, |level| {
            (thermal + self.beside(of, level, others)).sqrt()
        })
    }

    /// The lower limit of the bit error rate at any power [ratio].
    pub fn floor(&self, modulation: Modulation, others: &Interference) -> f64 {
        self.errors(modulation, |level| {
            self.beside(modulation, level, others).sqrt()
        })
    }

    /// The additional power that compensates for the light from other senders; `None` if no power
    /// does.
    pub fn penalty(&self, modulation: Modulation, others: &Interference) -> Option<Decibel> {
        if *others == Interference::default() {
            return Some(Decibel(0.0));
        }
        if self.floor(modulation, others) >= self.threshold {
            return None;
        }
        let (noise, needed) = (self.noise(modulation), self.sensitivity.0);
        let at = |more: f64| self.with_noise(modulation, noise, Dbm(needed + more), others);
        Some(Decibel(bisect((0.0, 200.0), self.threshold, at)))
    }

    /// Thermal noise, as power at the photodiode, that causes the threshold error rate at the
    /// sensitivity [mW].
    pub fn noise(&self, modulation: Modulation) -> f64 {
        let reach = bisect((0.0, 40.0), self.threshold, |x| {
            self.errors(modulation, |_| self.half_spacing(modulation) / x)
        });
        self.half_spacing(modulation) * self.sensitivity.milliwatts() / reach
    }

    /// Half the distance of two levels, relative to the mean: OMA ÷ 6 for PAM-4.
    pub fn half_spacing(&self, modulation: Modulation) -> f64 {
        let ratio = self.extinction.ratio();
        let oma = 2.0 * (ratio - 1.0) / (ratio + 1.0);
        oma / (2.0 * (modulation.levels() - 1) as f64)
    }

    /// A level relative to the mean.
    pub fn level(&self, modulation: Modulation, level: usize) -> f64 {
        let lowest = 2.0 / (self.extinction.ratio() + 1.0);
        lowest + 2.0 * self.half_spacing(modulation) * level as f64
    }

    /// The variance from the light from other senders at a level, relative to the mean squared.
    fn beside(&self, modulation: Modulation, level: usize, others: &Interference) -> f64 {
        let aligned = match self.polarisation {
            Polarisation::Random => 0.5,
            Polarisation::Aligned => 1.0,
        };
        // The beat of a and b is 2·√(a·b)·cos φ, of variance 2·a·b.
        let beat = 2.0 * aligned * others.in_band * self.level(modulation, level);
        let levels = modulation.levels() as f64;
        let spread = (2.0 * self.half_spacing(modulation)).powi(2) * (levels * levels - 1.0) / 12.0;
        beat + others.out_of_band_squares * spread
    }

    /// The bit error rate if a level's noise is `sigma`, relative to the mean. Neighbouring levels
    /// differ in one bit.
    fn errors(&self, modulation: Modulation, sigma: impl Fn(usize) -> f64) -> f64 {
        let half = self.half_spacing(modulation);
        let levels = modulation.levels();
        let wrong = |level: usize| {
            let sides = if level == 0 || level == levels - 1 {
                1.0
            } else {
                2.0
            };
            sides * q(half / sigma(level))
        };
        let symbols = (0..levels).map(wrong).sum::<f64>() / levels as f64;
        symbols / f64::from(modulation.bits())
    }

    /// Refuses values that no receiver can have.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn check(&self, at: &str) -> Result<(), Refusal> {
        let powers = Dbm(-60.0)..=Dbm(20.0);
        check_range(
            format!("{at}.receiver.sensitivity"),
            self.sensitivity,
            powers,
        )?;
        let shares = 1e-15..=0.1;
        check_range(format!("{at}.receiver.threshold"), self.threshold, shares)?;
        let ratios = Decibel(0.5)..=Decibel(60.0);
        check_range(format!("{at}.receiver.extinction"), self.extinction, ratios)
    }
}
