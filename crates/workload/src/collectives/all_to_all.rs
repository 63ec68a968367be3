//! All-to-all: every member has a block for every other, as for the experts of a
//! model or a transpose.

use super::{iterate, iterations, Exchange};
use crate::tasks::{check, Application, Extent, Placement, Site};
use lightloom_engine::{Bytes, Cluster, Node, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All-to-all: every server sends a block of data to every other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAll {
    /// Data of each server [B]: each of n servers sends 1/n of it to every other server and keeps
    /// 1/n.
    pub bytes: Bytes,
    /// Number of servers that take part. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// Selection of the servers: "first" (the default), "spread" or a list.
    #[serde(default)]
    pub placement: Placement,
    /// Order in which blocks are exchanged.
    #[serde(default)]
    pub exchange: Exchange,
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

impl Application for AllToAll {
    fn resolve(mut self, cluster: &Cluster) -> Result<AllToAll, Refusal> {
        let hosts = self.placement.hosts(self.hosts, 2, cluster)?.len() as u32;
        self.hosts = Some(hosts);
        check::bytes("bytes", self.bytes, hosts as u64)?;
        check::count("iterations", self.iterations as u64, 1 << 30)?;
        Ok(self)
    }

    fn extent(&self, _: &Cluster) -> Extent {
        let n = self.hosts.unwrap_or(2) as u64;
        iterations(self.exchange.extent(n), self.iterations)
    }

    fn build(&self, site: &mut Site) -> Vec<Node> {
        let hosts = self.placement.hosts(self.hosts, 2, site.cluster);
        let hosts = hosts.expect("a resolved placement fits");
        let n = hosts.len() as u64;
        let block = |_, to: usize| check::part(self.bytes.0, n, to as u64);
        iterate(self.iterations, self.compute, site.dag, |before, dag| {
            self.exchange.build(&hosts, block, before, dag)
        })
    }
}
