//! The parts of jobs of all kinds: a graph of tasks on servers.

pub(crate) mod check;
mod extent;
mod placement;

pub(crate) use extent::Extent;
pub use placement::Placement;

use lightloom_engine::{Cluster, Dag, Node, Refusal, Stream};

/// The flows of a kind of job.
pub(crate) trait Application: Sized {
    /// Fills in what depends on the cluster, and refuses what cannot run, by
    /// the keys of the job's own table.
    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal>;

    /// Nodes and edges of its graph, at most; it is resolved.
    fn extent(&self, cluster: &Cluster) -> Extent;

    /// Names of the jobs that it consists of, beside its own.
    fn parts(&self) -> u64 {
        0
    }

    /// Adds its tasks; returns those with which it is done.
    fn build(&self, site: &mut Site) -> Vec<Node>;
}

/// Where a job is built.
pub(crate) struct Site<'a> {
    pub dag: &'a mut Dag,
    pub cluster: &'a Cluster,
    /// A stream of the job's own.
    pub rng: Stream,
    /// The job's name.
    pub name: &'a str,
    /// The barrier at which it begins.
    pub begin: Option<Node>,
}
