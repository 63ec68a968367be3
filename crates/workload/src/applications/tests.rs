//! The flows of applications, compared with their definitions.

use crate::jobs::tests::{generate, play};
use crate::patterns::tests::cluster;
use lightloom_engine::{Cluster, Flows, Io, Time};
use proptest::prelude::*;
use serde_json::{json, Value};

fn flows(job: Value, cluster: &Cluster) -> Flows {
    generate(json!([job]), cluster).unwrap()
}

/// Bytes of the flows for which `pass` is true.
fn sum(flows: &Flows, pass: impl Fn(usize) -> bool) -> u64 {
    let rows = (0..flows.len()).filter(|&f| pass(f));
    rows.map(|f| flows.bytes[f]).sum()
}

fn racks(flows: &Flows, cluster: &Cluster, f: usize) -> (u32, u32) {
    (cluster.rack_of(flows.src[f]), cluster.rack_of(flows.dst[f]))
}

fn ends(io: &Io) -> Vec<(String, Time)> {
    let jobs = io.flows.after.jobs.iter();
    jobs.map(|j| (j.name.clone(), io.completed(j.end)))
        .collect()
}

/// c-Through §6.1: 32 machines of 1 GB, eight on each server of a rack, evenly
/// to the servers of the other three.
#[test]
fn the_migration_is_the_papers() {
    let cluster = cluster(4, 4);
    let flows = flows(json!("vm-migration"), &cluster);
    assert_eq!(flows.len(), 32);
    assert_eq!(flows.total_bytes(), 32 * 107_000_000);
    for server in 0..4 {
        let mut from = (0..32).filter(|&f| flows.src[f].0 == server);
        assert_eq!(from.clone().count(), 8);
        // Every server has traffic for every other rack.
        for rack in 1..4 {
            assert!(
                from.any(|f| racks(&flows, &cluster, f).1 == rack),
                "{server} {rack}"
            );
        }
    }
    for rack in 1..4 {
        let machines = (0..32)
            .filter(|&f| racks(&flows, &cluster, f).1 == rack)
            .count();
        assert!((10..=11).contains(&machines), "{rack}: {machines}");
    }
    for server in 4..16 {
        let machines = flows.dst.iter().filter(|d| d.0 == server).count();
        assert!((2..=3).contains(&machines), "{server}: {machines}");
    }
    // One image every 6.4 s from each server.
    let io = Io::new(flows);
    let mut arrivals: Vec<i64> = io.flows.arrival.iter().map(|t| t.0).collect();
    arrivals.sort_unstable();
    let expected = (1..=8).flat_map(|k| [(Time::MS * 6_400 * k).0; 4]);
    assert_eq!(arrivals, expected.collect::<Vec<_>>());
}

#[test]
fn a_server_compresses_only_so_far_ahead() {
    let job = |ahead: Option<u32>| {
        json!({"kind": "vm-migration", "memory": "1 GB", "ratio": 0.5, "per_server": 1, "vms": 1,
               "cpu": "8 s", "pieces": 4, "ahead": ahead})
    };
    let took = |ahead, each: i64| {
        let io = play(flows(job(ahead), &cluster(2, 1)), |_| Time::S * each);
        ends(&io)[0].1
    };
    // Four pieces: 2 s of compressing and 3 s of sending each.
    assert_eq!(took(None, 3), Time::S * (2 + 4 * 3));
    assert_eq!(took(Some(1), 3), Time::S * (4 * (2 + 3)));
    assert_eq!(took(Some(2), 3), Time::S * (2 + 4 * 3));
    // Sending is short, so compressing takes all the time.
    assert_eq!(took(None, 1), Time::S * (8 + 1));
}

/// Two pieces fill a buffer: one is being sent, and one waits behind it.
#[test]
fn a_buffer_says_how_far_ahead_a_server_compresses() {
    let cluster = cluster(2, 1);
    let took = |buffer: &str| {
        let job = json!({"kind": "vm-migration", "memory": "1 MB", "ratio": 0.5, "vms": 1,
                         "cpu": "8 s", "buffer": buffer});
        let flows = flows(job, &cluster);
        let pieces = flows.len();
        (pieces, ends(&play(flows, |_| Time::S * 3))[0].1)
    };
    // Pieces of at most half a buffer, of 8 s ÷ pieces and 3 s each.
    assert_eq!(took("250 KB"), (4, Time::S * (2 + 4 * 3)));
    assert_eq!(took("200 KB"), (5, Time::MS * 1_600 + Time::S * (5 * 3)));
    assert_eq!(took("999999 B"), (2, Time::S * (4 + 4 + 3)));
    assert_eq!(took("1 MB"), (1, Time::S * (8 + 3)));
    assert_eq!(took("1 GB"), (1, Time::S * (8 + 3)));
    // The default image in default buffers (c-Through §6.1).
    let paper = json!({"kind": "vm-migration", "buffer": "128 KB"});
    let large = crate::patterns::tests::cluster(4, 4);
    let pieces = self::flows(paper, &large);
    assert_eq!(pieces.len(), 32 * 1_672);
    assert!(pieces.bytes.iter().all(|&b| b <= 64_000));
    assert_eq!(pieces.total_bytes(), 32 * 107_000_000);
}

/// c-Through §6.2: remote reads, the shuffle, and two replicas of the output.
#[test]
fn a_sort_sends_what_it_reads_shuffles_and_writes() {
    let cluster = cluster(4, 4);
    let job = |remote: f64, replicas: u32| {
        let hadoop = json!({"remote": remote, "replicas": replicas});
        flows(json!({"kind": "sort", "hadoop": hadoop}), &cluster)
    };
    // 157 blocks of 63.69 MB, reduced by 32 tasks on 16 servers: each receives a 32nd of every
    // block that was not mapped on its own server.
    let data = 10_000_000_000u64;
    let shuffled = job(0.0, 1).total_bytes();
    let away = data as f64 * 15.0 / 16.0;
    assert!(
        (shuffled as f64 / away - 1.0).abs() < 0.01,
        "{shuffled} {away}"
    );
    assert_eq!(job(0.0, 2).total_bytes(), shuffled + data);
    assert_eq!(job(0.0, 3).total_bytes(), shuffled + 2 * data);
    let reads = job(0.1, 1).total_bytes() - shuffled;
    // 16 of 157 blocks.
    let expected = data as f64 * 16.0 / 157.0;
    assert!(
        (reads as f64 - expected).abs() <= 16.0,
        "{reads} {expected}"
    );
}

/// The second replica is in another rack, the third in the same rack as the second.
#[test]
fn replicas_are_placed_by_rack() {
    let cluster = cluster(4, 4);
    let sort = |replicas: u32| {
        let hadoop = json!({"remote": 0.0, "replicas": replicas, "block": "10 MB"});
        flows(
            json!({"kind": "sort", "data": "1 GB", "hadoop": hadoop}),
            &cluster,
        )
    };
    let crossing = |flows: &Flows| {
        sum(flows, |f| {
            let (src, dst) = racks(flows, &cluster, f);
            src != dst
        })
    };
    let data = 1_000_000_000;
    let (one, two, three) = (sort(1), sort(2), sort(3));
    assert_eq!(crossing(&two) - crossing(&one), data);
    assert_eq!(crossing(&three), crossing(&two));
    assert_eq!(three.total_bytes() - two.total_bytes(), data);
}

/// Two waves of map tasks and one of reduce tasks, in a network with latency only: the duration
/// follows from the slots.
#[test]
fn slots_run_one_task_after_another() {
    let hadoop = json!({"block": "8 MB", "map_slots": 1, "reduce_slots": 1, "remote": 0.0,
                        "map_rate": "64 Mb/s", "reduce_rate": "64 Mb/s", "copies": 50, "replicas": 1});
    let job = json!({"kind": "sort", "data": "64 MB", "hadoop": hadoop});
    let io = play(flows(job, &cluster(2, 2)), |_| Time::MS);
    // Eight blocks on four servers, 1 s each; each reduces 16 MB.
    assert_eq!(ends(&io)[0].1, Time::S * (2 + 2) + Time::MS);
}

/// c-Through §6.3: 256 M elements, 4 GB, blocks of 20 MB (exactly 19.1 MB).
#[test]
fn the_fft_is_the_papers() {
    let flows = flows(json!("fft"), &cluster(4, 4));
    assert_eq!(flows.len(), 2 * 15 * 14);
    assert!(flows
        .bytes
        .iter()
        .all(|b| (19_000_000..19_200_000).contains(b)));
    // All blocks except the local ones, twice.
    let matrix = (1u64 << 28) * 16;
    let sent = flows.total_bytes() as f64;
    assert!((sent / (2.0 * matrix as f64 * 14.0 / 15.0) - 1.0).abs() < 1e-6);
    let used = flows.src.iter().chain(&flows.dst).map(|h| h.0).max();
    assert_eq!(used, Some(14));
}

/// c-Through §6.2: 100 jobs on 200 GB and 50 GB. The shares that Gridmix keeps determine the bytes
/// that are sent.
#[test]
fn the_mix_is_the_papers() {
    let cluster = cluster(4, 4);
    let hadoop = json!({"remote": 0.0, "replicas": 2});
    let flows = flows(json!({"kind": "gridmix", "hadoop": hadoop}), &cluster);
    let names: Vec<&str> = flows.after.jobs.iter().map(|j| j.name.as_str()).collect();
    assert_eq!((names.len(), names[100]), (101, "gridmix"));
    let count = |part: &str| names.iter().filter(|n| n.ends_with(part)).count();
    for class in ["java-sort", "stream-sort", "pipe-sort", "scan", "query"] {
        let of = |size: &str| count(&format!("-{class}-{size}"));
        assert_eq!(
            (of("small"), of("medium"), of("large")),
            (12, 6, 2),
            "{class}"
        );
    }
    // Each group holds the flows of one member.
    assert_eq!(flows.groups.len(), 102);
    let of = |class: &str| {
        sum(&flows, |f| {
            flows.groups[flows.group[f] as usize].contains(class)
        }) as f64
    };
    // Sorts shuffle and replicate everything, on 16 servers.
    let sorted = 200e9 * (15.0 / 16.0 + 1.0);
    assert!((of("sort") / sorted - 1.0).abs() < 0.02, "{}", of("sort"));
    // Queries: 272 of the 544 units of 50 GB, with the shares of Gridmix.
    let (a, b, c) = (0.1, 0.1 * 0.4, 0.1 * 0.4 * 0.77);
    let shuffled = (a + b + c * 1.16) * 15.0 / 16.0;
    let written = 0.1 * 0.4 + b * 0.77 + c * 1.16 * 0.91;
    let query = 25e9 * (shuffled + written);
    assert!(
        (of("query") / query - 1.0).abs() < 0.03,
        "{} {query}",
        of("query")
    );
    assert!(of("scan") < 0.02 * 25e9);
    let io = play(flows, |_| Time::MS);
    assert!(ends(&io).iter().all(|(_, t)| *t != Time::NEVER));
}

proptest! {
    /// Bytes of a sort by endpoint: departures and arrivals add up to the definition, for any
    /// numbers.
    #[test]
    fn the_bytes_of_a_sort_are_its_definition(
        racks in 2u32..5, servers in 1u32..4, data in 1u64..100_000, block in 500u64..50_000,
        reducers in 1u32..9,
    ) {
        let cluster = cluster(racks, servers);
        let hosts = cluster.hosts();
        let job = |replicas: u32| {
            let hadoop = json!({"block": format!("{block} B"), "remote": 0.0, "replicas": replicas});
            flows(json!({"kind": "sort", "data": format!("{data} B"), "reducers": reducers,
                         "hadoop": hadoop}), &cluster)
        };
        let shuffled = job(1).total_bytes();
        prop_assert!(shuffled <= data);
        prop_assert_eq!(job(2).total_bytes(), shuffled + data);
        let all = hosts.min(4);
        prop_assert_eq!(job(all).total_bytes(), shuffled + (all as u64 - 1) * data);
    }
}
