//! The demand between nodes: [`Matrix`], and its estimation from reports of hosts ([`Estimator`]).

mod checks;
mod estimate;
mod matrix;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use checks::number;
pub use estimate::{Estimation, Estimator, Queue, Report, Thresholds};
pub use matrix::Matrix;
