//! The fabrics of Lightloom: one folder each, one line each in the [`registry`].
//!
//! | file | what it is |
//! |---|---|
//! | [`contract`], [`facts`], [`registry`] | what a fabric owes; what its table says before anything runs; the list of all |
//! | [`sirius`] | Sirius: gratings and tunable lasers, a fixed schedule |
//! | [`rotornet`], [`opera`], [`mordia`] | circuits of microseconds, which take turns: a kernel each |
//! | [`tdma`] | the parts that these three share |
//! | [`cthrough`], [`hydra`], [`hybrid`] | circuits of seconds beside an electrical tree: two papers' parameters of [`hybrid`], whose kernel it is |
//! | [`electrical`], [`tree`] | the baselines: folded Clos, oversubscribed tree |
//! | [`lions`], [`butterfly`] | packets over a grating; the flattened butterfly that it is compared with |
//! | [`physics`], [`overheads`], [`devices`] | what `[physics]` and optical devices set in a fabric's table |
//! | [`alone`] | what packets take of time that a fluid does not, where switches store them |
//! | [`findings`] | values of a table that limit its results |
//! | [`entrance`], [`hosts`], [`links`], [`discipline`] | what several fabrics have before their own parts: the rack switch, queues of hosts, links to them, the order in which these send |
//! | `ranges` | refusals that several fabrics word alike |
//! | `memory` | large columns |

pub mod alone;
pub mod butterfly;
#[cfg(test)]
mod cases;
pub mod contract;
pub mod cthrough;
pub mod devices;
pub mod discipline;
pub mod electrical;
pub mod entrance;
pub mod facts;
pub mod findings;
pub mod hosts;
pub mod hybrid;
pub mod hydra;
pub mod links;
pub mod lions;
mod memory;
pub mod mordia;
pub mod opera;
pub mod overheads;
pub mod physics;
mod ranges;
pub mod registry;
pub mod rotornet;
pub mod sirius;
pub mod tdma;
pub mod tree;

pub use contract::{Entry, FabricConfig, Memory, Preset, Site};
pub use discipline::Discipline;
pub use facts::{Derived, Facts, Framing, Part, Unjoined};
pub use findings::{Ended, Finding, JobFlow};
pub use physics::{Obeyed, Physics, Term};
pub use registry::{find, REGISTRY};
