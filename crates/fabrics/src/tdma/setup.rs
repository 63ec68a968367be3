//! Parameters that all networks with slots share.

use super::burst::Wire;
use super::servers::ServerLinks;
use crate::discipline::Discipline;
use crate::overheads::Overheads;
use lightloom_control::schedule::Schedule;
use lightloom_engine::{Cluster, Rate, Time};
use std::sync::Arc;

/// Racks, planes of switches, and the links between them.
pub struct Setup {
    /// Racks and servers.
    pub cluster: Cluster,
    /// Order in which servers' links serve flows.
    pub discipline: Discipline,
    /// The schedule that each plane of switches follows from the start; without one it waits
    /// for its controller.
    pub planes: Vec<Option<Arc<Schedule>>>,
    /// The rate of a circuit.
    pub link_rate: Rate,
    /// The rate and packet size at which racks send over a circuit, not faster than its link.
    pub wire: Wire,
    /// Delay from one rack to another, over a circuit or a packet switch, including the rack switch
    /// there.
    pub propagation: Time,
    /// The overheads of packets. Their delay is only the part that `propagation` does not include.
    pub overheads: Overheads,
}

/// The approximate memory for this number of racks, servers and flows [B].
pub fn memory(racks: u64, hosts: u64, flows: u64) -> u64 {
    let (server, flow) = ServerLinks::BYTES;
    // Queues, demand, and the matrices of policies.
    racks * racks * (16 + 48) + hosts * (64 + server) + flows * (24 + flow)
}
