//! Finds parts of the traffic whose backlog keeps growing while the rest is served.
//!
//! If one of sixteen racks is overloaded, about a hundredth of all bytes is not delivered in time.
//! This is too little for a statement on the whole network, but the waiting times of the rack's
//! flows grow without limit. Therefore the *overdue* bytes are counted at five instants, the ends
//! of the quarters of a [`Span`], for all traffic, for each rack and each server as source and as
//! destination, and for each pair of racks with enough flows.
//!
//! A queue with an offered load of at most 1 also has a backlog, which changes by chance: in the
//! time in which flows of sizes S arrive, by about √ΣS², the standard deviation σ of the bytes that
//! arrive. As a backlog is never negative, that of a queue at its limit increases by 0.8 σ on
//! average; with Q such queues, each with its part of the flows, by up to 0.8 √Q σ. A part *grows*
//! if its overdue bytes increase in every quarter, and over all quarters by more than each of three
//! limits: [`WHOLE_FLOWS`] × ([`SIGMAS`] + 0.8 √Q) such deviations, 1 − [`CARRIED`] of the bytes
//! that arrive, and the bytes that arrive in a cycle of the fabric's circuits.

use crate::bursts::together;
use crate::completion::ideal;
use crate::span::{Span, CARRIED};
use lightloom_engine::{Cluster, Flows, Time};
use serde::Serialize;

/// A flow is overdue after this multiple of the time that it takes alone (together with the flows
/// that arrive for its server at the same instant), plus a cycle.
const DUE_TIMES: i64 = 10;
/// Overdue bytes ÷ waiting bytes: all flows that share a queue are in progress, and each counts
/// with its full size.
const WHOLE_FLOWS: f64 = 2.0;
/// Number of standard deviations by which waiting bytes must increase. A queue at its capacity
/// exceeds four in 1 of 16,000 spans, and there are hundreds of parts.
const SIGMAS: f64 = 4.0;
/// Mean increase of the backlog of a queue at its capacity, in standard deviations.
const AT_LIMIT: f64 = 0.8;
/// A server is the cause if its link is offered more than it carries, and if its overdue bytes
/// increase by at least this share of those of the widest part.
const SAME: f64 = 0.9;
/// Each quarter must have at least this share of an even increase.
const EVEN: f64 = 0.25;
/// The start and the length of the span must be at least this multiple of a cycle and of the time
/// that the largest flow takes alone; before that, the network is filling.
const FILLED: i64 = 3;
/// Smallest number of flows of a part.
const ENOUGH_FLOWS: u32 = 100;
const QUARTERS: usize = 4;

/// Traffic whose backlog keeps growing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Growing {
    /// The part: `all`, `from rack 3`, `to rack 3`, `from server 3`, `to server 3` or
    /// `from rack 3 to rack 5`.
    pub traffic: String,
    /// Increase of the bytes of its overdue flows ÷ bytes that it is offered in the same time. All
    /// bytes of a flow in progress count, so it may be twice the share that is not delivered.
    pub left: f64,
    /// The standard deviation of the bytes that it is offered, relative to them.
    pub chance: f64,
}

impl Growing {
    /// The widest part whose backlog grows notably in `span`, or the server whose link is the
    /// cause; `None` if none grows, or if the span is too short.
    pub(crate) fn of(
        cluster: &Cluster,
        flows: &Flows,
        span: Span,
        cycle: Option<Time>,
    ) -> Option<Growing> {
        let cycle = cycle.unwrap_or(Time::ZERO);
        let together = together(flows);
        let largest = { together.iter().max() }.map(|&bytes| ideal(cluster, bytes))?;
        let filled = Time(largest.max(cycle).0.saturating_mul(FILLED));
        let length = span.until - span.from;
        if span.from - flows.first_arrival() < filled || length < filled {
            return None;
        }
        let turns = cycle > Time::ZERO;
        let rotation = cycle.as_secs_f64() / length.as_secs_f64();
        let parts = Parts::of(cluster, flows, &together, span, cycle);
        let found: Vec<(usize, Growing)> = { parts.tallies.iter().enumerate() }
            .filter_map(|(at, tally)| {
                let (left, chance) = tally.growth()?;
                let by_chance = SIGMAS + AT_LIMIT * parts.queues(at, turns).sqrt();
                let enough = (WHOLE_FLOWS * by_chance * chance + rotation).max(1.0 - CARRIED);
                let part = || Growing {
                    traffic: parts.name(at),
                    left,
                    chance,
                };
                (left > enough).then(|| (at, part()))
            })
            .collect();
        let most = found.iter().map(|(_, part)| part.left).fold(0.0, f64::max);
        let widest = { found.iter() }
            .find(|(_, part)| part.left >= most / 2.0)?
            .0;
        let of_widest = parts.tallies[widest].increase();
        let is_cause = |at: usize| {
            let tally = &parts.tallies[at];
            let takes = ideal(cluster, tally.bytes as u64).as_secs_f64();
            parts.is_server(at)
                && takes >= CARRIED * length.as_secs_f64()
                && tally.increase() >= SAME * of_widest
        };
        let server = found.iter().find(|(at, _)| is_cause(*at));
        let part = server.or_else(|| found.iter().find(|(at, _)| *at == widest));
        part.map(|(_, part)| part.clone())
    }

    /// Like [`Self::of`], for a run without a window: the span begins after a fifth of the arrival
    /// time.
    pub(crate) fn of_run(
        cluster: &Cluster,
        flows: &Flows,
        ended: Time,
        cycle: Option<Time>,
    ) -> Option<Growing> {
        let (first, until) = (flows.first_arrival(), flows.last_arrival().min(ended));
        let from = Time(first.0 + (until - first).0 / 5);
        (until > from).then(|| Growing::of(cluster, flows, Span { from, until }, cycle))?
    }
}

/// The bytes of a part.
#[derive(Clone, Copy, Default)]
struct Tally {
    flows: u32,
    /// Bytes offered in the span.
    bytes: f64,
    /// Σ (bytes of the flows of an instant)².
    squares: f64,
    /// The last instant at which flows arrived, and their bytes.
    last: Option<Time>,
    burst: f64,
    /// Overdue bytes at the ends of the quarters.
    overdue: [f64; QUARTERS + 1],
}

impl Tally {
    fn arrives(&mut self, at: Time, bytes: f64) {
        if self.last != Some(at) {
            (self.last, self.burst) = (Some(at), 0.0);
        }
        let before = self.burst;
        self.burst += bytes;
        self.squares += self.burst * self.burst - before * before;
        self.bytes += bytes;
        self.flows += 1;
    }

    /// The increase of its overdue bytes over the span.
    fn increase(&self) -> f64 {
        self.overdue[QUARTERS] - self.overdue[0]
    }

    /// The increase of its overdue bytes, and the standard deviation of the bytes that it is offered,
    /// both relative to these bytes; `None` if a quarter has no increase, or flows are few.
    fn growth(&self) -> Option<(f64, f64)> {
        let all = self.increase();
        let least = EVEN * all / QUARTERS as f64;
        let even = self.overdue.windows(2).all(|of| of[1] - of[0] >= least);
        (self.flows >= ENOUGH_FLOWS && all > 0.0 && even)
            .then(|| (all / self.bytes, self.squares.sqrt() / self.bytes))
    }
}

/// The tallies of all parts, the widest first: all traffic; from and to each rack; from and to each
/// server; each pair of racks.
struct Parts {
    racks: usize,
    hosts: usize,
    tallies: Vec<Tally>,
}

impl Parts {
    /// `together`: see [`crate::bursts`].
    fn of(cluster: &Cluster, flows: &Flows, together: &[u64], span: Span, cycle: Time) -> Parts {
        let (racks, hosts) = (cluster.racks as usize, cluster.hosts() as usize);
        let pairs = racks * racks;
        let has_pairs = pairs.saturating_mul(ENOUGH_FLOWS as usize) <= flows.len();
        let all = 1 + 2 * racks + 2 * hosts + if has_pairs { pairs } else { 0 };
        let mut parts = Parts {
            racks,
            hosts,
            tallies: vec![Tally::default(); all],
        };
        let quarter = (span.until - span.from).0 / QUARTERS as i64;
        let ends: [Time; QUARTERS + 1] =
            std::array::from_fn(|q| Time(span.from.0 + q as i64 * quarter));
        for (f, &alone) in together.iter().enumerate() {
            let (arrival, bytes) = (flows.arrival[f], flows.bytes[f]);
            if arrival >= span.until {
                continue;
            }
            let takes = ideal(cluster, alone).0.saturating_mul(DUE_TIMES);
            let due = Time(arrival.0.saturating_add(takes).saturating_add(cycle.0));
            let is_overdue = ends.map(|end| due <= end && flows.finish[f] > end);
            let (src, dst) = (flows.src[f], flows.dst[f]);
            let (from, to) = (cluster.rack_of(src) as usize, cluster.rack_of(dst) as usize);
            let each = parts.places(from, to, src.index(), dst.index());
            for at in each.into_iter().filter(|&at| at < all) {
                let tally = &mut parts.tallies[at];
                if arrival >= span.from {
                    tally.arrives(arrival, bytes as f64);
                }
                for (sum, overdue) in tally.overdue.iter_mut().zip(is_overdue) {
                    *sum += f64::from(u8::from(overdue)) * bytes as f64;
                }
            }
        }
        parts
    }

    /// The places of the tallies to which a flow belongs.
    fn places(&self, from: usize, to: usize, src: usize, dst: usize) -> [usize; 6] {
        let (to_racks, from_hosts) = (1 + self.racks, 1 + 2 * self.racks);
        let to_hosts = from_hosts + self.hosts;
        [
            0,
            1 + from,
            to_racks + to,
            from_hosts + src,
            to_hosts + dst,
            to_hosts + self.hosts + from * self.racks + to,
        ]
    }

    /// Largest number of queues of a part: one for each server or, if circuits take `turns`, for
    /// each pair of racks.
    fn queues(&self, at: usize, turns: bool) -> f64 {
        let (all, of_rack) = match turns {
            true => (self.racks * self.racks, self.racks),
            false => (self.hosts, self.hosts / self.racks),
        };
        let (racks, servers) = (1 + 2 * self.racks, 1 + 2 * (self.racks + self.hosts));
        let queues = match at {
            0 => all,
            _ if at < racks => of_rack,
            _ if at < servers && turns => of_rack,
            _ => 1,
        };
        queues as f64
    }

    fn is_server(&self, at: usize) -> bool {
        let first = 1 + 2 * self.racks;
        (first..first + 2 * self.hosts).contains(&at)
    }

    fn name(&self, at: usize) -> String {
        let Some(at) = at.checked_sub(1) else {
            return "all".to_owned();
        };
        let (racks, hosts) = (self.racks, self.hosts);
        if at < racks {
            format!("from rack {at}")
        } else if at < 2 * racks {
            format!("to rack {}", at - racks)
        } else if at < 2 * racks + hosts {
            format!("from server {}", at - 2 * racks)
        } else if at < 2 * (racks + hosts) {
            format!("to server {}", at - 2 * racks - hosts)
        } else {
            let pair = at - 2 * (racks + hosts);
            format!("from rack {} to rack {}", pair / racks, pair % racks)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{HostId, Nic, Rate, Stream};
    use proptest::prelude::*;

    /// Four racks of one server of 1 B/ns.
    const CLUSTER: Cluster = Cluster {
        racks: 4,
        servers_per_rack: 1,
        server_rate: Rate(8 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    };

    fn span(from_us: i64, until_us: i64) -> Span {
        let (from, until) = (Time::US * from_us, Time::US * until_us);
        Span { from, until }
    }

    /// Flows of exponential sizes with mean 1,000 B for `us`; rack r sends to r + 1 with a load of
    /// `loads[r]`, through a queue of its own that serves `rate` B/ns.
    fn queues(loads: [f64; 4], rate: f64, us: i64, seed: u64) -> Flows {
        let mut rows = Vec::new();
        for (rack, load) in loads.into_iter().enumerate() {
            let mut rng = Stream::new(seed, "queues", rack as u64);
            let (mut at, mut free) = (0.0, 0.0f64);
            loop {
                at -= (1.0 - rng.unit()).ln() * 1_000.0 / load;
                if at >= us as f64 * 1e3 {
                    break;
                }
                let bytes = (-(1.0 - rng.unit()).ln() * 1_000.0).ceil().max(1.0);
                free = free.max(at) + bytes / rate;
                rows.push((at as i64, rack as u32, bytes as u64, free.ceil() as i64));
            }
        }
        rows.sort_unstable();
        let mut flows = Flows::new();
        for (at, rack, bytes, finish) in rows {
            let (src, dst) = (HostId(rack), HostId((rack + 1) % 4));
            let f = flows.push(src, dst, bytes, Time::NS * at);
            if finish < us * 1_000 {
                flows.finish[f.index()] = Time::NS * finish;
            }
        }
        flows
    }

    fn growing(flows: &Flows, from_us: i64, until_us: i64) -> Option<Growing> {
        Growing::of(&CLUSTER, flows, span(from_us, until_us), None)
    }

    #[test]
    fn one_overloaded_rack_of_four_is_found_and_leaves_what_it_cannot_send() {
        let flows = queues([0.2, 0.5, 0.2, 0.2], 0.4, 40_000, 1);
        let found = growing(&flows, 4_000, 40_000).unwrap();
        // A fifth of 0.5 is not served. Source, destination and pair have the same flows.
        assert_eq!(found.traffic, "from rack 1");
        assert!((found.left - 0.2).abs() < 0.02, "{found:?}");
        // √(E[S²] ÷ (n E[S]²)) with E[S²] = 2 E[S]² and n = 0.5 × 36,000 flows.
        assert!((found.chance - (2.0f64 / 18_000.0).sqrt()).abs() < 5e-4);
    }

    #[test]
    fn a_server_whose_link_is_the_limit_is_named() {
        let flows = queues([0.2, 1.3, 0.2, 0.2], 1.0, 40_000, 4);
        assert_eq!(
            growing(&flows, 4_000, 40_000).unwrap().traffic,
            "from server 1"
        );
    }

    #[test]
    fn an_overload_of_all_is_one_of_all() {
        let flows = queues([0.5; 4], 0.4, 40_000, 2);
        assert_eq!(growing(&flows, 4_000, 40_000).unwrap().traffic, "all");
        assert_eq!(
            Growing::of_run(&CLUSTER, &flows, Time::NEVER, None)
                .unwrap()
                .traffic,
            "all"
        );
    }

    #[test]
    fn a_pair_that_is_never_joined_is_named() {
        let mut flows = queues([0.2; 4], 1.0, 40_000, 3);
        // Some flows of rack 2 are for rack 0, and are never delivered.
        for f in 0..flows.len() {
            if flows.src[f] == HostId(2) && f % 5 == 0 {
                flows.dst[f] = HostId(0);
                flows.finish[f] = Time::NEVER;
            }
        }
        let found = growing(&flows, 4_000, 40_000).unwrap();
        assert_eq!(found.traffic, "from rack 2 to rack 0");
        assert!(found.left > 0.95 && found.left < 1.05);
    }

    #[test]
    fn a_span_in_which_the_network_fills_tells_nothing() {
        let flows = queues([0.5; 4], 0.4, 40_000, 2);
        let largest = *flows.bytes.iter().max().unwrap() as i64;
        let from = 3 * largest / 1_000;
        assert_eq!(growing(&flows, from - 1, 40_000), None);
        assert!(growing(&flows, from + 1, 40_000).is_some());
        let cycle = Some(Time::MS * 13);
        let found = |until| Growing::of(&CLUSTER, &flows, span(39_000, until), cycle);
        assert_eq!(found(40_000), None);
    }

    #[test]
    fn a_burst_counts_as_one() {
        let mut tally = Tally::default();
        for (at, bytes) in [(1, 2.0), (1, 3.0), (4, 1.0)] {
            tally.arrives(Time::NS * at, bytes);
        }
        assert_eq!((tally.bytes, tally.squares, tally.flows), (6.0, 26.0, 3));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        /// A queue does not grow if its service rate is at least its offered load, even if the two
        /// are close.
        #[test]
        fn no_queue_below_its_limit_grows(
            load in 0.05f64..1.0, us in 100i64..12_000, seed in 0u64..1_000_000,
        ) {
            let flows = queues([load * 0.4; 4], 0.4, us, seed);
            prop_assert_eq!(growing(&flows, us / 5, us), None);
        }
    }

    #[test]
    fn the_name_of_each_part_is_that_of_its_place() {
        let cluster = Cluster {
            servers_per_rack: 2,
            ..CLUSTER
        };
        let parts = Parts::of(&cluster, &Flows::new(), &[], span(0, 1), Time::ZERO);
        let names = parts.places(1, 3, 2, 7).map(|at| parts.name(at));
        let expected = [
            "all",
            "from rack 1",
            "to rack 3",
            "from server 2",
            "to server 7",
            "from rack 1 to rack 3",
        ];
        assert_eq!(names, expected);
        let queues = |turns| parts.places(1, 3, 2, 7).map(|at| parts.queues(at, turns));
        assert_eq!(queues(false), [8.0, 2.0, 2.0, 1.0, 1.0, 1.0]);
        assert_eq!(queues(true), [16.0, 4.0, 4.0, 4.0, 4.0, 1.0]);
    }
}
