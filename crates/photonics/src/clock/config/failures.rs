//! Nodes that die, and nodes that send false times.

use crate::clock::quantity::{Picoseconds, Ppm};
use lightloom_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A node that dies: it is silent from then on, and others know after `missed` epochs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Death {
    /// The number of the node, from 0.
    pub node: u32,
    /// When, after the clocks have settled [time]. Default 0 s.
    #[serde(default)]
    pub at: Time,
    /// Epochs without its cell after which the next node takes over [count]; until then all
    /// hold over. Default 3 (assumption).
    #[serde(default = "three")]
    pub missed: u64,
}

fn three() -> u64 {
    3
}

/// Nodes that lie about their time when they lead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Byzantine {
    /// The numbers of the nodes, from 0.
    pub nodes: Vec<u32>,
    /// Since when, after the clocks have settled [time]. Default 0 s.
    pub at: Time,
    /// How they lie. Default split.
    pub lie: Lie,
    /// Size of a jump or split [time]. Default 1 ns.
    pub size: Picoseconds,
    /// Rate at which clocks run away [ppm]. Default 1000 ppm.
    pub speed: Ppm,
}

impl Default for Byzantine {
    fn default() -> Byzantine {
        Byzantine {
            nodes: Vec::new(),
            at: Time::ZERO,
            lie: Lie::Split,
            size: Picoseconds(1e3),
            speed: Ppm(1e3),
        }
    }
}

/// How a byzantine leader lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Lie {
    /// The node sends a later time to nodes of even number, and an earlier one to all others.
    Split,
    /// The node sends the same wrong time to all others.
    Jump,
    /// The node sends to all others a time whose error grows.
    Run,
}
