//! Mordia (Porter et al., "Integrating Microsecond Circuit Switching into the Data Center",
//! SIGCOMM 2013): a ring of wavelength-selective switches between racks, scheduled by
//! traffic matrix.
//!
//! | file | the paper's mechanism |
//! |---|---|
//! | [`config`], `checks` | the paper's parameters, and their refusals |
//! | [`lightloom_control::policies::mordia`] | traffic-matrix scheduling: Sinkhorn, Birkhoff-von Neumann, lengths of days |
//! | [`lightloom_control::policies::rotation`] | round robin, the schedule of the prototype (§6) |
//! | [`control`], `decisions`, [`lightloom_control::controller`] | the controller: `decisions::report` measures the demand; in each period the controller decides and returns the schedule to follow |
//! | `slots` | nights and days: the ring sets its next matching; each rack receives a frame with its peer and its window (§5.2.1) |
//! | [`frames`] | set-up times (§6.1), synchronisation frames that come early or late (§5.2.1, §6.2) |
//! | `sending`, [`crate::tdma::voq`], [`crate::tdma::burst`] | the queueing discipline: a queue for each destination; a window in which a queue may send, which ends early, replaces the paper's tokens; loss at the ends of a day, and retransmission (§5.2.1) |
//! | [`packet_switch`], `crossing` | a packet switch beside the circuits for the demand that schedules leave |
//! | `kernel` | the state, and the events that call all of the above |
//! | `reports`, `entry` | statistics; the table combined with the kernel |
//!
//! A path through the code: `kernel` (`enter`, `wait`) queues bytes of a flow; `slots::night` ends
//! a day and begins the next (`begin_day`), in which `sending` (`serve_line`, `drain`) sends the
//! bytes that the day carries; `decisions::tell` passes the demand to the controller when it wakes.
//!
//! Each rack sends on its own wavelength, and each receives one from the ring, so any permutation
//! can be set up. A schedule is a sequence of permutations with days of any length above the
//! shortest slot, and a night before each in which all circuits are dark. Packets that are sent in
//! a night are lost and retransmitted.
//!
//! Assumed where the paper is silent: a new schedule begins with the next night, at any point of
//! the present schedule; at the end of its interval a policy receives the bytes in the racks'
//! queues, without those that the present slot will still take; round robins and schedules from
//! files are in force from the start, others from their first decision on. Each rack has one port,
//! which its servers share. Light that arrives earlier than expected is not used.
//!
//! Not modelled: multicast, the loss of light around the ring, the stacking of rings, the
//! packet-switched network for synchronisation frames, reordering, TCP's window.

mod checks;
pub mod config;
pub mod control;
mod crossing;
mod decisions;
mod entry;
pub mod frames;
pub mod kernel;
pub mod packet_switch;
mod reports;
mod sending;
mod slots;
#[cfg(test)]
mod tests;

pub use entry::ENTRY;
