//! The flattened butterfly: an electrical packet network of high-radix routers
//! (Kim, Dally and Abts, "Flattened Butterfly: A Cost-Efficient Topology for
//! High-Radix Networks", ISCA 2007), the baseline of LIONS (Yin et al., JSTQE 2013,
//! §IV).
//!
//! A host's packet is divided into flits, which enter a buffer of its router: one of the *virtual
//! channels* of that input. There the packet is routed and allocated a virtual channel of its
//! output. Its flits cross the switch one by one if there are *credits*, which stand for space in
//! the buffer at the other end of the wire. A credit returns for every flit that leaves a buffer.
//!
//! | file | contents |
//! |---|---|
//! | [`config`], `limits`, `entry` | the table, and its limits; the table combined with the kernel |
//! | [`topology`] | the wiring of the routers |
//! | [`network`], [`flit`], `chains` | the state; a flit, and the numbering of channels; packets in buffers |
//! | [`hosts`], [`packets`], [`lines`] | senders, packets, and wires |
//! | [`routing`] | dimension order, Valiant, UGAL, and the reason for freedom from deadlock; `route_rule`: the parameters of routing |
//! | `allocation` | allocation of virtual channels and of the switch |
//! | `transfer`, `injection` | flits and credits that arrive and leave |
//! | `output_queues` | flits behind a switch with a speedup |
//! | [`kernel`], `counters` | the cycles of the network; its counters |
//! | [`bound`] | the bounds against which tests check the kernel |
//!
//! Packets that wait at hosts are in [`crate::hosts`].
//!
//! - Routers and hosts share a clock; a cycle is the time of a flit at the line rate. A wire and a
//!   pipeline together take whole cycles, rounded up. A packet that arrives at a host within a
//!   cycle waits for the next cycle.
//! - A packet may take a virtual channel as soon as the last flit of the packet before it has been
//!   sent there; that flit need not have left the buffer.
//! - `hops` are the routers visited, 1 between hosts of one router. `packet_hops` and `cell_hops`
//!   count crossings of routers by packets and by flits; a hop is a router, so the links of hosts
//!   are not counted.
//! - Queues are counted in flits, with header and padding, after the pipeline. Packets of a flow
//!   may overtake each other; the bytes that wait at hosts for reordering are not tracked, so
//!   `reorder_peak_bytes` is null.
//!
//! The papers state the wiring and its lengths, the packets and the rate (LIONS §IV), but nothing
//! about the routers. The values of the presets and defaults for routers are assumptions.
//!
//! Not modelled: link errors, failures, multicast, priorities, serial coding of wires, and router
//! clocks slower than those of links.

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
