//! Runs a fabric that was [prepared](crate::prepare) with its flows.

use crate::fabric;
use crate::trial::{self, Stopwatch, Trial, TrialClock};
use lightloom_engine::run::{self, Broken, Fault, Outcome, Plan, Progress, Stop};
use lightloom_engine::{
    Bytes, Circuit, Cluster, ControlRecord, Fabric, Flows, Halt, Io, LinkLoad, Refusal, Time,
};
use lightloom_metrics::{
    summarize, Counted, Excess, Finished, InForce, PartCounts, Series, Span, Summary, Traffic,
};
use serde_json::Value;
use std::time::{Duration, Instant};

/// A fabric and its flows, ready to run: the contents of [`Finished`], and the state of the run.
pub struct Prepared {
    pub(crate) fabric: Box<dyn Fabric>,
    pub(crate) io: Io,
    pub(crate) plan: Plan,
    /// A run that drains ends when nothing has moved for this time.
    pub(crate) patience: Time,
    pub(crate) cluster: Cluster,
    pub(crate) kind: String,
    pub(crate) label: String,
    /// The name of the fabric in messages.
    pub(crate) place: String,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    pub(crate) within_racks: bool,
    /// Limits of the ranges of flow sizes in `by_size`.
    pub(crate) size_limits: Option<Vec<Bytes>>,
    pub(crate) mean_bytes: Option<f64>,
    pub(crate) traffic: Traffic,
    pub(crate) span: Option<Span>,
    pub(crate) counted: Vec<Counted>,
    pub(crate) parts: PartCounts,
    pub(crate) derived: InForce,
    pub(crate) devices: Option<Value>,
    pub(crate) cycle: Option<Time>,
    pub(crate) excess: Option<Excess>,
    pub(crate) physics: Option<Value>,
    pub(crate) total_bytes: u64,
    pub(crate) time_scale: Option<f64>,
    pub(crate) memory: u64,
    pub(crate) begun: Instant,
    pub(crate) watch: Stopwatch,
}

/// The results of a run.
#[derive(Debug)]
pub struct RunOutput {
    /// The figures.
    pub summary: Summary,
    /// The flow columns.
    pub flows: Flows,
    /// The time series.
    pub series: Series,
    /// Circuits over time; `None` for fabrics whose circuits do not change.
    pub circuits: Option<Vec<Circuit>>,
    /// Load of the links of the electrical network; empty if it is not recorded.
    pub links: Vec<LinkLoad>,
    /// The records of the controller of circuits; `None` for fabrics without one.
    pub control: Option<ControlRecord>,
    /// Whether the observer stopped the run; then the figures are of a part.
    pub interrupted: bool,
}

impl Prepared {
    /// Bytes of all flows, from which the delivered share is computed for display.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Sets the flag that ends the run early, even during a horizon.
    pub fn halted_by(mut self, halt: Halt) -> Prepared {
        self.io.halt = halt;
        self
    }

    /// The start of its controller's log: the components and the first inputs of the loop. `None`
    /// for fabrics without a controller, and if no log was requested.
    pub fn opening(mut self) -> Option<String> {
        self.fabric.control_record()?.log
    }

    /// Runs for a short time, to estimate the time of the complete run.
    ///
    /// # Errors
    /// Those of [`Prepared::run`].
    pub fn trial(self, budget: Duration) -> Result<Trial, Refusal> {
        let prepared_s = self.watch.elapsed_s();
        let memory_bytes = self.memory;
        let flows = self.io.flows.len() as u64;
        let by_byte = { self.traffic.by_byte }.filter(|bytes| bytes.is_finite());
        let last = self.io.flows.last_arrival();
        let end = trial::end(&self.plan, last);
        let mut clock = TrialClock::new(budget, self.total_bytes, last, self.threads);
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
            by_byte,
            cycle_s: summary.cycle_s,
        })
    }

    /// Runs to the end, or until `progress` stops it.
    ///
    /// # Errors
    /// A [`Refusal`] if the fabric rejects a fault.
    pub fn run(mut self, progress: &mut dyn Progress) -> Result<RunOutput, Refusal> {
        let (fabric, io) = (self.fabric.as_mut(), &mut self.io);
        let outcome = run::run_while_moving(fabric, io, &self.plan, self.patience, progress)
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
            size_limits: self.size_limits.as_deref(),
            mean_bytes: self.mean_bytes,
            traffic: self.traffic,
            span: self.span,
            counted: &self.counted,
            parts: &self.parts,
            derived: &self.derived,
            devices: self.devices.as_ref(),
            cycle: self.cycle,
            excess: self.excess.as_ref(),
            physics: self.physics.as_ref(),
            faults_after_end: self.plan.faults.iter().filter(late).count() as u64,
            cut_at: cut_at(&self.plan, &self.io, &outcome),
            time_scale: self.time_scale,
            wall_s: self.begun.elapsed().as_secs_f64(),
        });
        Ok(RunOutput {
            summary,
            series: Series::of(&outcome),
            flows: self.io.flows,
            circuits: outcome.totals.circuit_bytes.map(|_| outcome.circuits),
            links: outcome.links,
            control,
            interrupted: outcome.interrupted,
        })
    }

    /// The refusal of a run that did not reach its end.
    fn refused(&self, broken: Broken) -> Refusal {
        match broken {
            Broken::Rejected(why) => Refusal::new("fault", "", why.to_string(), "correct it"),
            Broken::Halted => Refusal::new("run", &self.label, "was interrupted", "run it again"),
            Broken::Trouble(refusal) => fabric::place(refusal, &self.place),
        }
    }
}

/// The time at which a run ended before its stop rule applied: at the limit, or because nothing had
/// moved for a long time. A window has a limit by definition.
fn cut_at(plan: &Plan, io: &Io, outcome: &Outcome) -> Option<Time> {
    let early = match plan.stop {
        Stop::At(time) => time > plan.limit,
        Stop::LastArrival => io.flows.last_arrival() > plan.limit,
        Stop::Drain => io.ledger.flows_completed < io.flows.len() as u64,
        Stop::Delivered(_) => false,
    };
    if outcome.still_since.is_some() {
        return Some(outcome.simulated);
    }
    Some(plan.limit).filter(|&limit| early && !outcome.interrupted && outcome.simulated >= limit)
}

#[cfg(test)]
mod tests {
    use crate::Experiment;
    use lightloom_engine::run::{run, Silent};
    use lightloom_engine::{Audit, Flows, HostId, Stream, Time};
    use lightloom_metrics::{Relaxation, Window};
    use serde_json::json;
    use std::collections::BTreeMap;

    /// A server of 10 Gb/s to which all others send.
    const RATE: f64 = 10e9 / 8.0;

    /// Flows of Pareto sizes with shape 1.05 from 20 KB to 20 MB, at a load of `load` on the link
    /// of server 0: one flow in forty has half of the bytes.
    fn heavy(load: f64, until: Time, seed: u64) -> Flows {
        let mut rng = Stream::new(seed, "heavy", 0);
        let tail = 1.0 - 1e-3f64.powf(1.05);
        let size = |u: f64| 20e3 * (1.0 - u * tail).powf(-1.0 / 1.05);
        let mean = (0..1000)
            .map(|k| size((f64::from(k) + 0.5) / 1e3))
            .sum::<f64>()
            / 1e3;
        let (mut flows, mut at) = (Flows::new(), 0.0);
        while at <= until.as_secs_f64() {
            at -= (1.0 - rng.unit()).ln() * mean / (load * RATE);
            let from = HostId(1 + rng.below(15));
            let bytes = size(rng.unit()) as u64;
            flows.push(from, HostId(0), bytes, Time::from_secs_f64(at));
        }
        flows
    }

    /// The window of a Clos, and the bytes that the link of server 0 carried in it. It is the port
    /// with most bytes in the record, because all flows go there.
    fn measured(flows: Flows) -> (Window, u64) {
        let experiment = Experiment::read(&json!({
            "cluster": {"racks": 4, "servers_per_rack": 4, "server_rate": "10 Gb/s"},
            "workload": {"load": 0.04, "sizes": "web-search"},
            "run": {"warm_up": "10 ms", "measure": "100 ms"},
            "fabric": [{"kind": "clos", "mtu": "9 KB"}],
        }));
        let prepared = experiment.and_then(|e| e.prepare(0, 1, Some(flows)));
        let mut it = prepared.unwrap_or_else(|refusal| panic!("{refusal}"));
        it.io.audit = Some(Audit::default());
        let outcome =
            run(it.fabric.as_mut(), &mut it.io, &it.plan, &mut Silent).expect("no faults");
        let span = it.span.expect("a window");
        let mut ports: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for sent in &it.io.audit.take().expect("recorded").transmissions {
            let (all, inside) = ports.entry(sent.rx.0).or_default();
            *all += sent.bytes;
            *inside += sent.bytes * u64::from((span.from..span.until).contains(&sent.until));
        }
        let most = ports.values().max().expect("something was sent");
        let came = it.io.deliveries.as_ref().expect("counted");
        let found = Window::of(
            &it.cluster,
            &it.io.flows,
            span,
            outcome.simulated,
            came,
            &Relaxation::unknown(),
        );
        (found, most.1)
    }

    #[test]
    fn bytes_are_accepted_as_they_come() {
        for (seed, load, stable) in [(1, 0.3, true), (2, 0.7, true), (3, 1.3, false)] {
            let (found, carried) = measured(heavy(load, Time::MS * 220, seed));
            let of_all = 16.0 * RATE * 0.1;
            assert!(
                (found.accepted * of_all - carried as f64).abs() < 0.5,
                "{found:?}"
            );
            assert!((found.accepted_busiest * RATE * 0.1 - carried as f64).abs() < 0.5);
            assert_eq!(found.stable, stable, "load {load}: {found:?}");
            if stable {
                let off = found.accepted / found.paced - 1.0;
                assert!(off.abs() < 0.05, "load {load}: {off}");
            }
        }
    }
}
