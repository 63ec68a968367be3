//! The slotted switch against its closed forms, at several N, k and p.

use super::super::theory::{retrying, Uniform};
use super::traffic::bernoulli;
use super::*;
use lightloom_engine::{HostId, Stream};

fn throughput(table: &Value, hosts: u32, load: f64, slots: usize) -> Estimate {
    let flows = bernoulli(hosts, load, slots, 7);
    let (io, _) = simulate(hosts, table, flows, Stop::At(SLOT * slots as i64));
    Estimate::of(&delivered(&io, hosts, slots))
}

/// The slots between a packet's first request and its transmission.
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
        (8, 2, 0.9),
        (8, 4, 1.0),
        (32, 4, 0.8),
        (32, 16, 1.0),
        (128, 8, 1.0),
    ] {
        let got = throughput(&bare("drop", "slotted", k), hosts, load, 4_000);
        let theory = Uniform::new(hosts, k, load).dropping();
        got.agrees(theory, 0.0, &format!("N {hosts} k {k} p {load}"));
    }
    // Values of the literature.
    for (k, known) in [(1, 0.635), (2, 0.792), (4, 0.891)] {
        let theory = Uniform::new(64, k, 1.0).dropping();
        assert!((theory - known).abs() < 5e-4, "{k}: {theory}");
    }
}

/// Hosts that retransmit the same packet: N → ∞ by formula, N = 64 by known values.
#[test]
fn retried_losers() {
    for (k, known) in [(1, 0.590), (2, 0.770), (4, 0.885)] {
        let table = bare("ao-nack", "slotted", k);
        throughput(&table, 64, 1.0, 4_000).agrees(known, 1e-3, &format!("N 64 k {k}"));
        // The throughput differs from that for N → ∞ by about 1/N.
        throughput(&table, 512, 1.0, 1_000).agrees(retrying(k), 2e-3, &format!("N 512 k {k}"));
    }
    // Below saturation everything is carried.
    for (hosts, k, load) in [
        (16, 2, 0.7),
        (128, 8, 0.9),
        (64, 1, 0.5),
        (8, 2, 0.6),
        (32, 4, 0.8),
    ] {
        let got = throughput(&bare("ao-nack", "slotted", k), hosts, load, 6_000);
        got.agrees(load, 0.0, &format!("N {hosts} k {k} p {load}"));
    }
    for (k, known) in [(1, 0.586), (2, 0.764), (4, 0.877)] {
        assert!((retrying(k) - known).abs() < 5e-4);
    }
}

/// With two or more receivers the buffers carry a full load; with one receiver they carry almost
/// all of a load close to 1.
#[test]
fn loop_back_buffers_carry_everything() {
    for (architecture, hosts, k, load) in [
        ("slb", 64, 1, 0.97),
        ("slb", 16, 1, 0.9),
        ("slb", 64, 2, 1.0),
        ("slb", 64, 4, 1.0),
        ("slb", 16, 2, 1.0),
        ("slb", 128, 8, 1.0),
        ("dlb", 64, 2, 1.0),
        ("dlb", 64, 4, 1.0),
        ("dlb", 16, 2, 1.0),
        ("dlb", 128, 8, 1.0),
        ("mlb", 64, 2, 1.0),
        ("mlb", 64, 4, 1.0),
        ("mlb", 24, 2, 1.0),
        ("mlb", 16, 4, 0.9),
        ("slb", 8, 2, 1.0),
        ("slb", 32, 8, 1.0),
        ("dlb", 8, 4, 1.0),
        ("dlb", 32, 2, 1.0),
        ("mlb", 8, 2, 0.8),
        ("mlb", 32, 4, 1.0),
    ] {
        let slots = 384_000 / hosts as usize;
        let got = throughput(&bare(architecture, "slotted", k), hosts, load, slots);
        got.agrees(load, 0.0, &format!("{architecture} N {hosts} k {k}"));
    }
}

/// With one receiver, the shared buffer carries the offered load up to 1: 0.995, once queues have
/// nearly their final length (93 packets, after tens of thousands of slots).
#[test]
fn a_shared_buffer_with_one_receiver_carries_nearly_everything() {
    let got = throughput(&bare("slb", "slotted", 1), 16, 0.995, 200_000);
    got.agrees(0.995, 0.0, "N 16 k 1 p 0.995");
    assert!(got.half < 2e-3, "{got:?}");
}

/// At a load of 1 the mean queue length does not exist: queues are random walks, reflected at 0,
/// with variance 1 − 1/N per slot. After T slots √(2(1 − 1/N)T/π) packets of each output wait, and
/// the share carried is 1 minus that number ÷ T, which approaches 1.
#[test]
fn a_shared_buffer_with_one_receiver_reaches_1_with_time() {
    for (hosts, slots) in [(64, 2_500), (64, 20_000), (256, 5_000)] {
        let flows = bernoulli(hosts, 1.0, slots, 7);
        let table = bare("slb", "slotted", 1);
        let (io, _) = simulate(hosts, &table, flows, Stop::At(SLOT * slots as i64));
        let carried: f64 = delivered(&io, hosts, slots).iter().sum();
        let (n, t) = (hosts as f64, slots as f64);
        let spread = ((1.0 - 1.0 / n) * t).sqrt();
        let waiting = spread * (2.0 / std::f64::consts::PI).sqrt();
        // The standard deviation over outputs is √(1 − 2/π) of that of the walk.
        let error = spread * (1.0 - 2.0 / std::f64::consts::PI).sqrt() / n.sqrt();
        let got = t - carried;
        let what = format!("N {hosts}, {slots} slots: {got} for {waiting}");
        assert!((got - waiting).abs() < 3.5 * error, "{what}");
    }
}

/// Packets that an output receives per slot with saturated distributed buffers and one receiver, by
/// another model: it has only counts of packets, and arbiters that choose at random.
fn distributed_with_one_receiver(hosts: usize, m: usize) -> f64 {
    const SLOTS: usize = 4_000;
    let mut rng = Stream::new(17, "test.distributed", 0);
    let mut waiting = vec![vec![0u32; hosts]; hosts];
    // The outputs that transmitters of each queue are tuned to.
    let mut tuned = vec![Vec::new(); hosts];
    let mut heard = 0;
    for slot in 0..SLOTS {
        let mut queues = vec![Vec::new(); hosts];
        for q in 0..hosts {
            while tuned[q].len() < m {
                let free = |&o: &usize| waiting[q][o] > 0 && !tuned[q].contains(&o);
                let may: Vec<usize> = (0..hosts).filter(free).collect();
                if may.is_empty() {
                    break;
                }
                tuned[q].push(may[rng.below(may.len() as u32) as usize]);
            }
            tuned[q].iter().for_each(|&o| queues[o].push(q));
        }
        let mut packets = vec![Vec::new(); hosts];
        (0..hosts).for_each(|h| packets[rng.below(hosts as u32) as usize].push(h));
        for (o, mut rivals) in packets.into_iter().enumerate() {
            let mut any = |of: &[usize]| rng.below(of.len() as u32) as usize;
            let mut taken = 1;
            if !queues[o].is_empty() {
                let q = queues[o][any(&queues[o])];
                waiting[q][o] -= 1;
                tuned[q].retain(|&to| to != o);
            } else if !rivals.is_empty() {
                rivals.swap_remove(any(&rivals));
            } else {
                taken = 0;
            }
            rivals.into_iter().for_each(|q| waiting[q][o] += 1);
            heard += taken * (slot >= SLOTS / 4) as usize;
        }
    }
    heard as f64 / (hosts * (SLOTS - SLOTS / 4)) as f64
}

/// With one receiver, m transmitters limit the throughput: 0.85, 0.92, 0.96 for 64 hosts.
#[test]
fn distributed_buffers_with_one_receiver_are_held_up_by_their_transmitters() {
    for (hosts, m, known) in [
        (64, 1, Some(0.85)),
        (64, 2, Some(0.92)),
        (64, 4, Some(0.96)),
        (16, 1, None),
        (16, 3, None),
        (32, 2, None),
    ] {
        let table = with(bare("dlb", "slotted", 1), json!({"transmitters": m}));
        let got = throughput(&table, hosts, 1.0, 512_000 / hosts as usize);
        let what = format!("N {hosts} m {m}");
        let model = distributed_with_one_receiver(hosts as usize, m);
        got.agrees(model, 0.003, &what);
        if let Some(known) = known {
            got.agrees(known, 0.006, &what);
        }
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
        (8, 1, 0.7, 100_000),
        (8, 4, 0.9, 100_000),
        (32, 2, 0.8, 30_000),
        (32, 8, 0.9, 60_000),
        (128, 4, 0.9, 8_000),
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
        (128, 8, 0.8, 0.03),
        (32, 2, 0.6, 0.04),
        (32, 8, 0.9, 0.03),
    ] {
        let slots = if hosts >= 64 { 16_000 } else { 60_000 };
        let got = wait(&bare("dlb", "slotted", k), hosts, load, slots);
        let theory = Uniform::new(hosts, k, load).distributed_wait();
        got.agrees(theory, error, &format!("N {hosts} k {k} p {load}"));
    }
}

/// Groups of every k-th input put all hosts of a distributed buffer into one half of
/// the groups.
#[test]
fn interleaved_groups_delay_longer() {
    for (hosts, k, load) in [(64, 2, 0.5), (64, 2, 0.8), (64, 4, 0.8), (16, 2, 0.6)] {
        let slots = if hosts == 64 { 16_000 } else { 60_000 };
        let table = with(
            bare("dlb", "slotted", k),
            json!({"group_rule": "interleaved"}),
        );
        let theory = Uniform::new(hosts, k, load).interleaved_wait();
        let got = wait(&table, hosts, load, slots);
        got.agrees(theory, 0.003, &format!("N {hosts} k {k} p {load}"));
    }
    let of = |load| Uniform::new(64, 2, load);
    let ratio = of(0.5).interleaved_wait() / of(0.5).distributed_wait();
    assert!((ratio - 1.55).abs() < 0.01, "{ratio}");
}

/// If a queue of the mixed buffer has one transmitter per host, it delays packets no longer than
/// the distributed buffer.
#[test]
fn mixed_buffers_delay_about_as_distributed_ones() {
    for (hosts, k, r, load, error) in [
        (64, 4, 4, 0.5, 0.02),
        (64, 4, 4, 0.9, 0.04),
        (64, 2, 4, 0.9, 0.10),
        (24, 2, 3, 0.7, 0.06),
        (24, 4, 3, 0.7, 0.02),
        (16, 2, 1, 0.5, 0.04),
        (16, 4, 2, 0.8, 0.03),
    ] {
        let slots = if hosts == 64 { 16_000 } else { 60_000 };
        let table = with(bare("mlb", "slotted", k), json!({"hosts_per_queue": r}));
        let got = wait(&table, hosts, load, slots);
        let theory = Uniform::new(hosts, k, load).distributed_wait();
        let what = format!("N {hosts} k {k} r {r} p {load}");
        got.is_from((1.0 - error) * theory, theory, &what);
    }
}

/// Before it ends a run the engine checks that the kernel is idle; a kernel with packets in transit
/// is not.
#[test]
fn who_has_nothing_left_is_idle() {
    for architecture in ["dlb", "slb"] {
        let mut flows = Flows::new();
        for host in 0..4 {
            let next = HostId((host + 1) % 4);
            flows.push(HostId(host), next, 20 * PACKET, Time::ZERO);
        }
        let mut fabric = fabric(4, &bare(architecture, "slotted", 1), &flows);
        let mut io = Io::new(flows);
        fabric.advance(SLOT * 5, &mut io);
        assert!(!fabric.idle(), "{architecture}");
        fabric.advance(Time::MS, &mut io);
        assert_eq!(io.ledger.in_flight(), 0);
        assert!(fabric.idle(), "{architecture}");
    }
}
