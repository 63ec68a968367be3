//! Sirius: a flat optical fabric with nanosecond switching
//! (Ballani et al., SIGCOMM 2020).
//!
//! Nodes (racks or servers) hang on passive gratings; tunable lasers choose
//! the destination slot by slot on a fixed cyclic schedule, and Valiant load
//! balancing turns any traffic into the uniform traffic that the schedule
//! serves.
//!
//! # Map
//! | where | what |
//! |---|---|
//! | [`kernel`] | one slot: admit, request, grant, accept, transmit, receive |
//! | `shard`, `partition` | the same for the nodes of one thread |
//! | [`schedule`] | who meets whom when (§4.1): how uplinks are hung where U is not N/G (`plan`), which port leads where (`wiring`), the next meeting of a pair (`next_meeting`), the order of a node's peers (`peer_order`), schedules without dead nodes (`reschedule`) |
//! | `protocol` | `request`, `grant`, `accept`, and what is kept of an `epoch` (§4.3, A.3) |
//! | `relay` | `local` (LOCAL), `queues` of cells: `by_slot` of departure while that is known in advance, `by_pair` while something may have failed or where pairs meet very often; `in_flight`, `transmit`, `leaving` and `receive`, `reorder` (§4.2) |
//! | `failure` | `faults` (the rule of k epochs) and `light`; `injection`, `detection`, `avoidance` and `avoid`, `recovery`, `retransmission` (§4.5) |
//! | `servers` | `links` of servers that have a rate, and their `steps`; `rack`, traffic that stays inside |
//! | [`ideal`] | SIRIUS (IDEAL): a kernel without the protocol (§7), its back-pressure in `credits` |
//! | [`flows`] | `detail = "flows"`: rates instead of cells; what is carried (`flows/capacity`), what a last byte waits for (`flows/latency`) |
//! | [`config`], `entry` | keys; what is refused (`config/checks`), keys without effect (`idle`) and retired ones; configuration and kernel put together |
//! | `fabric`, `limits` | what is reported; the least time that a flow can take |
//! | `reference.rs`, `reference` (tests) | all of it once more, as plainly as it can be put |
//!
//! Below all are [`cell`] (cells, and what never changes of their flows) and `prefetch`. The
//! steps of a slot (`accept`, `transmit`, `receive`) are methods of a shard; what they work on
//! (LOCAL, queues, matrices) needs none. No type rests on one that rests on it; what `failure`
//! and `servers` do in a slot is called by [`kernel`], whose parts these steps are.
//!
//! # Glossary
//! | the paper's term | here | file |
//! |---|---|---|
//! | grating, AWGR | [`Awgr`](lightloom_photonics::Awgr), [`Wiring`](schedule::wiring::Wiring) | `schedule/wiring.rs` |
//! | cyclic schedule, timeslot | [`Schedule`](schedule::Schedule) | `schedule/mod.rs` |
//! | guardband | `SiriusConfig::guardband` | `config.rs` |
//! | epoch | `Schedules::epoch_at`; its requests and grants: `Epoch` | `schedule/reschedule.rs`, `protocol/epoch.rs` |
//! | cell | [`Cell`](cell::Cell); one that waits: `Queued` | `cell.rs`, `relay/queued.rs` |
//! | LOCAL, flow tuple | `Local`; in a walk `Tuple` | `relay/local.rs`, `protocol/request.rs` |
//! | request, `compute_requests` | `Requests`, `RequestMatrix` | `protocol/request.rs`, `protocol/matrix.rs` |
//! | grant, `compute_grants` | `Grants`, `Grant` | `protocol/grant.rs`, `protocol/matrix.rs` |
//! | M, cells queued and granted | `Grants::m` | `protocol/grant.rs` |
//! | Q | `SiriusConfig::queue` | `config.rs` |
//! | virtual queue for an intermediate, relay queue for a destination | both in one queue for each pair of nodes, first in, first out (§6), kept in one of two ways: `BySlot` as a rule, or `ByPair` | `relay/by_slot.rs`, `relay/by_pair.rs` |
//! | reorder buffer | `Reorder` | `relay/reorder.rs` |
//! | detection after k epochs | the rule, `Faults::set`, `Faults::declare`; what follows: `Sirius::recover` | `failure/faults.rs`, `failure/detection.rs`, `failure/recovery.rs` |
//! | a lost cell is sent again | `enter_again`, when `Faults::resend` says | `failure/recovery.rs`; the times in `failure/retransmission.rs` |
//! | traffic within a rack | `Bypass` | `servers/rack.rs` |
//!
//! Words of the code: a *label* is a node's place in the order of [`schedule`], which is how
//! nodes are named from there on; a *row* its place in its shard; a
//! [flow index](cell::FlowIndex) a flow's place among all flows by destination; a *turn* a
//! peer's place in the order in which a node meets the others; a *shard* the nodes of one
//! thread; a *matching* the pairs that meet over one uplink in a slot; a *block* neighbours
//! that are never divided among threads; a *lane* the cells of a slot that go to one shard for
//! one purpose.
//!
//! # Who changes M
//! `Grants::compute_grants` counts a grant. It is released (`Grants::release`) when
//! the second hop leaves (`relay/transmit.rs`), when a cell for the intermediate itself arrives
//! (`relay/receive.rs`), when a grant finds no cell and lapses (`Shard::lapse`, `shard.rs`), and when
//! something is lost or called back (`failure/recovery.rs`, `failure/injection.rs`).
//!
//! # Who goes first
//! The paper does not say which of several cells that reach a node in the same slot goes first.
//! Kernel and reference have one rule:
//!
//! 1. A cell takes its place when it joins a queue in which fewer than 32 wait; otherwise it
//!    stands aside, and takes its place at the end of the slot in which there is room. At the
//!    start of an epoch places are taken by granted cells, in order of sources, then of
//!    intermediates; at the end of a slot by those who stood aside, in the order in which they
//!    came, then by the cells that have reached their intermediates.
//! 2. Of cells that reach nodes in the same slot those of a lower block of senders go first, of
//!    one block those who took their place earlier (`relay/by_slot.rs`, `relay/leaving.rs`).
//! 3. Where grants outnumber a source's cells for a destination, those of lower intermediates
//!    are taken and the rest lapse (`protocol/accept.rs`).
//! 4. At their destination second hops go before cells that come straight from their source
//!    (`relay/receive.rs`).
//!
//! # Not modelled
//! Bit errors outside fault injection, drift of lasers and clocks (the guardband stands for
//! both), the credit protocol between servers and their rack switch, different fibre lengths
//! (one propagation delay for all pairs).

pub mod cell;
pub mod config;
mod entry;
mod fabric;
mod failure;
pub mod flows;
pub mod ideal;
pub mod kernel;
mod limits;
mod partition;
mod prefetch;
mod protocol;
#[cfg(test)]
mod reference;
mod relay;
pub mod schedule;
mod servers;
mod shard;
#[cfg(test)]
mod tests;

pub use entry::ENTRY;
