//! A packet switch beside the circuits for the demand that schedules leave: the hybrid network for
//! which Solstice plans (Liu et al., CoNEXT 2015).
//!
//! Every rack has a link to the packet switch and one from it, all of one rate. A schedule is
//! planned to carry the measured demand in one pass over its slots. The demand that the plan leaves
//! may cross the packet switch at once. After each slot, bytes that its circuits should have
//! carried but did not may cross, too (a packet that did not fit into the day). After the pass, all
//! demand that still waits may cross, in addition to repetitions of the schedule. Packets that a
//! circuit lost may cross when they are back in their queue, unless a new decision was made in
//! between. A link is therefore idle only if all waiting demand is planned for a later slot of the
//! pass. Virtual output queues with such an allowance take turns, packet by packet. The switch
//! stores packets completely and has unbounded queues.

use crate::links::{Links, Packet};
use crate::tdma::burst::Burst;
use crate::tdma::voq::Voqs;
use lightloom_control::demand::Report;
use lightloom_control::schedule::{Schedule, Slot};
use lightloom_engine::{Rate, Time};
use std::ops::Range;

/// The switch and the racks' links to it.
#[derive(Clone, Debug)]
pub struct PacketSwitch {
    racks: usize,
    packet: u64,
    /// The rate of its links.
    pub rate: Rate,
    /// Links from racks, which send one packet at a time.
    up: Links,
    /// To racks.
    down: Links,
    /// Peak of the bytes that waited for the link to any rack.
    pub peak: u64,
    /// Bytes of each pair that the last decision included and that still wait.
    seen: Vec<u64>,
    /// Bytes of each pair that the last decision included, that a circuit has lost since, and that
    /// are not yet back in their queue.
    lost: Vec<u64>,
    /// Bytes of a pair that waited before its circuit took the first byte of the current
    /// transmission.
    waited: u64,
    /// Bytes of these that future slots of the pass carry.
    planned: Vec<u64>,
    /// Number of slots left in the pass.
    slots: usize,
    /// The destination that was served last at each rack.
    turns: Vec<u32>,
}

impl PacketSwitch {
    /// An idle switch.
    pub fn new(racks: u32, rate: Rate, packet: u64) -> PacketSwitch {
        let n = racks as usize;
        PacketSwitch {
            racks: n,
            packet,
            rate,
            up: Links::fifo(n, rate),
            down: Links::fifo(n, rate),
            peak: 0,
            seen: vec![0; n * n],
            lost: vec![0; n * n],
            waited: 0,
            planned: vec![0; n * n],
            slots: 0,
            turns: vec![0; n],
        }
    }

    /// Applies a decision: of the bytes in `seen` that still wait, those beyond one pass of
    /// `schedule` at `rate` may cross the packet switch.
    pub fn allow(&mut self, seen: &Report, voqs: &Voqs, schedule: Option<&Schedule>, rate: Rate) {
        self.seen.fill(0);
        self.lost.fill(0);
        for queue in &seen.queues {
            let pair = voqs.of(queue.from, queue.to);
            self.seen[pair] = queue.bytes.min(voqs.waiting(pair));
        }
        self.planned.fill(0);
        let slots = schedule.map_or(&[][..], |schedule| &schedule.slots[..]);
        self.slots = slots.len();
        for slot in slots {
            let carries = rate.bytes_in(slot.day);
            for (from, to) in slot.circuits() {
                self.planned[from * self.racks + to] += carries;
            }
        }
    }

    /// Records that a circuit starts to take bytes of a pair of which `waiting` wait.
    pub fn begin_taking(&mut self, waiting: u64) {
        self.waited = waiting;
    }

    /// Records the bytes at the ends of a burst that a circuit loses; `waiting` bytes of the pair
    /// are behind the burst. Bytes that the last decision included leave first.
    pub fn lose(&mut self, pair: usize, burst: &Burst, waiting: u64) {
        let first = self.waited - waiting - burst.sent();
        let seen = |lost: Range<u64>| lost.end.min(self.seen[pair]).saturating_sub(lost.start);
        let late = first + burst.early + burst.carried;
        let lost = seen(first..first + burst.early) + seen(late..late + burst.late);
        self.lost[pair] += lost;
    }

    /// Records that lost bytes of a pair will join its queue again.
    pub fn return_lost(&mut self, pair: usize, bytes: u64) {
        let seen = self.lost[pair].min(bytes);
        self.lost[pair] -= seen;
        self.seen[pair] += seen;
    }

    /// Records that a circuit has taken bytes of a pair.
    pub fn take_seen(&mut self, pair: usize, bytes: u64) {
        self.seen[pair] = self.seen[pair].saturating_sub(bytes);
    }

    /// Ends a slot: the rest that its circuits did not take may cross.
    pub fn end_of_slot(&mut self, slot: &Slot, rate: Rate) {
        if self.slots == 0 {
            return;
        }
        self.slots -= 1;
        let carries = rate.bytes_in(slot.day);
        for (from, to) in slot.circuits() {
            let planned = &mut self.planned[from * self.racks + to];
            *planned = planned.saturating_sub(carries);
        }
    }

    /// The bytes that a pair may send now.
    #[inline]
    fn allowed(&self, pair: usize, voqs: &Voqs) -> u64 {
        let waiting = self.seen[pair].min(voqs.waiting(pair));
        waiting.saturating_sub(self.planned[pair])
    }

    /// Sends the next packet of a rack whose link is idle; returns the packet and the end of its
    /// transmission.
    pub fn serve(&mut self, rack: u32, voqs: &mut Voqs, now: Time) -> Option<(Packet, Time)> {
        if self.up.first(rack as usize).is_some() {
            return None;
        }
        let (row, racks) = (rack as usize * self.racks, self.racks as u32);
        let after = |k: u32| (self.turns[rack as usize] + 1 + k) % racks;
        let waits = |&to: &u32| self.allowed(row + to as usize, voqs) > 0;
        let to = (0..racks).map(after).find(waits)?;
        let pair = row + to as usize;
        let (flow, bytes) = voqs.front(pair)?;
        let bytes = bytes.min(self.packet);
        voqs.take(pair, bytes);
        self.take_seen(pair, bytes);
        self.turns[rack as usize] = to;
        let packet = Packet {
            flow,
            bytes: bytes as u32,
            circuit: false,
        };
        let until = self.up.join(rack as usize, packet, false, now);
        until.map(|until| (packet, until))
    }

    /// Ends the transmission of a packet on a rack's link to the switch. Returns the packet.
    pub fn receive(&mut self, rack: u32, now: Time) -> Option<Packet> {
        let packet = self.up.first(rack as usize)?;
        self.up.sent(rack as usize, now);
        Some(packet)
    }

    /// Ends the transmission of a packet to a rack. Returns the packet, and the next packet with
    /// the end of its transmission.
    pub fn sent(&mut self, rack: u32, now: Time) -> Option<(Packet, Option<(Packet, Time)>)> {
        let packet = self.down.first(rack as usize)?;
        let until = self.down.sent(rack as usize, now);
        let next = self.down.first(rack as usize);
        Some((packet, next.zip(until)))
    }

    /// Adds a packet at the switch to the queue for a rack; returns the end of its transmission if
    /// it does not have to wait.
    pub fn forward(&mut self, to: u32, packet: Packet, now: Time) -> Option<Time> {
        let until = self.down.join(to as usize, packet, false, now);
        self.peak = self.peak.max(self.waiting_for(to));
        until
    }

    /// Bytes that wait at the switch for the link of a rack.
    pub fn waiting_for(&self, rack: u32) -> u64 {
        self.down.waiting_for(rack as usize)
    }

    /// Bytes on links to the switch and from it.
    pub fn on_links(&self) -> u64 {
        let racks = 0..self.racks as u32;
        self.bytes() - racks.map(|rack| self.waiting_for(rack)).sum::<u64>()
    }

    /// Bytes at the switch and on its links.
    pub fn bytes(&self) -> u64 {
        self.up.bytes + self.down.bytes
    }
}
