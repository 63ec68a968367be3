//! Opera (Mellette et al., "Expanding across time to deliver bandwidth efficiency and low latency",
//! NSDI 2020): rotor switches that change one after another, so that the circuits of the other
//! switches form an expander at any time. Low-latency traffic crosses the expander at once; bulk
//! traffic waits for its direct circuit and uses no additional bandwidth.
//!
//! | file | the paper's mechanism |
//! |---|---|
//! | [`config`] | rotor switches, topology slices, the limit of low-latency flows; the published set-up; `schedules` assigns the matchings to the switches, `ahead` offsets their slots by one slice each |
//! | [`lightloom_control::algorithms::factorization`] | the complete graph as random matchings |
//! | `slices` | topology slices and offset reconfiguration: one switch reconfigures, all others stay lit; the expander of a slice has the circuits of these other switches |
//! | [`expander`] | the circuits of a slice as a network: distances, and the circuits on shortest paths |
//! | [`low_latency`] | low-latency packets: forwarded hop by hop over the expander, on a circuit that begins a shortest path |
//! | [`waiting`], [`low_latency::state`] | packets for which no circuit has room, at their racks; the state of low-latency traffic |
//! | `priority` | low-latency packets go before bulk: bulk on a circuit is interrupted between packets |
//! | `bulk` | bulk waits for its direct circuit, without a bandwidth tax; skewed bulk takes two hops |
//! | [`crate::tdma::rotor`] | RotorLB, the two-hop rule: offers, acceptances, queues at relays; per rack, or per host as the authors simulate it |
//! | [`crate::tdma::rotor::failures`] | rotor switches that fail, and the relays' behaviour without them |
//! | `kernel` | the state, and the events that call all of the above |
//! | `reports`, `entry` | statistics; the table combined with the kernel |
//!
//! A way through the code, for a low-latency flow: `kernel` (`arrive`, `enter`) → `low_latency`
//! (`forward`, which calls `update_expander` of `slices`, then `choose_plane` and `send_packet` for
//! each packet; `hop`). For bulk: `bulk` (`queue_bulk`) → `priority` (`schedule_bulk`,
//! `advance_line`, `send_bulk`) → `serve` and `drain` in `sending` of [`crate::tdma::rotor`]. For a slice:
//! `slices` (`reconfigure`) → `bulk` (`plan_detours`; `gather`, when bytes have arrived at their
//! relays).
//!
//! In the code a *plane* is one of the switches with its circuits, a *line* the circuit of one rack
//! on one plane; a *slot* is the time for which a switch keeps a matching, its night included.
//!
//! N racks have an uplink to each of u switches. The N - 1 matchings of the complete graph (N for
//! an odd N: one rack is idle in each) are shuffled and dealt to the switches in turn. Time is divided into
//! slices: in slice k, switch k mod u takes no new low-latency traffic (`drain`), so that no packet
//! is lost in its night. In the last part of the slice it reconfigures and is dark; at the start of the
//! next slice its new circuits are lit. A switch therefore keeps a matching for u slices and is
//! dark for one reconfiguration: the duty cycle of bulk traffic is 1 - night ÷ (u slices). Because
//! u - 1 switches take low-latency traffic, each rack has u - 1 circuits at any time; it has fewer
//! in a slot in which a switch has no matching left, or the rack is idle in its matching.
//!
//! Assumed where the paper is silent:
//!
//! - Bulk traffic uses a circuit until its night. A packet in transmission is not interrupted.
//! - At each rack, a low-latency packet chooses randomly among the circuits that begin a shortest
//!   path and have room, that is, less than eight full packets in their queue. If none has room,
//!   the packet waits at its rack; the paper's transport, NDP, would trim it and retransmit it.
//!   Waiting packets take the first circuit with room, in order of switches.
//! - At the rack of their source waiting flows take turns (`waiting`); in NDP a flow has about 20
//!   outstanding packets.
//! - A bulk packet in transmission counts in that limit; bulk that waits does not.
//! - Bytes that cross to a relay arrive there one propagation delay after the switch has changed.
//!   RotorLB is run once per slot and switch, at the start of the slot: it does not count the bytes
//!   that this switch carried to relays in the slot before.
//!
//! Not modelled: NDP's congestion control, headers and pulls; the messages of RotorLB; groups of
//! switches that change at the same time (the paper's method for many switches); failures of links
//! and racks; the hello messages by which racks detect failures. All racks detect a failed switch
//! at once, and it lights nothing from its next night on.

mod bulk;
pub mod config;
mod entry;
pub mod expander;
pub mod kernel;
pub mod low_latency;
mod priority;
mod reports;
mod slices;
#[cfg(test)]
mod tests;
pub mod waiting;

pub use entry::ENTRY;
