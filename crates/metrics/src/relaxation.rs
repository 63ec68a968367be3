//! The relaxation time of the slowest queue: how long backlogs stay correlated.
//!
//! The backlog of a queue with Poisson arrivals becomes independent of its past in a time of the
//! order of E\[S²\] ÷ E\[S\] ÷ (1 − ρ)², with S the service time of a flow and ρ the load (the
//! relaxation time of reflected Brownian motion, Abate and Whitt, Advances in Applied Probability
//! 19, 1987). If a run is not several times as long, its figures come from few independent
//! backlogs. The run itself does not show this: correlations estimated from a short run are too
//! short, most of all in the runs whose estimate suggests that they are long enough.
//!
//! S is the time that the queue's link needs for a flow, and E\[S²\] ÷ E\[S\] is its mean over
//! bytes. ρ is the load of the links between servers and racks, and of each tier of links that a
//! fabric counts; if the run drew less than the load that is asked for, it is raised in proportion.
//! Queues at other places (grants, circuits, rotations) are not modelled.

use crate::completion::ideal;
use crate::room::Room;
use lightloom_engine::{Bytes, Cluster, Flows, LinkLoad, Nic, Time};
use std::collections::BTreeMap;

/// Largest load in the formula for throughput. At a higher load, the throughput is that of the
/// network, whose queues are full.
const SATURATED: f64 = 0.9;

/// The highest load to which a load that was drawn too low is raised: the estimate is not exact
/// enough to say that a queue is offered more than it can serve.
const NEAR: f64 = 0.98;

/// The distributions of a run's traffic, as far as the experiment states them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Mean over bytes of the size of their flow [B]; `None` if no distribution gives it, infinite
    /// if the distribution has no such mean.
    pub by_byte: Option<f64>,
    /// The requested load; `None` if it follows only from the flows.
    pub load: Option<f64>,
    /// Whether parts of the traffic have a rate of their own, in addition to that load.
    pub mixed: bool,
}

/// The relaxation time of the slowest queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxation {
    /// The time [s]; infinite if a queue is offered at least as much as it can serve, `None` if no
    /// theory applies.
    seconds: Option<f64>,
    /// Time that a server's link needs for the flow of a byte ÷ (1 − its load) [s].
    busy: Option<f64>,
}

impl Relaxation {
    /// The relaxation time for the flows that have arrived by `ended`; `links` hold the bytes that
    /// they counted until then.
    pub(crate) fn of(
        traffic: Traffic,
        cluster: &Cluster,
        flows: &Flows,
        links: &[LinkLoad],
        ended: Time,
    ) -> Relaxation {
        let by_byte = traffic.by_byte.or_else(|| by_byte(flows));
        let last = (flows.last_arrival().min(ended) - flows.first_arrival()).as_secs_f64();
        let Some(by_byte) = by_byte.filter(|b| b.is_finite() && last > 0.0) else {
            return Relaxation::unknown();
        };
        let tiers = servers(cluster, flows, ended);
        let asked = traffic.load.unwrap_or(0.0);
        // The load of servers' links comes from the flows that arrived, that of links inside a
        // fabric from the bytes that they carried.
        let offered: f64 = tiers[0].bytes.iter().sum();
        let delivered = flows.delivered.iter().sum::<u64>() as f64;
        let drawn = tiers[0].load(last);
        let slowest = |tiers: &[Tier], bytes: f64| {
            let more = if bytes > 0.0 {
                asked * offered / (drawn * bytes)
            } else {
                0.0
            };
            { tiers.iter() }
                .map(|tier| tier.seconds(by_byte, last, (more * tier.load(last)).min(NEAR)))
                .fold(0.0, f64::max)
        };
        let slowest = slowest(&tiers, offered).max(slowest(&carried(links), delivered));
        Relaxation {
            seconds: Some(slowest),
            busy: Some(tiers[0].busy_s(by_byte, last, traffic.load.unwrap_or(0.0))),
        }
    }

    /// The relaxation time if no theory applies.
    pub fn unknown() -> Relaxation {
        Relaxation {
            seconds: None,
            busy: None,
        }
    }

    /// The relaxation time [s]; `None` if a queue never becomes independent of its past, or if no
    /// theory applies.
    pub fn seconds(&self) -> Option<f64> {
        self.seconds.filter(|s| s.is_finite())
    }

    /// Whether a time is long enough for intervals of latency.
    pub fn room(&self, time: Time) -> Room {
        Room::of(time, self.seconds)
    }

    /// Whether a time is long enough for intervals of throughput. Bytes are delivered as offered,
    /// except those that queues hold back, which are at most those of a busy period.
    pub(crate) fn room_of_bytes(&self, time: Time) -> Room {
        Room::of(time, self.busy)
    }
}

/// Links of one kind: the rate of each and the bytes that each has to carry.
struct Tier {
    bytes_per_s: f64,
    bytes: Vec<f64>,
}

impl Tier {
    /// The mean busy period, weighted by bytes, at the tier's mean load in `span` seconds or at
    /// `load`, whichever is higher; at most that at [`SATURATED`].
    fn busy_s(&self, by_byte: f64, span: f64, load: f64) -> f64 {
        by_byte / self.bytes_per_s / (1.0 - load.max(self.load(span)).min(SATURATED))
    }

    /// The mean load of its links in `span` seconds.
    fn load(&self, span: f64) -> f64 {
        let mean = self.bytes.iter().sum::<f64>() / self.bytes.len() as f64;
        mean / (self.bytes_per_s * span)
    }

    /// The relaxation time of the tier's busiest queue in `span` seconds, at a load of at least
    /// `load`.
    fn seconds(&self, by_byte: f64, span: f64, load: f64) -> f64 {
        let all = self.bytes_per_s * span;
        // The busiest of many links is busier than the others by chance, so three standard
        // deviations are subtracted.
        let sure = |bytes: &f64| (bytes - 3.0 * (bytes * by_byte).sqrt()) / all;
        let busiest = self.bytes.iter().map(sure).fold(self.load(span), f64::max);
        let idle = 1.0 - busiest.max(load);
        match idle > 0.0 {
            true => by_byte / self.bytes_per_s / (idle * idle),
            false => f64::INFINITY,
        }
    }
}

/// The links of the servers in both directions; the links of the racks if only these limit the
/// servers.
fn servers(cluster: &Cluster, flows: &Flows, ended: Time) -> Vec<Tier> {
    let per = match cluster.nic {
        Nic::Uncapped => cluster.servers_per_rack,
        Nic::Capped(_) => 1,
    };
    let queues = (cluster.hosts() / per) as usize;
    let (mut sent, mut heard) = (vec![0.0; queues], vec![0.0; queues]);
    for f in (0..flows.len()).filter(|&f| flows.arrival[f] <= ended) {
        sent[(flows.src[f].0 / per) as usize] += flows.bytes[f] as f64;
        heard[(flows.dst[f].0 / per) as usize] += flows.bytes[f] as f64;
    }
    const LARGE: Bytes = Bytes(1_000_000_000);
    let bytes_per_s = LARGE.0 as f64 / ideal(cluster, LARGE.0).as_secs_f64();
    let tier = |bytes| Tier { bytes_per_s, bytes };
    vec![tier(sent), tier(heard)]
}

/// The links that a fabric counts. Parallel links share their load.
fn carried(links: &[LinkLoad]) -> Vec<Tier> {
    let mut tiers: BTreeMap<(&str, u64), Vec<f64>> = BTreeMap::new();
    for link in links {
        let key = (link.tier, link.links * link.rate.0);
        tiers.entry(key).or_default().push(link.bytes as f64);
    }
    let tier = |((_, rate), bytes)| Tier {
        bytes_per_s: rate as f64 / 8.0,
        bytes,
    };
    { tiers.into_iter() }
        .filter(|((_, rate), _)| *rate > 0)
        .map(tier)
        .collect()
}

/// The mean over bytes of the size of their flow [B].
fn by_byte(flows: &Flows) -> Option<f64> {
    let squares: f64 = flows.bytes.iter().map(|&b| (b as f64).powi(2)).sum();
    let bytes = flows.total_bytes() as f64;
    (bytes > 0.0).then(|| squares / bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{HostId, Rate};

    /// Four servers of 1 B/ns.
    const CLUSTER: Cluster = Cluster {
        racks: 2,
        servers_per_rack: 2,
        server_rate: Rate(8 * Rate::GBPS.0),
        nic: Nic::Capped(Rate(8 * Rate::GBPS.0)),
    };

    /// A flow of 100 B per microsecond from each server, for 1 ms: a load of 0.1.
    fn flows(to: impl Fn(u32) -> u32) -> Flows {
        let mut flows = Flows::new();
        for at in 1..=1_000 {
            for src in 0..4 {
                flows.push(HostId(src), HostId(to(src)), 100, Time::US * at);
            }
        }
        flows
    }

    fn found(traffic: Traffic, flows: &Flows, links: &[LinkLoad]) -> Relaxation {
        Relaxation::of(traffic, &CLUSTER, flows, links, Time::MS)
    }

    fn near(found: Relaxation, seconds: f64) -> bool {
        found
            .seconds()
            .is_some_and(|s| (s / seconds - 1.0).abs() < 1e-9)
    }

    #[test]
    fn worked_out_by_hand() {
        let ring = flows(|src| (src + 1) % 4);
        // A flow takes 100 ns: first by its own sizes and load, then by a given distribution.
        let own = found(Traffic::default(), &ring, &[]);
        assert!(near(own, 100e-9 / 0.81), "{own:?}");
        let law = Traffic {
            by_byte: Some(300.0),
            load: Some(0.9),
            ..Traffic::default()
        };
        let asked = found(law, &ring, &[]);
        assert!(near(asked, 300e-9 / 0.01), "{asked:?}");
        assert_eq!(asked.room(Time::US * 599), Room::Short);
        assert_eq!(asked.room(Time::US * 601), Room::Long);
        // For bytes, twenty busy periods of 3 µs; they are no longer at a higher load.
        for load in [0.9, 1.5] {
            let load = Some(load);
            let asked = found(Traffic { load, ..law }, &ring, &[]);
            assert_eq!(asked.room_of_bytes(Time::NS * 59_999), Room::Short);
            assert_eq!(asked.room_of_bytes(Time::NS * 60_001), Room::Long);
        }
    }

    /// Three servers send to the fourth: 300 B per microsecond, less three standard deviations.
    #[test]
    fn the_busiest_server_counts() {
        let one = flows(|src| if src == 3 { 0 } else { 3 });
        let sure = 3e5 - 3.0 * (3e5f64 * 100.0).sqrt();
        let found = found(Traffic::default(), &one, &[]);
        assert!(
            near(found, 100e-9 / (1.0 - sure / 1e6).powi(2)),
            "{found:?}"
        );
    }

    /// Two links with a total of 0.1 B/ns, half full on average; the fuller one counts.
    #[test]
    fn a_full_tier_counts() {
        let link = |from, bytes| LinkLoad {
            tier: "rack to core",
            from: Some(from),
            to: None,
            links: 2,
            rate: Rate(Rate::GBPS.0 * 4 / 10),
            bytes,
        };
        let ring = flows(|src| (src + 1) % 4);
        let half = found(
            Traffic::default(),
            &ring,
            &[link(0, 50_000), link(1, 50_000)],
        );
        assert!(near(half, 1e-6 / 0.25), "{half:?}");
        let full = found(
            Traffic::default(),
            &ring,
            &[link(0, 100_000), link(1, 100_000)],
        );
        assert_eq!((full.seconds(), full.room(Time::S)), (None, Room::Short));
    }

    /// Half of the load that is asked for was drawn, so links that are 0.4 full are 0.8 full.
    #[test]
    fn a_load_drawn_too_low_by_chance_is_raised_on_all_tiers() {
        let link = LinkLoad {
            tier: "rack to core",
            from: Some(0),
            to: None,
            links: 1,
            rate: Rate(Rate::GBPS.0 * 8),
            bytes: 400_000,
        };
        let mut ring = flows(|src| (src + 1) % 4);
        ring.delivered.clone_from(&ring.bytes);
        let of = |load| {
            let law = Traffic {
                load,
                ..Traffic::default()
            };
            found(law, &ring, &[link])
        };
        assert!(near(of(Some(0.2)), 100e-9 / 0.04));
        assert!(near(of(Some(0.05)), 100e-9 / 0.36));
        assert!(near(of(None), 100e-9 / 0.36));
        assert!(near(of(Some(0.25)), 100e-9 / 0.0004));
    }

    #[test]
    fn without_a_variance_or_a_rate_nothing_is_known() {
        let heavy = Traffic {
            by_byte: Some(f64::INFINITY),
            load: Some(0.5),
            ..Traffic::default()
        };
        let ring = flows(|src| (src + 1) % 4);
        assert_eq!(found(heavy, &ring, &[]).room(Time::S), Room::Unknown);
        let mut at_once = Flows::new();
        at_once.push(HostId(0), HostId(1), 100, Time::ZERO);
        let of = found(Traffic::default(), &at_once, &[]);
        assert_eq!((of.seconds(), of.room(Time::S)), (None, Room::Unknown));
    }
}
