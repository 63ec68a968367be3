//! The parameters of routing: the rule, its bias, the first virtual channel of the second phase,
//! and the stream of random intermediate routers.

use super::config::{ButterflyConfig, Routing};
use lightloom_engine::Stream;

/// The routing rule, and its random stream.
#[derive(Clone, Debug)]
pub struct RouteRule {
    pub(super) routing: Routing,
    /// Bias towards the minimal path [flits × hops].
    pub(super) bias: u64,
    /// Virtual channels below this number belong to the first phase.
    pub(super) split: usize,
    pub(super) random: Stream,
}

impl RouteRule {
    /// Creates the rule of a resolved configuration.
    pub fn new(config: &ButterflyConfig, seed: u64) -> RouteRule {
        RouteRule {
            routing: config.routing,
            bias: config.ugal_bias.0 / config.flit.0,
            split: config.vcs as usize / 2,
            random: Stream::new(seed, "flattened-butterfly.intermediate", 0),
        }
    }
}
