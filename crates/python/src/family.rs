//! The descendants of this process, from `/proc`. Without `/proc` there are none; worker processes
//! then end by themselves when their pipe to this process breaks.

use std::fs;

/// Python's process that cleans up after the others; it ends by itself after them.
const TRACKER: &str = "resource_tracker";

/// Ends all descendants at once (SIGKILL).
#[allow(unsafe_code)] // the standard library can kill only its own children
pub fn end_children() {
    let all: Vec<(i32, i32)> = processes();
    let mut found = vec![std::process::id() as i32];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(all.iter().filter(|p| p.1 == parent).map(|p| p.0));
        next += 1;
    }
    for &process in found[1..].iter().filter(|&&p| !is_tracker(p)) {
        // SAFETY: the process was a descendant a moment ago.
        unsafe { libc::kill(process, libc::SIGKILL) };
    }
}

/// Every process with its parent.
fn processes() -> Vec<(i32, i32)> {
    let Ok(folder) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    folder
        .filter_map(|entry| {
            let process: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            // The name, in brackets, can itself contain spaces and brackets.
            let (_, rest) = stat.rsplit_once(") ")?;
            let parent = rest.split(' ').nth(1)?.parse().ok()?;
            Some((process, parent))
        })
        .collect()
}

fn is_tracker(process: i32) -> bool {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains(TRACKER)
}
