//! Collectives that proceed in rounds: the sends of each round.

use crate::tasks::Extent;
use lightloom_engine::{Dag, HostId, Node, Task, Time};
use std::ops::Range;

/// A transfer in a round: one member of the group sends a part of its data to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Send {
    pub from: usize,
    pub to: usize,
    /// The range of the data [B].
    pub part: Range<u64>,
}

/// An algorithm on a group of `n` members and an amount of data.
pub(super) trait Rounds {
    /// The number of rounds.
    fn rounds(&self) -> usize;
    /// All transfers of a round.
    fn round(&self, k: usize) -> Vec<Send>;
    /// Number of sends in all rounds.
    fn sends(&self) -> u64;
}

/// The largest number of nodes and edges of one run.
pub(super) fn extent(sends: u64) -> Extent {
    // The predecessors of a send are its two ends, the same send of the previous chunk, and the
    // beginning.
    Extent {
        flows: sends,
        barriers: 0,
        edges: sends.saturating_mul(4),
    }
}

/// Runs `algorithm` for each chunk of the data after all of `before`; returns the flows that end
/// last. A member begins its part in a round when its parts in the earlier rounds are done, sent
/// and received. The chunks travel independently, but none overtakes the one before it.
pub(super) fn build(
    chunks: impl Iterator<Item = impl Rounds>,
    hosts: &[HostId],
    before: &[Node],
    dag: &mut Dag,
) -> Vec<Node> {
    let mut ahead: Vec<Vec<Node>> = Vec::new();
    let mut last = Vec::new();
    for chunk in chunks {
        let mut ready = vec![before.to_vec(); hosts.len()];
        let mut sent = Vec::with_capacity(chunk.rounds());
        for k in 0..chunk.rounds() {
            let sends = chunk.round(k);
            let nodes: Vec<Node> = sends
                .iter()
                .enumerate()
                .map(|(i, send)| {
                    let mut after = ready[send.from].clone();
                    after.extend(ahead.get(k).map(|round: &Vec<Node>| round[i]));
                    dag.task(task(send, hosts), &after)
                })
                .collect();
            for (send, &node) in sends.iter().zip(&nodes) {
                ready[send.from] = vec![node];
            }
            for (send, &node) in sends.iter().zip(&nodes) {
                ready[send.to].push(node);
            }
            sent.push(nodes);
        }
        ahead = sent;
        last.extend(ready.concat());
    }
    last
}

fn task(send: &Send, hosts: &[HostId]) -> Task {
    Task {
        src: hosts[send.from],
        dst: hosts[send.to],
        bytes: send.part.end - send.part.start,
        compute: Time::ZERO,
    }
}
