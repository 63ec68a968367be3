//! The peak resident memory of this process, if the system reports it.
//!
//! Only Linux is supported (`/proc/self`). The peak belongs to the process: if several runs share a
//! process at the same time, each reports the peak of all.

/// Peak resident memory [B] since the start of the process, or since [`reset_peak_rss`]; `None` if
/// the system does not report it.
pub fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    high_water_mark(&status)
}

/// Resets the peak to the present resident memory, so that the second run of a process does not
/// report the first one's peak. Does nothing if the system does not allow it.
pub fn reset_peak_rss() {
    // `man 5 proc`: 5 resets the high-water mark.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_words() {
        let status = "VmPeak:\t 9 kB\nVmHWM:\t  2048 kB\nVmRSS:\t 7 kB\n";
        assert_eq!(high_water_mark(status), Some(2 << 20));
        assert_eq!(high_water_mark("VmRSS:\t 7 kB\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn grows_with_what_is_touched() {
        reset_peak_rss();
        let before = peak_rss().unwrap();
        let block = vec![1u8; 64 << 20];
        assert_eq!(std::hint::black_box(&block)[block.len() - 1], 1);
        assert!(peak_rss().unwrap() >= before + (60 << 20));
    }
}
