//! The state of low-latency traffic: packets that do not wait for a direct circuit, but cross the
//! lit circuits via other racks (Mellette et al., NSDI 2020).
//!
//! A circuit takes such packets from first light until the start of the slice in which its switch
//! reconfigures, and only while few packets are in its queue. At each rack a packet takes a random
//! circuit among those that are now on shortest paths and have room. If none has room, the packet
//! waits at the rack ([`crate::opera::waiting`]); it is therefore never bound to a circuit that
//! changes before its turn. Packets that have crossed circuits go before new ones, so load beyond
//! the capacity of the circuits waits at its source.

use crate::discipline::Discipline;
use crate::opera::expander::Expander;
use crate::opera::waiting::RackQueues;
use lightloom_engine::rng::Stream;
use lightloom_engine::{FlowId, Time};

/// The rules that select low-latency flows, and the circuits that take their packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowLatencyLaw {
    /// Flows of fewer bytes are low-latency traffic.
    pub below: u64,
    /// Time before its night in which a circuit takes no new low-latency packet, so that those on
    /// their way through the network arrive before it.
    pub drain: Time,
    /// The number of full packets that a circuit takes, including the packet in transmission.
    pub queue: u32,
    /// The order of packets that wait at the rack of their source.
    pub order: Discipline,
}

/// A packet at a rack, or on its way there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowLatencyPacket {
    /// Its flow.
    pub flow: FlowId,
    /// Its bytes.
    pub bytes: u16,
    /// The rack that it left last, before `at`.
    pub from: u16,
    /// The rack at which it is, or arrives next.
    pub at: u16,
    /// Number of circuits that it has crossed when it is at `at`.
    pub hops: u16,
}

/// The low-latency packets and the circuits that they cross.
pub struct LowLatencyTraffic {
    /// The rule that selects low-latency traffic.
    pub law: LowLatencyLaw,
    /// The circuits that are lit, as a network.
    pub expander: Expander,
    /// Packets for which no circuit has room.
    pub waiting: RackQueues,
    /// Time at which the circuits change; never, if no packet waits.
    pub changes_at: Time,
    /// By rack, the time at which one of its circuits has room for a waiting packet.
    pub room_at: Vec<Time>,
    /// Bytes at racks or on circuits.
    pub bytes: u64,
    /// Bytes at each rack, which count until they have reached the next rack.
    queued: Vec<u64>,
    /// By flow, bytes that have reached the rack of its destination.
    landed: Vec<u64>,
    /// By flow, the same bytes, each multiplied by the number of circuits beyond the first that it
    /// has crossed.
    extra: Vec<u64>,
    /// Scratch space for the planes to choose from.
    pub choices: Vec<u16>,
    chance: Stream,
}

impl LowLatencyTraffic {
    /// Creates the state without packets, for a number of racks and flows.
    pub fn new(law: LowLatencyLaw, racks: u32, flows: usize, seed: u64) -> LowLatencyTraffic {
        LowLatencyTraffic {
            law,
            expander: Expander::new(racks),
            waiting: RackQueues::new(racks, flows, law.order),
            changes_at: Time::NEVER,
            room_at: vec![Time::NEVER; racks as usize],
            bytes: 0,
            queued: vec![0; racks as usize],
            landed: vec![0; flows],
            extra: vec![0; flows],
            choices: Vec::new(),
            chance: Stream::new(seed, "paths", 0),
        }
    }

    /// The approximate memory for this number of racks and flows [B].
    pub fn memory(racks: u64, flows: u64) -> u64 {
        racks * racks * 2 + RackQueues::memory(racks) + racks * 40 + flows * 24
    }

    /// A random choice of one of `of`.
    pub fn choose(&mut self, of: usize) -> usize {
        self.chance.below(of as u32) as usize
    }

    /// Bytes are at a rack.
    pub fn add_at_rack(&mut self, rack: u32, bytes: u64) {
        self.bytes += bytes;
        self.queued[rack as usize] += bytes;
    }

    /// Subtracts a packet that crossed a circuit from the rack that it left.
    pub fn remove_from_rack(&mut self, packet: &LowLatencyPacket) {
        self.bytes -= u64::from(packet.bytes);
        self.queued[packet.from as usize] -= u64::from(packet.bytes);
    }

    /// Counts a packet that has reached the rack of its destination.
    pub fn count_landed(&mut self, packet: &LowLatencyPacket) {
        let extra = u64::from(packet.hops) - 1;
        self.landed[packet.flow.index()] += u64::from(packet.bytes);
        self.extra[packet.flow.index()] += u64::from(packet.bytes) * extra;
    }

    /// Bytes at a rack.
    pub fn bytes_at(&self, rack: u32) -> u64 {
        self.queued[rack as usize]
    }

    /// Circuits beyond the first that bytes of a flow have crossed on average.
    pub fn extra_hops(&self, flow: FlowId) -> f64 {
        let landed = self.landed[flow.index()].max(1);
        self.extra[flow.index()] as f64 / landed as f64
    }
}
