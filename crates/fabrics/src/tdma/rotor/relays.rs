//! Indirect traffic: bytes that cross two circuits, via a relay that receives them from their
//! source and delivers them when it meets their destination.
//!
//! At the start of a slot, RotorLB grants the time that direct traffic and second hops leave on
//! each circuit. RotorNet runs it once per slot for all circuits together; Opera runs it for the
//! circuits of the switch that has changed. Bytes of a first hop arrive at the relay when the slot
//! ends, wait there in a queue for their destination, and go before the relay's own bytes for that
//! rack. RotorLB has access to all queues and takes no time: messages between racks are not
//! modelled.

use super::offers::{Grant, RelayQueues, Spare, Taken};
use super::rotorlb::RotorLb;
use crate::tdma::voq::Voqs;
use lightloom_engine::FlowId;
use std::collections::VecDeque;

/// Bytes on their way to a relay.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// The relay.
    pub relay: u32,
    /// The rack to which they are destined.
    pub to: u32,
    /// Their flow.
    pub flow: FlowId,
    /// Number of bytes.
    pub bytes: u64,
}

/// The bytes that relays hold, and those on their way to relays.
pub struct Relays {
    rule: RotorLb,
    /// At each relay a queue for each rack.
    pub queues: Voqs,
    /// Bytes on their way to relays, by plane.
    crossing: Vec<Vec<Crossing>>,
    /// By line, first hops that it may still send in this slot.
    planned: Vec<VecDeque<Grant>>,
    /// By relay and destination, bytes that it has accepted and does not hold yet.
    coming: Vec<u64>,
    /// By relay and destination, whether they ever meet; empty if all do.
    meet: Vec<bool>,
    grants: Vec<Grant>,
    /// Bytes at each relay.
    held: Vec<u64>,
    /// Bytes of each flow that a relay has delivered.
    delivered: Vec<u64>,
}

impl Relays {
    /// Empty queues between `racks` racks, for `planes` planes and `flows` flows.
    pub fn new(rule: RotorLb, racks: u32, planes: usize, flows: usize) -> Relays {
        Relays {
            rule,
            queues: Voqs::new(racks),
            crossing: vec![Vec::new(); planes],
            planned: vec![VecDeque::new(); planes * racks as usize],
            coming: vec![0; racks as usize * racks as usize],
            meet: Vec::new(),
            grants: Vec::new(),
            held: vec![0; racks as usize],
            delivered: vec![0; flows],
        }
    }

    /// The approximate memory for this number of racks and flows, in addition to that without
    /// relays [B].
    pub fn memory(racks: u64, flows: u64) -> u64 {
        // Queues, and the inputs of the rules.
        racks * racks * (16 + 16 + 8) + flows * 8
    }

    /// Sets which relays and destinations meet from now on; all if the list is empty.
    pub fn set_meetings(&mut self, meet: Vec<bool>) {
        self.meet = meet;
    }

    /// The first hops that RotorLB grants to lines with time left.
    pub fn grant(&mut self, spare: &[Spare], taken: &[Taken], own: &Voqs) -> Vec<Grant> {
        let mut grants = std::mem::take(&mut self.grants);
        grants.clear();
        let relays = RelayQueues {
            relayed: &self.queues,
            coming: &self.coming,
            meet: &self.meet,
        };
        self.rule.grant(spare, taken, own, &relays, &mut grants);
        grants
    }

    /// Takes the list back, and keeps its memory.
    pub fn recycle_grants(&mut self, grants: Vec<Grant>) {
        self.grants = grants;
    }

    /// A line may send the bytes of a grant to its relay, behind earlier grants.
    pub fn plan(&mut self, grant: &Grant, relay: u32) {
        self.planned[grant.line as usize].push_back(*grant);
        self.coming[self.queues.of(relay, grant.to)] += grant.bytes;
    }

    /// The next first hop of a line.
    pub fn planned(&self, line: usize) -> Option<Grant> {
        self.planned[line].front().copied()
    }

    /// First hops that lines may still send, by source and destination.
    pub fn promised(&self) -> impl Iterator<Item = Taken> + '_ {
        let racks = self.held.len();
        let lines = self.planned.iter().enumerate();
        lines.flat_map(move |(line, grants)| {
            grants.iter().map(move |grant| Taken {
                from: (line % racks) as u32,
                to: grant.to,
                bytes: grant.bytes,
            })
        })
    }

    /// Counts bytes that a line has sent of its next first hop.
    pub fn use_grant(&mut self, line: usize, bytes: u64) {
        if let Some(grant) = self.planned[line].front_mut() {
            grant.bytes -= bytes;
            if grant.bytes == 0 {
                self.planned[line].pop_front();
            }
        }
    }

    /// A line sends no more of its next first hop.
    pub fn drop_grant(&mut self, line: usize, relay: u32) {
        if let Some(grant) = self.planned[line].pop_front() {
            self.coming[self.queues.of(relay, grant.to)] -= grant.bytes;
        }
    }

    /// A line sends no more to its relay.
    pub fn drop_grants(&mut self, line: usize, relay: u32) {
        while self.planned(line).is_some() {
            self.drop_grant(line, relay);
        }
    }

    /// Sends bytes to a relay over a plane.
    pub fn cross(&mut self, plane: usize, crossing: Crossing) {
        self.crossing[plane].push(crossing);
    }

    /// Ends a slot; returns the bytes that have crossed.
    pub fn take_crossed(&mut self, plane: usize) -> Vec<Crossing> {
        std::mem::take(&mut self.crossing[plane])
    }

    /// Takes the list back, and keeps its memory.
    pub fn recycle_crossed(&mut self, plane: usize, mut crossed: Vec<Crossing>) {
        crossed.clear();
        self.crossing[plane] = crossed;
    }

    /// Adds bytes that have crossed to their queue.
    pub fn join(&mut self, crossing: &Crossing) {
        let queue = self.queues.of(crossing.relay, crossing.to);
        self.coming[queue] -= crossing.bytes;
        self.queues.push(queue, crossing.flow, crossing.bytes);
        self.held[crossing.relay as usize] += crossing.bytes;
    }

    /// Removes the first bytes of a relay's queue.
    pub fn take(&mut self, relay: u32, queue: usize, bytes: u64) {
        self.queues.take(queue, bytes);
        self.held[relay as usize] -= bytes;
    }

    /// Counts bytes from a relay that are at the rack of their destination.
    pub fn count_delivered(&mut self, flow: FlowId, bytes: u64) {
        self.delivered[flow.index()] += bytes;
    }

    /// Bytes of a flow that came over a relay.
    pub fn delivered(&self, flow: FlowId) -> u64 {
        self.delivered[flow.index()]
    }

    /// Bytes at a relay.
    pub fn held(&self, relay: u32) -> u64 {
        self.held[relay as usize]
    }
}
