//! Jobs: closed-loop workloads, each a graph of flows with compute times.
//!
//! A job refers to servers and racks, not to fabrics. Its flows form a group with its name; results
//! state when it began and how long it took. Jobs run one after another or all at once. They share
//! only the network: jobs that run together on a server do not slow each other's computation.
//!
//! The server and the predecessors of each task are fixed before the run. Schedulers that react to
//! idle servers, stragglers, failures of servers, and tasks that are run twice are not modelled.

use crate::applications::{Fft, Gridmix, Gups, Sort, VmMigration};
use crate::arrivals::MAX_ARRIVAL;
use crate::collectives::{AllReduce, AllToAll, Pipeline};
use crate::memory::MEMORY_LIMIT;
use crate::tasks::{Application, Extent, Site};
use lightloom_engine::{config, Bytes, Cluster, Dag, Flows, Node, Refusal, Stream, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{json, Value};
use std::borrow::Cow;

macro_rules! kinds {
    ( $( $(#[$doc:meta])* $variant:ident($table:ty) = $kind:literal, )+ ) => {
        kinded! {
            /// Kind of a job.
            pub enum JobKind, "a job", named by by_name {
                $( $(#[$doc])* $variant($table) = $kind, )+
            }
        }

        impl Application for JobKind {
            fn resolve(self, cluster: &Cluster) -> Result<JobKind, Refusal> {
                Ok(match self { $( JobKind::$variant(j) => JobKind::$variant(j.resolve(cluster)?), )+ })
            }
            fn extent(&self, cluster: &Cluster) -> Extent {
                match self { $( JobKind::$variant(j) => j.extent(cluster), )+ }
            }
            fn parts(&self) -> u64 {
                match self { $( JobKind::$variant(j) => j.parts(), )+ }
            }
            fn build(&self, site: &mut Site) -> Vec<Node> {
                match self { $( JobKind::$variant(j) => j.build(site), )+ }
            }
        }
    };
}

kinds! {
    /// All virtual machines of a rack migrate to servers of the other racks (c-Through §6.1).
    VmMigration(VmMigration) = "vm-migration",
    /// A MapReduce sort: every byte is read, shuffled and written (c-Through §6.2).
    Sort(Sort) = "sort",
    /// A mix of small, medium and large MapReduce jobs (c-Through §6.2).
    Gridmix(Gridmix) = "gridmix",
    /// A parallel Fourier transform: matrix transposes, separated by global barriers (c-Through
    /// §6.3).
    Fft(Fft) = "fft",
    /// Random updates of a memory that is distributed over all servers (GUPS; LIONS §IV).
    Gups(Gups) = "gups",
    /// All-reduce: every server ends with the sum of the data of all servers.
    AllReduce(AllReduce) = "all-reduce",
    /// All-to-all: every server sends a block of data to every other.
    AllToAll(AllToAll) = "all-to-all-collective",
    /// Pipeline parallelism: microbatches pass through the stages of a model, forward and back.
    Pipeline(Pipeline) = "pipeline",
}

/// Kinds whose every key has a default, so that the name is enough.
const ALONE: &[&str] = &["vm-migration", "sort", "gridmix", "fft", "gups"];

fn by_name<E: serde::de::Error>(name: &str) -> Result<JobKind, E> {
    crate::kinded::kind_alone(name, JobKind::KINDS)
}

/// A job: its kind, and its name in results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Job {
    /// Name of the job's group of flows in results, unique. Default: its kind, then kind-2, kind-3
    /// … for further jobs of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kind, with its table.
    #[serde(flatten)]
    pub kind: JobKind,
}

/// Start of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// When the job before it is complete.
    #[default]
    InSequence,
    /// At time zero, together with all other jobs.
    Together,
}

impl<'de> Deserialize<'de> for Job {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Job, D::Error> {
        let mut table = Value::deserialize(d)?;
        let name = match table.as_object_mut().and_then(|t| t.remove("name")) {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name),
            Some(other) => {
                let refusal = Refusal::new("name", other, "is not text", "put it in quotes");
                return Err(config::nested_refusal(refusal));
            }
        };
        if !table.is_string() && !table.is_object() {
            let limit = "is neither the kind of a job nor a table with a `kind`";
            let remedy = format!("write one of {}", config::list(JobKind::KINDS));
            return Err(config::nested_refusal(Refusal::new(
                "", table, limit, remedy,
            )));
        }
        let kind = config::nested(&table)?;
        Ok(Job { name, kind })
    }
}

impl JsonSchema for Job {
    fn schema_name() -> Cow<'static, str> {
        "Job".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = JobKind::json_schema(generator);
        let name = json!({
            "description": "Name of the job's group of flows in results, unique. Default: its \
                kind, then kind-2, kind-3 … for further jobs of this kind.",
            "type": ["string", "null"],
        });
        let kinds = schema
            .get_mut("oneOf")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten();
        for kind in kinds {
            if let Some(properties) = kind["properties"].as_object_mut() {
                properties.insert("name".to_owned(), name.clone());
            }
        }
        crate::kinded::or_names(&mut schema, ALONE);
        schema
    }
}

/// The key of the `i`-th job.
fn key(i: usize) -> String {
    format!("workload.jobs[{i}]")
}

/// Moves a refusal of a key of the `i`-th job's table to its full path.
fn place(refusal: Refusal, i: usize) -> Refusal {
    match refusal.key.starts_with("cluster.") {
        true => refusal,
        false => Refusal {
            key: format!("{}.{}", key(i), refusal.key),
            ..refusal
        },
    }
}

/// Validates and completes all jobs.
pub(crate) fn resolve(jobs: Vec<Job>, cluster: &Cluster) -> Result<Vec<Job>, Refusal> {
    if jobs.is_empty() {
        return Err(Refusal::new(
            "workload.jobs",
            "[]",
            "an experiment sends something",
            "add a job, or give sizes instead",
        ));
    }
    let mut resolved: Vec<Job> = Vec::new();
    let (mut extent, mut groups) = (Extent::default(), 0);
    for (i, job) in jobs.into_iter().enumerate() {
        let name = name_of(&job, i, &resolved)?;
        let kind = job.kind.resolve(cluster).map_err(|e| place(e, i))?;
        extent = extent + kind.extent(cluster);
        check_extent(extent, i, kind.kind())?;
        groups += 1 + kind.parts();
        check_groups(groups, i)?;
        resolved.push(Job {
            name: Some(name),
            kind,
        });
    }
    Ok(resolved)
}

fn name_of(job: &Job, i: usize, before: &[Job]) -> Result<String, Refusal> {
    let taken = |name: &str| before.iter().any(|j| j.name.as_deref() == Some(name));
    let kind = job.kind.kind();
    let Some(name) = job.name.clone() else {
        let numbered = (2..).map(|n: u32| format!("{kind}-{n}"));
        let mut names = std::iter::once(kind.to_owned()).chain(numbered);
        return Ok(names.find(|n| !taken(n)).unwrap_or_default());
    };
    let refuse = |limit: &str, remedy: &str| {
        let (key, value) = (format!("{}.name", key(i)), format!("\"{name}\""));
        Err(Refusal::new(key, value, limit, remedy))
    };
    if name.is_empty() || name.chars().count() > 64 {
        return refuse("has 1 to 64 characters", "correct it");
    }
    if name.contains('/') || name.chars().any(char::is_control) {
        return refuse("holds a slash or a control character", "leave it out");
    }
    if taken(&name) {
        return refuse("another job has this name", "give each a name of its own");
    }
    Ok(name)
}

fn check_extent(all: Extent, i: usize, kind: &str) -> Result<(), Refusal> {
    let need = all.memory();
    // Nodes are counted in 31 bits.
    if need <= MEMORY_LIMIT && all.flows.max(all.barriers).max(all.edges) < 1 << 31 {
        return Ok(());
    }
    Err(Refusal::new(
        key(i),
        format!("\"{kind}\""),
        format!(
            "up to this one, jobs have up to {} flows and {} edges and take about {} of memory; \
             the limit is {}",
            all.flows,
            all.edges,
            Bytes(need / 1_000_000 * 1_000_000),
            Bytes(MEMORY_LIMIT / 1_000_000 * 1_000_000)
        ),
        "run it on fewer servers, in fewer pieces or fewer times",
    ))
}

fn check_groups(groups: u64, i: usize) -> Result<(), Refusal> {
    match groups <= u16::MAX as u64 {
        true => Ok(()),
        false => Err(Refusal::new(
            key(i),
            groups,
            "more than 65535 jobs",
            "run fewer",
        )),
    }
}

/// The largest memory of the flows and graphs of resolved jobs [B].
pub(crate) fn memory(jobs: &[Job], cluster: &Cluster) -> u64 {
    let extents = jobs.iter().map(|j| j.kind.extent(cluster));
    extents.fold(Extent::default(), |a, b| a + b).memory()
}

/// The flows of resolved jobs.
///
/// # Errors
/// If their bytes or compute times exceed 64 bits.
pub(crate) fn generate(
    jobs: &[Job],
    schedule: Schedule,
    cluster: &Cluster,
    seed: u64,
) -> Result<Flows, Refusal> {
    let mut dag = Dag::new();
    let mut begin = None;
    for (i, job) in jobs.iter().enumerate() {
        let name = job.name.as_deref().unwrap_or(job.kind.kind());
        dag.group(name);
        dag.begin_at(begin);
        let last = job.kind.build(&mut Site {
            dag: &mut dag,
            cluster,
            rng: Stream::new(seed, "workload.jobs", i as u64),
            name,
            begin,
        });
        let end = dag.end_job(name, begin, &last);
        check_clock(dag.least(end), i, name)?;
        if schedule == Schedule::InSequence {
            begin = Some(end);
        }
    }
    let flows = dag.build();
    let sum: u128 = flows.bytes.iter().map(|&b| b as u128).sum();
    match sum <= u64::MAX as u128 {
        true => Ok(flows),
        false => Err(Refusal::new(
            "workload.jobs",
            format!("{} jobs", jobs.len()),
            format!("they send {sum} B, more than 64 bits count"),
            "send less",
        )),
    }
}

/// Refuses a job that cannot end within the range of the clock on any network.
fn check_clock(least: Time, i: usize, name: &str) -> Result<(), Refusal> {
    if least <= MAX_ARRIVAL {
        return Ok(());
    }
    let days = least.as_secs_f64() / 86_400.0;
    Err(Refusal::new(
        key(i),
        format!("\"{name}\""),
        format!("computes until day {days:.0} of the run, but the clock ends after day 53"),
        "shorten its computation",
    ))
}

#[cfg(test)]
pub(crate) mod tests;
