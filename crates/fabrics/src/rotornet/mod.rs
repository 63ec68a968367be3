//! RotorNet (Mellette et al., "RotorNet: A Scalable, Low-complexity, Optical Datacenter
//! Network", SIGCOMM 2017): rotor switches that turn through fixed matchings, without
//! demand, controller or central schedule.
//!
//! | file | the paper's mechanism |
//! |---|---|
//! | [`config`] | rotor switches, their matchings and slots; the paper's parameters |
//! | `entry` | the table put together with the kernel of [`crate::tdma`] |
//! | [`crate::tdma::rotorlb`], [`crate::tdma::shares`] | offers and acceptances of two-hop traffic |
//! | [`crate::tdma::relays`] | queues at relays, what crosses in a slot |
//! | [`crate::tdma::voq`], [`crate::tdma::burst`] | queues at sources, what a slot carries |
//!
//! A rack has one uplink to each switch. The N - 1 matchings in which every rack sends to
//! the one so many places after it are dealt to the switches in turn, which step together:
//! a cycle has ⌈(N - 1) / S⌉ slots, in each of which a rack meets S others. In the last
//! some switches may idle.
//!
//! With C bytes a slot and an uplink, uniform traffic without end gets (N - 1) C a rack and
//! cycle, the duty cycle where S divides N - 1. If every rack sends to one other alone, it
//! gets C without relays, and N C / 2 with them: C directly; and the N - 2 other slots are
//! used, for whatever permutation, by a first hop and a second hop in equal parts. For a
//! slot from a to x in which r bytes are delivered takes C - r bytes to x, whatever it
//! carried before has been delivered since: so on average over the slots that feed each
//! other, which form rings, each is half first hops. Where S divides N that is half of the
//! duty cycle exactly.
//!
//! Assumed where the paper is silent: matchings are cyclic, and so circuits directed (the
//! paper's are pairs, joined both ways, which differ in nothing that is modelled but in who
//! meets whom when); what a relay holds goes before its own traffic to that rack; shares
//! are fair to the byte, so that what is relayed may end in a short packet; relays are
//! asked in turn, each slot beginning with another; traffic that comes during a slot leaves
//! directly in it, if the circuit is idle, and is offered when the next one begins.
//!
//! Not modelled: the messages of offers and acceptances, and the time that they take of
//! circuits; the packet-switched network for traffic that cannot wait; buffers that
//! overflow; links and racks that fail. A switch that is dead lights nothing from its next night on,
//! and all racks know it at once ([`crate::tdma::kernel`]).

pub mod config;
mod entry;
#[cfg(test)]
mod tests;

pub use entry::ENTRY;
