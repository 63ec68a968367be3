//! Collectives of parallel programs, one file an algorithm.

mod exchange;

pub use exchange::Exchange;
