//! The circuits of all planes: their racks, and the bytes on them.
//!
//! A line is the end of a plane's circuits at a rack that sends. Lines are numbered plane by
//! plane: line = plane × racks + rack.

use super::burst::{Window, Wire};
use super::days::{Begun, Plane};
use super::setup::Setup;
use lightloom_engine::{Circuit, FlowId, Nic, PortId, Rate, Time};
use std::ops::Range;

/// No circuit.
pub const NONE: u32 = u32::MAX;

/// The circuit of a rack on a plane during this slot.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The receiving rack; [`NONE`] without a circuit.
    pub to: u32,
    /// The time before which nothing is sent.
    pub free: Time,
    /// The times at which the rack sends, and at which the circuit is lit.
    pub window: Window,
    /// Bytes of the window.
    pub room: u64,
    /// Bytes of a flow that continues after this day.
    pub open: Open,
}

/// Bytes of a flow that continues after the day, sent back to back until the day ends. They are
/// counted when the day ends, or when a sample is taken.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// The flow.
    pub flow: FlowId,
    /// Time at which the first of the bytes leaves.
    pub from: Time,
    /// Number of bytes.
    pub bytes: u64,
    /// Number of these bytes that have been counted.
    pub counted: u64,
    /// Whether they come from a relay.
    pub relayed: bool,
}

impl Open {
    /// No such flow.
    pub const NONE: Open = Open {
        flow: FlowId(0),
        from: Time::ZERO,
        bytes: 0,
        counted: 0,
        relayed: false,
    };
}

impl Line {
    /// A line without a circuit.
    pub const DARK: Line = Line {
        to: NONE,
        free: Time::ZERO,
        window: Window::NONE,
        room: 0,
        open: Open::NONE,
    };

    /// Whether it has a circuit.
    #[inline]
    pub fn is_lit(&self) -> bool {
        self.to != NONE
    }
}

/// All planes, their lines, and counts of the bytes that they carry.
pub struct Circuits {
    /// Racks.
    pub racks: u32,
    /// The rate and packet size at which racks send.
    pub wire: Wire,
    /// Delay from one rack to another.
    pub propagation: Time,
    /// Switches.
    pub planes: Vec<Plane>,
    /// Lines by plane and rack.
    pub lines: Vec<Line>,
    /// Bytes that were sent and have not arrived, or that were lost and not yet queued again.
    pub moving: u64,
    /// Bytes that have crossed.
    pub carried: u64,
    /// Packets that were sent.
    pub packet_hops: u64,
    /// Servers' links take packets one by one.
    pub(super) by_packet: bool,
    link_rate: Rate,
}

impl Circuits {
    /// The dark circuits of a network.
    pub fn new(setup: &Setup) -> Circuits {
        let racks = setup.cluster.racks;
        Circuits {
            racks,
            wire: setup.wire,
            propagation: setup.propagation,
            planes: { setup.planes.iter() }.cloned().map(Plane::new).collect(),
            lines: vec![Line::DARK; racks as usize * setup.planes.len()],
            moving: 0,
            carried: 0,
            packet_hops: 0,
            by_packet: setup.cluster.nic != Nic::Uncapped,
            link_rate: setup.link_rate,
        }
    }

    /// The number of a line.
    #[inline]
    pub fn line(&self, plane: usize, rack: u32) -> usize {
        plane * self.racks as usize + rack as usize
    }

    /// The lines of a plane.
    pub fn lines_of(&self, plane: usize) -> Range<usize> {
        self.line(plane, 0)..self.line(plane + 1, 0)
    }

    /// The rack that sends on a line.
    #[inline]
    pub fn rack(&self, line: usize) -> u32 {
        line as u32 % self.racks
    }

    /// The plane of a line.
    #[inline]
    pub fn plane(&self, line: usize) -> usize {
        line / self.racks as usize
    }

    /// Sets the new circuits of a plane; racks send over them from first light until the next
    /// night.
    pub fn light_plane(&mut self, plane: usize, begun: &Begun) {
        let lines = self.lines_of(plane);
        let Some(permutation) = begun.permutation() else {
            return self.lines[lines].fill(Line::DARK);
        };
        let window = Window {
            // A slot may begin before the run.
            from: begun.times.first_light.max(Time::ZERO),
            until: begun.times.ends,
            light: begun.light,
            dark: begun.times.ends,
        };
        let room = self.wire.rate.bytes_in(window.until - window.from);
        let lit = |to| Line {
            to,
            free: window.from,
            window,
            room,
            open: Open::NONE,
        };
        for ((rack, line), &to) in (0..).zip(&mut self.lines[lines]).zip(permutation) {
            *line = if to == rack { Line::DARK } else { lit(to) };
        }
    }

    /// All planes side by side.
    pub fn rate(&self) -> Rate {
        Rate(self.wire.rate.0 * self.planes.len() as u64)
    }

    /// Sum of the rates of all circuits.
    pub fn capacity(&self) -> u64 {
        self.link_rate.0 * self.planes.len() as u64 * u64::from(self.racks)
    }

    /// The rate of a port that belongs to a line.
    pub fn port_rate(&self, port: PortId) -> Option<Rate> {
        ((port.0 as usize) < self.lines.len()).then_some(self.link_rate)
    }

    /// Whether a lit circuit connects two ports; true for ports that do not belong to lines.
    pub fn is_lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        if tx.0 as usize >= self.lines.len() {
            return true;
        }
        let plane = &self.planes[(tx.0 / self.racks) as usize];
        plane
            .light
            .was_lit(tx.0 % self.racks, rx.0 % self.racks, at)
    }

    /// All circuits so far, in order of time.
    pub fn lit(&self, now: Time) -> Vec<Circuit> {
        let planes = self.planes.iter().enumerate();
        let mut all: Vec<Circuit> = planes
            .flat_map(|(number, plane)| plane.light.circuits(number as u16, now))
            .collect();
        all.sort_by_key(|circuit| circuit.from);
        all
    }

    /// Mean time for which a plane was lit.
    pub fn lit_for(&self, now: Time) -> Time {
        let lit: i64 = self.planes.iter().map(|p| p.light.lasted(now).0).sum();
        Time(lit / self.planes.len() as i64)
    }

    /// By pair of racks, whether a working switch connects them in its schedule; empty if all
    /// switches work.
    pub fn meetings(&self) -> Vec<bool> {
        if self.planes.iter().all(|plane| plane.works) {
            return Vec::new();
        }
        let racks = self.racks as usize;
        let mut meet = vec![false; racks * racks];
        for plane in self.planes.iter().filter(|plane| plane.works) {
            let schedule = plane.next.as_ref().or(plane.schedule.as_ref());
            let slots = schedule.iter().flat_map(|schedule| &schedule.slots);
            for (from, &to) in slots.flat_map(|slot| slot.permutation.iter().enumerate()) {
                meet[from * racks + to as usize] |= from != to as usize;
            }
        }
        meet
    }
}
