//! The fabrics of Lightloom: one folder each, one line each in the [`registry`].
//!
//! | file | contents |
//! |---|---|
//! | [`contract`], [`facts`], [`registry`] | the interface of a fabric; facts that follow from its table before the run; the list of all fabrics |
//! | [`sirius`] | Sirius: gratings and tunable lasers, a fixed schedule |
//! | [`rotornet`], [`opera`], [`mordia`] | circuits of microseconds that take turns: one kernel each |
//! | [`tdma`] | the parts that these three share |
//! | [`cthrough`], [`hydra`], [`hybrid`] | circuits of seconds with an electrical tree: [`hybrid`] has the kernel, the other two the parameters of two papers |
//! | [`electrical`], [`tree`] | the baselines: folded Clos, oversubscribed tree |
//! | [`lions`], [`butterfly`] | packets over a grating; the flattened butterfly, with which it is compared |
//! | [`physics`], [`overheads`], [`devices`] | keys of a fabric's table that `[physics]` and optical devices set |
//! | [`alone`] | the time that packets take beyond a fluid model, if switches store them |
//! | [`findings`], [`doubts`] | values of a table that limit its results; doubts about the figures of a run |
//! | [`emulation`] | how a testbed emulates a fabric |
//! | [`entrance`], [`hosts`], [`links`], [`discipline`] | parts that several fabrics have in front of their own: the rack switch, queues of hosts, links to them, their order of service |
//! | `ranges` | refusals that several fabrics share |
//! | `memory` | large columns |

pub mod alone;
pub mod butterfly;
#[cfg(test)]
mod cases;
pub mod contract;
pub mod cthrough;
pub mod devices;
pub mod discipline;
pub mod doubts;
pub mod electrical;
pub mod emulation;
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
pub use doubts::{Doubt, Doubts, Ran};
pub use emulation::{Emulation, Plane};
pub use facts::{Derived, Facts, Framing, Part, Unjoined};
pub use findings::{Ended, Finding, JobFlow};
pub use physics::{Obeyed, Physics, Term};
pub use registry::{find, REGISTRY};
