//! Runs a fabric that was [prepared](crate::prepare) with its flows.

use crate::fabric;
use crate::trial::{self, Stopwatch, Trial, TrialClock};
use lightloom_engine::run::{self, Broken, Fault, Plan, Progress};
use lightloom_engine::{Circuit, Cluster, ControlRecord, Fabric, Flows, Halt, Io, Refusal, Time};
use lightloom_metrics::{summarize, Counted, Finished, InForce, PartCounts, Series, Span, Summary};
use serde_json::Value;
use std::time::{Duration, Instant};

/// A fabric and its flows, ready to run: what [`Finished`] says of a run, and what it takes.
pub struct Prepared {
    pub(crate) fabric: Box<dyn Fabric>,
    pub(crate) io: Io,
    pub(crate) plan: Plan,
    pub(crate) cluster: Cluster,
    pub(crate) kind: String,
    pub(crate) label: String,
    /// How messages name the fabric.
    pub(crate) place: String,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    pub(crate) within_racks: bool,
    pub(crate) mean_bytes: Option<f64>,
    pub(crate) span: Option<Span>,
    pub(crate) counted: Vec<Counted>,
    pub(crate) parts: PartCounts,
    pub(crate) derived: InForce,
    pub(crate) devices: Option<Value>,
    pub(crate) physics: Option<Value>,
    pub(crate) total_bytes: u64,
    pub(crate) time_scale: Option<f64>,
    pub(crate) memory: u64,
    pub(crate) begun: Instant,
    pub(crate) watch: Stopwatch,
}

/// What a run leaves behind.
#[derive(Debug)]
pub struct RunOutput {
    /// The figures.
    pub summary: Summary,
    /// The flow columns.
    pub flows: Flows,
    /// The time series.
    pub series: Series,
    /// Who was connected to whom, and when; `None` for fabrics without circuits
    /// that come and go.
    pub circuits: Option<Vec<Circuit>>,
    /// What the controller of circuits left behind; `None` for fabrics without one.
    pub control: Option<ControlRecord>,
    /// Whether the observer stopped the run; then the figures are of a part.
    pub interrupted: bool,
}

impl Prepared {
    /// Bytes of all flows, for showing how much is delivered.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// What ends the run early, even amid a horizon.
    pub fn halted_by(mut self, halt: Halt) -> Prepared {
        self.io.halt = halt;
        self
    }

    /// Runs for a short time, to tell how long the whole would take.
    ///
    /// # Errors
    /// What [`Prepared::run`] refuses.
    pub fn trial(mut self, budget: Duration) -> Result<Trial, Refusal> {
        let prepared_s = self.watch.elapsed_s();
        let memory_bytes = self.memory;
        let flows = self.io.flows.len() as u64;
        let last = self.io.flows.last_arrival();
        self.plan.sample = Some(trial::sampling(last));
        let end = trial::end(&self.plan, last);
        let mut clock = TrialClock::new(budget, self.total_bytes, self.threads);
        let output = self.run(&mut clock)?;
        let summary = output.summary;
        Ok(Trial {
            flows,
            bytes: output.flows.total_bytes(),
            memory_bytes,
            prepared_s,
            early: clock.early,
            whole: clock.now,
            end_s: end.map(Time::as_secs_f64),
            hops: summary.cell_hops.or(summary.packet_hops),
            finished: !output.interrupted,
        })
    }

    /// Runs to the end, or until `progress` stops it.
    ///
    /// # Errors
    /// A [`Refusal`] if the fabric rejects a fault.
    pub fn run(mut self, progress: &mut dyn Progress) -> Result<RunOutput, Refusal> {
        let outcome = run::run(self.fabric.as_mut(), &mut self.io, &self.plan, progress)
            .map_err(|broken| self.refused(broken))?;
        let control = self.fabric.control_record();
        drop(self.fabric);
        let late = |fault: &&Fault| fault.at > outcome.simulated;
        let summary = summarize(&Finished {
            fabric: &self.kind,
            label: &self.label,
            seed: self.seed,
            threads: self.threads,
            cluster: &self.cluster,
            io: &self.io,
            outcome: &outcome,
            within_racks: self.within_racks,
            mean_bytes: self.mean_bytes,
            span: self.span,
            counted: &self.counted,
            parts: &self.parts,
            derived: &self.derived,
            devices: self.devices.as_ref(),
            physics: self.physics.as_ref(),
            faults_after_end: self.plan.faults.iter().filter(late).count() as u64,
            time_scale: self.time_scale,
            wall_s: self.begun.elapsed().as_secs_f64(),
        });
        Ok(RunOutput {
            summary,
            series: Series::of(&outcome),
            flows: self.io.flows,
            circuits: outcome.totals.circuit_bytes.map(|_| outcome.circuits),
            control,
            interrupted: outcome.interrupted,
        })
    }

    /// Why a run did not come to its end.
    fn refused(&self, broken: Broken) -> Refusal {
        match broken {
            Broken::Rejected(why) => Refusal::new("fault", "", why.to_string(), "correct it"),
            Broken::Halted => Refusal::new("run", &self.label, "was interrupted", "run it again"),
            Broken::Trouble(refusal) => fabric::place(refusal, &self.place),
        }
    }
}
