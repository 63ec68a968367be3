//! An experiment: the servers, their traffic, the parameters of the run, and the fabrics. It is
//! read from JSON, validated and completed, then run.
//!
//! The caller reads files, overrides keys and writes results. This crate reads only the files that
//! a workload names (a trace, times, sizes, a matrix) and writes none.
//!
//! | file | contents |
//! |---|---|
//! | `cluster`, `run_table`, `stop_rule`, `fabric`, `fault`, `compare`, `physics` | the tables of an experiment: `[cluster]`, `[run]` and its `stop`, `[[fabric]]`, `[[fault]]`, `[compare]`, `[physics]`; `[workload]` is `lightloom_workload`'s |
//! | `schema` | the JSON Schema of all tables |
//! | `keys` | keys that no table has |
//! | `assumptions` | the idealised properties of a fabric, for users |
//! | `counted`, `endless` | jobs that count updates; flows that send until the end |
//! | `memory` | refusals of runs that would exceed memory |
//! | `prepare` | building a fabric for its flows, or its refusal |
//! | `execute`, `trial` | the run; a short part of a run, to estimate its total time |

mod assumptions;
mod cluster;
mod compare;
mod counted;
mod endless;
mod execute;
mod fabric;
mod fault;
mod keys;
mod memory;
mod physics;
mod prepare;
mod run_table;
mod schema;
mod stop_rule;
mod trial;

pub use assumptions::Assumptions;
pub use cluster::ClusterTable;
pub use compare::{CaseTable, CompareTable};
pub use execute::{Prepared, RunOutput};
pub use fabric::FabricTable;
pub use fault::{ElementKind, FaultTable};
pub use keys::check_keys;
pub use physics::{PhysicsPreset, PhysicsTable};
pub use run_table::{Goodput, RunTable};
pub use schema::schema;
pub use stop_rule::StopRule;
pub use trial::{Reached, Trial};

use lightloom_engine::run::Progress;
use lightloom_engine::{config, Cluster, Refusal};
use lightloom_fabrics::{Discipline, Physics};
use lightloom_workload::WorkloadConfig;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of Lightloom.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An experiment as configured; after [`Experiment::resolve`] with every
/// default filled in, so that it runs again to the same bytes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The name in reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version of Lightloom that resolved the file; a run replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The servers that every fabric must connect.
    pub cluster: ClusterTable,
    /// The physics of all networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physics: Option<PhysicsTable>,
    /// The workload.
    pub workload: WorkloadConfig,
    /// Digests of the files that it reads, by the keys that name them. A file with another digest
    /// is refused when it is read for a run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// Seed, end and sampling.
    #[serde(default)]
    pub run: RunTable,
    /// The runs of `compare` besides every fabric: loads, saturation, cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<CompareTable>,
    /// The fabrics.
    #[serde(default)]
    pub fabric: Vec<FabricTable>,
    /// The faults, with their times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault: Vec<FaultTable>,
}

impl Experiment {
    /// Reads an experiment; nothing is checked yet but its shape.
    ///
    /// # Errors
    /// A [`Refusal`] of an unknown or missing key, or of a value of the wrong form.
    pub fn read(json: &Value) -> Result<Experiment, Refusal> {
        config::read(json, "").map_err(schema::misplaced)
    }

    /// Validates everything and fills in every default. Resolving twice
    /// changes nothing.
    ///
    /// # Errors
    /// A [`Refusal`] of the first value that cannot run.
    pub fn resolve(&self) -> Result<Experiment, Refusal> {
        let (table, cluster) = self.cluster.resolve()?;
        let run = self.run.resolve(&self.workload)?;
        let workload = with_flows(&self.workload, &run, &cluster)?;
        let workload = resolve_workload(&workload, &cluster)?;
        let physics = { self.physics.as_ref() }
            .map(PhysicsTable::resolve)
            .transpose()?;
        let shared = Physics {
            nic: self.cluster.written_nic(),
            ..shared(physics.as_ref(), &table)
        };
        let fabric = fabric::resolve_all(&self.fabric, &shared, &cluster)?;
        let labels: Vec<&str> = fabric.iter().map(FabricTable::label).collect();
        fault::check_all(&self.fault, &cluster, &labels)?;
        let compare = match &self.compare {
            Some(compare) => Some(compare.resolve(&self.workload, &run, &cluster)?),
            None => None,
        };
        Ok(Experiment {
            name: self.name.clone(),
            version: Some(VERSION.to_owned()),
            cluster: table,
            physics,
            workload,
            inputs: self.inputs.clone(),
            run,
            compare,
            fabric,
            fault: self.fault.clone(),
        })
    }

    /// The servers.
    ///
    /// # Errors
    /// A [`Refusal`] of a key of the cluster table.
    pub fn cluster(&self) -> Result<Cluster, Refusal> {
        Ok(self.cluster.resolve()?.1)
    }

    /// The idealised properties of each fabric of this resolved experiment, and its relation to the
    /// physics; in the order of the fabrics.
    ///
    /// # Errors
    /// A [`Refusal`] of a table that is not resolved.
    pub fn assumptions(&self) -> Result<Vec<Assumptions>, Refusal> {
        let cluster = self.cluster()?;
        let shared = shared(self.physics.as_ref(), &self.cluster);
        let of = |table: &FabricTable| Assumptions::of(table, &shared, &cluster);
        self.fabric.iter().map(of).collect()
    }

    /// The experiment as JSON, without the keys that have no value.
    pub fn to_json(&self) -> Value {
        let mut json = serde_json::to_value(self).expect("configurations are plain data");
        drop_nulls(&mut json);
        json
    }

    /// Resolves, builds and runs the fabric at `index`.
    ///
    /// # Errors
    /// A [`Refusal`] before anything runs, or of a fault that the fabric rejects.
    pub fn run(
        &self,
        index: usize,
        threads: usize,
        progress: &mut dyn Progress,
    ) -> Result<RunOutput, Refusal> {
        self.prepare(index, threads, None)?.run(progress)
    }
}

/// The physics that all fabrics share, from resolved tables.
fn shared(physics: Option<&PhysicsTable>, cluster: &ClusterTable) -> Physics {
    Physics {
        oversubscription: cluster.oversubscription,
        discipline: cluster
            .discipline
            .filter(|&given| given != Discipline::default()),
        ..physics.map_or_else(Physics::default, PhysicsTable::terms)
    }
}

/// If a window is measured, it determines the number of flows, unless the number is given.
fn with_flows(
    workload: &WorkloadConfig,
    run: &RunTable,
    cluster: &Cluster,
) -> Result<WorkloadConfig, Refusal> {
    match (run.span(), run.limit) {
        (Some(_), Some(limit)) => workload.filled_for(limit, cluster),
        _ => Ok(workload.clone()),
    }
}

/// The caller reads a Parquet trace and passes its flows; other errors of the workload are refused
/// nevertheless.
fn resolve_workload(
    workload: &WorkloadConfig,
    cluster: &Cluster,
) -> Result<WorkloadConfig, Refusal> {
    match workload.clone().resolve(cluster) {
        Err(refusal) if is_parquet(workload) && refusal.key == "workload.trace" => {
            Ok(workload.clone())
        }
        resolved => resolved,
    }
}

fn is_parquet(workload: &WorkloadConfig) -> bool {
    let named = |trace: &String| trace.ends_with(".parquet");
    workload.trace_format.is_none() && workload.trace.as_ref().is_some_and(named)
}

fn drop_nulls(json: &mut Value) {
    match json {
        Value::Object(table) => {
            table.retain(|_, v| !v.is_null());
            table.values_mut().for_each(drop_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
