//! Ends a command that does not end by itself after a signal.
//!
//! Python's own handlers run between two steps of its interpreter, and code that takes long (a
//! parser in C, an import) can hold the GIL. This thread needs neither. It reads signal numbers
//! from the pipe of `signal.set_wakeup_fd` and gives the command a grace period to end by itself.
//! It then ends the child processes, removes unfinished files and exits.

use crate::family;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{fs, io::Read, io::Write, thread, time::Duration};

/// The folder, in an unfinished one, of files that are being moved to their final names. It is not
/// removed: old and new files would then be mixed.
const READY: &str = "ready";
/// Time between two checks of whether such a folder exists, and the largest number of checks.
const PATIENCE: Duration = Duration::from_millis(10);
const LOOKS: usize = 300;

/// The largest number of attempts to remove an unfinished file, and the time between two attempts.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(1);

/// The files that must not remain.
struct Left {
    /// Files and folders to remove; whether a folder is removed only if it is empty.
    unfinished: BTreeMap<PathBuf, bool>,
    /// Whether the command has printed its final message.
    told: bool,
}

static LEFT: Mutex<Left> = Mutex::new(Left {
    unfinished: BTreeMap::new(),
    told: false,
});

fn with_left<T>(change: impl FnOnce(&mut Left) -> T) -> T {
    change(&mut LEFT.lock().unwrap_or_else(|broken| broken.into_inner()))
}

/// Marks a file or folder as unfinished; a folder may be removed only if it is empty.
#[pyfunction]
pub fn ending_unfinished(path: PathBuf, only_empty: bool) {
    with_left(|left| left.unfinished.insert(path, only_empty));
}

/// Marks a file or folder as finished or removed.
#[pyfunction]
pub fn ending_finished(path: PathBuf) {
    with_left(|left| left.unfinished.remove(&path));
}

/// Records that the command has printed its final message.
#[pyfunction]
pub fn ending_told() {
    with_left(|left| left.told = true);
}

/// Watches the pipe `descriptor` for the signals of `codes` (number → message, none in a worker).
/// After each of them the process is ended once `grace_s` have passed, with exit code 128 + signal
/// number.
#[pyfunction]
pub fn ending_watch(
    descriptor: i32,
    grace_s: f64,
    codes: Vec<(i32, Option<String>)>,
) -> PyResult<()> {
    let mut pipe = fs::File::open(format!("/dev/fd/{descriptor}"))?;
    let grace = Duration::from_secs_f64(grace_s.clamp(0.0, 60.0));
    let watch = move || {
        let mut number = [0];
        while let Ok(1) = pipe.read(&mut number) {
            let found = codes.iter().find(|(code, _)| *code == i32::from(number[0]));
            if let Some((signal, said)) = found {
                thread::sleep(grace);
                end(*signal, said.as_deref());
            }
        }
    };
    thread::Builder::new().spawn(watch)?;
    Ok(())
}

/// Removes a file, or a folder with its contents, while the command is still running. A folder is
/// renamed first. Later writes to the old name then fail and cannot refill the folder while it is
/// emptied. A folder that the command creates again is removed, too. A folder whose files are being
/// moved to their final names stays.
fn remove(path: &Path) {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".removed");
    let renamed = path.with_file_name(name);
    let mut places = vec![path];
    for _ in 0..TRIES {
        if path.is_dir() && fs::rename(path, &renamed).is_ok() && places.len() == 1 {
            places.push(&renamed);
        }
        if renamed.join(READY).exists() {
            drop(fs::rename(&renamed, path));
            return;
        }
        for place in &places {
            drop(fs::remove_file(place).or_else(|_| fs::remove_dir_all(place)));
        }
        if places.iter().all(|place| place.symlink_metadata().is_err()) {
            return;
        }
        thread::sleep(PAUSE);
    }
}

/// Removes unfinished files and ends the process.
#[allow(unsafe_code)] // the standard library has no `_exit`
fn end(signal: i32, said: Option<&str>) -> ! {
    for _ in 0..LOOKS {
        if !with_left(|left| left.unfinished.keys().any(|path| path.join(READY).exists())) {
            break;
        }
        thread::sleep(PATIENCE);
    }
    family::end_children();
    with_left(|left| {
        for (path, only_empty) in left.unfinished.iter().rev() {
            match only_empty {
                true => drop(fs::remove_dir(path)), // inner first; a folder with files stays
                false => remove(path),
            }
        }
        if let (Some(said), false) = (said, left.told) {
            drop(writeln!(std::io::stderr(), "{said}"));
        }
        // SAFETY: the call ends the process, and none of its code runs afterwards. `exit` would
        // call destructors of libraries whose threads still run.
        unsafe { libc::_exit(128 + signal) }
    })
}
