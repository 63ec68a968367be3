//! Packets through the grating: packets on the way to a destination, the number of passages, and
//! the delivered bytes.

use super::bound::Bound;
use super::loopback::Loopback;
use super::pace::Pace;
use crate::hosts::Packet;
use lightloom_engine::{Io, PortId, QueuePlace, Time, Totals, View};

/// The counters of the grating.
#[derive(Clone, Debug)]
pub struct Passage {
    pace: Pace,
    hosts: u32,
    receivers: u32,
    /// Payload in transit to destinations [B].
    pub bytes: u64,
    /// Bytes on the wire, headers and reflected packets included.
    carried: u64,
    passages: u64,
    /// By flow, payload that came from a loop-back buffer [B]; empty if there is none.
    stored: Vec<u64>,
}

impl Passage {
    /// Counters for `flows` flows; `stores` if there is a loop-back buffer.
    pub fn new(pace: Pace, bound: &Bound, stores: bool, flows: usize) -> Passage {
        Passage {
            pace,
            hosts: bound.shape().hosts,
            receivers: bound.receivers(),
            bytes: 0,
            carried: 0,
            passages: 0,
            stored: vec![0; if stores { flows } else { 0 }],
        }
    }

    /// Forwards a packet of duration `wire` to the receiver of an arbiter. Only the audit uses the
    /// transmitter.
    #[inline]
    pub fn forward(
        &mut self,
        transmitter: u32,
        arbiter: usize,
        packet: Packet,
        wire: Time,
        now: Time,
        io: &mut Io,
    ) {
        let bytes = self.pace.bytes(packet.bytes);
        self.bytes += packet.bytes as u64;
        self.carried += bytes;
        self.passages += 1;
        if let Some(audit) = &mut io.audit {
            let (tx, rx) = (PortId(transmitter), PortId(arbiter as u32));
            audit.transmit(tx, rx, now, now + wire, bytes);
        }
    }

    /// Sends the part of a host's packet that is transmitted in `lasts` to the loop-back buffer, or
    /// back to the host.
    pub fn detour(&mut self, host: usize, packet: Packet, lasts: Time, now: Time, io: &mut Io) {
        let wire = match lasts >= self.pace.wire(packet.bytes) {
            true => self.pace.bytes(packet.bytes),
            false => self.pace.within(lasts),
        };
        self.carried += wire;
        self.passages += 1;
        if let Some(audit) = &mut io.audit {
            let rx = self.hosts * self.receivers + host as u32;
            audit.transmit(PortId(host as u32), PortId(rx), now, now + lasts, wire);
        }
    }

    /// The port number, for the audit, of a transmitter of the loop-back buffer.
    #[inline]
    pub fn loopback(&self, transmitter: u32) -> u32 {
        self.hosts + transmitter
    }

    /// Records the delivery of a packet.
    #[inline]
    pub fn deliver(&mut self, packet: Packet, stored: bool, now: Time, io: &mut Io) {
        self.bytes -= packet.bytes as u64;
        if stored {
            self.stored[packet.flow.index()] += packet.bytes as u64;
        }
        io.deliver(packet.flow, packet.bytes as u64, now);
    }

    /// Reports the state of the fabric, in which `waiting` bytes are outside of the switch.
    pub fn observe(&self, waiting: u64, loopback: &Loopback, view: &mut View) {
        let (queued, worst) = loopback.bytes();
        view.waiting_bytes = waiting;
        view.queued_bytes = queued;
        view.queued_bytes_worst = worst;
        view.on_links_bytes = self.bytes;
        view.in_flight_bytes = view.placed_bytes();
        view.carried_bytes = self.carried;
    }

    /// The figures of the run. Reordering is not tracked.
    pub fn totals(&self, loopback: &Loopback) -> Totals {
        Totals {
            queue_peak_bytes: loopback.peak(),
            queue_place: QueuePlace::LoopBack,
            reorder_peak_bytes: None,
            cell_hops: None,
            packet_hops: Some(self.passages),
            circuit_bytes: None,
        }
    }

    /// Writes the hops of flows: a packet passes the grating once, or twice via a loop-back buffer.
    pub fn settle(&self, io: &mut Io) {
        for f in 0..io.flows.len() {
            let delivered = io.flows.delivered[f];
            if delivered > 0 {
                let again = self.stored.get(f).map_or(0, |&s| s);
                io.flows.hops[f] = 1.0 + (again as f64 / delivered as f64) as f32;
            }
        }
    }
}
