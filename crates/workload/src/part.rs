//! The table of one part of a mix: `[[workload.mix]]`. [`crate::mix`] draws its flows.

use crate::arrivals::Arrivals;
use crate::patterns::Pattern;
use crate::sizes::{MeanRule, Sizes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One part of a mix. Its keys mean what they mean in `[workload]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// When its flows arrive: "poisson" (the default), or another kind of arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Load that it offers. By default `workload.load`, where its arrivals need a load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// How large its flows are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// How a sample with another mean than that of the law is treated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_rule: Option<MeanRule>,
    /// The destinations of servers: "uniform" (the default), or another pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// Number of its flows. By default as many as arrive, on average, while the part with
    /// the most time sends; where a window is measured, as many as the window needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
}
