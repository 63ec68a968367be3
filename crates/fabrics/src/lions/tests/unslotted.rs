//! The unslotted switch against its closed forms, at several N, k and p.

use super::super::theory::Uniform;
use super::traffic::poisson;
use super::*;

pub fn latency(table: &Value, hosts: u32, load: f64, slots: usize) -> Estimate {
    let flows = poisson(hosts, load, slots, 5);
    let (io, _) = simulate(hosts, table, flows, Stop::Drain);
    Estimate::of(&latencies(&io))
}

/// Packets delivered in a slot at saturation, for each host.
pub fn saturated(table: &Value, hosts: u32) -> Estimate {
    let slots = 256_000 / hosts as usize;
    let flows = poisson(hosts, 1.5, slots, 5);
    let (io, _) = simulate(hosts, table, flows, Stop::At(SLOT * slots as i64));
    Estimate::of(&delivered(&io, hosts, slots))
}

pub fn nack(k: u32, keys: Value) -> Value {
    with(bare("ao-nack", "unslotted", k), keys)
}

/// The formula assumes that the packets of hosts to one output are a Poisson stream, which holds
/// for many hosts.
#[test]
fn a_shared_buffer_with_one_receiver() {
    for (hosts, load, slots, error) in [
        (64, 0.5, 20_000, 0.0),
        (64, 0.9, 60_000, 0.0),
        (16, 0.8, 100_000, 0.01),
        (4, 0.6, 200_000, 0.03),
    ] {
        let theory = Uniform::new(hosts, 1, load).shared_latency();
        let got = latency(&bare("slb", "unslotted", 1), hosts, load, slots);
        got.agrees(theory, error, &format!("N {hosts} p {load}"));
    }
    let known = Uniform::new(64, 1, 0.9).shared_latency();
    assert!((known - 9.93).abs() < 5e-3, "{known}");
}

/// K/(K + 1), for any round trip for which an edge detector suffices.
#[test]
fn nacks_at_saturation() {
    for (hosts, k) in [
        (64, 1),
        (64, 2),
        (64, 4),
        (16, 2),
        (128, 8),
        (16, 16),
        (8, 4),
        (32, 2),
        (32, 8),
    ] {
        let theory = Uniform::new(hosts, k, 1.0).nack_saturation();
        for fibre in ["0 m", "20 m"] {
            let got = saturated(&nack(k, json!({"fibre": fibre})), hosts);
            got.agrees(theory, 0.002, &format!("N {hosts} k {k}, {fibre}"));
        }
    }
    for (k, known) in [(1, 0.504), (2, 0.674), (4, 0.810)] {
        let theory = Uniform::new(64, k, 1.0).nack_saturation();
        assert!((theory - known).abs() < 5e-4, "{k}: {theory}");
    }
}

/// A NACK that returns as its packet ends: 20 m of fibre, β = 1. The propagation
/// there and back is not in the formula.
#[test]
fn nacks_delay_as_computed() {
    for (hosts, k, load) in [
        (64, 4, 0.6),
        (64, 4, 0.3),
        (64, 2, 0.5),
        (64, 1, 0.3),
        (16, 4, 0.5),
        (128, 4, 0.7),
        (8, 4, 0.6),
        (32, 2, 0.4),
    ] {
        let got = latency(&nack(k, json!({"fibre": "20 m"})), hosts, load, 20_000);
        let theory = 1.0 + Uniform::new(hosts, k, load).nack_latency(1.0);
        got.agrees(theory, 0.005, &format!("N {hosts} k {k} p {load}"));
    }
    let known = Uniform::new(64, 4, 0.6).nack_latency(1.0);
    assert!((known - 2.70).abs() < 5e-3, "{known}");
}

/// Without aborting, a host sends a losing packet to its end and only then sends it again. If an
/// edge detector suffices, fibre therefore adds its propagation and nothing else, to the
/// picosecond. The formula with β below 1 would return the packet earlier.
#[test]
fn the_way_there_and_back_does_not_matter_without_aborting() {
    for (hosts, k, load) in [(64, 4, 0.6), (16, 2, 0.4)] {
        let propagation = |metres: i64| Time::NS * (10 * metres);
        let took = |metres: i64| -> Vec<Time> {
            let table = nack(k, json!({"fibre": format!("{metres} m")}));
            let flows = poisson(hosts, load, 4_000, 5);
            let (io, _) = simulate(hosts, &table, flows, Stop::Drain);
            let alone = |t: &Time| *t - propagation(metres);
            io.flows.finish.iter().map(alone).collect()
        };
        let near = took(0);
        assert!(near.len() > 20_000);
        for metres in [10, 20] {
            assert!(took(metres) == near, "N {hosts}: {metres} m");
        }
    }
    let of = |beta: f64| Uniform::new(64, 4, 0.6).nack_latency(beta);
    assert!((of(0.5) - 2.12).abs() < 5e-3, "{}", of(0.5));
}

/// With aborting, a packet is sent again, at multiples of β, while the packet that it met may still
/// occupy the receiver. The formula is exact except for later collisions if 1/β is an integer; at β
/// = 3/4 its error is up to 4 %.
#[test]
fn aborting_helps_as_computed() {
    for (hosts, k, load) in [
        (64, 4, 0.6),
        (64, 4, 0.3),
        (64, 2, 0.5),
        (64, 1, 0.3),
        (16, 2, 0.4),
        (128, 8, 0.6),
    ] {
        for (beta, error) in [(0.25, 0.006), (0.5, 0.004), (0.75, 0.04)] {
            let keys = json!({"fibre": format!("{} m", 20.0 * beta), "abort_on_nack": true});
            let got = latency(&nack(k, keys), hosts, load, 1_280_000 / hosts as usize);
            let by_formula = Uniform::new(hosts, k, load);
            let theory = beta + by_formula.nack_latency_aborting(beta);
            let what = format!("N {hosts} k {k} p {load} β {beta}");
            got.agrees(theory, error, &what);
            // The result with independent attempts, which is better.
            let best = beta + by_formula.nack_latency(beta);
            got.is_from(best, f64::INFINITY, &what);
        }
    }
    for load in [0.3, 0.6] {
        let by_formula = Uniform::new(64, 4, load);
        let (one, all) = (
            by_formula.nack_latency(1.0),
            by_formula.nack_latency_aborting(1.0),
        );
        assert!((one - all).abs() < 1e-12, "{one} {all}");
    }
}

/// One destination of many hosts: its k receivers are busy. With AO-NACK each host tries a free
/// receiver once per slot, at its own phase, so with n hosts at most 1/n of a slot is lost on
/// average.
#[test]
fn a_hot_spot_gets_as_many_packets_as_it_has_receivers() {
    for (architecture, hosts, k) in [
        ("dlb", 64, 4),
        ("dlb", 64, 2),
        ("dlb", 64, 1),
        ("dlb", 16, 2),
        ("dlb", 128, 8),
        ("mlb", 64, 4),
        ("mlb", 24, 2),
        ("mlb", 16, 4),
        ("ao-nack", 64, 4),
        ("ao-nack", 64, 1),
        ("ao-nack", 16, 2),
        ("ao-nack", 128, 8),
    ] {
        let (slots, all) = (4_000, k as f64);
        let mut flows = poisson(hosts, 1.5 * all / hosts as f64, slots, 3);
        flows.dst.fill(lightloom_engine::HostId(9));
        let table = bare(architecture, "unslotted", k);
        let (io, _) = simulate(hosts, &table, flows, Stop::At(SLOT * slots as i64));
        let got = Estimate::of(&delivered(&io, 1, slots));
        let n = (hosts / k) as f64;
        let least = match architecture {
            "ao-nack" => all * n / (n + 1.0),
            _ => 0.998 * all,
        };
        got.is_from(least, all, &format!("{architecture} N {hosts} k {k}"));
        // Nor is the throughput higher in any interval, because there are only k receivers. One
        // packet per receiver may have partly arrived before the first counted slot.
        let steady = 7 * slots / 8;
        assert!(got.mean <= all * (1.0 + 1.0 / steady as f64), "{got:?}");
    }
}

/// The shared buffer keeps one receiver busy. Each of the other receivers gets a = 1.5 packets per
/// slot from n hosts and receives those that find it free; a host's packets are not blocked by its
/// own. Approximately, as for a Poisson stream, x = a(1 − (n − 1)/n x).
#[test]
fn a_hot_spot_behind_a_shared_buffer() {
    for (hosts, k) in [(64, 4), (64, 2), (32, 2), (128, 8)] {
        let (all, n) = (k as f64, (hosts / k) as f64);
        let mut flows = poisson(hosts, 1.5 * all / hosts as f64, 8_000, 3);
        flows.dst.fill(lightloom_engine::HostId(9));
        let table = bare("slb", "unslotted", k);
        let (io, _) = simulate(hosts, &table, flows, Stop::At(SLOT * 8_000));
        let got = Estimate::of(&delivered(&io, 1, 8_000));
        let heard = 1.5 / (1.0 + 1.5 * (n - 1.0) / n);
        got.agrees(1.0 + (all - 1.0) * heard, 0.01, &format!("N {hosts} k {k}"));
    }
}
