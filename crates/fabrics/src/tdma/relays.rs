//! Bytes that cross two circuits: a rack takes what waits for another one, and delivers it
//! when the two meet.
//!
//! When a slot begins and all have sent what may go directly, a rule says what the time
//! that is left on each circuit is used for; it is asked once a slot, for all circuits
//! together. What crosses then is at the relay when the slot ends, waits there in a queue
//! for its rack, and goes before what the relay itself has for that rack. The rule knows
//! what waits everywhere and takes no time: that racks tell each other is not modelled.

use super::voq::Voqs;
use lightloom_engine::FlowId;

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

/// Says what is relayed by whom.
pub trait Relaying: Send {
    /// Adds grants for a slot: on no line more than is spare, of no queue at its source
    /// (`own`) more than waits there; none to the relay itself. `relayed` are the queues
    /// of relays.
    fn grant(&mut self, spare: &[Spare], own: &Voqs, relayed: &Voqs, grants: &mut Vec<Grant>);
}

/// Bytes on their way to a relay.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    relay: u32,
    to: u32,
    flow: FlowId,
    bytes: u64,
}

/// What relays hold, and what is on its way to them.
pub struct Relays {
    rule: Box<dyn Relaying>,
    /// At each relay a queue for each rack.
    pub queues: Voqs,
    crossing: Vec<Crossing>,
    spare: Vec<Spare>,
    grants: Vec<Grant>,
    /// Bytes at each relay.
    held: Vec<u64>,
    /// Of them at the worst one, at the end of any slot.
    pub peak: u64,
    /// Bytes of each flow that a relay has delivered.
    delivered: Vec<u64>,
}

impl Relays {
    /// Empty queues between so many racks, for so many flows.
    pub fn new(rule: Box<dyn Relaying>, racks: u32, flows: usize) -> Relays {
        Relays {
            rule,
            queues: Voqs::new(racks),
            crossing: Vec::new(),
            spare: Vec::new(),
            grants: Vec::new(),
            held: vec![0; racks as usize],
            peak: 0,
            delivered: vec![0; flows],
        }
    }

    /// Memory that so many racks and flows take beyond those without relays, about [B].
    pub fn memory(racks: u64, flows: u64) -> u64 {
        // Queues, and what rules look at.
        racks * racks * (16 + 16) + flows * 8
    }

    /// What the rule makes of lines with time to spare.
    pub fn share(&mut self, spare: impl Iterator<Item = Spare>, own: &Voqs) -> Vec<Grant> {
        let mut grants = std::mem::take(&mut self.grants);
        grants.clear();
        self.spare.clear();
        self.spare.extend(spare);
        self.rule.grant(&self.spare, own, &self.queues, &mut grants);
        grants
    }

    /// The list is empty again, and its room is kept.
    pub fn end_of(&mut self, grants: Vec<Grant>) {
        self.grants = grants;
    }

    /// Bytes leave for a relay.
    pub fn cross(&mut self, relay: u32, to: u32, flow: FlowId, bytes: u64) {
        self.crossing.push(Crossing {
            relay,
            to,
            flow,
            bytes,
        });
    }

    /// The slot is over: what has crossed joins its queue. Returns how much it is.
    pub fn gather(&mut self) -> u64 {
        let mut all = 0;
        for Crossing {
            relay,
            to,
            flow,
            bytes,
        } in self.crossing.drain(..)
        {
            self.queues.push(self.queues.of(relay, to), flow, bytes);
            self.held[relay as usize] += bytes;
            all += bytes;
        }
        if all > 0 {
            self.peak = self.peak.max(self.worst());
        }
        all
    }

    /// The first bytes of a relay's queue leave it.
    pub fn take(&mut self, relay: u32, queue: usize, bytes: u64) {
        self.queues.take(queue, bytes);
        self.held[relay as usize] -= bytes;
    }

    /// Bytes that a relay sent are at the rack of their destination.
    pub fn land(&mut self, flow: FlowId, bytes: u64) {
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

    /// Bytes at the relay that has the most.
    pub fn worst(&self) -> u64 {
        self.held.iter().copied().max().unwrap_or(0)
    }
}
