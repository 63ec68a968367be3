//! From a finished run to the figures that users read.
//!
//! [`summarize`] makes `summary.json`, [`Series`] the columns of
//! `timeseries.parquet`. The flow columns themselves are written as they are.
//! Here exact integers become floats, and nowhere before.
//!
//! A run is one sample of its seed, and `sweep` runs several. Within a run, completion
//! times ([`Bound`]) and the latencies of a [`Window`] have confidence intervals by
//! batches of flows; the other figures have none.

mod batches;
mod bounds;
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
pub use bounds::{Bound, Bounded, FctBound, Taken};
pub use derived::InForce;
pub use jobs::{JobTimes, Jobs};
pub use memory::{peak_rss, reset_peak_rss};
pub use parts::PartCounts;
pub use percentile::{mean, percentile};
pub use series::Series;
pub use summary::{
    ideal, summarize, Endless, Fct, FctBounds, FctClasses, Finished, Slowdown, SlowdownBound,
    Summary, SHORT_BYTES,
};
pub use updates::{Counted, UpdateRate, Updates};
pub use window::{Span, Window, CARRIED};
