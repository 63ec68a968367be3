//! The speed of the kernel on the paper's simulation.

use super::*;
use serde_json::json;

/// The workload of Sirius §7 at load `load`: Pareto(1.05, 100 KB), Poisson, uniform.
pub fn paper(load: f64, count: u32) -> (Cluster, Flows) {
    let cluster = Cluster {
        racks: 128,
        servers_per_rack: 24,
        server_rate: Rate(400 * Rate::GBPS.0 / 24),
        nic: Nic::Uncapped,
    };
    let hosts = cluster.hosts();
    let mut rng = Stream::new(1, "paper", 0);
    let gap = 800e3 / (cluster.server_rate.0 as f64 * hosts as f64 * load) * 1e12;
    let (mut at, mut flows) = (0.0, Flows::new());
    for _ in 0..count {
        at += -(1.0 - rng.unit()).ln() * gap;
        let bytes = (1.0 - rng.unit()).powf(-1.0 / 1.05) * 100e3 * 0.05 / 1.05;
        let src = rng.below(hosts);
        let dst = other(&mut rng, hosts, src);
        flows.push(
            HostId(src),
            HostId(dst),
            bytes.ceil() as u64,
            Time(at as i64),
        );
    }
    (cluster, flows)
}

/// `cargo test --release -p lightloom-fabrics clos_speed -- --ignored --nocapture`
#[test]
#[ignore = "prints a table"]
fn clos_speed() {
    for (name, table) in [
        ("ideal", json!({})),
        ("3:1", json!({"oversubscription": 3.0})),
        (
            "3:1 rack",
            json!({"oversubscription": 3.0, "oversubscription_at": "rack"}),
        ),
        (
            "latency",
            json!({"propagation": "500 ns", "switch_latency": "500 ns"}),
        ),
    ] {
        for load in [0.1, 0.5, 0.9] {
            let (cluster, flows) = paper(load, 200_000);
            let (io, outcome) = simulate(&cluster, &table, flows, Stop::LastArrival);
            let took = |f: &usize| (io.flows.finish[*f] - io.flows.arrival[*f]).0;
            let short =
                |f: &usize| io.flows.bytes[*f] < 100_000 && io.flows.finish[*f] != Time::NEVER;
            let mut fct: Vec<i64> = (0..io.flows.len())
                .filter(short)
                .map(|f| took(&f))
                .collect();
            fct.sort_unstable();
            let hops = outcome.totals.packet_hops.unwrap() as f64;
            println!(
                "{name:8} L {load}: {:6.1} M packet-hops/s, {:5.1} M hops in {:.2} s, {} done, \
                 goodput {:.3}, short p99 {:.2} us, queue {} KB, reorder {:?}",
                hops / outcome.kernel_s / 1e6,
                hops / 1e6,
                outcome.kernel_s,
                io.ledger.flows_completed,
                io.ledger.delivered as f64 * 8.0
                    / (outcome.shape.host_rate.0 as f64
                        * outcome.shape.hosts as f64
                        * outcome.simulated.as_secs_f64()),
                fct[fct.len() * 99 / 100] as f64 / 1e6,
                outcome.totals.queue_peak_bytes.unwrap() / 1000,
                outcome.totals.reorder_peak_bytes,
            );
        }
    }
}
