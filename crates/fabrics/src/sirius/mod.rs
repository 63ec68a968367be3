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
//! - [`local`], [`departures`] or [`lines`], [`reorder`]: the queues that a [`cell`] goes
//!   through, and [`mail`] between them; [`meetings`]: when it leaves;
//!   `accepting`: a grant moves it from the first to the second; `chunked`: what the
//!   second keeps its cells in;
//! - [`bypass`]: traffic within a rack;
//! - [`servers`], `serving`: links of servers that have a rate of their own;
//! - `faults`, `recovery`, `eras`: what breaks, what nodes do about it, and the
//!   schedules that they agree on (§4.5);
//! - `reference` (tests): all of it once more, as plainly as it can be put, and the rule by
//!   which of several cells that reach a node in the same slot one goes first.
//!
//! *Not modelled*: bit errors outside fault injection, drift of lasers and clocks
//! (the guardband stands for both), the credit protocol between servers and their
//! rack switch, different fibre lengths (one propagation delay for all pairs).

mod accepting;
pub mod book;
pub mod bypass;
pub mod cell;
mod checks;
mod chunked;
pub mod config;
pub mod departures;
mod entry;
mod eras;
#[cfg(test)]
mod failure_tests;
mod faults;
pub mod grants;
pub mod ideal;
mod idle;
pub mod kernel;
mod lanes;
pub mod lines;
mod lists;
pub mod local;
pub mod mail;
pub mod meetings;
pub mod plan;
mod prefetch;
#[cfg(test)]
mod protocol_tests;
pub mod queued;
mod receiving;
mod recovery;
#[cfg(test)]
mod reference;
pub mod reorder;
pub mod requests;
mod retired;
mod sending;
#[cfg(test)]
mod server_tests;
pub mod servers;
mod serving;
pub mod shard;
pub mod switches;
pub mod topology;

pub use entry::ENTRY;
