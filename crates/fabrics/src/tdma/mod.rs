//! Circuits that take turns: planes of switches that follow schedules of matchings, one per slot,
//! with a night at the start of each slot in which all circuits of the plane are dark. The kernels
//! of Mordia, RotorNet and Opera consist of these parts.
//!
//! | file | contents |
//! |---|---|
//! | [`context`] | time, flows and agenda, on which an event acts |
//! | [`setup`] | the parameters of such a network |
//! | [`days`], [`light`] | planes of switches: slots, nights and days; the times of lit circuits |
//! | [`circuits`] | the destination of each rack, and the bytes on circuits |
//! | [`voq`] | virtual output queues: a queue at each rack for each other |
//! | [`burst`] | the bytes that a rack sends in a day, in closed form, and those that are lost |
//! | [`sending`] | when the bytes of a burst arrive, and when they count |
//! | [`rack_edge`], [`servers`] | the switch of a rack, and links of slower servers |
//! | [`failures`] | refused failures |
//! | [`rotor`] | bulk traffic over rotor switches: direct circuits, RotorLB |
//!
//! At the start of a slot, it is known for every rack when it will send and to which other rack.
//! All bytes in the queue of that circuit are therefore sent at once, up to the end of the day: the
//! end of a flow's bytes is an event, and the rest of a day is counted when the day is over. In
//! Opera, bulk traffic is sent only in the time that low-latency packets leave. Queues are first
//! in, first out, so bytes that join during the day leave after those that already wait.
//!
//! Each fabric's folder has its kernel: [`crate::mordia`] (one ring and a controller, frames,
//! losses, a packet switch), [`crate::rotornet`] (switches that change together, relays), and
//! [`crate::opera`] (switches that change one after another, low-latency packets with priority over
//! bulk traffic).
//!
//! Not modelled: reordering by retransmission, acknowledgements and their share of the return
//! circuits, slow start, ports and transceivers that fail.

pub mod burst;
pub mod circuits;
pub mod context;
pub mod days;
pub mod failures;
pub mod light;
pub mod rack_edge;
pub mod rotor;
pub mod sending;
pub mod servers;
pub mod setup;
#[cfg(test)]
pub(crate) mod testing;
pub mod voq;
