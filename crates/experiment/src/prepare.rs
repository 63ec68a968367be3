//! Builds one fabric of an experiment for its flows, or refuses it before anything runs.

use crate::execute::Prepared;
use crate::run_table::{self, Goodput};
use crate::stop_rule::StopRule;
use crate::trial::Stopwatch;
use crate::{counted, fabric, memory, Experiment, FabricTable, PhysicsTable};
use lightloom_control::policies::library::{Empty, Library};
use lightloom_engine::outages::{self, Outage};
use lightloom_engine::run::Fault;
use lightloom_engine::{Bytes, Cluster, Deliveries, Fabric, Flows, Io, Nic, Precision, Refusal};
use lightloom_fabrics::{Derived, Entry, Facts, Memory, Site, Unjoined};
use lightloom_metrics::{reset_peak_rss, Counted, Excess, InForce, Links, PartCounts, Traffic};
use lightloom_workload::BYTES_PER_FLOW;
use serde_json::Value;
use std::time::Instant;

/// A fabric, and the facts about it that are known before the run.
struct Built {
    fabric: Box<dyn Fabric>,
    /// The faults of the run.
    faults: Vec<Fault>,
    /// Memory of the run with its flows [B].
    memory: u64,
    facts: Facts,
    derived: InForce,
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

    /// Like [`Experiment::prepare`], with policies in files from this library.
    ///
    /// # Errors
    /// Those of [`Experiment::prepare`] and of the library.
    pub fn prepare_with(
        &self,
        index: usize,
        threads: usize,
        flows: Option<Flows>,
        library: &dyn Library,
    ) -> Result<Prepared, Refusal> {
        self.prepare_told(index, threads, flows, library, &mut |_| true)
    }

    /// Like [`Experiment::prepare_with`]; while flows are drawn, `told` is called with the drawn
    /// share, and cancels by returning `false`.
    ///
    /// # Errors
    /// Those of [`Experiment::prepare_with`], and a refusal if it was cancelled.
    pub fn prepare_told(
        &self,
        index: usize,
        threads: usize,
        flows: Option<Flows>,
        library: &dyn Library,
        told: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Prepared, Refusal> {
        let (begun, watch) = (Instant::now(), Stopwatch::start(threads));
        reset_peak_rss();
        check_threads(threads)?;
        let experiment = self.resolve()?;
        let cluster = experiment.cluster()?;
        let (flows, time_scale) = experiment.flows(flows, &cluster, told)?;
        let site = Site {
            cluster: &cluster,
            flows: &flows,
            seed: experiment.run.seed,
            threads,
            library: Some(library),
        };
        let built = experiment.build(index, &site)?;
        let table = &experiment.fabric[index];
        let span = experiment.run.span();
        let mut io = Io::new(flows);
        io.deliveries = span.map(|span| Deliveries::at(span.instants()));
        Ok(Prepared {
            fabric: built.fabric,
            plan: experiment
                .run
                .plan(built.faults, &io.flows, &cluster, built.facts.interval),
            patience: run_table::patience(&cluster, built.facts.interval),
            kind: table.kind.clone(),
            label: table.label().to_owned(),
            place: fabric::path(table, &experiment.fabric),
            seed: experiment.run.seed,
            threads,
            within_racks: experiment.run.goodput == Goodput::All,
            size_limits: experiment.run.size_limits.clone(),
            mean_bytes: experiment.workload.mean_bytes()?,
            traffic: Traffic {
                by_byte: experiment.workload.mean_bytes_by_byte(&cluster)?,
                load: experiment.workload.load,
                mixed: experiment.workload.mix.is_some(),
            },
            span,
            counted: experiment.counted(&built.facts, &cluster),
            parts: parts_of(&built.facts),
            excess: experiment.excess(&built.facts, &cluster)?,
            derived: built.derived,
            devices: built.facts.devices,
            cycle: built.facts.cycle,
            physics: experiment.physics.as_ref().map(plain),
            total_bytes: io.flows.total_bytes(),
            time_scale,
            memory: built.memory,
            io,
            cluster,
            begun,
            watch,
        })
    }

    /// The flows of a resolved experiment, given or drawn, at the requested load; and the factor by
    /// which their times were multiplied for it.
    fn flows(
        &self,
        given: Option<Flows>,
        cluster: &Cluster,
        told: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(Flows, Option<f64>), Refusal> {
        let flows = match given {
            Some(flows) => flows,
            None => self.generate(cluster, told)?,
        };
        let (flows, time_scale) = self.workload.at_load(flows, cluster)?;
        let flows = self.ending(flows, cluster)?;
        self.check_window(&flows)?;
        Ok((flows, time_scale))
    }

    /// Draws or reads the flows of a resolved experiment.
    fn generate(
        &self,
        cluster: &Cluster,
        told: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Flows, Refusal> {
        let need = self.workload.memory(cluster);
        match (self.workload.flow_count(), &self.workload.jobs) {
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
                    "ends at {}, but the last flow arrives at {last}",
                    span.until
                ),
                "shorten it, or remove workload.flows, so that the number of flows follows from it",
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
        let outages = self.outages_of(table.label())?;
        let memory = check_memory(entry, &own, site, &at, !outages.is_empty())?;
        if !outages.is_empty() {
            // The rehearsal uses a separate fabric, because faults change its state.
            let mut trial = (entry.build)(&own, site).map_err(placed)?;
            self.rehearse(trial.as_mut(), table.label(), &outages)?;
        }
        let mut fabric = (entry.build)(&own, site).map_err(placed)?;
        if self.run.controller_log {
            fabric.record_control(table.label());
        }
        let facts = table.facts(site)?;
        self.check_end(&facts, site.flows, &at)?;
        let mut derived = in_force(&facts);
        derived.0.extend(self.share_out(fabric.as_mut()));
        let outages: Vec<Outage> = outages.into_iter().map(|(_, outage)| outage).collect();
        Ok(Built {
            fabric,
            faults: outages::commands(&outages),
            memory,
            facts,
            derived,
        })
    }

    /// Refuses a run that would never end, or would not end within a reasonable time.
    fn check_end(&self, facts: &Facts, flows: &Flows, at: &str) -> Result<(), Refusal> {
        if let (Some(unjoined), Some(StopRule::Drain)) = (&facts.unjoined, self.run.stop) {
            return Err(never_drained(unjoined, at));
        }
        match facts.slot {
            Some(slot) => self.run.refuse_turns(slot, flows.last_arrival(), at),
            None => Ok(()),
        }
    }

    /// Sets the precision with which a fabric of rates shares links; returns the resulting addition
    /// to the derived values.
    fn share_out(&self, fabric: &mut dyn Fabric) -> Option<(&'static str, (u64, u64))> {
        let precision = self.run.rate_precision?;
        let heeded = fabric.set_rate_precision(precision) && precision > Precision::EXACT;
        heeded.then(|| ("rate_precision", precision.fraction()))
    }

    /// Traffic that is offered at a higher rate than the fabric's links, or those of servers, carry.
    fn excess(&self, facts: &Facts, cluster: &Cluster) -> Result<Option<Excess>, Refusal> {
        let between = facts.uplinks.iter().map(|uplinks| Links {
            group: uplinks.group,
            servers: uplinks.racks.saturating_mul(cluster.servers_per_rack),
            rate_bps: uplinks.rate.0 as f64,
        });
        let of_servers = match cluster.nic {
            Nic::Uncapped => None,
            Nic::Capped(rate) => Some(Links {
                group: "server",
                servers: 1,
                rate_bps: facts.receives.unwrap_or(rate).0 as f64,
            }),
        };
        let links: Vec<Links> = of_servers.into_iter().chain(between).collect();
        let offered = self.workload.offered(cluster, self.run.seed)?;
        let pairs: Vec<_> = offered
            .iter()
            .map(|o| (o.src.0, o.dst.0, o.rate_bps, o.burst as f64))
            .collect();
        Ok(Excess::of(&pairs, cluster.hosts(), &links))
    }

    /// The jobs that count updates, with the fabric's limits.
    fn counted(&self, facts: &Facts, cluster: &Cluster) -> Vec<Counted> {
        counted::counted(self.workload.jobs.as_ref(), facts.framing, cluster)
    }

    /// The failures in the fabric of that label, each with the index of its table.
    fn outages_of(&self, label: &str) -> Result<Vec<(usize, Outage)>, Refusal> {
        let tables = self.fault.iter().enumerate();
        let here = tables.filter(|(_, table)| table.happens_in(label));
        here.map(|(i, table)| Ok((i, table.outage(i)?))).collect()
    }

    /// Refuses a fault that the fabric would reject in the middle of the run.
    fn rehearse(
        &self,
        fabric: &mut dyn Fabric,
        label: &str,
        outages: &[(usize, Outage)],
    ) -> Result<(), Refusal> {
        let labels = self.fabric.iter().map(FabricTable::label);
        let others: Vec<&str> = labels.filter(|&other| other != label).collect();
        for (i, outage) in outages {
            for fault in outages::commands(std::slice::from_ref(outage)) {
                fabric
                    .apply(fault.command)
                    .map_err(|rejected| self.fault[*i].refused(*i, &rejected, &others))?;
            }
        }
        Ok(())
    }
}

fn check_threads(threads: usize) -> Result<(), Refusal> {
    if threads == 0 {
        let limit = "a run needs at least 1";
        return Err(Refusal::new("threads", 0, limit, "raise it"));
    }
    Ok(())
}

/// The parts of a fabric.
fn parts_of(facts: &Facts) -> PartCounts {
    PartCounts(facts.parts.iter().map(|p| (p.name, p.count)).collect())
}

fn plain(table: &PhysicsTable) -> Value {
    serde_json::to_value(table).expect("configurations are plain data")
}

/// The values that a fabric derived from its table.
fn in_force(facts: &Facts) -> InForce {
    let value = |d: &Derived| (d.name, (d.value, d.of));
    InForce(facts.derived.iter().map(value).collect())
}

/// A run that waits for all deliveries would wait for these without end.
fn never_drained(unjoined: &Unjoined, at: &str) -> Refusal {
    let Unjoined { from, to, .. } = unjoined;
    let more = match unjoined.others {
        0 => String::new(),
        others => format!(" (the first of {} such pairs)", others + 1),
    };
    Refusal::new(
        "run.stop",
        "\"drain\"",
        format!("{at} never joins rack {from} to rack {to}, but has flows between them{more}"),
        format!(
            "join them, {}, or end at a time, like \"1 s\"",
            unjoined.otherwise
        ),
    )
}

/// Refuses a fabric that would exceed memory with its flows; returns the memory of both [B].
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
