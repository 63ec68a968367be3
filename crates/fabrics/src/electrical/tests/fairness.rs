//! The rates of competing flows.

use super::*;
use serde_json::json;

/// Delivered bytes of flows that never end, between `from` and `to`.
fn shares(c: &Cluster, table: &Value, pairs: &[(u32, u32)], from: Time, to: Time) -> Vec<u64> {
    let rows: Vec<_> = pairs
        .iter()
        .map(|p| (p.0, p.1, 1 << 40, Time::ZERO))
        .collect();
    let flows = flows(&rows);
    let mut fabric = fabric(c, table, &flows);
    let mut io = Io::new(flows);
    fabric.advance(from, &mut io);
    let before = io.flows.delivered.clone();
    fabric.advance(to, &mut io);
    let delivered = io.flows.delivered.iter().zip(before);
    delivered.map(|(after, before)| after - before).collect()
}

fn total_rate(shares: &[u64], from: Time, to: Time) -> f64 {
    shares.iter().sum::<u64>() as f64 * 8.0 / (to - from).as_secs_f64()
}

#[test]
fn flows_share_a_bottleneck_within_one_packet() {
    let c = capped(cluster(16, 20), 10);
    for senders in [2u32, 20, 60] {
        // From a server of its rack, its pod, and all other racks.
        let pairs: Vec<_> = (0..senders).map(|k| (1 + k * 5, 0)).collect();
        let s = shares(&c, &json!({}), &pairs, Time::US * 500, Time::MS * 2);
        let (least, most) = (s.iter().min().unwrap(), s.iter().max().unwrap());
        assert!(most - least <= 1_500, "{senders}: {least} to {most}");
        let rate = total_rate(&s, Time::US * 500, Time::MS * 2);
        assert!((rate / 10e9 - 1.0).abs() < 0.002, "{senders}: {rate}");
    }
}

/// Back-pressure holds an incast at its sources: at a station at most the buffer of every flow
/// waits, plus the packets that were on the links before it (16 between core and aggregation) when
/// the buffer became full.
#[test]
fn back_pressure_bounds_the_queue() {
    let c = capped(cluster(16, 20), 10);
    let rows: Vec<_> = (0..60)
        .map(|k| (20 + k * 5, 0, 1_500_000, Time::ZERO))
        .collect();
    for buffer in [2u64, 8] {
        let table = json!({"flow_buffer": buffer});
        let (_, outcome) = simulate(&c, &table, flows(&rows), Stop::Drain);
        let peak = outcome.totals.queue_peak_bytes.unwrap();
        let (low, high) = (60 * buffer * 1_500, 60 * (buffer - 1 + 16) * 1_500);
        assert!((low..=high).contains(&peak), "{buffer}: {peak}");
    }
}

/// The oracle: max-min rates by progressive filling.
fn progressive_filling(capacity: &[f64], paths: &[Vec<usize>]) -> Vec<f64> {
    let (mut rate, mut left) = (vec![None; paths.len()], capacity.to_vec());
    while rate.iter().any(Option::is_none) {
        let users = |s: usize| {
            let open = |f: &usize| rate[*f].is_none() && paths[*f].contains(&s);
            (0..paths.len()).filter(open).collect::<Vec<_>>()
        };
        let share = |s: usize| left[s] / users(s).len() as f64;
        let used = (0..capacity.len()).filter(|&s| !users(s).is_empty());
        let narrow = used.min_by(|&a, &b| share(a).total_cmp(&share(b))).unwrap();
        let (share, users) = (share(narrow), users(narrow));
        for f in users {
            rate[f] = Some(share);
            paths[f].iter().for_each(|&s| left[s] -= share);
        }
    }
    rate.into_iter().map(Option::unwrap).collect()
}

/// Round robin with back-pressure is max-min fair (Hahne 1991). The tolerance is 2 %: each flow is
/// off by one or two packets at either end of 4 ms, in which the slowest delivers at least 150
/// packets.
#[test]
fn long_flows_get_their_max_min_rates() {
    for seed in 0..6 {
        let c = capped(cluster(12, 4), 10);
        let table = json!({"racks_per_pod": 3, "oversubscription": 3.0});
        let mut rng = Stream::new(seed, "max-min", 0);
        let pairs: Vec<_> = (0..60)
            .map(|_| {
                let src = rng.below(48);
                (src, other(&mut rng, 48, src))
            })
            .collect();
        let layout = super::super::layout::Layout::new(&resolved(&c, &table), &c);
        let capacity: Vec<f64> = (0..layout.stations() as u32)
            .map(|s| {
                let (link, count) = layout.links_of(s);
                layout.rate_of(link).0 as f64 * count as f64
            })
            .collect();
        let path = |p: &(u32, u32)| layout.path(HostId(p.0), HostId(p.1));
        let paths: Vec<Vec<usize>> = pairs
            .iter()
            .map(|p| path(p).stations().iter().map(|&s| s as usize).collect())
            .collect();
        let (from, to) = (Time::MS, Time::MS * 5);
        let got = shares(&c, &table, &pairs, from, to);
        for (f, fair) in progressive_filling(&capacity, &paths).iter().enumerate() {
            let rate = got[f] as f64 * 8.0 / (to - from).as_secs_f64();
            assert!(
                (rate / fair - 1.0).abs() < 0.02,
                "seed {seed}, flow {f}: {rate:.3e} for {fair:.3e}"
            );
        }
    }
}

/// Every server sends to every other server endlessly.
fn all_to_all(c: &Cluster, keep: impl Fn(u32, u32) -> bool) -> Vec<(u32, u32)> {
    let hosts = c.hosts();
    (0..hosts)
        .flat_map(|s| (0..hosts).map(move |d| (s, d)))
        .filter(|&(s, d)| s / c.servers_per_rack != d / c.servers_per_rack && keep(s, d))
        .collect()
}

#[test]
fn saturated_uniform_traffic_fills_a_non_blocking_clos() {
    for c in [cluster(16, 5), capped(cluster(16, 5), 10)] {
        let pairs = all_to_all(&c, |_, _| true);
        let (from, to) = (Time::MS, Time::MS * 2);
        let rate = total_rate(&shares(&c, &json!({}), &pairs, from, to), from, to);
        assert!(rate / 800e9 > 0.995, "{:?}: {rate:.4e}", c.nic);
    }
}

#[test]
fn three_to_one_leaves_a_third_where_it_bites() {
    let c = cluster(16, 5);
    let same_pod = |s: u32, d: u32| s / 20 == d / 20;
    let (from, to) = (Time::MS, Time::MS * 2);
    let throughput = |at: &str, within: bool| {
        let pairs = all_to_all(&c, |s, d| same_pod(s, d) == within);
        let table = json!({"oversubscription": 3.0, "oversubscription_at": at});
        total_rate(&shares(&c, &table, &pairs, from, to), from, to) / 800e9
    };
    let near = |x: f64, y: f64| (x / y - 1.0).abs() < 0.005;
    assert!(near(throughput("aggregation-core", false), 1.0 / 3.0));
    assert!(near(throughput("aggregation-core", true), 1.0));
    assert!(near(throughput("rack", false), 1.0 / 3.0));
    assert!(near(throughput("rack", true), 1.0 / 3.0));
}

/// Found while choosing the default buffer: one that is too small for the
/// delay of a hop starves the link behind it.
#[test]
fn the_default_buffer_covers_the_delay_of_a_hop() {
    let c = cluster(4, 5);
    let table = json!({"propagation": "2 us", "racks_per_pod": 1});
    let (from, to) = (Time::MS, Time::MS * 3);
    let pairs = [(0, 15), (5, 15)];
    let rate = total_rate(&shares(&c, &table, &pairs, from, to), from, to);
    assert!(rate / 50e9 > 0.99, "{rate:.3e}");
}
