//! Properties of every job.

use super::*;
use crate::patterns::tests::cluster;
use crate::WorkloadConfig;
use lightloom_engine::Io;
use proptest::prelude::*;

pub fn generate(jobs: Value, cluster: &Cluster) -> Result<Flows, Refusal> {
    let table = json!({ "jobs": jobs });
    let config: WorkloadConfig = config::read(&table, "workload")?;
    config.resolve(cluster)?.generate(cluster, 1)
}

fn refusal(jobs: Value) -> String {
    generate(jobs, &cluster(4, 4)).unwrap_err().to_string()
}

/// Delivers every flow `hop(bytes)` after it arrives: a network without
/// contention.
pub fn play(flows: Flows, hop: impl Fn(u64) -> Time) -> Io {
    let mut io = Io::new(flows);
    while let Some(now) = io.next_arrival() {
        let flow = io.arrive(now).unwrap();
        let bytes = io.flows.bytes[flow.index()];
        io.deliver(flow, bytes, now + hop(bytes));
    }
    io
}

/// Small jobs of every kind.
fn every_kind() -> Vec<Value> {
    vec![
        json!({"kind": "vm-migration", "memory": "10 MB"}),
        json!({"kind": "vm-migration", "memory": "1 MB", "pieces": 4, "ahead": 2, "vms": 9}),
        json!({"kind": "vm-migration", "memory": "1 MB", "buffer": "30 KB"}),
        json!({"kind": "sort", "data": "100 MB", "hadoop": {"block": "2 MB"}}),
        json!({"kind": "gridmix", "jobs": 20, "uncompressed": "40 MB", "compressed": "10 MB",
               "hadoop": {"block": "1 MB"}}),
        json!({"kind": "all-reduce", "bytes": "1 MB", "iterations": 2, "compute": "1 us"}),
        json!({"kind": "all-reduce", "algorithm": "tree", "bytes": "1 MB", "hosts": 13, "chunks": 3}),
        json!({"kind": "all-reduce", "algorithm": "halving-doubling", "bytes": "1 MB", "hosts": 13,
               "placement": "spread", "chunks": 2}),
        json!({"kind": "all-to-all-collective", "bytes": "1 MB", "iterations": 3}),
        json!({"kind": "all-to-all-collective", "bytes": "1 MB", "exchange": "pairwise", "compute": "1 us"}),
        json!({"kind": "pipeline", "bytes": "1 KB", "microbatches": 5, "backward": "3 us", "hosts": 3,
               "placement": [7, 2, 5], "iterations": 2}),
        json!({"kind": "gups", "updates": 64, "outstanding": 8, "batch": 2}),
        json!({"kind": "fft", "elements": 5_000}),
        json!({"kind": "fft", "elements": 5_000, "exchange": "pairwise", "hosts": 7}),
        json!({"kind": "fft", "elements": 5_000, "exchange": "at-once", "hosts": 7}),
    ]
}

#[test]
fn every_flow_runs_once_and_every_job_ends() {
    for v in every_kind() {
        let flows = generate(json!([v]), &cluster(4, 4)).unwrap();
        let (count, bytes) = (flows.len() as u64, flows.total_bytes());
        let io = play(flows, |b| Time::NS * b as i64);
        assert_eq!(io.ledger.flows_completed, count, "{v}");
        assert_eq!(io.ledger.delivered, bytes, "{v}");
        for job in &io.flows.after.jobs {
            assert_ne!(io.completed(job.end), Time::NEVER, "{v}");
        }
        assert!(io.flows.src.iter().zip(&io.flows.dst).all(|(s, d)| s != d));
    }
}

/// Counts decide whether a job fits into memory before it is built.
#[test]
fn no_graph_is_larger_than_was_said() {
    for v in every_kind() {
        let table = json!({ "jobs": [v] });
        let config: WorkloadConfig = config::read(&table, "workload").unwrap();
        let config = config.resolve(&cluster(4, 4)).unwrap();
        let flows = config.generate(&cluster(4, 4), 1).unwrap();
        let jobs = config.jobs.as_deref().unwrap();
        let said = jobs[0].kind.extent(&cluster(4, 4));
        let (nodes, edges) = (flows.after.nodes() as u64, flows.after.edges.len() as u64);
        assert!(flows.len() as u64 <= said.flows, "{v}: {said:?}");
        assert!(
            nodes <= said.flows + said.barriers,
            "{v}: {nodes}, {said:?}"
        );
        assert!(edges <= said.edges, "{v}: {edges}, {said:?}");
        // Nor much smaller.
        assert!(
            3 * nodes >= said.flows + said.barriers,
            "{v}: {nodes}, {said:?}"
        );
    }
}

#[test]
fn jobs_follow_each_other_or_run_together() {
    let jobs = json!(["fft", "fft", {"kind": "fft", "name": "mine", "hosts": 4}]);
    let flows = generate(jobs.clone(), &cluster(4, 4)).unwrap();
    assert_eq!(flows.groups, ["", "fft", "fft-2", "mine"]);
    let of = |flows: &Flows, group| flows.group.iter().filter(|&&g| g == group).count();
    assert_eq!(
        (of(&flows, 1), of(&flows, 2), of(&flows, 3)),
        (420, 420, 24)
    );
    let io = play(flows, |_| Time::S);
    let span = |io: &Io, i: usize| {
        let job = &io.flows.after.jobs[i];
        let begin = job.begin.map_or(Time::ZERO, |b| io.completed(b));
        (begin, io.completed(job.end))
    };
    // Two phases of 1.25 s of computing, and rounds of 1 s with 15 or 4 partners.
    let took = Time::MS * 2 * (1_250 + 15_000);
    let mine = Time::MS * 2 * (1_250 + 3_000);
    assert_eq!(span(&io, 0), (Time::ZERO, took));
    assert_eq!(span(&io, 1), (took, took * 2));
    assert_eq!(span(&io, 2), (took * 2, took * 2 + mine));
    let table = json!({"jobs": jobs, "schedule": "together"});
    let config: WorkloadConfig = config::read(&table, "workload").unwrap();
    let flows = config.generate(&cluster(4, 4), 1).unwrap();
    let io = play(flows, |_| Time::S);
    for (i, took) in [took, took, mine].into_iter().enumerate() {
        assert_eq!(span(&io, i), (Time::ZERO, took));
    }
}

#[test]
fn resolving_fills_in_names_and_changes_nothing_the_second_time() {
    let table = json!({"jobs": ["sort", {"kind": "fft", "name": "x"}, "sort"]});
    let config: WorkloadConfig = config::read(&table, "workload").unwrap();
    let once = config.resolve(&cluster(4, 4)).unwrap();
    let written = serde_json::to_value(&once).unwrap();
    assert_eq!(written["schedule"], "in-sequence");
    assert_eq!(written["jobs"][0]["hosts"], 16);
    assert_eq!(written["jobs"][1]["name"], "x");
    assert_eq!(written["jobs"][2]["name"], "sort-2");
    let again: WorkloadConfig = config::read(&written, "workload").unwrap();
    assert_eq!(again.resolve(&cluster(4, 4)).unwrap(), once);
}

#[test]
fn bad_jobs_are_refused_by_name() {
    for (jobs, start) in [
        (
            json!([]),
            "workload.jobs = []: an experiment sends something",
        ),
        (
            json!(["fft", "sorrt"]),
            "workload.jobs[1] = \"sorrt\": must be one of",
        ),
        (
            json!([{"kind": "sorrt"}]),
            "workload.jobs[0].kind = \"sorrt\": must be one of",
        ),
        (json!([{"name": "x"}]), "workload.jobs[0].kind = (missing)"),
        (json!([7]), "workload.jobs[0] = 7: "),
        (
            json!([{"kind": "fft", "nme": "x"}]),
            "workload.jobs[0].nme = \"x\": no such key",
        ),
        (
            json!([{"kind": "fft", "name": 3}]),
            "workload.jobs[0].name = 3: is not text",
        ),
        (
            json!([{"kind": "fft", "name": "a/b"}]),
            "workload.jobs[0].name = \"a/b\": holds a slash",
        ),
        (
            json!(["fft", {"kind": "sort", "name": "fft"}]),
            "workload.jobs[1].name = \"fft\": another job has this name",
        ),
        (
            json!([{"kind": "fft", "hosts": 17}]),
            "workload.jobs[0].hosts = 17: the cluster has 16 servers",
        ),
        (
            json!([{"kind": "fft", "elements": 100}]),
            "workload.jobs[0].elements = 100: 15 nodes exchange",
        ),
        (
            json!([{"kind": "fft", "transposes": 0}]),
            "workload.jobs[0].transposes = 0: must be at least 1",
        ),
        (
            json!([{"kind": "fft", "elements": 1u64 << 60}]),
            "workload.jobs[0].elements = 1152921504606846976: of 16 B each take more",
        ),
        (
            json!([{"kind": "sort", "data": "0 B"}]),
            "workload.jobs[0].data = 0 B: must be at least 1 B",
        ),
        (
            json!([{"kind": "sort", "hadoop": {"replicas": 17}}]),
            "workload.jobs[0].hadoop.replicas = 17: must be at most 16",
        ),
        (
            json!([{"kind": "sort", "data": "9 PB"}]),
            "workload.jobs[0].data = \"9 PB\": `PB` is not a unit",
        ),
        (
            json!([{"kind": "sort", "data": "9000 TB"}]),
            "workload.jobs[0] = \"sort\": up to this one, jobs have up to",
        ),
        (
            json!([{"kind": "gridmix", "jobs": 4}]),
            "workload.jobs[0].jobs = 4: there are 5 classes",
        ),
        (
            json!(["all-reduce"]),
            "workload.jobs[0].bytes = (missing): required",
        ),
        (
            json!([{"kind": "all-reduce", "bytes": "0 B"}]),
            "workload.jobs[0].bytes = 0 B: must be at least 16 B",
        ),
        (
            json!([{"kind": "all-reduce", "bytes": "1 MB", "chunks": 0}]),
            "workload.jobs[0].chunks = 0: must be at least 1",
        ),
        (
            json!([{"kind": "all-reduce", "bytes": "1 MB", "placement": [3, 3]}]),
            "workload.jobs[0].placement[1] = 3: is listed twice",
        ),
        (
            json!([{"kind": "all-reduce", "bytes": "1 MB", "hosts": 1}]),
            "workload.jobs[0].hosts = 1: needs at least 2",
        ),
        (
            json!([{"kind": "all-reduce", "bytes": "1 MB", "iterations": 1_000_000}]),
            "workload.jobs[0] = \"all-reduce\": up to this one",
        ),
        (
            json!([{"kind": "pipeline", "bytes": "1 MB"}]),
            "workload.jobs[0].microbatches = (missing): required",
        ),
        (
            json!([{"kind": "all-to-all-collective", "bytes": "15 B"}]),
            "workload.jobs[0].bytes = 15 B: must be at least 16 B",
        ),
        (
            json!([{"kind": "vm-migration", "ratio": 0.0}]),
            "workload.jobs[0].ratio = 0: must be above 0",
        ),
        (
            json!([{"kind": "vm-migration", "buffer": "128 KB", "pieces": 2}]),
            "workload.jobs[0].buffer = 128 KB: sets the same as `pieces` and `ahead`; \
             remove it, or both of them",
        ),
        (
            json!([{"kind": "vm-migration", "buffer": "0 B"}]),
            "workload.jobs[0].buffer = 0 B: must be at least 2 B; raise it",
        ),
        (
            json!([{"kind": "vm-migration", "memory": "9000 TB", "ratio": 1.0, "buffer": "1 MB"}]),
            "workload.jobs[0].buffer = 1 MB: must be at least 4",
        ),
        (
            json!([{"kind": "vm-migration", "memory": "9000 TB", "ratio": 1.0, "buffer": "5 MB"}]),
            "workload.jobs[0] = \"vm-migration\": up to this one",
        ),
        (
            json!([{"kind": "vm-migration", "vms": 33}]),
            "workload.jobs[0].vms = 33: must be at most 32",
        ),
        (
            json!([{"kind": "vm-migration", "source_rack": 4}]),
            "workload.jobs[0].source_rack = 4: the cluster's racks are 0 to 3",
        ),
        (
            json!([{"kind": "vm-migration", "cpu": "700000 s"}]),
            "workload.jobs[0] = \"vm-migration\": computes until day 65",
        ),
    ] {
        let e = refusal(jobs);
        assert!(e.starts_with(start), "{e}");
    }
    for key in ["load", "flows", "sizes", "pattern", "arrivals", "mean_rule"] {
        let mut table = json!({"jobs": ["fft"]});
        table[key] = match key {
            "load" => json!(0.5),
            "flows" => json!(5),
            "mean_rule" => json!("nominal"),
            "sizes" => json!("rpc"),
            "pattern" => json!("uniform"),
            _ => json!("poisson"),
        };
        let config: WorkloadConfig = config::read(&table, "workload").unwrap();
        let e = config.resolve(&cluster(4, 4)).unwrap_err().to_string();
        let start = format!("workload.{key} = (set): jobs define the flows");
        assert!(e.starts_with(&start), "{e}");
    }
}

proptest! {
    /// For any numbers, the job's graph releases every flow exactly once.
    #[test]
    fn any_numbers_that_resolve_make_a_graph_that_ends(
        racks in 2u32..5, servers in 1u32..4, pieces in 1u32..5, ahead in prop::option::of(1u32..9),
        per_server in 1u32..4, block in 1u64..60, data in 1u64..1_000, replicas in 1u32..5,
        copies in 1u32..4, slots in 1u32..3, remote in 0.0..1.0f64, hosts in 2u32..12,
    ) {
        let cluster = cluster(racks, servers);
        let jobs = json!([
            {"kind": "vm-migration", "memory": "100 B", "ratio": 0.5, "per_server": per_server,
             "pieces": pieces, "ahead": ahead, "source_rack": racks - 1},
            {"kind": "sort", "data": format!("{data} B"), "hadoop": {
                "block": format!("{block} B"), "replicas": replicas, "copies": copies,
                "map_slots": slots, "reduce_slots": slots, "remote": remote}},
            {"kind": "fft", "elements": 300, "hosts": hosts},
        ]);
        match generate(jobs, &cluster) {
            Err(e) => prop_assert!(replicas > cluster.hosts() || hosts > cluster.hosts(), "{}", e),
            Ok(flows) => {
                let count = flows.len() as u64;
                let io = play(flows, |b| Time::NS * b as i64);
                prop_assert_eq!(io.ledger.flows_completed, count);
                prop_assert!(io.flows.after.jobs.iter().all(|j| io.completed(j.end) != Time::NEVER));
            }
        }
    }
}
