//! What flows take of memory, and how much of it they may.

/// Memory that a flow takes [B]: 58 in the engine's columns and its order of
/// arrival, 54 in the table of results.
pub const BYTES_PER_FLOW: u64 = 112;

/// The most memory that the flows of a workload may take [B]: 16 GiB.
pub const MEMORY_LIMIT: u64 = 16 << 30;
