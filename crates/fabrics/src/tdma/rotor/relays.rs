//! Bytes that cross two circuits: a rack takes what waits for another one, and delivers it
//! when the two meet.
//!
//! When a slot begins and all have sent what may go directly, a rule says what the time
//! that is left on each circuit is used for; it is asked once a slot, for all circuits
//! together. What crosses then is at the relay when the slot ends, waits there in a queue
//! for its rack, and goes before what the relay itself has for that rack. The rule knows
//! what waits everywhere and takes no time: that racks tell each other is not modelled.

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
    /// For whom they are.
    pub to: u32,
    /// Of this flow.
    pub flow: FlowId,
    /// How many.
    pub bytes: u64,
}

/// What relays hold, and what is on its way to them.
pub struct Relays {
    rule: RotorLb,
    /// At each relay a queue for each rack.
    pub queues: Voqs,
    /// By plane.
    crossing: Vec<Vec<Crossing>>,
    /// Of each line, what it may still send to its relay in this slot.
    planned: Vec<VecDeque<Grant>>,
    /// By relay and destination, bytes that it has accepted and does not hold yet.
    coming: Vec<u64>,
    /// By relay and destination, whether they ever meet; empty where all do.
    meet: Vec<bool>,
    grants: Vec<Grant>,
    /// Bytes at each relay.
    held: Vec<u64>,
    /// Bytes of each flow that a relay has delivered.
    delivered: Vec<u64>,
}

impl Relays {
    /// Empty queues between so many racks, for so many planes and flows.
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

    /// Memory that so many racks and flows take beyond those without relays, about [B].
    pub fn memory(racks: u64, flows: u64) -> u64 {
        // Queues, and what rules look at.
        racks * racks * (16 + 16 + 8) + flows * 8
    }

    /// From now on these meet, by relay and destination; all if it is empty.
    pub fn set_meetings(&mut self, meet: Vec<bool>) {
        self.meet = meet;
    }

    /// What the rule makes of lines with time to spare.
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

    /// The list is empty again, and its room is kept.
    pub fn recycle_grants(&mut self, grants: Vec<Grant>) {
        self.grants = grants;
    }

    /// A line may send so much to its relay, too.
    pub fn plan(&mut self, grant: &Grant, relay: u32) {
        self.planned[grant.line as usize].push_back(*grant);
        self.coming[self.queues.of(relay, grant.to)] += grant.bytes;
    }

    /// What a line may send next to its relay.
    pub fn planned(&self, line: usize) -> Option<Grant> {
        self.planned[line].front().copied()
    }

    /// What lines may still send to relays, by source and destination.
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

    /// Of that, so many bytes have been sent.
    pub fn use_grant(&mut self, line: usize, bytes: u64) {
        if let Some(grant) = self.planned[line].front_mut() {
            grant.bytes -= bytes;
            if grant.bytes == 0 {
                self.planned[line].pop_front();
            }
        }
    }

    /// Nothing more of the first thing that a line was to send to its relay.
    pub fn drop_grant(&mut self, line: usize, relay: u32) {
        if let Some(grant) = self.planned[line].pop_front() {
            self.coming[self.queues.of(relay, grant.to)] -= grant.bytes;
        }
    }

    /// A line sends nothing more to its relay.
    pub fn drop_grants(&mut self, line: usize, relay: u32) {
        while self.planned(line).is_some() {
            self.drop_grant(line, relay);
        }
    }

    /// Bytes leave for a relay over a plane.
    pub fn cross(&mut self, plane: usize, crossing: Crossing) {
        self.crossing[plane].push(crossing);
    }

    /// The slot is over: what has crossed is at its relays.
    pub fn take_crossed(&mut self, plane: usize) -> Vec<Crossing> {
        std::mem::take(&mut self.crossing[plane])
    }

    /// It has joined its queues; the list's room is kept.
    pub fn recycle_crossed(&mut self, plane: usize, mut crossed: Vec<Crossing>) {
        crossed.clear();
        self.crossing[plane] = crossed;
    }

    /// Bytes that have crossed join their queue.
    pub fn join(&mut self, crossing: &Crossing) {
        let queue = self.queues.of(crossing.relay, crossing.to);
        self.coming[queue] -= crossing.bytes;
        self.queues.push(queue, crossing.flow, crossing.bytes);
        self.held[crossing.relay as usize] += crossing.bytes;
    }

    /// The first bytes of a relay's queue leave it.
    pub fn take(&mut self, relay: u32, queue: usize, bytes: u64) {
        self.queues.take(queue, bytes);
        self.held[relay as usize] -= bytes;
    }

    /// Bytes that a relay sent are at the rack of their destination.
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
