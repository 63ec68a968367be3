//! The temperature of each node over a day: two waves, part of each with the node's own phase.

use super::config::ClockConfig;
use lightloom_engine::Stream;
use std::f64::consts::TAU;

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// A wave of temperature.
#[derive(Clone, Debug)]
struct Wave {
    /// Amplitude of the common temperature wave [K].
    shared: f64,
    /// Amplitude of each node's own temperature wave [K].
    own: f64,
    /// Angular frequency [rad/s].
    angle: f64,
    /// Phase of each node's own part [rad].
    phase: Vec<f64>,
}

/// The temperatures of all nodes relative to their mean.
#[derive(Clone, Debug)]
pub struct Waves([Wave; 2]);

impl Waves {
    /// The waves of the nodes with these numbers.
    pub fn new(config: &ClockConfig, nodes: &[u32]) -> Waves {
        let told = &config.temperature;
        let wave = |purpose, amplitude: f64, period: f64| Wave {
            shared: amplitude * (1.0 - told.own),
            own: amplitude * told.own,
            angle: TAU / period,
            phase: nodes
                .iter()
                .map(|&node| TAU * Stream::new(config.seed, purpose, u64::from(node)).unit())
                .collect(),
        };
        Waves([
            wave("clock.temperature.day", told.daily.0, DAY_S),
            wave(
                "clock.temperature.cycle",
                told.cycle.0,
                told.cycle_period.as_secs_f64(),
            ),
        ])
    }

    /// Temperature of a node [K].
    pub fn at(&self, node: usize, seconds: f64) -> f64 {
        let of = |wave: &Wave| {
            let angle = wave.angle * seconds;
            wave.shared * angle.sin() + wave.own * (angle + wave.phase[node]).sin()
        };
        self.0.iter().map(of).sum()
    }

    /// Rate of change of a node's temperature [K/s].
    pub fn slope(&self, node: usize, seconds: f64) -> f64 {
        let of = |wave: &Wave| {
            let angle = wave.angle * seconds;
            wave.angle * (wave.shared * angle.cos() + wave.own * (angle + wave.phase[node]).cos())
        };
        self.0.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_the_waves() {
        let waves = Waves::new(&ClockConfig::default(), &[0, 1]);
        for node in [0, 1] {
            for seconds in [0.0, 100.0, 40_000.0] {
                let chord = waves.at(node, seconds + 0.5) - waves.at(node, seconds - 0.5);
                assert!((waves.slope(node, seconds) - chord).abs() < 1e-7);
            }
        }
    }

    #[test]
    fn nodes_without_a_phase_of_their_own_are_equally_warm() {
        let mut config = ClockConfig::default();
        config.temperature.own = 0.0;
        (config.temperature.daily.0, config.temperature.cycle.0) = (4.5, 0.0);
        let waves = Waves::new(&config, &[0, 1]);
        assert_eq!(waves.at(0, 12_345.0), waves.at(1, 12_345.0));
        // A quarter of a day after it was 0.
        assert!((waves.at(0, 21_600.0) - 4.5).abs() < 1e-12);
    }
}
