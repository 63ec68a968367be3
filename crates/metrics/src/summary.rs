//! `summary.json`: the same keys for every fabric; a figure that a fabric does not have is null.

use crate::bursts::together;
use crate::by_size::BySize;
use crate::completion::{ideal, FctBounds, FctClasses, Slowdown, SlowdownBound};
use crate::derived::InForce;
use crate::excess::Excess;
use crate::growing::Growing;
use crate::jobs::Jobs;
use crate::memory::peak_rss;
use crate::parts::PartCounts;
use crate::percentile::mean;
use crate::relaxation::{Relaxation, Traffic};
use crate::span::Span;
use crate::updates::{Counted, Updates};
use crate::window::Window;
use lightloom_engine::run::Outcome;
use lightloom_engine::{Bytes, Cluster, FlowId, Flows, Io, Time};
use serde::Serialize;
use serde_json::Value;

/// A finished run and its experiment.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// The kind of the fabric.
    pub fabric: &'a str,
    /// Its label in the experiment.
    pub label: &'a str,
    /// Seed of every random stream.
    pub seed: u64,
    /// The number of threads of the fabric.
    pub threads: usize,
    /// The servers.
    pub cluster: &'a Cluster,
    /// Flow columns and ledger.
    pub io: &'a Io,
    /// The results of the engine.
    pub outcome: &'a Outcome,
    /// Whether goodput counts flows within a rack.
    pub within_racks: bool,
    /// Mean of the distribution of flow sizes [B]; `None` for a trace.
    pub mean_bytes: Option<f64>,
    /// The distributions of the traffic.
    pub traffic: Traffic,
    /// The time in which latency and throughput are measured, if they are; `io` has then counted
    /// the bytes delivered by its [`Span::instants`].
    pub span: Option<Span>,
    /// Jobs that count updates.
    pub counted: &'a [Counted],
    /// The time in which the fabric's circuits repeat or are decided again; `None` if they do not
    /// change.
    pub cycle: Option<Time>,
    /// The largest excess of offered traffic over the rate of links.
    pub excess: Option<&'a Excess>,
    /// The parts of the fabric; empty if they are not computed.
    pub parts: &'a PartCounts,
    /// Values derived from the fabric's table; empty if the resolved table has all of them.
    pub derived: &'a InForce,
    /// Values derived from the fabric's devices; `None` if its table names none.
    pub devices: Option<&'a Value>,
    /// The physics of the experiment with its defaults; `None` if the experiment states none.
    pub physics: Option<&'a Value>,
    /// Failures and repairs that were due after the end.
    pub faults_after_end: u64,
    /// The limit that ended the run before its stop rule did, if there was one.
    pub cut_at: Option<Time>,
    /// The factor by which the times of a trace were multiplied, if they were.
    pub time_scale: Option<f64>,
    /// The boundaries of the ranges of `by_size`, in ascending order [B]; `None` if it was not
    /// requested.
    pub size_limits: Option<&'a [Bytes]>,
    /// Time from reading the workload to the end of the run [s].
    pub wall_s: f64,
}

/// The figures of a run. Keys and their order are an interface: new ones are appended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The kind of the fabric.
    pub fabric: String,
    /// Its label in the experiment.
    pub label: String,
    /// Version of Lightloom.
    pub version: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Simulated time [s].
    pub simulated_s: f64,
    /// Flows that arrived before the end.
    pub flows_offered: u64,
    /// Flows delivered completely.
    pub flows_completed: u64,
    /// Bytes of the flows that arrived.
    pub bytes_offered: u64,
    /// Bytes delivered, including those of unfinished flows.
    pub bytes_delivered: u64,
    /// Load of the workload as drawn: bits of all flows ÷ (servers × server rate × time of the last
    /// arrival, counted from [`Flows::first_arrival`]); for a mix with a window, of the flows until
    /// the end of the window. Null if all flows arrive at once (no later than the smallest could be
    /// delivered), wait for each other, or send until the run stops.
    pub load_offered: Option<f64>,
    /// Bits delivered ÷ (servers × server rate × simulated time); without flows within racks if
    /// `run.goodput` excludes them.
    pub goodput_normalized: Option<f64>,
    /// Flow completion times.
    pub fct: FctClasses,
    /// Completion times relative to the ideal ones, see [`crate::ideal`].
    pub slowdown: Slowdown,
    /// Peak of the queue at the node with the largest queue [B].
    pub queue_peak_bytes: Option<u64>,
    /// Peak of the reorder buffer of the flow with the largest one [B].
    pub reorder_peak_bytes: Option<u64>,
    /// The number of times that a cell or packet did not pass, whether it was retransmitted or
    /// dropped: lost in a failed part, reflected (AO-NACK) or rejected.
    pub drops: u64,
    /// Mean hops of a delivered byte.
    pub hops_mean: Option<f64>,
    /// Cells moved over a hop.
    pub cell_hops: Option<u64>,
    /// Packets moved over a hop.
    pub packet_hops: Option<u64>,
    /// Time in the simulation kernel alone [s].
    pub kernel_s: f64,
    /// Time of the whole run with its workload and set-up [s].
    pub wall_s: f64,
    /// Peak resident memory of the process during the run [B].
    pub peak_rss_bytes: Option<u64>,
    /// Mean flow size of the size distribution with its limits, by which the load is set [B]. Null
    /// for a trace.
    pub mean_flow_bytes_law: Option<f64>,
    /// Mean size of the drawn flows that have a size [B]. With heavy tails it is far from the mean
    /// of the distribution (0.48 × in the median for 200,000 draws of Pareto 1.05).
    pub mean_flow_bytes_offered: Option<f64>,
    /// Bytes dropped for good.
    pub bytes_dropped: u64,
    /// The place of `queue_peak_bytes`, by name; places are not comparable.
    pub queue_place: Option<&'static str>,
    /// The number of threads of the fabric; the results do not depend on it.
    pub threads: usize,
    /// Start and finish of each job; empty without jobs or named groups.
    pub jobs: Jobs,
    /// Bytes delivered that crossed at least one circuit ÷ bytes delivered. Null for fabrics
    /// without circuits that change, and if no byte was delivered.
    pub circuit_share: Option<f64>,
    /// Latency and throughput after the warm-up; null if `run.measure` does not request them.
    pub window: Option<Window>,
    /// Updates per second of jobs that count them; empty without any.
    pub updates: Updates,
    /// The parts of the fabric; bandwidths [b/s] end in `_bps`. Empty for fabrics whose bill of
    /// materials is not computed.
    pub parts: PartCounts,
    /// Values that follow from the fabric's table and the cluster and affect results, by name;
    /// empty if the resolved table itself has all of them.
    pub derived: InForce,
    /// Failures and repairs of the experiment that were due after the end and had no effect.
    pub faults_after_end: u64,
    /// Time in which circuits were lit ÷ simulated time, on average over the switch planes. Null
    /// for fabrics whose circuits do not take turns.
    pub duty_cycle: Option<f64>,
    /// The factor by which the arrival times of a trace were multiplied to reach its load; null if
    /// `workload.scale` does not request it.
    pub time_scale: Option<f64>,
    /// Bits delivered until the last arrival (or until the end, if that came first) ÷ (servers ×
    /// server rate × that time): the part of `load_offered` that was delivered while it was
    /// offered. Null if `load_offered` is null.
    pub load_delivered: Option<f64>,
    /// Bounds on the completion times of all offered flows.
    pub fct_bound: FctBounds,
    /// Bounds on the slowdowns of all offered flows.
    pub slowdown_bound: SlowdownBound,
    /// The physics that all fabrics share, with defaults; omitted if the experiment states none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physics: Option<Value>,
    /// Flows that send until the run stops; omitted if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endless: Option<Endless>,
    /// Flows of a trace that waited for a trigger; omitted if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triggered: Option<u64>,
    /// Flows that `run.limit` cut off; omitted if it did not end the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// Values that follow from the devices that the fabric's table names; omitted if it names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<Value>,
    /// Slowdowns by flow size; omitted if `run.size_limits` does not request them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_size: Option<BySize>,
    /// The relaxation time of the slowest queue [s]. Latencies have an interval only if the run or
    /// window lasts at least [`RELAXATIONS`](crate::RELAXATIONS) relaxation times; null if it is
    /// not known or infinite.
    pub relaxation_s: Option<f64>,
    /// Time that the largest offered flow takes alone on its server's link [s]; flows that arrive for
    /// one server at one instant count as one. Null if no flow with an end was offered.
    pub largest_alone_s: Option<f64>,
    /// The time in which the fabric's circuits connect every pair of racks once, or are decided
    /// again [s]; null if circuits do not change.
    pub cycle_s: Option<f64>,
    /// The load that the experiment requests; null if it follows from the flows, and for a mix
    /// whose parts have rates of their own.
    pub load_asked: Option<f64>,
    /// Traffic whose backlog keeps growing, in the window or, without one, while flows arrive;
    /// omitted if there is none, or if the run has no load or is too short to show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growing: Option<Growing>,
    /// Traffic that the workload offers in the long run at a higher rate than the links between
    /// racks, or those of servers, carry; omitted if there is none, or if the rate is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess: Option<Excess>,
}

/// Flows that send until the run stops. They count among the flows offered, with the bytes that
/// their servers' links carry until then, but in no load, mean size or completion time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Endless {
    /// Number of such flows.
    pub flows: u64,
    /// Bytes of these flows that were delivered [B].
    pub bytes_delivered: u64,
}

/// A run that `run.limit` ended before its stop rule did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cut {
    /// End of the run: the limit, or the end of a long time without any delivery [s].
    pub limit_s: f64,
    /// The time since which no byte was delivered; present if this ended the run, or if the limit
    /// did and no byte was delivered in the second half of the run [s].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub still_since_s: Option<f64>,
    /// Flows of the workload, including those that were never offered.
    pub flows: u64,
    /// Flows that had not arrived by then, or whose predecessors were not delivered.
    pub flows_never_offered: u64,
    /// Flows that were offered and not delivered by then.
    pub flows_unfinished: u64,
}

/// The summary of a run.
pub fn summarize(run: &Finished) -> Summary {
    let (flows, ledger, totals) = (&run.io.flows, run.io.ledger, run.outcome.totals);
    let simulated = run.outcome.simulated;
    let jobs = Jobs::of(run.io, simulated);
    let (offered, load_offered) = (offered(run), load_offered(run));
    let relaxation = match load_offered {
        Some(_) => Relaxation::of(
            run.traffic,
            run.cluster,
            flows,
            &run.outcome.links,
            simulated,
        ),
        None => Relaxation::unknown(),
    };
    let together = together(flows);
    let largest = offered.iter().map(|&f| together[f]).max();
    let largest_alone_s = largest.map(|bytes| ideal(run.cluster, bytes).as_secs_f64());
    let arrivals = flows.last_arrival().min(simulated) - flows.first_arrival();
    let room = relaxation.room(arrivals.max(Time::ZERO));
    Summary {
        fabric: run.fabric.to_owned(),
        label: run.label.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: run.seed,
        simulated_s: simulated.as_secs_f64(),
        flows_offered: ledger.flows_offered,
        flows_completed: ledger.flows_completed,
        bytes_offered: ledger.offered,
        bytes_delivered: ledger.delivered,
        load_offered,
        goodput_normalized: normalized(run.cluster, good_bytes(run), simulated),
        fct: FctClasses::of(flows),
        slowdown: Slowdown::of(run.cluster, flows),
        queue_peak_bytes: totals.queue_peak_bytes,
        reorder_peak_bytes: totals.reorder_peak_bytes,
        drops: ledger.losses,
        hops_mean: hops_mean(flows),
        cell_hops: totals.cell_hops,
        packet_hops: totals.packet_hops,
        kernel_s: run.outcome.kernel_s,
        wall_s: run.wall_s,
        peak_rss_bytes: peak_rss(),
        mean_flow_bytes_law: run.mean_bytes,
        mean_flow_bytes_offered: mean_size(flows),
        bytes_dropped: ledger.dropped,
        queue_place: { totals.queue_peak_bytes }.map(|_| totals.queue_place.name()),
        threads: run.threads,
        updates: Updates::of(run.counted, &jobs),
        parts: run.parts.clone(),
        derived: run.derived.clone(),
        faults_after_end: run.faults_after_end,
        time_scale: run.time_scale,
        physics: run.physics.cloned(),
        endless: Endless::of(flows),
        triggered: triggered(flows),
        cut: { run.cut_at }.map(|limit| Cut::of(run, limit)),
        duty_cycle: { run.outcome.lit }
            .filter(|_| simulated > Time::ZERO)
            .map(|lit| lit.as_secs_f64() / simulated.as_secs_f64()),
        jobs,
        circuit_share: share(totals.circuit_bytes, ledger.delivered),
        window: { run.span }
            .zip(run.io.deliveries.as_ref())
            .map(|(span, came)| Window::of(run.cluster, flows, span, simulated, came, &relaxation)),
        load_delivered: load_delivered(run),
        fct_bound: FctBounds::of(flows, &offered, simulated, room),
        slowdown_bound: SlowdownBound::of(run.cluster, flows, &offered, simulated, room),
        devices: run.devices.cloned(),
        by_size: { run.size_limits }.map(|limits| {
            let (measured, room) = match run.span {
                Some(span) => (
                    in_window(flows, &offered, span),
                    relaxation.room(span.until - span.from),
                ),
                None => (offered, room),
            };
            BySize::of(limits, run.cluster, flows, &measured, simulated, room)
        }),
        relaxation_s: relaxation.seconds(),
        largest_alone_s,
        cycle_s: { run.cycle }.map(Time::as_secs_f64),
        load_asked: { run.traffic.load }.filter(|_| !run.traffic.mixed),
        growing: load_offered.and_then(|_| match run.span {
            Some(span) => Growing::of(run.cluster, flows, span, run.cycle),
            None => Growing::of_run(run.cluster, flows, simulated, run.cycle),
        }),
        excess: run.excess.cloned(),
    }
}

/// The `rows` that arrived in the window.
fn in_window(flows: &Flows, rows: &[usize], span: Span) -> Vec<usize> {
    let inside = |&&f: &&usize| (span.from..span.until).contains(&flows.arrival[f]);
    rows.iter().filter(inside).copied().collect()
}

impl Endless {
    fn of(flows: &Flows) -> Option<Endless> {
        let delivered = flows.endless.iter().map(|f| flows.delivered[f.index()]);
        (!flows.endless.is_empty()).then(|| Endless {
            flows: flows.endless.len() as u64,
            bytes_delivered: delivered.sum(),
        })
    }
}

impl Cut {
    fn of(run: &Finished, limit: Time) -> Cut {
        let (flows, ledger) = (run.io.flows.len() as u64, run.io.ledger);
        Cut {
            limit_s: limit.as_secs_f64(),
            still_since_s: { run.outcome.still_since }.map(Time::as_secs_f64),
            flows,
            flows_never_offered: flows - ledger.flows_offered,
            flows_unfinished: ledger.flows_offered - ledger.flows_completed,
        }
    }
}

/// The number of flows that wait for triggers. Only rows of a trace have triggers; flows of jobs
/// wait for each other.
fn triggered(flows: &Flows) -> Option<u64> {
    let waiting = || { flows.after.edges.iter() }.filter(|to| to.index() < flows.len());
    let triggers = !flows.after.is_empty() && flows.after.jobs.is_empty();
    triggers.then(|| waiting().count() as u64)
}

/// Whether a flow has a finite size; endless flows send until the run ends.
fn has_end(flows: &Flows, f: usize) -> bool {
    flows.endless.binary_search(&FlowId(f as u32)).is_err()
}

/// Mean size of the flows that have one [B].
fn mean_size(flows: &Flows) -> Option<f64> {
    if flows.endless.is_empty() {
        return mean(flows.bytes.iter().map(|&b| b as f64));
    }
    let sized = (0..flows.len()).filter(|&f| has_end(flows, f));
    let sizes: Vec<f64> = sized.map(|f| flows.bytes[f] as f64).collect();
    mean(sizes.into_iter())
}

/// The bytes that count in goodput.
fn good_bytes(run: &Finished) -> u64 {
    let delivered = run.io.ledger.delivered;
    if run.within_racks {
        return delivered;
    }
    let (flows, rack_of) = (&run.io.flows, |host| run.cluster.rack_of(host));
    let within = (0..flows.len()).filter(|&f| rack_of(flows.src[f]) == rack_of(flows.dst[f]));
    delivered - within.map(|f| flows.delivered[f]).sum::<u64>()
}

/// `part` ÷ `all`, if both are present.
fn share(part: Option<u64>, all: u64) -> Option<f64> {
    part.filter(|_| all > 0)
        .map(|part| part as f64 / all as f64)
}

/// `bytes` relative to what all servers can send in `span`.
fn normalized(cluster: &Cluster, bytes: u64, span: Time) -> Option<f64> {
    let servers = cluster.hosts() as f64 * cluster.server_rate.0 as f64;
    (span > Time::ZERO).then(|| bytes as f64 * 8.0 / (servers * span.as_secs_f64()))
}

/// The load of the flows until the last arrival. The parts of a mix are drawn for different times,
/// all longer than a window; a run with a window therefore uses the load until the end of the
/// window.
fn load_offered(run: &Finished) -> Option<f64> {
    let flows = &run.io.flows;
    if !flows.after.starts.is_empty() || !flows.endless.is_empty() || is_batch(run) {
        return None;
    }
    let window = run.span.filter(|_| run.traffic.mixed);
    let Some(until) = window.map(|span| span.until) else {
        let span = flows.last_arrival() - flows.first_arrival();
        return normalized(run.cluster, flows.total_bytes(), span);
    };
    let came = (0..flows.len()).filter(|&f| flows.arrival[f] <= until);
    let bytes = came.map(|f| flows.bytes[f]).sum();
    normalized(run.cluster, bytes, until - flows.first_arrival())
}

/// Whether the flows are a batch: all of them arrive before the smallest could be delivered, on any
/// fabric. Their bytes over the time of their arrivals are then no load. A requested load is a load
/// even if there are few flows.
fn is_batch(run: &Finished) -> bool {
    let flows = &run.io.flows;
    let follows = run.traffic.load.is_none() && !run.traffic.mixed;
    let span = flows.last_arrival() - flows.first_arrival();
    let smallest = flows.bytes.iter().min();
    follows && smallest.is_some_and(|&bytes| ideal(run.cluster, bytes) >= span)
}

/// The load that was delivered while flows arrived.
fn load_delivered(run: &Finished) -> Option<f64> {
    load_offered(run)?;
    let (at, ledger) = run.outcome.at_last_arrival?;
    normalized(
        run.cluster,
        ledger.delivered,
        at - run.io.flows.first_arrival(),
    )
}

/// The flows that the fabric accepted and that have an end, in order of arrival.
fn offered(run: &Finished) -> Vec<usize> {
    let flows = &run.io.flows;
    let known = |&f: &usize| flows.arrival[f] != Time::NEVER;
    let mut order: Vec<usize> = (0..flows.len()).filter(known).collect();
    if !flows.after.starts.is_empty() {
        // Flows of jobs are in the order of their graph.
        order.sort_by_key(|&f| flows.arrival[f]);
    }
    order.truncate(run.io.ledger.flows_offered as usize);
    if !flows.endless.is_empty() {
        order.retain(|&f| has_end(flows, f));
    }
    order
}

/// The mean over delivered bytes of the flows whose hops are known.
fn hops_mean(flows: &Flows) -> Option<f64> {
    let (mut hops, mut bytes) = (0.0, 0.0);
    for f in (0..flows.len()).filter(|&f| !flows.hops[f].is_nan()) {
        hops += flows.hops[f] as f64 * flows.delivered[f] as f64;
        bytes += flows.delivered[f] as f64;
    }
    (bytes > 0.0).then(|| hops / bytes)
}
