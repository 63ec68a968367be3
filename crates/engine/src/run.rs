//! The run loop: horizons, faults, sampling, progress, stopping.

use crate::fabric::{Circuit, Command, Fabric, LinkLoad, Rejected, Shape, Totals, View};
use crate::io::{Io, Ledger};
use crate::refusal::Refusal;
use crate::time::Time;
use std::iter::Peekable;
use std::time::{Duration, Instant};
use std::vec::IntoIter;

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// At the last arrival; goodput then covers the time in which load was offered.
    LastArrival,
    /// When no byte is left inside, or at `limit`.
    Drain,
    /// When all flows that arrived before this time are delivered, or at `limit`; flows that arrive
    /// later are offered as well. Only for flows in order of arrival.
    Delivered(Time),
    /// At a given time.
    At(Time),
}

/// A command at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// The instant of the command.
    pub at: Time,
    /// The command.
    pub command: Command,
}

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The end of the run.
    pub stop: Stop,
    /// The latest time of a run.
    pub limit: Time,
    /// Interval between samples; `None` selects about 400 over the arrivals, or up to 1,000 over a
    /// closed loop of any length.
    pub sample: Option<Time>,
    /// Faults in any order; [`crate::outages`] computes them from overlapping failures.
    pub faults: Vec<Fault>,
}

/// One row of the time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The time of the sample.
    pub at: Time,
    /// Byte counts.
    pub ledger: Ledger,
    /// The state that the fabric exposed.
    pub view: View,
}

/// An observer of a run; returning `false` stops the run.
pub trait Progress {
    /// Called at `now`; `end` is an estimate while the run drains.
    fn tick(&mut self, now: Time, end: Time, ledger: &Ledger) -> bool;

    /// The latest time of the next call; a horizon for it costs no sample.
    fn again_by(&mut self, _now: Time) -> Time {
        Time::NEVER
    }
}

/// No progress.
pub struct Silent;

impl Progress for Silent {
    fn tick(&mut self, _: Time, _: Time, _: &Ledger) -> bool {
        true
    }
}

/// The results of a run, besides the flow columns in [`Io`].
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The time reached.
    pub simulated: Time,
    /// The time series.
    pub samples: Vec<Sample>,
    /// Figures of the fabric.
    pub totals: Totals,
    /// The hosts, racks and links that were simulated.
    pub shape: Shape,
    /// Circuits with their times; empty for fabrics without circuits.
    pub circuits: Vec<Circuit>,
    /// Loads of the links of the electrical network; empty if they are not recorded.
    pub links: Vec<LinkLoad>,
    /// Time in which circuits were lit; `None` if they follow no schedule.
    pub lit: Option<Time>,
    /// Byte counts and time of the last arrival, or of the end if that was earlier; `None` if flows
    /// depend on each other, so that the last arrival is not known in advance.
    pub at_last_arrival: Option<(Time, Ledger)>,
    /// Time inside the kernel alone [s].
    pub kernel_s: f64,
    /// Whether the observer stopped the run.
    pub interrupted: bool,
    /// The time since which no byte was delivered, if that ended the run, or if it covers the later
    /// half of a run that ended at its limit.
    pub still_since: Option<Time>,
}

/// Largest number of samples that are kept. If there are more, every second one is dropped and the
/// interval doubles, so that a long drain takes no more memory.
const SAMPLES_MAX: usize = 1_000;

/// The reason why a run did not reach its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The fabric rejected a fault of the plan.
    Rejected(Rejected),
    /// The fabric could not continue.
    Trouble(Refusal),
    /// The end was requested during a horizon ([`Io::halt`]).
    Halted,
}

impl From<Rejected> for Broken {
    fn from(rejected: Rejected) -> Broken {
        Broken::Rejected(rejected)
    }
}

/// Moves `fabric` from horizon to horizon until `plan.stop`.
///
/// # Errors
/// If the fabric rejects a fault of the plan, or cannot continue.
pub fn run(
    fabric: &mut dyn Fabric,
    io: &mut Io,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Broken> {
    run_while_moving(fabric, io, plan, Time::NEVER, progress)
}

/// Like [`run`], but a run that drains also ends if no arrival, failure or repair is due and no
/// byte was delivered for `patience`.
///
/// # Errors
/// The errors of [`run`].
pub fn run_while_moving(
    fabric: &mut dyn Fabric,
    io: &mut Io,
    plan: &Plan,
    patience: Time,
    progress: &mut dyn Progress,
) -> Result<Outcome, Broken> {
    let mut running = Running::new(fabric, io, plan);
    loop {
        running.act()?;
        if running.is_still(patience) {
            return Ok(running.ended(false));
        }
        let end = running.end();
        let interrupted = !progress.tick(running.now, end, &running.io.ledger);
        if running.now >= end || interrupted {
            running.look_back(patience);
            return Ok(running.ended(interrupted));
        }
        let by = progress.again_by(running.now);
        running.advance(end.min(by))?;
    }
}

/// A run that ends at its limit has stopped moving if nothing was delivered for patience ÷
/// `STILL_PART`.
const STILL_PART: i64 = 20;

/// The state of a run.
struct Running<'a> {
    fabric: &'a mut dyn Fabric,
    io: &'a mut Io,
    plan: &'a Plan,
    now: Time,
    /// Future faults, in order of time.
    faults: Peekable<IntoIter<Fault>>,
    samples: Vec<Sample>,
    /// Interval between samples, and the time of the next one.
    every: Time,
    next_sample: Time,
    last_arrival: Time,
    /// The last arrival, if it is in the future; `None` if it is not known.
    offering: Option<Time>,
    at_last_arrival: Option<(Time, Ledger)>,
    /// All flows before this index are delivered.
    delivered: usize,
    /// Time inside the fabric alone.
    kernel: Duration,
    /// The number of bytes delivered, and the time since which it has not changed.
    moved: (u64, Time),
    /// The time since which no byte was delivered, if that ends the run.
    still_since: Option<Time>,
}

impl<'a> Running<'a> {
    fn new(fabric: &'a mut dyn Fabric, io: &'a mut Io, plan: &'a Plan) -> Running<'a> {
        let mut faults = plan.faults.clone();
        faults.sort_by_key(|f| f.at);
        let last_arrival = io.flows.last_arrival();
        Running {
            now: Time::ZERO,
            faults: faults.into_iter().peekable(),
            samples: Vec::new(),
            every: plan.sample.unwrap_or_else(|| default_sampling(io)),
            next_sample: Time::ZERO,
            last_arrival,
            offering: io.flows.after.is_empty().then_some(last_arrival),
            at_last_arrival: None,
            delivered: 0,
            kernel: Duration::ZERO,
            moved: (0, Time::ZERO),
            still_since: None,
            fabric,
            io,
            plan,
        }
    }

    /// Carries out the actions of a horizon: byte counts, faults, a sample.
    fn act(&mut self) -> Result<(), Rejected> {
        let now = self.now;
        while self.next_count() <= now {
            self.count();
        }
        if self.offering.take_if(|last| *last <= now).is_some() {
            self.at_last_arrival = Some((now, self.io.ledger));
        }
        while let Some(fault) = self.faults.next_if(|f| f.at <= now) {
            self.fabric.apply(fault.command)?;
        }
        if now >= self.next_sample {
            self.samples.push(sample(self.fabric, self.io, now));
            thin(&mut self.samples, &mut self.every);
            self.next_sample = now + self.every;
        }
        Ok(())
    }

    /// The next time at which deliveries are counted.
    fn next_count(&self) -> Time {
        let deliveries = self.io.deliveries.as_ref();
        deliveries.and_then(|d| d.next()).unwrap_or(Time::NEVER)
    }

    /// Counts the delivered bytes.
    fn count(&mut self) {
        let Some(mut deliveries) = self.io.deliveries.take() else {
            return;
        };
        if deliveries.asks_servers() {
            self.fabric.settle(self.io);
        }
        deliveries.count(self.io.ledger.delivered, &self.io.flows);
        self.io.deliveries = Some(deliveries);
    }

    /// Whether, in a run that drains, no byte was delivered for `patience` and no arrival, failure
    /// or repair is due.
    fn is_still(&mut self, patience: Time) -> bool {
        let comes = !self.io.exhausted() || self.faults.peek().is_some();
        if comes || self.plan.stop != Stop::Drain || self.io.ledger.in_flight() == 0 {
            self.moved = (self.io.ledger.delivered, self.now);
            return false;
        }
        if self.has_moved() || self.now - self.moved.1 < patience {
            return false;
        }
        // Fabrics with rates record delivered bytes only in `settle`, or when a rate changes.
        self.fabric.settle(self.io);
        if !self.has_moved() {
            self.still_since = Some(self.moved.1);
        }
        self.still_since.is_some()
    }

    /// At the end of the run, records the time since which no byte was delivered, in two cases:
    ///
    /// - Failed parts that are never repaired hold the remaining bytes.
    /// - The run has reached its limit, and nothing was delivered in its later half and for at
    ///   least `patience` ÷ [`STILL_PART`]. A higher limit would therefore not help.
    fn look_back(&mut self, patience: Time) {
        if self.drains_no_more() && self.faults.len() == 0 && self.io.ledger.in_flight() > 0 {
            self.has_moved();
            self.still_since = Some(self.moved.1);
            return;
        }
        let quiet = self.now - self.moved.1;
        if self.now < self.plan.limit || quiet * 2 < self.now || quiet * STILL_PART < patience {
            return;
        }
        self.is_still(quiet);
    }

    /// Whether bytes were delivered since the last call.
    fn has_moved(&mut self) -> bool {
        let delivered = self.io.ledger.delivered;
        let has = delivered != self.moved.0;
        if has {
            self.moved = (delivered, self.now);
        }
        has
    }

    /// The end of the run as known now.
    fn end(&mut self) -> Time {
        let (plan, now) = (self.plan, self.now);
        let end = match plan.stop {
            Stop::Delivered(until) if all_delivered(self.io, until, &mut self.delivered) => {
                now.max(until).min(plan.limit)
            }
            _ => end_of(plan, self.last_arrival, self.fabric, self.io, now),
        };
        // A repair may release bytes that are stuck now.
        let stuck = plan.stop == Stop::Drain && end == now && self.io.ledger.in_flight() > 0;
        match self.faults.peek() {
            Some(_) if stuck => plan.limit,
            _ => end,
        }
    }

    /// Advances to the next horizon: a sample, a fault, a count, the last arrival or `end`.
    fn advance(&mut self, end: Time) -> Result<(), Broken> {
        let fault = self.faults.peek().map_or(Time::NEVER, |f| f.at);
        let arrivals_end = self.offering.unwrap_or(Time::NEVER);
        let due = self.next_sample.min(fault).min(self.next_count());
        let to = due.min(arrivals_end).min(end);
        let clock = Instant::now();
        self.fabric.advance(to, self.io);
        self.kernel += clock.elapsed();
        if let Some(trouble) = self.fabric.trouble() {
            return Err(Broken::Trouble(trouble.clone()));
        }
        if self.io.halt.asked() {
            return Err(Broken::Halted);
        }
        self.now = to;
        Ok(())
    }

    /// Whether a run that drains has no future arrivals, and no moving bytes in the fabric.
    fn drains_no_more(&self) -> bool {
        self.plan.stop == Stop::Drain && self.fabric.idle() && self.io.exhausted()
    }

    /// Takes the last sample and returns the results of the run.
    fn ended(mut self, interrupted: bool) -> Outcome {
        let mut now = self.now;
        if self.drains_no_more() && self.io.ledger.in_flight() == 0 {
            // The end is the time of the last byte, not the horizon at which it was detected.
            now = self.io.last_completion().min(now);
        }
        // The horizon at which the end was detected may be later and has a sample, which is
        // removed.
        self.samples.retain(|s| s.at < now);
        self.samples.push(sample(self.fabric, self.io, now));
        self.fabric.settle(self.io);
        // Instants that the run did not reach get the counts at its end.
        while self.next_count() < Time::NEVER {
            self.count();
        }
        if self.offering.is_some() {
            self.at_last_arrival = Some((now, self.io.ledger));
        }
        Outcome {
            at_last_arrival: self.at_last_arrival,
            simulated: now,
            samples: self.samples,
            totals: self.fabric.totals(),
            shape: self.fabric.shape(),
            circuits: self.fabric.circuits(now),
            links: self.fabric.link_loads(&[]),
            lit: self.fabric.lit_for(now),
            kernel_s: self.kernel.as_secs_f64(),
            interrupted,
            still_since: self.still_since,
        }
    }
}

fn sample(fabric: &dyn Fabric, io: &Io, at: Time) -> Sample {
    let mut view = View::default();
    fabric.observe(io, &mut view);
    Sample {
        at,
        ledger: io.ledger,
        view,
    }
}

fn thin(samples: &mut Vec<Sample>, every: &mut Time) {
    if samples.len() < SAMPLES_MAX {
        return;
    }
    let mut keep = false;
    samples.retain(|_| {
        keep = !keep;
        keep
    });
    *every = *every * 2;
}

/// The end as known now. While the run drains and bytes are left, it is the next instant.
fn end_of(plan: &Plan, last_arrival: Time, fabric: &dyn Fabric, io: &Io, now: Time) -> Time {
    match plan.stop {
        Stop::At(t) => t.min(plan.limit),
        Stop::LastArrival => last_arrival.min(plan.limit),
        // Jobs may continue to compute after all bytes are sent.
        Stop::Drain if fabric.idle() && io.exhausted() => io.jobs_end().min(plan.limit).max(now),
        Stop::Drain | Stop::Delivered(_) => plan.limit,
    }
}

/// Whether all flows that arrive before `until` are delivered; flows before index `from` are known
/// to be.
fn all_delivered(io: &Io, until: Time, from: &mut usize) -> bool {
    let finished = |f: usize| io.flows.finish[f] != Time::NEVER;
    while *from < io.flows.len() && io.flows.arrival[*from] < until && finished(*from) {
        *from += 1;
    }
    *from == io.flows.len() || io.flows.arrival[*from] >= until
}

/// About 400 samples over the arrivals, at least 100 ns apart. The end of a closed loop is not
/// known; its samples are close to each other at first and are thinned later.
fn default_sampling(io: &Io) -> Time {
    const LEAST: Time = Time(100 * Time::NS.0);
    match io.flows.after.is_empty() {
        true => (io.flows.last_arrival() / 400).max(LEAST),
        false => LEAST,
    }
}
