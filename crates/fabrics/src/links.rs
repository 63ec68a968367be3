//! Electrical links that send whole packets, low-latency traffic first; flows take turns, or
//! packets are sent in order of arrival.

use crate::discipline::{Discipline, Turns};
use lightloom_engine::{FlowId, Rate, Time};

/// End of a chain.
const NONE: u32 = u32::MAX;

/// A packet, or its rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The flow.
    pub flow: FlowId,
    /// Its bytes.
    pub bytes: u32,
    /// Whether it has crossed a circuit or, in LIONS, a loop-back buffer.
    pub circuit: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    next: u32,
}

/// Packets that leave one after another.
#[derive(Clone, Copy, Debug)]
struct Chain {
    head: u32,
    tail: u32,
}

/// Links of one rate, each with two unbounded queues: for low-latency packets, and for others.
#[derive(Clone, Debug)]
pub struct Links {
    /// Rate of each link [b/s].
    pub rate: Rate,
    discipline: Discipline,
    /// The packet on each link.
    sending: Vec<u32>,
    /// Two rings of chains for each link: the first goes before the second.
    turns: Turns,
    /// A chain for each flow if flows take turns; otherwise one for each ring.
    chains: Vec<Chain>,
    packets: Vec<Waiting>,
    unused: u32,
    /// Bytes that wait or are being sent.
    pub bytes: u64,
    queued: Vec<u64>,
}

impl Links {
    /// Memory of a link and of a flow, without packets [B].
    pub const BYTES: (u64, u64) = (28, 12);

    /// Creates idle links on which flows take turns.
    pub fn fair(links: usize, rate: Rate, flows: usize) -> Links {
        Links::new(links, rate, flows, Discipline::Fair)
    }

    /// Creates idle links on which packets leave in order of arrival.
    pub fn fifo(links: usize, rate: Rate) -> Links {
        Links::new(links, rate, 2 * links, Discipline::Fifo)
    }

    fn new(links: usize, rate: Rate, chains: usize, discipline: Discipline) -> Links {
        let empty = Chain {
            head: NONE,
            tail: NONE,
        };
        Links {
            rate,
            discipline,
            sending: vec![NONE; links],
            turns: Turns::new(2 * links, chains),
            chains: vec![empty; chains],
            packets: Vec::new(),
            unused: NONE,
            bytes: 0,
            queued: vec![0; links],
        }
    }

    /// Adds a packet to a link's queue for low-latency packets (`first`) or for others. Returns the
    /// time at which it is sent completely, if it does not wait.
    pub fn join(&mut self, link: usize, packet: Packet, first: bool, now: Time) -> Option<Time> {
        self.bytes += u64::from(packet.bytes);
        self.queued[link] += u64::from(packet.bytes);
        let row = self.row(packet);
        if self.sending[link] == NONE {
            self.sending[link] = row;
            return Some(now + self.rate.time_for(u64::from(packet.bytes)));
        }
        let ring = 2 * link + usize::from(!first);
        let chain = match self.discipline {
            Discipline::Fair => packet.flow.0,
            Discipline::Fifo => ring as u32,
        };
        let Chain { head, tail } = &mut self.chains[chain as usize];
        match *head {
            NONE => {
                *head = row;
                self.turns.join(ring, chain);
            }
            _ => self.packets[*tail as usize].next = row,
        }
        *tail = row;
        None
    }

    /// The place of a packet.
    fn row(&mut self, packet: Packet) -> u32 {
        let waiting = Waiting { packet, next: NONE };
        match self.unused {
            NONE => {
                self.packets.push(waiting);
                self.packets.len() as u32 - 1
            }
            row => {
                self.unused = self.packets[row as usize].next;
                self.packets[row as usize] = waiting;
                row
            }
        }
    }

    /// The packet that a link is sending.
    pub fn first(&self, link: usize) -> Option<Packet> {
        let row = self.sending[link];
        self.packets.get(row as usize).map(|waiting| waiting.packet)
    }

    /// Ends the packet that a link is sending. Returns the time at which the next one is sent
    /// completely.
    pub fn sent(&mut self, link: usize, now: Time) -> Option<Time> {
        let row = self.sending[link];
        let sent = &mut self.packets[row as usize];
        self.bytes -= u64::from(sent.packet.bytes);
        self.queued[link] -= u64::from(sent.packet.bytes);
        sent.next = std::mem::replace(&mut self.unused, row);
        self.sending[link] = self.take(link);
        let next = self.first(link)?;
        Some(now + self.rate.time_for(u64::from(next.bytes)))
    }

    /// Removes the packet whose turn it is from a link's queues.
    fn take(&mut self, link: usize) -> u32 {
        let rings = [2 * link, 2 * link + 1];
        let waits = |&ring: &usize| Some((ring, self.turns.first(ring)?));
        let Some((ring, chain)) = rings.iter().find_map(waits) else {
            return NONE;
        };
        let chain = &mut self.chains[chain as usize];
        let row = chain.head;
        chain.head = std::mem::replace(&mut self.packets[row as usize].next, NONE);
        match chain.head {
            NONE => _ = self.turns.leave(ring),
            _ => self.turns.rotate(ring),
        }
        row
    }

    /// Bytes that wait or are being sent at a link.
    pub fn at(&self, link: usize) -> u64 {
        self.queued[link]
    }

    /// Bytes that wait for a link, behind the packet that it is sending.
    pub fn waiting_for(&self, link: usize) -> u64 {
        let sending = self.first(link).map_or(0, |packet| u64::from(packet.bytes));
        self.queued[link] - sending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// A flow with its packets' bytes, in a list of flows that take turns.
    type List = VecDeque<(u32, VecDeque<u32>)>;

    /// The next packet of the flow at the front, which then goes to the back.
    fn take(list: &mut List) -> Option<u32> {
        let (flow, mut packets) = list.pop_front()?;
        let bytes = packets.pop_front()?;
        if !packets.is_empty() {
            list.push_back((flow, packets));
        }
        Some(bytes)
    }

    proptest! {
        /// Compares with a list of flows for each kind, and the packet that is being sent.
        #[test]
        fn low_latency_packets_go_first_and_flows_take_turns(
            steps in prop::collection::vec((0u32..2, prop::bool::ANY, 1u32..9, 0u32..4), 1..200),
            fair in prop::bool::ANY,
        ) {
            let mut links = match fair {
                true => Links::fair(2, Rate(8 * Rate::GBPS.0), 8),
                false => Links::fifo(2, Rate(8 * Rate::GBPS.0)),
            };
            let mut sending: [Option<u32>; 2] = Default::default();
            let mut waits: [[List; 2]; 2] = Default::default();
            for (link, sends, bytes, flow) in steps {
                // A flow has a single destination and a single kind.
                let (flow, first, at) = (4 * link + flow, flow == 3, link as usize);
                if sends && sending[at].is_some() {
                    let [before, others] = &mut waits[at];
                    let next = take(before).or_else(|| take(others));
                    let until = next.map(|bytes| Time::NS * i64::from(bytes));
                    prop_assert_eq!(links.sent(at, Time::ZERO), until);
                    sending[at] = next;
                } else {
                    let packet = Packet { flow: FlowId(flow), bytes, circuit: false };
                    let until = links.join(at, packet, first, Time::ZERO);
                    prop_assert_eq!(until.is_some(), sending[at].is_none());
                    // First in, first out is the same as one flow with all packets.
                    let flow = if fair { flow } else { 0 };
                    let list = &mut waits[at][usize::from(!first)];
                    match list.iter_mut().find(|(f, _)| *f == flow) {
                        _ if sending[at].is_none() => sending[at] = Some(bytes),
                        Some((_, packets)) => packets.push_back(bytes),
                        None => list.push_back((flow, [bytes].into())),
                    }
                }
                prop_assert_eq!(links.first(at).map(|packet| packet.bytes), sending[at]);
                let all = waits[at].iter().flatten().flat_map(|(_, packets)| packets);
                let all: u32 = all.chain(&sending[at]).sum();
                prop_assert_eq!(links.at(at), u64::from(all));
                let waiting = u64::from(all - sending[at].unwrap_or(0));
                prop_assert_eq!(links.waiting_for(at), waiting);
            }
        }
    }

    #[test]
    fn packets_leave_one_after_the_other() {
        // A byte a nanosecond.
        let mut links = Links::fair(2, Rate(8 * Rate::GBPS.0), 6);
        let packet = |flow, bytes| Packet {
            flow: FlowId(flow),
            bytes,
            circuit: false,
        };
        let ns = |n: i64| Time::NS * n;
        assert_eq!(links.join(0, packet(1, 10), false, ns(5)), Some(ns(15)));
        assert_eq!(links.join(0, packet(2, 20), false, ns(6)), None);
        assert_eq!(links.join(0, packet(3, 7), false, ns(6)), None);
        assert_eq!(links.join(1, packet(4, 30), false, ns(6)), Some(ns(36)));
        assert_eq!((links.bytes, links.at(0)), (67, 37));
        assert_eq!(links.first(0), Some(packet(1, 10)));
        assert_eq!(links.sent(0, ns(15)), Some(ns(35)));
        assert_eq!(links.first(0), Some(packet(2, 20)));
        assert_eq!(links.sent(0, ns(35)), Some(ns(42)));
        assert_eq!(links.sent(0, ns(42)), None);
        assert_eq!((links.first(0), links.bytes), (None, 30));
        assert_eq!(links.join(0, packet(5, 1), false, ns(50)), Some(ns(51)));
    }
}
