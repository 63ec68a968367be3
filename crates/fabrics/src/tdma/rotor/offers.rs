//! What RotorLB is asked once a slot, and what it grants.

use crate::tdma::voq::Voqs;

/// A circuit on which nothing more can go directly when its slot begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// Number of the line: plane × racks + `from`.
    pub line: u32,
    /// Who sends.
    pub from: u32,
    /// Who hears it.
    pub relay: u32,
    /// What it could still carry in this slot.
    pub bytes: u64,
}

/// What a rack may send over a circuit to one that relays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Of these circuits, the line.
    pub line: u32,
    /// For whom the bytes are.
    pub to: u32,
    /// How many.
    pub bytes: u64,
}

/// Bytes that will leave on circuits that are lit already, if so many wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken {
    /// Who sends.
    pub from: u32,
    /// Who hears it.
    pub to: u32,
    /// How many, at most.
    pub bytes: u64,
}

/// What relays have for others, and what is coming to them.
pub struct RelayQueues<'a> {
    /// Their queues.
    pub relayed: &'a Voqs,
    /// By the same numbers, bytes that they have accepted and that are not there yet.
    pub coming: &'a [u64],
    /// By the same numbers, whether the relay ever meets the rack; none where all do.
    pub meet: &'a [bool],
}

impl RelayQueues<'_> {
    /// Bytes of a queue that are there or will be.
    pub fn accepted(&self, queue: usize) -> u64 {
        self.relayed.waiting(queue) + self.coming[queue]
    }

    /// Whether a relay meets the rack of a queue.
    pub fn meets(&self, queue: usize) -> bool {
        self.meet.is_empty() || self.meet[queue]
    }
}
