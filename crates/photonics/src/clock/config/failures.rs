//! Nodes that die, and nodes that send false times.

use crate::clock::quantity::{Picoseconds, Ppm};
use lightloom_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A node that dies: it then sends no cells, and the other nodes detect this after `missed` epochs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Death {
    /// Number of the node, from 0.
    pub node: u32,
    /// Time of the failure, counted from the end of `settle` [time]. Default 0 s.
    #[serde(default)]
    pub at: Time,
    /// Number of epochs without its cell after which the next node becomes the leader [count];
    /// until then all nodes hold over. Default 3 (assumption).
    #[serde(default = "three")]
    pub missed: u64,
}

fn three() -> u64 {
    3
}

/// Byzantine nodes, which send a false time when they are the leader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Byzantine {
    /// Numbers of the nodes, from 0.
    pub nodes: Vec<u32>,
    /// Time from which they send false times, counted from the end of `settle` [time]. Default 0 s.
    pub at: Time,
    /// Kind of false time. Default "split".
    pub lie: Lie,
    /// Error of the false time for "jump" and "split" [time]. Default 1 ns.
    pub size: Picoseconds,
    /// Rate at which the error of the false time grows for "run" [ppm]. Default 1000 ppm.
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

/// Kind of false time that a byzantine leader sends.
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
