//! `[compare]`: runs of `compare` in addition to one run of every fabric.
//!
//! This module reads and checks the cases. The caller, who overrides keys anyway, applies their
//! keys and searches for saturation.

use crate::{with_flows, RunTable};
use lightloom_engine::{Cluster, Refusal};
use lightloom_workload::WorkloadConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Runs of `compare` in addition to one run of every fabric.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CompareTable {
    /// Additional loads at which every fabric runs, for plots against load.
    pub loads: Vec<f64>,
    /// Whether to search for the highest load that each fabric carries. Needs `run.measure`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub saturation: bool,
    /// Relative precision of the load that `saturation` finds. Default 0.02.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Highest load that `saturation` tries. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to: Option<f64>,
    /// Variants of the experiment, each of which is compared separately; the experiment itself is
    /// then not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub case: Vec<CaseTable>,
}

/// A variant of the experiment.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseTable {
    /// Name of the case in results and reports.
    pub label: String,
    /// Keys as for `--set`, with their values: `"workload.load" = 0.5`, `"fabric.packet" = "64 B"`
    /// (every fabric), `"fabric.LABEL.queue" = 8` (one fabric).
    #[serde(default)]
    pub set: Map<String, Value>,
}

const TOLERANCE: f64 = 0.02;

impl CompareTable {
    /// Refuses comparisons that cannot run, and sets the defaults. A load is valid if the workload
    /// accepts it.
    pub(crate) fn resolve(
        &self,
        workload: &WorkloadConfig,
        run: &RunTable,
        cluster: &Cluster,
    ) -> Result<CompareTable, Refusal> {
        let takes = |key: String, load: f64| {
            let mut at_load = workload.clone();
            at_load.load = Some(load);
            with_flows(&at_load, run, cluster)
                .and_then(|w| w.resolve(cluster))
                .map(|_| ())
                .map_err(|e| match e.key.as_str() {
                    "workload.load" => Refusal {
                        remedy: e.remedy.replace("workload.load", "compare.loads"),
                        value: load.to_string(),
                        key,
                        ..e
                    },
                    _ => e,
                })
        };
        for (i, &load) in self.loads.iter().enumerate() {
            takes(format!("compare.loads[{i}]"), load)?;
        }
        self.check_labels()?;
        let mut resolved = self.clone();
        if self.saturation {
            let up_to = self.up_to.unwrap_or(1.0);
            takes("compare.up_to".into(), up_to)?;
            resolved.tolerance = Some(self.checked_tolerance(run)?);
            resolved.up_to = Some(up_to);
        } else {
            self.refuse_unused()?;
        }
        Ok(resolved)
    }

    fn checked_tolerance(&self, run: &RunTable) -> Result<f64, Refusal> {
        if run.span().is_none() {
            return Err(Refusal::new(
                "compare.saturation",
                true,
                "the carried load is measured in a window",
                "add run.measure, such as measure = \"200 us\"",
            ));
        }
        let tolerance = self.tolerance.unwrap_or(TOLERANCE);
        if (0.001..=0.5).contains(&tolerance) {
            return Ok(tolerance);
        }
        Err(Refusal::new(
            "compare.tolerance",
            tolerance,
            "must be between 0.001 and 0.5",
            "write 0.02 for 2 %",
        ))
    }

    fn refuse_unused(&self) -> Result<(), Refusal> {
        let unused = [("tolerance", self.tolerance), ("up_to", self.up_to)];
        match unused
            .iter()
            .find_map(|(key, value)| Some((key, (*value)?)))
        {
            None => Ok(()),
            Some((key, value)) => Err(Refusal::new(
                format!("compare.{key}"),
                value,
                "has no effect without a search for the saturation",
                "add compare.saturation = true, or remove it",
            )),
        }
    }

    fn check_labels(&self) -> Result<(), Refusal> {
        for (i, case) in self.case.iter().enumerate() {
            let refuse = |limit: &str, remedy: &str| {
                let key = format!("compare.case[{i}].label");
                Err(Refusal::new(
                    key,
                    format!("\"{}\"", case.label),
                    limit,
                    remedy,
                ))
            };
            if case.label.trim().is_empty() {
                return refuse("is empty", "name the case");
            }
            if self.case[..i].iter().any(|c| c.label == case.label) {
                return refuse("two cases have this label", "rename one of them");
            }
        }
        Ok(())
    }
}
