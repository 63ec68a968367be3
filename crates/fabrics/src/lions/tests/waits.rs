//! Waits under workloads of experiment files.

use super::*;
use lightloom_engine::config;
use lightloom_workload::WorkloadConfig;

/// Time that a packet of 256 B occupies its host at 10 Gb/s: 5 B of header, 17 B of guard.
const SERVICE: f64 = 222.4;

/// Every host is an M/D/1 queue whose packets meet no others: a packet waits ρ/(2(1−ρ)) of its
/// service time. (Regression: a permutation with Poisson arrivals selected its hosts in rounds, and
/// waits were 8 to 15 times too short.)
#[test]
fn a_permutation_waits_as_in_m_d_1() {
    let hosts = 16;
    for (load, theory, within) in [(0.5, 132.1, 0.02), (0.8, 736.0, 0.04), (0.9, 4_797.0, 0.25)] {
        let utilisation = load * SERVICE / 204.8;
        let wait: f64 = SERVICE * utilisation / (2.0 * (1.0 - utilisation));
        assert!((wait / theory - 1.0).abs() < 1e-3, "{load}: {wait} by hand");
        for pattern in [
            json!("permutation"),
            json!({"kind": "permutation", "of": "racks"}),
        ] {
            let table = json!({
                "arrivals": "poisson", "load": load, "pattern": pattern, "flows": 1_000_000,
                "sizes": {"kind": "fixed", "size": "256 B"},
            });
            let workload: WorkloadConfig = config::read(&table, "workload").unwrap();
            let flows = workload.generate(&cluster(hosts), 3).unwrap();
            let table = json!({"architecture": "dlb"});
            let (io, _) = simulate(hosts, &table, flows, Stop::Drain);
            let took = |f: usize| (io.flows.finish[f] - io.flows.arrival[f]).0;
            let all = 0..io.flows.len();
            let alone = all.clone().map(took).min().unwrap();
            let wait = all.map(|f| (took(f) - alone) as f64).sum::<f64>() / 1e9;
            assert!(
                (wait / theory - 1.0).abs() < within,
                "{load}: {wait} ns for {theory}"
            );
        }
    }
}
