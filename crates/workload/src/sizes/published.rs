//! A published distribution by its name in the [`registry`].

use super::{registry, Interpolation, Law};
use lightloom_engine::{config, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A published distribution by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedSizes {
    /// Its name: `lightloom workloads` lists them with their sources and means.
    pub name: String,
    /// The distribution between two points. The choice shifts the mean (web-search: 1.71 MB linear,
    /// 2.43 MB step), so name and rule together are the workload. Most public simulators use
    /// linear, which is the default.
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
