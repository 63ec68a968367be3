//! From a finished run to the figures that users read.
//!
//! [`summarize`] makes `summary.json`, [`Series`] the columns of
//! `timeseries.parquet`. The flow columns themselves are written as they are.
//! Here exact integers become floats, and nowhere before.
//!
//! A run is one sample of its seed, and `sweep` runs several. Within a run, the
//! latencies of a [`Window`] have confidence intervals by batch means; the other
//! figures have none.

mod batches;
mod derived;
mod jobs;
mod memory;
mod parts;
mod percentile;
mod series;
mod summary;
mod updates;
mod window;

pub use batches::{Estimate, BATCHES};
pub use derived::InForce;
pub use jobs::{JobTimes, Jobs};
pub use memory::{peak_rss, reset_peak_rss};
pub use parts::PartCounts;
pub use percentile::{mean, percentile};
pub use series::Series;
pub use summary::{ideal, summarize, Fct, FctClasses, Finished, Slowdown, Summary, SHORT_BYTES};
pub use updates::{Counted, UpdateRate, Updates};
pub use window::{Span, Window, CARRIED};
