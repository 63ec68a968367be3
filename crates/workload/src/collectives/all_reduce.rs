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

/// How an all-reduce proceeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Around a ring: 2 (n - 1) rounds of an n-th of the data.
    #[default]
    Ring,
    /// Up a binomial tree and down again: 2 ⌈log2 n⌉ rounds of all the data.
    Tree,
    /// Recursive halving and doubling: 2 log2 n rounds, as little data as the ring.
    HalvingDoubling,
}

/// Every server ends with the sum of everybody's data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllReduce {
    /// How it proceeds.
    #[serde(default)]
    pub algorithm: Algorithm,
    /// Data of each server, such as the gradients of a model.
    pub bytes: Bytes,
    /// Servers that take part; all that there are, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// The servers: "first" (the default), "spread" or a list; they are numbered in this order.
    #[serde(default)]
    pub placement: Placement,
    /// Chunks that the data is cut into; they follow each other through the rounds.
    #[serde(default = "one")]
    pub chunks: u32,
    /// Times that it is done, one after another.
    #[serde(default = "one")]
    pub iterations: u32,
    /// Computing on every server before each of them.
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
