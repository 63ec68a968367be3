//! The oversubscribed electrical tree: the baseline of hybrid fabrics, and their electrical
//! network.
//!
//! Two levels are the tree of c-Through §5.1: racks whose uplinks carry a part of their servers'
//! capacity (40:1, 10:1, 4:1). Three levels are the β-oversubscribed fat tree of HydRA §IV, in
//! which each level divides by √β. β = 1 is full bisection.
//!
//! | file | contents |
//! |---|---|
//! | [`config`] | β, levels and pods; times of packets beyond their bytes |
//! | [`crate::hybrid::tree`] | links and paths, shared with the hybrid networks |
//! | [`kernel`], `entry` | flows over them; the table combined with the kernel |
//!
//! Flows move at their max-min fair rates (flow kernel); the times of stored packets, propagation
//! and latency are added. Links and switches above the racks can fail
//! ([`crate::electrical::failures`]). Not modelled: queues, transport protocols, collisions of
//! hashed paths (multipath routing is ideal: all parallel paths are one link), partial failures,
//! broadcast.

pub mod config;
mod entry;
pub mod kernel;
#[cfg(test)]
mod tests;

pub use entry::ENTRY;
