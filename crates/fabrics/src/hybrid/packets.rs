//! The time that flows over the tree and over circuits need beyond bytes ÷ rate: propagation,
//! switches, headers, and packets that switches store.
//!
//! This time depends on the links that a flow passes, not on its servers: within a rack, within a
//! pod, over the core, or over a number of circuits in a row.

use crate::alone::Alone;
use crate::electrical::layout::Bundle;
use crate::overheads::{Forwarding, Overheads, Passed};
use lightloom_engine::{Rate, Time};

/// Number of circuits on a path up to which the time is computed in advance: the most that HydRA
/// may use.
const CIRCUITS: u32 = 12;

/// The packet format and the forwarding of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Packets {
    /// Headers and other overheads of packets.
    pub overheads: Overheads,
    /// Whether switches store packets whole.
    pub forwarding: Forwarding,
    /// Rate of each of the links that form an uplink [b/s].
    pub link: Rate,
    /// Rate of a circuit, if there are circuits [b/s].
    pub circuit: Option<Rate>,
}

impl Packets {
    /// Whether flows take no time beyond bytes ÷ rate.
    pub fn are_nothing(&self) -> bool {
        self.overheads.is_nothing() && self.forwarding == Forwarding::CutThrough
    }
}

/// The rates of a tree's links on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wires {
    /// Rate of a server's link, if it is a limit, and of all servers of a rack.
    pub nic: Option<Rate>,
    pub rack: Rate,
    /// Rate of a rack's uplink, and of a pod's, if there are pods.
    pub uplink: Rate,
    pub pod: Option<Rate>,
}

/// Extra time of flows, by the links that they cross.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Beyond {
    packets: Packets,
    wires: Wires,
    within: Kind,
    pod: Kind,
    core: Kind,
    circuits: Vec<Kind>,
}

/// Extra time of flows over links of one kind.
#[derive(Clone, Debug, PartialEq)]
struct Kind {
    latency: Time,
    /// The links at whose ends packets are stored.
    stored: Option<Alone>,
    /// Payload rate of the slowest link.
    payload: Rate,
}

impl Beyond {
    pub fn new(packets: &Packets, wires: Wires) -> Beyond {
        let kind = |tree, circuits| Kind::new(packets, &wires, Passed { tree, circuits });
        let most = packets.circuit.map_or(0, |_| CIRCUITS);
        let core = if wires.pod.is_some() { 4 } else { 2 };
        Beyond {
            within: kind(0, 0),
            pod: kind(2, 0),
            core: kind(core, 0),
            circuits: (1..=most).map(|n| kind(0, n)).collect(),
            wires,
            packets: packets.clone(),
        }
    }

    /// Within a rack.
    #[inline]
    pub fn within(&self, bytes: u64) -> Time {
        self.within.of(bytes, &self.packets.overheads)
    }

    /// Extra time from a rack to another, in the same pod or not.
    #[inline]
    pub fn between(&self, bytes: u64, same_pod: bool) -> Time {
        let kind = if same_pod { &self.pod } else { &self.core };
        kind.of(bytes, &self.packets.overheads)
    }

    /// Extra time from a rack to another over this number of circuits.
    #[inline]
    pub fn over(&self, bytes: u64, circuits: u32) -> Time {
        let overheads = &self.packets.overheads;
        if let Some(kind) = self.circuits.get(circuits as usize - 1) {
            return kind.of(bytes, overheads);
        }
        let passed = Passed { tree: 0, circuits };
        Kind::new(&self.packets, &self.wires, passed).of(bytes, overheads)
    }
}

impl Kind {
    fn new(packets: &Packets, wires: &Wires, passed: Passed) -> Kind {
        let overheads = &packets.overheads;
        let uplink = Bundle::of(wires.uplink.0, packets.link);
        let pod = wires.pod.map(|rate| Bundle::of(rate.0, packets.link));
        let one = |rate| Bundle { links: 1, rate };
        let nic = wires.nic.map(one);
        let circuit = one(packets.circuit.unwrap_or_default());
        let between: Vec<Bundle> = match (passed.tree, pod) {
            (0, _) => vec![circuit; passed.circuits as usize],
            (4, Some(pod)) => vec![uplink, pod, pod, uplink],
            _ => vec![uplink; 2],
        };
        let path: Vec<Bundle> = nic.into_iter().chain(between).chain(nic).collect();
        let tree = (passed.tree > 0).then_some(wires.uplink);
        let core = wires.pod.filter(|_| passed.tree == 4);
        let light = packets.circuit.filter(|_| passed.circuits > 0);
        let rates = [wires.nic, tree, core, light].into_iter().flatten();
        let payload = overheads.payload(rates.min().unwrap_or(wires.rack));
        let stores = packets.forwarding == Forwarding::StoreAndForward;
        let longest = if wires.pod.is_some() { 4 } else { 2 };
        let (packet, header) = (overheads.payload_of_packet().0, overheads.header.0);
        Kind {
            latency: overheads.latency(passed, longest),
            stored: Alone::new(&path, packet, header, payload).filter(|_| stores),
            payload,
        }
    }

    #[inline]
    fn of(&self, bytes: u64, overheads: &Overheads) -> Time {
        let packets = match &self.stored {
            Some(stored) => stored.beyond_rate(bytes),
            None => overheads.last_header(bytes, self.payload),
        };
        self.latency + packets
    }
}
