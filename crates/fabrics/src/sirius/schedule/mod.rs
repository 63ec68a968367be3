//! The cyclic schedule: the pairs of nodes that meet in each slot (Sirius §3.1, §4.1, §4.2).
//!
//! The uplinks of nodes are connected to gratings; all transceivers of a node step through the
//! wavelengths together, one per slot. A [`Wiring`] gives the grating and port of each uplink, a
//! [`Schedule`] the pairs that meet in a slot. It identifies nodes by *labels*: in this order the
//! nodes that are met in a slot are adjacent, so that the kernel reads memory in sequence.
//!
//! - [`wiring`], [`plan`]: gratings, and the connection of uplinks to them;
//! - [`peer_order`]: slot by slot, the peers of each node;
//! - [`next_meeting`]: pair by pair, the next meeting;
//! - `reschedule`: the schedules that nodes agree on when some are dead (§4.5).

pub mod next_meeting;
pub mod peer_order;
pub mod plan;
pub(crate) mod reschedule;
#[cfg(test)]
pub(crate) mod tests;
pub mod wiring;

use lightloom_control::algorithms::cyclic::RoundRobin;
use wiring::Wiring;

/// The pairs of nodes that meet in each slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Idealised fractional round robin; no wiring of gratings realises it.
    Rotor(RoundRobin),
    /// Cyclic wavelengths over a wiring.
    Gratings(Wiring),
}

impl Schedule {
    /// N.
    pub fn nodes(&self) -> u32 {
        match self {
            Schedule::Rotor(rr) => rr.nodes,
            Schedule::Gratings(w) => w.nodes,
        }
    }

    /// Uplinks of a node.
    pub fn uplinks(&self) -> u32 {
        match self {
            Schedule::Rotor(rr) => rr.uplinks,
            Schedule::Gratings(w) => w.uplinks(),
        }
    }

    /// The node and receive port that `uplink` of `node` reaches in `slot`.
    pub fn peer(&self, node: u32, uplink: u32, slot: i64) -> (u32, u32) {
        match self {
            Schedule::Rotor(rr) => (rr.peer(node, uplink, slot), uplink),
            Schedule::Gratings(w) => {
                let (bank, ..) = w.bank(uplink);
                w.peer(node, uplink, slot.rem_euclid(bank.awgr.ports as i64) as u32)
            }
        }
    }

    /// The grating to which `uplink` of `node` is connected; `None` without gratings.
    pub fn grating(&self, node: u32, uplink: u32) -> Option<u32> {
        match self {
            Schedule::Rotor(_) => None,
            Schedule::Gratings(w) => Some(w.input(node, uplink).grating),
        }
    }

    /// Number of gratings in the core; `None` without gratings.
    pub fn gratings(&self) -> Option<u32> {
        match self {
            Schedule::Rotor(_) => None,
            Schedule::Gratings(w) => Some(w.gratings()),
        }
    }

    /// Slots of an epoch, as a fraction: N/U, in which a pair meets once on average; or the longest
    /// gap between two meetings of any pair if that is longer, because the cells of every epoch
    /// carry requests and grants (§4.3).
    pub fn epoch(&self) -> (i64, i64) {
        let (nodes, uplinks) = (self.nodes() as i64, self.uplinks() as i64);
        match self.longest_gap() as i64 {
            gap if gap * uplinks >= nodes + uplinks => (gap, 1),
            _ => (nodes, uplinks),
        }
    }

    /// Number of whole slots in an epoch, rounded up.
    pub fn epoch_slots(&self) -> u32 {
        let (slots, of) = self.epoch();
        (slots as u64).div_ceil(of as u64) as u32
    }

    /// Largest number of slots from one meeting of a pair to its next.
    fn longest_gap(&self) -> u32 {
        let Schedule::Gratings(wiring) = self else {
            return self.nodes().div_ceil(self.uplinks());
        };
        let frame = self.frame() as i64;
        let mut last = vec![None; wiring.nodes as usize];
        let mut longest = 0;
        // All nodes are equivalent: the pairs of node 0 represent all pairs.
        for slot in 0..2 * frame {
            for uplink in 0..wiring.uplinks() {
                let met = &mut last[self.peer(0, uplink, slot).0 as usize];
                longest = longest.max(met.map_or(0, |before| slot - before));
                *met = Some(slot);
            }
        }
        longest as u32
    }

    /// Number of slots after which the schedule repeats.
    pub fn frame(&self) -> u32 {
        match self {
            Schedule::Rotor(rr) => rr.nodes,
            Schedule::Gratings(w) => w.banks.iter().map(|b| b.awgr.ports).max().unwrap_or(1),
        }
    }

    /// Smallest number of ports of any grating (the period of the label order).
    fn finest(&self) -> u32 {
        match self {
            Schedule::Rotor(_) => 1,
            Schedule::Gratings(w) => w.banks.iter().map(|b| b.awgr.ports).min().unwrap_or(1),
        }
    }

    /// The label of a node.
    pub fn label(&self, node: u32) -> u32 {
        let g = self.finest();
        (node % g) * (self.nodes() / g) + node / g
    }

    /// The node with that label.
    pub fn node(&self, label: u32) -> u32 {
        let g = self.finest();
        let per = self.nodes() / g;
        (label % per) * g + label / per
    }
}
