//! A published distribution by its name in the [`registry`].

use super::{registry, Interpolation, Law};
use lightloom_engine::{config, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A published distribution by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedSizes {
    /// Name of the distribution: `lightloom workloads` lists all with their sources and means.
    pub name: String,
    /// Distribution between two points: "linear" (the default, and the rule of most public
    /// simulators) or "step". The mean depends on it (web-search: 1.71 MB linear, 2.43 MB step), so
    /// a workload is defined by both name and rule.
    #[serde(default)]
    pub interpolation: Interpolation,
}

impl PublishedSizes {
    pub(super) fn law(&self) -> Result<Box<dyn Law>, Refusal> {
        let Some(entry) = registry::find(&self.name) else {
            let names: Vec<&str> = registry::registry().iter().map(|p| p.name).collect();
            return Err(Refusal::new(
                "workload.sizes.name",
                format!("\"{}\"", self.name),
                "no published distribution has this name",
                config::nearest(&self.name, &names),
            ));
        };
        Ok(Box::new(entry.law(self.interpolation)))
    }
}
