//! RotorLB: in the spare time of a slot, traffic for other racks makes a first hop (Mellette et
//! al., SIGCOMM 2017).
//!
//! When a slot begins, each rack offers the bytes that wait there for third racks to every rack to
//! which it has a circuit with time left. That rack, the relay, accepts for each destination at
//! most the bytes that one of its own slots to that destination carries, less those that it already
//! holds for it, its own or others', so that relayed bytes leave at the next meeting. It accepts
//! nothing for a rack that it no longer meets because a switch has failed. Several racks that offer
//! for one destination get fair shares of it, and each divides its time fairly among its
//! destinations; shares that one cannot use go to the others.

use super::offers::{Grant, RelayQueues, Spare, Taken};
use super::shares::Shares;
use crate::tdma::voq::Voqs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Treatment of traffic that waits for a later slot while another circuit is idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Indirect {
    /// In the spare time of a slot, it makes a first hop to a rack that meets its destination.
    #[default]
    Rotorlb,
    /// The traffic waits: every byte crosses one circuit.
    None,
}

/// Bytes that a rack offers to a relay.
#[derive(Clone, Copy, Debug)]
struct Offer {
    /// The number of the circuit, of those to the relay.
    circuit: usize,
    /// The rack to which the bytes are destined.
    to: u32,
    /// The index of the queue in the list of waiting queues.
    waits: usize,
    /// Bytes that were granted so far.
    granted: u64,
    /// Bytes that the offer may receive in this pass, of those that the relay accepts for the
    /// destination.
    more: u64,
}

/// The rule, with lists that it uses again.
pub struct RotorLb {
    racks: u32,
    /// Bytes of whole packets that a slot carries.
    carries: u64,
    /// The relay that is served first, another one in each slot.
    first: u32,
    /// Queues of racks that offer: the destination, and the bytes that no relay has accepted.
    waits: Vec<(u32, u64)>,
    /// The index in `waits` at which the queues of each rack begin.
    starts: Vec<usize>,
    /// Circuits with time left, those of a relay together.
    circuits: Vec<Spare>,
    offers: Vec<Offer>,
    /// Offers by their number, those for a rack together.
    by_destination: Vec<(u32, usize)>,
    /// By destination, bytes that the relay still accepts.
    room: Vec<u64>,
    /// By rack, whether it has a circuit with time left.
    offering: Vec<bool>,
    shares: Shares,
}

impl RotorLb {
    /// Creates the rule for `racks` racks whose circuits carry `carries` bytes per slot.
    pub fn new(racks: u32, carries: u64) -> RotorLb {
        RotorLb {
            racks,
            carries,
            first: 0,
            waits: Vec::new(),
            starts: Vec::new(),
            circuits: Vec::new(),
            offers: Vec::new(),
            by_destination: Vec::new(),
            room: vec![0; racks as usize],
            offering: vec![false; racks as usize],
            shares: Shares::default(),
        }
    }

    /// Lists the queues of racks that have a circuit with time left.
    fn list(&mut self, spare: &[Spare], taken: &[Taken], own: &Voqs) {
        self.offering.fill(false);
        for spare in spare {
            self.offering[spare.from as usize] = true;
        }
        self.waits.clear();
        self.starts.clear();
        for from in 0..self.racks {
            self.starts.push(self.waits.len());
            if self.offering[from as usize] {
                let row = (0..self.racks).map(|to| (to, own.waiting(own.of(from, to))));
                self.waits.extend(row.filter(|(_, bytes)| *bytes > 0));
                let row = &mut self.waits[self.starts[from as usize]..];
                leave_out(row, of(taken, from));
            }
        }
        self.starts.push(self.waits.len());
    }

    /// Lists the offers to the relay of these circuits for which it has room.
    fn offer(&mut self, circuits: &[Spare], own: &Voqs, relays: &RelayQueues) {
        let relay = circuits[0].relay;
        self.room.fill(u64::MAX);
        self.offers.clear();
        for (circuit, &Spare { from, .. }) in circuits.iter().enumerate() {
            for waits in self.starts[from as usize]..self.starts[from as usize + 1] {
                let (to, bytes) = self.waits[waits];
                let room = &mut self.room[to as usize];
                if *room == u64::MAX {
                    let queue = own.of(relay, to);
                    let held = own.waiting(queue) + relays.accepted(queue);
                    *room = match relays.meets(queue) {
                        true => self.carries.saturating_sub(held),
                        false => 0,
                    };
                }
                if to != relay && bytes > 0 && *room > 0 {
                    self.offers.push(Offer {
                        circuit,
                        to,
                        waits,
                        granted: 0,
                        more: 0,
                    });
                }
            }
        }
        self.by_destination.clear();
        let numbered = self.offers.iter().enumerate();
        self.by_destination
            .extend(numbered.map(|(number, offer)| (offer.to, number)));
        self.by_destination.sort_unstable();
    }

    /// Divides the room for each destination among the racks with time to use it.
    fn share_rooms(&mut self, circuits: &[Spare]) {
        for same in self.by_destination.chunk_by(|a, b| a.0 == b.0) {
            let could_use = same.iter().map(|&(_, offer)| {
                let Offer { circuit, waits, .. } = self.offers[offer];
                match circuits[circuit].bytes {
                    0 => 0,
                    _ => self.waits[waits].1,
                }
            });
            let room = self.room[same[0].0 as usize];
            let shares = self.shares.divide(room, could_use);
            for (&(_, offer), &share) in same.iter().zip(shares) {
                self.offers[offer].more = share;
            }
        }
    }

    /// Divides the time of each circuit among its destinations. Returns the bytes granted.
    fn share_circuits(&mut self, circuits: &mut [Spare]) -> u64 {
        let mut all = 0;
        for same in self.offers.chunk_by_mut(|a, b| a.circuit == b.circuit) {
            let circuit = &mut circuits[same[0].circuit];
            let could_use = same.iter().map(|offer| offer.more);
            let shares = self.shares.divide(circuit.bytes, could_use);
            for (offer, &bytes) in same.iter_mut().zip(shares) {
                offer.granted += bytes;
                self.waits[offer.waits].1 -= bytes;
                self.room[offer.to as usize] -= bytes;
                circuit.bytes -= bytes;
                all += bytes;
            }
        }
        all
    }

    /// Accepts offers to one relay, until no offer gets more.
    fn accept(&mut self, circuits: &mut [Spare], own: &Voqs, relays: &RelayQueues) {
        self.offer(circuits, own, relays);
        loop {
            self.share_rooms(circuits);
            if self.share_circuits(circuits) == 0 {
                return;
            }
        }
    }
}

/// The entries of a rack.
fn of(taken: &[Taken], from: u32) -> &[Taken] {
    let first = taken.partition_point(|d| d.from < from);
    let end = taken.partition_point(|d| d.from <= from);
    &taken[first..end]
}

/// Subtracts `taken` from the queues; both are in order of destinations.
fn leave_out(waits: &mut [(u32, u64)], taken: &[Taken]) {
    for left in taken {
        if let Ok(at) = waits.binary_search_by_key(&left.to, |&(to, _)| to) {
            waits[at].1 = waits[at].1.saturating_sub(left.bytes);
        }
    }
}

impl RotorLb {
    /// Adds the grants for a slot: on each line at most its spare capacity, from each queue at a
    /// source (`own`) at most its length; none to the relay itself. `taken`, by source and then by
    /// destination, is the part of a source's queue that is not relayed: the circuit to its
    /// destination is lit, or other relays have been granted it.
    pub fn grant(
        &mut self,
        spare: &[Spare],
        taken: &[Taken],
        own: &Voqs,
        relays: &RelayQueues,
        grants: &mut Vec<Grant>,
    ) {
        let (first, racks) = (self.first, self.racks);
        self.first = (first + 1) % racks;
        if own.bytes == 0 {
            return;
        }
        self.list(spare, taken, own);
        let mut circuits = std::mem::take(&mut self.circuits);
        circuits.clear();
        circuits.extend_from_slice(spare);
        circuits.sort_by_key(|s| (s.relay + racks - first) % racks);
        for circuits in circuits.chunk_by_mut(|a, b| a.relay == b.relay) {
            self.accept(circuits, own, relays);
            let given = self.offers.iter().filter(|offer| offer.granted > 0);
            grants.extend(given.map(|offer| Grant {
                line: circuits[offer.circuit].line,
                to: offer.to,
                bytes: offer.granted,
            }));
        }
        self.circuits = circuits;
    }
}
