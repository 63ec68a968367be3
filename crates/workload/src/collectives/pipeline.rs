//! Pipeline parallelism as GPipe does it (Huang et al., NeurIPS 2019): a model
//! cut into stages, a batch into microbatches.
//!
//! Every microbatch goes forward through all stages. When a stage has processed all of them, it
//! processes them again backwards, the last one first. A stage processes one microbatch at a time,
//! and sends while it processes the next. Schedules that mix forward and backward work (1F1B) are
//! not modelled.

use super::iterations;
use crate::tasks::{check, Application, Extent, Placement, Site};
use lightloom_engine::{Bytes, Cluster, Dag, HostId, Node, Refusal, Task, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pipeline parallelism: microbatches pass through the stages of a model, forward and back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Bytes that a stage sends to the next for each microbatch [B]: activations forward, and
    /// gradients of the same size backward.
    pub bytes: Bytes,
    /// Number of stages, one on each server. Default: the number of servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// Selection of the servers, in the order of the stages: "first" (the default), "spread" or a
    /// list.
    #[serde(default)]
    pub placement: Placement,
    /// Number of microbatches in a batch.
    pub microbatches: u32,
    /// Computation time of a stage for a microbatch, forward [s].
    #[serde(default)]
    pub forward: Time,
    /// Computation time of a stage for a microbatch, backward [s]; often twice as long. Default: no
    /// backward pass, as in inference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backward: Option<Time>,
    /// Number of batches, one after another.
    #[serde(default = "one")]
    pub iterations: u32,
}

fn one() -> u32 {
    1
}

/// One pass through the stages: each microbatch through each stage.
struct Pass {
    /// The stages in the order in which microbatches pass them.
    stages: Vec<HostId>,
    microbatches: u32,
    bytes: u64,
    compute: Time,
}

impl Pass {
    /// Stage s begins after `free[s]`; returns the last nodes of each stage.
    fn run(self, free: Vec<Vec<Node>>, dag: &mut Dag) -> Vec<Vec<Node>> {
        // The last computation and the last send of each stage.
        let (mut computed, mut sent) = (free, vec![None; self.stages.len()]);
        for _ in 0..self.microbatches {
            let mut handed: Option<Node> = None;
            for (s, &src) in self.stages.iter().enumerate() {
                let mut before = std::mem::take(&mut computed[s]);
                before.extend(handed);
                let done = dag.barrier(self.compute, &before);
                computed[s] = vec![done];
                let Some(&dst) = self.stages.get(s + 1) else {
                    continue;
                };
                let task = Task {
                    src,
                    dst,
                    bytes: self.bytes,
                    compute: Time::ZERO,
                };
                let before: Vec<Node> = std::iter::once(done).chain(sent[s]).collect();
                handed = Some(dag.task(task, &before));
                sent[s] = handed;
            }
        }
        for (computed, sent) in computed.iter_mut().zip(sent) {
            computed.extend(sent);
        }
        computed
    }
}

impl Pipeline {
    fn once(&self, hosts: &[HostId], before: &[Node], dag: &mut Dag) -> Vec<Node> {
        let pass = |stages, compute| Pass {
            stages,
            microbatches: self.microbatches,
            bytes: self.bytes.0,
            compute,
        };
        let free = vec![before.to_vec(); hosts.len()];
        let mut ends = pass(hosts.to_vec(), self.forward).run(free, dag);
        if let Some(backward) = self.backward {
            ends.reverse();
            let stages = hosts.iter().rev().copied().collect();
            ends = pass(stages, backward).run(ends, dag);
        }
        ends.concat()
    }
}

impl Application for Pipeline {
    fn resolve(mut self, cluster: &Cluster) -> Result<Pipeline, Refusal> {
        let hosts = self.placement.hosts(self.hosts, 2, cluster)?.len() as u32;
        self.hosts = Some(hosts);
        check::bytes("bytes", self.bytes, 1)?;
        check::count("microbatches", self.microbatches as u64, 1 << 30)?;
        check::count("iterations", self.iterations as u64, 1 << 30)?;
        Ok(self)
    }

    fn extent(&self, _: &Cluster) -> Extent {
        let cell = Extent {
            flows: 1,
            barriers: 1,
            edges: 5,
        };
        let passes = 1 + self.backward.is_some() as u64;
        let cells = self.microbatches as u64 * passes;
        let once = cell.times(cells).times(self.hosts.unwrap_or(2) as u64);
        iterations(once, self.iterations)
    }

    fn build(&self, site: &mut Site) -> Vec<Node> {
        let hosts = self.placement.hosts(self.hosts, 2, site.cluster);
        let hosts = hosts.expect("a resolved placement fits");
        super::iterate(self.iterations, Time::ZERO, site.dag, |before, dag| {
            self.once(&hosts, before, dag)
        })
    }
}
