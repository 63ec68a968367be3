//! A MapReduce sort (c-Through §6.2): it shuffles and writes as many bytes as it reads.

use super::hadoop::{Hadoop, MapReduce, Runner};
use crate::tasks::{check, Application, Extent, Placement, Site};
use lightloom_engine::{Bytes, Cluster, Node, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A MapReduce sort: every byte is read, shuffled and written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sort {
    /// Bytes to sort [B] (c-Through §6.2: 10 GB of random data).
    pub data: Bytes,
    /// Number of servers of the Hadoop cluster. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// Selection of the servers: "first" (the default), "spread" or a list.
    pub placement: Placement,
    /// Number of reduce tasks. Default: the number of reduce slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reducers: Option<u32>,
    /// Settings of the Hadoop cluster.
    pub hadoop: Hadoop,
}

impl Default for Sort {
    fn default() -> Sort {
        Sort {
            data: Bytes(10_000_000_000),
            hosts: None,
            placement: Placement::First,
            reducers: None,
            hadoop: Hadoop::default(),
        }
    }
}

impl Sort {
    fn job(&self) -> MapReduce {
        MapReduce {
            input: self.data.0,
            keep_map: 1.0,
            keep_reduce: 1.0,
            reducers: self.reducers.unwrap_or(1),
        }
    }
}

impl Application for Sort {
    fn resolve(mut self, cluster: &Cluster) -> Result<Sort, Refusal> {
        check::bytes("data", self.data, 1)?;
        let hosts = self.placement.hosts(self.hosts, 1, cluster)?.len() as u32;
        self.hosts = Some(hosts);
        check::within("hadoop", self.hadoop.check(hosts))?;
        let slots = hosts as u64 * self.hadoop.reduce_slots as u64;
        let reducers = self.reducers.map_or(slots, u64::from);
        check::count("reducers", reducers, u32::MAX as u64)?;
        self.reducers = Some(reducers as u32);
        Ok(self)
    }

    fn extent(&self, _: &Cluster) -> Extent {
        self.job().extent(&self.hadoop) + Extent::job(self.job().reducers as u64)
    }

    fn build(&self, site: &mut Site) -> Vec<Node> {
        let hosts = self.placement.hosts(self.hosts, 1, site.cluster);
        let hosts = hosts.expect("a resolved placement fits");
        Runner::new(&self.hadoop, &hosts).run(&self.job(), &[], site)
    }
}
