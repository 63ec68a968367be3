//! A short piece of a run, to tell how long the whole would take.
//!
//! A trial is the run itself, from its beginning for some milliseconds: so what it costs is
//! what this fabric costs with these flows on this machine, whatever the fabric.

use lightloom_engine::run::{Plan, Progress, Stop};
use lightloom_engine::{Ledger, Time};
use serde::Serialize;
use std::time::{Duration, Instant};

/// A run that would take less in all is known well enough after a part of the budget [s].
const SHORT_S: f64 = 2.0;
/// That part.
const PART: u32 = 5;

/// What a trial came to, and what there is to do.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// All flows of the workload.
    pub flows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What the fabric and its flows take of memory [B], by the core's own estimate.
    pub memory_bytes: u64,
    /// Time to draw the flows and to build the fabric [s].
    pub prepared_s: f64,
    /// Time that the trial took in the kernel [s].
    pub kernel_s: f64,
    /// The simulated time that it reached [s].
    pub reached_s: f64,
    /// When the run ends [s]; null where it goes on until everything is delivered.
    pub end_s: Option<f64>,
    /// Bytes delivered by then.
    pub bytes_delivered: u64,
    /// Cells or packets moved over a hop by then; null for fabrics of flows.
    pub hops: Option<u64>,
    /// Whether the whole run fitted into the trial.
    pub finished: bool,
}

/// Ends a trial when its time is up, or when it is plain that the run is short.
pub(crate) struct TrialClock {
    begun: Option<Instant>,
    budget: Duration,
    bytes: u64,
    /// The simulated time reached.
    pub reached: Time,
}

impl TrialClock {
    pub(crate) fn new(budget: Duration, bytes: u64) -> TrialClock {
        TrialClock {
            begun: None,
            budget,
            bytes,
            reached: Time::ZERO,
        }
    }
}

impl Progress for TrialClock {
    fn tick(&mut self, now: Time, _: Time, ledger: &Ledger) -> bool {
        self.reached = now;
        let elapsed = self.begun.get_or_insert_with(Instant::now).elapsed();
        let whole = elapsed.as_secs_f64() * self.bytes as f64 / ledger.delivered.max(1) as f64;
        let short = elapsed >= self.budget / PART && whole < SHORT_S;
        elapsed < self.budget && !short
    }
}

/// Distance between looks at the clock: close enough that one never takes long. The run
/// loop doubles it as samples pile up.
pub(crate) fn sampling(last_arrival: Time) -> Time {
    const LEAST: Time = Time(100 * Time::NS.0);
    (last_arrival / 100_000).max(LEAST)
}

/// When a run ends whatever is delivered by then, if it does.
pub(crate) fn end(plan: &Plan, last_arrival: Time) -> Option<Time> {
    match plan.stop {
        Stop::At(time) => Some(time.min(plan.limit)),
        Stop::LastArrival => Some(last_arrival.min(plan.limit)),
        Stop::Delivered(until) => Some(until.min(plan.limit)),
        Stop::Drain => None,
    }
}
