//! All-reduce: every member ends with the sum of all members' data.

use super::halving_doubling::HalvingDoubling;
use super::ring::Ring;
use super::rounds::{self, Rounds};
use super::tree::Tree;
use super::{iterate, iterations};
use crate::tasks::{check, Application, Extent, Placement, Site};
use lightloom_engine::{Bytes, Cluster, Dag, HostId, Node, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Algorithm of an all-reduce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Ring: 2 (n - 1) rounds, each with 1/n of the data.
    #[default]
    Ring,
    /// Binomial tree, up and down: 2 ⌈log2 n⌉ rounds, each with all the data.
    Tree,
    /// Recursive halving and doubling: 2 log2 n rounds, with as little data in total as the ring.
    HalvingDoubling,
}

/// All-reduce: every server ends with the sum of the data of all servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllReduce {
    /// Algorithm of the all-reduce.
    #[serde(default)]
    pub algorithm: Algorithm,
    /// Data of each server [B], for example the gradients of a model.
    pub bytes: Bytes,
    /// Number of servers that take part. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// Selection of the servers: "first" (the default), "spread" or a list; they are numbered in
    /// this order.
    #[serde(default)]
    pub placement: Placement,
    /// Number of chunks of the data, which pass through the rounds one after another.
    #[serde(default = "one")]
    pub chunks: u32,
    /// Number of repetitions, one after another.
    #[serde(default = "one")]
    pub iterations: u32,
    /// Computation time of every server before each repetition [s].
    #[serde(default)]
    pub compute: Time,
}

fn one() -> u32 {
    1
}

impl AllReduce {
    fn once(&self, hosts: &[HostId], before: &[Node], dag: &mut Dag) -> Vec<Node> {
        let (n, chunks) = (hosts.len(), self.chunks as u64);
        let cut = (0..chunks).map(|c| check::part(self.bytes.0, chunks, c));
        match self.algorithm {
            Algorithm::Ring => {
                rounds::build(cut.map(|bytes| Ring { n, bytes }), hosts, before, dag)
            }
            Algorithm::Tree => {
                rounds::build(cut.map(|bytes| Tree { n, bytes }), hosts, before, dag)
            }
            Algorithm::HalvingDoubling => {
                let chunk = |bytes| HalvingDoubling { n, bytes };
                rounds::build(cut.map(chunk), hosts, before, dag)
            }
        }
    }

    /// Number of sends for one chunk.
    fn sends(&self) -> u64 {
        let (n, bytes) = (self.hosts.unwrap_or(2) as usize, self.bytes.0);
        match self.algorithm {
            Algorithm::Ring => Ring { n, bytes }.sends(),
            Algorithm::Tree => Tree { n, bytes }.sends(),
            Algorithm::HalvingDoubling => HalvingDoubling { n, bytes }.sends(),
        }
    }
}

impl Application for AllReduce {
    fn resolve(mut self, cluster: &Cluster) -> Result<AllReduce, Refusal> {
        let hosts = self.placement.hosts(self.hosts, 2, cluster)?.len() as u32;
        self.hosts = Some(hosts);
        check::count("chunks", self.chunks as u64, 1 << 20)?;
        check::count("iterations", self.iterations as u64, 1 << 30)?;
        check::bytes("bytes", self.bytes, self.chunks as u64 * hosts as u64)?;
        Ok(self)
    }

    fn extent(&self, _: &Cluster) -> Extent {
        let once = rounds::extent(self.sends()).times(self.chunks as u64);
        iterations(once, self.iterations)
    }

    fn build(&self, site: &mut Site) -> Vec<Node> {
        let hosts = self.placement.hosts(self.hosts, 2, site.cluster);
        let hosts = hosts.expect("a resolved placement fits");
        iterate(self.iterations, self.compute, site.dag, |before, dag| {
            self.once(&hosts, before, dag)
        })
    }
}
