//! The slow model: a day in long steps, for slowly drifting errors.
//!
//! Every node leads many times in a step, so loops follow the mean of all leaders: x_j = Σ over ℓ
//! of (x_ℓ + bias of ℓ at j) ÷ N. Without the part that is common to all nodes, x_j = Σ over ℓ ≠ j
//! of that bias ÷ N. The model has no noise that a loop averages within a step; the fast loop is
//! run at the worst step for that noise. An oscillator whose frequency drifts lags by its drift in
//! an epoch ÷ ki.

use super::config::{ClockConfig, Day};
use super::fibres::Fibres;
use super::judge::{Judge, Judged};
use super::noise::Noise;
use super::progress::Progress;
use super::thermal::Waves;
use lightloom_engine::Time;

/// A day of clocks.
pub struct DayModel {
    fibres: Fibres,
    waves: Waves,
    /// Noise of each measured delay.
    noise: Noise,
    /// Residual error of dispersion, averaged over the leaders [ps].
    dispersed: Vec<f64>,
    /// Lag of a clock per rate of temperature change [ps/(K/s)].
    lag: f64,
    /// Change of delay with temperature, by node [ps/K].
    per_kelvin: Vec<f64>,
    /// Temperature of each fibre when it was measured [K].
    measured_at: Vec<f64>,
    every: Time,
    /// Time of each clock relative to the common part [ps].
    pub time: Vec<f64>,
}

impl DayModel {
    /// The nodes 0, 1, … of a resolved configuration.
    pub fn new(config: &ClockConfig) -> DayModel {
        let nodes: Vec<u32> = (0..config.nodes).collect();
        let mut fibres = Fibres::draw(config, &nodes);
        let sigma = config.loopback.noise.unwrap_or_default().0;
        let mut noise = Noise::new(config.seed, "clock.day.loopback", &nodes, sigma);
        let gains = config.gains();
        let epoch_s = config.epoch.as_secs_f64();
        let waves = Waves::new(config, &nodes);
        let thermal = config.fibre.thermal.0;
        fibres.mismeasured = noise.draw();
        DayModel {
            dispersed: mean_dispersion(&fibres),
            lag: config.oscillator.thermal.0 * 1e-6 * epoch_s * config.epoch_ps() / gains.frequency,
            per_kelvin: fibres
                .length
                .iter()
                .map(|length| thermal * length)
                .collect(),
            measured_at: nodes.iter().map(|&n| waves.at(n as usize, 0.0)).collect(),
            time: vec![0.0; nodes.len()],
            every: config.loopback.every,
            fibres,
            waves,
            noise,
        }
    }

    /// Advances to the end of the step that ends at `now`. Delays that are due are measured at the
    /// start of the step.
    pub fn advance(&mut self, now: Time, step: Time) {
        let due = |at: Time| at.0.checked_div(self.every.0).unwrap_or(0);
        let begin = now - step;
        if due(begin) > due(begin - step) {
            self.measure_delays(begin.as_secs_f64());
        }
        let seconds = now.as_secs_f64();
        for node in 0..self.time.len() {
            let warmer = self.waves.at(node, seconds) - self.measured_at[node];
            self.fibres.shift[node] = self.per_kelvin[node] * warmer;
        }
        self.settle(seconds);
    }

    /// The mean times of the clocks after every node has led many times.
    fn settle(&mut self, seconds: f64) {
        let fibres = &self.fibres;
        let nodes = self.time.len();
        let sent = |node: usize| fibres.asymmetry[node] / 2.0 + fibres.late(node);
        let of_all: f64 = (0..nodes).map(sent).sum();
        for node in 0..nodes {
            let arrives = fibres.late(node) - fibres.asymmetry[node] / 2.0;
            let heard = of_all - sent(node) + (nodes - 1) as f64 * arrives;
            let lag = self.lag * self.waves.slope(node, seconds);
            self.time[node] = lag - heard / nodes as f64 - self.dispersed[node];
        }
    }

    /// Every node measures its delay.
    fn measure_delays(&mut self, seconds: f64) {
        for (node, at) in self.measured_at.iter_mut().enumerate() {
            *at = self.waves.at(node, seconds);
        }
        self.fibres.mismeasured = self.noise.draw();
    }
}

/// Residual error of dispersion for the cells of all leaders at each node ÷ nodes [ps].
fn mean_dispersion(fibres: &Fibres) -> Vec<f64> {
    let nodes = fibres.length.len();
    let at = |j| {
        let leaders = (0..nodes).filter(|&leader| leader != j);
        leaders
            .map(|leader| fibres.dispersed(leader, j))
            .sum::<f64>()
            / nodes as f64
    };
    (0..nodes).map(at).collect()
}

/// Runs a day. Returns the results of the judge and the fibres at the worst step.
pub fn run(config: &ClockConfig, day: &Day, heard: Progress) -> Option<(Judged, Fibres)> {
    let steps = day.duration.0 / day.step.0;
    let mut model = DayModel::new(config);
    let mut judge = Judge::new(vec![true; config.nodes as usize], day.step, steps as usize);
    let (mut worst, mut found) = (f64::NEG_INFINITY, model.fibres.clone());
    for step in 1..=steps {
        if step % 1_024 == 0 && !heard(1_024 * u64::from(config.nodes)) {
            return None;
        }
        let now = day.step * step;
        model.advance(now, day.step);
        judge.sample(now, &model.time);
        if judge.latest() > worst {
            worst = judge.latest();
            found.clone_from(&model.fibres);
        }
    }
    Some((judge.finish(), found))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with the sum over all leaders, bias by bias, after all delays have changed.
    #[test]
    fn clocks_are_where_the_mean_of_all_leaders_puts_them() {
        let mut config = ClockConfig {
            nodes: 9,
            ..ClockConfig::default()
        };
        (config.loopback.every, config.fibre.table) = (Time::S * 7, false);
        config.oscillator.thermal.0 = 0.0;
        let config = config.resolve().expect("a configuration that can run");
        let mut model = DayModel::new(&config);
        for step in 1..=40 {
            model.advance(Time::S * 500 * step, Time::S * 500);
            let mut expected = vec![0.0; 9];
            let mut bias = vec![0.0; 9];
            for leader in 0..9 {
                model.fibres.bias(leader, &mut bias);
                bias[leader] = 0.0;
                expected
                    .iter_mut()
                    .zip(&bias)
                    .for_each(|(sum, bias)| *sum += bias / 9.0);
            }
            for (found, expected) in model.time.iter().zip(&expected) {
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{step}: {found} {expected}"
                );
            }
            assert!(model.fibres.shift.iter().any(|shift| shift.abs() > 0.01));
        }
    }
}
