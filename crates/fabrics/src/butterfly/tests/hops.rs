//! Routers visited: 1 + Σ (1 − 1/k) over the dimensions, for uniform destinations that include the
//! sender.

use super::traffic::{packets, Pattern};
use super::*;

/// Mean and standard error of the routers that packets visited.
fn visited(hosts: u32, table: &Value) -> (f64, f64) {
    let flows = packets(Pattern::Uniform, hosts, 0.3, (64, 8), 20_000);
    let (io, _) = simulate(hosts, table, flows, Time::S);
    let hops: Vec<f64> = io.flows.hops.iter().map(|&h| h as f64).collect();
    let n = hops.len() as f64;
    let mean = hops.iter().sum::<f64>() / n;
    let variance = hops.iter().map(|h| (h - mean).powi(2)).sum::<f64>() / n;
    (mean, (variance / n).sqrt())
}

/// No host sends to itself: of N − 1 others, N − N/k are elsewhere in a dimension.
#[test]
fn average_routers_on_uniform_traffic() {
    let lions = 1.0 + 2.0 * (1.0 - 1.0 / 4.0);
    assert_eq!(lions, 2.5);
    for (hosts, c, sizes) in [
        (64u32, 4, vec![4, 4]),
        (60, 2, vec![5, 3, 2]),
        (16, 4, vec![4]),
    ] {
        let keys = json!({"routers": sizes, "concentration": c});
        let (mean, error) = visited(hosts, &bare("dimension-order", keys));
        let anybody: f64 = 1.0 + sizes.iter().map(|&k| 1.0 - 1.0 / k as f64).sum::<f64>();
        let n = hosts as f64;
        // The sender itself is one of the N destinations, for which 1 router is visited.
        let others = (anybody * n - 1.0) / (n - 1.0);
        assert!((mean - others).abs() < 4.0 * error, "{mean} for {others}");
        assert!(error < 0.01);
    }
}

/// Valiant: two uniform destinations in a row. The intermediate router may be either end.
#[test]
fn valiant_visits_as_many_routers_twice() {
    let (mean, error) = visited(64, &bare("valiant", json!({})));
    let expected = 1.0 + 2.0 * 1.5;
    // To the intermediate router it takes 1.5 wires, and the same from there, because the
    // destination may be at any router.
    assert!(
        (mean - expected).abs() < 4.0 * error,
        "{mean} for {expected}"
    );
}

/// UGAL stays on the shortest path while that path is empty.
#[test]
fn ugal_is_minimal_without_load() {
    let table = bare("ugal", json!({}));
    let flows = packets(Pattern::Uniform, 64, 0.002, (64, 8), 100_000);
    let (io, fabric) = simulate(64, &table, flows, Time::S);
    let t = &fabric.kernel().topology;
    let mut detours = 0;
    for (f, &hops) in io.flows.hops.iter().enumerate() {
        let (src, dst) = (io.flows.src[f].index(), io.flows.dst[f].index());
        detours += (hops as usize != 1 + t.distance(t.router(src), t.router(dst))) as usize;
    }
    assert!(io.flows.len() > 1_000);
    assert!(detours * 100 <= io.flows.len(), "{detours}");
}
