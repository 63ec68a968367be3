//! Times and windows of a fabric's table that limit its results: each has a finding; with the value
//! of its remedy, there is neither a finding nor a limit.

use lightloom_engine::run::Silent;
use lightloom_engine::{Flows, HostId, Time};
use lightloom_experiment::Experiment;
use serde_json::{json, Value};

fn raw(fabric: &Value, server_rate: &str) -> Value {
    linked(fabric, server_rate, "uncapped")
}

/// The same with servers' links of a given rate.
fn linked(fabric: &Value, server_rate: &str, link: &str) -> Value {
    json!({
        "cluster": {"racks": 16, "servers_per_rack": 4, "server_rate": server_rate, "nic": link},
        "workload": {"trace": "given.parquet"},
        "run": {"stop": "drain", "limit": "100 s"},
        "fabric": [fabric],
    })
}

/// The keys that have findings.
fn found(fabric: &Value) -> Vec<&'static str> {
    found_in(&raw(fabric, "100 Gb/s"))
}

fn found_in(experiment: &Value) -> Vec<&'static str> {
    let experiment = Experiment::read(experiment).expect("of this shape");
    let resolved = experiment.resolve().expect("can be completed");
    let assumptions = resolved.assumptions().expect("resolved").remove(0);
    assumptions.findings.iter().map(|f| f.parameter).collect()
}

/// The times at which flows of this size between racks 0 and 1 end, in both directions.
fn ends(fabric: &Value, bytes: u64) -> Vec<Time> {
    ends_in(&raw(fabric, "100 Gb/s"), bytes)
}

fn ends_in(experiment: &Value, bytes: u64) -> Vec<Time> {
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(4), bytes, Time::ZERO);
    let experiment = Experiment::read(experiment).expect("of this shape");
    let prepared = experiment.prepare(0, 1, Some(flows)).expect("can run");
    prepared
        .run(&mut Silent)
        .expect("nothing fails")
        .flows
        .finish
}

#[test]
fn a_window_below_the_round_trip_is_a_finding() {
    let sirius = |crossing: &str, window: u32| json!({"kind": "sirius", "mode": "ideal", "propagation": crossing, "ideal_window": window});
    // An epoch is 133 ns: of 16 racks, twelve uplinks meet one in a slot of 100 ns.
    for (crossing, covering) in [("0 s", 2), ("300 ns", 5), ("1 us", 10), ("2500 ns", 21)] {
        assert_eq!(found(&sirius(crossing, covering)), [""; 0], "{crossing}");
        let narrow = sirius(crossing, covering - 1);
        assert_eq!(found(&narrow), ["ideal_window"], "{crossing}");
        let [narrow, wide, open] = [covering - 1, covering, 64]
            .map(|window| ends(&sirius(crossing, window), 1_000_000)[0].as_secs_f64());
        assert!(wide <= 1.05 * open, "{crossing}: {wide} of {open}");
        assert!(narrow > wide, "{crossing}: {narrow} of {wide}");
    }
    let cells = json!({"kind": "sirius", "propagation": "1 us", "ideal_window": 2, "queue": 64});
    assert_eq!(found(&cells), [""; 0]);
}

/// A flow uses no more of the uplinks than its server's link carries, so a window that is smaller
/// in the same proportion suffices. There are twelve uplinks of 45 Gb/s of payload.
#[test]
fn a_window_is_as_wide_as_the_servers_link_needs() {
    let sirius = |window: u32| json!({"kind": "sirius", "mode": "ideal", "propagation": "2500 ns", "ideal_window": window});
    for (link, filling) in [("25 Gb/s", 1), ("100 Gb/s", 3), ("400 Gb/s", 16)] {
        let with = |window| linked(&sirius(window), "100 Gb/s", link);
        assert_eq!(found_in(&with(filling)), [""; 0], "{link}");
        let end = |window| ends_in(&with(window), 1_000_000)[0].as_secs_f64();
        assert!(
            end(filling) <= 1.05 * end(64),
            "{link}: {} of {}",
            end(filling),
            end(64)
        );
        if filling > 1 {
            assert_eq!(found_in(&with(filling - 1)), ["ideal_window"], "{link}");
            assert!(
                end(filling - 1) > 1.02 * end(64),
                "{link}: {} of {}",
                end(filling - 1),
                end(64)
            );
        }
    }
}

/// Short flows to the same destination stop a flow of 5 MB ten times, over links of 5 us: 44
/// packets of 1,500 B are sent at 100 Gb/s in 5 us plus the 240 ns that one takes at 50 Gb/s.
#[test]
fn a_flow_buffer_below_a_hop_is_a_finding() {
    let clos = |buffer: u32| json!({"kind": "clos", "propagation": "5 us", "flow_buffer": buffer});
    let with = |buffer| linked(&clos(buffer), "100 Gb/s", "100 Gb/s");
    let end = |buffer| {
        let mut flows = Flows::new();
        flows.push(HostId(4), HostId(0), 5_000_000, Time::ZERO);
        for meets in 0..10 {
            flows.push(HostId(8), HostId(0), 150_000, Time::US * 40 * meets);
        }
        let experiment = Experiment::read(&with(buffer)).expect("of this shape");
        let prepared = experiment.prepare(0, 1, Some(flows)).expect("can run");
        let finish = prepared
            .run(&mut Silent)
            .expect("nothing fails")
            .flows
            .finish;
        finish.iter().max().expect("flows").as_secs_f64()
    };
    assert_eq!(found_in(&with(43)), ["flow_buffer"]);
    assert_eq!(found_in(&with(44)), [""; 0]);
    let open = end(10_000);
    assert!(end(44) <= 1.001 * open, "{} of {open}", end(44));
    assert!(end(22) > 1.1 * open, "{} of {open}", end(22));
}

/// By hand: 16 racks with 12 uplinks have epochs of 4/3 slots of 100 ns. Without crossing time, a
/// cell counts for 2.5 epochs and a slot, 3.25 epochs. A crossing of 1.25 us is 12.5 slots, with at
/// least one slot in each epoch: a lag of 14, so a cell counts for 15.5 epochs and 13.5 slots, 25.6
/// epochs.
#[test]
fn a_queue_below_the_way_of_a_grant_is_a_finding() {
    let sirius = |crossing: &str, queue: u32| json!({"kind": "sirius", "propagation": crossing, "queue": queue});
    assert_eq!(found(&sirius("0 s", 4)), [""; 0]);
    assert_eq!(found(&sirius("1250 ns", 4)), ["queue"]);
    assert_eq!(found(&sirius("1250 ns", 26)), [""; 0]);
}

#[test]
fn times_that_leave_circuits_no_time_are_findings() {
    let hybrid = |interval: &str, more: Value| {
        let mut table = json!({
            "kind": "hybrid", "interval": interval, "settle": "10 ms", "ramp": "5 ms",
            "dip": "30 ms",
        });
        for (key, value) in more.as_object().unwrap() {
            table[key] = value.clone();
        }
        table
    };
    let of = |interval: &str, more: Value| found(&hybrid(interval, more));
    assert_eq!(of("1 s", json!({})), [""; 0]);
    assert_eq!(of("10 ms", json!({})), ["interval"]);
    assert_eq!(of("11 ms", json!({})), ["ramp", "dip"]);
    assert_eq!(of("16 ms", json!({})), ["dip"]);
    assert_eq!(of("16 ms", json!({"dip": "0 s"})), [""; 0]);
    // Without an electrical network, these findings do not apply.
    let alone = json!({"electrical": false});
    assert_eq!(of("16 ms", alone), [""; 0]);
    // Circuits that stay, and those that take turns by a schedule.
    let fixed = json!({"policy": {"kind": "fixed", "circuits": [[0, 1]]}});
    assert_eq!(of("1 us", fixed), [""; 0]);
    let rotation =
        |day: &str| json!({"policy": {"kind": "rotation", "day": day, "night": "10 ms"}});
    assert_eq!(of("1 s", rotation("4 ms")), ["ramp"]);
    assert_eq!(of("1 s", rotation("5 ms")), [""; 0]);
    let cthrough = |interval: &str| json!({"kind": "cthrough", "interval": interval});
    assert_eq!(found(&cthrough("1 s")), [""; 0]);
    assert_eq!(found(&cthrough("14 ms")), ["ramp", "dip"]);
}
