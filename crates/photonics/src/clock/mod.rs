//! Clock synchronisation of Sirius (Ballani et al., SIGCOMM 2020, §4.4, A.2).
//!
//! All nodes follow the clock of a leader, which changes every few epochs. Gratings retime
//! nothing, so a node recovers the leader's clock from the cell that it gets once an epoch; a
//! loop follows it, filtering differences of frequency that are too large. Nodes measure
//! their delay to the grating by cells to themselves, and subtract it.
//!
//! ```text
//! fibres, thermal   what nodes believe of their delays, and what is so      (A.2)
//! starts            delays, offsets and epochs' starts: the formulas        (A.2, Fig 14)
//! noise             oscillators and timestamps
//! leaders           who is heard when; who dies                             (§4.4)
//! pll               the loop and its linear theory
//! detector          what is measured, and what is filtered                  (§4.4)
//! ensemble          the fast loop: all clocks, epoch by epoch
//! day               the slow model: a day in long steps
//! judge             how far clocks are apart
//! terms, simulate   each term alone; a run
//! ```
//!
//! Not modelled: the bootstrap (clocks begin as if it were over), which slot of the epoch the
//! leader's cell takes and how long it is in flight (the loop hears of it at the end of the
//! epoch), flicker noise, ageing, polarisation, transceivers' delays, lost cells other than a
//! dead node's, and the recovery of the clock within a cell (A.1).

pub mod config;
mod day;
mod detector;
mod ensemble;
mod fibres;
mod judge;
mod leaders;
mod noise;
mod pll;
mod progress;
pub mod quantity;
mod simulate;
pub mod starts;
mod terms;
mod thermal;

pub use config::ClockConfig;
pub use day::DayModel;
pub use detector::Detector;
pub use ensemble::Ensemble;
pub use fibres::Fibres;
pub use judge::{extremes, Judge, Judged, PerNode, Samples, Verdict};
pub use leaders::Rotation;
pub use noise::Noise;
pub use pll::Gains;
pub use progress::Progress;
pub use simulate::{
    contributions, run, updates, updates_of_contributions, Contribution, LoopFigures, Outcome,
};
pub use terms::Term;
