//! Failures, the reaction of the nodes, and the cells that are lost until then (§4.5).
//!
//! - `injection`: parts fail and are repaired;
//! - [`faults`], `light`: the broken parts, and the fate of cells that cross them;
//! - `detection`: when each node learns of a failure;
//! - `avoidance`, [`avoid`]: nodes that receive no requests to relay, and lost requests and grants;
//! - `recovery`, `retransmission`: cells that are called back, parked and retransmitted.

pub(crate) mod avoid;
mod avoidance;
mod detection;
pub(crate) mod faults;
mod injection;
mod light;
mod recovery;
mod retransmission;
#[cfg(test)]
mod tests;
