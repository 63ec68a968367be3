//! Circuits that take turns: planes of switches that follow schedules of matchings, a slot each,
//! with a night at its begin while all circuits of the plane are dark. These are the parts of
//! which the kernels of Mordia, RotorNet and Opera are made.
//!
//! | file | what it is |
//! |---|---|
//! | [`context`] | time, flows and agenda: what an event acts on |
//! | [`setup`] | what such a network is made of |
//! | [`days`], [`light`] | planes of switches: slots, nights and days; which circuits were lit when |
//! | [`circuits`] | which rack sends to which, the bytes on circuits |
//! | [`voq`] | virtual output queues: a queue at each rack for each other |
//! | [`burst`] | what a rack sends in a day, in closed form; what is lost |
//! | [`sending`] | when the bytes of a burst land, and when they count |
//! | [`rack_edge`], [`servers`] | the switch of a rack, and links of servers that are slower than it |
//! | [`failures`] | what is refused of failures |
//! | [`rotor`] | bulk traffic over rotor switches: direct circuits, RotorLB |
//!
//! When a slot begins, it follows for every rack when it will send and to which other, so all that
//! waits in the queue of that circuit is sent at once, as far as the day goes: the end of a
//! flow's bytes there is an event, the rest of a day is counted when the day is over. In Opera bulk
//! is sent only as far as low-latency packets leave room. Queues are
//! first in, first out, so bytes that join during the day leave behind those that wait.
//!
//! Each fabric's folder has its kernel: [`crate::mordia`] (one ring and a controller, frames, losses,
//! a packet switch), [`crate::rotornet`] (switches that turn together, relays), and
//! [`crate::opera`] (switches that turn one after another, low-latency packets that go before
//! bulk).
//!
//! Not modelled: reordering by retransmission, acknowledgements and what they take of the
//! circuits back, slow start, ports and transceivers that fail.

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
