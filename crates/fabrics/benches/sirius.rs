//! Speed of the Sirius kernel: cell-hops per second of kernel time.

use lightloom_engine::run::{run, Plan, Silent, Stop};
use lightloom_engine::*;
use lightloom_fabrics::{find, Site};
use serde_json::json;

fn pareto(cluster: &Cluster, flows: u32, load: f64, seed: u64) -> Flows {
    let (mut sizes, mut gaps, mut ends) = (
        Stream::new(seed, "s", 0),
        Stream::new(seed, "g", 0),
        Stream::new(seed, "e", 0),
    );
    let scale = 100e3 * 0.05 / 1.05;
    let tau = 100e3 * 8.0 / (cluster.server_rate.0 as f64 * cluster.hosts() as f64 * load) * 1e12;
    let mut t = 0.0;
    let mut f = Flows::new();
    for _ in 0..flows {
        t += -tau * (1.0 - gaps.unit()).ln();
        let bytes = (scale / (1.0 - sizes.unit()).powf(1.0 / 1.05)).round() as u64;
        let src = ends.below(cluster.hosts());
        let dst = (src + 1 + ends.below(cluster.hosts() - 1)) % cluster.hosts();
        f.push(HostId(src), HostId(dst), bytes.max(1), Time(t as i64));
    }
    f
}

fn permutation(cluster: &Cluster, bytes: u64) -> Flows {
    let mut f = Flows::new();
    for rack in 0..cluster.racks {
        let dst = (rack + 1 + rack % 2 * 6) % cluster.racks;
        f.push(
            HostId(rack * cluster.servers_per_rack),
            HostId(dst * cluster.servers_per_rack),
            bytes,
            Time::ZERO,
        );
    }
    f
}

fn measure(
    name: &str,
    cluster: &Cluster,
    table: serde_json::Value,
    flows: Flows,
    stop: Stop,
    threads: usize,
) {
    let entry = find("sirius").unwrap();
    let table = (entry.resolve)(&table, cluster).unwrap();
    let site = Site {
        cluster,
        flows: &flows,
        seed: 1,
        threads,
    };
    let mut fabric = (entry.build)(&table, &site).unwrap();
    let mut io = Io::new(flows);
    let plan = Plan {
        stop,
        limit: Time::S,
        sample: None,
        faults: vec![],
    };
    let out = run(fabric.as_mut(), &mut io, &plan, &mut Silent).unwrap();
    let hops = out.totals.cell_hops.unwrap() as f64;
    println!(
        "{:40} threads {threads} {:8.1} M cell-hops/s  {:6.3} s  {:.0} M hops  goodput {:.4} of base  sim {:.1} us done {} qpeak {:?} reorder {:?}",
        format!("{name} u{}", table["uplinks"]),
        hops / out.kernel_s / 1e6,
        out.kernel_s,
        hops / 1e6,
        io.ledger.delivered as f64 * 8.0
            / (cluster.rack_rate().0 as f64 * cluster.racks as f64 * out.simulated.as_secs_f64()),
        out.simulated.as_secs_f64() * 1e6,
        io.ledger.flows_completed,
        out.totals.queue_peak_bytes, out.totals.reorder_peak_bytes,
    );
}

fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    let want = |name: &str| name.contains(&only) || only == "--bench";
    let cluster = |racks, rack_gbps: u64| Cluster {
        racks,
        servers_per_rack: 24,
        server_rate: Rate(rack_gbps * Rate::GBPS.0 / 24),
        nic: Nic::Uncapped,
    };
    let paper = cluster(128, 400);
    if want("paper") {
        measure(
            "paper 128",
            &paper,
            json!({}),
            pareto(&paper, 200_000, 0.5, 1),
            Stop::LastArrival,
            1,
        );
    }
    if want("tiny") {
        measure(
            "tiny",
            &paper,
            json!({}),
            pareto(&paper, 10_000, 0.5, 1),
            Stop::LastArrival,
            1,
        );
    }
    if want("drain") {
        measure(
            "paper 128 drain",
            &paper,
            json!({}),
            pareto(&paper, 200_000, 0.5, 1),
            Stop::Drain,
            1,
        );
    }
    if want("perm") {
        for u in [8, 12, 16] {
            let t = json!({"uplinks": u});
            measure(
                "permutation",
                &paper,
                t,
                permutation(&paper, 1 << 30),
                Stop::At(Time::MS * 3),
                1,
            );
        }
        for plan in ["mixed", "wide"] {
            for u in [8, 12, 16] {
                let t = json!({"uplinks": u, "uplink_plan": plan});
                measure(
                    plan,
                    &paper,
                    t,
                    permutation(&paper, 1 << 30),
                    Stop::At(Time::MS * 3),
                    1,
                );
            }
        }
    }
    if want("low") {
        measure(
            "paper 128 L=.05",
            &paper,
            json!({}),
            pareto(&paper, 200_000, 0.05, 1),
            Stop::LastArrival,
            1,
        );
    }
    if want("big") {
        let c = cluster(4096, 12_800);
        for t in [1] {
            measure(
                "4096 racks",
                &c,
                json!({}),
                pareto(&c, 1_000_000, 0.5, 1),
                Stop::LastArrival,
                t,
            );
        }
    }
    if want("512") {
        let c = cluster(512, 1600);
        measure("512 racks", &c, json!({}), pareto(&c, 100_000, 0.5, 1), Stop::LastArrival, 1);
    }
    if want("scale") {
        for (racks, gbps) in [(512, 1600), (1024, 3200)] {
            let c = cluster(racks, gbps);
            for t in [1] {
                measure(
                    "scale",
                    &c,
                    json!({}),
                    pareto(&c, 400_000, 0.5, 1),
                    Stop::LastArrival,
                    t,
                );
            }
        }
    }
}
