//! The inputs of RotorLB in each slot, and its grants.

use crate::tdma::voq::Voqs;

/// A circuit that direct traffic and second hops do not fill in this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// Number of the line: plane × racks + `from`.
    pub line: u32,
    /// The rack that sends.
    pub from: u32,
    /// The rack that receives.
    pub relay: u32,
    /// Bytes that it can carry in addition in this slot.
    pub bytes: u64,
}

/// A first hop that was granted: bytes that a rack may send to a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The line of the circuit to the relay.
    pub line: u32,
    /// The rack for which the bytes are.
    pub to: u32,
    /// Number of bytes.
    pub bytes: u64,
}

/// Bytes that are not offered: they leave on circuits that are lit, or are promised to relays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken {
    /// The rack that sends.
    pub from: u32,
    /// The rack for which they are.
    pub to: u32,
    /// Largest number of bytes.
    pub bytes: u64,
}

/// The bytes that relays hold for other racks, and those on their way to relays.
pub struct RelayQueues<'a> {
    /// Their queues.
    pub relayed: &'a Voqs,
    /// By queue, bytes that a relay has accepted and does not hold yet.
    pub coming: &'a [u64],
    /// By queue, whether the relay ever meets the rack; empty if all do.
    pub meet: &'a [bool],
}

impl RelayQueues<'_> {
    /// Bytes that a queue holds or will hold.
    pub fn accepted(&self, queue: usize) -> u64 {
        self.relayed.waiting(queue) + self.coming[queue]
    }

    /// Whether a relay meets the rack of a queue.
    pub fn meets(&self, queue: usize) -> bool {
        self.meet.is_empty() || self.meet[queue]
    }
}
