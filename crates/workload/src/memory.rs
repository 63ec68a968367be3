//! Memory of flows, and its limit.

use lightloom_engine::Refusal;

/// Memory of a flow [B]: 58 in the engine's columns and its order of arrival, 54 in the table of
/// results.
pub const BYTES_PER_FLOW: u64 = 112;

/// The most memory that the flows of a workload may take [B]: 16 GiB.
pub const MEMORY_LIMIT: u64 = 16 << 30;

/// Refuses more flows than fit in memory, before any is made.
pub(crate) fn check_memory(key: &str, flows: u64) -> Result<(), Refusal> {
    let need = flows as u128 * BYTES_PER_FLOW as u128;
    if need <= MEMORY_LIMIT as u128 {
        return Ok(());
    }
    let gib = |bytes: f64| bytes / (1u64 << 30) as f64;
    Err(Refusal::new(
        key,
        flows,
        format!(
            "would take about {:.0} GiB of memory ({BYTES_PER_FLOW} B a flow), the limit is {:.0} GiB",
            gib(need as f64),
            gib(MEMORY_LIMIT as f64)
        ),
        format!("send at most {} flows", MEMORY_LIMIT / BYTES_PER_FLOW),
    ))
}
