//! The slotted switch against its closed forms, at several N, k and p.

use super::super::theory::{retrying, Uniform};
use super::traffic::bernoulli;
use super::*;

fn throughput(table: &Value, hosts: u32, load: f64, slots: usize) -> Estimate {
    let flows = bernoulli(hosts, load, slots, 7);
    let (io, _) = simulate(hosts, table, flows, Stop::At(SLOT * slots as i64));
    Estimate::of(&delivered(&io, hosts, slots))
}

/// Slots from the one in which a packet first asks to that in which it is sent.
fn wait(table: &Value, hosts: u32, load: f64, slots: usize) -> Estimate {
    let flows = bernoulli(hosts, load, slots, 11);
    let (io, _) = simulate(hosts, table, flows, Stop::Drain);
    let waits: Vec<f64> = latencies(&io).iter().map(|l| l - 1.0).collect();
    Estimate::of(&waits)
}

/// k(1 − P₀), at saturation and below it.
#[test]
fn dropped_losers() {
    for (hosts, k, load) in [
        (64, 1, 1.0),
        (64, 2, 1.0),
        (64, 4, 1.0),
        (16, 2, 0.7),
        (12, 12, 0.9),
    ] {
        let got = throughput(&bare("drop", "slotted", k), hosts, load, 4_000);
        let theory = Uniform::new(hosts, k, load).dropping();
        got.agrees(theory, 0.0, &format!("N {hosts} k {k} p {load}"));
    }
    // As the literature has them.
    for (k, known) in [(1, 0.635), (2, 0.792), (4, 0.891)] {
        let theory = Uniform::new(64, k, 1.0).dropping();
        assert!((theory - known).abs() < 5e-4, "{k}: {theory}");
    }
}

/// Hosts that send the same packet again: N → ∞ by formula, N = 64 as known.
#[test]
fn retried_losers() {
    for (k, known) in [(1, 0.590), (2, 0.770), (4, 0.885)] {
        let table = bare("ao-nack", "slotted", k);
        throughput(&table, 64, 1.0, 4_000).agrees(known, 1e-3, &format!("N 64 k {k}"));
        // 1/N of the way to infinity is left.
        throughput(&table, 512, 1.0, 1_000).agrees(retrying(k), 2e-3, &format!("N 512 k {k}"));
    }
    for (k, known) in [(1, 0.586), (2, 0.764), (4, 0.877)] {
        assert!((retrying(k) - known).abs() < 5e-4);
    }
}

#[test]
fn loop_back_buffers_carry_everything() {
    for (architecture, k, load) in [("slb", 1, 0.97), ("slb", 2, 1.0), ("slb", 4, 1.0)] {
        let got = throughput(&bare(architecture, "slotted", k), 64, load, 6_000);
        got.agrees(load, 0.0, &format!("{architecture} {k}"));
    }
    for (hosts, k) in [(64, 2), (64, 4), (16, 2)] {
        let got = throughput(&bare("dlb", "slotted", k), hosts, 1.0, 4_000);
        got.agrees(1.0, 0.0, &format!("dlb {hosts} {k}"));
    }
}

/// With one receiver m transmitters do not suffice: .85, .92, .96.
#[test]
fn distributed_buffers_with_one_receiver_are_held_up_by_their_transmitters() {
    for (m, known) in [(1, 0.85), (2, 0.92), (4, 0.96)] {
        let table = with(bare("dlb", "slotted", 1), json!({"transmitters": m}));
        let got = throughput(&table, 64, 1.0, 8_000);
        got.agrees(known, 0.006, &format!("m {m}"));
    }
}

/// The mean wait of the shared buffer is exact.
#[test]
fn shared_buffers_delay_as_computed() {
    for (hosts, k, load, slots) in [
        (64, 1, 0.5, 8_000),
        (64, 2, 0.5, 16_000),
        (64, 4, 0.5, 30_000),
        (64, 1, 0.9, 60_000),
        (64, 2, 0.9, 8_000),
        (64, 4, 0.9, 12_000),
        (4, 1, 0.8, 200_000),
        (4, 2, 0.8, 200_000),
        (16, 8, 0.95, 60_000),
    ] {
        let got = wait(&bare("slb", "slotted", k), hosts, load, slots);
        let theory = Uniform::new(hosts, k, load).shared_wait();
        got.agrees(theory, 0.0, &format!("N {hosts} k {k} p {load}"));
    }
    for (hosts, k, load, known) in [
        (64, 1, 0.5, 0.492),
        (64, 2, 0.5, 0.166),
        (64, 4, 0.5, 0.068),
        (64, 1, 0.9, 4.430),
        (64, 2, 0.9, 0.452),
        (64, 4, 0.9, 0.144),
        (4, 1, 0.8, 1.50),
        (4, 2, 0.8, 0.175),
    ] {
        let theory = Uniform::new(hosts, k, load).shared_wait();
        assert!(
            (theory - known).abs() < 6e-4,
            "{hosts} {k} {load}: {theory}"
        );
    }
}

/// The mean wait of the distributed buffers is approximate: 10 % at most where
/// k = 2 and p = 0.9, less elsewhere.
#[test]
fn distributed_buffers_delay_about_as_computed() {
    for (hosts, k, load, error) in [
        (64, 2, 0.5, 0.03),
        (64, 2, 0.9, 0.10),
        (64, 4, 0.5, 0.03),
        (64, 4, 0.9, 0.03),
        (16, 2, 0.5, 0.04),
        (16, 4, 0.8, 0.05),
    ] {
        let slots = if hosts == 64 { 16_000 } else { 60_000 };
        let got = wait(&bare("dlb", "slotted", k), hosts, load, slots);
        let theory = Uniform::new(hosts, k, load).distributed_wait();
        got.agrees(theory, error, &format!("N {hosts} k {k} p {load}"));
    }
}

/// Groups of every k-th input put all hosts of a distributed buffer into one
/// half of the groups.
#[test]
fn interleaved_groups_delay_longer() {
    let wait = |rule: &str| {
        let table = with(bare("dlb", "slotted", 2), json!({"group_rule": rule}));
        wait(&table, 64, 0.8, 8_000).mean
    };
    let ratio = wait("interleaved") / wait("contiguous");
    assert!(ratio > 1.3, "{ratio}");
}
