//! The time that loop-back buffers add, unslotted, at several N, k and p. The wait at a host does
//! not depend on the switch, so it can be subtracted packet by packet; the rest is the time that
//! stored packets spend in the buffer, which is barely visible in latencies.

use super::super::theory::Uniform;
use super::traffic::{poisson, poisson_in};
use super::*;

/// Time of packets from their transmission by the host, minus `alone` [slots].
fn beyond(io: &Io, hosts: u32, slot: Time, alone: Time) -> Vec<f64> {
    let mut free = vec![Time::ZERO; hosts as usize];
    let excess = |f: usize| {
        let free = &mut free[io.flows.src[f].0 as usize];
        let sent = io.flows.arrival[f].max(*free);
        *free = sent + slot;
        (io.flows.finish[f] - sent - alone).0 as f64 / slot.0 as f64
    };
    (0..io.flows.len()).map(excess).collect()
}

/// Share of packets that were stored, which pass the grating twice.
fn stored(io: &Io) -> Estimate {
    let again: Vec<f64> = io.flows.hops.iter().map(|&h| h as f64 - 1.0).collect();
    Estimate::of(&again)
}

fn bare_run(architecture: &str, hosts: u32, k: u32, load: f64, keys: Value) -> Io {
    let flows = poisson(hosts, load, 2_500_000 / hosts as usize, 5);
    let table = with(bare(architecture, "unslotted", k), keys);
    simulate(hosts, &table, flows, Stop::Drain).0
}

/// The formulas are of first order and for many hosts; their error is not visible within these
/// intervals of 0.5 to 4 %.
#[test]
fn distributed_buffers_cost_as_computed() {
    for (architecture, hosts, k, load) in [
        ("dlb", 64, 2, 0.5),
        ("dlb", 64, 2, 0.9),
        ("dlb", 64, 4, 0.5),
        ("dlb", 64, 4, 0.9),
        ("dlb", 16, 2, 0.6),
        ("dlb", 128, 8, 0.8),
        ("mlb", 64, 4, 0.9),
    ] {
        let io = bare_run(architecture, hosts, k, load, json!({}));
        let theory = Uniform::new(hosts, k, load);
        let what = format!("{architecture} N {hosts} k {k} p {load}");
        stored(&io).agrees(theory.distributed_lost(), 0.0, &what);
        let cost = Estimate::of(&beyond(&io, hosts, SLOT, SLOT));
        cost.agrees(theory.distributed_detour(0.0), 0.0, &what);
    }
}

/// A packet that is stored completely sends its request one packet time later. The burst in which
/// it lost has then progressed, which shortens its wait by up to a sixth.
#[test]
fn packets_that_are_stored_whole_wait_less_afterwards() {
    for (hosts, k, load) in [(64, 2, 0.5), (64, 2, 0.9), (64, 4, 0.9), (16, 2, 0.6)] {
        let io = bare_run("dlb", hosts, k, load, json!({"cut_through": false}));
        let theory = Uniform::new(hosts, k, load);
        let lost = theory.distributed_lost();
        let cost = Estimate::of(&beyond(&io, hosts, SLOT, SLOT));
        let most = lost * (1.0 + theory.distributed_retry(0.0));
        cost.is_from(
            theory.distributed_detour(1.0),
            most,
            &format!("N {hosts} k {k} p {load}"),
        );
    }
}

/// Approximate: within 1 % where a wavegroup has 16 hosts, 5 % where it has 4.
#[test]
fn shared_buffers_cost_about_as_computed() {
    for (hosts, k, load, error) in [
        (64, 1, 0.5, 0.0),
        (64, 2, 0.3, 0.01),
        (64, 2, 0.9, 0.01),
        (64, 4, 0.5, 0.01),
        (64, 4, 0.9, 0.01),
        (128, 8, 0.8, 0.01),
        (16, 2, 0.6, 0.03),
        (16, 4, 0.8, 0.05),
    ] {
        let io = bare_run("slb", hosts, k, load, json!({}));
        let theory = Uniform::new(hosts, k, load).shared_detour();
        let cost = Estimate::of(&beyond(&io, hosts, SLOT, SLOT));
        cost.agrees(theory, error, &format!("N {hosts} k {k} p {load}"));
    }
}

/// §IV with defaults: 256 B at 10 Gb/s over 10 m, 64 hosts, k = 4, converters that tune for 10 ns,
/// and a share of the line rate in payload. The formulas give the latency [ns] and the additional
/// time of AO-NACK at half the line rate. The detour deviates by the second order in load/k, 1 % if
/// that is nearly 1/4.
#[test]
fn the_latency_that_the_paper_draws() {
    let (wire, slot) = (Time(208_800), Time(222_400));
    let ns = |slots: f64| slots * slot.0 as f64 / 1e3;
    let slots = |t: Time| t.0 as f64 / slot.0 as f64;
    let alone = wire + Time::NS * 110;
    for (share, cut_through, known, error) in [
        (0.5, true, 455.5, 0.0),
        (0.7, true, 679.4, 0.0),
        (0.85, true, 1664.2, 0.01),
        (0.5, false, 481.8, 0.01),
    ] {
        let load = share * 278.0 / 256.0;
        let table = json!({"architecture": "dlb", "cut_through": cut_through});
        let flows = poisson_in(slot, 256, 64, load, 40_000, 5);
        let (io, _) = simulate(64, &table, flows, Stop::Drain);
        let before = Time::NS * 10 + if cut_through { Time::ZERO } else { wire };
        let theory = Uniform::new(64, 4, load);
        let what = format!("{share} {cut_through}");
        let cost = Estimate::of(&beyond(&io, 64, slot, alone));
        let detour = theory.distributed_detour(slots(before));
        cost.agrees(detour, error, &what);
        let all = theory.distributed_latency(slots(alone), slots(before));
        Estimate::of(&latencies_in(slot, &io)).agrees(all, 0.0, &what);
        assert!((ns(all) - known).abs() < 0.1, "{what}: {}", ns(all));
    }
    let nack = Uniform::new(64, 4, 0.5 * 278.0 / 256.0).nack_latency(1.0) - 1.0;
    let nack = ns(nack + slots(alone));
    assert!((nack - 587.8).abs() < 0.1, "{nack}");
}
