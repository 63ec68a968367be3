//! The tables of a clock's configuration.

use crate::clock::quantity::{
    Dispersion, Hertz, Kelvin, Nanometres, Picoseconds, Ppm, ThermalDelay, ThermalDrift,
};
use lightloom_engine::{Length, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A phase-locked loop of second order: what it measures moves its time, and its frequency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Loop {
    /// Noise bandwidth B of the loop, one-sided [frequency]: of white jitter it lets 2·B·epoch
    /// pass. Default 5 kHz (assumption).
    pub bandwidth: Hertz,
    /// Damping of the loop, 0.1 to 10. Default 0.707: the step response that settles soonest
    /// (Gardner, Phaselock Techniques).
    pub damping: f64,
    /// Largest difference of frequency that one epoch's measurement may stand for [ppm]; what
    /// is larger is filtered (Sirius §4.4: "too large frequency variations"). Default 10 ppm
    /// (assumption: 16 ps an epoch).
    pub clip: Ppm,
    /// The fate of a measurement beyond `clip`: it is taken to be as large as that
    /// (default), or left out.
    pub filter: Filter,
    /// How clocks begin: at the same time and frequency, as after the bootstrap of A.2
    /// (default), or each at the frequency of its oscillator; then nothing is filtered before
    /// they have settled, as a filter would hold them apart.
    pub start: Start,
}

impl Default for Loop {
    fn default() -> Loop {
        Loop {
            bandwidth: Hertz(5e3),
            damping: 0.707,
            clip: Ppm(10.0),
            filter: Filter::Clip,
            start: Start::Locked,
        }
    }
}

/// The fate of a measurement that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// An outlier counts as the largest value that is not one.
    Clip,
    /// An outlier is dropped: the clock holds over.
    Reject,
}

/// How clocks begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// At the same time and frequency.
    Locked,
    /// At the same time, each at the frequency of its oscillator.
    Cold,
}

/// An oscillator: a constant error, and noise of its frequency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Oscillator {
    /// Frequency error that is allowed, either way; each node has its own, uniform [ppm].
    /// Default 100 ppm (IEEE 802.3, clocks of Ethernet).
    pub tolerance: Ppm,
    /// White frequency noise, as Allan deviation at 1 s [ppm]; it falls with the root of time.
    /// Default 0.1 ppb (assumption for quartz).
    pub white: Ppm,
    /// Random walk of the frequency, as Allan deviation at 1 s [ppm]; it grows with the root
    /// of time. Default 0.01 ppb (assumption for quartz).
    pub walk: Ppm,
    /// How the frequency follows the temperature [ppm/K]. Default 1 ppm/K (assumption).
    pub thermal: ThermalDrift,
}

impl Default for Oscillator {
    fn default() -> Oscillator {
        Oscillator {
            tolerance: Ppm(100.0),
            white: Ppm(1e-4),
            walk: Ppm(1e-5),
            thermal: ThermalDrift(1.0),
        }
    }
}

/// How arrivals are measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Timestamps {
    /// Jitter of one measured arrival, standard deviation [time]. Default 1 ps (assumption).
    pub jitter: Picoseconds,
    /// Step in which arrivals are measured [time]. Default 0.625 ps: 64 steps (assumption) a
    /// symbol of 40 ps (Sirius §6).
    pub quantisation: Picoseconds,
}

impl Default for Timestamps {
    fn default() -> Timestamps {
        Timestamps {
            jitter: Picoseconds(1.0),
            quantisation: Picoseconds(0.625),
        }
    }
}

impl Timestamps {
    /// Noise of half a loop-back between two timestamps, averaged over `averaged` cells.
    pub(crate) fn loopback_noise(&self, averaged: u32) -> Picoseconds {
        let variance = self.jitter.0.powi(2) + self.quantisation.0.powi(2) / 12.0;
        Picoseconds((2.0 * variance / 4.0 / f64::from(averaged)).sqrt())
    }
}

/// The fibres between nodes and grating: one there, one back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fibre {
    /// From a node to the grating [length]. Default 250 m: half of a data centre of 500 m
    /// (Sirius §4.2).
    pub length: Length,
    /// Standard deviation of these lengths [length]. Default 3 cm: "few centimeters" (Sirius
    /// A.2).
    pub spread: Length,
    /// Standard deviation of the difference between the delays to and from the grating [time]; a
    /// centimetre of fibre is 50 ps. Default 10 ps, as after calibration (assumption).
    pub asymmetry: Picoseconds,
    /// How delay follows temperature [ps/km/K]. Default 20 ps/km/K (Sirius A.2); up to 33 are
    /// reported.
    pub thermal: ThermalDelay,
    /// Chromatic dispersion [ps/nm/km]. Default 17 ps/nm/km (ITU-T G.652 at 1550 nm, typical).
    pub dispersion: Dispersion,
    /// Ports of a grating: as many wavelengths [count]. Default 16 (Sirius §7).
    pub wavelengths: u32,
    /// From a wavelength to the next [wavelength]. Default 0.402 nm: 1552.524 and 1552.926 nm
    /// are adjacent (Sirius §6).
    pub spacing: Nanometres,
    /// Whether nodes have a table of each wavelength's delay relative to that of the loop-back.
    /// Default true (Sirius A.2: it "can be accounted for").
    pub table: bool,
    /// Standard deviation of the dispersion from what the table was made for, relative.
    /// Default 0.01 (assumption).
    pub table_error: f64,
}

impl Default for Fibre {
    fn default() -> Fibre {
        Fibre {
            length: Length(250_000),
            spread: Length(30),
            asymmetry: Picoseconds(10.0),
            thermal: ThermalDelay(20.0),
            dispersion: Dispersion(17.0),
            wavelengths: 16,
            spacing: Nanometres(0.402),
            table: true,
            table_error: 0.01,
        }
    }
}

/// The temperature of fibres and oscillators: a wave a day, and one of the air conditioning.
/// Part of each is a node's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Temperature {
    /// Amplitude of the wave of a day [K]. Default 4.5 K: half of 18 to 27 °C, which ASHRAE
    /// recommends.
    pub daily: Kelvin,
    /// Amplitude of the wave of the air conditioning [K]. Default 0.5 K (assumption).
    pub cycle: Kelvin,
    /// Period of the air conditioning [time]. Default 900 s (assumption).
    pub cycle_period: Time,
    /// Share of both waves that has a phase of its own at each node, 0 to 1. Default 0.5
    /// (assumption).
    pub own: f64,
}

impl Default for Temperature {
    fn default() -> Temperature {
        Temperature {
            daily: Kelvin(4.5),
            cycle: Kelvin(0.5),
            cycle_period: Time::S * 900,
            own: 0.5,
        }
    }
}

impl Temperature {
    /// Whether anything gets warmer or colder.
    pub(crate) fn varies(&self) -> bool {
        self.daily.0 > 0.0 || self.cycle.0 > 0.0
    }
}

/// How nodes measure their delay to the grating: cells that they send to themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Loopback {
    /// From a measurement to the next [time]; 0 s: once, at the start. Default 60 s
    /// (assumption; Sirius A.2: "periodically repeating the measures").
    pub every: Time,
    /// Cells that a measurement is the average of [count]. Default 1000 (assumption).
    pub averaged: u32,
    /// Noise of a measured delay, standard deviation [time]. Default: half a loop-back's,
    /// which follows from jitter and quantisation of two timestamps.
    pub noise: Option<Picoseconds>,
}

impl Default for Loopback {
    fn default() -> Loopback {
        Loopback {
            every: Time::S * 60,
            averaged: 1000,
            noise: None,
        }
    }
}

/// How the deviation is observed: a maximum means little without how often one looked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Judge {
    /// From a sample to the next [time]. Default: 10 epochs, what gives 100,000 samples if
    /// that is longer, or the next number that is prime to the turns of all leaders.
    pub sampling: Option<Time>,
    /// Bandwidth of a single-pole filter before the samples [frequency]. Default: none, a
    /// sample is what the clock is then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Hertz>,
}

/// A day in long steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Day {
    /// Simulated time [time]. Default 86400 s (Sirius §6: 24 hours).
    pub duration: Time,
    /// A step, over which clocks are averaged [time]. Default 1 s.
    pub step: Time,
}

impl Default for Day {
    fn default() -> Day {
        Day {
            duration: Time::S * 86_400,
            step: Time::S,
        }
    }
}
