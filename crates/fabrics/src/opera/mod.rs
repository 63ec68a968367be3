//! Opera (Mellette et al., "Expanding across time to deliver bandwidth efficiency and low
//! latency", NSDI 2020): rotor switches that turn one after another, so that the circuits
//! of the others are an expander at any moment. Low-latency traffic crosses that at once; bulk
//! waits for its direct circuit, and pays no tax of bandwidth.
//!
//! | file | the paper's mechanism |
//! |---|---|
//! | [`config`] | rotor switches, topology slices, which flows are low-latency; the published set-up |
//! | [`lightloom_control::algorithms::factorization`] | the complete graph as random matchings, which are dealt to the switches |
//! | `slices` | topology slices and offset reconfiguration: one switch reconfigures, all others stay lit; the circuits that make the expander of a slice, without those of the switch that reconfigures in it |
//! | [`expander`] | the circuits of a slice as a network: distances, and the circuits on shortest paths |
//! | [`low_latency`] | low-latency packets: forwarded hop by hop over the expander, over one of the shortest paths by chance |
//! | [`waiting`], [`low_latency::state`] | packets for which no circuit has room, at their racks; the state of low-latency traffic |
//! | `priority` | low-latency packets go before bulk: bulk on a circuit is interrupted between packets |
//! | `bulk` | bulk waits for its direct circuit, without a tax of bandwidth; skewed bulk takes two hops |
//! | [`crate::tdma::rotor`] | RotorLB, the two-hop rule: offers, acceptances, queues at relays; by racks, or by hosts as the authors simulate it |
//! | [`crate::tdma::rotor::failures`] | rotor switches that fail, and what relays do without them |
//! | `kernel` | the state, and the events that call all of the above |
//! | `reports`, `entry` | what is counted; the table put together with the kernel |
//!
//! A way through the code, for a low-latency flow: `kernel` (`arrive`, `enter`) → `low_latency`
//! (`forward`, `choose_plane`, which calls `update_expander` of `slices`; `send_packet`, `hop`). For bulk: `bulk` (`queue_bulk`) → `priority`
//! (`schedule_bulk`, `advance_line`, `send_bulk`). For a slice: `slices` (`reconfigure`) →
//! `bulk` (`plan_detours`), and once what crossed has arrived at its relays, `gather`.
//!
//! N racks have an uplink to each of u switches. The N - 1 matchings of the complete graph (N of an
//! odd N: one rack rests in each) are dealt to the switches at random. Time has slices: in slice k switch k mod u is about
//! to turn. It takes no low-latency traffic any more, so that none is caught; in the last
//! part of the slice, the reconfiguration, it is dark; and with the next slice its next
//! circuits are lit. So a switch stays u slices with a matching, of which it is dark for one
//! reconfiguration: the duty cycle of bulk is 1 - night ÷ (u slices). With u - 1 switches
//! that take low-latency traffic there are u - 1 circuits at each rack at any moment; fewer
//! in a slot in which switches have no matching left, or the rack none in it.
//!
//! Assumed where the paper is silent:
//!
//! - Bulk uses a circuit until its night. A packet that a circuit is sending is not interrupted.
//! - Low-latency packets choose by chance among the shortest paths of the moment, anew at each
//!   rack. A packet that finds eight packets before it waits at its rack, where the paper's
//!   transport, NDP, trims it and sends it again.
//! - At the rack of their source the flows that wait take turns (`waiting`), where NDP has some 20
//!   packets of a flow outstanding.
//! - Bytes that cross to a relay are there when the switch turns. RotorLB is asked once a slot and
//!   switch, when the slot begins.
//!
//! Not modelled: NDP's congestion control, headers and pulls; the messages of RotorLB;
//! groups of switches that turn at once (the paper's way to many switches); links and
//! racks that fail, and the hello messages by which racks detect failures: all racks detect a
//! failed switch at once, and it lights nothing from its next night on.

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
