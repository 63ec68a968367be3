//! Optical amplifiers as gates: they select a wavelength by passing one of many lights (Sirius
//! §3.3). One gate opens while another closes. The slower of the two actions is the tuning time,
//! for any pair of wavelengths.
//!
//! **Calibration**: the paper states the worst of 19 gates, on 527 ps and off 912 ps (§6), and the
//! size of the array. It does not state the spread below the worst, which is assumed uniform down
//! to `best` of the worst. Gain, amplifier noise and the extinction of a closed gate are not
//! modelled; the amplifiers work on light before it is modulated.

use super::tuning::Tuning;
use lightloom_engine::{check_range, Refusal, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An array of gates (semiconductor optical amplifiers).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gates {
    /// Longest time to open [time] (Sirius §6).
    pub on: Time,
    /// Longest time to close [time] (Sirius §6).
    pub off: Time,
    /// Shortest time ÷ longest time of the gates [ratio]; assumed.
    pub best: f64,
    /// Number of gates of a chip [count] (Sirius §6).
    #[schemars(range(min = 1))]
    pub a_chip: u32,
    /// Seed of the gates' times, which represents the chips [number].
    pub seed: u64,
}

impl Default for Gates {
    fn default() -> Self {
        Gates {
            on: Time(527),
            off: Time(912),
            best: 0.5,
            a_chip: 19,
            seed: 1,
        }
    }
}

impl Gates {
    /// The longest time to change to another light.
    pub fn worst(&self) -> Time {
        self.on.max(self.off)
    }

    /// The number of chips for these wavelengths.
    pub fn chips(&self, wavelengths: u32) -> u32 {
        wavelengths.div_ceil(self.a_chip)
    }

    /// The times, uniform between best and worst, in an order drawn from the seed.
    fn times(&self, worst: Time, purpose: &str, wavelengths: u32) -> Vec<Time> {
        let steps = f64::from((wavelengths - 1).max(1));
        let share = |k: u32| 1.0 - (1.0 - self.best) * f64::from(k) / steps;
        let time = |k: u32| Time((worst.0 as f64 * share(k)).round() as i64);
        let mut times: Vec<Time> = (0..wavelengths).map(time).collect();
        Stream::new(self.seed, purpose, 0).shuffle(&mut times);
        times
    }

    /// The tuning times between any two lights.
    pub fn tuning(&self, wavelengths: u32) -> Tuning {
        let on = self.times(self.on, "gates on", wavelengths);
        let off = self.times(self.off, "gates off", wavelengths);
        Tuning::by(wavelengths, |from, to| {
            off[from as usize].max(on[to as usize])
        })
    }

    /// Refuses values that no array can have.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn check(&self, at: &str) -> Result<(), Refusal> {
        for (key, time) in [("on", self.on), ("off", self.off)] {
            check_range(format!("{at}.{key}"), time, Time(1)..=Time::MS)?;
        }
        check_range(format!("{at}.best"), self.best, 0.0..=1.0)?;
        check_range(format!("{at}.a_chip"), self.a_chip, 1..=1024)
    }
}
