//! Workloads: flow sizes, arrival times, traffic patterns, and flow traces.
//!
//! A [`WorkloadConfig`] becomes [`Flows`](lightloom_engine::Flows): drawn from three independent
//! distributions ([`sizes`], [`arrivals`], [`patterns`]), each with its own random stream, so that
//! a change of one does not affect the others; or read from a [`trace`]; or built as the graphs of
//! [`jobs`]: [`applications`] and [`collectives`] whose flows depend on each other.
//!
//! | module | contents |
//! |---|---|
//! | [`config`], `kinded` | the `[workload]` table; tables selected by their `kind` |
//! | `means`, `offered` | mean sizes of flows by their distributions; the offered traffic between servers |
//! | `plan`, `generate`, `memory` | the distributions of a table and the number of flows; drawn flows; their memory |
//! | [`sizes`], [`arrivals`], [`times`], `sources` | laws of sizes and arrivals; arrivals from a file, and server by server |
//! | [`patterns`] | senders and receivers, one file for each pattern |
//! | [`trace`], [`text`], `decimal` | flows from files; text read by line and column; decimal numbers, held exactly |
//! | `mix`, `part` | parts with their own distributions, drawn together; the table of a part |
//! | [`jobs`], `tasks`, [`applications`], [`collectives`] | the table of jobs; their graphs; programs, and algorithms of collectives |
//!
//! **The mean of a sample.** Samples of heavy tails are biased: 200,000 draws of a Pareto
//! distribution of shape 1.05 (Sirius §7) have a mean far below that of the distribution, with a
//! median over seeds of 0.48 of it, because the rare sizes that make up the rest of the mean are
//! not drawn. At `load = 0.5` such a sample offers a load near 0.24. [`MeanRule`] selects how this
//! is handled. The arrival rate is always set by the mean of the distribution, and summaries print
//! the load as drawn.
//!
//! Not modelled: correlation between a drawn flow's size, its time and its endpoints, except in
//! [`patterns::Incast`]; and jobs together with drawn flows.

#[macro_use]
mod kinded;

pub mod applications;
pub mod arrivals;
pub mod collectives;
pub mod config;
mod decimal;
mod generate;
pub mod jobs;
mod means;
mod memory;
mod mix;
mod offered;
mod part;
pub mod patterns;
mod plan;
pub mod sizes;
mod sources;
mod tasks;
pub mod text;
pub mod times;
pub mod trace;

pub use arrivals::Arrivals;
pub use config::WorkloadConfig;
pub use jobs::{Job, JobKind, Schedule};
pub use memory::{BYTES_PER_FLOW, MEMORY_LIMIT};
pub use offered::Offered;
pub use part::Part;
pub use patterns::Pattern;
pub use sizes::registry::{registry, Published};
pub use sizes::{Interpolation, MeanRule, Sizes};
pub use tasks::Placement;
pub use text::TextError;
