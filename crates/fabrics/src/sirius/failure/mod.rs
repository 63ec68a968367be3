//! What fails, what nodes do about it, and what is lost meanwhile (§4.5).
//!
//! - `injection`: parts fail and are repaired;
//! - [`faults`], `light`: what is broken, and the fate of cells that go through it;
//! - `detection`: when who knows;
//! - `avoidance`, [`avoid`]: whom nobody asks, and which requests and grants are lost;
//! - `recovery`, `retransmission`: what is called back, parked, and sent again.

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
