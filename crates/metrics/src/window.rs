//! Latency and throughput at one load, for the flows that arrive in a window after the warm-up.
//!
//! *Latency* is over the flows that arrived in the window, however late they were delivered; the
//! run continues to offer traffic meanwhile. *Offered* is the traffic that arrived in the window.
//! *Accepted* is every byte that was delivered in it, including bytes of flows that began before it
//! or end after it (see [`crate::throughput`]).

use crate::batches::{Estimate, BATCHES};
use crate::bounds::{micros, taken, FctBound, Taken};
use crate::bursts::together;
use crate::completion::{Fct, SHORT_BYTES};
use crate::percentile::percentile;
use crate::relaxation::Relaxation;
use crate::room::Room;
use crate::span::Span;
use crate::throughput::{is_stuck, Throughput};
use lightloom_engine::{Cluster, Deliveries, Flows, Time};
use serde::Serialize;

/// The measurements of a window. Throughputs are relative to the capacity of all servers. Half
/// widths are those of 95 % confidence intervals from batch means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Window {
    /// The end of the warm-up [s].
    pub from_s: f64,
    /// The end of the measurement [s].
    pub until_s: f64,
    /// Flows that arrived in the window.
    pub flows: u64,
    /// Flows that were not delivered before the run ended.
    pub flows_unfinished: u64,
    /// Mean latency of the delivered flows; null without any.
    pub mean_us: Option<f64>,
    /// Half width of its interval; null with fewer than 100 flows, or if the window is too short
    /// for the time over which latencies are correlated.
    pub half_width_us: Option<f64>,
    /// Median latency.
    pub p50_us: Option<f64>,
    /// 99th percentile of the latency.
    pub p99_us: Option<f64>,
    /// Bits of the flows that arrived ÷ (servers × server rate × time).
    pub offered: f64,
    /// Half width of its interval; null if the window is too short for one.
    pub offered_half_width: Option<f64>,
    /// Bits delivered of any flow ÷ (servers × server rate × time).
    pub accepted: f64,
    /// Half width of its interval; null if the window is too short for one.
    pub accepted_half_width: Option<f64>,
    /// Bits delivered to the busiest receiver ÷ (server rate × time).
    pub accepted_busiest: f64,
    /// The number of batches of each interval. Half and a quarter as many are tried too, and the
    /// widest interval is used.
    pub batches: usize,
    /// Correlation of the mean latency of a batch with that of the next.
    pub autocorrelation: Option<f64>,
    /// Whether this correlation exceeds chance: then the batches are too short, or the warm-up was
    /// too short.
    pub correlated: Option<bool>,
    /// Whether the load was carried, that is, whether two conditions hold. `paced` − `accepted` is
    /// at most 1 − [`CARRIED`](crate::CARRIED) of `paced`, or at most the half-width of its
    /// interval. Each flow was finished at the end of the run, unless its age was less than
    /// 1 ÷ (1 − `CARRIED`) times the time that it takes alone (together with those that arrive for
    /// its server at the same instant).
    pub stable: bool,
    /// Completion times of the short flows (under [`SHORT_BYTES`]) that arrived in the window and
    /// were delivered; null if all flows are short or none is.
    pub short: Option<Fct>,
    /// Bounds on the latencies of all flows that arrived in the window.
    pub bound: WindowBound,
    /// Bits that would have been delivered if every flow had the network to itself ÷ (servers ×
    /// server rate × time). It differs from `offered` because a flow takes time and may begin
    /// before the window or end after it.
    pub paced: f64,
    /// Half width of its interval; null if the window is too short for one.
    pub paced_half_width: Option<f64>,
}

/// Bounds on the latencies of all flows of a window, delivered or not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WindowBound {
    /// The bounds for all flows.
    #[serde(flatten)]
    pub all: FctBound,
    /// The bounds for the short flows; null if all flows are short or none is.
    pub short: Option<FctBound>,
}

/// Flows that arrived in a window, in order of their arrival.
struct Arrived<'a> {
    flows: &'a Flows,
    rows: Vec<usize>,
}

impl<'a> Arrived<'a> {
    fn of(flows: &'a Flows, span: Span) -> Self {
        let inside = |t: Time| t != Time::NEVER && span.from <= t && t < span.until;
        let mut rows: Vec<usize> = (0..flows.len())
            .filter(|&f| inside(flows.arrival[f]))
            .collect();
        // Flows of jobs are not in that order.
        rows.sort_by_key(|&f| flows.arrival[f]);
        Arrived { flows, rows }
    }

    /// The short flows, if there are both short and long ones.
    fn short(&self) -> Option<Arrived<'a>> {
        let is_short = |&&f: &&usize| self.flows.bytes[f] < SHORT_BYTES;
        let rows: Vec<usize> = self.rows.iter().filter(is_short).copied().collect();
        (!rows.is_empty() && rows.len() < self.rows.len()).then_some(Arrived {
            flows: self.flows,
            rows,
        })
    }

    /// The completion times of the delivered flows.
    fn times(&self) -> Vec<Time> {
        let done = |&&f: &&usize| self.flows.finish[f] != Time::NEVER;
        let took = |&f: &usize| self.flows.finish[f] - self.flows.arrival[f];
        self.rows.iter().filter(done).map(took).collect()
    }

    /// The bounds for all flows, as known when the run has `ended`.
    fn bound(&self, ended: Time, room: Room) -> FctBound {
        let times = self.rows.iter().map(|&f| taken(self.flows, f, ended));
        FctBound::of(&times.collect::<Vec<Taken>>(), room)
    }
}

impl Window {
    /// The measurements of `flows` in `span` if the run ended at `ended`. `came` holds the bytes
    /// delivered by the instants of the span, `relaxation` the relaxation time of the queues.
    pub fn of(
        cluster: &Cluster,
        flows: &Flows,
        span: Span,
        ended: Time,
        came: &Deliveries,
        relaxation: &Relaxation,
    ) -> Window {
        let length = span.until - span.from;
        let room = relaxation.room(length);
        let arrived = Arrived::of(flows, span);
        let short = arrived.short();
        let mut latency: Vec<f64> = arrived.times().into_iter().map(micros).collect();
        let mean = Estimate::within(&latency, room);
        latency.sort_unstable_by(f64::total_cmp);
        let moved = Throughput::of(cluster, flows, span, came, relaxation.room_of_bytes(length));
        let together = together(flows);
        let stuck = arrived
            .rows
            .iter()
            .any(|&f| is_stuck(cluster, flows, &together, f, ended));
        let (flows_in, done) = (arrived.rows.len(), latency.len());
        Window {
            from_s: span.from.as_secs_f64(),
            until_s: span.until.as_secs_f64(),
            flows: flows_in as u64,
            flows_unfinished: (flows_in - done) as u64,
            mean_us: mean.map(|m| m.mean),
            half_width_us: mean.and_then(|m| m.half_width),
            p50_us: percentile(&latency, 50),
            p99_us: percentile(&latency, 99),
            offered: moved.offered.mean,
            offered_half_width: moved.offered.half_width,
            accepted: moved.accepted.mean,
            accepted_half_width: moved.accepted.half_width,
            accepted_busiest: moved.busiest,
            batches: BATCHES,
            autocorrelation: mean.and_then(|m| m.autocorrelation),
            correlated: mean.and_then(|m| m.correlated()),
            stable: !stuck && moved.carried(),
            short: short.as_ref().map(|s| Fct::of(&mut s.times())),
            bound: WindowBound {
                all: arrived.bound(ended, room),
                short: short.as_ref().map(|s| s.bound(ended, room)),
            },
            paced: moved.paced.mean,
            paced_half_width: moved.paced.half_width,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{HostId, Nic, Rate, Stream};
    use proptest::prelude::*;

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

    /// A flow: destination, bytes, arrival [ns], finish [ns].
    type Row = (u32, u64, i64, Option<i64>);

    fn flows(rows: &[Row]) -> Flows {
        let mut flows = Flows::new();
        for &(dst, bytes, arrival, finish) in rows {
            let src = HostId((dst + 1) % 4);
            let f = flows.push(src, HostId(dst), bytes, Time::NS * arrival);
            if let Some(t) = finish {
                flows.finish[f.index()] = Time::NS * t;
            }
        }
        flows
    }

    /// The window for packets, whose bytes all arrive with the last one. Packets that arrive at an
    /// instant are not counted before it.
    fn window(flows: &Flows, span: Span, ended: Time) -> Window {
        let mut come = flows.clone();
        let mut came = Deliveries::at(span.instants());
        for at in span.instants() {
            for f in (0..flows.len()).filter(|&f| flows.finish[f] < at) {
                come.delivered[f] = flows.bytes[f];
            }
            came.count(come.delivered.iter().sum(), &come);
        }
        Window::of(&CLUSTER, flows, span, ended, &came, &Relaxation::unknown())
    }

    #[test]
    fn worked_out_by_hand() {
        // 4 servers of 1 B/ns; from 100 to 200 ns they send 400 B.
        let rows = flows(&[
            (0, 40, 90, Some(105)),  // arrives before, is delivered within
            (0, 10, 100, Some(150)), // the first instant counts
            (1, 20, 199, Some(260)), // delivered later
            (2, 80, 200, Some(201)), // the last does not
            (1, 30, 150, None),
        ]);
        let w = window(&rows, span(100, 200), Time::NS * 300);
        assert_eq!((w.flows, w.flows_unfinished, w.stable), (3, 1, true));
        // The flow takes 30 ns alone, so it is stuck after 50 times that.
        let stable = |ended| window(&rows, span(100, 200), Time::NS * ended).stable;
        assert!(stable(150 + 1_499) && !stable(150 + 1_500));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(w.offered, 60.0 / 400.0) && near(w.accepted, 50.0 / 400.0));
        assert!(near(w.accepted_busiest, 50.0 / 100.0));
        // Alone, the first flow would send from 90 to 130, the third from 199 to 219.
        assert!(
            near(w.paced, (30.0 + 10.0 + 1.0 + 30.0) / 400.0),
            "{}",
            w.paced
        );
        assert!(near(w.mean_us.unwrap(), (0.050 + 0.061) / 2.0));
        assert_eq!(w.p50_us, Some(0.050));
        assert_eq!(w.p99_us, Some(0.061));
        assert_eq!((w.half_width_us, w.correlated), (None, None));
        // The missing flow has waited for 150 ns when the run ends at 300 ns.
        assert_eq!((w.bound.all.flows, w.bound.all.unfinished), (3, 1));
        assert_eq!(w.bound.all.p50_us.low, Some(0.061));
        assert_eq!(
            (w.bound.all.p99_us.low, w.bound.all.p99_us.high),
            (Some(0.150), None)
        );
    }

    #[test]
    fn short_flows_are_told_apart_from_long_ones() {
        let rows = flows(&[
            (0, 99_999, 100, Some(150)),
            (1, 50_000, 110, Some(190)),
            (2, 100_000, 120, Some(900)),
            (3, 10, 150, None),
            (0, 10, 90, Some(91)), // before the window
        ]);
        let w = window(&rows, span(100, 200), Time::US);
        let short = w.short.unwrap();
        assert_eq!((short.p50_us, short.p99_us), (Some(0.050), Some(0.080)));
        assert!((short.mean_us.unwrap() - 0.065).abs() < 1e-12);
        let bound = w.bound.short.unwrap();
        assert_eq!((bound.flows, bound.unfinished), (3, 1));
        // The unfinished flow has waited for 850 ns when the run ends.
        assert_eq!((bound.p99_us.low, bound.p99_us.high), (Some(0.850), None));
        // Packets, which are all short, and flows that are all long form one class.
        let packets = flows(&[(0, 10, 100, Some(105)), (1, 20, 110, Some(120))]);
        let long = flows(&[(0, 100_000, 100, Some(105))]);
        for one_class in [packets, long] {
            let w = window(&one_class, span(100, 200), Time::US);
            assert_eq!((w.short, w.bound.short), (None, None));
        }
    }

    #[test]
    fn nothing_arrived() {
        let w = window(&flows(&[]), span(100, 200), Time::NS * 300);
        assert_eq!((w.flows, w.mean_us, w.p99_us), (0, None, None));
        assert_eq!((w.offered, w.accepted, w.stable), (0.0, 0.0, true));
    }

    proptest! {
        /// Compared with sums over the rows, one interval after another.
        #[test]
        fn agrees_with_counting(
            rows in prop::collection::vec(
                (0u32..4, 1u64..100, 0i64..400, prop::option::of(1i64..300)), 0..200),
            from in 0i64..150, length in 1i64..200,
        ) {
            let rows: Vec<_> = rows.into_iter()
                .map(|(to, bytes, at, took)| (to, bytes, at, took.map(|t| at + t))).collect();
            let (lo, hi) = (from * 1_000, (from + length) * 1_000);
            let w = window(&flows(&rows), span(from, from + length), Time::US);
            // Interval b is [lo + b·length/20, lo + (b + 1)·length/20), in ps.
            let sums = |at: &dyn Fn(&Row) -> Option<i64>| {
                (0..20).map(|b| rows.iter().filter(|r| at(r).is_some_and(|t| {
                    let t = t * 1_000 - lo;
                    20 * t >= b * (hi - lo) && 20 * t < (b + 1) * (hi - lo)
                })).map(|r| r.1).sum::<u64>() as f64).collect::<Vec<f64>>()
            };
            let all = length as f64 * 4.0;
            let half = |sums: &[f64]| {
                let mean = sums.iter().sum::<f64>() / 20.0;
                let var = sums.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 19.0;
                2.093_024_054_4 * (var / 20.0).sqrt() / (all / 20.0)
            };
            let no_less = |found: Option<f64>, least: f64| found.is_none_or(|h| h > least - 1e-9);
            let (offered, accepted) = (sums(&|r| Some(r.2)), sums(&|r| r.3));
            prop_assert!((w.offered - offered.iter().sum::<f64>() / all).abs() < 1e-9);
            prop_assert!((w.accepted - accepted.iter().sum::<f64>() / all).abs() < 1e-9);
            prop_assert!(no_less(w.offered_half_width, half(&offered)));
            prop_assert!(no_less(w.accepted_half_width, half(&accepted)));
            let inside: Vec<_> = rows.iter()
                .filter(|r| r.2 >= from && r.2 < from + length).collect();
            prop_assert_eq!(w.flows, inside.len() as u64);
            let lost = inside.iter().filter(|r| r.3.is_none()).count() as u64;
            prop_assert_eq!(w.flows_unfinished, lost);
            let waits: Vec<f64> = inside.iter()
                .filter_map(|r| Some((r.3? - r.2) as f64 / 1e3)).collect();
            match w.mean_us {
                None => prop_assert!(waits.is_empty()),
                Some(mean) => {
                    let expect = waits.iter().sum::<f64>() / waits.len() as f64;
                    prop_assert!((mean - expect).abs() < 1e-9);
                }
            }
        }
    }

    /// A server that serves one flow per slot, with arrivals of a given probability in each slot,
    /// starting empty: Geo/D/1 at a load `p` below 1, a growing queue above.
    fn queue(p: f64, slots: i64, seed: u64) -> Flows {
        let mut rng = Stream::new(seed, "queue", 0);
        let (mut rows, mut free) = (Vec::new(), 0);
        for slot in 0..slots {
            // Two sources, so that a slot may bring more than the server serves.
            for _ in 0..2 {
                if rng.unit() < p / 2.0 {
                    free = free.max(slot) + 1;
                    rows.push((0, 10, slot * 10, Some(free * 10)));
                }
            }
        }
        flows(&rows)
    }

    #[test]
    fn a_growing_queue_is_told_from_one_that_fluctuates() {
        for seed in 0..50 {
            for (p, stable) in [(0.5, true), (0.9, true), (1.1, false), (1.5, false)] {
                let w = window(&queue(p, 12_000, seed), span(20_000, 120_000), Time::MS);
                assert_eq!(w.stable, stable, "load {p}, seed {seed}: {w:?}");
            }
        }
    }

    /// The wait in a slotted queue with two sources: one slot, plus that for the packets of the
    /// same slot and of earlier ones: a² / 4 / (1 − a) / a on average.
    #[test]
    fn intervals_hold_the_wait_of_a_queue() {
        let a = 0.8;
        let slots = 1.0 + a / 4.0 / (1.0 - a);
        let (mut held, mut given) = (0, 0);
        for seed in 0..400 {
            let w = window(&queue(a, 25_000, seed), span(50_000, 250_000), Time::MS);
            let Some(half) = w.half_width_us else {
                continue;
            };
            given += 1;
            held += ((w.mean_us.unwrap() - slots * 0.01).abs() <= half) as i32;
        }
        // 95 % within four standard errors, from below; the widest of three intervals is used.
        assert!(
            given > 380 && f64::from(held) > 0.906 * f64::from(given),
            "{held} of {given}"
        );
    }
}
