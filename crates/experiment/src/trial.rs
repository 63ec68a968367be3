//! A short part of a run, to estimate the time of the complete run.
//!
//! A trial is the run itself, from its start, for some milliseconds. Its cost is therefore that of
//! this fabric with these flows on this machine.

use lightloom_engine::run::{Plan, Progress, Stop};
use lightloom_engine::{Ledger, Time};
use serde::Serialize;
use std::time::{Duration, Instant};

/// A run that is estimated to take less than this ends its trial early [s].
const SHORT_S: f64 = 2.0;
/// The budget ÷ this is the time after which such a trial ends.
const PART: f64 = 5.0;

/// The results of a trial, and the work of the whole run. Times are processor times: other load of
/// the machine does not count, if the system distinguishes it.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// All flows of the workload.
    pub flows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Memory of the fabric and its flows [B], by the core's own estimate.
    pub memory_bytes: u64,
    /// Time to draw the flows and to build the fabric [s].
    pub prepared_s: f64,
    /// The progress of the early part: the start, for example with memory that is accessed for the
    /// first time, is not representative.
    pub early: Reached,
    /// Progress of the trial.
    pub whole: Reached,
    /// Time at which the run ends [s]; null if it continues until everything is delivered.
    pub end_s: Option<f64>,
    /// Cells or packets moved over a hop by then; null for fabrics of flows.
    pub hops: Option<u64>,
    /// Whether the whole run fitted into the trial.
    pub finished: bool,
    /// Mean over bytes of the size of their flow by the law of sizes [B]; null without a law, and
    /// for laws without a finite variance.
    pub by_byte: Option<f64>,
    /// The time in which circuits meet every pair of racks once, or are chosen anew [s]; `None` if
    /// they do not change.
    pub cycle_s: Option<f64>,
}

/// The progress of a trial.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Reached {
    /// The processor time that this progress took [s].
    pub busy_s: f64,
    /// The simulated time [s].
    pub time_s: f64,
    /// Bytes delivered.
    pub bytes: u64,
}

/// Time of this thread on a processor.
pub(crate) struct Stopwatch {
    begun: Instant,
    busy: Option<Duration>,
}

impl Stopwatch {
    /// Begins to count. For a run with several threads, wall-clock time is counted.
    pub(crate) fn start(threads: usize) -> Stopwatch {
        Stopwatch {
            begun: Instant::now(),
            busy: if threads == 1 { on_processor() } else { None },
        }
    }

    /// Elapsed time [s].
    pub(crate) fn elapsed_s(&self) -> f64 {
        let busy = self.busy.and_then(|from| Some(on_processor()? - from));
        busy.unwrap_or_else(|| self.begun.elapsed()).as_secs_f64()
    }
}

/// The time for which this thread has had a processor; `None` if the system does not report it.
fn on_processor() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = told.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Ends a trial when its time is up, or when the run is certain to be short.
pub(crate) struct TrialClock {
    watch: Stopwatch,
    looked: Instant,
    budget_s: f64,
    bytes: u64,
    /// Simulated time between two readings of the clock.
    every: Time,
    /// Number of readings since `every` changed.
    looks: usize,
    /// The progress after half of the shortest time of a trial.
    pub early: Reached,
    /// The progress now.
    pub now: Reached,
}

impl TrialClock {
    /// Shortest time between two readings of the clock.
    const PERIOD: Duration = Duration::from_micros(500);

    /// The number of samples after which their distance doubles.
    const LOOKS: usize = 1_000;

    /// A trial for flows of this total number of bytes, the last of which arrives at a given time.
    pub(crate) fn new(
        budget: Duration,
        bytes: u64,
        last_arrival: Time,
        threads: usize,
    ) -> TrialClock {
        TrialClock {
            watch: Stopwatch::start(threads),
            looked: Instant::now(),
            budget_s: budget.as_secs_f64(),
            bytes,
            every: distance(last_arrival),
            looks: 0,
            early: Reached::default(),
            now: Reached::default(),
        }
    }

    /// Whether the trial has time left.
    fn goes_on(&self) -> bool {
        let busy = self.now.busy_s;
        let whole = busy * self.bytes as f64 / self.now.bytes.max(1) as f64;
        let short = busy >= self.budget_s / PART && whole < SHORT_S;
        busy < self.budget_s && !short
    }
}

impl Progress for TrialClock {
    fn tick(&mut self, now: Time, end: Time, ledger: &Ledger) -> bool {
        let early = self.looked.elapsed() < Self::PERIOD && now < end;
        if early && self.budget_s > 0.0 {
            return true;
        }
        self.looked = Instant::now();
        self.now = Reached {
            busy_s: self.watch.elapsed_s(),
            time_s: now.as_secs_f64(),
            bytes: ledger.delivered,
        };
        if self.early.busy_s == 0.0 || self.now.busy_s <= self.budget_s / (2.0 * PART) {
            self.early = self.now;
        }
        self.goes_on()
    }

    fn again_by(&mut self, now: Time) -> Time {
        self.looks += 1;
        if self.looks.is_multiple_of(Self::LOOKS) {
            self.every = self.every * 2;
        }
        now + self.every
    }
}

/// Initial simulated time between two readings of the clock, which is so short that one step never
/// takes long.
fn distance(last_arrival: Time) -> Time {
    const LEAST: Time = Time(100 * Time::NS.0);
    (last_arrival / 100_000).max(LEAST)
}

/// The fixed end of a run, regardless of delivered bytes, if it has one.
pub(crate) fn end(plan: &Plan, last_arrival: Time) -> Option<Time> {
    match plan.stop {
        Stop::At(time) => Some(time.min(plan.limit)),
        Stop::LastArrival => Some(last_arrival.min(plan.limit)),
        Stop::Delivered(until) => Some(until.min(plan.limit)),
        Stop::Drain => None,
    }
}
