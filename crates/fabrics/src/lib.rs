//! The fabrics of Lightloom: one folder each, one line each in the [`registry`].

pub mod butterfly;
pub mod contract;
pub mod cthrough;
pub mod devices;
pub mod electrical;
pub mod entrance;
pub mod facts;
pub mod hosts;
pub mod hybrid;
pub mod hydra;
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
pub use facts::{Derived, Facts, Framing, Part, Unjoined};
pub use physics::{Obeyed, Physics, Term};
pub use registry::{find, REGISTRY};
