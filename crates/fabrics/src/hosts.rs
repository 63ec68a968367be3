//! Flows that wait at the hosts of packet fabrics: each host sends packet by packet, its flows in
//! turn or one after another. The fabric decides when and to where a packet is sent.

use crate::discipline::{Discipline, Turns};
use lightloom_engine::{FlowId, Io, Time};

/// A packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The flow.
    pub flow: FlowId,
    /// Its payload [B].
    pub bytes: u32,
}

/// The flows that wait at all hosts.
#[derive(Clone, Debug)]
pub struct HostQueues {
    discipline: Discipline,
    /// A ring of flows for each host.
    turns: Turns,
    /// Bytes of each flow that have not been sent.
    left: Vec<u64>,
    packet: u64,
    /// Bytes that wait.
    pub bytes: u64,
}

impl HostQueues {
    /// Memory of a host and of a flow [B].
    pub const BYTES: (u64, u64) = (8, 12);

    /// Creates empty queues for `flows` flows, with packets of this payload [B].
    pub fn new(hosts: usize, flows: usize, packet: u64, discipline: Discipline) -> HostQueues {
        HostQueues {
            discipline,
            turns: Turns::new(hosts, flows),
            left: vec![0; flows],
            packet,
            bytes: 0,
        }
    }

    /// Adds a flow to the queue of its host. Returns the host.
    #[inline]
    pub fn admit(&mut self, flow: FlowId, io: &Io) -> usize {
        let (f, bytes) = (flow.index(), io.flows.bytes[flow.index()]);
        let host = io.flows.src[f].index();
        self.bytes += bytes;
        self.left[f] = bytes;
        self.turns.join(host, flow.0);
        host
    }

    /// Whether a host has anything to send.
    #[inline]
    pub fn waits(&self, host: usize) -> bool {
        self.turns.first(host).is_some()
    }

    /// The packet that a host sends next, if it has one. It stays the next one until it is taken,
    /// whichever packets join the queue.
    #[inline]
    pub fn front(&self, host: usize) -> Option<Packet> {
        let flow = self.turns.first(host)?;
        Some(Packet {
            flow: FlowId(flow),
            bytes: self.left[flow as usize].min(self.packet) as u32,
        })
    }

    /// The packet that a host sends next; the host must have one.
    #[inline]
    pub fn first(&self, host: usize) -> Packet {
        self.front(host).expect("the host has a packet")
    }

    /// Passes the turn to the first flow that arrived no later than `by`, if there is one: a host
    /// that was free at that time did not wait for a later flow.
    #[inline]
    pub fn pass_to_arrived(&mut self, host: usize, by: Time, io: &Io) {
        let arrived = |flow: u32| io.flows.arrival[flow as usize] <= by;
        let Some(first) = self.turns.first(host) else {
            return;
        };
        if arrived(first) || self.discipline == Discipline::Fifo {
            return;
        }
        loop {
            self.turns.rotate(host);
            match self.turns.first(host) {
                Some(flow) if flow != first && !arrived(flow) => {}
                _ => return,
            }
        }
    }

    /// Removes the first packet, of `bytes` bytes, which has left its host. The next packet belongs
    /// to the next flow in turn; with first in, first out, to the same flow while it has packets.
    #[inline]
    pub fn pop(&mut self, host: usize, bytes: u32) {
        self.bytes -= u64::from(bytes);
        let Some(flow) = self.turns.first(host) else {
            return;
        };
        let left = &mut self.left[flow as usize];
        *left -= u64::from(bytes);
        match (*left, self.discipline) {
            (0, _) => _ = self.turns.leave(host),
            (_, Discipline::Fair) => self.turns.rotate(host),
            (_, Discipline::Fifo) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Flows, HostId};
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Compares with a list of flows for each host, divided into packets by hand.
        #[test]
        fn flows_leave_in_packets_in_turn_or_in_order(
            sizes in prop::collection::vec((0u32..3, 1u64..900), 1..40),
            steps in prop::collection::vec((prop::bool::ANY, 0usize..3), 0..200),
            fair in prop::bool::ANY,
        ) {
            let mut flows = Flows::new();
            for &(host, bytes) in &sizes {
                flows.push(HostId(host), HostId(3), bytes, Time::ZERO);
            }
            let io = Io::new(flows);
            let discipline = if fair { Discipline::Fair } else { Discipline::Fifo };
            let mut queues = HostQueues::new(3, sizes.len(), 256, discipline);
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
                    match left > 256 {
                        true if fair => model[host].push_back((f, left - 256)),
                        true => model[host].push_front((f, left - 256)),
                        false => {}
                    }
                    queues.pop(host, bytes);
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
