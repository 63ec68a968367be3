//! A packet switch beside the circuits that takes what schedules leave: the hybrid that
//! Solstice plans for (Liu et al., CoNEXT 2015).
//!
//! Every rack has a link to it and one from it, of one rate. When a schedule has been
//! decided on, what it will not carry of the demand that was seen may cross here until the
//! next decision; virtual output queues with such an allowance take turns, packet by
//! packet. The switch stores packets whole and has queues without bound.

use super::voq::Voqs;
use crate::links::{Links, Packet};
use lightloom_control::demand::Report;
use lightloom_control::schedule::Schedule;
use lightloom_engine::{Rate, Time};

/// The switch and the racks' links to it.
#[derive(Clone, Debug)]
pub struct PacketSwitch {
    racks: usize,
    packet: u64,
    /// From racks, a packet at a time.
    pub up: Links,
    /// To racks.
    pub down: Links,
    /// What each pair may still send.
    allowed: Vec<u64>,
    /// Who was served last at each rack.
    turns: Vec<u32>,
}

impl PacketSwitch {
    /// An idle switch.
    pub fn new(racks: u32, rate: Rate, packet: u64) -> PacketSwitch {
        let n = racks as usize;
        PacketSwitch {
            racks: n,
            packet,
            up: Links::fifo(n, rate),
            down: Links::fifo(n, rate),
            allowed: vec![0; n * n],
            turns: vec![0; n],
        }
    }

    /// A decision was made: what `schedule`, repeated for `interval` at `rate`, leaves of
    /// what was seen and still waits may cross.
    pub fn allow(
        &mut self,
        seen: &Report,
        voqs: &Voqs,
        schedule: Option<&Schedule>,
        rate: Rate,
        interval: Time,
    ) {
        self.allowed.fill(0);
        for queue in &seen.queues {
            let pair = voqs.of(queue.from, queue.to);
            self.allowed[pair] = queue.bytes.min(voqs.waiting(pair));
        }
        let Some(schedule) = schedule.filter(|schedule| !schedule.slots.is_empty()) else {
            return;
        };
        let times = (interval.0 / schedule.period().0).max(1) as u64;
        for slot in &schedule.slots {
            let carries = rate.bytes_in(slot.day).saturating_mul(times);
            for (from, to) in slot.circuits() {
                let allowed = &mut self.allowed[from * self.racks + to];
                *allowed = allowed.saturating_sub(carries);
            }
        }
    }

    /// The next packet of a rack whose link is idle leaves its queue; returns when it will
    /// have been sent.
    pub fn serve(&mut self, rack: u32, voqs: &mut Voqs, now: Time) -> Option<(Packet, Time)> {
        if self.up.first(rack as usize).is_some() {
            return None;
        }
        let (row, racks) = (rack as usize * self.racks, self.racks as u32);
        let after = |k: u32| (self.turns[rack as usize] + 1 + k) % racks;
        let waits = |&to: &u32| {
            let pair = row + to as usize;
            self.allowed[pair] > 0 && voqs.waiting(pair) > 0
        };
        let to = (0..racks).map(after).find(waits)?;
        let pair = row + to as usize;
        let (flow, bytes) = voqs.front(pair)?;
        let bytes = bytes.min(self.packet);
        voqs.take(pair, bytes);
        self.allowed[pair] = self.allowed[pair].saturating_sub(bytes);
        self.turns[rack as usize] = to;
        let packet = Packet {
            flow,
            bytes: bytes as u32,
            circuit: false,
        };
        let until = self.up.join(rack as usize, packet, false, now);
        until.map(|until| (packet, until))
    }

    /// Bytes inside.
    pub fn bytes(&self) -> u64 {
        self.up.bytes + self.down.bytes
    }
}
