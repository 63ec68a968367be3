//! Compares a tree with rates with a Clos network of the same links, packet by packet.

use lightloom_engine::rng::Stream;
use lightloom_engine::run::{run, Plan, Silent, Stop};
use lightloom_engine::{Cluster, Flows, HostId, Io, Nic, Rate, Time};
use lightloom_fabrics::{find, Site};
use proptest::prelude::*;
use serde_json::{json, Value};

const LINK: Rate = Rate(10_000_000_000);
const MTU: u64 = 1_500;

fn cluster(racks: u32, servers_per_rack: u32) -> Cluster {
    Cluster {
        racks,
        servers_per_rack,
        server_rate: LINK,
        nic: Nic::Capped(LINK),
    }
}

/// The time at which each of `flows` finishes.
fn finish(kind: &str, table: &Value, cluster: &Cluster, flows: &Flows) -> Vec<Time> {
    let entry = find(kind).expect("registered");
    let site = Site {
        cluster,
        flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let table = (entry.resolve)(table, cluster).expect("a good table");
    let mut fabric = (entry.build)(&table, &site).expect("it can run");
    let mut io = Io::new(flows.clone());
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S * 100,
        sample: None,
        faults: Vec::new(),
    };
    run(&mut *fabric, &mut io, &plan, &mut Silent).expect("nothing fails");
    io.flows.finish
}

/// Racks below one core: two links between switches, of 10 Gb/s each. The forwarding of switches is
/// not given, so the default is equal.
fn both(ratio: f64, header: u64, latency: &str) -> [(&'static str, Value); 2] {
    let header = format!("{header} B");
    let tree = json!({
        "oversubscription": ratio, "header": header, "switch_latency": latency,
        "fec_latency": latency, "link_rate": "10 Gb/s",
    });
    let clos = json!({
        "oversubscription": ratio, "header": header, "switch_latency": latency,
        "fec_latency": latency, "link_rate": "10 Gb/s", "oversubscription_at": "rack",
    });
    [("tree", tree), ("clos", clos)]
}

fn one_pod(mut clos: Value, racks: u32) -> Value {
    clos["racks_per_pod"] = json!(racks);
    clos
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..Default::default() })]

    /// The times are equal to the last picosecond if an uplink is one link. If it has several, this
    /// holds for full packets; a short last packet, which may wait behind full ones in the Clos
    /// network, arrives too early by less than a packet's time on every link.
    #[test]
    fn a_lone_flow_by_rates_takes_as_long_as_its_packets(
        bytes in prop_oneof![1u64..MTU, 1u64..200_000, (1u64..2_000).prop_map(|p| p * MTU)],
        servers in 1u32..5,
        ratio in prop::sample::select(vec![1.0, 2.0, 4.0]),
        header in prop::sample::select(vec![0u64, 38]),
        latency in prop::sample::select(vec!["0 s", "600 ns"]),
        far in any::<bool>(),
    ) {
        let cluster = cluster(3, servers);
        let dst = if far { cluster.hosts() - 1 } else { 1 };
        let mut flows = Flows::new();
        flows.push(HostId(0), HostId(dst), bytes, Time::US);
        let [(_, tree), (_, clos)] = both(ratio, header, latency);
        let clos = one_pod(clos, cluster.racks);
        let by_rates = finish("tree", &tree, &cluster, &flows)[0];
        let by_packets = finish("clos", &clos, &cluster, &flows)[0];
        let several = far && f64::from(servers) / ratio >= 1.5;
        let early = by_packets - by_rates;
        // Tolerates the rounding of a rate to whole b/s, if headers or the ratio leave fractions.
        let rounding = Time(4);
        if several && bytes % MTU != 0 && bytes > MTU {
            // Each link of an uplink has at least 7.5 Gb/s.
            let packet = LINK.time_for(MTU + header);
            let on_all = packet * 2 + packet * 8 / 3;
            prop_assert!(early.0 >= -rounding.0 && early < on_all, "{by_rates}, {by_packets}");
        } else {
            prop_assert!(early.0.abs() <= rounding.0, "{by_rates}, packet by packet {by_packets}");
        }
    }
}

/// Poisson arrivals between any servers; sizes from 64 B to 3 MB, the same number in each order of
/// magnitude.
fn traffic(cluster: &Cluster, load: f64, count: u32) -> Flows {
    let hosts = cluster.hosts();
    let mut rng = Stream::new(7, "like-with-like", 0);
    let (least, most) = (64f64.ln(), 3e6f64.ln());
    let mean = (3e6 - 64.0) / (most - least);
    let gap = mean * 8.0 / (LINK.0 as f64 * f64::from(hosts) * load) * 1e12;
    let (mut at, mut flows) = (0.0, Flows::new());
    for _ in 0..count {
        at += -(1.0 - rng.unit()).ln() * gap;
        let bytes = (least + rng.unit() * (most - least)).exp();
        let src = rng.below(hosts);
        let dst = (src + 1 + rng.below(hosts - 1)) % hosts;
        flows.push(HostId(src), HostId(dst), bytes as u64, Time(at as i64));
    }
    flows
}

/// Mean time of the flows whose size `pass` accepts.
fn mean(flows: &Flows, finish: &[Time], pass: impl Fn(u64) -> bool) -> f64 {
    let of: Vec<f64> = (0..flows.len())
        .filter(|&f| pass(flows.bytes[f]))
        .map(|f| (finish[f] - flows.arrival[f]).as_secs_f64())
        .collect();
    of.iter().sum::<f64>() / of.len() as f64
}

/// Checks the difference under load that docs/fabrics/tree.md states, of rates relative to packets,
/// for flows below 100 KB and for longer ones.
#[test]
fn loaded_flows_differ_by_what_the_page_says() {
    let cluster = cluster(8, 4);
    for (load, short, long) in [(0.1, 0.99, 1.0), (0.5, 0.97, 1.01), (0.8, 0.94, 1.01)] {
        let flows = traffic(&cluster, load, 6_000);
        let [(_, tree), (_, clos)] = both(1.0, 0, "0 s");
        let by_rates = finish("tree", &tree, &cluster, &flows);
        let by_packets = finish("clos", &one_pod(clos, 8), &cluster, &flows);
        let ratio =
            |pass: fn(u64) -> bool| mean(&flows, &by_rates, pass) / mean(&flows, &by_packets, pass);
        let found = [ratio(|b| b < 100_000), ratio(|b| b >= 100_000)];
        for (found, said) in found.into_iter().zip([short, long]) {
            assert!(
                (found - said).abs() < 0.005,
                "load {load}: {found}, the page has {said}"
            );
        }
    }
}
