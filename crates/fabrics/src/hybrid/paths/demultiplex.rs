//! Traffic demultiplexing on the servers (§4.2): packets for the connected rack leave on the
//! optical VLAN, all others on the electrical VLAN.
//!
//! Each server's output scheduler gives the queue for the connected rack 0.9 of its link and
//! divides 0.1 among all other queues; each side may use capacity that the other side does not
//! need. The flows of a link share it equally, so a side with at least its share of the flows has
//! at least its share of the link. If a side has fewer flows, its share is reserved by a bound on
//! the total rate of the other side's flows: the link's rate minus the part of the share that the
//! side can use.
//!
//! Initially a side is assumed to use all of its share that the circuits of its rack, or the rack's
//! uplink, could carry. If the solver limits its flows elsewhere (at a shared circuit, a shared
//! uplink or a receiver), only their rate is reserved, until the server's link is their bottleneck.
//! If several servers depend on each other in this way, the rates after
//! [`ROUNDS`](lightloom_engine::kernel::flow::ROUNDS) corrections are used, whether exact or not.
//!
//! Within its side, and beyond its share, the link is shared per flow, as TCP does. The queues for
//! racks that are not connected therefore divide the tenth by number of flows and not evenly. This
//! matters only if the tree could carry more than the tenths of all servers.
//!
//! Traffic within the rack counts as electrical. Broadcast and multicast are not modelled. If
//! servers' links do not limit, nothing is scheduled.

use crate::hybrid::tree::Tree;
use lightloom_engine::fair::LinkId;
use lightloom_engine::kernel::flow::Net;
use lightloom_engine::{Cluster, HostId, Rate};

/// The VLAN by which a flow leaves its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vlan {
    /// VLAN-c: the circuit to the connected rack.
    Optical,
    /// VLAN-s: the tree.
    Electrical,
}

/// Open flows of a server.
#[derive(Clone, Copy, Debug, Default)]
struct Flows {
    optical: u32,
    electrical: u32,
    /// Electrical flows that stay in the rack.
    inside: u32,
}

impl Flows {
    fn count(&mut self, vlan: Vlan, inside: bool, one: i32) {
        let add = |count: &mut u32| *count = count.wrapping_add_signed(one);
        match vlan {
            Vlan::Optical => add(&mut self.optical),
            Vlan::Electrical => add(&mut self.electrical),
        }
        if inside {
            add(&mut self.inside);
        }
    }
}

/// The output schedulers of all servers.
#[derive(Clone, Debug)]
pub struct Demultiplexer {
    nic: Option<Rate>,
    circuit: Rate,
    /// The rate of a rack's uplink to the tree.
    uplink: Rate,
    /// The share of the optical queue; the other queue has the rest of the link.
    claim: Rate,
    servers_per_rack: u32,
    /// The bound of server 0's electrical flows; those of optical flows follow.
    first_bound: u32,
    servers: Vec<Flows>,
    /// Circuits of each rack, at least 1.
    circuits: Vec<u32>,
    /// The rates that are kept free on each server's link.
    kept: Vec<Kept>,
    /// The measured rate of each side, valid until the number of its flows changes or the server's
    /// link becomes their bottleneck.
    seen: Vec<Kept>,
    /// Servers to check, those that have waited first; by server, whether it is among them.
    looked_at: Vec<u32>,
    is_looked_at: Vec<bool>,
}

/// Rates on a server's link for its optical and for its electrical flows [b/s].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    optical: u64,
    electrical: u64,
}

impl Kept {
    const NOTHING: Kept = Kept {
        optical: 0,
        electrical: 0,
    };
    /// No limit was seen.
    const ALL: Kept = Kept {
        optical: u64::MAX,
        electrical: u64::MAX,
    };

    fn side(&mut self, vlan: Vlan) -> &mut u64 {
        match vlan {
            Vlan::Optical => &mut self.optical,
            Vlan::Electrical => &mut self.electrical,
        }
    }
}

/// A server's link counts as full if less than 1 / `FINE` of its rate is idle.
const FINE: u64 = 1 << 10;

/// 1 / `SLACK` of the link's rate is reserved in addition to the measured rate of a side. Without
/// it, a side that could use more would keep its rate, and its bottleneck might not move.
const SLACK: u64 = 1 << 20;

impl Demultiplexer {
    /// Schedulers that give the share `weight` of servers' links to the connected rack.
    pub fn new(tree: &Tree, circuit: Rate, weight: f64, cluster: &Cluster) -> Demultiplexer {
        let link = tree.nic().unwrap_or_default();
        Demultiplexer {
            nic: tree.nic(),
            circuit,
            uplink: tree.uplink(),
            claim: Rate((link.0 as f64 * weight).floor() as u64),
            servers_per_rack: cluster.servers_per_rack,
            first_bound: 0,
            servers: vec![Flows::default(); cluster.hosts() as usize],
            circuits: vec![1; cluster.racks as usize],
            kept: vec![Kept::NOTHING; cluster.hosts() as usize],
            seen: vec![Kept::ALL; cluster.hosts() as usize],
            looked_at: Vec::new(),
            is_looked_at: vec![false; cluster.hosts() as usize],
        }
    }

    /// Assigns numbers from `first` on to the bounds.
    pub fn lay(&mut self, first: LinkId) {
        self.first_bound = first.0;
    }

    /// Number of bounds: two per server.
    pub fn bounds(&self) -> u32 {
        match self.nic {
            Some(_) => 2 * self.servers.len() as u32,
            None => 0,
        }
    }

    /// The rate of a server's link; neither bound of a server exceeds it.
    pub fn link(&self) -> Rate {
        self.nic.unwrap_or_default()
    }

    /// The bound that flows of `server` on `vlan` pass.
    pub fn bound(&self, server: HostId, vlan: Vlan) -> Option<LinkId> {
        let first = match vlan {
            Vlan::Electrical => self.first_bound,
            Vlan::Optical => self.first_bound + self.servers.len() as u32,
        };
        self.nic.map(|_| LinkId(first + server.0))
    }

    /// Adds a flow from `src` to `dst` on `vlan`.
    pub fn join(&mut self, ends: (HostId, HostId), vlan: Vlan, net: &mut Net) {
        self.count(ends, vlan, 1, net);
    }

    /// Removes a flow from `src` to `dst` on `vlan`.
    pub fn leave(&mut self, ends: (HostId, HostId), vlan: Vlan, net: &mut Net) {
        self.count(ends, vlan, -1, net);
    }

    fn count(&mut self, (src, dst): (HostId, HostId), vlan: Vlan, one: i32, net: &mut Net) {
        let inside = self.rack(src) == self.rack(dst);
        self.servers[src.index()].count(vlan, inside, one);
        *self.seen[src.index()].side(vlan) = u64::MAX;
        self.bind(src, net);
    }

    fn rack(&self, server: HostId) -> u32 {
        server.0 / self.servers_per_rack
    }

    /// Records the number of circuits of a rack.
    pub fn circuits(&mut self, rack: u32, circuits: u32, net: &mut Net) {
        let circuits = circuits.max(1);
        if std::mem::replace(&mut self.circuits[rack as usize], circuits) != circuits {
            let first = rack * self.servers_per_rack;
            for server in first..first + self.servers_per_rack {
                self.bind(HostId(server), net);
            }
        }
    }

    fn bind(&mut self, server: HostId, net: &mut Net) {
        let kept = self.kept_of(server, self.seen[server.index()]);
        self.kept[server.index()] = kept;
        let link = self.link().0;
        for (vlan, kept) in [
            (Vlan::Electrical, kept.optical),
            (Vlan::Optical, kept.electrical),
        ] {
            if let Some(bound) = self.bound(server, vlan) {
                net.set_capacity(bound, Rate(link - kept));
            }
        }
    }

    /// The rates to reserve if sides use at most the rates `seen`: the part of its share that a
    /// side can use, if an even division of the link among all flows would give the side less than
    /// this part; otherwise 0. At most one side has a reserved rate.
    fn kept_of(&self, server: HostId, seen: Kept) -> Kept {
        let own = self.servers[server.index()];
        if own.optical == 0 || own.electrical == 0 {
            return Kept::NOTHING;
        }
        let link = self.link().0;
        let circuits = self.circuits[self.rack(server) as usize] as u64;
        let optical = self.circuit.0.saturating_mul(circuits).min(self.claim.0);
        let rest = link - self.claim.0;
        let electrical = match own.inside {
            0 => self.uplink.0.min(rest),
            _ => rest,
        };
        let both = own.optical + own.electrical;
        let unless_had = |kept: u64, flows| {
            if part(link, flows, both) < kept {
                kept
            } else {
                0
            }
        };
        Kept {
            optical: unless_had(optical.min(seen.optical), own.optical),
            electrical: unless_had(electrical.min(seen.electrical), own.electrical),
        }
    }

    /// Sets bounds by the rates of the last solution; returns whether the rates have to be solved
    /// again. The other side may have the part of a side's share that the side does not use; a side
    /// whose bottleneck is its server's link gets its share back. If all servers were corrected in
    /// each round, servers that depend on each other might overshoot repeatedly. In each round
    /// after the first, about half of them therefore wait.
    pub fn correct(&mut self, round: u32, net: &mut Net) -> bool {
        let mut servers = std::mem::take(&mut self.looked_at);
        self.look_at(&mut servers, net);
        servers.retain(|&server| {
            let wrong = self.other_seen(HostId(server), net).is_some();
            self.is_looked_at[server as usize] = wrong;
            wrong
        });
        let all_wait = servers.iter().all(|&server| waits(server, round));
        let again = !servers.is_empty();
        servers.retain(|&server| {
            let waits = !all_wait && waits(server, round);
            if !waits {
                self.is_looked_at[server as usize] = false;
                self.correct_server(HostId(server), net);
            }
            waits
        });
        self.looked_at = servers;
        again
    }

    /// Collects the servers that have flows on both sides, one of which has a new rate or
    /// bottleneck.
    fn look_at(&mut self, servers: &mut Vec<u32>, net: &Net) {
        if self.nic.is_none() {
            return;
        }
        for path in net.changed() {
            let Some(first) = path.first().filter(|l| l.index() < self.servers.len()) else {
                continue;
            };
            let flows = self.servers[first.index()];
            let both = flows.optical > 0 && flows.electrical > 0;
            if both && !std::mem::replace(&mut self.is_looked_at[first.index()], true) {
                servers.push(first.0);
            }
        }
    }

    fn correct_server(&mut self, server: HostId, net: &mut Net) {
        if let Some(seen) = self.other_seen(server, net) {
            self.seen[server.index()] = seen;
            self.bind(server, net);
        }
    }

    /// The measured rates of a server's sides, if they change its bounds.
    fn other_seen(&self, server: HostId, net: &Net) -> Option<Kept> {
        let mut seen = self.seen[server.index()];
        for vlan in [Vlan::Optical, Vlan::Electrical] {
            if let Some(used) = self.used(server, vlan, net) {
                *seen.side(vlan) = used;
            }
        }
        (self.kept_of(server, seen) != self.kept[server.index()]).then_some(seen)
    }

    /// The rate of a side, if it is less than the reserved rate and the other side could use the
    /// difference; the whole share, if the server's link is the bottleneck of a flow of a side that
    /// used less before.
    fn used(&self, server: HostId, vlan: Vlan, net: &Net) -> Option<u64> {
        let other = match vlan {
            Vlan::Optical => Vlan::Electrical,
            Vlan::Electrical => Vlan::Optical,
        };
        let (own, others) = (self.bound(server, vlan)?, self.bound(server, other)?);
        // The tree numbers the links of servers like the servers.
        let link = LinkId(server.0);
        let (mut kept, mut seen) = (self.kept[server.index()], self.seen[server.index()]);
        if *seen.side(vlan) < u64::MAX && net.holds(link, own) {
            return Some(u64::MAX);
        }
        let (fine, slack) = (self.link().0 / FINE, self.link().0 / SLACK);
        let idle = |l: LinkId| net.capacity(l).0.saturating_sub(net.load(l).0);
        let used = net.load(own).0 + slack;
        let is_left = *kept.side(vlan) > used && idle(link) > fine && idle(others) <= fine;
        is_left.then_some(used)
    }
}

/// `rate` × `some` ÷ `all`, rounded down.
fn part(rate: u64, some: u32, all: u32) -> u64 {
    (rate as u128 * some as u128 / all.max(1) as u128) as u64
}

/// Whether a server waits in a round: about half of the servers do, different ones in each round.
fn waits(server: u32, round: u32) -> bool {
    let mixed = server.wrapping_mul(0x9E37_79B9);
    round > 0 && (mixed >> (32 - round % 32)) & 1 == 1
}
