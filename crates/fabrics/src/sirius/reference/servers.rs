//! Servers' links, and what never leaves its rack.

use lightloom_engine::{Cluster, FlowId, Io, Nic, Rate, Time};
use std::collections::BTreeSet;

/// Flows within racks: each takes its bytes at the rate of its server, or at that of the
/// rack where servers have none of their own.
#[derive(Clone, Debug)]
pub struct Racks {
    rate: Rate,
    /// By the time at which they are delivered.
    flows: BTreeSet<(Time, FlowId)>,
}

impl Racks {
    pub fn new(cluster: &Cluster) -> Racks {
        let rate = match cluster.nic {
            Nic::Uncapped => cluster.rack_rate(),
            Nic::Capped(rate) => rate,
        };
        let flows = BTreeSet::new();
        Racks { rate, flows }
    }

    pub fn admit(&mut self, flow: FlowId, io: &mut Io) {
        let arrival = io.flows.arrival[flow.index()];
        let takes = self.rate.time_for(io.flows.bytes[flow.index()]);
        io.start(flow, arrival);
        self.flows.insert((arrival + takes, flow));
    }

    /// Delivers what is through by `now`; says whether there was anything.
    pub fn deliver(&mut self, now: Time, io: &mut Io) -> bool {
        let before = self.flows.len();
        while let Some(&(at, flow)) = self.flows.first().filter(|f| f.0 <= now) {
            self.flows.pop_first();
            io.deliver_some(io.flows.bytes[flow.index()]);
            io.flows.hops[flow.index()] = 0.0;
            io.finish(flow, at);
        }
        self.flows.len() < before
    }

    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }
}
