//! The fast loop: all clocks, epoch by epoch.
//!
//! The state is stored in columns by node: the time of each clock relative to true time, the time
//! that its oscillator gains per epoch, and the correction of its loop. All nodes are assumed to
//! receive the leader's cell at the end of the epoch. Dead nodes continue to run, but are neither
//! received nor judged.

use super::config::{Byzantine, ClockConfig, Lie, Start};
use super::detector::Detector;
use super::fibres::Fibres;
use super::leaders::Rotation;
use super::noise::{frequency_errors, walk_per_epoch, white_per_epoch, Noise};
use super::pll::Gains;

/// Clocks that follow their leaders.
pub struct Ensemble {
    /// Time of each clock relative to true time [ps].
    pub time: Vec<f64>,
    /// Time that each oscillator gains per epoch without correction [ps].
    pub rate: Vec<f64>,
    /// Correction that each loop adds per epoch [ps].
    pub steer: Vec<f64>,
    /// The fibres to the grating.
    pub fibres: Fibres,
    /// The leader of each epoch.
    pub rotation: Rotation,
    gains: Gains,
    detector: Detector,
    white: Noise,
    walk: Noise,
    jitter: Noise,
    /// Error of each node's estimate of the leader's clock [ps].
    bias: Vec<f64>,
    errors: Vec<f64>,
    leader: Option<usize>,
    liar: Option<Liar>,
    /// Epoch from which on errors are filtered.
    filtered_from: u64,
    epoch: u64,
}

/// Byzantine nodes and the start of their false times.
struct Liar {
    told: Byzantine,
    from: u64,
    /// Increase per epoch of a false time that grows [ps].
    step: f64,
}

impl Ensemble {
    /// The nodes 0, 1, … of a resolved configuration, with drawn fibres.
    pub fn new(config: &ClockConfig) -> Ensemble {
        let nodes: Vec<u32> = (0..config.nodes).collect();
        Ensemble::of(config, &nodes, nodes.clone())
    }

    /// The nodes with these numbers, in columns in this order; `order` lists columns in the order
    /// in which they lead.
    pub fn of(config: &ClockConfig, nodes: &[u32], order: Vec<u32>) -> Ensemble {
        let noise = |purpose, sigma| Noise::new(config.seed, purpose, nodes, sigma);
        let rate = frequency_errors(config, nodes);
        let steer = match config.pll.start {
            Start::Locked => rate.iter().map(|rate| -rate).collect(),
            Start::Cold => vec![0.0; nodes.len()],
        };
        let settled = config.epochs(config.settle());
        let mut rotation = Rotation::new(order, config.leader_epochs);
        for death in &config.die {
            rotation.dies(death, settled + config.epochs(death.at));
        }
        Ensemble {
            time: vec![0.0; nodes.len()],
            rate,
            steer,
            fibres: Fibres::draw(config, nodes),
            rotation,
            gains: config.gains(),
            detector: Detector::new(config),
            white: noise("clock.white", white_per_epoch(config)),
            walk: noise("clock.walk", walk_per_epoch(config)),
            jitter: noise("clock.jitter", config.timestamps.jitter.0),
            bias: vec![0.0; nodes.len()],
            errors: vec![0.0; nodes.len()],
            leader: None,
            liar: config.byzantine.as_ref().map(|told| Liar {
                from: settled + config.epochs(told.at),
                step: told.speed.0 * 1e-6 * config.epoch_ps(),
                told: told.clone(),
            }),
            filtered_from: match config.pll.start {
                Start::Locked => 0,
                Start::Cold => settled,
            },
            epoch: 0,
        }
    }

    /// Advances by one epoch.
    pub fn advance(&mut self) {
        self.run_free();
        if let Some(leader) = self.rotation.hear(self.epoch) {
            self.measure(leader);
            self.steer_by(leader);
        }
        self.epoch += 1;
    }

    /// Advances every clock at its own frequency.
    fn run_free(&mut self) {
        self.walk.add_to(&mut self.rate);
        for ((time, rate), steer) in self.time.iter_mut().zip(&self.rate).zip(&self.steer) {
            *time += rate + steer;
        }
        self.white.add_to(&mut self.time);
    }

    /// Measures how far the leader is ahead of each node.
    fn measure(&mut self, leader: usize) {
        if self.leader != Some(leader) {
            self.fibres.bias(leader, &mut self.bias);
            self.leader = Some(leader);
        }
        let sent = self.time[leader];
        let columns = self.errors.iter_mut().zip(&self.time).zip(&self.bias);
        for ((error, time), bias) in columns {
            *error = sent - time + bias;
        }
        self.jitter.add_to(&mut self.errors);
        let lie = self
            .liar
            .as_ref()
            .and_then(|liar| liar.lie(leader, self.epoch));
        if let Some((size, split)) = lie {
            for (node, error) in self.errors.iter_mut().enumerate() {
                *error += if split && node % 2 == 1 { -size } else { size };
            }
        }
    }

    /// Each loop except the leader's follows its measurement.
    fn steer_by(&mut self, leader: usize) {
        let kept = (self.time[leader], self.steer[leader]);
        let (gains, mut detector) = (self.gains, self.detector);
        if self.epoch < self.filtered_from {
            detector.limit = f64::INFINITY;
        }
        let columns = self.time.iter_mut().zip(&mut self.steer).zip(&self.errors);
        for ((time, steer), error) in columns {
            let seen = detector.measure(*error);
            *time += gains.time * seen;
            *steer += gains.frequency * seen;
        }
        (self.time[leader], self.steer[leader]) = kept;
    }
}

impl Liar {
    /// Error in a false leader's cell [ps], and whether nodes of odd number receive the opposite.
    fn lie(&self, leader: usize, epoch: u64) -> Option<(f64, bool)> {
        if epoch < self.from || !self.told.nodes.contains(&(leader as u32)) {
            return None;
        }
        Some(match self.told.lie {
            Lie::Split => (self.told.size.0, true),
            Lie::Jump => (self.told.size.0, false),
            Lie::Run => (self.step * (epoch - self.from + 1) as f64, false),
        })
    }
}
