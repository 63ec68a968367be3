//! The least time that a flow can take, by formula; tests check causality with it. It shares no
//! code with the kernel or its layout.

use super::config::{ClosConfig, Detail, Tier};
use lightloom_engine::{Cluster, HostId, Nic, Rate, Shape, Time};

/// A hop that a flow does not share.
#[derive(Clone, Copy, Debug)]
struct Hop {
    links: u64,
    rate: Rate,
}

/// Lower bounds by path length.
#[derive(Clone, Debug)]
pub struct Bound {
    config: ClosConfig,
    cluster: Cluster,
}

impl Bound {
    /// The bounds for a resolved configuration.
    pub fn new(config: &ClosConfig, cluster: &Cluster) -> Bound {
        Bound {
            config: config.clone(),
            cluster: *cluster,
        }
    }

    /// The shape of the fabric, with this capacity of its links.
    pub fn shape(&self, link_capacity: Rate) -> Shape {
        Shape {
            hosts: self.cluster.hosts(),
            racks: self.cluster.racks,
            host_rate: self.cluster.server_rate,
            link_capacity,
        }
    }

    /// Completion time of a flow that is alone in the network.
    ///
    /// The last full packet has to wait until all others have passed the narrowest hop; the short
    /// packet has to wait only until they have begun to leave.
    pub fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        let (hops, switches) = self.hops(src, dst);
        let latency = self.config.switch_latency * switches;
        if hops.is_empty() {
            return self.cluster.rack_rate().time_for(bytes) + latency;
        }
        let (mtu, header) = (self.config.mtu.0, self.config.header.0);
        let (full, short) = (bytes / mtu, bytes % mtu);
        let one = |size: u64| {
            hops.iter()
                .fold(Time::ZERO, |t, h| t + h.rate.time_for(size + header))
        };
        let mut least = Time::ZERO;
        for hop in hops.iter().filter(|_| full > 0) {
            let rounds = full.div_ceil(hop.links);
            least = least.max(one(mtu) + self.back_to_back(hop, rounds - 1));
        }
        if short > 0 {
            let ahead = full / hops[0].links;
            least = least.max(self.back_to_back(&hops[0], ahead) + one(short));
        }
        least + latency + self.on_the_way(hops.len() as i64)
    }

    /// Propagation and error correction over this number of links, including those of servers.
    fn on_the_way(&self, links: i64) -> Time {
        let c = &self.config;
        let servers = match self.cluster.nic {
            Nic::Uncapped => 0,
            Nic::Capped(_) => 2,
        };
        let of_server = c.server_propagation.unwrap_or(c.propagation);
        (c.propagation + c.fec_latency) * (links - servers) + of_server * servers
    }

    /// The time of consecutive full packets on one link of a hop. Each packet takes whole
    /// picoseconds, whereas rates are rounded only once.
    fn back_to_back(&self, hop: &Hop, packets: u64) -> Time {
        let wire = self.config.mtu.0 + self.config.header.0;
        match self.config.detail {
            Detail::Packets => hop.rate.time_for(wire) * packets as i64,
            Detail::Flows => hop.rate.time_for(wire * packets),
        }
    }

    fn hops(&self, src: HostId, dst: HostId) -> (Vec<Hop>, i64) {
        let (c, rack_rate) = (&self.config, self.cluster.rack_rate().0);
        let pod = c.racks_per_pod.unwrap_or(1);
        let (a, b) = (self.cluster.rack_of(src), self.cluster.rack_of(dst));
        let bundle = |capacity: f64| {
            let capacity = capacity.round().max(1.0);
            let links = ((capacity / c.link_rate.0 as f64 + 0.5).floor()).max(1.0);
            Hop {
                links: links as u64,
                rate: Rate((capacity as u64) / links as u64),
            }
        };
        let rack = match c.oversubscription_at {
            Tier::AggregationCore => bundle(rack_rate as f64),
            Tier::Rack => bundle(rack_rate as f64 / c.oversubscription),
        };
        let core = bundle((rack_rate * pod as u64) as f64 / c.oversubscription);
        let (mut hops, switches) = match () {
            _ if a == b => (vec![], 1),
            _ if a / pod == b / pod => (vec![rack; 2], 3),
            _ => (vec![rack, core, core, rack], 5),
        };
        if let Nic::Capped(rate) = self.cluster.nic {
            hops.insert(0, Hop { links: 1, rate });
            hops.push(Hop { links: 1, rate });
        }
        (hops, switches)
    }
}
