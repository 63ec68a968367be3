//! Low-latency traffic: packets that wait for no circuit of their own. They cross those
//! that are lit, over racks between, and go before bulk (Mellette et al., NSDI 2020).
//!
//! A circuit takes such packets from its first light until shortly before its night, so
//! that none is caught by it, and only while few are ahead of them. At each rack a packet
//! takes one of the circuits that are on shortest paths over all that are lit just then and
//! have room, by chance, packet by packet. Where none has, it waits at the rack
//! ([`super::waiting`]) until one does: so no packet is bound to a circuit that will have
//! changed when its turn comes. What is under way goes before what is new: what is offered
//! beyond what circuits carry waits at its source.

use super::expander::Expander;
use super::waiting::RackQueues;
use crate::discipline::Discipline;
use lightloom_engine::rng::Stream;
use lightloom_engine::{FlowId, Time};

/// Which flows wait for no circuit of their own, and how long they use one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowLatency {
    /// Flows of fewer bytes.
    pub below: u64,
    /// No longer than until so long before its night.
    pub guard: Time,
    /// No more such packets than this, of full size, are at a circuit or on it.
    pub queue: u32,
    /// Which of those that wait at the rack of their source goes next.
    pub order: Discipline,
}

/// A packet at a rack, or on its way there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowLatencyPacket {
    /// Of this flow.
    pub flow: FlowId,
    /// Its bytes.
    pub bytes: u16,
    /// The rack from which it comes.
    pub from: u16,
    /// The rack.
    pub at: u16,
    /// Circuits that it has crossed when it is there.
    pub hops: u16,
}

/// The packets of such flows, and the circuits that they take.
pub struct LowLatencyTraffic {
    /// Who are such flows.
    pub law: LowLatency,
    /// Circuits that are lit.
    pub expander: Expander,
    /// Those for which no circuit has room.
    pub waiting: RackQueues,
    /// When circuits change for which packets wait.
    pub changes_at: Time,
    /// When each rack will be looked at since one of its circuits has room.
    pub room_at: Vec<Time>,
    /// Bytes at racks or on circuits.
    pub bytes: u64,
    /// Of them at each rack, until they have come to the next.
    queued: Vec<u64>,
    /// Bytes of each flow at the rack of its destination, …
    landed: Vec<u64>,
    /// … and times the circuits that they have crossed beyond the first.
    beyond: Vec<u64>,
    /// Planes to choose from.
    pub choices: Vec<u16>,
    chance: Stream,
}

impl LowLatencyTraffic {
    /// None, for so many racks and flows.
    pub fn new(law: LowLatency, racks: u32, flows: usize, seed: u64) -> LowLatencyTraffic {
        LowLatencyTraffic {
            law,
            expander: Expander::new(racks),
            waiting: RackQueues::new(racks, flows, law.order),
            changes_at: Time::NEVER,
            room_at: vec![Time::NEVER; racks as usize],
            bytes: 0,
            queued: vec![0; racks as usize],
            landed: vec![0; flows],
            beyond: vec![0; flows],
            choices: Vec::new(),
            chance: Stream::new(seed, "paths", 0),
        }
    }

    /// Memory that so many racks and flows take, about [B].
    pub fn memory(racks: u64, flows: u64) -> u64 {
        racks * racks * 2 + RackQueues::memory(racks) + racks * 40 + flows * 24
    }

    /// One of so many, by chance.
    pub fn choose(&mut self, of: usize) -> usize {
        self.chance.below(of as u32) as usize
    }

    /// Bytes are at a rack.
    pub fn join(&mut self, rack: u32, bytes: u64) {
        self.bytes += bytes;
        self.queued[rack as usize] += bytes;
    }

    /// A packet that crossed a circuit is no longer at the rack from which it comes.
    pub fn leave(&mut self, packet: &LowLatencyPacket) {
        self.bytes -= u64::from(packet.bytes);
        self.queued[packet.from as usize] -= u64::from(packet.bytes);
    }

    /// A packet is at the rack of its destination.
    pub fn land(&mut self, packet: &LowLatencyPacket) {
        let beyond = u64::from(packet.hops) - 1;
        self.landed[packet.flow.index()] += u64::from(packet.bytes);
        self.beyond[packet.flow.index()] += u64::from(packet.bytes) * beyond;
    }

    /// Bytes at a rack.
    pub fn at(&self, rack: u32) -> u64 {
        self.queued[rack as usize]
    }

    /// Circuits beyond the first that bytes of a flow have crossed on average.
    pub fn beyond(&self, flow: FlowId) -> f64 {
        let landed = self.landed[flow.index()].max(1);
        self.beyond[flow.index()] as f64 / landed as f64
    }
}
