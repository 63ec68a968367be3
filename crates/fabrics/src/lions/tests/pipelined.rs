//! AO-NACK with NACKs that take longer than a packet (L/2D < 1), at several N, k
//! and times of NACKs.

use super::super::theory::Uniform;
use super::unslotted::{latency, nack, saturated};
use super::*;
use lightloom_engine::Stream;

/// Fibre over which a NACK takes that many slots.
fn fibre(beta: f64) -> Value {
    json!({"fibre": format!("{} m", 20.0 * beta)})
}

/// Packets that a saturated host delivers per slot, by another model. In each round trip a host
/// sends in its own slots, at a fixed phase: a packet that was returned in the same slot of the
/// last round trip, otherwise a packet to a random host. This holds for any delay of a NACK, so
/// round trips are computed one after another, without a clock: a receiver accepts the first
/// packet, then the next that comes at least a slot later.
fn round_trips(hosts: u32, k: u32) -> f64 {
    const ALL: u32 = 90;
    const STEADY: u32 = 60;
    let mut rng = Stream::new(3, "test.round_trips", 0);
    let mut phases: Vec<f64> = (0..hosts).map(|_| rng.unit()).collect();
    phases.sort_by(f64::total_cmp);
    // The phases of hosts are independent of their groups.
    let mut group: Vec<u32> = (0..hosts).map(|h| h * k / hosts).collect();
    for i in (1..group.len()).rev() {
        group.swap(i, rng.below(i as u32 + 1) as usize);
    }
    let n = hosts as usize;
    let mut aims: Vec<u32> = (0..64_000 / hosts * hosts)
        .map(|_| rng.below(hosts))
        .collect();
    let mut heard = 0;
    for trip in 0..ALL {
        let mut free = vec![0.0; n * k as usize];
        for (i, aim) in aims.iter_mut().enumerate() {
            let at = (i / n) as f64 + phases[i % n];
            let receiver = &mut free[(*aim * k + group[i % n]) as usize];
            if *receiver <= at {
                *receiver = at + 1.0;
                *aim = rng.below(hosts);
                heard += (trip >= ALL - STEADY) as u32;
            }
        }
    }
    heard as f64 / (aims.len() as u32 * STEADY) as f64
}

/// The throughput is lower than K/(K + 1), because packets in flight accumulate at busy outputs; it
/// does not depend on the time of a NACK.
#[test]
fn saturation_with_packets_in_flight() {
    for (hosts, k, known) in [
        (64, 1, Some(0.464)),
        (64, 2, Some(0.647)),
        (64, 4, Some(0.798)),
        (16, 2, None),
        (128, 8, None),
        (256, 1, None),
    ] {
        let theory = round_trips(hosts, k);
        let one_at_a_time = Uniform::new(hosts, k, 1.0).nack_saturation();
        assert!(theory < one_at_a_time - 0.003, "{theory} {one_at_a_time}");
        if let Some(known) = known {
            assert!((theory - known).abs() < 2e-3, "N {hosts} k {k}: {theory}");
        }
        for beta in [1.5, 2.0, 4.0] {
            let got = saturated(&nack(k, fibre(beta)), hosts);
            got.agrees(theory, 0.003, &format!("N {hosts} k {k} β {beta}"));
        }
    }
}

/// The formula assumes independent attempts and is a lower bound, whose error grows with the share
/// of attempts that lose. The additional β is the propagation to the destination.
#[test]
fn latency_with_packets_in_flight() {
    for (hosts, k, load, beta, error) in [
        (64, 4, 0.3, 1.5, 0.015),
        (64, 4, 0.3, 2.0, 0.010),
        (64, 4, 0.3, 3.0, 0.005),
        (64, 1, 0.2, 2.0, 0.025),
        (64, 2, 0.4, 3.0, 0.030),
        (64, 4, 0.6, 2.0, 0.060),
        (128, 8, 0.6, 2.0, 0.020),
        (16, 2, 0.4, 2.0, 0.035),
    ] {
        let theory = beta + Uniform::new(hosts, k, load).nack_latency_pipelined(beta);
        let got = latency(
            &nack(k, fibre(beta)),
            hosts,
            load,
            1_280_000 / hosts as usize,
        );
        let what = format!("N {hosts} k {k} p {load} β {beta}");
        got.is_from(theory, theory * (1.0 + error), &what);
    }
}
