//! The bounds against which tests check the kernel, computed from the configuration alone: the
//! least time of a flow, the receivers of each transmitter, and their rate.
//!
//! Transmitter r·R + p is port p of router r, whose radix is R: a terminal's or
//! a wire's. Receivers of wires are numbered alike; that of host h is R times
//! the routers, plus h.

use super::config::ButterflyConfig;
use lightloom_engine::{Cluster, HostId, Length, PortId, Rate, Shape, Time};

/// Bounds and port numbers of a resolved configuration.
#[derive(Clone, Debug)]
pub struct Bound {
    config: ButterflyConfig,
    hosts: u32,
    server_rate: Rate,
}

impl Bound {
    /// For a resolved configuration.
    pub fn new(config: &ButterflyConfig, cluster: &Cluster) -> Bound {
        Bound {
            config: config.clone(),
            hosts: cluster.racks,
            server_rate: cluster.server_rate,
        }
    }

    fn radix(&self) -> u32 {
        let others: u32 = self.config.sizes().iter().map(|k| k - 1).sum();
        self.config.hosts_per_router() + others
    }

    fn routers(&self) -> u32 {
        self.config.sizes().iter().product()
    }

    /// The shape of the fabric. Its links are those that begin at routers.
    pub fn shape(&self) -> Shape {
        let links = self.routers() as u64 * self.radix() as u64;
        Shape {
            hosts: self.hosts,
            racks: self.hosts,
            host_rate: self.server_rate,
            link_capacity: Rate(self.config.line_rate().0 * links),
        }
    }

    /// A router's coordinate in each dimension.
    fn coordinates(&self, router: u32) -> impl Iterator<Item = u32> + '_ {
        let mut rest = router;
        self.config.sizes().iter().map(move |size| {
            let coordinate = rest % size;
            rest /= size;
            coordinate
        })
    }

    /// Time from arrival to the last byte for a flow that is alone in the network, with buffers
    /// that never fill: the host sends flits without gaps, and the last one passes every router of
    /// the shortest path.
    pub fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        let c = &self.config;
        let (full, rest) = (bytes / c.packet.0, bytes % c.packet.0);
        let last = if rest > 0 { c.flits(rest) } else { 0 };
        let flits = full * c.flits(c.packet.0) + last;
        let router = |host: HostId| host.0 / c.hosts_per_router();
        let (mut routers, mut wire) = (1, Length(2 * c.host_wire.0).delay());
        for (a, b) in self
            .coordinates(router(src))
            .zip(self.coordinates(router(dst)))
        {
            routers += (a != b) as i64;
            wire += Length(c.spacing.0 * a.abs_diff(b) as u64).delay();
        }
        c.cycle() * (flits as i64 + routers) + c.router_latency * routers + wire
    }

    /// Rate of every transmitter.
    pub fn rate(&self) -> Rate {
        self.config.line_rate()
    }

    /// Whether a wire connects the transmitter with the receiver.
    pub fn lit(&self, tx: PortId, rx: PortId) -> bool {
        let (radix, c) = (self.radix(), self.config.hosts_per_router());
        let (from, port) = (tx.0 / radix, tx.0 % radix);
        if let Some(host) = rx.0.checked_sub(self.routers() * radix) {
            return port < c && host == from * c + port;
        }
        let (to, back) = (rx.0 / radix, rx.0 % radix);
        self.wire(from, to) == Some(port) && self.wire(to, from) == Some(back)
    }

    /// The port of the wire from a router to another.
    fn wire(&self, from: u32, to: u32) -> Option<u32> {
        let mut first = self.config.hosts_per_router();
        let mut port = None;
        let ends = self.coordinates(from).zip(self.coordinates(to));
        for ((a, b), size) in ends.zip(self.config.sizes()) {
            if a != b {
                if port.is_some() {
                    return None;
                }
                let others = (0..*size).filter(|&x| x != a && x < b).count() as u32;
                port = Some(first + others);
            }
            first += size - 1;
        }
        port
    }
}
