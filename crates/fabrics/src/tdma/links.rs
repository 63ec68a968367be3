//! Electrical links that send whole packets, first in, first out.

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
    /// Of them at the worst link, at any time.
    pub peak: u64,
    queued: Vec<u64>,
}

impl Links {
    /// So many idle links.
    pub fn new(links: usize, rate: Rate) -> Links {
        let idle = Link {
            head: NONE,
            tail: NONE,
        };
        Links {
            rate,
            links: vec![idle; links],
            packets: Vec::new(),
            unused: NONE,
            bytes: 0,
            peak: 0,
            queued: vec![0; links],
        }
    }

    /// A packet joins a link's queue; returns when it will have been sent, if it need not
    /// wait.
    pub fn join(&mut self, link: usize, packet: Packet, now: Time) -> Option<Time> {
        self.bytes += u64::from(packet.bytes);
        self.queued[link] += u64::from(packet.bytes);
        let waiting = Waiting { packet, next: NONE };
        let row = match self.unused {
            NONE => {
                self.packets.push(waiting);
                self.packets.len() as u32 - 1
            }
            row => {
                self.unused = self.packets[row as usize].next;
                self.packets[row as usize] = waiting;
                row
            }
        };
        let Link { head, tail } = self.links[link];
        self.links[link].tail = row;
        if head != NONE {
            self.packets[tail as usize].next = row;
            // The first is on the link, and waits no more.
            let first = u64::from(self.packets[head as usize].packet.bytes);
            self.peak = self.peak.max(self.queued[link] - first);
            return None;
        }
        self.links[link].head = row;
        Some(now + self.rate.time_for(u64::from(packet.bytes)))
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
        self.links[link].head = next;
        if next == NONE {
            self.links[link].tail = NONE;
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
        assert_eq!((links.bytes, links.peak, links.at(0)), (67, 27, 37));
        assert_eq!(links.first(0), Some(packet(1, 10)));
        assert_eq!(links.sent(0, ns(15)), Some(ns(35)));
        assert_eq!(links.first(0), Some(packet(2, 20)));
        assert_eq!(links.sent(0, ns(35)), Some(ns(42)));
        assert_eq!(links.sent(0, ns(42)), None);
        assert_eq!((links.first(0), links.bytes), (None, 30));
        assert_eq!(links.join(0, packet(5, 1), ns(50)), Some(ns(51)));
    }
}
