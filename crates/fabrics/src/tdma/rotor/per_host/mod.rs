//! RotorLB by hosts, as the authors of Opera simulate it (TritonNetworking/opera-sim,
//! `src/opera/rlbmodule.cpp`).
//!
//! | file | contents |
//! |---|---|
//! | this file | queues of all hosts, and the traffic of each line in a slot |
//! | [`fairness`] | the key `rotorlb`, and its refusals |
//! | `steps` | the decision at the start of a slot: second hops, only hops, first hops |
//!
//! Bulk traffic waits in a queue for each pair of hosts. When a switch has changed, the rule
//! decides at once the traffic of each host of a rack over its circuit until the switch changes
//! again. With h hosts per rack, the *share* of a host is one h-th of the whole packets that the
//! circuit carries. A host sends at most its share over the circuit, and receives at most its
//! share. Traffic that arrives during a slot waits for a later one. Traffic for which low-latency
//! packets leave no time returns to the front of its queue.
//!
//! Two points differ from the authors' simulator. Here, bytes that cross to a relay arrive when the
//! slot ends, as in [`super::relays`], and count as held by the relay from the time of acceptance;
//! in the simulator packets arrive one by one, and those in transit do not count. In the simulator,
//! relays may together accept more than a host may send, and the host then sends less of
//! everything; here a host sends the accepted bytes.
//!
//! Not modelled: packets of different hosts do not alternate on a circuit. Each pair of hosts sends
//! all its packets of the slot back to back, and the pairs take turns to be first. Queues and
//! decisions are known to hosts without delay.

pub mod fairness;
mod steps;
#[cfg(test)]
mod tests;

use super::shares::Shares;
use crate::tdma::voq::Voqs;
use lightloom_engine::{Cluster, FlowId};
use std::collections::VecDeque;
use steps::{Left, Offer};

/// The kind of hop that bytes make over a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the source to the destination.
    Direct,
    /// From the source to a host that relays the bytes.
    First {
        /// The relaying host.
        relay: u32,
    },
    /// From the relay to the destination.
    Second,
}

/// Bytes of a flow that a line is to send in this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The flow of the bytes.
    pub flow: FlowId,
    /// Number of bytes.
    pub bytes: u64,
    /// Their hop.
    pub way: Way,
    /// The host that sends them.
    pub from: u32,
    /// The host to which they are destined.
    pub to: u32,
}

/// A line with its circuit.
#[derive(Clone, Copy, Debug)]
pub struct Circuit {
    /// Number of the line: plane × racks + `from`.
    pub line: usize,
    /// The rack that sends.
    pub from: u32,
    /// The receiving rack.
    pub to: u32,
    /// Bytes that the circuit carries in this slot.
    pub bytes: u64,
}

/// Queues of all hosts, and the planned traffic of each line.
pub struct PerHost {
    hosts_per_rack: u32,
    racks: u32,
    packet: u64,
    /// Most bytes that a host relays for another.
    room: u64,
    /// Bytes that have not left their source, by source and destination.
    own: Voqs,
    /// Bytes at relays, by relay and destination.
    relayed: Voqs,
    /// By relay and destination, bytes that the relay has accepted and that have not arrived yet.
    coming: Vec<u64>,
    /// By source, a bit for each destination for which bytes wait.
    busy: Vec<u64>,
    /// Planned bytes, by line.
    plans: Vec<VecDeque<Planned>>,
    /// Bytes on their way to relays, by plane.
    crossing: Vec<Vec<Planned>>,
    /// By relay and destination rack, whether they ever meet; empty if all do.
    meet: Vec<bool>,
    /// The host that is served first, another one in each slot.
    first: u32,
    /// Bytes that have not left their sources.
    waiting: u64,
    /// Bytes at the relays of each rack.
    held: Vec<u64>,
    /// Bytes of each flow that a relay has delivered.
    delivered: Vec<u64>,
    left: Left,
    offers: Vec<Offer>,
    shares: Shares,
}

impl PerHost {
    /// Empty queues, for circuits with this number of bytes per slot.
    pub fn new(
        cluster: &Cluster,
        carries: u64,
        packet: u64,
        planes: usize,
        flows: usize,
    ) -> PerHost {
        let (racks, hosts) = (cluster.racks, cluster.hosts());
        let (lines, words) = (planes * racks as usize, hosts.div_ceil(64) as usize);
        let mut new = PerHost {
            hosts_per_rack: cluster.servers_per_rack,
            racks,
            packet,
            room: 0,
            own: Voqs::new(hosts),
            relayed: Voqs::new(hosts),
            coming: vec![0; hosts as usize * hosts as usize],
            busy: vec![0; hosts as usize * words],
            plans: vec![VecDeque::new(); lines],
            crossing: vec![Vec::new(); planes],
            meet: Vec::new(),
            first: 0,
            waiting: 0,
            held: vec![0; racks as usize],
            delivered: vec![0; flows],
            left: Left::default(),
            offers: Vec::new(),
            shares: Shares::default(),
        };
        // Two h-ths of a share, rounded once.
        let share = new.share(carries);
        new.room = new.whole(2 * share / u64::from(new.hosts_per_rack));
        new
    }

    /// The approximate memory for this number of hosts, lines and flows [B].
    pub fn memory(hosts: u64, lines: u64, flows: u64) -> u64 {
        hosts * hosts * (2 * 16 + 8) + hosts * hosts / 8 + lines * 256 + flows * 8
    }

    /// A host's share of a circuit's capacity, in whole packets.
    fn share(&self, carries: u64) -> u64 {
        carries / self.packet / u64::from(self.hosts_per_rack) * self.packet
    }

    fn whole(&self, bytes: u64) -> u64 {
        bytes / self.packet * self.packet
    }

    fn rack(&self, host: u32) -> u32 {
        host / self.hosts_per_rack
    }

    /// The host of a rack with a number, counted from the host that is first in this slot.
    fn host(&self, rack: u32, number: u32) -> u32 {
        let h = self.hosts_per_rack;
        rack * h + (number + self.first) % h
    }

    /// Bytes that have not left their sources.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Bytes at relays of a rack.
    pub fn held(&self, rack: u32) -> u64 {
        self.held[rack as usize]
    }

    /// Bytes at all relays.
    pub fn all_held(&self) -> u64 {
        self.held.iter().sum()
    }

    /// Bytes of a flow that came over a relay.
    pub fn delivered(&self, flow: FlowId) -> u64 {
        self.delivered[flow.index()]
    }

    /// Sets which racks meet from now on, by relay and destination; all if the list is empty.
    pub fn set_meetings(&mut self, meet: Vec<bool>) {
        self.meet = meet;
    }

    /// Adds bytes of a flow that wait at their source.
    pub fn join(&mut self, flow: FlowId, from: u32, to: u32, bytes: u64) {
        self.waiting += bytes;
        self.own.push(self.own.of(from, to), flow, bytes);
        self.mark(from, to);
    }

    fn mark(&mut self, from: u32, to: u32) {
        let words = self.busy.len() / (self.racks * self.hosts_per_rack) as usize;
        let at = from as usize * words + to as usize / 64;
        let bit = 1u64 << (to % 64);
        match self.own.waiting(self.own.of(from, to)) {
            0 => self.busy[at] &= !bit,
            _ => self.busy[at] |= bit,
        }
    }

    /// The bytes that a line sends next.
    pub fn next(&self, line: usize) -> Option<Planned> {
        self.plans[line].front().copied()
    }

    /// Removes `bytes` of the next planned bytes of a line, which leave.
    pub fn send(&mut self, line: usize, bytes: u64) {
        let next = self.plans[line].front_mut().expect("it sends what is next");
        let way = next.way;
        next.bytes -= bytes;
        if next.bytes == 0 {
            self.plans[line].pop_front();
        }
        match way {
            Way::Second => self.held[line % self.racks as usize] -= bytes,
            Way::Direct | Way::First { .. } => self.waiting -= bytes,
        }
    }

    /// Sends bytes to a relay over a plane.
    pub fn cross(&mut self, plane: usize, part: Planned) {
        self.crossing[plane].push(part);
    }

    /// Ends a slot: the bytes that a plane carried are at its relays. Returns their number.
    pub fn move_to_relays(&mut self, plane: usize) -> u64 {
        let mut crossed = std::mem::take(&mut self.crossing[plane]);
        let mut all = 0;
        for part in crossed.drain(..) {
            let Way::First { relay } = part.way else {
                unreachable!("only first hops cross to relays")
            };
            let queue = self.relayed.of(relay, part.to);
            self.coming[queue] -= part.bytes;
            self.relayed.push(queue, part.flow, part.bytes);
            let rack = self.rack(relay);
            self.held[rack as usize] += part.bytes;
            all += part.bytes;
        }
        self.crossing[plane] = crossed;
        all
    }

    /// Counts bytes from a relay that are at the rack of their destination.
    pub fn count_delivered(&mut self, flow: FlowId, bytes: u64) {
        self.delivered[flow.index()] += bytes;
    }

    /// Ends the traffic of a line in this slot: its planned bytes return to the front of their
    /// queue.
    pub fn return_planned(&mut self, line: usize) {
        while let Some(part) = self.plans[line].pop_back() {
            let Planned {
                flow,
                bytes,
                from,
                to,
                ..
            } = part;
            match part.way {
                Way::Second => self
                    .relayed
                    .push_front(self.relayed.of(from, to), flow, bytes),
                Way::Direct => self.own.push_front(self.own.of(from, to), flow, bytes),
                Way::First { relay } => {
                    self.coming[self.relayed.of(relay, to)] -= bytes;
                    self.own.push_front(self.own.of(from, to), flow, bytes);
                }
            }
            self.mark(from, to);
        }
    }

    /// Moves the first bytes of a queue to the traffic that a line sends in this slot.
    fn move_to_plan(&mut self, line: usize, from: u32, to: u32, way: Way, bytes: u64) {
        let queues = match way {
            Way::Second => &mut self.relayed,
            _ => &mut self.own,
        };
        let (queue, mut left) = (queues.of(from, to), bytes);
        while left > 0 {
            let (flow, there) = queues.front(queue).expect("no more is planned than waits");
            let bytes = there.min(left);
            queues.take(queue, bytes);
            left -= bytes;
            self.plans[line].push_back(Planned {
                flow,
                bytes,
                way,
                from,
                to,
            });
        }
        if bytes > 0 {
            self.mark(from, to);
        }
    }
}
