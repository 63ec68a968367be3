//! Experiments, from their tables to their results. All tests are one program: what they use of the
//! crate is compiled and linked once.

mod circuits_alone;
mod common;
mod devices;
mod drain;
mod excess;
mod experiment;
mod findings;
mod jobs;
mod overlapping_failures;
mod oversubscription;
mod physics;
mod readers;
mod server_rate;
mod still;
mod switches;
mod tables;
mod window;
