//! Tiers, bundles and paths of a folded Clos.
//!
//! All parallel links between two groups of switches form one *station*: those between a rack and
//! its pod's aggregation switches, and those between a pod's aggregation switches and the core.
//! Packet spraying over all paths makes them one, because a packet takes any free link.

use super::config::{ClosConfig, Tier};
use super::failures::{Uplinks, Wiring};
use lightloom_engine::{Cluster, HostId, LinkLoad, Nic, Rate, Time};

/// Most links of a bundle.
pub const LINKS_MAX: u64 = 65_536;
/// Most stations on a path.
pub const HOPS_MAX: usize = 6;

/// The tiers, in the order in which a packet passes them.
pub const NIC_UP: usize = 0;
/// Rack to aggregation.
pub const RACK_UP: usize = 1;
/// Aggregation to core.
pub const POD_UP: usize = 2;
/// Core to aggregation.
pub const POD_DOWN: usize = 3;
/// Aggregation to rack.
pub const RACK_DOWN: usize = 4;
/// Rack to server.
pub const NIC_DOWN: usize = 5;
/// Number of tiers.
pub const TIERS: usize = 6;

/// Parallel links of one rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// Number of links.
    pub links: u64,
    /// The rate of each link.
    pub rate: Rate,
}

impl Bundle {
    /// The number of links whose total rate is nearest to `capacity`, which they share evenly and
    /// never exceed.
    pub(crate) fn of(capacity: u64, link: Rate) -> Bundle {
        let capacity = capacity.max(1);
        let links = ((capacity + link.0 / 2) / link.0.max(1)).clamp(1, capacity);
        Bundle {
            links,
            rate: Rate(capacity / links),
        }
    }
}

/// The stations that a flow passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    stations: [u32; HOPS_MAX],
    hops: usize,
}

impl Path {
    /// The stations in order; empty for a flow that stays below its rack switch with uncapped
    /// servers.
    pub fn stations(&self) -> &[u32] {
        &self.stations[..self.hops]
    }
}

/// Stations by number: those of a tier are adjacent, and so are the links of a
/// station.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The bundle of every station of a tier.
    pub bundles: [Bundle; TIERS],
    /// Time from the last bit sent until the packet is at the next station, by tier.
    pub delay: [Time; TIERS],
    /// Rate of all servers of a rack.
    pub rack_rate: Rate,
    /// Delay of a flow that stays below its rack switch with uncapped servers.
    pub local_delay: Time,
    /// Whether servers have links of their own.
    pub capped: bool,
    /// First station of each tier.
    first: [u32; TIERS + 1],
    /// First link of each tier.
    first_link: [u64; TIERS + 1],
    servers_per_rack: u32,
    racks_per_pod: u32,
}

impl Layout {
    /// The layout of a configuration whose `racks_per_pod` is set.
    pub fn new(config: &ClosConfig, cluster: &Cluster) -> Layout {
        let pod = config.racks_per_pod.unwrap_or(1).max(1);
        let (rack_rate, ratio) = (cluster.rack_rate(), config.oversubscription);
        let withheld = |capacity: u64| (capacity as f64 / ratio).round() as u64;
        let rack = match config.oversubscription_at {
            Tier::AggregationCore => rack_rate.0,
            Tier::Rack => withheld(rack_rate.0),
        };
        let core = withheld(rack_rate.0.saturating_mul(pod as u64));
        let nic = match cluster.nic {
            Nic::Uncapped => None,
            Nic::Capped(rate) => Some(Bundle { links: 1, rate }),
        };
        let (rack, core) = (
            Bundle::of(rack, config.link_rate),
            Bundle::of(core, config.link_rate),
        );
        let server = nic.unwrap_or_default();
        let bundles = [server, rack, core, core, rack, server];
        let servers = nic.map_or(0, |_| cluster.hosts());
        let pods = match cluster.racks / pod {
            1 => 0, // a single pod has no tier above it
            pods => pods,
        };
        let counts = [servers, cluster.racks, pods, pods, cluster.racks, servers];
        let (mut first, mut first_link) = ([0; TIERS + 1], [0; TIERS + 1]);
        for t in 0..TIERS {
            first[t + 1] = first[t] + counts[t];
            first_link[t + 1] = first_link[t] + counts[t] as u64 * bundles[t].links;
        }
        Layout {
            bundles,
            delay: delays(config, nic.is_some()),
            rack_rate,
            local_delay: config.switch_latency,
            capped: nic.is_some(),
            first,
            first_link,
            servers_per_rack: cluster.servers_per_rack,
            racks_per_pod: pod,
        }
    }

    /// The path from `src` to `dst`.
    pub fn path(&self, src: HostId, dst: HostId) -> Path {
        let (from, to) = (src.0 / self.servers_per_rack, dst.0 / self.servers_per_rack);
        let (from_pod, to_pod) = (from / self.racks_per_pod, to / self.racks_per_pod);
        let mut path = Path {
            stations: [0; HOPS_MAX],
            hops: 0,
        };
        let mut pass = |tier: usize, index: u32| {
            path.stations[path.hops] = self.first[tier] + index;
            path.hops += 1;
        };
        if self.capped {
            pass(NIC_UP, src.0);
        }
        if from != to {
            pass(RACK_UP, from);
            if from_pod != to_pod {
                pass(POD_UP, from_pod);
                pass(POD_DOWN, to_pod);
            }
            pass(RACK_DOWN, to);
        }
        if self.capped {
            pass(NIC_DOWN, dst.0);
        }
        path
    }

    /// Links between switches on the path from `src` to `dst`.
    pub fn switch_hops(&self, src: HostId, dst: HostId) -> usize {
        let servers = if self.capped { 2 } else { 0 };
        self.path(src, dst).hops - servers
    }

    /// Number of stations.
    pub fn stations(&self) -> u64 {
        self.first[TIERS] as u64
    }

    /// Number of links.
    pub fn links(&self) -> u64 {
        self.first_link[TIERS]
    }

    /// The tier of a station.
    pub fn tier(&self, station: u32) -> usize {
        self.first[1..].partition_point(|&f| f <= station)
    }

    /// The links of a station: the first one and their number.
    pub fn links_of(&self, station: u32) -> (u32, u32) {
        let tier = self.tier(station);
        let links = self.bundles[tier].links;
        let index = (station - self.first[tier]) as u64;
        ((self.first_link[tier] + index * links) as u32, links as u32)
    }

    /// The stations at the lower and at the upper end of links.
    pub fn stations_of(&self, uplinks: Uplinks) -> [u32; 2] {
        match uplinks {
            Uplinks::OfRack(rack) => [RACK_UP, RACK_DOWN].map(|tier| self.first[tier] + rack),
            Uplinks::OfPod(pod) => [POD_UP, POD_DOWN].map(|tier| self.first[tier] + pod),
        }
    }

    /// The switches to which the links lead.
    pub fn wiring(&self, config: &ClosConfig) -> Wiring {
        let [rack, pod] = [RACK_UP, POD_UP].map(|tier| self.bundles[tier].links);
        let or_all = |switches: Option<u32>, links: u64| switches.unwrap_or(links as u32);
        Wiring {
            fabric: "clos",
            racks: self.first[RACK_UP + 1] - self.first[RACK_UP],
            pod: Some((self.racks_per_pod, pod)),
            rack_links: rack,
            aggregation: or_all(config.aggregation_switches, rack),
            core: or_all(config.core_switches, pod),
        }
    }

    /// The rate of a link.
    pub fn rate_of(&self, link: u32) -> Rate {
        let tier = self.first_link[1..].partition_point(|&f| f <= link as u64);
        self.bundles[tier.min(TIERS - 1)].rate
    }

    /// Rate of all links between switches.
    pub fn switch_capacity(&self) -> Rate {
        let total = (RACK_UP..=RACK_DOWN)
            .map(|t| (self.first_link[t + 1] - self.first_link[t]) * self.bundles[t].rate.0)
            .sum();
        Rate(total)
    }

    /// The load of a station's links, which carried `bytes` on the wire.
    pub fn load(&self, station: u32, bytes: u64) -> LinkLoad {
        let tier = self.tier(station);
        let at = station - self.first[tier];
        let of_server = at / self.servers_per_rack;
        let of_rack = at / self.racks_per_pod;
        let (name, from, to) = match tier {
            NIC_UP => ("server to rack", Some(at), Some(of_server)),
            RACK_UP => ("rack to pod", Some(at), Some(of_rack)),
            POD_UP => ("pod to core", Some(at), None),
            POD_DOWN => ("core to pod", None, Some(at)),
            RACK_DOWN => ("pod to rack", Some(of_rack), Some(at)),
            _ => ("rack to server", Some(of_server), Some(at)),
        };
        let Bundle { links, rate } = self.bundles[tier];
        LinkLoad {
            tier: name,
            from,
            to,
            links,
            rate,
            bytes,
        }
    }

    /// Number of columns of a path, 4 or 8, as a power of two.
    pub fn stride_log2(&self) -> u32 {
        if self.capped {
            3
        } else {
            2
        }
    }
}

/// Propagation on every link, error correction between switches; the latency of the
/// switch at its end. Where
/// servers have no link of their own the latency of the first rack switch is
/// added to the first hop.
fn delays(config: &ClosConfig, capped: bool) -> [Time; TIERS] {
    let hop = config.propagation + config.fec_latency + config.switch_latency;
    let mut delay = [hop; TIERS];
    delay[NIC_UP] = config.at_servers() + config.switch_latency;
    delay[NIC_DOWN] = config.at_servers();
    if !capped {
        delay[RACK_UP] += config.switch_latency;
    }
    delay
}
