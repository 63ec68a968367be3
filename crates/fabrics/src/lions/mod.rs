//! LIONS: a packet switch around an arrayed waveguide grating router (Yin et
//! al., "LIONS: An AWGR-Based Low-Latency Optical Switch for HPC and Data
//! Centers", IEEE JSTQE 19(2), 2013).
//!
//! A host's packet passes D of fibre, a label extractor, a delay line while its
//! label is read, its output arbitrated and its wavelength converter tuned, the
//! grating (λ = (in + out) mod P), and a demultiplexer with k receivers: k
//! packets from different *wavegroups* may reach one output at a time. A packet
//! whose receiver is taken is not lost:
//!
//! - *Loop-back buffers* (§II) store it and send it when the receiver is free
//!   and it is its turn: one memory for all (shared), one for r hosts (mixed),
//!   one for each host (distributed). Only losers are stored (forward-store).
//! - *AO-NACK* (§IV) has no buffers: the grating sends the packet back to its
//!   host, which sends it again.
//!
//! | file | |
//! |---|---|
//! | [`config`], `entry` | the table; put together with the kernel that it names |
//! | [`ports`] | which host and queue sits where, and the wavegroups |
//! | [`hosts`], [`host_links`], [`arbiter`], [`contest`], [`loopback`], [`nack`], [`passage`], [`pace`] | the parts |
//! | [`inside`] | where packets are, and what is reported of them |
//! | [`kernel`] | loop-back buffers; AO-NACK where an edge detector is enough |
//! | [`pipelined`] | AO-NACK with several packets in flight |
//! | [`slotted`] | the model of the closed forms |
//! | [`bound`] | what tests hold the kernels to |
//! | `limits`, `switches` | what is refused: values, and keys without effect |
//! | [`parts`] | Table I |
//! | [`theory`] | closed forms |
//!
//! Packets that wait at hosts are in [`crate::hosts`].
//!
//! - Buffers have no bound: their peak is reported, that of the worst memory.
//! - Labels travel with their packets and control channels are not modelled but
//!   for their delays. A host has a packet's fibre delay both ways.
//! - The guard is for a converter's tuning, too, as §III has it: a tuning that is
//!   not longer costs no throughput, but latency, as the delay line is longer by
//!   it. A longer one separates packets of a host. Receivers need the guard alone,
//!   even between packets of one sender: another converter tunes while they still
//!   hear the packet before.
//! - A tunable transmitter tunes before every packet, even to the output it
//!   was at. Packets leave a loop-back queue straight into the grating: that
//!   takes no time beside tuning.
//! - Hosts send their flows in turn, a packet each, or one after another (`discipline`). A
//!   packet that was sent and reflected goes again before others: the turn is what brings a
//!   packet to the transmitter. Hosts reassemble by sequence numbers: how
//!   much waits there for its turn is not tracked, so `reorder_peak_bytes` is
//!   null. `hops` counts passages of the grating towards the destination: 1, or
//!   2 by a loop-back buffer; `packet_hops` all, reflections included; losses
//!   are NACKs.
//! - Ports of the audit are the grating's: see [`bound`].
//!
//! Not modelled: optical power, crosstalk and bit errors (nothing is corrupted),
//! burst-mode receivers beyond the guard, failures, finite buffers, the timers'
//! inaccuracy.

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
