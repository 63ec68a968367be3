//! Times that can be computed by hand or from queueing theory.

use super::*;
use serde_json::json;

/// The time at which a lone flow ends.
fn lone(cluster: &Cluster, table: &Value, src: u32, dst: u32, bytes: u64) -> (Time, Outcome) {
    let flows = flows(&[(src, dst, bytes, Time::US)]);
    let (io, outcome) = simulate(cluster, table, flows, Stop::Drain);
    assert_eq!(io.flows.start[0], Time::US);
    (io.flows.finish[0] - Time::US, outcome)
}

/// 16 racks of 200 Gb/s with 4 links of 50 Gb/s, 240 ns per packet; pods of 4 racks.
#[test]
fn a_lone_flow_is_pipelined_over_parallel_links() {
    let c = cluster(16, 20);
    let time = |dst, bytes| lone(&c, &json!({}), 0, dst, bytes).0;
    // One packet, stored and forwarded: 4 hops to another pod, 2 within a pod.
    assert_eq!(time(319, 1_500), Time::NS * 4 * 240);
    assert_eq!(time(25, 1_500), Time::NS * 2 * 240);
    // Four at a time.
    assert_eq!(time(319, 4 * 1_500), Time::NS * 4 * 240);
    assert_eq!(time(319, 5 * 1_500), Time::NS * 5 * 240);
    // A short packet alone, and one that arrives before the full ones.
    assert_eq!(time(319, 700), Time::NS * 4 * 112);
    assert_eq!(time(319, 10 * 1_500 + 700), Time::NS * 6 * 240);
    // Below one rack switch: the bytes at 200 Gb/s.
    assert_eq!(time(19, 100_000), Time::US * 4);
}

#[test]
fn only_a_short_last_packet_overtakes() {
    let c = cluster(16, 20);
    let reorder = |bytes| {
        let (_, outcome) = lone(&c, &json!({}), 0, 319, bytes);
        outcome.totals.reorder_peak_bytes.unwrap()
    };
    // The third round has two full packets and the short one: 700 B wait for them.
    assert_eq!(reorder(10 * 1_500 + 700), 700);
    // The short packet is alone in its round, but its 4 × 112 ns are less than the 240 ns by which
    // the others are ahead plus their remaining 3 × 240 ns.
    assert_eq!(reorder(8 * 1_500 + 700), 700);
    assert_eq!(reorder(8 * 1_500), 0);
    // A single link cannot reorder.
    let single = json!({"link_rate": "200 Gb/s", "racks_per_pod": 1});
    let (_, outcome) = lone(&c, &single, 0, 319, 10 * 1_500 + 700);
    assert_eq!(outcome.totals.reorder_peak_bytes, Some(0));
}

/// NICs of 10 Gb/s take 1,200 ns per packet.
#[test]
fn a_capped_nic_is_a_hop_at_both_ends() {
    let c = capped(cluster(16, 20), 10);
    let time = |dst, bytes| lone(&c, &json!({}), 0, dst, bytes).0;
    assert_eq!(time(319, 1_500), Time::NS * (2 * 1_200 + 4 * 240));
    assert_eq!(time(319, 11 * 1_500), Time::NS * (12 * 1_200 + 4 * 240));
    assert_eq!(time(19, 11 * 1_500), Time::NS * 12 * 1_200);
    // The short packet has to wait for its turn on the single last link.
    let full = 11 * 1_200 + 4 * 240;
    assert_eq!(time(319, 10 * 1_500 + 700), Time::NS * (full + 560));
}

#[test]
fn latency_adds_up() {
    let table = json!({"propagation": "1 us", "switch_latency": "100 ns"});
    // Two links and three switches within a pod; four and five beyond; with
    // servers' links two more.
    let time = |c: &Cluster, dst| lone(c, &table, 0, dst, 1_500).0;
    let c = cluster(16, 20);
    assert_eq!(time(&c, 25), Time::NS * (2 * 240 + 2 * 1_000 + 3 * 100));
    assert_eq!(time(&c, 319), Time::NS * (4 * 240 + 4 * 1_000 + 5 * 100));
    assert_eq!(time(&c, 19), Time::NS * (60 + 100));
    let c = capped(c, 10);
    let nics = 2 * 1_200;
    assert_eq!(
        time(&c, 319),
        Time::NS * (nics + 4 * 240 + 6 * 1_000 + 5 * 100)
    );
    assert_eq!(time(&c, 19), Time::NS * (nics + 2 * 1_000 + 100));
}

/// A header takes time on the wire, and does not count as goodput.
#[test]
fn headers_take_time() {
    let table = json!({"mtu": "1460 B", "header": "40 B"});
    let (time, outcome) = lone(&cluster(16, 20), &table, 0, 319, 2 * 1_460);
    assert_eq!(time, Time::NS * 4 * 240);
    let last = outcome.samples.last().unwrap();
    assert_eq!(
        (last.ledger.delivered, last.view.carried_bytes),
        (2_920, 4 * 3_000)
    );
}

/// Poisson arrivals at `load` on the one link of 10 Gb/s between two servers.
fn one_link(
    detail: &str,
    load: f64,
    count: u32,
    mut packets: impl FnMut(&mut Stream) -> u64,
) -> Vec<(u64, f64)> {
    let mut rng = Stream::new(1, "one link", 0);
    let sizes: Vec<u64> = (0..count).map(|_| packets(&mut rng)).collect();
    let gap = sizes.iter().sum::<u64>() as f64 / count as f64 * 1.2e6 / load;
    let (mut at, mut rows) = (0.0, vec![]);
    for &size in &sizes {
        at += -(1.0 - rng.unit()).ln() * gap;
        rows.push((0, 1, size * 1_500, Time(at as i64)));
    }
    let (io, _) = simulate(
        &cluster(2, 1),
        &json!({"detail": detail}),
        flows(&rows),
        Stop::Drain,
    );
    let took = |f: usize| (io.flows.finish[f] - io.flows.arrival[f]).0 as f64 / 1.2e6;
    (0..count as usize).map(|f| (sizes[f], took(f))).collect()
}

/// Pollaczek–Khinchine: packets of one size wait ρ/(2(1−ρ)) of their own time.
#[test]
fn single_packets_wait_as_in_m_d_1() {
    for load in [0.3, 0.7] {
        let took = one_link("packets", load, 400_000, |_| 1);
        let wait = took.iter().map(|t| t.1 - 4.0).sum::<f64>() / took.len() as f64;
        let theory = load / (2.0 * (1.0 - load));
        assert!(
            (wait / theory - 1.0).abs() < 0.03,
            "{load}: {wait} for {theory}"
        );
    }
}

/// Round robin by packet is processor sharing, like max-min rates: a flow of any size takes 1/(1−ρ)
/// times as long as alone. The last packet has three more hops.
#[test]
fn flows_share_a_link_as_in_m_g_1_ps() {
    let load = 0.6;
    for detail in ["packets", "flows"] {
        let took = one_link(detail, load, 40_000, |r| {
            (-(1.0 - r.unit()).ln() * 100.0).ceil() as u64
        });
        let theory = 1.0 / (1.0 - load);
        for sizes in [5..50u64, 50..150, 150..400] {
            let class = || took.iter().filter(|t| sizes.contains(&t.0));
            let time: f64 = class().map(|t| t.1 - 3.0).sum();
            let alone: f64 = class().map(|t| t.0 as f64).sum();
            let slowdown = time / alone;
            assert!(
                (slowdown / theory - 1.0).abs() < 0.06,
                "{detail}, {sizes:?}: {slowdown} for {theory}"
            );
        }
    }
}
