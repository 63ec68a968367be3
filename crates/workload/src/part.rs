//! The table of one part of a mix: `[[workload.mix]]`. [`crate::mix`] draws its flows.

use crate::arrivals::Arrivals;
use crate::patterns::Pattern;
use crate::sizes::{MeanRule, Sizes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One part of a mixed workload. Its keys have the same meaning as in `[workload]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Arrival process of its flows: "poisson" (the default), or another kind of arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Load that it offers. Default: `workload.load`, if its arrivals need a load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Distribution of its flow sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// Treatment of a sample of sizes whose mean is not the mean of the distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_rule: Option<MeanRule>,
    /// Traffic pattern of its flows: "uniform" (the default), or another pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// Number of its flows. Default: the mean number that arrives while the longest part sends; if
    /// a window is measured, the number that the window needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
}
