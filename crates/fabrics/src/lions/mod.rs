//! LIONS: a packet switch around an arrayed waveguide grating router (Yin et
//! al., "LIONS: An AWGR-Based Low-Latency Optical Switch for HPC and Data
//! Centers", IEEE JSTQE 19(2), 2013).
//!
//! A host's packet passes D of fibre, a label extractor, a delay line in which its label is read,
//! its output is arbitrated and its wavelength converter tunes, the grating (λ = (in + out) mod P),
//! and a demultiplexer with k receivers: k packets from different *wavegroups* may reach one output
//! at a time. A packet whose receiver is busy is not lost:
//!
//! - *Loop-back buffers* (§II) store it and send it when the receiver is free and its turn comes:
//!   one memory for all (shared), one for r hosts (mixed), one for each host (distributed). Only
//!   packets that lost are stored (forward-store).
//! - *AO-NACK* (§IV) has no buffers: the grating returns the packet to its host, which sends it
//!   again.
//!
//! | file | contents |
//! |---|---|
//! | [`config`], `entry` | the table; the table combined with its kernel |
//! | [`ports`] | the ports of hosts and queues, and the wavegroups |
//! | [`hosts`], [`host_links`], [`arbiter`], [`contest`], [`loopback`], [`nack`], [`passage`], [`pace`] | the parts |
//! | [`inside`] | the packets that both kernels hold, and the reports about them |
//! | [`kernel`] | loop-back buffers; AO-NACK if an edge detector suffices |
//! | [`pipelined`] | AO-NACK with several packets in flight |
//! | [`slotted`] | the model of the closed forms |
//! | [`bound`] | the bounds against which tests check the kernels |
//! | `limits`, `switches` | refusals: of values, and of keys without effect |
//! | [`parts`] | Table I |
//! | [`theory`] | closed forms |
//!
//! Packets that wait at hosts are in [`crate::hosts`].
//!
//! - Buffers have no bound; the peak of the largest memory is reported.
//! - Labels travel with their packets. Of the control channels only the delays are modelled. A host
//!   has the same fibre delay in both directions.
//! - The guard also covers a converter's tuning, as in §III: a tuning time up to the guard costs no
//!   throughput, but it costs latency, because the delay line is longer. A longer tuning time
//!   separates the packets of a host. Receivers need only the guard, even between packets of one
//!   sender, because another converter tunes while they still receive the packet before.
//! - A tunable transmitter tunes before every packet, even to its present output. Packets leave a
//!   loop-back queue directly into the grating, which takes no time except tuning.
//! - Hosts send their flows in turn, a packet each, or one after another (`discipline`). A
//!   reflected packet is sent again before the host's other packets, because it keeps its turn at
//!   the transmitter. Hosts reassemble by sequence numbers; the reorder buffers are not tracked, so
//!   `reorder_peak_bytes` is null. `hops` counts passages of the grating towards the destination:
//!   1, or 2 with a loop-back buffer. `packet_hops` counts all passages, including reflections;
//!   losses are NACKs.
//! - The audit uses the ports of the grating: see [`bound`].
//!
//! Not modelled: optical power, crosstalk and bit errors (nothing is corrupted), burst-mode
//! receivers beyond the guard, failures, finite buffers, and the inaccuracy of timers.

pub mod arbiter;
pub mod bound;
pub mod config;
pub mod contest;
mod entry;
pub mod host_links;
pub mod hosts;
pub mod inside;
pub mod kernel;
mod limits;
pub mod loopback;
pub mod nack;
pub mod pace;
pub mod parts;
pub mod passage;
pub mod pipelined;
pub mod ports;
pub mod slotted;
mod switches;
#[cfg(test)]
mod tests;
pub mod theory;

pub use entry::ENTRY;
