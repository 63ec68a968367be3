//! Oracles of Sirius at `detail = "flows"`: the simulation of cells, closed forms, and textbook
//! progressive filling.

use super::SiriusFlows;
use crate::contract::Site;
use crate::sirius::config::SiriusConfig;
use crate::sirius::ENTRY;
use lightloom_engine::kernel::flow::FlowDriven;
use lightloom_engine::run::{run, Outcome, Plan, Silent, Stop};
use lightloom_engine::*;
use proptest::prelude::*;
use serde_json::{json, Value};

/// Racks of two servers and 400 Gb/s, which have 12 uplinks of 50 Gb/s.
fn cluster(racks: u32, nic: Nic) -> Cluster {
    Cluster {
        racks,
        servers_per_rack: 2,
        server_rate: Rate(200 * Rate::GBPS.0),
        nic,
    }
}

/// Payload rate of the uplinks of a rack: 12 cells of 562 B in 100 ns.
const C: f64 = 12.0 * 562.0 * 8.0 / 100e-9;

fn with(table: &Value, detail: &str) -> Value {
    let mut table = table.clone();
    table["detail"] = json!(detail);
    table
}

fn simulate(cluster: &Cluster, table: &Value, flows: &Flows) -> (Io, Outcome) {
    let site = Site::plain(cluster, flows);
    let table = (ENTRY.resolve)(table, cluster).expect("a good configuration");
    let mut fabric = (ENTRY.build)(&table, &site).expect("a fabric");
    let mut io = Io::new(flows.clone());
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S,
        sample: None,
        faults: vec![],
    };
    let out = run(&mut *fabric, &mut io, &plan, &mut Silent).expect("no faults");
    (io, out)
}

fn seconds(io: &Io) -> Vec<f64> {
    let f = &io.flows;
    (0..f.len())
        .map(|k| (f.finish[k] - f.arrival[k]).as_secs_f64())
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Flows of `bytes` from rack to rack, one at a time, at all phases of an epoch.
fn alone(racks: u32, bytes: u64) -> Flows {
    let apart = Time::US * 40 + Rate(Rate::GBPS.0 * 30).time_for(bytes);
    let mut flows = Flows::new();
    for k in 0..60u32 {
        let (src, dst) = (k * 5 % racks, (k * 7 + 1 + k * 5) % racks);
        let dst = if dst == src { (src + 1) % racks } else { dst };
        let at = apart * k as i64 + Time::NS * (k as i64 * 617);
        flows.push(HostId(2 * src), HostId(2 * dst + 1), bytes, at);
    }
    flows
}

/// Compares 60 flows, each alone in the network, at both details: their means differ by at most
/// `part`, or by 0.15 of an epoch if that is more.
fn agree_alone(cluster: &Cluster, table: &Value, bytes: u64, part: f64) {
    let flows = alone(cluster.racks, bytes);
    let took = |detail| mean(&seconds(&simulate(cluster, &with(table, detail), &flows).0));
    let (cells, rates) = (took("cells"), took("flows"));
    let epoch = cluster.racks as f64 / 12.0 * 100e-9;
    assert!(
        (cells - rates).abs() <= (part * cells).max(0.15 * epoch),
        "{table}, {} racks, {bytes} B: {cells} s by cells, {rates} s by rates",
        cluster.racks
    );
}

#[test]
fn a_lone_flow_takes_as_long_as_its_cells() {
    for racks in [24, 64] {
        for bytes in [
            1, 562, 3_000, 30_000, 100_000, 300_000, 1_000_000, 4_000_000,
        ] {
            for words in ["all", "others"] {
                let table = json!({"intermediates": words, "uplinks": 12});
                agree_alone(&cluster(racks, Nic::Uncapped), &table, bytes, 0.07);
            }
        }
    }
}

#[test]
fn so_does_one_that_its_server_sends() {
    for gbps in [10, 100] {
        let nic = Nic::Capped(Rate(gbps * Rate::GBPS.0));
        for bytes in [1, 3_000, 30_000, 300_000] {
            agree_alone(&cluster(64, nic), &json!({"uplinks": 12}), bytes, 0.07);
        }
    }
}

#[test]
fn so_does_one_over_long_fibres_and_in_other_epochs() {
    for table in [
        json!({"propagation": "500 ns", "queue": 8}),
        json!({"propagation": "2.5 us", "queue": 32}),
        json!({"propagation": "2.5 us"}),
        json!({"epoch_slots": 8}),
        json!({"queue": 2}),
    ] {
        for bytes in [562, 30_000, 1_000_000] {
            agree_alone(&cluster(64, Nic::Uncapped), &table, bytes, 0.08);
        }
    }
}

/// When the last of `flows` has arrived [s], by rates.
fn last(cluster: &Cluster, flows: &Flows) -> f64 {
    let (io, _) = simulate(cluster, &json!({"detail": "flows", "uplinks": 12}), flows);
    seconds(&io).into_iter().fold(0.0, f64::max)
}

fn between(racks: u32, pairs: &[(u32, u32)], bytes: u64) -> f64 {
    let mut flows = Flows::new();
    for &(src, dst) in pairs {
        flows.push(HostId(2 * src), HostId(2 * dst), bytes, Time::ZERO);
    }
    last(&cluster(racks, Nic::Uncapped), &flows)
}

/// The flows are so long that latency, at most 5 us, is a thousandth of their time.
#[test]
fn long_flows_share_what_is_carried() {
    const LONG: u64 = 400_000_000;
    let time = |rate: f64| LONG as f64 * 8.0 / rate;
    let near = |took: f64, rate: f64| {
        let expected = time(rate);
        assert!(
            took >= expected && took < expected + 10e-6,
            "{took} s, {expected} s by the closed form"
        );
    };
    let n = 32u32;
    let one = C * 31.0 / 32.0;
    near(between(n, &[(0, 5)], LONG), one);
    let ring: Vec<_> = (0..n).map(|i| (i, (i + 3) % n)).collect();
    near(between(n, &ring, LONG), C / 2.0);
    let incast: Vec<_> = (1..6).map(|i| (i, 0)).collect();
    near(between(n, &incast, LONG), one / 5.0);
    // Every eighth rack is active and relays an eighth of the traffic that it sends. The relayed
    // traffic is updated with a precision of N · C / 256.
    let few: Vec<_> = (0..4).map(|i| (i, (i + 1) % 4)).collect();
    let ratio = between(n, &few, LONG) / time(C / (1.0 + 4.0 / 32.0));
    assert!((ratio - 1.0).abs() < 1.5 / 256.0 + 1e-3, "{ratio}");
}

#[test]
fn flows_of_a_rack_do_not_enter_the_fabric() {
    let inside = |nic, bytes| {
        let mut flows = Flows::new();
        flows.push(HostId(0), HostId(1), bytes, Time::ZERO);
        flows.push(HostId(1), HostId(0), bytes, Time::ZERO);
        let (io, _) = simulate(&cluster(8, nic), &json!({"detail": "flows"}), &flows);
        assert_eq!(io.flows.hops, [0.0, 0.0]);
        io.flows.finish
    };
    // At the rack's 400 Gb/s, each by itself.
    assert_eq!(inside(Nic::Uncapped, 50_000), [Time::US; 2]);
    // The flow takes its time at 80 Gb/s, plus the time of its last cell on the second link.
    let nic = Nic::Capped(Rate(80 * Rate::GBPS.0));
    assert_eq!(inside(nic, 10_000), [Time::NS * 1_000 + Time(56_200); 2]);
    assert_eq!(inside(nic, 100), [Time::NS * 20; 2]);
}

#[test]
fn there_are_no_queues_and_no_failures() {
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(9), 1_000_000, Time::ZERO);
    let c = cluster(8, Nic::Uncapped);
    let site = Site::plain(&c, &flows);
    let table = (ENTRY.resolve)(&json!({"detail": "flows"}), &c).unwrap();
    let mut fabric = (ENTRY.build)(&table, &site).unwrap();
    assert_eq!(fabric.totals(), Totals::default());
    let element = Element::Node(0);
    let refused = fabric.apply(Command::Fail { element, loss: 1.0 });
    assert_eq!(
        refused.unwrap_err().0,
        "sirius models failures by cells only; set fabric.detail = \"cells\", or remove it"
    );
}

/// Progressive filling: all rates rise together, and those over a full link stop.
fn filled(links: &[(Vec<usize>, f64)], flows: usize) -> Vec<f64> {
    let mut rate: Vec<Option<f64>> = vec![None; flows];
    while rate.contains(&None) {
        let full = |(over, capacity): &(Vec<usize>, f64)| {
            let rising = over.iter().filter(|&&f| rate[f].is_none()).count();
            let fixed: f64 = over.iter().filter_map(|&f| rate[f]).sum();
            (rising > 0).then(|| (capacity - fixed) / rising as f64)
        };
        let levels: Vec<Option<f64>> = links.iter().map(full).collect();
        let level = levels
            .iter()
            .flatten()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let stop: Vec<usize> = links
            .iter()
            .zip(&levels)
            .filter(|(_, l)| l.is_some_and(|l| l <= level * (1.0 + 1e-9)))
            .flat_map(|((over, _), _)| over.clone())
            .collect();
        for f in stop {
            rate[f].get_or_insert(level);
        }
    }
    rate.into_iter().flatten().collect()
}

/// Each link of the model with its flows, determined from the flows.
fn links(
    flows: &[(u32, u32)],
    racks: u32,
    nic: Option<f64>,
    relayed: f64,
) -> Vec<(Vec<usize>, f64)> {
    let over = |is: &dyn Fn(u32, u32) -> bool| -> Vec<usize> {
        (0..flows.len())
            .filter(|&f| is(flows[f].0, flows[f].1))
            .collect()
    };
    let n = racks as f64;
    let rack_has = (C - relayed / n).min(C * (n - 1.0) / n);
    let mut all = Vec::new();
    for rack in 0..racks {
        all.push((over(&|s, d| s / 2 == rack && d / 2 != rack), rack_has));
        all.push((over(&|s, d| d / 2 == rack && s / 2 != rack), rack_has));
    }
    for host in 0..2 * racks {
        let Some(nic) = nic else { break };
        all.push((over(&|s, _| s == host), nic));
        all.push((over(&|_, d| d == host), nic));
    }
    let is = |rack: u32| {
        let out = flows.iter().any(|f| f.0 / 2 == rack && f.1 / 2 != rack);
        let into = flows.iter().any(|f| f.1 / 2 == rack && f.0 / 2 != rack);
        (out, into)
    };
    let count = |what| (0..racks).filter(|&k| is(k) == what).count() as f64;
    let (p, q, r) = (
        count((true, false)),
        count((false, true)),
        count((true, true)),
    );
    let (s, d, o) = (p + r, q + r, n - p - q - r);
    let together = o * s.min(d) + (s * d).min((s * d + s * p + q * d) / 2.0);
    all.push((over(&|s, d| s / 2 != d / 2), C / n * together));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn rates_are_those_of_progressive_filling(
        racks in 12u32..16,
        ends in prop::collection::vec((0u32..24, 0u32..24), 1..30),
        nic in prop::option::of(100u64..500),
    ) {
        let ends: Vec<_> = ends.into_iter().filter(|(s, d)| s != d).collect();
        // Without a link of its own a flow of a rack has the rate of the rack.
        let ends: Vec<_> = match nic {
            None => ends.into_iter().filter(|(s, d)| s / 2 != d / 2).collect(),
            Some(_) => ends,
        };
        let mut flows = Flows::new();
        for &(s, d) in &ends {
            flows.push(HostId(s), HostId(d), 1 << 40, Time::ZERO);
        }
        let link = nic.map(|gbps| Rate(gbps * Rate::GBPS.0));
        let cluster = cluster(racks, link.map_or(Nic::Uncapped, Nic::Capped));
        let config = SiriusConfig { uplinks: Some(12), ..SiriusConfig::default() };
        let derived = config.derive(&cluster).unwrap();
        let site = Site::plain(&cluster, &flows);
        let mut driven = FlowDriven::new(SiriusFlows::new(&config, derived, &site));
        let mut io = Io::new(flows.clone());
        driven.advance(Time::MS, &mut io);
        let relayed = driven.kernel().relayed.0 as f64;
        let expected = filled(&links(&ends, racks, link.map(|r| r.0 as f64), relayed), ends.len());
        let all: f64 = (0..ends.len()).filter(|&f| ends[f].0 / 2 != ends[f].1 / 2).map(|f| expected[f]).sum();
        prop_assert!((all - relayed).abs() <= racks as f64 * C / 256.0 * 1.0001, "{} b/s, {} b/s relayed", all, relayed);
        for (f, expected) in expected.into_iter().enumerate() {
            let found = driven.net().rate(FlowId(f as u32)).0 as f64;
            prop_assert!(
                (found - expected).abs() <= 1e-6 * expected + 2.0,
                "flow {}: {} b/s, by the book {} b/s", f, found, expected
            );
        }
    }
}

/// The range in which 99th percentiles of rates agree with those of cells within 15 %: sizes that
/// do not mix short and long flows (exponential), up to a load of 0.3. Nothing is guaranteed
/// outside of this range.
#[test]
fn tails_are_those_of_cells_where_sizes_do_not_mix() {
    let servers = Nic::Capped(Rate(200 * Rate::GBPS.0));
    for (load, nic) in [
        (0.1, Nic::Uncapped),
        (0.3, Nic::Uncapped),
        (0.1, servers),
        (0.3, servers),
    ] {
        let cluster = cluster(24, nic);
        let table = json!({
            "load": load, "flows": 4_000, "pattern": "uniform",
            "sizes": {"kind": "exponential", "mean": "200 KB"},
        });
        let workload: lightloom_workload::WorkloadConfig =
            config::read(&table, "workload").expect("a good table");
        let flows = workload.generate(&cluster, 1).expect("a workload");
        let tail = |detail| {
            let table = json!({ "detail": detail });
            let mut took = seconds(&simulate(&cluster, &table, &flows).0);
            took.sort_by(f64::total_cmp);
            took[took.len() * 99 / 100]
        };
        let (cells, rates) = (tail("cells"), tail("flows"));
        assert!(
            (rates / cells - 1.0).abs() < 0.15,
            "load {load}, {nic:?}: {cells} s by cells, {rates} s by rates"
        );
    }
}
