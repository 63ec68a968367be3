//! RotorNet (Mellette et al., "RotorNet: A Scalable, Low-complexity, Optical Datacenter
//! Network", SIGCOMM 2017): rotor switches that turn through fixed matchings, without
//! demand, controller or central schedule.
//!
//! | file | the paper's mechanism |
//! |---|---|
//! | [`config`] | rotor switches, their matchings and slots; the paper's parameters |
//! | `slots` | all switches step to their next matching at once; direct traffic and second hops, then first hops |
//! | [`crate::tdma::rotor::bulk`] | queues at sources and at relays, and what a circuit takes of them |
//! | [`crate::tdma::rotor::rotorlb`], [`crate::tdma::rotor::shares`] | RotorLB: offers and acceptances of two-hop traffic, fair shares |
//! | [`crate::tdma::rotor::relays`] | first hops that were granted, what crosses in a slot, what relays hold |
//! | [`crate::tdma::rotor::per_host`] | RotorLB by hosts, as Opera's authors simulate it |
//! | [`crate::tdma::rotor::failures`] | rotor switches that fail |
//! | [`crate::tdma::voq`], [`crate::tdma::burst`] | a queue for each rack; what a slot carries, in closed form |
//! | `kernel` | the state, and the events that call all of the above |
//! | `reports`, `entry` | what is counted; the table put together with the kernel |
//!
//! A way through the code: `slots::begin_slot` ends the days of all lines, moves what crossed
//! into the queues of relays (`gather`), turns every switch (`step_to_next_matching`) and divides
//! the rest of the slot (`relay`). A flow that arrives within a slot: `kernel` (`enter`).
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
//! Assumed where the paper is silent: matchings are cyclic, and so circuits are directed (the
//! paper's are pairs, joined both ways; of all that is modelled, only the order of the pairs
//! differs); a relay sends the bytes that it holds before its own traffic to that rack; shares are
//! fair to the byte, so relayed bytes may end in a short packet; relays are asked in turn, each
//! slot beginning with another; traffic that arrives during a slot leaves directly in it, if the
//! circuit is idle, and is offered when the next one begins.
//!
//! Not modelled: the messages of offers and acceptances, and the time that they take of
//! circuits; the packet-switched network for traffic that cannot wait; buffers that
//! overflow; links and racks that fail. A switch that has failed lights nothing from its next night
//! on, and all racks detect it at once ([`crate::tdma::rotor::failures`]).

pub mod config;
mod entry;
pub mod kernel;
mod reports;
mod slots;
#[cfg(test)]
mod tests;

pub use entry::ENTRY;
