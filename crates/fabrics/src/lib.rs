//! The fabrics of Lightloom: one folder each, one line each in the [`registry`].

pub mod electrical;
mod memory;
pub mod registry;
pub mod sirius;

pub use registry::{find, Entry, FabricConfig, Preset, Site, REGISTRY};
