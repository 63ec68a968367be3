//! Builds one fabric of an experiment and runs it.

use crate::run_table::{Goodput, StopRule};
use crate::trial::{self, Stopwatch, Trial, TrialClock};
use crate::{counted, fabric, memory, Experiment, FabricTable, PhysicsTable};
use lightloom_control::policies::library::{Empty, Library};
use lightloom_engine::run::{self, Broken, Fault, Plan, Progress};
use lightloom_engine::{
    Bytes, Circuit, Cluster, ControlRecord, Fabric, Flows, Halt, Io, Precision, Refusal, Time,
};
use lightloom_fabrics::{Derived, Entry, Facts, Memory, Site, Unjoined};
use lightloom_metrics::{
    reset_peak_rss, summarize, Counted, Finished, InForce, PartCounts, Series, Span, Summary,
};
use lightloom_workload::BYTES_PER_FLOW;
use serde_json::Value;
use std::time::{Duration, Instant};

/// A fabric and its flows, ready to run.
pub struct Prepared {
    fabric: Box<dyn Fabric>,
    io: Io,
    plan: Plan,
    cluster: Cluster,
    kind: String,
    label: String,
    /// How messages name the fabric.
    place: String,
    seed: u64,
    threads: usize,
    within_racks: bool,
    mean_bytes: Option<f64>,
    span: Option<Span>,
    counted: Vec<Counted>,
    parts: PartCounts,
    derived: InForce,
    devices: Option<Value>,
    physics: Option<Value>,
    total_bytes: u64,
    time_scale: Option<f64>,
    memory: u64,
    begun: Instant,
    watch: Stopwatch,
}

/// A fabric, the faults that happen in it, and what it takes of memory with its flows [B].
struct Built {
    fabric: Box<dyn Fabric>,
    faults: Vec<Fault>,
    memory: u64,
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

impl Experiment {
    /// Resolves the experiment and builds the fabric at `index` for `flows`,
    /// or for those that the workload generates.
    ///
    /// # Errors
    /// A [`Refusal`] of anything that cannot run, faults included.
    pub fn prepare(
        &self,
        index: usize,
        threads: usize,
        flows: Option<Flows>,
    ) -> Result<Prepared, Refusal> {
        self.prepare_with(index, threads, flows, &Empty)
    }

    /// The same, where policies that are in files are of this library.
    ///
    /// # Errors
    /// As [`Experiment::prepare`], and whatever the library refuses.
    pub fn prepare_with(
        &self,
        index: usize,
        threads: usize,
        flows: Option<Flows>,
        library: &dyn Library,
    ) -> Result<Prepared, Refusal> {
        self.prepare_told(index, threads, flows, library, &mut |_| true)
    }

    /// The same; while flows are drawn, `told` hears which share of them is, and ends it by
    /// `false`.
    ///
    /// # Errors
    /// As [`Experiment::prepare_with`], and a refusal of what was ended.
    pub fn prepare_told(
        &self,
        index: usize,
        threads: usize,
        flows: Option<Flows>,
        library: &dyn Library,
        told: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Prepared, Refusal> {
        let begun = Instant::now();
        let watch = Stopwatch::start(threads);
        reset_peak_rss();
        if threads == 0 {
            return Err(Refusal::new(
                "threads",
                0,
                "a run needs at least 1",
                "raise it",
            ));
        }
        let experiment = self.resolve()?;
        let cluster = experiment.cluster()?;
        let seed = experiment.run.seed;
        let flows = match flows {
            Some(flows) => flows,
            None => experiment.generate(&cluster, told)?,
        };
        let (flows, time_scale) = experiment.workload.at_load(flows, &cluster)?;
        let flows = experiment.ending(flows, &cluster)?;
        experiment.check_window(&flows)?;
        let site = Site {
            cluster: &cluster,
            flows: &flows,
            seed,
            threads,
            library: Some(library),
        };
        let Built {
            mut fabric,
            faults,
            memory,
        } = experiment.build(index, &site)?;
        let table = &experiment.fabric[index];
        if experiment.run.controller_log {
            fabric.record_control(table.label());
        }
        let facts = table.facts(&site)?;
        if let (Some(unjoined), Some(StopRule::Drain)) = (facts.unjoined, experiment.run.stop) {
            let at = fabric::path(table, &experiment.fabric);
            return Err(never_drained(&unjoined, &at));
        }
        if let Some(slot) = facts.slot {
            let at = fabric::path(table, &experiment.fabric);
            experiment
                .run
                .refuse_turns(slot, flows.last_arrival(), &at)?;
        }
        let mut derived = in_force(&facts);
        if let Some(precision) = experiment.run.rate_precision {
            if fabric.set_rate_precision(precision) && precision > Precision::EXACT {
                derived.0.push(("rate_precision", precision.fraction()));
            }
        }
        Ok(Prepared {
            fabric,
            plan: experiment.run.plan(faults),
            kind: table.kind.clone(),
            label: table.label().to_owned(),
            place: fabric::path(table, &experiment.fabric),
            seed,
            threads,
            within_racks: experiment.run.goodput == Goodput::All,
            mean_bytes: experiment.workload.mean_bytes()?,
            span: experiment.run.span(),
            counted: counted::counted(experiment.workload.jobs.as_ref(), facts.framing, &cluster),
            parts: PartCounts(facts.parts.iter().map(|p| (p.name, p.count)).collect()),
            derived,
            devices: facts.devices,
            physics: experiment.physics.as_ref().map(plain),
            total_bytes: flows.total_bytes(),
            time_scale,
            memory,
            io: Io::new(flows),
            cluster,
            begun,
            watch,
        })
    }

    /// Draws or reads the flows of a resolved experiment.
    fn generate(
        &self,
        cluster: &Cluster,
        told: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Flows, Refusal> {
        let need = self.workload.memory(cluster);
        match (self.workload.flows, &self.workload.jobs) {
            (Some(flows), _) => memory::check("workload.flows", flows, need, "send fewer")?,
            (_, Some(jobs)) => memory::check(
                "workload.jobs",
                jobs.len(),
                need,
                "run fewer or smaller jobs",
            )?,
            (None, None) => {}
        }
        self.workload.generate_told(cluster, self.run.seed, told)
    }

    /// Refuses a window that the flows do not fill.
    fn check_window(&self, flows: &Flows) -> Result<(), Refusal> {
        let last = flows.last_arrival();
        match self.run.span() {
            Some(span) if last < span.until => Err(Refusal::new(
                "run.measure",
                span.until - span.from,
                format!(
                    "ends at {}, and the last flow arrives at {last}",
                    span.until
                ),
                "shorten it, or remove workload.flows: they then follow from it",
            )),
            _ => Ok(()),
        }
    }

    /// Builds a fabric of a resolved experiment, and the faults that happen in it.
    fn build(&self, index: usize, site: &Site) -> Result<Built, Refusal> {
        let table = self.fabric.get(index).ok_or_else(|| {
            let count = self.fabric.len();
            Refusal::new(
                "fabric",
                index,
                format!("there are {count}"),
                "choose one of them",
            )
        })?;
        let at = fabric::path(table, &self.fabric);
        let entry = table.entry(&at)?;
        let own = table.table();
        let placed = |e| fabric::place(e, &at);
        let faults = self.faults_of(table.label())?;
        let memory = check_memory(entry, &own, site, &at, !faults.is_empty())?;
        if !faults.is_empty() {
            // On a fabric of its own: a trial leaves traces.
            let mut trial = (entry.build)(&own, site).map_err(placed)?;
            self.rehearse(trial.as_mut(), table.label(), &faults)?;
        }
        let fabric = (entry.build)(&own, site).map_err(placed)?;
        let faults = faults.into_iter().map(|(_, f)| f).collect();
        Ok(Built {
            fabric,
            faults,
            memory,
        })
    }

    /// Commands in order of time, each with the index of its table.
    fn faults_of(&self, label: &str) -> Result<Vec<(usize, Fault)>, Refusal> {
        let mut faults = Vec::new();
        for (i, table) in self
            .fault
            .iter()
            .enumerate()
            .filter(|f| f.1.happens_in(label))
        {
            faults.extend(table.commands(i)?.into_iter().map(|f| (i, f)));
        }
        faults.sort_by_key(|(_, f)| f.at);
        Ok(faults)
    }

    /// Refuses a fault that the fabric would reject in the middle of the run.
    fn rehearse(
        &self,
        fabric: &mut dyn Fabric,
        label: &str,
        faults: &[(usize, Fault)],
    ) -> Result<(), Refusal> {
        let labels = self.fabric.iter().map(FabricTable::label);
        let others: Vec<&str> = labels.filter(|&other| other != label).collect();
        for (i, fault) in faults {
            fabric
                .apply(fault.command)
                .map_err(|rejected| self.fault[*i].refused(*i, &rejected, &others))?;
        }
        Ok(())
    }
}

fn plain(table: &PhysicsTable) -> Value {
    serde_json::to_value(table).expect("configurations are plain data")
}

/// What a fabric says followed from its table.
fn in_force(facts: &Facts) -> InForce {
    let value = |d: &Derived| (d.name, (d.value, d.of));
    InForce(facts.derived.iter().map(value).collect())
}

/// A run that waits for everything to be delivered waits for these for ever.
fn never_drained(unjoined: &Unjoined, at: &str) -> Refusal {
    let Unjoined { from, to, .. } = unjoined;
    let more = match unjoined.others {
        0 => String::new(),
        others => format!(" (the first of {} such pairs)", others + 1),
    };
    Refusal::new(
        "run.stop",
        "\"drain\"",
        format!("{at} never joins rack {from} to rack {to}, which has flows from it{more}"),
        format!(
            "join them, {}, or end at a time, like \"1 s\"",
            unjoined.otherwise
        ),
    )
}

/// Refuses a fabric that would not fit into memory with its flows; what both take [B].
fn check_memory(
    entry: &Entry,
    own: &Value,
    site: &Site,
    at: &str,
    failing: bool,
) -> Result<u64, Refusal> {
    let Memory { sound, of_failures } =
        (entry.memory)(own, site).map_err(|e| fabric::place(e, at))?;
    let fabric = sound + if failing { of_failures } else { 0 };
    let flows = site.flows.len() as u64 * BYTES_PER_FLOW + site.flows.after.memory();
    let need = fabric.saturating_add(flows);
    memory::check(
        at,
        format!("\"{}\"", entry.kind),
        need,
        &format!(
            "lower cluster.racks (the fabric takes {}) or send fewer flows ({})",
            Bytes(fabric),
            Bytes(flows)
        ),
    )?;
    Ok(need)
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
        let outcome = run::run(self.fabric.as_mut(), &mut self.io, &self.plan, progress).map_err(
            |broken| match broken {
                Broken::Rejected(why) => Refusal::new("fault", "", why.to_string(), "correct it"),
                Broken::Halted => {
                    Refusal::new("run", &self.label, "was interrupted", "run it again")
                }
                Broken::Trouble(refusal) => fabric::place(refusal, &self.place),
            },
        )?;
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
}
