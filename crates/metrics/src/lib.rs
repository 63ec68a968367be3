//! From a finished run to the figures that users read.
//!
//! [`summarize`] makes `summary.json`, [`Series`] the columns of
//! `timeseries.parquet`. The flow columns themselves are written as they are.
//! Here exact integers become floats, and nowhere before.
//!
//! Confidence intervals are not computed: a run is one sample of its seed, and
//! `sweep` runs several seeds.

mod jobs;
mod memory;
mod percentile;
mod series;
mod summary;

pub use jobs::{JobTimes, Jobs};
pub use memory::{peak_rss, reset_peak_rss};
pub use percentile::{mean, percentile};
pub use series::Series;
pub use summary::{ideal, summarize, Fct, FctClasses, Finished, Slowdown, Summary, SHORT_BYTES};
