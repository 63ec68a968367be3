//! Opera (Mellette et al., "Expanding across time to deliver bandwidth efficiency and low
//! latency", NSDI 2020): rotor switches that turn one after another, so that the circuits
//! of the others are an expander at any moment. Low-latency traffic crosses that at once; bulk
//! waits for its direct circuit, and pays no tax of bandwidth.
//!
//! | file | the paper's mechanism |
//! |---|---|
//! | [`config`] | switches, topology slices, which flows are low-latency; the published set-up |
//! | `entry` | the table put together with the kernel of [`crate::tdma`] |
//! | [`lightloom_control::algorithms::factorization`] | the complete graph as random matchings |
//! | [`crate::tdma::expander`] | shortest paths over the circuits of a slice |
//! | [`crate::tdma::low_latency`] | low-latency traffic |
//! | [`crate::tdma::rotorlb`] | bulk that is skewed, over two hops |
//! | [`crate::tdma::kernel`] | staggered nights, bulk that waits, priority |
//!
//! N racks have an uplink to each of u switches. The N - 1 matchings of the complete graph
//! are dealt to the switches at random. Time has slices: in slice k switch k mod u is about
//! to turn. It takes no low-latency traffic any more, so that none is caught; in the last
//! part of the slice, the reconfiguration, it is dark; and with the next slice its next
//! circuits are lit. So a switch stays u slices with a matching, of which it is dark for one
//! reconfiguration: the duty cycle of bulk is 1 - night ÷ (u slices). With u - 1 switches
//! that take low-latency traffic there are u - 1 circuits at each rack at any moment; fewer
//! in a slot in which switches have no matching left, or the rack none in it.
//!
//! Assumed where the paper is silent: bulk uses a circuit until its night; low-latency
//! packets choose by chance among the shortest paths of the moment, anew at each rack; what
//! finds eight packets before it waits at its rack, where the paper's transport, NDP, trims
//! it and sends it again; at the rack of their source the flows that wait take turns (`waiting`),
//! where NDP has some 20 packets of a flow outstanding; what crosses to a relay is there when the switch turns; a packet
//! that a circuit is sending is not interrupted; what
//! RotorLB has to offer is asked once a slot and switch, when it begins.
//!
//! Not modelled: NDP's congestion control, headers and pulls; the messages of RotorLB;
//! groups of switches that turn at once (the paper's way to many switches); links and
//! racks that fail. A switch that is dead lights nothing from its next night on.

pub mod config;
mod entry;
#[cfg(test)]
mod tests;

pub use entry::ENTRY;
