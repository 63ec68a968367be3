//! What the benches of fabrics share: a process for each case, so that none finds
//! memory or caches as another left them, and what the system tells of a process.

// Every bench is a program of its own and takes what it needs.
#![allow(dead_code)]

use serde_json::Value;

/// Marks the process that measures one case.
const CHILD: &str = "--measure";

/// Runs the cases that the command line names, or all, each in a process of its
/// own, and prints what they measure, a line each.
pub fn each_in_a_process<C>(cases: &[C], name: impl Fn(&C) -> &str, measure: impl Fn(&C) -> Value) {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let itself = std::env::current_exe().expect("the path of this program");
    for case in cases {
        let name = name(case);
        if args.first().is_some_and(|a| a == CHILD) {
            if args.get(1).is_some_and(|a| a == name) {
                println!("{}", measure(case));
            }
        } else if args.is_empty() || args.iter().any(|a| a == name) {
            let child = std::process::Command::new(&itself)
                .args([CHILD, name])
                .status()
                .expect("a process for the case");
            assert!(child.success(), "{name} failed");
        }
    }
}

/// Time that this thread has had a processor [s], where the system tells.
pub fn processor_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// Peak memory of this process [B], where the system tells.
pub fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kb: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kb * 1024)
}
