//! Control: which racks are connected, when, and in which order that is changed.
//!
//! The part that decides (a [policy]) and the part that carries a decision out step by step (the
//! [controller]) have no input or output, no clock, no thread and no random source of their own: a
//! simulated switch, the `plan` command, an emulation and real switches run the very same objects.
//! The [algorithms] below them are pure functions.
//!
//! | file | concept |
//! |---|---|
//! | [`demand`] | what nodes have for each other, checked; how reports become a matrix |
//! | [`hardware`] | racks, planes and ports of the switch |
//! | [`circuits`] | circuits, and what a change keeps, removes and adds |
//! | [`routes`] | paths over circuits, and which pairs of racks take them |
//! | [`schedule`] | matchings that take turns, days and nights |
//! | [`policy`] | what a policy sees and what it answers |
//! | [`order`] | the steps of a change and what each waits for |
//! | [`controller`] | inputs to actions: the loop itself |
//! | [`log`], [`replay`] | inputs and actions as lines of JSON, played again |
//! | [`live`] | the loop in real time, from the first lines of a log |
//! | [`words`], `ps` | actions in words; times as whole picoseconds |
//! | [`host`] | a host of the loop in virtual time, over any driver of a switch |
//! | [`fake`] | a switch for tests and replays, which carries out all actions |
//! | [`policies`] | the policies, one file each, and their registry |
//! | [`algorithms`] | matchings, assignments, topologies, schedules, VLANs |
//!
//! Weights and volumes are `i64`, times integer picoseconds; equals are decided by
//! the lowest index, so the same demand gives the same result on every machine.
//! Bad input is a [`Refusal`](lightloom_engine::Refusal) that names its key.

pub mod algorithms;
pub mod circuits;
pub mod controller;
pub mod demand;
pub mod fake;
pub mod hardware;
pub mod host;
pub mod live;
pub mod log;
pub mod order;
pub mod policies;
pub mod policy;
mod ps;
pub mod replay;
pub mod routes;
pub mod schedule;
pub mod words;
