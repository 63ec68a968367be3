//! Refuses runs that would exceed memory, before they are built.

use lightloom_engine::{Bytes, Refusal};

/// Refuses `need` bytes for `key = value` if this machine has less.
pub(crate) fn check(
    key: &str,
    value: impl std::fmt::Display,
    need: u64,
    remedy: &str,
) -> Result<(), Refusal> {
    within(key, value, need, limit(), remedy)
}

fn within(
    key: &str,
    value: impl std::fmt::Display,
    need: u64,
    limit: Option<u64>,
    remedy: &str,
) -> Result<(), Refusal> {
    match limit {
        Some(limit) if need > limit => Err(Refusal::new(
            key,
            value,
            format!(
                "takes about {} of memory, and this machine has {}",
                rounded(need),
                rounded(limit)
            ),
            remedy,
        )),
        _ => Ok(()),
    }
}

/// Rounds an estimate to three digits.
fn rounded(bytes: u64) -> Bytes {
    let unit = 10u64.pow(bytes.max(1).ilog10().saturating_sub(2));
    Bytes(bytes / unit * unit)
}

/// Memory of the machine or of the container, whichever is less [B]; `None` if the system does not
/// report it.
fn limit() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| mem_total(&text));
    let container = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse().ok());
    [machine, container].into_iter().flatten().min()
}

fn mem_total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|l| l.starts_with("MemTotal:"))?;
    let kib: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_holds_the_estimate() {
        let e = within(
            "workload.flows",
            7,
            123_456_789_012,
            Some(24_000_000_000),
            "lower it",
        );
        assert_eq!(
            e.unwrap_err().to_string(),
            "workload.flows = 7: takes about 123 GB of memory, and this machine has 24 GB; lower it"
        );
        assert_eq!(within("", 7, 8, Some(8), ""), Ok(()));
        assert_eq!(within("", 7, u64::MAX, None, ""), Ok(()));
    }

    #[test]
    fn reads_the_kernels_words() {
        assert_eq!(
            mem_total("MemTotal:       2048 kB\nMemFree: 1 kB\n"),
            Some(2 << 20)
        );
        assert_eq!(mem_total(""), None);
    }
}
