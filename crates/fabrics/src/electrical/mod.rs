//! Electrical networks: the baselines for optical fabrics.
//!
//! `clos` is the three-tier folded Clos of Sirius §7: racks, pods of racks below aggregation
//! switches, a core. Its transport is idealised and an upper bound on any electrically switched
//! design. Every switch has a queue per flow, serves the queues round robin packet by packet, holds
//! a flow back while its queue at the next switch is full, and sprays packets over all paths. The
//! parallel links between two groups of switches are therefore one *station*: several links and one
//! ring of flows, served by any free link.
//!
//! | file | the paper's part |
//! |---|---|
//! | [`layout`] | tiers, pods and bundles; stations, and the paths over them |
//! | [`kernel`] | packets, round robin and back-pressure |
//! | [`columns`] | the queues of a station, and the packets of a flow in them |
//! | [`flows`] | the same network with max-min rates |
//! | [`failures`] | failures of links and switches |
//! | [`config`], `entry` | oversubscription, rates and delays; the table combined with the kernel |
//! | [`bound`] | the least time that a flow can take |
//!
//! - Back-pressure takes effect without delay; packets that are on links when a queue fills still
//!   join it.
//! - A switch stores a packet completely before it forwards it.
//! - A packet that finds an idle link does not wait. Queues, and the reported peak (that of the
//!   largest station), contain only waiting packets, without those at their sources.
//! - The links of a station have one rate, so full packets of a flow stay in order; only its short
//!   last packet can overtake others. The reorder peak is the largest such packet that arrived
//!   early.
//! - With uncapped server NICs a flow between servers of one rack is complete after the time of its
//!   bytes at the rack rate; such flows do not share. With capped NICs it passes the links of both
//!   servers, which are shared fairly.
//! - `hops` of a flow counts links between switches; `packet_hops` every
//!   transmission, over servers' links too.
//! - Ports are links: each has one transmitter and one receiver with the same number.
//!
//! The place of a 3:1 oversubscription is a choice (`oversubscription_at`). Between aggregation and
//! core, the default reading of Sirius §7, traffic within a pod is not restricted: with 8 pods of
//! 16 racks, uniform traffic fits up to a load of 1/3 ÷ 0.875 = 0.38, and a rack may send bursts at
//! its full rate while its pod is idle. Between racks and aggregation, uniform traffic fits up to
//! 0.34, and every rack is limited to a third of its rate even if all others are idle, so short
//! flows take longer at any load. For the workload of Sirius §7 (128 racks, 200,000 flows, nominal
//! mean, one seed; `tests/speed.rs`):
//!
//! | load | non-blocking | 3:1 `aggregation-core` | 3:1 `rack` | |
//! |---|---|---|---|---|
//! | 0.1 | 2.6 | 2.6 | 7.5 | short flows' p99 in µs |
//! | 0.5 | 3.6 | 3.7 | 20 | |
//! | 1.0 | 5.0 | 14 | 78 | |
//! | 1.0 | 0.39 | 0.35 | 0.29 | goodput ÷ server rate |
//!
//! `detail = "flows"` replaces packets by max-min rates: see [`flows`].
//!
//! Links between switches and switches above the racks can fail: see [`failures`].
//!
//! Not modelled: partial (grey) failures and their detection, ECMP and its collisions, transport
//! protocols, losses, delay of back-pressure, and switches and cables within a station (no part of
//! a bundle can be overloaded while the rest is idle).
//!
//! Oversubscribed trees are [`crate::tree`], the flattened butterfly is
//! [`crate::butterfly`].

pub mod bound;
pub mod columns;
pub mod config;
mod entry;
pub mod failures;
pub mod flows;
pub mod kernel;
pub mod layout;
#[cfg(test)]
mod tests;

pub use entry::ENTRY;
