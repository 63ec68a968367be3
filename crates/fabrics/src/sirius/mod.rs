//! Sirius.
pub mod plan;
pub mod topology;
