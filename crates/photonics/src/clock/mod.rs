//! Clock synchronisation of Sirius (Ballani et al., SIGCOMM 2020, §4.4, A.2).
//!
//! All nodes follow the clock of a leader, which changes every few epochs. Gratings do not retime
//! light, so a node recovers the leader's clock from the cell that it receives once an epoch. A
//! loop follows that clock and filters frequency differences that are too large. Nodes measure
//! their delay to the grating with cells to themselves, and subtract it.
//!
//! ```text
//! fibres, thermal   true delays and the nodes' estimates                    (A.2)
//! starts            delays, offsets and epoch starts: the formulas          (A.2, Fig 14)
//! noise             oscillators and timestamps
//! leaders           the leader of each epoch; dead leaders                  (§4.4)
//! pll               the loop and its linear theory
//! detector          measurements and their filter                           (§4.4)
//! ensemble          the fast loop: all clocks, epoch by epoch
//! day               the slow model: a day in long steps
//! judge             the deviation between clocks
//! terms, simulate   each term alone; a run
//! ```
//!
//! Not modelled: the bootstrap (clocks start as after it), the slot of the leader's cell in the
//! epoch and its flight time (the loop receives it at the end of the epoch), flicker noise, ageing,
//! polarisation, delays of transceivers, lost cells other than those of a dead node, and clock
//! recovery within a cell (A.1).

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
