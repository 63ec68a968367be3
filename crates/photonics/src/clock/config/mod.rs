//! The configuration of `lightloom clock`. Each default has its source, or is marked "assumption".

mod checks;
mod failures;
mod parts;

pub use failures::{Byzantine, Death, Lie};
pub use parts::*;

use super::pll::Gains;
use lightloom_engine::{config, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The largest number of samples by default.
const SAMPLES: u64 = 100_000;

/// Clocks that follow a leader that changes every few epochs (Sirius §4.4, A.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClockConfig {
    /// Number of synchronised nodes [count], 2 to 65536. Default 128 (Sirius §7).
    pub nodes: u32,
    /// Length of an epoch, in which every node receives one cell from the leader [time]. Default
    /// 1.6 us: 16 slots of 100 ns (Sirius §7).
    pub epoch: Time,
    /// Number of epochs for which a node is the leader [count]. Default 4: "every few epochs"
    /// (Sirius §4.4; the number is an assumption).
    pub leader_epochs: u64,
    /// Network time that is simulated epoch by epoch, after `settle` [time]. Default 100 ms.
    pub duration: Time,
    /// Network time before the deviation is measured [time]. Default: two turns of all leaders, or
    /// ten time constants of the loop (40 with `loop.start = "cold"`) if that is longer.
    pub settle: Option<Time>,
    /// Seed of all random streams. Default 1.
    pub seed: u64,
    /// The phase-locked loop of each clock.
    #[serde(rename = "loop")]
    pub pll: Loop,
    /// The oscillator of each node.
    pub oscillator: Oscillator,
    /// Measurement of arrival times.
    pub timestamps: Timestamps,
    /// The fibres between the nodes and the grating.
    pub fibre: Fibre,
    /// The temperature of fibres and oscillators, over a day.
    pub temperature: Temperature,
    /// Measurement of each node's delay to the grating.
    pub loopback: Loopback,
    /// Measurement of the deviation between clocks.
    pub judge: Judge,
    /// A day, simulated in long steps; the epochs are then simulated at its worst step. Default: no
    /// day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<Day>,
    /// Nodes that die [list]. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub die: Vec<Death>,
    /// Byzantine nodes, which send a false time when they are the leader. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byzantine: Option<Byzantine>,
}

impl Default for ClockConfig {
    fn default() -> ClockConfig {
        ClockConfig {
            nodes: 128,
            epoch: Time(1_600_000),
            leader_epochs: 4,
            duration: Time::MS * 100,
            settle: None,
            seed: 1,
            pll: Loop::default(),
            oscillator: Oscillator::default(),
            timestamps: Timestamps::default(),
            fibre: Fibre::default(),
            temperature: Temperature::default(),
            loopback: Loopback::default(),
            judge: Judge::default(),
            day: None,
            die: Vec::new(),
            byzantine: None,
        }
    }
}

impl ClockConfig {
    /// Reads a table, computes the missing values, and refuses configurations that cannot run.
    ///
    /// # Errors
    /// A [`Refusal`] that names the key.
    pub fn read(table: &Value) -> Result<ClockConfig, Refusal> {
        config::read::<ClockConfig>(table, "")?.resolve()
    }

    /// Sets every default; resolved values do not change.
    ///
    /// # Errors
    /// A [`Refusal`] of a configuration that cannot run.
    pub fn resolve(mut self) -> Result<ClockConfig, Refusal> {
        checks::ranges(&self)?;
        let turns = Time(self.epoch.0 * 2 * i64::from(self.nodes) * self.leader_epochs as i64);
        // With a cold start, clocks initially differ by hundreds of picoseconds per epoch.
        let times = if self.pll.start == Start::Cold {
            40.0
        } else {
            10.0
        };
        let constants = Time::from_secs_f64(
            times / Gains::natural_frequency(self.pll.bandwidth, self.pll.damping),
        );
        self.settle.get_or_insert(turns.max(constants));
        let sampling = self.epoch * self.usual_sampling() as i64;
        self.judge.sampling.get_or_insert(sampling);
        let noise = self.timestamps.loopback_noise(self.loopback.averaged);
        self.loopback.noise.get_or_insert(noise);
        checks::together(&self)?;
        Ok(self)
    }

    /// Epochs between samples: coprime to a full rotation of leaders, so that over time samples
    /// fall on all of its epochs.
    fn usual_sampling(&self) -> u64 {
        let epochs = self.epochs(self.duration);
        let turns = u64::from(self.nodes) * self.leader_epochs;
        let mut sampled = epochs.div_ceil(SAMPLES).max(10);
        while common_divisor(sampled, turns) > 1 {
            sampled += 1;
        }
        sampled.min(epochs)
    }

    /// Gains of the loop.
    pub fn gains(&self) -> Gains {
        Gains::new(self.pll.bandwidth, self.pll.damping, self.epoch)
    }

    /// Epochs in a time, rounded up.
    pub fn epochs(&self, time: Time) -> u64 {
        time.div_ceil(self.epoch) as u64
    }

    /// The resolved [`ClockConfig::settle`], which `resolve` has set.
    pub(crate) fn settle(&self) -> Time {
        self.settle.unwrap_or(Time::ZERO)
    }

    /// The length of an epoch [ps].
    pub(crate) fn epoch_ps(&self) -> f64 {
        self.epoch.0 as f64
    }
}

/// The greatest common divisor.
fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        common_divisor(b, a % b)
    }
}
