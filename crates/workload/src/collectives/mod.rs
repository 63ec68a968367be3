//! Collectives of parallel programs, one file for each algorithm.
//!
//! Members are servers, with one process each. Reducing takes no time of its own: it is part of the
//! computation before a collective.

mod all_reduce;
mod all_to_all;
mod exchange;
mod halving_doubling;
mod pipeline;
mod ring;
mod rounds;
#[cfg(test)]
mod tests;
mod tournament;
mod tree;

pub use all_reduce::{Algorithm, AllReduce};
pub use all_to_all::AllToAll;
pub use exchange::Exchange;
pub use pipeline::Pipeline;

use crate::tasks::Extent;
use lightloom_engine::{Dag, Node, Time};

/// Repeats `once`; each repetition begins when all members have finished the one before and have
/// computed.
fn iterate(
    times: u32,
    compute: Time,
    dag: &mut Dag,
    once: impl Fn(&[Node], &mut Dag) -> Vec<Node>,
) -> Vec<Node> {
    let mut last = Vec::new();
    for _ in 0..times {
        let begin = match compute == Time::ZERO && last.is_empty() {
            true => Vec::new(),
            false => vec![dag.barrier(compute, &last)],
        };
        last = once(&begin, dag);
    }
    last
}

/// Nodes and edges of `times` repetitions; each ends with at most the two ends of all its flows and
/// the end of the job.
fn iterations(once: Extent, times: u32) -> Extent {
    let end = Extent::job(once.flows.saturating_mul(2));
    (once + end).times(times as u64) + end
}
