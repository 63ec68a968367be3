//! Doubts about the figures of a run that ended: traffic for which a fabric's model is inaccurate,
//! and tables that give it less capacity than its paper has.
//!
//! A fabric derives them from its table, the flows and the figures of the run
//! ([`FabricConfig::doubts`](crate::FabricConfig::doubts)). Commands print them as notes.

use lightloom_engine::Cluster;
use serde::Serialize;

/// A doubt about the figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Doubt {
    /// The property of the run that causes it: `padding`.
    pub cause: &'static str,
    /// The measure of that property, such as a share of the bytes.
    pub value: f64,
    /// The doubt and its remedy, as a sentence without a full stop.
    pub text: String,
}

/// The doubts about a run; none unless the fabric derives them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Doubts {
    /// Traffic for which the model is inaccurate.
    pub traffic: Vec<Doubt>,
    /// Capacity below that of the paper.
    pub capacity: Vec<Doubt>,
}

/// The flows and the figures of a run that ended.
#[derive(Clone, Copy, Debug)]
pub struct Ran<'a> {
    /// The source server of each flow.
    pub src: &'a [u32],
    /// The destination server of each flow.
    pub dst: &'a [u32],
    /// The size of each flow [B].
    pub bytes: &'a [u64],
    /// Delivered rate ÷ rate of all servers; `None` if it is not known.
    pub goodput: Option<f64>,
    /// Offered rate ÷ rate of all servers; `None` if the flows have no load.
    pub load: Option<f64>,
}

impl Ran<'_> {
    /// Source rack, destination rack and size [B] of each flow that leaves its rack.
    pub fn between_racks(
        &self,
        cluster: &Cluster,
    ) -> impl Iterator<Item = (u32, u32, u64)> + Clone + '_ {
        let servers = cluster.servers_per_rack;
        let racks = move |(&src, &dst): (&u32, &u32)| (src / servers, dst / servers);
        let pairs = self.src.iter().zip(self.dst).map(racks);
        let sized = pairs
            .zip(self.bytes)
            .map(|((src, dst), &size)| (src, dst, size));
        sized.filter(|(src, dst, _)| src != dst)
    }
}
