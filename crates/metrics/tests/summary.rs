//! The summary, compared with figures computed by hand and by brute force.

use lightloom_engine::run::Outcome;
use lightloom_engine::{Bytes, Cluster, Flows, HostId, Io, Nic, Rate, Shape, Time, Totals};
use lightloom_metrics::{summarize, Finished, InForce, PartCounts, Summary, Traffic};
use proptest::prelude::*;
use serde_json::Value;

const CLUSTER: Cluster = Cluster {
    racks: 2,
    servers_per_rack: 2,
    server_rate: Rate(4 * Rate::GBPS.0),
    nic: Nic::Uncapped,
};

/// Flows (bytes, arrival [µs], finish [µs], hops); those that finish are delivered completely.
fn run(rows: &[(u64, i64, Option<i64>, f32)], simulated: Time, totals: Totals) -> Summary {
    let mut flows = Flows::new();
    for &(bytes, arrival, _, _) in rows {
        flows.push(HostId(0), HostId(2), bytes, Time::US * arrival);
    }
    let mut io = Io::new(flows);
    while let Some(f) = io.arrive(simulated) {
        let (bytes, _, finish, hops) = rows[f.index()];
        io.flows.hops[f.index()] = hops;
        if let Some(finish) = finish {
            io.deliver(f, bytes, Time::US * finish);
        }
    }
    let outcome = Outcome {
        simulated,
        samples: Vec::new(),
        totals,
        shape: Shape {
            hosts: 4,
            racks: 2,
            host_rate: CLUSTER.server_rate,
            link_capacity: Rate(1),
        },
        circuits: Vec::new(),
        links: Vec::new(),
        lit: None,
        at_last_arrival: None,
        kernel_s: 0.5,
        interrupted: false,
        still_since: None,
    };
    summarize(&Finished {
        fabric: "clos",
        label: "wide",
        seed: 7,
        threads: 2,
        cluster: &CLUSTER,
        io: &io,
        outcome: &outcome,
        within_racks: true,
        mean_bytes: Some(100_000.0),
        traffic: Traffic::default(),
        span: None,
        counted: &[],
        parts: &PartCounts(vec![("wires", 12), ("link_bps", 5_000_000_000)]),
        derived: &InForce(vec![("uplinks", (12, 1)), ("epoch_slots", (32, 3))]),
        faults_after_end: 2,
        cut_at: Some(Time::US * 3),
        time_scale: Some(0.5),
        devices: None,
        cycle: None,
        excess: None,
        physics: None,
        size_limits: Some(&[Bytes(1_000), Bytes(100_000)]),
        wall_s: 1.0,
    })
}

#[test]
fn parts_keep_their_order() {
    let s = run(
        &[(1_000, 0, Some(10), 2.0)],
        Time::US * 200,
        Totals::default(),
    );
    let shown = serde_json::to_string(&s.parts).unwrap();
    assert_eq!(shown, r#"{"wires":12,"link_bps":5000000000}"#);
}

/// A derived value need not be whole, such as the epochs of Sirius; a whole value is written as an
/// integer.
#[test]
fn what_is_in_force_is_written_as_it_is() {
    let s = run(
        &[(1_000, 0, Some(10), 2.0)],
        Time::US * 200,
        Totals::default(),
    );
    let shown = serde_json::to_value(&s).unwrap();
    assert_eq!(shown["derived"]["uplinks"], 12);
    assert_eq!(shown["derived"]["epoch_slots"], 32.0 / 3.0);
    assert_eq!(shown["faults_after_end"], 2);
    assert_eq!(
        shown["cut"],
        serde_json::json!({"limit_s": 3e-6, "flows": 1, "flows_never_offered": 0,
                           "flows_unfinished": 0})
    );
}

#[test]
fn flows_that_arrive_before_any_could_end_have_no_load() {
    // 1,000,000 B take 1 ms at the 8 Gb/s of a rack.
    let at = |late: i64| {
        run(
            &[(1_000_000, 0, None, 1.0), (1_500_000, late, None, 1.0)],
            Time::US * 9_000,
            Totals::default(),
        )
    };
    let (batch, spread) = (at(1_000), at(1_001));
    assert_eq!((batch.load_offered, batch.load_delivered), (None, None));
    let load = 2_500_000.0 * 8.0 / (4.0 * 4e9 * 1.001e-3);
    assert!((spread.load_offered.unwrap() - load).abs() < 1e-9);
}

#[test]
fn figures_worked_out_by_hand() {
    let s = run(
        &[
            (1_000, 0, Some(10), 2.0),
            (99_999, 1, Some(21), 1.0),
            (100_000, 2, Some(102), f32::NAN),
            (500_000, 10, None, f32::NAN),
        ],
        Time::US * 200,
        Totals {
            queue_peak_bytes: Some(0),
            ..Totals::default()
        },
    );
    // 700,999 B in 10 µs from 4 servers of 4 Gb/s, that is 20,000 B.
    assert!((s.load_offered.unwrap() - 700_999.0 / 20_000.0).abs() < 1e-9);
    // The largest flow, 500 KB, is not delivered.
    assert_eq!(s.largest_alone_s, Some(500e-6));
    assert!((s.goodput_normalized.unwrap() - 200_999.0 / 400_000.0).abs() < 1e-9);
    assert_eq!((s.flows_offered, s.flows_completed), (4, 3));
    assert_eq!((s.bytes_offered, s.bytes_delivered), (700_999, 200_999));
    assert_eq!(s.mean_flow_bytes_law, Some(100_000.0));
    assert_eq!(s.mean_flow_bytes_offered, Some(700_999.0 / 4.0));
    assert_eq!(s.fct.short.p50_us, Some(10.0));
    assert_eq!(s.fct.short.p99_us, Some(20.0));
    assert_eq!(s.fct.long.mean_us, Some(100.0));
    assert_eq!(s.fct.all.p50_us, Some(20.0));
    // The rack carries 1 B per nanosecond: the ideal times are 1, 99.999 and 100 µs.
    assert_eq!(s.slowdown.p50, Some(1.0));
    assert_eq!(s.slowdown.p99, Some(10.0));
    // The fourth flow has waited for 190 µs, so no percentile of the long flows is known.
    let (all, long) = (s.fct_bound.all, s.fct_bound.long);
    assert_eq!((all.flows, all.unfinished), (4, 1));
    assert_eq!((long.flows, long.unfinished), (2, 1));
    assert_eq!((all.p50_us.low, all.p50_us.high), (Some(20.0), Some(20.0)));
    assert_eq!((all.p99_us.low, all.p99_us.high), (Some(190.0), None));
    assert_eq!(
        (long.p50_us.low, long.p50_us.high),
        (Some(100.0), Some(100.0))
    );
    assert_eq!(
        (long.mean_us.low, long.mean_us.high),
        (Some((100.0 + 190.0) / 2.0), None)
    );
    // Its slowdown so far is 190 ÷ 500.
    let (p50, p99) = (s.slowdown_bound.p50, s.slowdown_bound.p99);
    assert_eq!((p50.low, p50.high), (Some(0.38), Some(1.0)));
    assert_eq!((p99.low, p99.high), (Some(10.0), None));
    // The same by size, with the limits 1 KB and 100 KB: no flow is below the first.
    let by_size = s.by_size.unwrap().0;
    let names: Vec<&str> = by_size.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["under 1 KB", "1 KB to 100 KB", "from 100 KB"]);
    let counts: Vec<_> = { by_size.iter() }
        .map(|(_, of)| (of.flows, of.unfinished))
        .collect();
    assert_eq!(counts, [(0, 0), (2, 0), (2, 1)]);
    let (none, short, long) = (by_size[0].1, by_size[1].1, by_size[2].1);
    assert_eq!((none.p50.low, none.p99.low), (None, None));
    assert_eq!(
        (short.p50.high, short.p99.high),
        (Some(20.0 / 99.999), Some(10.0))
    );
    assert_eq!((long.p50.low, long.p50.high), (Some(0.38), Some(1.0)));
    assert_eq!((long.p99.low, long.p99.high), (Some(1.0), None));
    let hops = (2.0 * 1_000.0 + 99_999.0) / 100_999.0;
    assert!((s.hops_mean.unwrap() - hops).abs() < 1e-12);
}

#[test]
fn what_is_not_there_is_null_and_never_zero() {
    let s = run(&[(5, 0, None, f32::NAN)], Time::US, Totals::default());
    let json = serde_json::to_value(&s).unwrap();
    for key in [
        "/load_offered",
        "/load_asked",
        "/cycle_s",
        "/fct/all/p50_us",
        "/fct/short/p99_us",
        "/fct/long/mean_us",
        "/slowdown/p50",
        "/queue_peak_bytes",
        "/reorder_peak_bytes",
        "/hops_mean",
        "/cell_hops",
        "/packet_hops",
        "/circuit_share",
    ] {
        assert_eq!(json.pointer(key), Some(&Value::Null), "{key}");
    }
    assert_eq!(json["drops"], 0);
    assert_eq!(json["jobs"], serde_json::json!({}));
    assert_eq!(json["goodput_normalized"], 0.0);
    let queue = Totals {
        queue_peak_bytes: Some(0),
        ..Totals::default()
    };
    assert_eq!(run(&[], Time::ZERO, queue).queue_peak_bytes, Some(0));
}

#[test]
fn the_share_of_circuits_is_of_the_bytes_delivered() {
    let share = |circuit_bytes, rows: &[_]| {
        let totals = Totals {
            circuit_bytes,
            ..Totals::default()
        };
        run(rows, Time::MS, totals).circuit_share
    };
    let rows = [(400, 0, Some(10), 1.0), (900, 0, None, 1.0)];
    assert_eq!(share(Some(100), &rows), Some(0.25));
    assert_eq!(share(Some(0), &rows), Some(0.0));
    assert_eq!(share(None, &rows), None);
    assert_eq!(share(Some(0), &rows[1..]), None);
}

#[test]
fn keys_stand_in_the_order_of_the_design() {
    let text = serde_json::to_string(&run(&[], Time::ZERO, Totals::default())).unwrap();
    let keys = [
        "fabric",
        "label",
        "version",
        "seed",
        "simulated_s",
        "flows_offered",
        "flows_completed",
        "bytes_offered",
        "bytes_delivered",
        "load_offered",
        "goodput_normalized",
        "fct",
        "slowdown",
        "queue_peak_bytes",
        "reorder_peak_bytes",
        "drops",
        "hops_mean",
        "cell_hops",
        "packet_hops",
        "kernel_s",
        "wall_s",
        "peak_rss_bytes",
    ];
    let places: Vec<_> = keys
        .iter()
        .map(|k| text.find(&format!("\"{k}\":")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{text}");
    assert!(text.starts_with("{\"fabric\""));
}

proptest! {
    /// Each class, compared with sorting and counting.
    #[test]
    fn completion_times_by_brute_force(
        rows in prop::collection::vec((1u64..200_000, 0i64..100, prop::option::of(1i64..500)), 1..60),
    ) {
        let rows: Vec<_> = rows
            .into_iter()
            .map(|(b, a, d)| (b, a, d.map(|d| a + d), f32::NAN))
            .collect();
        let s = run(&rows, Time::MS, Totals::default());
        for (class, keep) in [
            (s.fct.all, (|_| true) as fn(u64) -> bool),
            (s.fct.short, |b| b < 100_000),
            (s.fct.long, |b| b >= 100_000),
        ] {
            let mut us: Vec<i64> = rows.iter().filter(|r| keep(r.0)).filter_map(|r| Some(r.2? - r.1)).collect();
            us.sort_unstable();
            let rank = |p: f64| us.get((p * us.len() as f64 - 1e-9).ceil().max(1.0) as usize - 1).map(|&t| t as f64);
            prop_assert_eq!(class.p50_us, rank(0.50));
            prop_assert_eq!(class.p99_us, rank(0.99));
            let mean = us.iter().sum::<i64>() as f64 / us.len() as f64;
            prop_assert!(class.mean_us.map_or(us.is_empty(), |m| (m - mean).abs() < 1e-9 * mean));
        }
    }
}
