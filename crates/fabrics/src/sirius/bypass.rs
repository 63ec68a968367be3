//! Traffic within a rack: through the rack switch, never over the gratings
//! (Sirius §4.2). It counts in goodput.
//!
//! The rack switch itself is ideal: a flow takes its serialisation time at the
//! server's rate, or at the rack's where servers are not capped. Contention
//! between flows of one rack is not modelled.

use lightloom_engine::{Cluster, FlowId, Io, Nic, Rate, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Flows inside racks, by the time at which they finish.
#[derive(Clone, Debug)]
pub struct Bypass {
    rate: Rate,
    flows: BinaryHeap<Reverse<(Time, FlowId, u64)>>,
    bytes: u64,
}

/// How fast a flow crosses its rack switch.
pub fn rate(cluster: &Cluster) -> Rate {
    match cluster.nic {
        Nic::Uncapped => cluster.rack_rate(),
        Nic::Capped(rate) => rate,
    }
}

impl Bypass {
    /// No flows.
    pub fn new(cluster: &Cluster) -> Bypass {
        Bypass {
            rate: rate(cluster),
            flows: BinaryHeap::new(),
            bytes: 0,
        }
    }

    /// Takes a flow that has arrived.
    pub fn admit(&mut self, flow: FlowId, io: &mut Io) {
        let (arrival, bytes) = (io.flows.arrival[flow.index()], io.flows.bytes[flow.index()]);
        io.start(flow, arrival);
        self.bytes += bytes;
        self.flows
            .push(Reverse((arrival + self.rate.time_for(bytes), flow, bytes)));
    }

    /// Delivers what finishes at or before `now`.
    pub fn deliver(&mut self, now: Time, io: &mut Io) {
        while let Some(&Reverse((at, flow, bytes))) = self.flows.peek() {
            if at > now {
                break;
            }
            self.flows.pop();
            self.bytes -= bytes;
            io.deliver_some(bytes);
            io.flows.hops[flow.index()] = 0.0;
            io.finish(flow, at);
        }
    }

    /// Bytes on their way.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }
}
