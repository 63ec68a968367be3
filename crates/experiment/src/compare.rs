//! `[compare]`: what `compare` does beside running every fabric once.

use lightloom_engine::{Cluster, Refusal};
use lightloom_workload::WorkloadConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `compare` does beside running every fabric once.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CompareTable {
    /// Loads at which every fabric runs too, for figures against load.
    pub loads: Vec<f64>,
}

impl CompareTable {
    /// A load is good if the workload takes it.
    pub(crate) fn check(
        &self,
        workload: &WorkloadConfig,
        cluster: &Cluster,
    ) -> Result<(), Refusal> {
        for (i, &load) in self.loads.iter().enumerate() {
            let mut at_load = workload.clone();
            at_load.load = Some(load);
            at_load.resolve(cluster).map_err(|e| match e.key.as_str() {
                "workload.load" => Refusal {
                    key: format!("compare.loads[{i}]"),
                    value: load.to_string(),
                    remedy: e.remedy.replace("workload.load", "compare.loads"),
                    ..e
                },
                _ => e,
            })?;
        }
        Ok(())
    }
}
