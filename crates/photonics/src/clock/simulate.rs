//! A run: the day if there is one, the epochs at its worst moment, and each term alone.

use super::config::ClockConfig;
use super::day;
use super::ensemble::Ensemble;
use super::fibres::Fibres;
use super::judge::{Judge, Judged};
use super::pll::Gains;
use super::progress::Progress;
use super::terms::Term;
use lightloom_engine::Time;
use serde::Serialize;

/// Epochs between two reports of progress.
const VISIT: u64 = 4_096;

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The epochs; after a day, those at its worst moment.
    pub epochs: Judged,
    /// The steps of the day.
    pub day: Option<Judged>,
    /// Common frequency error of all clocks at the end [ppm]. No reference keeps the clocks at true
    /// time.
    pub common_frequency_ppm: f64,
}

/// The contribution of a term to the deviation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contribution {
    /// The term.
    pub term: Term,
    /// Largest deviation with this term alone, epoch by epoch [ps].
    pub alone_ps: f64,
    /// Root mean square of a pair's wander with this term alone, epoch by epoch [ps].
    pub alone_wander_rms_ps: f64,
    /// Largest deviation without this term, epoch by epoch [ps].
    pub without_ps: f64,
    /// Largest deviation with this term alone, in the steps of a day [ps].
    pub day_alone_ps: Option<f64>,
}

/// The loop that was simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoopFigures {
    /// kp: the change of a clock per picosecond of error.
    pub time_gain: f64,
    /// ki: the change of the correction per epoch.
    pub frequency_gain: f64,
    /// Time constant [s].
    pub time_constant_s: f64,
    /// Variance of a clock ÷ variance of white jitter, by linear theory.
    pub jitter_ratio: f64,
}

impl LoopFigures {
    /// The figures of a configuration.
    pub fn of(config: &ClockConfig) -> LoopFigures {
        let gains = config.gains();
        LoopFigures {
            time_gain: gains.time,
            frequency_gain: gains.frequency,
            time_constant_s: 1.0
                / Gains::natural_frequency(config.pll.bandwidth, config.pll.damping),
            jitter_ratio: gains.of_jitter(),
        }
    }
}

/// The number of updates of one clock that [`run`] performs, for progress reports.
pub fn updates(config: &ClockConfig) -> u64 {
    let epochs = config.epochs(config.duration) + config.epochs(config.settle());
    let steps = config
        .day
        .as_ref()
        .map_or(0, |day| day.duration.0 / day.step.0);
    (epochs + steps as u64) * u64::from(config.nodes)
}

/// The number of updates that [`contributions`] performs.
pub fn updates_of_contributions(config: &ClockConfig) -> u64 {
    let terms = Term::ALL.into_iter().filter(|term| term.present(config));
    2 * terms.count() as u64 * updates(config)
}

/// Runs a resolved configuration. `None` if `heard` cancelled it.
pub fn run(config: &ClockConfig, heard: Progress) -> Option<Outcome> {
    let Some(told) = &config.day else {
        return fast(config, None, heard);
    };
    let (day, fibres) = day::run(config, told, heard)?;
    let outcome = fast(config, Some(fibres), heard)?;
    Some(Outcome {
        day: Some(day),
        ..outcome
    })
}

/// Runs the fast loop, with drawn fibres or the given ones.
fn fast(config: &ClockConfig, fibres: Option<Fibres>, heard: Progress) -> Option<Outcome> {
    let mut clocks = Ensemble::new(config);
    if let Some(fibres) = fibres {
        clocks.fibres = fibres;
    }
    let sampling = config.epochs(config.judge.sampling.unwrap_or(config.epoch));
    let epochs = config.epochs(config.duration);
    let step = config.epoch * sampling as i64;
    let mut judge = Judge::new(sound(config), step, (epochs / sampling) as usize)
        .behind_filter(config.judge.bandwidth, config.epoch);
    let settled = config.epochs(config.settle());
    for epoch in 1..=settled + epochs {
        clocks.advance();
        judge.update_filter(&clocks.time);
        if epoch > settled && (epoch - settled).is_multiple_of(sampling) {
            judge.sample(config.epoch * (epoch - settled) as i64, &clocks.time);
        }
        if epoch.is_multiple_of(VISIT) && !heard(VISIT * u64::from(config.nodes)) {
            return None;
        }
    }
    Some(Outcome {
        common_frequency_ppm: common_frequency(&clocks, &judge.sound, config.epoch),
        epochs: judge.finish(),
        day: None,
    })
}

/// The nodes that are judged: those that neither die nor send a false time.
fn sound(config: &ClockConfig) -> Vec<bool> {
    let mut sound = vec![true; config.nodes as usize];
    let liars = config
        .byzantine
        .iter()
        .flat_map(|byzantine| &byzantine.nodes);
    for &node in config.die.iter().map(|death| &death.node).chain(liars) {
        sound[node as usize] = false;
    }
    sound
}

fn common_frequency(clocks: &Ensemble, sound: &[bool], epoch: Time) -> f64 {
    let judged = (0..sound.len()).filter(|&node| sound[node]);
    let gained: Vec<f64> = judged
        .map(|node| clocks.rate[node] + clocks.steer[node])
        .collect();
    gained.iter().sum::<f64>() / gained.len() as f64 / epoch.0 as f64 * 1e6
}

/// The contribution of each term that has an effect. `None` if `heard` cancelled it.
pub fn contributions(config: &ClockConfig, heard: Progress) -> Option<Vec<Contribution>> {
    let mut found = Vec::new();
    for term in Term::ALL.into_iter().filter(|term| term.present(config)) {
        let alone = run(&term.alone(config), heard)?;
        let without = run(&term.silenced(config), heard)?;
        found.push(Contribution {
            term,
            alone_ps: alone.epochs.verdict.deviation_max_ps,
            alone_wander_rms_ps: alone.epochs.verdict.wander_rms_ps,
            without_ps: without.epochs.verdict.deviation_max_ps,
            day_alone_ps: alone.day.map(|day| day.verdict.deviation_max_ps),
        });
    }
    Some(found)
}
