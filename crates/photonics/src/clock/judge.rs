//! The judge: it measures the deviation between clocks.
//!
//! The result of each sample is the largest deviation between any two sound nodes. Constant offsets
//! cost guardband. The variation about them, the wander, is shown by an oscilloscope that was
//! zeroed once, as in Sirius §6 (± 5 ps over 24 hours between two nodes).

use super::quantity::Hertz;
use lightloom_engine::Time;
use serde::Serialize;
use std::f64::consts::TAU;

/// The sound nodes with the largest and the smallest time.
pub fn extremes(times: &[f64], sound: &[bool]) -> (usize, usize) {
    let found = times.iter().zip(sound).enumerate();
    let mut among = found
        .filter(|(_, (_, &sound))| sound)
        .map(|(at, (&time, _))| (at, time));
    let first = among.next().unwrap_or((0, 0.0));
    let (mut least, mut most) = (first, first);
    for (at, time) in among {
        if time > most.1 {
            most = (at, time);
        }
        if time < least.1 {
            least = (at, time);
        }
    }
    (most.0, least.0)
}

/// Samples over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Time since the clocks had settled [ps].
    pub time_ps: Vec<i64>,
    /// Largest deviation between any two sound nodes [ps].
    pub deviation_ps: Vec<f64>,
    /// The node that was farthest ahead.
    pub ahead: Vec<u32>,
    /// The node that was farthest behind.
    pub behind: Vec<u32>,
    /// Clock of the second sound node minus that of the first [ps], as an oscilloscope shows for
    /// two nodes.
    pub pair_ps: Vec<f64>,
    /// Largest deviation between any two nodes, each about its mean [ps].
    pub wander_ps: Vec<f64>,
}

/// The results of each node, relative to the mean of all sound ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerNode {
    /// Whether it was judged in the end.
    pub sound: Vec<bool>,
    /// Mean [ps].
    pub mean_ps: Vec<f64>,
    /// Standard deviation [ps].
    pub rms_ps: Vec<f64>,
    /// Minimum [ps].
    pub least_ps: Vec<f64>,
    /// Maximum [ps].
    pub most_ps: Vec<f64>,
}

/// The results of the judge.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Largest deviation between any two nodes at any sample [ps].
    pub deviation_max_ps: f64,
    /// Time of that sample [s].
    pub deviation_max_at_s: f64,
    /// The two nodes of that sample: ahead, behind.
    pub deviation_max_pair: [u32; 2],
    /// Mean over samples of the largest deviation [ps].
    pub deviation_mean_ps: f64,
    /// Largest deviation between any two nodes about their means [ps].
    pub wander_max_ps: f64,
    /// Root mean square of a pair's wander, over all pairs [ps].
    pub wander_rms_ps: f64,
    /// Mean difference of the first two sound nodes [ps].
    pub pair_mean_ps: f64,
    /// Largest deviation of that difference from its mean, in either direction [ps].
    pub pair_wander_max_ps: f64,
    /// Time between samples [s].
    pub sampling_s: f64,
    /// Bandwidth of the judge's filter [Hz]; null without a filter.
    pub bandwidth_hz: Option<f64>,
    /// Samples [count].
    pub samples: usize,
}

/// Observes the clocks and stores samples.
pub struct Judge {
    samples: Samples,
    /// Rows of all nodes' times relative to the mean of the sound ones [ps].
    rows: Vec<f32>,
    /// Filtered times relative to the mean.
    filtered: Option<(f64, Vec<f64>)>,
    now: Vec<f64>,
    /// Nodes that are judged.
    pub sound: Vec<bool>,
    sampling: Time,
    bandwidth: Option<Hertz>,
}

impl Judge {
    /// A judge that takes `samples` samples of the sound nodes, one every `sampling`.
    pub fn new(sound: Vec<bool>, sampling: Time, samples: usize) -> Judge {
        let nodes = sound.len();
        Judge {
            samples: Samples::with_capacity(samples),
            rows: Vec::with_capacity(samples * nodes),
            filtered: None,
            now: vec![0.0; nodes],
            sound,
            sampling,
            bandwidth: None,
        }
    }

    /// The same judge behind a single-pole filter, if a bandwidth is given.
    pub fn behind_filter(mut self, bandwidth: Option<Hertz>, step: Time) -> Judge {
        self.filtered = bandwidth.map(|bandwidth| {
            let share = 1.0 - (-TAU * bandwidth.0 * step.as_secs_f64()).exp();
            (share, Vec::new())
        });
        self.bandwidth = bandwidth;
        self
    }

    /// Updates the filter, if there is one, with the clocks after an epoch.
    #[inline]
    pub fn update_filter(&mut self, times: &[f64]) {
        let Some((share, filtered)) = &mut self.filtered else {
            return;
        };
        let mean = mean_of(times, &self.sound);
        if filtered.is_empty() {
            filtered.extend(times.iter().map(|time| time - mean));
        }
        for (filtered, time) in filtered.iter_mut().zip(times) {
            *filtered += *share * (time - mean - *filtered);
        }
    }

    /// Takes a sample.
    pub fn sample(&mut self, at: Time, times: &[f64]) {
        match &self.filtered {
            Some((_, filtered)) if !filtered.is_empty() => self.now.copy_from_slice(filtered),
            _ => {
                let mean = mean_of(times, &self.sound);
                for (now, time) in self.now.iter_mut().zip(times) {
                    *now = time - mean;
                }
            }
        }
        let (ahead, behind) = extremes(&self.now, &self.sound);
        let samples = &mut self.samples;
        samples.time_ps.push(at.0);
        samples
            .deviation_ps
            .push(self.now[ahead] - self.now[behind]);
        samples.ahead.push(ahead as u32);
        samples.behind.push(behind as u32);
        let [first, second] = first_two(&self.sound);
        samples.pair_ps.push(self.now[second] - self.now[first]);
        self.rows.extend(self.now.iter().map(|&now| now as f32));
    }

    /// The latest sample's largest deviation [ps].
    pub fn latest(&self) -> f64 {
        self.samples.deviation_ps.last().copied().unwrap_or(0.0)
    }

    /// Returns the results.
    pub fn finish(mut self) -> Judged {
        let nodes = self.per_node();
        let mut about = vec![0.0; self.sound.len()];
        for row in self.rows.chunks(self.sound.len()) {
            for (node, about) in about.iter_mut().enumerate() {
                *about = f64::from(row[node]) - nodes.mean_ps[node];
            }
            let (ahead, behind) = extremes(&about, &self.sound);
            self.samples.wander_ps.push(about[ahead] - about[behind]);
        }
        Judged {
            verdict: self.verdict(&nodes),
            samples: self.samples,
            nodes,
        }
    }

    fn per_node(&self) -> PerNode {
        let count = self.sound.len();
        let mut found = PerNode {
            sound: self.sound.clone(),
            mean_ps: vec![0.0; count],
            rms_ps: vec![0.0; count],
            least_ps: vec![f64::INFINITY; count],
            most_ps: vec![f64::NEG_INFINITY; count],
        };
        let rows = self.samples.time_ps.len() as f64;
        for row in self.rows.chunks(count) {
            for (node, &value) in row.iter().enumerate() {
                let value = f64::from(value);
                found.mean_ps[node] += value / rows;
                found.least_ps[node] = found.least_ps[node].min(value);
                found.most_ps[node] = found.most_ps[node].max(value);
            }
        }
        for row in self.rows.chunks(count) {
            for (node, &value) in row.iter().enumerate() {
                let off = f64::from(value) - found.mean_ps[node];
                found.rms_ps[node] += off * off / rows;
            }
        }
        found.rms_ps.iter_mut().for_each(|rms| *rms = rms.sqrt());
        found
    }

    fn verdict(&self, nodes: &PerNode) -> Verdict {
        let samples = &self.samples;
        let count = samples.time_ps.len();
        let worst = (0..count)
            .max_by(|&a, &b| samples.deviation_ps[a].total_cmp(&samples.deviation_ps[b]))
            .unwrap_or(0);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / count as f64;
        let largest = |values: &[f64]| values.iter().fold(0.0, |most: f64, &v| most.max(v));
        let pair_mean = mean(&samples.pair_ps);
        let off: Vec<f64> = samples
            .pair_ps
            .iter()
            .map(|pair| (pair - pair_mean).abs())
            .collect();
        // Relative to the mean of n nodes, Σ over pairs of (x_i − x_j)² is n·Σ x².
        let sound = || self.sound.iter().filter(|&&sound| sound).count() as f64;
        let squares: f64 = (0..self.sound.len())
            .filter(|&node| self.sound[node])
            .map(|node| nodes.rms_ps[node].powi(2))
            .sum();
        Verdict {
            deviation_max_ps: samples.deviation_ps[worst],
            deviation_max_at_s: Time(samples.time_ps[worst]).as_secs_f64(),
            deviation_max_pair: [samples.ahead[worst], samples.behind[worst]],
            deviation_mean_ps: mean(&samples.deviation_ps),
            wander_max_ps: largest(&samples.wander_ps),
            wander_rms_ps: (2.0 * squares / (sound() - 1.0)).sqrt(),
            pair_mean_ps: pair_mean,
            pair_wander_max_ps: largest(&off),
            sampling_s: self.sampling.as_secs_f64(),
            bandwidth_hz: self.bandwidth.map(|bandwidth| bandwidth.0),
            samples: count,
        }
    }
}

impl Samples {
    fn with_capacity(samples: usize) -> Samples {
        Samples {
            time_ps: Vec::with_capacity(samples),
            deviation_ps: Vec::with_capacity(samples),
            ahead: Vec::with_capacity(samples),
            behind: Vec::with_capacity(samples),
            pair_ps: Vec::with_capacity(samples),
            wander_ps: Vec::with_capacity(samples),
        }
    }
}

/// The samples and results of a judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The figures.
    pub verdict: Verdict,
    /// The samples.
    pub samples: Samples,
    /// The results of each node.
    pub nodes: PerNode,
}

fn mean_of(times: &[f64], sound: &[bool]) -> f64 {
    let (sum, count) = times
        .iter()
        .zip(sound)
        .filter(|(_, &sound)| sound)
        .fold((0.0, 0u32), |(sum, count), (time, _)| {
            (sum + time, count + 1)
        });
    sum / f64::from(count.max(1))
}

fn first_two(sound: &[bool]) -> [usize; 2] {
    let mut among = (0..sound.len()).filter(|&node| sound[node]);
    let first = among.next().unwrap_or(0);
    [first, among.next().unwrap_or(first)]
}
