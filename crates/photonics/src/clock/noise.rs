//! Oscillators and timestamps: white frequency noise, random walk, jitter.
//!
//! Every node has its own random stream for every kind of noise. If a kind is left out or a node
//! fails, the other draws do not change. Flicker noise is not modelled.

use super::config::ClockConfig;
use lightloom_engine::Stream;
use rand_distr::{Distribution, StandardNormal};

/// Normal noise of one kind, for each node.
#[derive(Clone, Debug)]
pub struct Noise {
    /// Standard deviation of a draw.
    pub sigma: f64,
    streams: Vec<Stream>,
}

impl Noise {
    /// The noise for one purpose of the nodes with these numbers.
    pub fn new(seed: u64, purpose: &str, nodes: &[u32], sigma: f64) -> Noise {
        let stream = |&node| Stream::new(seed, purpose, u64::from(node));
        Noise {
            sigma,
            streams: nodes.iter().map(stream).collect(),
        }
    }

    /// Adds a draw to each value.
    #[inline]
    pub fn add_to(&mut self, values: &mut [f64]) {
        if self.sigma == 0.0 {
            return;
        }
        for (value, stream) in values.iter_mut().zip(&mut self.streams) {
            let draw: f64 = StandardNormal.sample(stream);
            *value += self.sigma * draw;
        }
    }

    /// A draw for each node.
    pub fn draw(&mut self) -> Vec<f64> {
        let mut drawn = vec![0.0; self.streams.len()];
        self.add_to(&mut drawn);
        drawn
    }
}

/// Time that the oscillator of each node gains per epoch through its constant error [ps]: uniform
/// within the tolerance in both directions.
pub fn frequency_errors(config: &ClockConfig, nodes: &[u32]) -> Vec<f64> {
    let widest = config.oscillator.tolerance.0 * 1e-6 * config.epoch_ps();
    let of_node = |&node| {
        let mut stream = Stream::new(config.seed, "clock.tolerance", u64::from(node));
        widest * (2.0 * stream.unit() - 1.0)
    };
    nodes.iter().map(of_node).collect()
}

/// Standard deviation of the time that white frequency noise adds to a clock per epoch [ps]. The
/// Allan deviation at τ is that at 1 s ÷ √τ, and the time gained in τ varies by τ times as much.
pub fn white_per_epoch(config: &ClockConfig) -> f64 {
    config.oscillator.white.0 * 1e-6 * config.epoch.as_secs_f64().sqrt() * 1e12
}

/// Standard deviation of the change that the random walk adds per epoch to the time gained per
/// epoch [ps]. A walk whose variance grows by q per second has the Allan variance q·τ/3.
pub fn walk_per_epoch(config: &ClockConfig) -> f64 {
    let per_root_second = config.oscillator.walk.0 * 1e-6 * 3f64.sqrt();
    per_root_second * config.epoch.as_secs_f64().sqrt() * config.epoch_ps()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::quantity::Ppm;

    /// Allan deviation at `m` epochs of a clock that gained these times [relative].
    fn allan(times: &[f64], m: usize, epoch_ps: f64) -> f64 {
        let second = |k: usize| times[k + 2 * m] - 2.0 * times[k + m] + times[k];
        let terms = times.len() - 2 * m;
        let sum: f64 = (0..terms).map(|k| second(k).powi(2)).sum();
        (sum / (2 * terms) as f64).sqrt() / (m as f64 * epoch_ps)
    }

    /// The time of a free-running clock after each epoch [ps].
    fn free_clock(config: &ClockConfig, epochs: usize) -> Vec<f64> {
        let mut white = Noise::new(config.seed, "clock.white", &[0], white_per_epoch(config));
        let mut walk = Noise::new(config.seed, "clock.walk", &[0], walk_per_epoch(config));
        let (mut time, mut rate) = ([0.0], [0.0]);
        let mut times = Vec::with_capacity(epochs);
        for _ in 0..epochs {
            walk.add_to(&mut rate);
            time[0] += rate[0];
            white.add_to(&mut time);
            times.push(time[0]);
        }
        times
    }

    /// The definitions of both parameters (Riley, NIST SP 1065, 2008, Table 3).
    #[test]
    fn free_clocks_have_the_allan_deviation_that_they_were_given() {
        for (white, walk, slope) in [(1e-4, 0.0, -0.5), (0.0, 1e-4, 0.5)] {
            let mut config = ClockConfig::default();
            config.oscillator.white = Ppm(white);
            config.oscillator.walk = Ppm(walk);
            let times = free_clock(&config, 400_000);
            for m in [10usize, 100, 1_000] {
                let tau = m as f64 * config.epoch.as_secs_f64();
                let expected = 1e-10 * tau.powf(slope);
                let found = allan(&times, m, config.epoch_ps());
                // At least some hundred independent differences.
                assert!(
                    (found / expected - 1.0).abs() < 0.12,
                    "{m}: {found} {expected}"
                );
            }
        }
    }
}
