//! Compares `detail = "flows"` with `detail = "packets"`: where they agree, and by how much they
//! differ.

use super::speed::paper;
use super::*;
use proptest::prelude::*;
use serde_json::json;

fn with(table: &Value, detail: &str) -> Value {
    let mut table = table.clone();
    table["detail"] = json!(detail);
    table
}

fn lone(c: &Cluster, table: &Value, dst: u32, bytes: u64) -> Time {
    let (io, _) = simulate(c, table, flows(&[(0, dst, bytes, Time::US)]), Stop::Drain);
    io.flows.finish[0] - Time::US
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..Default::default() })]

    /// Both agree except for rounding, unless the short last packet does not wait for its turn, or
    /// continues while full packets wait.
    #[test]
    fn a_lone_flow_takes_as_long_as_its_packets(
        bytes in prop_oneof![
            1u64..1_500, 1u64..100_000, 1u64..3_000_000, (1u64..2_000).prop_map(|p| p * 1_500),
        ],
        dst in 1u32..320,
        nic in prop::option::of(5u64..60),
        header in prop::sample::select(vec![0u64, 78]),
        ratio in prop::sample::select(vec![1.0, 3.0]),
        latency in prop::sample::select(vec!["0 s", "500 ns"]),
    ) {
        let c = cluster(16, 20);
        let c = nic.map_or(c, |gbps| capped(c, gbps));
        let table = json!({
            "header": format!("{header} B"), "oversubscription": ratio, "propagation": latency,
        });
        let packets = lone(&c, &with(&table, "packets"), dst, bytes);
        let fluid = lone(&c, &with(&table, "flows"), dst, bytes);
        let off = Time((packets - fluid).0.abs());
        // Rates are whole b/s, and every packet takes whole picoseconds.
        let rounding = packets / 1_000_000_000 + Time(20 + bytes.div_ceil(1_500) as i64);
        let slowest = Rate(nic.map_or(50, |n| n.min(50)) * Rate::GBPS.0);
        let early = slowest.time_for(1_500 + header) * 6;
        let full = bytes.is_multiple_of(1_500) || bytes < 1_500;
        let slack = if full { rounding } else { rounding + early };
        prop_assert!(off <= slack, "{packets} by packets, {fluid} by rates");
    }
}

/// Long flows that share have the same rates (packets: 2 %, for the same reason
/// as in `fairness.rs`; rates: to the byte, for they are max-min by definition).
#[test]
fn long_flows_finish_together() {
    for seed in 0..4 {
        let c = capped(cluster(12, 4), 10);
        let table = json!({"racks_per_pod": 3, "oversubscription": 3.0});
        let mut rng = Stream::new(seed, "detail", 0);
        let rows: Vec<_> = (0..60)
            .map(|_| {
                let src = rng.below(48);
                let bytes = 4_000_000 + rng.below(4_000_000) as u64;
                (src, other(&mut rng, 48, src), bytes, Time::ZERO)
            })
            .collect();
        let finish = |detail| {
            let (io, _) = simulate(&c, &with(&table, detail), flows(&rows), Stop::Drain);
            io.flows.finish
        };
        for (f, (p, r)) in finish("packets").iter().zip(finish("flows")).enumerate() {
            let off = r.as_secs_f64() / p.as_secs_f64() - 1.0;
            assert!(
                off.abs() < 0.01,
                "seed {seed}, flow {f}: {p} by packets, {r} by rates"
            );
        }
    }
}

/// One server of 10 Gb/s sends packets at random times, which wait only for its link. With packets,
/// a link serves flows of one packet first in, first out, and waits are those of an M/D/1 queue, S
/// ρ ÷ (2 (1 − ρ)). With rates, flows share the link, and a flow takes S ÷ (1 − ρ) instead of S,
/// which is twice the wait (Kleinrock, Queueing Systems, vol. 2, 1976).
#[test]
fn flows_of_a_packet_wait_twice_as_long_by_rates() {
    let c = capped(cluster(4, 4), 10);
    let serialised = 1_500.0 * 8.0 / 10e9;
    for load in [0.3, 0.6] {
        let (mut rng, mut at) = (Stream::new(1, "one sender", 0), 0.0);
        let rows: Vec<_> = (0..200_000)
            .map(|_| {
                at -= (1.0 - rng.unit()).ln() * serialised / load;
                (0, 4 + rng.below(12), 1_500, Time((at * 1e12) as i64))
            })
            .collect();
        let wait = |detail: &str| {
            let table = with(&json!({"racks_per_pod": 1}), detail);
            let alone = lone(&c, &table, 4, 1_500).as_secs_f64();
            let (io, _) = simulate(&c, &table, flows(&rows), Stop::Drain);
            let took = (0..rows.len()).map(|f| io.flows.finish[f] - io.flows.arrival[f]);
            let sum: f64 = took.map(Time::as_secs_f64).sum();
            (sum / rows.len() as f64 - alone) / serialised
        };
        let queue = load / (2.0 * (1.0 - load));
        for (detail, theory) in [("packets", queue), ("flows", 2.0 * queue)] {
            let off = wait(detail) / theory - 1.0;
            // Three standard errors of the mean of this number of correlated waits.
            assert!(off.abs() < 0.03, "load {load}, by {detail}: off by {off}");
        }
    }
}

/// Flows of one size between random servers of 16 racks of 4, with links of 10 Gb/s: mean and 99th
/// percentile of completion times [us].
fn of_a_size(bytes: u64, load: f64, detail: &str) -> [f64; 2] {
    let c = capped(cluster(16, 4), 10);
    let (mut rng, mut at) = (Stream::new(1, "sizes", 0), 0.0);
    let gap = bytes as f64 * 8.0 / (10e9 * f64::from(c.hosts()) * load);
    let rows: Vec<_> = (0..40_000)
        .map(|_| {
            at -= (1.0 - rng.unit()).ln() * gap;
            let src = rng.below(c.hosts());
            (
                src,
                other(&mut rng, c.hosts(), src),
                bytes,
                Time((at * 1e12) as i64),
            )
        })
        .collect();
    let (io, _) = simulate(&c, &with(&json!({}), detail), flows(&rows), Stop::Drain);
    let took = |f: usize| (io.flows.finish[f] - io.flows.arrival[f]).as_secs_f64() * 1e6;
    let mut took: Vec<f64> = (0..rows.len()).map(took).collect();
    took.sort_by(f64::total_cmp);
    let mean = took.iter().sum::<f64>() / took.len() as f64;
    [mean, took[took.len() * 99 / 100]]
}

/// Two cells of the second table of docs/fabrics/clos.md: the shorter flows are and the more load
/// there is, the longer they take by rates.
#[test]
fn short_flows_under_load_take_longer_by_rates() {
    for (bytes, load, mean, p99) in [(1_500, 0.6, 30.8, 40.2), (15_000, 0.1, 1.9, 5.1)] {
        let [packets, rates] = ["packets", "flows"].map(|d| of_a_size(bytes, load, d));
        for (k, percent) in [mean, p99].into_iter().enumerate() {
            let more: f64 = (rates[k] / packets[k] - 1.0) * 100.0;
            assert!((more - percent).abs() < 0.1, "{bytes} B at {load}: {more}");
        }
    }
}

/// `cargo test --release -p lightloom-fabrics sizes_by_packets_and -- --ignored --nocapture`
/// prints the second table of docs/fabrics/clos.md.
#[test]
#[ignore = "prints a table"]
fn sizes_by_packets_and_by_rates() {
    for bytes in [1_500, 6_000, 15_000, 150_000, 1_500_000] {
        for load in [0.1, 0.3, 0.6, 0.8] {
            let [packets, rates] = ["packets", "flows"].map(|d| of_a_size(bytes, load, d));
            let more = |k: usize| (rates[k] / packets[k] - 1.0) * 100.0;
            println!(
                "{bytes} {load} {packets:.2?} {rates:.2?} {:+.1} {:+.1}",
                more(0),
                more(1)
            );
        }
    }
}

/// `cargo test --release -p lightloom-fabrics by_packets_and_by -- --ignored --nocapture`
/// prints the table of docs/fabrics/clos.md.
#[test]
#[ignore = "prints a table"]
fn by_packets_and_by_rates() {
    for (name, table) in [
        ("1:1", json!({})),
        ("3:1", json!({"oversubscription": 3.0})),
    ] {
        for load in [0.1, 0.5, 0.9] {
            for detail in ["packets", "flows"] {
                let (cluster, flows) = paper(load, 200_000);
                let (io, outcome) =
                    simulate(&cluster, &with(&table, detail), flows, Stop::LastArrival);
                let fct = |short: bool| {
                    let f = (0..io.flows.len())
                        .filter(|&f| (io.flows.bytes[f] < 100_000) == short)
                        .filter(|&f| io.flows.finish[f] != Time::NEVER);
                    let mut fct: Vec<f64> = f
                        .map(|f| (io.flows.finish[f] - io.flows.arrival[f]).0 as f64 / 1e6)
                        .collect();
                    fct.sort_by(f64::total_cmp);
                    let at = |p: usize| fct[fct.len() * p / 100];
                    let mean = fct.iter().sum::<f64>() / fct.len() as f64;
                    format!("p50 {:.2} p99 {:.2} mean {:.2}", at(50), at(99), mean)
                };
                println!(
                    "{name} L {load} {detail:7}: short {}, long {} us, goodput {:.4}, {} done, {:.2} s",
                    fct(true),
                    fct(false),
                    io.ledger.delivered as f64 * 8.0
                        / (outcome.shape.host_rate.0 as f64
                            * outcome.shape.hosts as f64
                            * outcome.simulated.as_secs_f64()),
                    io.ledger.flows_completed,
                    outcome.kernel_s,
                );
            }
        }
    }
}
