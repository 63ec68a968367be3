//! c-Through at the size of §7.3.

use super::*;
use lightloom_engine::Stream;
use lightloom_workload::WorkloadConfig;

/// Bytes of a report for one destination rack [B] (§7.3).
const REPORT_BYTES: u64 = 4;

const LARGE: Cluster = Cluster {
    racks: 1_000,
    servers_per_rack: 40,
    server_rate: Rate::GBPS,
    nic: Nic::Capped(Rate::GBPS),
};

/// §7.3: a rack with demand for all others is connected to the last of 1,000 racks after 999
/// periods. The tree has almost no capacity, so it serves no pair before.
#[test]
fn the_last_of_a_hundred_racks_waits_for_99_periods() {
    let cluster = Cluster {
        racks: 100,
        servers_per_rack: 4,
        ..LARGE
    };
    // Bytes that a circuit carries in a period, minus the tenth of the link that other queues have.
    let rows: Vec<Row> = (1..100)
        .flat_map(|rack| (0..4).map(move |s| (s, rack * 4 + s, 110_000_000, Time::ZERO)))
        .collect();
    let table = ideal(json!({"oversubscription": 1_000.0, "socket_buffer": "300 MB"}));
    let mut bench = Bench::new(&cluster, table, &rows);
    bench.until(110_000);
    let visits: Vec<_> = bench.circuits().into_iter().filter(|c| c.0 == 0).collect();
    let mut visited: Vec<u32> = visits.iter().map(|c| c.1).collect();
    assert_eq!(visits[98].2, 99_010);
    visited.truncate(99);
    visited.sort_unstable();
    visited.dedup();
    assert_eq!(visited.len(), 99);
}

/// §7.3: with the threshold of 1 MB the reports of a MapReduce job are a small
/// part of the worst case, in which every server reports every rack.
/// `cargo test -p lightloom-fabrics a_sort_reports -- --nocapture` prints it.
#[test]
fn a_sort_reports_little_of_what_it_could() {
    let workload: WorkloadConfig = config::read(&json!({"jobs": ["sort"]}), "workload").unwrap();
    let workload = workload.resolve(&TESTBED).unwrap();
    let mut bench = Bench::new(&TESTBED, json!({}), &[]);
    let flows = workload.generate(&TESTBED, 1).unwrap();
    let table = (ENTRY.resolve)(&json!({}), &TESTBED).unwrap();
    let config: CThroughConfig = config::read(&table, "fabric").unwrap();
    bench.fabric = FlowDriven::new(Hybrid::new(config.setup(&TESTBED), flows.len()));
    bench.io = Io::new(flows);
    let mut seconds = 0;
    while bench.io.ledger.flows_completed < bench.io.flows.len() as u64 {
        seconds += 1;
        assert!(seconds < 1_000, "the job does not end");
        bench.until(seconds * 1_000);
    }
    let (racks, hosts) = (TESTBED.racks as u64, TESTBED.hosts() as u64);
    let worst = seconds as u64 * hosts * racks * REPORT_BYTES;
    let told = bench.fabric.kernel().controller().estimator().reported() * REPORT_BYTES;
    println!(
        "a sort of {seconds} s reports {told} B, {:.1} % of the worst",
        told as f64 * 100.0 / worst as f64
    );
    assert!(told > 0 && told < worst / 2);
}

/// `cargo test --release -p lightloom-fabrics cthrough::tests::scale -- --ignored --nocapture`
#[test]
#[ignore = "prints a table"]
fn a_thousand_racks() {
    println!(
        "1,000 racks × 40 servers: flows within the first second; simulated, computed [s]; done"
    );
    for flows in [10_000u32, 20_000, 40_000, 100_000] {
        let mut rng = Stream::new(1, "pairs", 0);
        let rows: Vec<Row> = (0..flows)
            .map(|_| {
                let src = rng.below(40_000);
                let rack = (src / 40 + 1 + rng.below(999).min(rng.below(999))) % 1_000;
                let bytes = 50_000_000 + rng.below(100_000_000) as u64;
                let at = Time(rng.below(1_000_000) as i64 * 1_000_000);
                (src, rack * 40 + rng.below(40), bytes, at)
            })
            .collect();
        let mut bench = Bench::new(&LARGE, json!({}), &rows);
        let clock = std::time::Instant::now();
        for ms in [500, 1_000, 1_005, 1_020, 2_000, 4_000, 8_000] {
            bench.until(ms);
            let done = bench.io.ledger.flows_completed;
            let took = clock.elapsed().as_secs_f64();
            println!("{flows:7} {:7.3} {took:7.2} {done:7}", ms as f64 / 1e3);
        }
    }
}
