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
//! | [`schedule`] | the pairs of nodes that meet in each slot (§4.1): the connection of uplinks if U is not N/G (`plan`), the port to which each port leads (`wiring`), the next meeting of a pair (`next_meeting`), the order of a node's peers (`peer_order`), and the schedules without dead nodes with the times at which they are in force (`reschedule`) |
//! | `protocol` | `request`, `grant`, `accept`, and the state of an `epoch` (§4.3, A.3); `matrix` and `simd`: requests and grants of a block of nodes |
//! | `relay` | `local` (LOCAL), `queues` of cells: `by_slot` of departure while the slot is known in advance, `by_pair` if a part may have failed or pairs meet very often; `in_flight`, `transmit`, `leaving` and `receive`, `reorder` (§4.2); `chunked`: lists whose chunks leave without being copied |
//! | `failure` | `faults` (the rule of k epochs, in words), `light` (which links are dark, and the fate of the cells on them); `injection`, `detection`, `avoidance` and `avoid`, `recovery`, `retransmission` (§4.5) |
//! | `servers` | `links` of servers that have a rate, and their `steps`; `rack`: traffic within a rack if servers' links have no rate |
//! | [`ideal`] | SIRIUS (IDEAL): a kernel without the protocol (§7). Back-pressure: the rule in words at the head of `ideal/mod.rs`; `Source::send` (`ideal/source.rs`) selects the flow that may send; `Nodes::free_windows` (`ideal/nodes.rs`) returns credit; the counts are in `ideal/credits.rs`; queues of second hops in `ideal/relays.rs` |
//! | [`flows`] | `detail = "flows"`: rates instead of cells; capacities (`flows/capacity.rs`), latency of the last byte (`flows/latency.rs`), traffic for which rates are inaccurate (`flows/doubts.rs`) |
//! | [`config`] | `config.rs`: keys, defaults and units; `config/checks.rs`: values that are refused, with the reason; `config/uplinks.rs`: the number of uplinks, and their schedule; `config/switches.rs`: keys whose values are words; `config/devices.rs`: keys that devices determine; `config/idle.rs`: keys without effect; `config/overhead.rs`: slots that are too short for payload; `config/queue.rs`: a Q that does not cover the time from a grant to the second hop; `config/speedup.rs`: uplinks below those of the paper; `config/retired.rs`: keys that no longer exist |
//! | `entry` | configuration and kernel put together |
//! | `fabric` | the reports |
//! | `limits` | properties that all kernels of Sirius share: racks and links, the shortest possible time of a flow, the times at which light passes |
//! | `reference.rs` and its folder (compiled for tests alone) | a second, plain implementation: the protocol in `reference.rs`; failures, servers and SIRIUS (IDEAL) in `reference/`; `reference/agreement.rs` compares it with the kernel |
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
//! | cyclic schedule, timeslot: the pairs that meet | [`Schedule::peer`](schedule::Schedule): by default the rotation of `lightloom_control::algorithms::cyclic`, which no gratings realise, otherwise `Wiring::peer`; in the form that the kernel uses: `PeerOrder::matchings` | `schedule/mod.rs`, then `schedule/wiring.rs`, `schedule/peer_order.rs` |
//! | wavelength, frame | in each slot a laser advances by one wavelength, and so to the next port of its grating; the schedule repeats after a frame, whose slots are the ports of the largest grating: `Schedule::frame` | `schedule/wiring.rs`, `schedule/mod.rs` |
//! | uplinks that do not fill gratings of one size: `rotor`, `wide`, `mixed` | `UplinkPlan`: evenly, which no gratings realise; on gratings of one larger size; whole banks, and the rest on larger gratings | `schedule/plan.rs` |
//! | guardband | `SiriusConfig::guardband`; the cell that fits beside it: `check_cell`; no light in it: `lit` | `config.rs`, `config/checks.rs`, `limits.rs` |
//! | epoch | its number: `Schedules::epoch_of`, whether one begins: `Schedules::epoch_at`; its length: `Schedule::epoch`; its requests and grants: `Epoch` | `schedule/reschedule.rs`, `schedule/mod.rs`, `protocol/epoch.rs` |
//! | cell | [`Cell`](cell::Cell); one that waits: `Queued` | `cell.rs`, `relay/queued.rs` |
//! | LOCAL, flow tuple | `Local`; in a walk `Tuple` | `relay/local.rs`, `protocol/request.rs` |
//! | request, `compute_requests` | `Requests`, `RequestMatrix` | `protocol/request.rs`, `protocol/matrix.rs` |
//! | grant, `compute_grants` | `Grants`, `Grant` | `protocol/grant.rs`, `protocol/matrix.rs` |
//! | M, cells queued and granted | `Grants::m`; counted up in `compute_grants` | `protocol/grant.rs` |
//! | Q | `SiriusConfig::queue`; M is held to it in `compute_grants` | `config.rs`, `protocol/grant.rs` |
//! | virtual queue for an intermediate, relay queue for a destination | both in one first-in, first-out queue for each pair of nodes (§6), stored in one of two ways: usually `BySlot`, otherwise `ByPair` | `relay/by_slot.rs`, `relay/by_pair.rs` |
//! | reorder buffer | `Reorder` | `relay/reorder.rs` |
//! | propagation: cells in the fibres | kept by the slot of their transmission in `Sirius::flights`, removed by `Sirius::receive` after `SiriusConfig::crossing`; the cells that a shard sends in one slot: `Flight`; the treatment of a cell at the receiving node: `Purpose` | `kernel.rs`, `config.rs`, `relay/in_flight.rs` |
//! | the rack switch, which a flow of its servers passes first | [`Entrance`](crate::entrance::Entrance) | `entrance.rs`, beside this folder |
//! | grey failure: a part that loses some cells, but whose light is still received | `Broken::loss` below 1: never declared dead | `failure/faults.rs`, `failure/light.rs` |
//! | a laser (transceiver), node or grating dies, and k epochs later every node acts on it | `Sirius::recover` in `failure/recovery.rs` processes the declaration that is due, calls back cells that cannot leave and retransmits; `Faults::set` in `failure/detection.rs` schedules the declaration when the part dies (the rule in words: head of `failure/faults.rs`); links left dark: `Faults::prepare` in `failure/light.rs`; nodes that receive no more requests: `failure/avoidance.rs` | see the middle column |
//! | a dead node is left out of the schedule | the time: `Sirius::reschedule` in `failure/recovery.rs`; the new schedule: `Schedules::begin` | `schedule/reschedule.rs` |
//! | a lost cell is retransmitted | kept until it is due: `Faults::resend`, `resent_by` in `failure/retransmission.rs`; returned to LOCAL before all others: `enter_again` in `failure/recovery.rs` | see the middle column |
//! | traffic within a rack | over the servers' links if these have a rate (`Servers::turn_back`), otherwise `Bypass`; `Sirius::admit` in `kernel.rs` selects one | `servers/links.rs`; `servers/rack.rs` |
//! | the links from rack switches to servers, and the cells that wait for them | `Receiving` | `servers/receiving.rs` |
//!
//! Terms of the code: a [label](index::Label) is a node's position in the order of [`schedule`],
//! which identifies it in the kernel; a [row](index::Row) is its position in its shard; a
//! [turn](index::Turn) is a peer's position in the order in which a node meets the others; a [flow
//! index](cell::FlowIndex) is a flow's position among all flows by destination. A *shard* is the
//! nodes of one thread; a *matching* is the pairs that meet over one uplink in a slot; a *block* is
//! adjacent nodes that are never divided among threads; a *lane* is the cells of a slot that go to
//! one shard for one purpose; a *stretch* is consecutive cells of a flow that enter LOCAL together;
//! an *asker* is a node that sent requests, with these requests.
//!
//! Five types contain the times at which pairs meet, each computed from those before it: `Schedule`
//! is the paper's schedule, slot by slot; `PeerOrder` is arranged for code that processes a slot;
//! `Timetable` is arranged for the next meeting of a pair; `NextMeeting` gives the next meetings
//! after one slot; `Schedules` has all schedules that have been in force since the first failure,
//! each an `InForce`. `Derived` (`config.rs`) holds values derived from the table and the cluster,
//! `Routes` (`cell.rs`) the constant data of flows.
//!
//! # Who changes M
//! `Grants::compute_grants` (`protocol/grant.rs`) counts a grant. The count is released
//! (`Grants::release`) when the second hop leaves (`relay/transmit.rs`), when a cell for the
//! intermediate itself arrives (`relay/receive.rs`), when a grant without a cell lapses (recorded
//! in `protocol/accept.rs`, released by `Grants::lapse` in `protocol/grant.rs` when the news has
//! reached the intermediate), and when a cell is lost or called back (`failure/recovery.rs`,
//! `failure/injection.rs`).
//!
//! # Who goes first
//! The paper does not define which of several cells that reach a node in the same slot goes first.
//! Kernel and reference have one rule:
//!
//! 1. A cell takes its place when it joins a queue of fewer than 32 cells; otherwise it stands
//!    aside, and takes its place at the end of the slot in which there is room. At the start of an
//!    epoch granted cells take places, in order of sources, then of intermediates. At the end of a
//!    slot the cells that stood aside take places in order of their arrival, then the cells that
//!    have reached their intermediates.
//! 2. Of cells that reach nodes in the same slot those of a lower block of senders go first; within
//!    a block those that took their places earlier (`relay/by_slot.rs`, `relay/leaving.rs`).
//! 3. If a source has more grants than cells for a destination, it uses the grants of lower
//!    intermediates and the rest lapse (`protocol/accept.rs`).
//! 4. At a destination, cells on their second hop go before cells that come directly from their
//!    source (`relay/receive.rs`).
//!
//! # Not modelled
//! Bit errors outside fault injection (the error rate of `devices` is only recorded), drift of
//! lasers and clocks (the guardband includes both), the credit protocol between servers and their
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
