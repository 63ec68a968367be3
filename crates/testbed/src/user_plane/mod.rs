//! The user-space plane: hosts on TAP devices, a queue for each pair of racks, and a clock that
//! opens the circuits of one matching after another (Mordia, SIGCOMM 2013, §5).
//!
//! One thread polls. A frame leaves its queue only in a day of its pair, at the rate of the link,
//! and only if all of it passes before the night. Otherwise the frame waits, so no frame is lost at
//! the end of a day. Frames within a rack are forwarded at once.
//!
//! | file | contents |
//! |---|---|
//! | this file | the plane, its thread, its settings and its counters |
//! | [`days`] | the matching that is lit at a given time |
//! | [`queues`] | frames that wait, in reused buffers |
//! | `poll` | the loop: read, open, send |
//! | [`rest`] | when the thread has to leave its processor to others |
//! | [`lateness`] | how late the loop detects the start of each day |

pub mod days;
pub mod lateness;
mod poll;
pub mod queues;
pub mod rest;

use super::tap;
use days::Schedule;
use lateness::Lateness;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// A host of the plane.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its network namespace.
    pub namespace: PathBuf,
    /// Its rack.
    pub rack: u32,
    /// Its number in the rack. The rack and this number determine the host's MAC address, see
    /// [`queues::place_of`].
    pub number: u32,
}

/// Settings of a plane.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Racks; each is one port of the optical switch.
    pub racks: u32,
    /// Rate of a circuit [b/s].
    pub rate_bps: u64,
    /// The name of the device in each host's namespace.
    pub device: String,
    /// The longest packet of a host [B].
    pub mtu: usize,
    /// Frames that the plane can hold. When it is full it reads no more, and hosts wait.
    pub frames: usize,
}

/// The counters of the plane at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that were handed to their host, within racks and between racks.
    pub frames: u64,
    /// Frames between racks that were handed over before their day ended.
    pub in_day: u64,
    /// Frames between racks that were handed over after their day ended.
    pub out_of_day: u64,
    /// Frames that the kernel did not accept.
    pub lost: u64,
    /// Frames whose destination is not a host of the plane, such as broadcasts; they are not part
    /// of the experiment.
    pub strange: u64,
    /// Synchronisation frames: one for each circuit, day and host at the circuit's output.
    pub sync: u64,
    /// Days that have begun.
    pub days: u64,
    /// Days that ended before the loop detected them.
    pub missed_days: u64,
    /// Bytes carried, at index input × racks + output.
    pub carried: Vec<u64>,
    /// Bytes that wait, with the same index.
    pub waiting: Vec<u64>,
    /// Bytes that hosts have sent for each pair since the start, with the same index.
    pub offered: Vec<u64>,
    /// How late the loop detected the start of a day: median, 99th and 99.9th percentile, maximum
    /// [ns].
    pub lateness_ns: [u64; 4],
}

/// State shared by the thread and its owner.
pub(super) struct Shared {
    stop: AtomicBool,
    /// The schedule to be followed from the next poll on.
    next: Mutex<Option<Schedule>>,
    renewed: AtomicBool,
    pub(super) frames: AtomicU64,
    pub(super) in_day: AtomicU64,
    pub(super) out_of_day: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) strange: AtomicU64,
    pub(super) sync: AtomicU64,
    pub(super) days: AtomicU64,
    pub(super) missed_days: AtomicU64,
    pub(super) carried: Vec<AtomicU64>,
    pub(super) waiting: Vec<AtomicU64>,
    pub(super) offered: Vec<AtomicU64>,
    pub(super) lateness: Lateness,
}

impl Shared {
    fn new(racks: u32) -> Shared {
        let zeros = || (0..racks * racks).map(|_| AtomicU64::new(0)).collect();
        Shared {
            stop: AtomicBool::new(false),
            next: Mutex::new(None),
            renewed: AtomicBool::new(false),
            frames: AtomicU64::new(0),
            in_day: AtomicU64::new(0),
            out_of_day: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            strange: AtomicU64::new(0),
            sync: AtomicU64::new(0),
            days: AtomicU64::new(0),
            missed_days: AtomicU64::new(0),
            carried: zeros(),
            waiting: zeros(),
            offered: zeros(),
            lateness: Lateness::default(),
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// The schedule that was set since the last call, if there is one.
    pub(super) fn renewed(&self) -> Option<Schedule> {
        if !self.renewed.swap(false, Relaxed) {
            return None;
        }
        self.next.lock().ok()?.take()
    }
}

/// A plane that runs until it is dropped, which deletes its devices.
pub struct UserPlane {
    shared: Arc<Shared>,
    racks: u32,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl UserPlane {
    /// Creates a device in the namespace of each host and starts to poll. All circuits are dark.
    ///
    /// # Errors
    /// If a device cannot be created.
    pub fn new(settings: &Settings, hosts: &[Host]) -> io::Result<UserPlane> {
        let open = |host: &Host| tap::open(&host.namespace, &settings.device);
        let taps: Vec<File> = hosts.iter().map(open).collect::<io::Result<_>>()?;
        let shared = Arc::new(Shared::new(settings.racks));
        let (beside, settings) = (shared.clone(), settings.clone());
        let hosts = hosts.to_vec();
        let racks = settings.racks;
        let thread = thread::Builder::new()
            .name("user-plane".to_owned())
            .spawn(move || poll::run(&settings, &hosts, taps, &beside))?;
        Ok(UserPlane {
            shared,
            racks,
            thread: Some(thread),
        })
    }

    /// Starts a schedule with the night of its first slot: when the present slot ends, or at the
    /// next poll if there is none.
    ///
    /// # Errors
    /// If [`Schedule::check`] refuses it.
    pub fn follow(&self, schedule: Schedule) -> io::Result<()> {
        schedule.check(self.racks)?;
        if let Ok(mut next) = self.shared.next.lock() {
            *next = Some(schedule);
        }
        self.shared.renewed.store(true, Relaxed);
        Ok(())
    }

    /// Whether the thread still polls.
    pub fn works(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
    }

    /// The present counters.
    pub fn counts(&self) -> Counts {
        let shared = &*self.shared;
        let all = |counts: &[AtomicU64]| counts.iter().map(|c| c.load(Relaxed)).collect();
        Counts {
            frames: shared.frames.load(Relaxed),
            in_day: shared.in_day.load(Relaxed),
            out_of_day: shared.out_of_day.load(Relaxed),
            lost: shared.lost.load(Relaxed),
            strange: shared.strange.load(Relaxed),
            sync: shared.sync.load(Relaxed),
            days: shared.days.load(Relaxed),
            missed_days: shared.missed_days.load(Relaxed),
            carried: all(&shared.carried),
            waiting: all(&shared.waiting),
            offered: all(&shared.offered),
            lateness_ns: [0.5, 0.99, 0.999, 1.0].map(|share| shared.lateness.percentile(share)),
        }
    }

    /// Ends the thread and drops the waiting frames.
    ///
    /// # Errors
    /// The error that ended the thread earlier.
    pub fn stop(&mut self) -> io::Result<()> {
        self.shared.stop.store(true, Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}

impl Drop for UserPlane {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
