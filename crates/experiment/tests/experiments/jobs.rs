//! Jobs on real fabrics: they finish on each, send the bytes of their definition, and without
//! congestion take the theoretical time.

use crate::common::connects_single_nodes;
use lightloom_engine::run::Silent;
use lightloom_engine::Time;
use lightloom_experiment::{Experiment, RunOutput};
use lightloom_fabrics::REGISTRY;
use serde_json::{json, Value};
use std::collections::BTreeMap;

/// All links have 100 Gb/s, nothing is oversubscribed, and the only latency is that of packets.
fn clos() -> Value {
    json!({"kind": "clos", "link_rate": "100 Gb/s", "mtu": "1500 B"})
}

fn sirius() -> Value {
    json!({"kind": "sirius", "uplinks": 8})
}

/// 32 servers in eight racks; 16 nodes for a fabric that connects nodes only.
fn cluster(fabric: &Value) -> Value {
    match fabric["kind"].as_str().is_some_and(connects_single_nodes) {
        true => json!({"hosts": 16, "server_rate": "10 Gb/s"}),
        false => {
            json!({"racks": 8, "servers_per_rack": 4, "server_rate": "100 Gb/s", "nic": "100 Gb/s"})
        }
    }
}

fn experiment(fabric: Value, workload: Value, run: Value) -> Value {
    json!({
        "cluster": cluster(&fabric),
        "workload": workload,
        "run": run,
        "fabric": [fabric],
    })
}

fn run(raw: &Value) -> RunOutput {
    let experiment = Experiment::read(raw).unwrap();
    experiment.run(0, 1, &mut Silent).unwrap()
}

fn jobs(jobs: Value) -> Value {
    json!({ "jobs": jobs })
}

/// Seconds that the only job takes.
fn seconds(fabric: Value, job: Value) -> f64 {
    let out = run(&experiment(fabric, jobs(json!([job])), json!({})));
    out.summary.jobs.0[0].1.seconds.unwrap()
}

/// Jobs of every kind, so small that a packet simulation is fast.
fn every_kind() -> Value {
    let hadoop = json!({"block": "100 KB", "map_rate": "10 Gb/s", "reduce_rate": "10 Gb/s"});
    json!([
        {"kind": "vm-migration", "memory": "1 MB", "cpu": "5 us", "pieces": 2, "ahead": 3},
        {"kind": "sort", "data": "2 MB", "hadoop": hadoop},
        {"kind": "gridmix", "jobs": 5, "uncompressed": "2 MB", "compressed": "1 MB", "hadoop": hadoop},
        {"kind": "fft", "elements": 20_000, "compute": "3 us"},
        {"kind": "all-reduce", "bytes": "100 KB"},
        {"kind": "all-reduce", "algorithm": "tree", "bytes": "20 KB", "chunks": 2},
        {"kind": "all-reduce", "algorithm": "halving-doubling", "bytes": "100 KB", "hosts": 11},
        {"kind": "all-to-all-collective", "bytes": "100 KB", "placement": "spread", "hosts": 8},
        {"kind": "pipeline", "bytes": "10 KB", "microbatches": 4, "forward": "1 us", "backward": "2 us"},
        {"kind": "gups", "updates": 16, "outstanding": 4},
    ])
}

/// A fabric of each kind.
fn every_fabric() -> impl Iterator<Item = Value> {
    REGISTRY.iter().map(|entry| json!({"kind": entry.kind}))
}

#[test]
fn every_job_runs_to_its_end_on_every_kind_of_fabric() {
    let mut bytes = BTreeMap::new();
    for fabric in every_fabric() {
        let out = run(&experiment(fabric.clone(), jobs(every_kind()), json!({})));
        let s = &out.summary;
        assert_eq!(s.flows_completed, out.flows.len() as u64, "{fabric}");
        assert_eq!(s.bytes_delivered, out.flows.total_bytes(), "{fabric}");
        // The same bytes, wherever the servers are the same.
        let sent = *bytes
            .entry(cluster(&fabric).to_string())
            .or_insert(s.bytes_delivered);
        assert_eq!(sent, s.bytes_delivered, "{fabric}");
        // In sequence: each begins when the one before it ends. The members of the mix are listed
        // before it, and begin with it.
        let own: Vec<_> = s.jobs.0.iter().filter(|j| !j.0.contains('/')).collect();
        assert_eq!(own.len(), 10);
        let mut now = 0.0;
        for (name, times) in own {
            assert_eq!(times.start_s, Some(now), "{fabric} {name}");
            assert!(times.seconds.unwrap() > 0.0, "{fabric} {name}");
            now = times.finish_s.unwrap();
        }
        assert_eq!(s.simulated_s, now, "{fabric}");
        let mix = s.jobs.0.iter().filter(|j| j.0.starts_with("gridmix/"));
        assert_eq!(mix.count(), 5);
    }
}

/// The times at which the engine samples must not affect packets.
#[test]
fn samples_change_nothing() {
    for fabric in [sirius(), clos()] {
        let finish = |sample: &str| {
            let raw = experiment(
                fabric.clone(),
                jobs(every_kind()),
                json!({ "sample": sample }),
            );
            run(&raw).flows.finish
        };
        assert_eq!(finish("1 us"), finish("37 us"));
    }
}

/// Time that a run of packets adds to the time of its bytes: five hops after the first, of a packet
/// each.
const HOPS: f64 = 5.0 * 1500.0 * 8.0 / 100e9;

/// The alpha-beta model on a network without contention; the tolerance is the packets in flight in
/// each round.
#[test]
fn collectives_take_what_the_alpha_beta_model_says() {
    // 1.6 MB take 128 us at 100 Gb/s.
    let all = 128e-6;
    let take = |algorithm: &str, n: u32, placement: &str| {
        seconds(
            clos(),
            json!({"kind": "all-reduce", "algorithm": algorithm, "bytes": "1.6 MB", "hosts": n,
                   "placement": placement}),
        )
    };
    for (n, placement) in [(8, "spread"), (32, "first"), (16, "spread")] {
        let (members, log) = (n as f64, (n as f64).log2());
        for (algorithm, rounds, beta) in [
            (
                "ring",
                2.0 * (members - 1.0),
                2.0 * (members - 1.0) / members * all,
            ),
            ("tree", 2.0 * log, 2.0 * log * all),
            (
                "halving-doubling",
                2.0 * log,
                2.0 * (members - 1.0) / members * all,
            ),
        ] {
            let took = take(algorithm, n, placement);
            let most = beta + rounds * HOPS;
            assert!(
                took >= beta && took <= most * (1.0 + 1e-6),
                "{algorithm} {n}: {took}, {beta} to {most}"
            );
        }
    }
    // Every member receives 31 blocks of 50 KB; each sender may be a packet behind.
    let took = seconds(
        clos(),
        json!({"kind": "all-to-all-collective", "bytes": "1.6 MB"}),
    );
    let beta = all * 31.0 / 32.0;
    let most = beta + HOPS + 31.0 * 1500.0 * 8.0 / 100e9;
    assert!(took >= beta && took <= most, "{took}, {beta} to {most}");
}

#[test]
fn a_pipeline_takes_its_fill_its_work_and_its_packets() {
    // A microbatch of 100 KB takes 8 us from stage to stage.
    let job = |forward: &str| {
        json!({"kind": "pipeline", "bytes": "100 KB", "hosts": 8, "placement": "spread",
               "microbatches": 10, "forward": forward})
    };
    for (forward, stage, bottleneck) in [("20 us", 20e-6, 20e-6), ("3 us", 3e-6, 8e-6)] {
        let took = seconds(clos(), job(forward));
        let least = 8.0 * stage + 7.0 * 8e-6 + 9.0 * bottleneck;
        // Packets in flight: through the pipeline, and of each waiting microbatch.
        let most = least + (7.0 + 9.0) * HOPS;
        assert!(
            took >= least && took <= most,
            "{forward}: {took}, {least} to {most}"
        );
    }
}

/// c-Through Fig 6, full bisection: only the processors limit the migration. Sizes and times are a
/// thousandth of the paper's.
#[test]
fn migrations_at_full_bisection_take_the_time_of_the_processors() {
    let job = json!({"kind": "vm-migration", "memory": "1 MB", "ratio": 0.1, "cpu": "200 us"});
    let took = seconds(clos(), job);
    // Eight machines one after another, then the last image of 100 KB.
    let least = 8.0 * 200e-6 + 8e-6;
    assert!(took >= least && took <= least + HOPS, "{took}, {least}");
}

#[test]
fn a_run_that_is_cut_short_says_so() {
    let raw = experiment(
        clos(),
        jobs(json!(["fft", "fft"])),
        json!({"limit": "100 ms"}),
    );
    let out = run(&raw);
    let json = serde_json::to_value(&out.summary).unwrap();
    let fft = json!({"start_s": 0.0, "finish_s": null, "seconds": null});
    assert_eq!(json["jobs"]["fft"], fft);
    assert_eq!(json["jobs"]["fft-2"]["start_s"], Value::Null);
    assert_eq!(out.summary.flows_offered, 0);
    assert!(out
        .flows
        .arrival
        .iter()
        .all(|&t| t == Time::NEVER || t > Time::MS * 100));
}

#[test]
fn samples_of_jobs_are_few_whatever_their_length() {
    // 100 ns apart at first, then half of them again and again.
    for (compute, least) in [("1 us", 20), ("100 s", 500)] {
        let job = json!({"kind": "fft", "elements": 20_000, "compute": compute});
        let raw = experiment(clos(), jobs(json!([job])), json!({}));
        let rows = run(&raw).series.time_ps.len();
        assert!((least..=1_001).contains(&rows), "{compute}: {rows}");
    }
}

#[test]
fn loads_and_jobs_do_not_go_together() {
    let mut raw = experiment(clos(), jobs(json!(["fft"])), json!({}));
    raw["compare"] = json!({"loads": [0.5]});
    let refusal = Experiment::read(&raw).unwrap().resolve().unwrap_err();
    assert!(
        refusal
            .to_string()
            .starts_with("compare.loads[0] = 0.5: jobs define the flows"),
        "{refusal}"
    );
}
