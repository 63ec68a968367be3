//! The size of a job's graph, before it is built.

use crate::memory::BYTES_PER_FLOW;
use lightloom_engine::{Dag, Dependencies};
use std::ops::Add;

/// Upper limits of the nodes and edges of a graph. Counts saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub flows: u64,
    pub barriers: u64,
    pub edges: u64,
}

impl Extent {
    /// The end of a job that has `last` final tasks.
    pub fn job(last: u64) -> Extent {
        Extent {
            flows: 0,
            barriers: 1,
            edges: last,
        }
    }

    /// The same graph `n` times.
    pub fn times(self, n: u64) -> Extent {
        Extent {
            flows: self.flows.saturating_mul(n),
            barriers: self.barriers.saturating_mul(n),
            edges: self.edges.saturating_mul(n),
        }
    }

    /// Memory of the flows and their graph [B], while the graph is built.
    pub fn memory(self) -> u64 {
        let (building_node, building_edge) = Dag::BUILDING;
        let node = Dependencies::BYTES_PER_NODE + building_node;
        let edge = Dependencies::BYTES_PER_EDGE + building_edge;
        let nodes = self.flows.saturating_add(self.barriers);
        self.flows
            .saturating_mul(BYTES_PER_FLOW)
            .saturating_add(nodes.saturating_mul(node))
            .saturating_add(self.edges.saturating_mul(edge))
    }
}

impl Add for Extent {
    type Output = Extent;
    fn add(self, o: Extent) -> Extent {
        Extent {
            flows: self.flows.saturating_add(o.flows),
            barriers: self.barriers.saturating_add(o.barriers),
            edges: self.edges.saturating_add(o.edges),
        }
    }
}
