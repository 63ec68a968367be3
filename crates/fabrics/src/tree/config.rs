//! The table of `kind = "tree"`.

use crate::hybrid::tree::TreeKeys;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An electrical tree above the racks, oversubscribed or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TreeConfig {
    /// β: what the servers of a rack can send ÷ what the tree can carry for
    /// them, from 1 to 1,000. Default 1: full bisection. c-Through §5.1 has 40,
    /// 10 and 4.
    pub oversubscription: f64,
    /// 2: racks on a core, all of β at the racks' uplinks (c-Through §5.1). 3:
    /// racks, pods and a core, √β at each of the two (HydRA §IV). Default 2.
    #[schemars(range(min = 2, max = 3))]
    pub levels: u32,
    /// Racks below one pod, with three levels; must divide the racks. Default:
    /// the largest divisor up to 16 that leaves four pods or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub racks_per_pod: Option<u32>,
}

impl Default for TreeConfig {
    fn default() -> TreeConfig {
        TreeConfig {
            oversubscription: 1.0,
            levels: 2,
            racks_per_pod: None,
        }
    }
}

impl TreeConfig {
    /// The keys of the tree.
    pub fn keys(&self) -> TreeKeys {
        TreeKeys {
            oversubscription: self.oversubscription,
            levels: self.levels,
            racks_per_pod: self.racks_per_pod,
        }
    }
}
