//! The tables of a clock's configuration.

use crate::clock::quantity::{
    Dispersion, Hertz, Kelvin, Nanometres, Picoseconds, Ppm, ThermalDelay, ThermalDrift,
};
use lightloom_engine::{Length, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A second-order phase-locked loop: each measurement corrects the time and the frequency of the
/// clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Loop {
    /// One-sided noise bandwidth B of the loop [frequency]: it passes the fraction 2·B·epoch of the
    /// variance of white jitter. Default 5 kHz (assumption).
    pub bandwidth: Hertz,
    /// Damping of the loop, 0.1 to 10. Default 0.707, for which the step response settles soonest
    /// (Gardner, Phaselock Techniques).
    pub damping: f64,
    /// Largest frequency difference that the measurement of one epoch may indicate [ppm]; larger
    /// ones are filtered (Sirius §4.4: "too large frequency variations"). Default 10 ppm
    /// (assumption: 16 ps per epoch).
    pub clip: Ppm,
    /// Treatment of a measurement beyond `clip`: it is limited to that value (default), or
    /// discarded.
    pub filter: Filter,
    /// Initial state of the clocks: equal time and frequency, as after the bootstrap of A.2
    /// (default), or equal time and the frequency of each node's oscillator. In the second case no
    /// measurement is filtered before the clocks have settled, because the filter would keep them
    /// apart.
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

/// Treatment of a measurement that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// A measurement beyond `clip` is limited to that value.
    Clip,
    /// A measurement beyond `clip` is discarded, and the clock holds over.
    Reject,
}

/// Initial state of the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Equal time and equal frequency.
    Locked,
    /// Equal time, and the frequency of each node's oscillator.
    Cold,
}

/// An oscillator, with a constant error and noise of its frequency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Oscillator {
    /// Largest frequency error in either direction [ppm]; the error of each node is drawn
    /// uniformly. Default 100 ppm (IEEE 802.3, clocks of Ethernet).
    pub tolerance: Ppm,
    /// White frequency noise, as Allan deviation at 1 s [ppm]; the deviation falls with the square
    /// root of the averaging time. Default 0.1 ppb (assumption for quartz).
    pub white: Ppm,
    /// Random walk of the frequency, as Allan deviation at 1 s [ppm]; the deviation grows with the
    /// square root of the averaging time. Default 0.01 ppb (assumption for quartz).
    pub walk: Ppm,
    /// Change of the frequency with temperature [ppm/K]. Default 1 ppm/K (assumption).
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

/// Measurement of arrival times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Timestamps {
    /// Jitter of a measured arrival time, as standard deviation [time]. Default 1 ps (assumption).
    pub jitter: Picoseconds,
    /// Resolution of measured arrival times [time]. Default 0.625 ps: 64 steps (assumption) per
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

/// The fibres between each node and the grating, one in each direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fibre {
    /// Mean length of a fibre from a node to the grating [length]. Default 250 m: half the span of
    /// a data centre of 500 m (Sirius §4.2).
    pub length: Length,
    /// Standard deviation of these lengths [length]. Default 3 cm: "few centimeters" (Sirius
    /// A.2).
    pub spread: Length,
    /// Standard deviation of the difference between the delays to and from the grating [time]; a
    /// centimetre of fibre is 50 ps. Default 10 ps, as after calibration (assumption).
    pub asymmetry: Picoseconds,
    /// Change of the delay with temperature [ps/km/K]. Default 20 ps/km/K (Sirius A.2); values up
    /// to 33 are reported.
    pub thermal: ThermalDelay,
    /// Chromatic dispersion [ps/nm/km]. Default 17 ps/nm/km (ITU-T G.652 at 1550 nm, typical).
    pub dispersion: Dispersion,
    /// Number of ports of a grating, which is the number of wavelengths [count]. Default 16 (Sirius
    /// §7).
    pub wavelengths: u32,
    /// Distance between adjacent wavelengths [wavelength]. Default 0.402 nm: 1552.524 and 1552.926
    /// nm are adjacent (Sirius §6).
    pub spacing: Nanometres,
    /// Whether nodes have a table of the delay of each wavelength relative to that of the
    /// loop-back. Default true (Sirius A.2: it "can be accounted for").
    pub table: bool,
    /// Standard deviation of the dispersion from the value in the table [ratio]. Default 0.01
    /// (assumption).
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

/// The temperature of fibres and oscillators: a daily wave, and a wave of the air conditioning. A
/// part of each wave has a phase of its own at each node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Temperature {
    /// Amplitude of the daily wave [K]. Default 4.5 K: half of the range from 18 to 27 °C, which
    /// ASHRAE recommends.
    pub daily: Kelvin,
    /// Amplitude of the wave of the air conditioning [K]. Default 0.5 K (assumption).
    pub cycle: Kelvin,
    /// Period of the wave of the air conditioning [time]. Default 900 s (assumption).
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
    /// Whether any temperature changes.
    pub(crate) fn varies(&self) -> bool {
        self.daily.0 > 0.0 || self.cycle.0 > 0.0
    }
}

/// Measurement of each node's delay to the grating, by cells that it sends to itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Loopback {
    /// Time between measurements [time]; with 0 s there is one measurement, at the start. Default
    /// 60 s (assumption; Sirius A.2: "periodically repeating the measures").
    pub every: Time,
    /// Number of cells over which a measurement is averaged [count]. Default 1000 (assumption).
    pub averaged: u32,
    /// Standard deviation of a measured delay [time]. Default: half that of a loop-back, which
    /// follows from the jitter and quantisation of two timestamps.
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

/// Measurement of the deviation between clocks. A maximum depends on the number of samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Judge {
    /// Time between samples [time]. Default: 10 epochs, or more if this would give over 100,000
    /// samples; it is rounded up to a number of epochs that is coprime to a full turn of leaders.
    pub sampling: Option<Time>,
    /// Bandwidth of a single-pole filter before the samples [frequency]. Default: no filter; a
    /// sample is the instantaneous value of the clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Hertz>,
}

/// A day, simulated in long steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Day {
    /// Simulated time [time]. Default 86400 s (Sirius §6: 24 hours).
    pub duration: Time,
    /// Length of a step, over which clocks are averaged [time]. Default 1 s.
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
