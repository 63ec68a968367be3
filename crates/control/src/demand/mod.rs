//! What nodes have for each other: [`Matrix`], and how what hosts report becomes
//! one ([`Estimator`]).

mod checks;
mod estimate;
mod matrix;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use checks::number;
pub use estimate::{Estimation, Estimator, Queue, Report, Thresholds};
pub use matrix::Matrix;
