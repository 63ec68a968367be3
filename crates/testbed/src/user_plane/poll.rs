//! The loop of the plane: it reads frames from hosts, opens circuits by the clock and hands frames
//! to their destination hosts.
//!
//! The kernel runs the loop before all other programs, and suspends it for 50 ms in each second if
//! it leaves less than 5 % of the time to them. If all days are [`LONG`] or longer, the loop sleeps
//! whenever nothing is due. Otherwise it polls, and rests in some nights, see [`Rest`].

#![allow(unsafe_code)]

use super::days::{Day, Days};
use super::queues::{place_of, Queues};
use super::rest::Rest;
use super::{Host, Settings, Shared};
use nix::libc;
use nix::sched::{sched_setaffinity, CpuSet};
use nix::time::{clock_gettime, ClockId};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The Ethernet header of a frame: addresses and type [B].
const HEADER: usize = 14;
/// Bytes on the wire that are not part of a host's frame: preamble, checksum and gap [B].
const WIRE: u64 = 8 + 4 + 12;
/// The shortest frame without its checksum [B].
const SHORTEST: u64 = 60;
/// The EtherType of synchronisation frames, from the range that IEEE 802 reserves for experiments.
const SYNC: u16 = 0x88b5;
/// The thread sleeps only if more than this time is left until the next edge of a day, so that hosts
/// can use its processor [ns].
const NAP: u64 = 200_000;
/// The sleep ends this long before the edge [ns].
const EARLY: u64 = 100_000;
/// The shortest day in which the thread sleeps [ns].
const LONG: u64 = 1_000_000;
/// The longest sleep in a day [ns]. Sleeps of 100 us cost a third of the throughput in days of 1 ms.
const REST: u64 = 20_000;
/// The priority of the thread among real-time threads, below that of the controller.
const PRIORITY: i32 = 2;

/// The monotonic clock [ns].
pub fn clock() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// The time for which this thread has had a processor [ns].
fn used() -> u64 {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

fn read(clock: ClockId) -> u64 {
    let now = clock_gettime(clock).expect("Linux has this clock");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

struct Plane<'a> {
    rate: u64,
    rack_of: Vec<u32>,
    host_at: BTreeMap<(u32, u32), usize>,
    taps: Vec<File>,
    queues: Queues,
    /// When the link of each rack finishes its last frame [ns].
    free: Vec<u64>,
    days: Days,
    /// The day whose circuits are open; its start time identifies it.
    open: Day,
    /// Whether the thread sleeps during days.
    sleeps: bool,
    /// The rests of the thread; `None` without a real-time policy, because a resting thread would
    /// then have to wait for its processor.
    rest: Option<Rest>,
    shared: &'a Shared,
}

/// Polls until `Shared::stopped` returns true.
///
/// # Errors
/// If a device no longer exists.
pub fn run(
    settings: &Settings,
    hosts: &[Host],
    taps: Vec<File>,
    shared: &Shared,
) -> io::Result<()> {
    bind();
    let places = hosts.iter().enumerate();
    let mut plane = Plane {
        rate: settings.rate_bps,
        rack_of: hosts.iter().map(|host| host.rack).collect(),
        host_at: places
            .map(|(at, host)| ((host.rack, host.number), at))
            .collect(),
        taps,
        queues: Queues::new(settings.racks, settings.frames, settings.mtu + HEADER),
        free: vec![0; settings.racks as usize],
        days: Days::default(),
        open: Day::default(),
        sleeps: false,
        rest: None,
        shared,
    };
    while !shared.stopped() {
        let now = clock();
        if let Some(schedule) = shared.renewed() {
            plane.days.follow(schedule, now);
            plane.sleeps = plane.days.shortest() >= LONG;
            plane.rest = prefer().then(|| Rest::new(now, used()));
        }
        let idle = !plane.read(now)?;
        plane.turn(idle);
    }
    Ok(())
}

/// Binds this thread to the last processor. The devices of hosts pass received frames to the other
/// processors.
fn bind() {
    let last = std::thread::available_parallelism().map_or(1, usize::from) - 1;
    let mut set = CpuSet::new();
    if last > 0 && set.set(last).is_ok() {
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
}

/// Gives this thread a real-time policy; returns whether the kernel permits it. Otherwise the thread
/// has a higher niceness than hosts, if the process may give it one.
fn prefer() -> bool {
    let parameters = libc::sched_param {
        sched_priority: PRIORITY,
    };
    // SAFETY: the calls read `parameters` alone; if the kernel refuses, the priority stays as it is.
    unsafe {
        let thread = libc::syscall(libc::SYS_gettid) as libc::id_t;
        libc::setpriority(libc::PRIO_PROCESS, thread, -20);
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) == 0
    }
}

/// Sleeps until shortly before a time, if it is far enough away.
fn sleep_until(edge: u64, now: u64, longest: u64) {
    let left = edge.saturating_sub(now);
    if left > NAP {
        std::thread::sleep(Duration::from_nanos((left - EARLY).min(longest)));
    }
}

fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Relaxed);
}

impl Plane<'_> {
    /// Reads one frame from every host that has one; returns whether there was any.
    fn read(&mut self, now: u64) -> io::Result<bool> {
        let mut any = false;
        for host in 0..self.taps.len() {
            let Some(buffer) = self.queues.buffer() else {
                // The devices hold the frames, so hosts wait.
                return Ok(any);
            };
            match self.taps[host].read(buffer) {
                Ok(length) => {
                    any = true;
                    self.arrived(host, length, now);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The device is not up yet.
                Err(error) if error.raw_os_error() == Some(libc::EIO) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(any)
    }

    fn arrived(&mut self, host: usize, length: usize, now: u64) {
        let from = self.rack_of[host];
        let Some(buffer) = self.queues.buffer() else {
            return;
        };
        let place = (length >= HEADER).then(|| place_of(&buffer[..6])).flatten();
        let to = place.and_then(|place| self.host_at.get(&place).copied());
        let Some(to) = to else {
            return add(&self.shared.strange, 1);
        };
        let rack = self.rack_of[to];
        if rack == from {
            let taken = (&self.taps[to]).write(&buffer[..length]);
            return match taken {
                Ok(_) => add(&self.shared.frames, 1),
                Err(_) => add(&self.shared.lost, 1),
            };
        }
        let queue = self.queues.of(from, rack);
        self.queues.push(queue, length, to, now);
        add(&self.shared.offered[queue], length as u64);
        self.shared.waiting[queue].store(self.queues.waiting(queue), Relaxed);
    }

    /// Performs the actions that are due: begins a day, or sends frames over its circuits. Sleeps if
    /// nothing is due and hosts are `idle`.
    fn turn(&mut self, idle: bool) {
        let now = clock();
        let Some((day, begun)) = self.days.advance(now) else {
            return std::thread::sleep(Duration::from_micros(50));
        };
        if begun > 1 {
            add(&self.shared.missed_days, begun - 1);
        }
        if now < day.from {
            if !self.sleeps {
                self.rest(|rest| rest.in_night(now, day.from));
            }
            return sleep_until(day.from, clock(), u64::MAX);
        }
        if self.open != day {
            self.open = day;
            self.begin(day, now);
        }
        for input in 0..self.free.len() {
            let output = self.days.outputs(day.slot)[input];
            if output != input as u32 {
                self.serve(input, output, day);
            }
        }
        if idle && self.sleeps {
            sleep_until(day.until, clock(), REST);
        }
        self.rest(|rest| rest.in_day(now));
    }

    /// Sleeps for the time that `choose` returns, if this thread has to rest.
    fn rest(&mut self, choose: impl FnOnce(&Rest) -> Option<u64>) {
        let Some(rest) = &mut self.rest else { return };
        if let Some(length) = choose(rest) {
            std::thread::sleep(Duration::from_nanos(length));
            rest.slept(clock(), used());
        }
    }

    /// Begins a day: sends a synchronisation frame to each host at the output of a circuit.
    fn begin(&mut self, day: Day, now: u64) {
        let number = self.shared.days.fetch_add(1, Relaxed);
        self.shared.lateness.add(now - day.from);
        for input in 0..self.free.len() {
            let output = self.days.outputs(day.slot)[input];
            if output == input as u32 {
                continue;
            }
            let hosts = self.host_at.range((output, 0)..(output + 1, 0));
            for (&place, &host) in hosts {
                let frame = sync_frame(place, input as u32, number, day);
                if (&self.taps[host]).write(&frame).is_ok() {
                    add(&self.shared.sync, 1);
                }
            }
        }
    }

    /// Sends queued frames over a circuit, up to the time that the rack's link has reached.
    fn serve(&mut self, input: usize, output: u32, day: Day) {
        let queue = self.queues.of(input as u32, output);
        while let Some(frame) = self.queues.front(queue) {
            let begins = self.free[input].max(day.from).max(frame.at);
            let length = (frame.bytes().len() as u64).max(SHORTEST) + WIRE;
            let ends = begins + (length * 8 * 1_000_000_000).div_ceil(self.rate);
            // A frame is sent only if it ends before the night, and not before the frame ahead of
            // it has ended. If the loop was delayed beyond the day, the rest waits for the pair's
            // next day. The sending host has already serialised the frame, so the frame is handed
            // on when its transmission begins.
            let now = clock();
            if ends > day.until || begins > now || now >= day.until {
                return;
            }
            let written = (&self.taps[frame.to]).write(frame.bytes());
            let done = clock();
            let length = self.queues.pop(queue);
            self.free[input] = ends;
            self.shared.waiting[queue].store(self.queues.waiting(queue), Relaxed);
            match written {
                Ok(_) => {
                    add(&self.shared.frames, 1);
                    add(&self.shared.carried[queue], length);
                    let in_day = match done <= day.until {
                        true => &self.shared.in_day,
                        false => &self.shared.out_of_day,
                    };
                    add(in_day, 1);
                }
                Err(_) => add(&self.shared.lost, 1),
            }
        }
    }
}

/// The frame that a host receives when a circuit to its rack is lit: the number of the day, the
/// sending rack and the length of the day (Mordia §5.2.2: a frame announces each slot to all
/// hosts).
fn sync_frame(to: (u32, u32), input: u32, number: u64, day: Day) -> [u8; SHORTEST as usize] {
    let mut frame = [0; SHORTEST as usize];
    let mac = |rack: u32, host: u32| {
        let (rack, host) = ((rack as u16).to_be_bytes(), (host as u16).to_be_bytes());
        [0x02, 0x4c, rack[0], rack[1], host[0], host[1]]
    };
    frame[..6].copy_from_slice(&mac(to.0, to.1));
    frame[6..12].copy_from_slice(&mac(input, u32::from(u16::MAX)));
    frame[12..14].copy_from_slice(&SYNC.to_be_bytes());
    frame[14..22].copy_from_slice(&number.to_be_bytes());
    frame[22..26].copy_from_slice(&input.to_be_bytes());
    frame[26..34].copy_from_slice(&(day.until - day.from).to_be_bytes());
    frame
}
