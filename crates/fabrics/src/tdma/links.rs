//! Electrical links that send whole packets, first in, first out; those of low-latency
//! traffic before others.

use lightloom_engine::{FlowId, Rate, Time};

/// End of a chain.
const NONE: u32 = u32::MAX;

/// A packet, or its rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Of which flow.
    pub flow: FlowId,
    /// Its bytes.
    pub bytes: u32,
    /// Whether it has crossed a circuit.
    pub circuit: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    /// The first is on the link.
    head: u32,
    /// Behind it, the last that goes before others.
    expedited: u32,
    tail: u32,
}

/// Links of one rate, each with a queue without bound.
#[derive(Clone, Debug)]
pub struct Links {
    /// Of each [b/s].
    pub rate: Rate,
    links: Vec<Link>,
    packets: Vec<Waiting>,
    unused: u32,
    /// Bytes that wait or are being sent.
    pub bytes: u64,
    queued: Vec<u64>,
}

impl Links {
    /// So many idle links.
    pub fn new(links: usize, rate: Rate) -> Links {
        let idle = Link {
            head: NONE,
            expedited: NONE,
            tail: NONE,
        };
        Links {
            rate,
            links: vec![idle; links],
            packets: Vec::new(),
            unused: NONE,
            bytes: 0,
            queued: vec![0; links],
        }
    }

    /// A packet joins a link's queue; returns when it will have been sent, if it need not
    /// wait.
    pub fn join(&mut self, link: usize, packet: Packet, now: Time) -> Option<Time> {
        let tail = self.links[link].tail;
        self.join_behind(tail, link, packet, now)
    }

    /// The same, for a packet that goes before those that join by [`Links::join`], other
    /// than the one that is being sent.
    pub fn expedite(&mut self, link: usize, packet: Packet, now: Time) -> Option<Time> {
        let Link {
            head, expedited, ..
        } = self.links[link];
        let row = match expedited {
            NONE => head,
            last => last,
        };
        let until = self.join_behind(row, link, packet, now);
        if until.is_none() {
            self.links[link].expedited = self.packets[row as usize].next;
        }
        until
    }

    fn join_behind(&mut self, row: u32, link: usize, packet: Packet, now: Time) -> Option<Time> {
        self.bytes += u64::from(packet.bytes);
        self.queued[link] += u64::from(packet.bytes);
        let new = self.row(packet);
        let link = &mut self.links[link];
        if link.tail == row {
            link.tail = new;
        }
        if row != NONE {
            let next = std::mem::replace(&mut self.packets[row as usize].next, new);
            self.packets[new as usize].next = next;
            return None;
        }
        link.head = new;
        Some(now + self.rate.time_for(u64::from(packet.bytes)))
    }

    /// Where a packet is kept.
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
        let head = self.links[link].head;
        self.packets
            .get(head as usize)
            .map(|waiting| waiting.packet)
    }

    /// A link has sent its packet; returns when it will have sent the next.
    pub fn sent(&mut self, link: usize, now: Time) -> Option<Time> {
        let head = self.links[link].head;
        let Waiting { packet, next } = self.packets[head as usize];
        self.bytes -= u64::from(packet.bytes);
        self.queued[link] -= u64::from(packet.bytes);
        self.packets[head as usize].next = self.unused;
        self.unused = head;
        let link = &mut self.links[link];
        link.head = next;
        if link.expedited == next {
            // It is on the link.
            link.expedited = NONE;
        }
        if next == NONE {
            link.tail = NONE;
            return None;
        }
        let bytes = u64::from(self.packets[next as usize].packet.bytes);
        Some(now + self.rate.time_for(bytes))
    }

    /// Bytes that wait or are being sent at a link.
    pub fn at(&self, link: usize) -> u64 {
        self.queued[link]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// As a list for each kind, and the packet that is being sent.
        #[test]
        fn expedited_packets_go_first(
            steps in prop::collection::vec((0u32..3, prop::bool::ANY, 1u32..9), 1..200),
        ) {
            let mut links = Links::new(3, Rate(8 * Rate::GBPS.0));
            let mut sending: [Option<u32>; 3] = Default::default();
            let mut waits: [[VecDeque<(u32, u32)>; 2]; 3] = Default::default();
            for (number, (link, sends, bytes)) in (0u32..).zip(steps) {
                let link = link as usize;
                if sends && sending[link].is_some() {
                    let [first, rest] = &mut waits[link];
                    let next = first.pop_front().or_else(|| rest.pop_front());
                    let until = next.map(|(_, bytes)| Time::NS * i64::from(bytes));
                    prop_assert_eq!(links.sent(link, Time::ZERO), until);
                    sending[link] = next.map(|(number, _)| number);
                } else {
                    let packet = Packet { flow: FlowId(number), bytes, circuit: false };
                    let expedited = number % 3 == 0;
                    let until = match expedited {
                        true => links.expedite(link, packet, Time::ZERO),
                        false => links.join(link, packet, Time::ZERO),
                    };
                    prop_assert_eq!(until.is_some(), sending[link].is_none());
                    match sending[link] {
                        None => sending[link] = Some(number),
                        Some(_) => waits[link][usize::from(!expedited)].push_back((number, bytes)),
                    }
                }
                let first = links.first(link).map(|packet| packet.flow.0);
                prop_assert_eq!(first, sending[link]);
            }
        }
    }

    #[test]
    fn packets_leave_one_after_the_other() {
        // A byte a nanosecond.
        let mut links = Links::new(2, Rate(8 * Rate::GBPS.0));
        let packet = |flow, bytes| Packet {
            flow: FlowId(flow),
            bytes,
            circuit: false,
        };
        let ns = |n: i64| Time::NS * n;
        assert_eq!(links.join(0, packet(1, 10), ns(5)), Some(ns(15)));
        assert_eq!(links.join(0, packet(2, 20), ns(6)), None);
        assert_eq!(links.join(0, packet(3, 7), ns(6)), None);
        assert_eq!(links.join(1, packet(4, 30), ns(6)), Some(ns(36)));
        assert_eq!((links.bytes, links.at(0)), (67, 37));
        assert_eq!(links.first(0), Some(packet(1, 10)));
        assert_eq!(links.sent(0, ns(15)), Some(ns(35)));
        assert_eq!(links.first(0), Some(packet(2, 20)));
        assert_eq!(links.sent(0, ns(35)), Some(ns(42)));
        assert_eq!(links.sent(0, ns(42)), None);
        assert_eq!((links.first(0), links.bytes), (None, 30));
        assert_eq!(links.join(0, packet(5, 1), ns(50)), Some(ns(51)));
    }
}
