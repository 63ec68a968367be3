//! What waits at the hosts of packet fabrics: each sends its flows first in, first
//! out, packet by packet. When and where to is the fabric's own.

use lightloom_engine::{FlowId, Io};

/// End of a chain; no such flow.
const NONE: u32 = u32::MAX;

/// A packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The flow.
    pub flow: FlowId,
    /// Its payload [B].
    pub bytes: u32,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    /// First and last flow that wait.
    head: u32,
    tail: u32,
    /// Bytes of the first that have not been sent.
    left: u64,
}

/// The flows that wait at all hosts.
#[derive(Clone, Debug)]
pub struct HostQueues {
    queues: Vec<Queue>,
    /// Behind each flow, the next of its host.
    next: Vec<u32>,
    packet: u64,
    /// Bytes that wait.
    pub bytes: u64,
}

impl HostQueues {
    /// Empty queues that will be offered so many flows, with packets of that
    /// payload [B].
    pub fn new(hosts: usize, flows: usize, packet: u64) -> HostQueues {
        let empty = Queue {
            head: NONE,
            tail: NONE,
            left: 0,
        };
        HostQueues {
            queues: vec![empty; hosts],
            next: vec![NONE; flows],
            packet,
            bytes: 0,
        }
    }

    /// A flow joins its host's queue. Returns the host.
    #[inline]
    pub fn admit(&mut self, flow: FlowId, io: &Io) -> usize {
        let (f, bytes) = (flow.index(), io.flows.bytes[flow.index()]);
        let host = io.flows.src[f].index();
        let queue = &mut self.queues[host];
        self.bytes += bytes;
        if queue.head == NONE {
            queue.head = flow.0;
            queue.left = bytes;
        } else {
            self.next[queue.tail as usize] = flow.0;
        }
        queue.tail = flow.0;
        host
    }

    /// Whether a host has anything to send.
    #[inline]
    pub fn waits(&self, host: usize) -> bool {
        self.queues[host].head != NONE
    }

    /// The packet that a host sends next; it has one.
    #[inline]
    pub fn first(&self, host: usize) -> Packet {
        let queue = &self.queues[host];
        Packet {
            flow: FlowId(queue.head),
            bytes: queue.left.min(self.packet) as u32,
        }
    }

    /// The packet that a host sends next, if it has one.
    #[inline]
    pub fn front(&self, host: usize) -> Option<Packet> {
        self.waits(host).then(|| self.first(host))
    }

    /// The first packet, of so many bytes, has left its host.
    #[inline]
    pub fn pop(&mut self, host: usize, bytes: u32, io: &Io) {
        self.bytes -= bytes as u64;
        let queue = &mut self.queues[host];
        queue.left -= bytes as u64;
        if queue.left > 0 {
            return;
        }
        queue.head = self.next[queue.head as usize];
        if queue.head != NONE {
            queue.left = io.flows.bytes[queue.head as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Flows, HostId, Time};
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// As a queue of whole flows for each host, cut up by hand.
        #[test]
        fn flows_leave_in_order_and_in_packets(
            sizes in prop::collection::vec((0u32..3, 1u64..900), 1..40),
            steps in prop::collection::vec((prop::bool::ANY, 0usize..3), 0..200),
        ) {
            let mut flows = Flows::new();
            for &(host, bytes) in &sizes {
                flows.push(HostId(host), HostId(3), bytes, Time::ZERO);
            }
            let io = Io::new(flows);
            let mut queues = HostQueues::new(3, sizes.len(), 256);
            let mut model: [VecDeque<(u32, u64)>; 3] = Default::default();
            let mut rows = sizes.iter().enumerate();
            for (arrives, host) in steps {
                if arrives {
                    let Some((f, &(at, bytes))) = rows.next() else { continue };
                    prop_assert_eq!(queues.admit(FlowId(f as u32), &io), at as usize);
                    model[at as usize].push_back((f as u32, bytes));
                } else if let Some(Packet { flow, bytes }) = queues.front(host) {
                    let (f, left) = model[host].pop_front().expect("as many");
                    prop_assert_eq!((flow.0, bytes as u64), (f, left.min(256)));
                    if left > 256 {
                        model[host].push_front((f, left - 256));
                    }
                    queues.pop(host, bytes, &io);
                }
                let waits: u64 = model.iter().flatten().map(|(_, left)| left).sum();
                prop_assert_eq!(queues.bytes, waits);
                for (host, rest) in model.iter().enumerate() {
                    prop_assert_eq!(queues.waits(host), !rest.is_empty());
                }
            }
        }
    }
}
