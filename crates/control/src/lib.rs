//! Control: decides which racks are connected and when, and carries out changes step by step.
//!
//! A [policy] decides; the [controller] carries the decision out step by step. Neither has input or
//! output, a clock, a thread or a random source of its own, so a simulated switch, the `plan`
//! command, an emulation and real switches run the same objects. The [algorithms] below them are
//! pure functions.
//!
//! | file | concept |
//! |---|---|
//! | [`demand`] | checked demand between nodes; its estimation from reports |
//! | [`hardware`] | racks, planes and ports of the switch |
//! | [`circuits`] | circuits, and the circuits that a change keeps, removes and adds |
//! | [`routes`] | paths over circuits, and the pairs of racks that use them |
//! | [`schedule`] | matchings that take turns, days and nights |
//! | [`policy`] | the inputs and outputs of a policy |
//! | [`order`] | the steps of a change and the dependencies between them |
//! | [`controller`] | the control loop: from inputs to actions |
//! | [`log`], [`replay`] | inputs and actions as lines of JSON, and their replay |
//! | [`live`] | the loop in real time, from the first lines of a log |
//! | [`words`], `ps` | actions as text; times as whole picoseconds |
//! | [`host`] | a host of the loop in virtual time, over any driver of a switch |
//! | [`fake`] | a switch for tests and replays that carries out all actions |
//! | [`policies`] | the policies, one file each, and their registry |
//! | [`algorithms`] | matchings, assignments, topologies, schedules, VLANs |
//!
//! Weights and volumes are `i64`, times are integer picoseconds, and ties go to the lowest index.
//! The same demand therefore gives the same result on every machine. Invalid input is a
//! [`Refusal`](lightloom_engine::Refusal) that names its key.

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
