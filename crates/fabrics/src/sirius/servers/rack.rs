//! Traffic within a rack: it passes the rack switch, never the gratings (Sirius §4.2), and counts
//! in goodput.
//!
//! The rack switch itself is ideal: a flow takes its serialisation time at the rack's rate, and
//! contention between flows of one rack is not modelled. If servers' links have a rate, `links`
//! carries this traffic instead, and only the bound of `limits` uses this module.

use lightloom_engine::{Cluster, FlowId, Io, Nic, Rate, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Flows inside racks, by the time at which they finish.
#[derive(Clone, Debug)]
pub struct Bypass {
    rate: Rate,
    flows: BinaryHeap<Reverse<(Time, FlowId, u64)>>,
    bytes: u64,
    stopped: Vec<Stopped>,
    servers_per_rack: u32,
}

/// A rack whose switch is dead, the time of its failure, and its stopped flows.
#[derive(Clone, Debug)]
struct Stopped {
    rack: u32,
    since: Time,
    flows: Vec<(Time, FlowId, u64)>,
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
            stopped: Vec::new(),
            servers_per_rack: cluster.servers_per_rack,
        }
    }

    /// Stops the flows of a rack from `now` on.
    pub fn stop(&mut self, rack: u32, now: Time, io: &Io) {
        let of = |flow: FlowId| io.flows.src[flow.index()].0 / self.servers_per_rack;
        let all = std::mem::take(&mut self.flows).into_vec().into_iter();
        let (held, go): (Vec<_>, Vec<_>) = all.partition(|f| of(f.0 .1) == rack);
        self.flows = go.into();
        self.stopped.push(Stopped {
            rack,
            since: now,
            flows: held.into_iter().map(|f| f.0).collect(),
        });
    }

    /// The servers of a rack resume after a failure.
    pub fn resume(&mut self, rack: u32, now: Time) {
        let Some(at) = self.stopped.iter().position(|s| s.rack == rack) else {
            return;
        };
        let Stopped { since, flows, .. } = self.stopped.swap_remove(at);
        let flows = flows.into_iter();
        self.flows
            .extend(flows.map(|(at, flow, bytes)| Reverse((at + (now - since), flow, bytes))));
    }

    /// Adds a flow that has reached its rack switch and has passed it at `at`.
    pub fn admit(&mut self, flow: FlowId, at: Time, io: &mut Io) {
        let bytes = io.flows.bytes[flow.index()];
        self.bytes += bytes;
        let rack = io.flows.src[flow.index()].0 / self.servers_per_rack;
        if let Some(s) = self.stopped.iter_mut().find(|s| s.rack == rack) {
            s.flows
                .push((s.since + self.rate.time_for(bytes), flow, bytes));
            return;
        }
        io.start(flow, at);
        self.flows
            .push(Reverse((at + self.rate.time_for(bytes), flow, bytes)));
    }

    /// Delivers flows that finish at or before `now`; returns whether there was one.
    pub fn deliver(&mut self, now: Time, io: &mut Io) -> bool {
        let before = self.flows.len();
        while let Some(&Reverse((at, flow, bytes))) = self.flows.peek() {
            if at > now {
                break;
            }
            self.flows.pop();
            self.bytes -= bytes;
            io.start(flow, at - self.rate.time_for(bytes));
            io.deliver_some(bytes);
            io.flows.hops[flow.index()] = 0.0;
            io.finish(flow, at);
        }
        self.flows.len() < before
    }

    /// Bytes on their way.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether no flow is on its way.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::{FabricConfig, Site};
    use crate::sirius::config::SiriusConfig;
    use lightloom_engine::run::{run, Plan, Silent, Stop};
    use lightloom_engine::*;

    /// Regression test for closed loops: every flow of a chain within a rack took a whole slot, so
    /// traffic that depended on the chain left the rack one slot late per flow.
    #[test]
    fn what_waits_for_a_chain_within_a_rack_leaves_when_the_chain_ends() {
        let cluster = Cluster {
            racks: 8,
            servers_per_rack: 2,
            server_rate: Rate(100 * Rate::GBPS.0),
            nic: Nic::Uncapped,
        };
        const LINKS: u32 = 40;
        let last = LINKS as usize;
        for mode in ["request_grant", "ideal"] {
            let table = serde_json::json!({"mode": mode});
            let finish = |flows: &Flows| {
                let config: SiriusConfig =
                    lightloom_engine::config::read(&table, "fabric").unwrap();
                let site = Site::plain(&cluster, flows);
                let mut fabric = config.build(&site).unwrap();
                let mut io = Io::new(flows.clone());
                let plan = Plan {
                    stop: Stop::Drain,
                    limit: Time::MS,
                    sample: None,
                    faults: vec![],
                };
                run(fabric.as_mut(), &mut io, &plan, &mut Silent).unwrap();
                io.flows.finish[last]
            };
            // 100 B take 4 ns at the rate of the rack.
            let mut chain = Flows::new();
            for _ in 0..LINKS {
                chain.push(HostId(0), HostId(1), 100, Time::NEVER);
            }
            chain.push(HostId(0), HostId(9), 5_000, Time::NEVER);
            chain.arrival[0] = Time::ZERO;
            chain.after = Dependencies {
                starts: (0..=LINKS).chain([LINKS]).collect(),
                edges: (1..=LINKS).map(FlowId).collect(),
                missing: (0..=LINKS).map(|k| k.min(1)).collect(),
                delay: vec![Time::ZERO; last + 1],
                ..Dependencies::default()
            };
            let mut known = chain.clone();
            known.after = Dependencies::default();
            for k in 0..=LINKS {
                known.arrival[k as usize] = Time::NS * (4 * k as i64);
            }
            assert_eq!(finish(&chain), finish(&known), "{mode}");
        }
    }
}
