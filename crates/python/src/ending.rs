//! The last resort after a signal: a command that has not ended by itself is ended.
//!
//! Python's own handlers run between two steps of its interpreter, and the GIL may be held
//! by code that takes long (a parser in C, an import). This thread needs neither: it reads
//! the numbers of signals from the pipe of `signal.set_wakeup_fd`, leaves the command a
//! grace to end by itself, and then ends its children, removes its unfinished files and exits.

#[cfg(unix)]
use crate::family;
use pyo3::prelude::*;
use std::collections::BTreeSet;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
#[cfg(unix)]
use std::{fs, io::Read, io::Write, thread, time::Duration};

/// Between two looks at whether files are still being given their names.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_millis(10);
/// Most times that the state is checked.
#[cfg(unix)]
const LOOKS: usize = 300;

/// How often what is unfinished is removed at most, and how long after each other.
#[cfg(unix)]
const TRIES: usize = 100;
#[cfg(unix)]
const PAUSE: Duration = Duration::from_millis(1);

/// The files that must not be left behind, and whether removal has to wait.
struct Left {
    unfinished: BTreeSet<PathBuf>,
    /// Folders that were made for what was to come: they go where they are empty.
    made: BTreeSet<PathBuf>,
    /// How many are giving files their names: half of them would be a mixture.
    naming: usize,
    /// Whether the user has been told how it ends.
    told: bool,
}

static LEFT: Mutex<Left> = Mutex::new(Left {
    unfinished: BTreeSet::new(),
    made: BTreeSet::new(),
    naming: 0,
    told: false,
});

fn with_left<T>(change: impl FnOnce(&mut Left) -> T) -> T {
    change(&mut LEFT.lock().unwrap_or_else(|broken| broken.into_inner()))
}

/// Notes a file or folder that is unfinished, or is so no more.
#[pyfunction]
pub fn ending_unfinished(path: PathBuf, unfinished: bool) {
    with_left(|left| match unfinished {
        true => left.unfinished.insert(path),
        false => left.unfinished.remove(&path),
    });
}

/// Notes a folder that was made and has nothing in it yet, or needs no look any more.
#[pyfunction]
pub fn ending_made(path: PathBuf, made: bool) {
    with_left(|left| match made {
        true => left.made.insert(path),
        false => left.made.remove(&path),
    });
}

/// Notes that files are being given their names, or are no more.
#[pyfunction]
pub fn ending_naming(begins: bool) {
    with_left(|left| match begins {
        true => left.naming += 1,
        false => left.naming = left.naming.saturating_sub(1),
    });
}

/// Notes that the user has been told how the command ends.
#[pyfunction]
pub fn ending_told() {
    with_left(|left| left.told = true);
}

/// Watches the pipe `descriptor` for the signals of `codes` (number → what to say, nothing in
/// a worker), each of which ends the process within `grace_s`, by then with exit code 128 and
/// its number.
#[pyfunction]
#[cfg(unix)]
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

/// Nothing: there are no such signals here.
#[pyfunction]
#[cfg(not(unix))]
pub fn ending_watch(_: i32, _: f64, _: Vec<(i32, Option<String>)>) {}

/// Removes a file, or a folder with all in it. The command works on meanwhile. A folder is
/// renamed first: what the command still writes under the old name then fails, and cannot
/// refill the folder as it is emptied. A folder that the command makes anew is removed, too.
#[cfg(unix)]
fn remove(path: &Path) {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".removed");
    let renamed = path.with_file_name(name);
    let mut places = vec![path];
    for _ in 0..TRIES {
        if path.is_dir() && fs::rename(path, &renamed).is_ok() && places.len() == 1 {
            places.push(&renamed);
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

/// Ends the process with nothing of it left.
#[cfg(unix)]
#[allow(unsafe_code)] // `_exit`, which the standard library does not have
fn end(signal: i32, said: Option<&str>) -> ! {
    for _ in 0..LOOKS {
        if with_left(|left| left.naming == 0) {
            break;
        }
        thread::sleep(PATIENCE);
    }
    family::end_children();
    with_left(|left| {
        for path in &left.unfinished {
            remove(path);
        }
        for folder in left.made.iter().rev() {
            drop(fs::remove_dir(folder)); // inner ones first; one with files in it stays
        }
        if let (Some(said), false) = (said, left.told) {
            drop(writeln!(std::io::stderr(), "{said}"));
        }
        // SAFETY: it ends the process; nothing of it runs any more. `exit` would call
        // destructors of libraries whose threads still run.
        unsafe { libc::_exit(128 + signal) }
    })
}
