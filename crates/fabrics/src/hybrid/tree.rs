//! The oversubscribed electrical tree, as links of the flow kernel.
//!
//! With two levels, racks are connected to a core that is never a bottleneck, and the uplink of a
//! rack has the whole oversubscription (c-Through §5.1). With three levels, racks are connected to
//! pods and pods to the core, and each level has an oversubscription of √β: a β-oversubscribed fat
//! tree (HydRA §IV). β = 1 is full bisection.
//!
//! All parallel paths between two levels are one link in each direction, shared by max-min
//! fairness: multipath routing is ideal. Switches drop no packets; [`super::packets`] has the times
//! of switches and propagation, and the headers.
//!
//! Without an electrical network a rack's uplink carries nothing, and flows without a circuit wait
//! there ([`Tree::of_servers`]).

use super::packets::{Beyond, Packets, Wires};
use crate::facts::Uplinks;
use lightloom_engine::fair::LinkId;
use lightloom_engine::kernel::flow::{LinkKind, Net};
use lightloom_engine::{Cluster, HostId, LinkLoad, Nic, Rate, Refusal, Time};

/// The keys by which users describe a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeKeys {
    /// β: the product, over all levels, of the rate into a level ÷ the rate of its uplinks.
    pub oversubscription: f64,
    /// 2 or 3.
    pub levels: u32,
    /// Racks below one pod, with three levels.
    pub racks_per_pod: Option<u32>,
}

/// Most that β may be.
const BETA_MAX: f64 = 1_000.0;

impl TreeKeys {
    /// Sets the pods; refuses a tree that this cluster cannot have.
    ///
    /// # Errors
    /// If a key is refused; names the key, which is one of the fabric's.
    pub fn resolve(mut self, cluster: &Cluster) -> Result<TreeKeys, Refusal> {
        if !(1.0..=BETA_MAX).contains(&self.oversubscription) {
            return Err(Refusal::new(
                "fabric.oversubscription",
                self.oversubscription,
                "must be from 1 (full bisection) to 1,000",
                "write 40 for 40:1",
            ));
        }
        match (self.levels, self.racks_per_pod) {
            (2, None) => Ok(self),
            (2, Some(pod)) => Err(Refusal::new(
                "fabric.racks_per_pod",
                pod,
                "a tree of two levels has no pods",
                "remove it, or set fabric.levels = 3",
            )),
            (3, pod) => {
                let pod = pod.unwrap_or(default_pod(cluster.racks));
                refuse_pod(pod, cluster.racks)?;
                self.racks_per_pod = Some(pod);
                Ok(self)
            }
            (levels, _) => Err(Refusal::new(
                "fabric.levels",
                levels,
                "must be 2 (racks, core) or 3 (racks, pods, core)",
                "use 2",
            )),
        }
    }
}

fn refuse_pod(pod: u32, racks: u32) -> Result<(), Refusal> {
    if pod != 0 && racks.is_multiple_of(pod) {
        return Ok(());
    }
    Err(Refusal::new(
        "fabric.racks_per_pod",
        pod,
        format!("must divide the {racks} racks of the cluster"),
        format!("try {}, or leave it out", default_pod(racks)),
    ))
}

/// The largest divisor of `racks` up to 16 that leaves four pods or more.
fn default_pod(racks: u32) -> u32 {
    (1..=16.min(racks / 4).max(1))
        .rev()
        .find(|d| racks.is_multiple_of(*d))
        .unwrap_or(1)
}

/// A tree of a cluster: its rates, and the numbers of its links.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    cluster: Cluster,
    /// Rate of a server's link; `None` if servers' links are not a limit.
    nic: Option<Rate>,
    /// Racks below one pod; all of them with two levels.
    pod: u32,
    /// Rate of a rack's uplink, and of its downlink.
    uplink: Rate,
    /// Rate of a pod's uplink, and of its downlink; none with two levels.
    pod_uplink: Option<Rate>,
    /// The rate of all servers of a rack together.
    rack: Rate,
    /// Time that flows need beyond bytes ÷ rate; none without packets.
    beyond: Option<Beyond>,
}

impl Tree {
    /// A tree with these resolved keys.
    pub fn new(keys: &TreeKeys, cluster: &Cluster) -> Tree {
        let below = cluster.rack_rate().0 as f64;
        let (pod, each) = match keys.racks_per_pod {
            Some(pod) if keys.levels == 3 => (pod, keys.oversubscription.sqrt()),
            _ => (cluster.racks, keys.oversubscription),
        };
        let pod_rate = below / each * pod as f64 / each;
        Tree {
            cluster: *cluster,
            nic: match cluster.nic {
                Nic::Uncapped => None,
                Nic::Capped(rate) => Some(rate),
            },
            pod,
            uplink: whole(below / each),
            pod_uplink: (keys.levels == 3).then(|| whole(pod_rate)),
            rack: cluster.rack_rate(),
            beyond: None,
        }
    }

    /// The tree with the overheads of packets; its links then carry payload.
    pub fn with(self, packets: &Packets) -> Tree {
        let wires = Wires {
            nic: self.nic,
            rack: self.rack,
            uplink: self.uplink,
            pod: self.pod_uplink,
        };
        let payload = |rate| packets.overheads.payload(rate);
        Tree {
            nic: self.nic.map(payload),
            uplink: payload(self.uplink),
            pod_uplink: self.pod_uplink.map(payload),
            rack: payload(self.rack),
            beyond: (!packets.are_nothing()).then(|| Beyond::new(packets, wires)),
            ..self
        }
    }

    /// The time by which a flow from rack `a` to rack `b` over the tree arrives later than its rate
    /// gives; `None` if this is zero on every path.
    #[inline]
    pub fn beyond(&self, bytes: u64, a: u32, b: u32) -> Option<Time> {
        let beyond = self.beyond.as_ref()?;
        Some(match a == b {
            true => beyond.within(bytes),
            false => beyond.between(bytes, a / self.pod == b / self.pod),
        })
    }

    /// The delay of a flow's last byte over this number of circuits, at least one, in addition to
    /// the time that its rate implies.
    #[inline]
    pub fn beyond_over(&self, bytes: u64, circuits: u32) -> Option<Time> {
        Some(self.beyond.as_ref()?.over(bytes, circuits))
    }

    /// The rate of a flow within a rack that is alone, if servers' links have no limit.
    pub fn rack(&self) -> Rate {
        self.rack
    }

    /// A network of the servers' links only, without links between racks.
    pub fn of_servers(cluster: &Cluster) -> Tree {
        let two_levels = TreeKeys {
            oversubscription: 1.0,
            levels: 2,
            racks_per_pod: None,
        };
        Tree {
            uplink: Rate(0),
            ..Tree::new(&two_levels, cluster)
        }
    }

    /// The rate of a server's link; `None` if it is not a limit.
    pub fn nic(&self) -> Option<Rate> {
        self.nic
    }

    /// The rate of a rack's uplink, and of its downlink.
    pub fn uplink(&self) -> Rate {
        self.uplink
    }

    /// The uplinks of racks and pods, if each rack also has circuits of the given rate.
    pub fn uplinks(&self, circuits: Rate) -> Vec<Uplinks> {
        let rate = |tree: Rate, racks: u32| {
            let circuits = circuits.0.saturating_mul(racks.into());
            Rate(tree.0.saturating_add(circuits))
        };
        let racks = Uplinks::of_racks(rate(self.uplink, 1));
        let pods = self.pod_uplink.map(|pod| Uplinks {
            group: "pod",
            racks: self.pod,
            rate: rate(pod, self.pod),
        });
        [racks].into_iter().chain(pods).collect()
    }

    /// Adds the tree's links to an empty net.
    pub fn lay(&self, net: &mut Net) {
        debug_assert_eq!(net.links(), 0);
        for link in 0..self.links() {
            let kind = match link < self.server_links() {
                true => LinkKind::Server,
                false => LinkKind::Switch,
            };
            net.add_link(self.rate(LinkId(link)), kind);
        }
    }

    /// Number of links; they are numbered from 0.
    pub fn links(&self) -> u32 {
        self.server_links() + 2 * self.cluster.racks + 2 * self.pods()
    }

    /// The rate of one of its links.
    pub fn rate(&self, link: LinkId) -> Rate {
        let racks = self.server_links() + 2 * self.cluster.racks;
        match (self.nic, self.pod_uplink) {
            (Some(nic), _) if link.0 < self.server_links() => nic,
            (_, Some(pod)) if link.0 >= racks => pod,
            _ => self.uplink,
        }
    }

    /// Sum of the rates of its links between switches.
    pub fn capacity(&self) -> Rate {
        let both_ways = |links: u32, rate: Rate| rate.0.saturating_mul(2 * links as u64);
        let pods = self.pod_uplink.map_or(0, |r| both_ways(self.pods(), r));
        Rate(both_ways(self.cluster.racks, self.uplink).saturating_add(pods))
    }

    /// The link from a server to its rack; `None` if servers' links are not a limit.
    pub fn from_server(&self, host: HostId) -> Option<LinkId> {
        self.nic.map(|_| LinkId(host.0))
    }

    /// The link from a rack to its server; `None` if servers' links are not a limit.
    pub fn to_server(&self, host: HostId) -> Option<LinkId> {
        self.nic.map(|_| LinkId(self.cluster.hosts() + host.0))
    }

    /// The uplink of a rack.
    pub fn from_rack(&self, rack: u32) -> LinkId {
        LinkId(self.server_links() + rack)
    }

    /// The downlink to a rack.
    pub fn to_rack(&self, rack: u32) -> LinkId {
        LinkId(self.server_links() + self.cluster.racks + rack)
    }

    /// Racks below one pod, and the rate of its uplink; none with two levels.
    pub fn pods_uplink(&self) -> Option<(u32, Rate)> {
        self.pod_uplink.map(|rate| (self.pod, rate))
    }

    /// The uplink of a pod, with three levels.
    pub fn from_pod(&self, pod: u32) -> LinkId {
        LinkId(self.to_rack(self.cluster.racks).0 + pod)
    }

    /// The downlink of a pod, with three levels.
    pub fn to_pod(&self, pod: u32) -> LinkId {
        LinkId(self.from_pod(self.pods()).0 + pod)
    }

    /// Links between the racks `a` and `b`, upwards first; none within a rack.
    pub fn between(&self, a: u32, b: u32) -> impl Iterator<Item = LinkId> {
        let (up, down) = (a / self.pod, b / self.pod);
        let over_core = self.pod_uplink.is_some() && up != down;
        let path = [
            (a != b).then(|| self.from_rack(a)),
            over_core.then(|| self.from_pod(up)),
            over_core.then(|| self.to_pod(down)),
            (a != b).then(|| self.to_rack(b)),
        ];
        path.into_iter().flatten()
    }

    /// The loads of its links, from the payload of each [B]; none for links without a rate.
    pub fn loads(&self, payload: &[u64]) -> Vec<LinkLoad> {
        let links = (0..self.links()).map(LinkId).zip(payload);
        links
            .map(|(link, &bytes)| self.load(link, bytes))
            .filter(|load| load.rate > Rate(0))
            .collect()
    }

    /// The load of one of its links that carried `bytes` of payload [B].
    fn load(&self, link: LinkId, bytes: u64) -> LinkLoad {
        let hosts = self.server_links() / 2;
        let (racks, pods) = (self.cluster.racks, self.pods());
        let rack_of = |host: u32| self.cluster.rack_of(HostId(host));
        let above = |rack: u32| (pods > 0).then(|| rack / self.pod);
        let (up, down) = match pods {
            0 => ("rack to core", "core to rack"),
            _ => ("rack to pod", "pod to rack"),
        };
        let (mut at, tiers) = (link.0, [hosts, hosts, racks, racks, pods, pods]);
        let mut tier = 0;
        while at >= tiers[tier] {
            (at, tier) = (at - tiers[tier], tier + 1);
        }
        let (tier, from, to) = match tier {
            0 => ("server to rack", Some(at), Some(rack_of(at))),
            1 => ("rack to server", Some(rack_of(at)), Some(at)),
            2 => (up, Some(at), above(at)),
            3 => (down, above(at), Some(at)),
            4 => ("pod to core", Some(at), None),
            _ => ("core to pod", None, Some(at)),
        };
        LinkLoad {
            tier,
            from,
            to,
            links: 1,
            rate: self.rate(link),
            bytes,
        }
    }

    /// The highest rate of a flow between two racks over the tree, by configuration alone; within a
    /// rack whose servers' links are not a limit, the rate of all its servers together.
    pub fn narrowest(&self, a: u32, b: u32) -> Rate {
        if a == b {
            return self.nic.unwrap_or(self.rack);
        }
        let mut least = self.uplink;
        if let Some(pod) = self.pod_uplink.filter(|_| a / self.pod != b / self.pod) {
            least = least.min(pod);
        }
        self.nic.map_or(least, |nic| nic.min(least))
    }

    /// The shortest possible time of a flow on the tree.
    pub fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        let (a, b) = (self.cluster.rack_of(src), self.cluster.rack_of(dst));
        let narrowest = self.narrowest(a, b);
        narrowest.time_for(bytes) + self.beyond(bytes, a, b).unwrap_or_default()
    }

    /// Approximate memory of its links and of `flows` open flows [B].
    pub fn memory(&self, flows: usize) -> u64 {
        lightloom_engine::kernel::flow::memory(self.links() as u64, flows as u64)
    }

    fn server_links(&self) -> u32 {
        match self.nic {
            Some(_) => 2 * self.cluster.hosts(),
            None => 0,
        }
    }

    fn pods(&self) -> u32 {
        match self.pod_uplink {
            Some(_) => self.cluster.racks / self.pod,
            None => 0,
        }
    }
}

fn whole(rate: f64) -> Rate {
    Rate((rate.round() as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(racks: u32, servers: u32, nic: Nic) -> Cluster {
        Cluster {
            racks,
            servers_per_rack: servers,
            server_rate: Rate::GBPS,
            nic,
        }
    }

    fn keys(oversubscription: f64, levels: u32) -> TreeKeys {
        TreeKeys {
            oversubscription,
            levels,
            racks_per_pod: None,
        }
    }

    const MBPS: u64 = 1_000_000;

    /// §5.1: with 40:1, 10:1 and 4:1, a rack of 4 Gb/s has uplinks of 100 Mb/s, 400 Mb/s and 1
    /// Gb/s.
    #[test]
    fn the_ratios_of_the_testbed_are_its_rates() {
        let cluster = cluster(4, 4, Nic::Capped(Rate::GBPS));
        for (ratio, mbps) in [(40.0, 100), (10.0, 400), (4.0, 1_000), (1.0, 4_000)] {
            let tree = Tree::new(&keys(ratio, 2).resolve(&cluster).unwrap(), &cluster);
            assert_eq!(tree.uplink(), Rate(mbps * MBPS));
            assert_eq!(tree.narrowest(0, 3), Rate(mbps.min(1_000) * MBPS));
            assert_eq!(tree.narrowest(2, 2), Rate::GBPS);
            assert_eq!(tree.capacity(), Rate(8 * mbps * MBPS));
        }
    }

    /// HydRA §IV: the ratio of each of two levels is √β, so the bisection is 1/β.
    #[test]
    fn each_level_of_a_fat_tree_divides_by_the_root() {
        let cluster = cluster(16, 10, Nic::Uncapped);
        let tree = Tree::new(&keys(16.0, 3).resolve(&cluster).unwrap(), &cluster);
        // 10 Gb/s of servers; pods of 4 racks.
        assert_eq!(tree.uplink(), Rate(2_500 * MBPS));
        assert_eq!(tree.pod_uplink, Some(Rate(2_500 * MBPS)));
        let bisection: u64 = 4 * tree.pod_uplink.unwrap().0;
        assert_eq!(bisection * 16, 16 * cluster.rack_rate().0);
    }

    #[test]
    fn every_link_is_on_the_paths_that_it_should_be() {
        let cluster = cluster(8, 2, Nic::Capped(Rate::GBPS));
        let tree = Tree::new(&keys(4.0, 3).resolve(&cluster).unwrap(), &cluster);
        let path = |a, b| tree.between(a, b).map(|l| l.0).collect::<Vec<_>>();
        // 32 server links, racks from 32 up and from 40 down, pods from 48 up
        // and from 52 down; two racks a pod.
        assert_eq!(tree.links(), 56);
        assert_eq!(path(0, 7), [32, 48, 55, 47]);
        assert_eq!(path(5, 4), [37, 44]);
        assert!(path(3, 3).is_empty());
        assert_eq!(tree.from_server(HostId(15)), Some(LinkId(15)));
        assert_eq!(tree.to_server(HostId(15)), Some(LinkId(31)));
        let rates: Vec<u64> = [0, 31, 32, 47, 48, 55]
            .map(|l| tree.rate(LinkId(l)).0 / MBPS)
            .to_vec();
        assert_eq!(rates, [1_000, 1_000, 1_000, 1_000, 1_000, 1_000]);
    }

    #[test]
    fn what_is_no_tree_is_refused_by_name() {
        let cluster = cluster(6, 2, Nic::Uncapped);
        let key = |k: TreeKeys| k.resolve(&cluster).unwrap_err().key;
        assert_eq!(key(keys(0.5, 2)), "fabric.oversubscription");
        assert_eq!(key(keys(f64::NAN, 2)), "fabric.oversubscription");
        assert_eq!(key(keys(2.0, 4)), "fabric.levels");
        for (levels, pod) in [(3, 4), (3, 0), (2, 3)] {
            let keys = TreeKeys {
                racks_per_pod: Some(pod),
                ..keys(2.0, levels)
            };
            assert_eq!(key(keys), "fabric.racks_per_pod");
        }
    }
}
