//! All-to-all exchange: every member sends to every other, as in transposes.

use super::tournament;
use crate::tasks::Extent;
use lightloom_engine::{Dag, HostId, Node, Task, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Order in which servers send to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exchange {
    /// All blocks at once; they share the network.
    #[default]
    AtOnce,
    /// In n - 1 rounds: in round k server i sends to server i + k, after it has completed its part
    /// of the round before.
    Pairwise,
    /// In n - 1 rounds (n rounds if n is odd): in each round a server has one partner, or pauses.
    /// Partners exchange their blocks after both have completed their earlier rounds, as in FFTW's
    /// transposition over MPI.
    Tournament,
}

impl Exchange {
    /// The largest number of nodes and edges among `n` servers, with those before and after.
    pub(crate) fn extent(self, n: u64) -> Extent {
        let blocks = n.saturating_mul(n - 1);
        // The sends and receptions of two partners in their rounds before.
        let waits_for = match self {
            Exchange::AtOnce | Exchange::Pairwise => 2,
            Exchange::Tournament => 4,
        };
        Extent {
            flows: blocks,
            barriers: 0,
            edges: blocks.saturating_mul(waits_for),
        }
    }

    /// Adds the sends of `block(i, j)` bytes from server i to server j, for all i and j, after all
    /// of `before`. Returns flows that end last: when these are delivered, all are.
    pub(crate) fn build(
        self,
        hosts: &[HostId],
        block: impl Fn(usize, usize) -> u64,
        before: &[Node],
        dag: &mut Dag,
    ) -> Vec<Node> {
        let n = hosts.len();
        let send = |i: usize, j: usize| Task {
            src: hosts[i],
            dst: hosts[j],
            bytes: block(i, j),
            compute: Time::ZERO,
        };
        if self == Exchange::Tournament {
            return tournament::build(n, send, before, dag);
        }
        let mut last: Vec<Node> = Vec::new();
        for k in 1..n {
            let round: Vec<Node> = (0..n)
                .map(|i| {
                    let task = send(i, (i + k) % n);
                    match self {
                        Exchange::Pairwise if k > 1 => {
                            let heard = last[(i + n - (k - 1)) % n];
                            dag.task(task, &[last[i], heard])
                        }
                        _ => dag.task(task, before),
                    }
                })
                .collect();
            match self {
                Exchange::Pairwise => last = round,
                _ => last.extend(round),
            }
        }
        last
    }
}
