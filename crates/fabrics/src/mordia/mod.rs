//! Mordia (Porter et al., "Integrating Microsecond Circuit Switching into the Data Center",
//! SIGCOMM 2013): a ring of wavelength-selective switches between racks, scheduled by
//! traffic matrix.
//!
//! | file | the paper's mechanism |
//! |---|---|
//! | [`lightloom_control::policies::mordia`] | traffic-matrix scheduling: Sinkhorn, Birkhoff-von Neumann, lengths of days |
//! | [`lightloom_control::policies::rotation`] | round robin, the schedule of the prototype (§6) |
//! | [`crate::tdma::voq`], [`crate::tdma::burst`] | the queueing discipline: a queue for each destination; for its tokens stands the window in which a queue may send, which ends early (§5.2.1) |
//! | [`crate::tdma::frames`] | nights (§6.1), synchronisation frames (§5.2.1, §6.2) |
//! | [`crate::tdma::control`] | demand and decisions, from one period to the next |
//! | [`config`], `checks`, `entry` | the paper's parameters; what of them is refused; put together with the kernel of [`crate::tdma`] |
//!
//! Each rack sends on its own wavelength, and each drops one from the ring, so that any
//! permutation can be set up; a schedule is a sequence of them, with days of any length
//! from the shortest slot on, and a night before each in which all circuits are dark. What
//! is sent into a night is lost and sent again later.
//!
//! Assumed where the paper is silent: a schedule that was decided on begins with the next
//! night, wherever in its period the one before is; a policy sees what waits in the queues
//! of the racks when its interval is over, without what the running slot still takes; round
//! robins and schedules from files are followed from the start, others from their first
//! decision on. Racks are a port each; the servers of one share it. Light that comes sooner
//! than it should is not used.
//!
//! Not modelled: multicast, the loss of light around the ring, how rings are stacked, the
//! packet-switched network that carries synchronisation frames, reordering, TCP's window.

mod checks;
pub mod config;
mod entry;
#[cfg(test)]
mod tests;

pub use entry::ENTRY;
