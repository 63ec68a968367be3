//! From a finished run to the figures that users read.
//!
//! [`summarize`] makes `summary.json`, [`Series`] the columns of
//! `timeseries.parquet`. The flow columns themselves are written as they are.
//! Here exact integers become floats, and nowhere before.
//!
//! | file | what it is |
//! |---|---|
//! | `summary` | `summary.json`, key by key |
//! | `series` | the columns of `timeseries.parquet` |
//! | `percentile`, `batches` | order statistics; confidence intervals of one run |
//! | `relaxation`, `room` | for how long queues resemble themselves; whether a run is long enough for intervals |
//! | `completion`, `bounds` | completion times and slowdowns; as far as they are known of flows that have not arrived |
//! | `by_size` | slowdowns by flow size |
//! | `window`, `span`, `throughput` | latency and throughput after warming up; from when until when; what is carried, byte by byte |
//! | `jobs`, `updates`, `parts`, `derived` | keys of the summary that fabrics and workloads fill |
//! | `memory` | the process's peak of memory |
//!
//! A run is one sample of its seed, and `sweep` runs several. Within a run, completion
//! times ([`Bound`]) and the latencies of a [`Window`] have confidence intervals by
//! batches of flows; the other figures have none.

mod batches;
mod bounds;
mod by_size;
mod completion;
mod derived;
mod jobs;
mod memory;
mod parts;
mod percentile;
mod relaxation;
mod room;
mod series;
mod span;
mod summary;
mod throughput;
mod updates;
mod window;

pub use batches::{Estimate, BATCHES};
pub use bounds::{Bound, Bounded, FctBound, Taken};
pub use by_size::{BySize, OfSize};
pub use completion::{ideal, Fct, FctBounds, FctClasses, Slowdown, SlowdownBound, SHORT_BYTES};
pub use derived::InForce;
pub use jobs::{JobTimes, Jobs};
pub use memory::{peak_rss, reset_peak_rss};
pub use parts::PartCounts;
pub use percentile::{mean, percentile};
pub use relaxation::{Relaxation, Traffic};
pub use room::{Room, RELAXATIONS};
pub use series::Series;
pub use span::{Span, CARRIED};
pub use summary::{summarize, Cut, Endless, Finished, Summary};
pub use updates::{Counted, UpdateRate, Updates};
pub use window::{Window, WindowBound};
