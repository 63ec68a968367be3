//! The parts of jobs of all kinds: a graph of tasks on servers.

pub(crate) mod check;
mod extent;
mod placement;

pub(crate) use extent::Extent;
pub use placement::Placement;

use lightloom_engine::{Cluster, Dag, Node, Refusal, Stream};

/// The flows of a kind of job.
pub(crate) trait Application: Sized {
    /// Fills in defaults that depend on the cluster, and refuses invalid values by the keys of the
    /// job's own table.
    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal>;

    /// Upper limits of its nodes and edges; the job must be resolved.
    fn extent(&self, cluster: &Cluster) -> Extent;

    /// The number of jobs that it consists of, besides itself.
    fn parts(&self) -> u64 {
        0
    }

    /// Adds its tasks; returns the tasks after which it is done.
    fn build(&self, site: &mut Site) -> Vec<Node>;
}

/// The context in which a job is built.
pub(crate) struct Site<'a> {
    pub dag: &'a mut Dag,
    pub cluster: &'a Cluster,
    /// The random stream of the job.
    pub rng: Stream,
    /// The job's name.
    pub name: &'a str,
    /// The barrier at which the job begins.
    pub begin: Option<Node>,
}
