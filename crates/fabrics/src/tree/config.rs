//! The table of `kind = "tree"`.

use crate::hybrid::tree::TreeKeys;
use crate::overheads::with_overheads;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

with_overheads! {
    /// An electrical tree above the racks, oversubscribed or not.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct TreeConfig {
        /// β: what the servers of a rack can send ÷ what the tree can carry for
        /// them, from 1 to 1,000. Default: that of the cluster, else 1, full bisection.
        /// c-Through §5.1 has 40, 10 and 4.
        pub oversubscription: f64 = 1.0,
        /// 2: racks on a core, all of β at the racks' uplinks (c-Through §5.1). 3:
        /// racks, pods and a core, √β at each of the two (HydRA §IV). Default 2.
        #[schemars(range(min = 2, max = 3))]
        pub levels: u32 = 2,
        /// Racks below one pod, with three levels; must divide the racks. Default:
        /// the largest divisor up to 16 that leaves four pods or more.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub racks_per_pod: Option<u32> = None,
    }
    /// From a rack to any other [time]: over all links of the longest
    /// path, which share it evenly. Default 0 s (idealised).
    propagation
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
