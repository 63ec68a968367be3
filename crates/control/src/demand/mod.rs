//! What nodes have for each other: [`Matrix`], and how what hosts report becomes
//! one ([`Estimator`]).

mod estimate;
mod matrix;

pub use estimate::{Estimation, Estimator, Queue, Report, Thresholds};
pub(crate) use matrix::number;
#[cfg(test)]
pub(crate) use matrix::tests;
pub use matrix::Matrix;
