//! The terms of the deviation between clocks, each of which can be simulated alone.

use super::config::{ClockConfig, Start};
use super::quantity::{Dispersion, Kelvin, Picoseconds, Ppm};
use serde::Serialize;

/// A term of the deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Term {
    /// White frequency noise of oscillators.
    WhiteFrequency,
    /// Random walk of their frequency.
    RandomWalk,
    /// Initial frequency differences of oscillators, if the clocks start cold.
    FrequencyOffset,
    /// Jitter of timestamps.
    Jitter,
    /// Their steps.
    Quantisation,
    /// Difference between the delays to and from the grating.
    Asymmetry,
    /// Different delays of wavelengths.
    Dispersion,
    /// Noise of measured delays.
    DelayMeasurement,
    /// Temperature changes of fibres and oscillators.
    Temperature,
    /// Nodes that die or send a false time.
    Failures,
}

impl Term {
    /// All terms, in the order in which they are shown.
    pub const ALL: [Term; 10] = [
        Term::WhiteFrequency,
        Term::RandomWalk,
        Term::FrequencyOffset,
        Term::Jitter,
        Term::Quantisation,
        Term::Asymmetry,
        Term::Dispersion,
        Term::DelayMeasurement,
        Term::Temperature,
        Term::Failures,
    ];

    /// Whether the configuration contains the term.
    pub fn present(self, config: &ClockConfig) -> bool {
        let fibre = &config.fibre;
        match self {
            Term::WhiteFrequency => config.oscillator.white.0 > 0.0,
            Term::RandomWalk => config.oscillator.walk.0 > 0.0,
            Term::FrequencyOffset => config.pll.start == Start::Cold,
            Term::Jitter => config.timestamps.jitter.0 > 0.0,
            Term::Quantisation => config.timestamps.quantisation.0 > 0.0,
            Term::Asymmetry => fibre.asymmetry.0 > 0.0,
            Term::Dispersion => fibre.dispersion.0 != 0.0,
            Term::DelayMeasurement => config.loopback.noise.is_some_and(|noise| noise.0 > 0.0),
            Term::Temperature => config.day.is_some() && config.temperature.varies(),
            Term::Failures => !config.die.is_empty() || config.byzantine.is_some(),
        }
    }

    /// The resolved configuration without the term.
    pub fn silenced(self, config: &ClockConfig) -> ClockConfig {
        let mut config = config.clone();
        match self {
            Term::WhiteFrequency => config.oscillator.white = Ppm(0.0),
            Term::RandomWalk => config.oscillator.walk = Ppm(0.0),
            Term::FrequencyOffset => config.pll.start = Start::Locked,
            Term::Jitter => config.timestamps.jitter = Picoseconds(0.0),
            Term::Quantisation => config.timestamps.quantisation = Picoseconds(0.0),
            Term::Asymmetry => config.fibre.asymmetry = Picoseconds(0.0),
            Term::Dispersion => config.fibre.dispersion = Dispersion(0.0),
            Term::DelayMeasurement => config.loopback.noise = Some(Picoseconds(0.0)),
            Term::Temperature => {
                config.temperature.daily = Kelvin(0.0);
                config.temperature.cycle = Kelvin(0.0);
            }
            Term::Failures => {
                config.die.clear();
                config.byzantine = None;
            }
        }
        config
    }

    /// The resolved configuration with only this term.
    pub fn alone(self, config: &ClockConfig) -> ClockConfig {
        let others = Term::ALL.into_iter().filter(|&other| other != self);
        others.fold(config.clone(), |config, other| other.silenced(&config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_silenced_is_not_present_and_what_is_alone_is_the_only_one() {
        let table = serde_json::json!({
            "nodes": 4, "loop": { "start": "cold" }, "day": {}, "die": [{ "node": 3 }],
        });
        let config = ClockConfig::read(&table).unwrap();
        for term in Term::ALL {
            assert!(term.present(&config), "{term:?}");
            assert!(!term.present(&term.silenced(&config)), "{term:?}");
            let alone = term.alone(&config);
            for other in Term::ALL {
                assert_eq!(other.present(&alone), other == term, "{term:?} {other:?}");
            }
        }
    }
}
