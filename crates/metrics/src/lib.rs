//! Computes the figures that users read from a finished run.
//!
//! [`summarize`] returns the contents of `summary.json`, [`Series`] the columns of
//! `timeseries.parquet`. The flow columns are written as they are. Exact integers become floats
//! here and nowhere earlier.
//!
//! | file | contents |
//! |---|---|
//! | `summary` | `summary.json`, key by key |
//! | `series` | the columns of `timeseries.parquet` |
//! | `percentile`, `batches` | order statistics; confidence intervals of one run |
//! | `relaxation`, `room` | the relaxation time of queues; whether a run is long enough for intervals |
//! | `completion`, `bounds` | completion times and slowdowns; bounds on them if flows are unfinished |
//! | `by_size` | slowdowns by flow size |
//! | `window`, `span`, `throughput` | latency and throughput after the warm-up; the measured time; the carried bytes |
//! | `bursts` | flows that arrive for one server at the same instant |
//! | `growing`, `excess` | traffic whose backlog keeps growing; traffic above the capacity of links |
//! | `jobs`, `updates`, `parts`, `derived` | keys of the summary that fabrics and workloads fill |
//! | `memory` | the peak memory of the process |
//!
//! A run is one sample of its seed; `sweep` runs several seeds. Within a run, completion times
//! ([`Bound`]) and the latencies of a [`Window`] have confidence intervals from batches of flows.
//! The other figures have none.

mod batches;
mod bounds;
mod bursts;
mod by_size;
mod completion;
mod derived;
mod excess;
mod growing;
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
pub use excess::{Excess, Links};
pub use growing::Growing;
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
