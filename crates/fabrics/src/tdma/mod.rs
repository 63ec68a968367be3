//! Circuits that take turns (TDMA): a schedule of matchings, a day each, with a night
//! between any two while all circuits are dark.
//!
//! | file | what it is |
//! |---|---|
//! | [`setup`] | what such a network is made of |
//! | [`kernel`] | its state and events: nights and days, racks, servers; the files of `kernel/` are listed there |
//! | [`voq`] | virtual output queues: who waits for whose circuit |
//! | [`burst`] | what a rack sends in a day, in closed form; what is lost |
//! | [`frames`] | nights, synchronisation frames, jitter |
//! | [`light`] | which circuits were lit when |
//! | [`control`] | the host of the controller that decides about schedules |
//! | [`crossings`] | how many bytes have crossed to relays |
//! | [`dealing`] | matchings that leave switches idle |
//! | [`relays`] | bytes that cross two circuits, as a rule says once a slot |
//! | [`rotorlb`], [`shares`] | the rule of RotorNet and Opera |
//! | [`per_host`] | the same rule by hosts, as Opera's authors simulate it |
//! | [`low_latency`], [`waiting`], [`expander`] | packets that cross whatever circuits are lit |
//! | [`servers`] | servers' links that are slower than their rack's, by [`crate::links`] |
//! | [`residual`] | a packet switch beside the circuits |
//!
//! Mordia is such a network with one ring and a controller, RotorNet one with many switches,
//! relays and no controller, and Opera one whose switches turn one after another, so that
//! low-latency traffic finds a way at any moment; the folders of the fabrics hold their papers'
//! parameters.
//!
//! Not modelled: reordering by retransmission, acknowledgements and what they take of the
//! circuits back, slow start, ports and transceivers that fail.

pub mod burst;
pub mod control;
pub mod crossings;
pub mod dealing;
pub mod expander;
pub mod frames;
pub mod kernel;
pub mod light;
pub mod low_latency;
pub mod per_host;
pub mod relays;
pub mod residual;
pub mod rotorlb;
pub mod servers;
pub mod setup;
pub mod shares;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod voq;
pub mod waiting;
