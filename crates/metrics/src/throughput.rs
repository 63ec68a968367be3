//! The throughput of a network in a window: delivered bytes in intervals of equal length.
//!
//! *Accepted* bytes are those delivered in the window, of any flow, finished or not. *Offered*
//! bytes are those of the flows that arrived in it. With heavy-tailed sizes the two differ by
//! chance alone: a large flow is offered at one instant and delivered over a time that may extend
//! beyond the window. Delivery is therefore compared with *paced* bytes: those of each flow as they
//! would arrive if the flow had the network to itself, at the rate of [`crate::ideal`]. The
//! difference waits in the network.

use crate::batches::{Estimate, BATCHES};
use crate::completion::ideal;
use crate::room::Room;
use crate::span::{Span, CARRIED};
use lightloom_engine::{Cluster, Deliveries, Flows, Time};

/// Throughput in a window: bits ÷ (servers × server rate × time).
pub struct Throughput {
    pub offered: Estimate,
    pub paced: Estimate,
    pub accepted: Estimate,
    /// Paced bytes that were not accepted.
    missing: Estimate,
    /// Bits that the busiest receiver received ÷ (server rate × time).
    pub busiest: f64,
}

impl Throughput {
    /// The throughput of `flows`, from the bytes delivered by each of the [`Span::instants`].
    pub fn of(
        cluster: &Cluster,
        flows: &Flows,
        span: Span,
        came: &Deliveries,
        room: Room,
    ) -> Throughput {
        let instants = span.instants();
        let seconds = (span.until - span.from).as_secs_f64();
        let one = cluster.server_rate.0 as f64 * seconds / 8.0;
        let all = one * cluster.hosts() as f64 / BATCHES as f64;
        let accepted = accepted(came).map(|bytes| bytes / all);
        let paced = paced(cluster, flows, &instants).map(|bytes| bytes / all);
        let missing = std::array::from_fn(|b| paced[b] - accepted[b]);
        Throughput {
            offered: Estimate::of_batches(
                &offered(flows, &instants).map(|bytes| bytes / all),
                room,
            ),
            paced: Estimate::of_batches(&paced, room),
            accepted: Estimate::of_batches(&accepted, room),
            missing: Estimate::of_batches(&missing, room),
            busiest: came.heard().max().unwrap_or(0) as f64 / one,
        }
    }

    /// Whether the missing bytes are few, or may be missing by chance.
    pub fn carried(&self) -> bool {
        let missing = self.missing.mean;
        missing <= (1.0 - CARRIED) * self.paced.mean
            || missing <= self.missing.scatter.unwrap_or(0.0)
    }
}

/// Bytes in each interval.
type Stretches = [f64; BATCHES];

fn accepted(came: &Deliveries) -> Stretches {
    let bytes = came.bytes();
    std::array::from_fn(|b| (bytes[b + 1] - bytes[b]) as f64)
}

/// Bytes of the flows that arrived.
fn offered(flows: &Flows, instants: &[Time]) -> Stretches {
    let mut bytes = [0.0; BATCHES];
    for f in 0..flows.len() {
        // A flow that begins at the last instant or never arrives is in no interval.
        let begun = instants.partition_point(|&at| at <= flows.arrival[f]);
        if let Some(of) = begun.checked_sub(1).and_then(|b| bytes.get_mut(b)) {
            *of += flows.bytes[f] as f64;
        }
    }
    bytes
}

/// Bytes of the flows as they would arrive if each was alone.
fn paced(cluster: &Cluster, flows: &Flows, instants: &[Time]) -> Stretches {
    let mut bytes = [0.0; BATCHES];
    for f in 0..flows.len() {
        let arrival = flows.arrival[f];
        if arrival >= instants[BATCHES] {
            continue;
        }
        let takes = ideal(cluster, flows.bytes[f]);
        let come = |at: Time| match takes > Time::ZERO {
            true => ((at - arrival).0 as f64 / takes.0 as f64).clamp(0.0, 1.0),
            false => f64::from(u8::from(at > arrival)),
        };
        let next = instants.partition_point(|&at| at <= arrival).max(1);
        let mut before = come(instants[next - 1]);
        for b in next..=BATCHES {
            let now = come(instants[b]);
            bytes[b - 1] += (now - before) * flows.bytes[f] as f64;
            before = now;
            if now >= 1.0 {
                break;
            }
        }
    }
    bytes
}

/// Whether an unfinished flow has had enough time by `ended` for a network with a load of at most
/// [`CARRIED`]: links that flows share evenly slow them down by a factor of 1 ÷ (1 − load).
/// `together`: see [`crate::bursts`].
pub fn is_stuck(cluster: &Cluster, flows: &Flows, together: &[u64], f: usize, ended: Time) -> bool {
    let alone = ideal(cluster, together[f]).as_secs_f64();
    let age = (ended - flows.arrival[f]).as_secs_f64();
    flows.finish[f] == Time::NEVER && age * (1.0 - CARRIED) >= alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{HostId, Nic, Rate, Stream};
    use proptest::prelude::*;

    /// Four servers of 1 B/ns with one link each.
    const CLUSTER: Cluster = Cluster {
        racks: 4,
        servers_per_rack: 1,
        server_rate: Rate(8 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    };

    fn span(from: i64, until: i64) -> Span {
        let (from, until) = (Time::NS * from, Time::NS * until);
        Span { from, until }
    }

    fn flows(rows: &[(u32, u64, i64)]) -> Flows {
        let mut flows = Flows::new();
        for &(src, bytes, at) in rows {
            flows.push(HostId(src), HostId((src + 1) % 4), bytes, Time::NS * at);
        }
        flows
    }

    proptest! {
        /// Compared with a count byte by byte: byte k of a flow arrives k + 1 ns after the flow.
        #[test]
        fn paced_flows_send_a_byte_after_the_other(
            rows in prop::collection::vec((0u32..4, 1u64..150, 0i64..300), 0..60),
            from in 0i64..150, stretch in 1i64..12,
        ) {
            let instants = span(from, from + 20 * stretch).instants();
            let mut bytes = [0.0; BATCHES];
            for &(_, size, at) in &rows {
                for there in (0..size as i64).map(|k| at + k) {
                    // The byte is sent in [there, there + 1).
                    let b = (there - from).div_euclid(stretch);
                    if (0..20).contains(&b) {
                        bytes[b as usize] += 1.0;
                    }
                }
            }
            let found = paced(&CLUSTER, &flows(&rows), &instants);
            for (found, expected) in found.iter().zip(bytes) {
                prop_assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
            }
        }
    }

    /// A link of 1 B/ns that serves flows one after another. The bytes delivered by each instant do
    /// not depend on the order of service; the flows' finish times do.
    fn served(flows: &mut Flows, span: Span) -> Deliveries {
        let (mut free, mut from) = (Time::ZERO, Vec::new());
        for f in 0..flows.len() {
            from.push(free.max(flows.arrival[f]));
            free = from[f] + Time::NS * flows.bytes[f] as i64;
            flows.finish[f] = free;
        }
        let mut came = Deliveries::at(span.instants());
        for at in span.instants() {
            let sent = |f: usize| ((at - from[f]).0 / 1_000).clamp(0, flows.bytes[f] as i64);
            came.count((0..flows.len()).map(sent).sum::<i64>() as u64, flows);
        }
        came
    }

    /// Pareto sizes of shape 1.05 from 20 B to 20 KB with mean 150 B, to one server of four; `load`
    /// is the load of its link.
    fn heavy(load: f64, until: i64, seed: u64) -> Flows {
        let mut rng = Stream::new(seed, "heavy", 0);
        let mut flows = Flows::new();
        let (mut at, tail) = (0.0, 1.0 - 1e-3f64.powf(1.05));
        let size = |u: f64| 20.0 * (1.0 - u * tail).powf(-1.0 / 1.05);
        let mean = (0..100_000)
            .map(|k| size((f64::from(k) + 0.5) / 1e5))
            .sum::<f64>()
            / 1e5;
        while at < until as f64 {
            at -= (1.0 - rng.unit()).ln() * mean / load;
            let bytes = size(rng.unit()) as u64;
            flows.push(HostId(1), HostId(0), bytes, Time((at * 1e3) as i64));
        }
        flows
    }

    /// An earlier definition of accepted bytes: those of all flows that end in the window.
    fn by_last_bytes(flows: &Flows, span: Span) -> f64 {
        let inside = |&f: &usize| (span.from..span.until).contains(&flows.finish[f]);
        let bytes = (0..flows.len()).filter(inside).map(|f| flows.bytes[f]);
        bytes.sum::<u64>() as f64
    }

    /// The test distinguishes a link that serves one flow after another from a link that is
    /// overloaded, although most bytes are in few flows.
    #[test]
    fn heavy_tails_are_carried_below_capacity_and_not_above() {
        let (span, until) = (span(100_000, 1_100_000), 1_200_000);
        for seed in 0..20 {
            for (load, stable) in [(0.3, true), (0.7, true), (1.25, false)] {
                let mut flows = heavy(load, until, seed);
                let came = served(&mut flows, span);
                let found = Throughput::of(&CLUSTER, &flows, span, &came, Room::Unknown);
                let bytes = (came.bytes()[BATCHES] - came.bytes()[0]) as f64;
                assert!((found.accepted.mean * 4e6 - bytes).abs() < 1e-6);
                assert_eq!(found.carried(), stable, "load {load}, seed {seed}");
                let off = (found.accepted.mean / found.paced.mean - 1.0).abs();
                assert!(!stable || off < 0.02, "load {load}, seed {seed}: {off}");
            }
        }
    }

    /// If no flow waits for another, all offered bytes are accepted, byte by byte. A count by last
    /// bytes would miss them: the largest flows take eight times as long as the window.
    #[test]
    fn flows_longer_than_the_window_count_as_far_as_they_have_come() {
        let nic = Nic::Capped(Rate(Rate::GBPS.0 / 10)); // 80 ns a byte
        let (cluster, span) = (Cluster { nic, ..CLUSTER }, span(2_000_000, 2_200_000));
        let mut worst: f64 = 0.0;
        for seed in 0..20 {
            let mut flows = heavy(0.5, 2_300_000, seed);
            let took = |f: usize| Time::NS * 80 * flows.bytes[f] as i64;
            flows.finish = (0..flows.len())
                .map(|f| flows.arrival[f] + took(f))
                .collect();
            let mut came = Deliveries::at(span.instants());
            for at in span.instants() {
                let age = |f: usize| (at - flows.arrival[f]).0.max(0) as u64;
                let sent = |f: usize| (age(f) / 80_000).min(flows.bytes[f]);
                came.count((0..flows.len()).map(sent).sum(), &flows);
            }
            let found = Throughput::of(&cluster, &flows, span, &came, Room::Unknown);
            // One byte of each flow may be in transit at either end.
            let there = |&f: &usize| flows.arrival[f] < span.until && flows.finish[f] > span.from;
            let there = (0..flows.len()).filter(there).count();
            let paced = found.paced.mean * 8e5;
            assert!((found.accepted.mean * 8e5 - paced).abs() <= there as f64);
            assert!(found.carried());
            worst = worst.max((by_last_bytes(&flows, span) / paced - 1.0).abs());
        }
        assert!(worst > 0.25, "{worst}");
    }
}
