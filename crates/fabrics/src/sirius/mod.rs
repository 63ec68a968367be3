//! Sirius: a flat optical fabric with nanosecond switching
//! (Ballani et al., SIGCOMM 2020).
//!
//! Nodes (racks or servers) hang on passive gratings; tunable lasers choose
//! the destination slot by slot on a fixed cyclic schedule, and Valiant load
//! balancing turns any traffic into the uniform traffic that the schedule
//! serves. Top down:
//!
//! - [`topology`], [`plan`]: who meets whom, by which grating and wavelength (§4.1);
//! - [`kernel`]: a slot, step by step; [`shard`], `sending`, `receiving`: the same
//!   for a range of nodes;
//! - [`requests`], [`grants`], [`book`]: the congestion control (§4.3, A.3);
//! - [`ideal`]: the kernel without one (§7);
//! - [`local`], [`by_slot`] or [`lines`], [`reorder`]: the queues that a [`cell`] goes
//!   through, and [`mail`] between them; [`meetings`]: when it leaves;
//!   `accepting`: a grant moves it from the first to the second; `chunked`: what the
//!   second keeps its cells in;
//! - [`bypass`]: traffic within a rack;
//! - [`servers`], `serving`: links of servers that have a rate of their own;
//! - `faults`, `recovery`, `schedules`: what breaks, what nodes do about it, and the
//!   schedules that they agree on (§4.5);
//! - `reference` (tests): all of it once more, as plainly as it can be put, and the rule by
//!   which of several cells that reach a node in the same slot one goes first.
//!
//! *Not modelled*: bit errors outside fault injection, drift of lasers and clocks
//! (the guardband stands for both), the credit protocol between servers and their
//! rack switch, different fibre lengths (one propagation delay for all pairs).

pub mod cell;
pub mod config;
mod entry;
mod failure;
pub mod ideal;
pub mod kernel;
mod limits;
mod partition;
mod prefetch;
mod protocol;
#[cfg(test)]
mod reference;
mod relay;
pub mod schedule;
mod servers;
pub mod shard;
#[cfg(test)]
mod tests;

pub use entry::ENTRY;
