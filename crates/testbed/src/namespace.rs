//! Runs functions inside a network namespace.

use nix::sched::{setns, CloneFlags};
use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;

/// Runs `work` on a thread inside the network namespace that a file such as `/run/netns/NAME`
/// names. Sockets and devices that `work` opens stay in that namespace.
///
/// # Errors
/// If the file is not a network namespace, if the process may not enter it, or if `work` fails.
pub fn within<T: Send>(path: &Path, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let entered = || {
        let file = File::open(path)?;
        setns(file, CloneFlags::CLONE_NEWNET)?;
        work()
    };
    thread::scope(|scope| match scope.spawn(entered).join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
