//! The flattened butterfly: an electrical packet network of high-radix routers
//! (Kim, Dally and Abts, "Flattened Butterfly: A Cost-Efficient Topology for
//! High-Radix Networks", ISCA 2007), the baseline of LIONS (Yin et al., JSTQE 2013,
//! §IV).
//!
//! A host's packet is cut into flits, which enter a buffer of its router: one of
//! the *virtual channels* of that input. There the packet is routed, wins a virtual
//! channel of its output, and its flits cross the switch one by one, as far as there
//! are *credits* for room in the buffer at the other end of the wire; a credit goes
//! back for every flit that leaves a buffer.
//!
//! | file | |
//! |---|---|
//! | [`config`], `limits`, `entry` | the table, and what is refused; put together with the kernel |
//! | [`topology`] | which router is wired to which |
//! | [`network`], [`flit`], `chains` | the state; a flit, and how places are numbered; packets in buffers |
//! | [`hosts`], [`packets`], [`lines`] | senders, packets, and wires |
//! | [`routing`] | dimension order, Valiant, UGAL, and why there is no deadlock; `route_rule`, the parameters of routing |
//! | `allocation` | allocation of virtual channels and of the switch |
//! | `transfer`, `injection` | flits and credits that arrive and leave |
//! | `output_queues` | flits behind a switch with a speedup |
//! | [`kernel`], `counters` | the cycles of the network; its counters |
//! | [`bound`] | the bounds against which tests check the kernel |
//!
//! Packets that wait at hosts are in [`crate::hosts`].
//!
//! - Routers and hosts share a clock, a flit at the line rate; a wire and a
//!   pipeline take whole cycles, rounded up together. A packet that comes to a host
//!   within a cycle waits for the next.
//! - A packet may take a virtual channel as soon as the last flit of the one before
//!   has been sent there; it need not have left the buffer.
//! - `hops` are routers visited, 1 between hosts of one router. `packet_hops` and
//!   `cell_hops` count crossings of routers by packets and by flits: a hop is a
//!   router, so hosts' own links are not counted.
//! - Queues are counted in flits, header and padding included, once they are
//!   through the pipeline. Packets of a flow may overtake each other; how much waits
//!   for its turn at hosts is not tracked: `reorder_peak_bytes` is null.
//!
//! The papers at hand give the wiring and its lengths, the packets and the rate
//! (LIONS §IV) and nothing of the routers: what the presets and defaults have of
//! those is our assumption.
//!
//! Not modelled: errors on links, failures, multicast, priorities, wires' serial
//! coding, slower clocks than the links'.

mod allocation;
pub mod bound;
mod chains;
pub mod config;
mod counters;
mod entry;
pub mod flit;
pub mod hosts;
mod injection;
pub mod kernel;
mod limits;
pub mod lines;
pub mod network;
mod output_queues;
pub mod packets;
mod route_rule;
pub mod routing;
#[cfg(test)]
mod tests;
pub mod topology;
mod transfer;

pub use entry::ENTRY;
