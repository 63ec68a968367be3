//! RotorNet (Mellette et al., "RotorNet: A Scalable, Low-complexity, Optical Datacenter Network",
//! SIGCOMM 2017): rotor switches that rotate through fixed matchings, without demand, controller or
//! central schedule.
//!
//! | file | the paper's mechanism |
//! |---|---|
//! | [`config`] | rotor switches, their matchings and slots; the paper's parameters |
//! | `slots` | all switches step to their next matching at the same time; direct traffic and second hops are sent first, then first hops |
//! | [`crate::tdma::rotor::bulk`] | queues at sources and at relays, and the bytes that a circuit takes from them |
//! | [`crate::tdma::rotor::rotorlb`], [`crate::tdma::rotor::shares`] | RotorLB: offers and acceptances of two-hop traffic, fair shares |
//! | [`crate::tdma::rotor::relays`] | granted first hops, bytes that cross in a slot, contents of relays |
//! | [`crate::tdma::rotor::per_host`] | RotorLB per host, as Opera's authors simulate it |
//! | [`crate::tdma::rotor::failures`] | rotor switches that fail |
//! | [`crate::tdma::voq`], [`crate::tdma::burst`] | a queue for each destination rack; the bytes of a slot, in closed form |
//! | `kernel` | the state, and the events that call all of the above |
//! | `reports`, `entry` | statistics; the table combined with the kernel |
//!
//! A path through the code: `slots::begin_slot` ends the days of all lines, moves bytes that
//! crossed into the queues of relays (`gather`), changes every switch (`step_to_next_matching`) and
//! divides the rest of the slot (`relay`). A flow that arrives within a slot starts in `kernel`
//! (`enter`).
//!
//! A rack has one uplink to each switch. The N - 1 matchings, in each of which every rack sends to
//! the rack at a fixed distance after it, are assigned to the switches in turn. The switches step
//! together: a cycle has ⌈(N - 1) / S⌉ slots, in each of which a rack is connected to S others. In
//! the last slot some switches may be idle.
//!
//! Let C be the bytes per slot and uplink. Saturated uniform traffic gets (N - 1) C per rack and
//! cycle, which is the duty cycle if S divides N - 1. If every rack sends to only one other rack,
//! it gets C without relays and N C / 2 with them, for any permutation: C directly, and the other
//! N - 2 slots are divided equally between first and second hops. The reason: a slot from a to x
//! that delivers r relayed bytes takes C - r new bytes to x, because all bytes that it took in the
//! cycle before have been delivered. Slots that feed each other form rings; on average over a ring,
//! half of each slot is therefore first hops. If S divides N, this is exactly half of the duty
//! cycle.
//!
//! Assumed where the paper is silent: matchings are cyclic, so circuits are directed (the paper's
//! matchings connect pairs in both directions; in this model only the order of the pairs differs);
//! a relay sends relayed bytes before its own traffic to the same rack; shares are fair to the
//! byte, so relayed bytes may end in a short packet; relays are served in turn, and each slot
//! starts with another one; traffic that arrives during a slot leaves directly in it if the circuit
//! is idle, and is offered to relays when the next slot begins.
//!
//! Not modelled: the messages of offers and acceptances, and the circuit time that they take; the
//! packet-switched network for urgent traffic; buffers that overflow; failures of links and racks.
//! A failed switch lights nothing from its next night on, and all racks detect it at once
//! ([`crate::tdma::rotor::failures`]).

pub mod config;
mod entry;
pub mod kernel;
mod reports;
mod slots;
#[cfg(test)]
mod tests;

pub use entry::ENTRY;
