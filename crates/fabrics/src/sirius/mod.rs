//! Sirius: a flat optical fabric with nanosecond switching (Ballani et al., SIGCOMM 2020).
//!
//! Nodes (racks or servers) are connected to passive gratings. Tunable lasers select the
//! destination slot by slot on a fixed cyclic schedule, and Valiant load balancing turns any
//! traffic into the uniform traffic that the schedule serves.
//!
//! # Map
//! | where | what |
//! |---|---|
//! | [`kernel`] | one slot: admit; at the start of an epoch lapse, grant, accept, request; transmit, receive |
//! | `shard`, `partition` | the state of the nodes of one thread; which nodes those are |
//! | [`schedule`] | the pairs of nodes that meet in each slot (§4.1): how uplinks are hung where U is not N/G (`plan`), which port leads where (`wiring`), the next meeting of a pair (`next_meeting`), the order of a node's peers (`peer_order`), `reschedule`: the schedules without dead nodes (`recovery = "reschedule"`), and which is in force when |
//! | `protocol` | `request`, `grant`, `accept`, and what is kept of an `epoch` (§4.3, A.3); `matrix` and `simd`, requests and grants by the block |
//! | `relay` | `local` (LOCAL), `queues` of cells: `by_slot` of departure while that is known in advance, `by_pair` while something may have failed or where pairs meet very often; `in_flight`, `transmit`, `leaving` and `receive`, `reorder` (§4.2); `chunked`, lists that leave as they are |
//! | `failure` | `faults` (the rule of k epochs, in words), `light` (which links are dark, and the fate of the cells on them); `injection`, `detection`, `avoidance` and `avoid`, `recovery`, `retransmission` (§4.5) |
//! | `servers` | `links` of servers that have a rate, and their `steps`; `rack`, traffic that stays inside where they have none |
//! | [`ideal`] | SIRIUS (IDEAL): a kernel without the protocol (§7), its back-pressure: the rule in words at the head of `ideal/mod.rs`, who may send `Source::send` (`ideal/source.rs`), given back by `Nodes::free_windows` (`ideal/nodes.rs`), its counts in `ideal/credits.rs`; queues of second hops in `ideal/relays.rs` |
//! | [`flows`] | `detail = "flows"`: rates instead of cells; what is carried (`flows/capacity.rs`), what a last byte waits for (`flows/latency.rs`) |
//! | [`config`] | `config.rs`: keys, defaults and units; `config/checks.rs`: which values are refused, and why; `config/uplinks.rs`: how many uplinks, and their schedule; `config/switches.rs`: keys whose values are words; `config/devices.rs`: keys that follow from devices; `config/idle.rs`: keys without effect; `config/overhead.rs`: slots that are too short for payload; `config/queue.rs`: a Q that does not cover the way of a grant; `config/retired.rs`: keys that are no more |
//! | `entry` | configuration and kernel put together |
//! | `fabric` | what is reported |
//! | `limits` | what all kernels of Sirius say alike: racks and links, the least time that a flow can take, when light passes |
//! | `reference.rs` and its folder (compiled for tests alone) | all of it once more, as plainly as it can be put: the protocol in `reference.rs`; failures, servers and SIRIUS (IDEAL) in `reference/`; compared with the kernel in `reference/agreement.rs` |
//!
//! All of them use [`index`] (labels, rows and turns, one type each), [`cell`] (cells, and constant
//! data of their flows) and `prefetch`. The steps of a slot (`accept`, `transmit`, `receive`) are
//! methods of a shard; the data that they work on (LOCAL, queues, matrices) do not depend on it. No
//! two types depend on each other. [`kernel`] calls the parts of `failure` and `servers` that run
//! in a slot, except for a cell's fate (called by `relay/transmit.rs`) and the nodes that a node
//! avoids (called by `protocol/request.rs`).
//!
//! # Glossary
//! | the paper's term | here | file |
//! |---|---|---|
//! | grating, AWGR | [`Awgr`](lightloom_photonics::Awgr), [`Wiring`](schedule::wiring::Wiring) | `schedule/wiring.rs` |
//! | cyclic schedule, timeslot: the pairs that meet | [`Schedule::peer`](schedule::Schedule): by default the rotation of `lightloom_control::algorithms::cyclic`, which no gratings make, else `Wiring::peer`; as the kernel walks it: `PeerOrder::matchings` | `schedule/mod.rs`, then `schedule/wiring.rs`, `schedule/peer_order.rs` |
//! | wavelength, frame | each slot a laser goes on by one wavelength, and so to the next port of its grating; after a frame, the ports of the largest grating, all begin anew: `Schedule::frame` | `schedule/wiring.rs`, `schedule/mod.rs` |
//! | uplinks that do not fill gratings of one size: `rotor`, `wide`, `mixed` | `UplinkPlan`: evenly, as no gratings do; on gratings of one larger size; whole banks, and the rest on larger gratings | `schedule/plan.rs` |
//! | guardband | `SiriusConfig::guardband`; the cell that fits beside it: `check_cell`; no light in it: `lit` | `config.rs`, `config/checks.rs`, `limits.rs` |
//! | epoch | its number: `Schedules::epoch_of`, whether one begins: `Schedules::epoch_at`; its length: `Schedule::epoch`; its requests and grants: `Epoch` | `schedule/reschedule.rs`, `schedule/mod.rs`, `protocol/epoch.rs` |
//! | cell | [`Cell`](cell::Cell); one that waits: `Queued` | `cell.rs`, `relay/queued.rs` |
//! | LOCAL, flow tuple | `Local`; in a walk `Tuple` | `relay/local.rs`, `protocol/request.rs` |
//! | request, `compute_requests` | `Requests`, `RequestMatrix` | `protocol/request.rs`, `protocol/matrix.rs` |
//! | grant, `compute_grants` | `Grants`, `Grant` | `protocol/grant.rs`, `protocol/matrix.rs` |
//! | M, cells queued and granted | `Grants::m`; counted up in `compute_grants` | `protocol/grant.rs` |
//! | Q | `SiriusConfig::queue`; M is held to it in `compute_grants` | `config.rs`, `protocol/grant.rs` |
//! | virtual queue for an intermediate, relay queue for a destination | both in one queue for each pair of nodes, first in, first out (§6), kept in one of two ways: `BySlot` as a rule, or `ByPair` | `relay/by_slot.rs`, `relay/by_pair.rs` |
//! | reorder buffer | `Reorder` | `relay/reorder.rs` |
//! | propagation: cells in the fibres | kept by slot of sending in `Sirius::flights`, taken out by `Sirius::receive` after `SiriusConfig::crossing`; what a shard sends in one slot: `Flight`; what happens to a cell at the other end: `Purpose` | `kernel.rs`, `config.rs`, `relay/in_flight.rs` |
//! | the rack switch, that a flow of its servers passes first | [`Entrance`](crate::entrance::Entrance) | `entrance.rs`, beside this folder |
//! | grey failure: a part that loses some cells, and whose light is still heard | `Broken::loss` below 1: never declared dead | `failure/faults.rs`, `failure/light.rs` |
//! | a laser (transceiver), node or grating dies, and k epochs later every node acts on it | `Sirius::recover` in `failure/recovery.rs` takes the declaration that is due, calls back what cannot go and sends again; for which epoch that is booked, when the part dies: `Faults::set` in `failure/detection.rs` (the rule in words: head of `failure/faults.rs`); links left dark: `Faults::prepare` in `failure/light.rs`; the nodes that are no longer asked: `failure/avoidance.rs` | one file each, as said |
//! | a dead node is left out of the schedule | when: `Sirius::reschedule` in `failure/recovery.rs`; which schedule then: `Schedules::begin` | `schedule/reschedule.rs` |
//! | a lost cell is sent again | kept until it is due: `Faults::resend`, `resent_by` in `failure/retransmission.rs`; back into LOCAL before all others: `enter_again` in `failure/recovery.rs` | one file each, as said |
//! | traffic within a rack | where servers' links have a rate it goes over these (`Servers::turn_back`); where not, `Bypass`; which of them: `Sirius::admit` in `kernel.rs` | `servers/links.rs`; `servers/rack.rs` |
//! | the links from rack switches to servers, and the cells that wait for them | `Receiving` | `servers/receiving.rs` |
//!
//! Terms of the code: a [label](index::Label) is a node's place in the order of [`schedule`], by
//! which nodes are named from there on; a [row](index::Row) its place in its shard; a
//! [turn](index::Turn) a peer's place in the order in which a node meets the others; a [flow
//! index](cell::FlowIndex) a flow's place among all flows by destination; a *shard* the nodes of
//! one thread; a *matching* the pairs that meet over one uplink in a slot; a *block* neighbours
//! that are never divided among threads; a *lane* the cells of a slot that go to one shard for one
//! purpose; a *stretch* neighbouring cells of a flow that enter LOCAL together; an *asker* a node
//! that sent requests, with these requests.
//!
//! Five types hold the times at which pairs meet, each computed from those before it: `Schedule`,
//! the paper's, slot by slot; `PeerOrder`, arranged for code that processes a slot; `Timetable`,
//! arranged for the next meeting of a pair; `NextMeeting`, the next meetings after one slot;
//! `Schedules`, those that have been in force since the first failure, each an `InForce`. `Derived`
//! (`config.rs`) holds values derived from the table and the cluster, `Routes` (`cell.rs`) the
//! constant data of flows.
//!
//! # Who changes M
//! `Grants::compute_grants` (`protocol/grant.rs`) counts a grant. The count is released
//! (`Grants::release`) when the second hop leaves (`relay/transmit.rs`), when a cell for the
//! intermediate itself arrives (`relay/receive.rs`), when a grant without a cell lapses (recorded
//! in `protocol/accept.rs`, released by `Grants::lapse` in the file of M when the news has reached
//! the intermediate), and when a cell is lost or called back (`failure/recovery.rs`,
//! `failure/injection.rs`).
//!
//! # Who goes first
//! The paper does not define which of several cells that reach a node in the same slot goes first.
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
//! Bit errors outside fault injection (the error rate of `devices` is only recorded), drift of
//! lasers and clocks (the guardband stands for both), the credit protocol between servers and their
//! rack switch, different fibre lengths (one propagation delay for all pairs). An intermediate
//! answers requests in random order, but 32 neighbours use the same order (`protocol/grant.rs`).

pub mod cell;
pub mod config;
mod entry;
mod fabric;
mod failure;
pub mod flows;
pub mod ideal;
pub mod index;
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
