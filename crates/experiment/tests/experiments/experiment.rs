//! Experiments as users write them: they are resolved, refused, run, and repeated.

use crate::common::connects_single_nodes;
use lightloom_engine::run::Silent;
use lightloom_engine::{Flows, HostId, Time};
use lightloom_experiment::Experiment;
use lightloom_fabrics::REGISTRY;
use serde_json::{json, Value};

/// 16 racks.
fn raw(fabrics: Value) -> Value {
    json!({
        "cluster": {"racks": 16, "servers_per_rack": 4, "rack_rate": "200 Gb/s"},
        "workload": {"load": 0.4, "flows": 300, "sizes": {"kind": "fixed", "size": "20 KB"}},
        "fabric": fabrics,
    })
}

/// 16 racks, or 16 nodes for a fabric that connects nodes only.
fn raw_that_fits(fabric: &Value) -> Value {
    let mut raw = raw(json!([fabric]));
    if fabric["kind"].as_str().is_some_and(connects_single_nodes) {
        raw["cluster"] = json!({"hosts": 16, "server_rate": "10 Gb/s"});
    }
    raw
}

fn sirius() -> Value {
    raw(json!([{"kind": "sirius"}]))
}

fn with(pointer: &str, value: Value) -> Value {
    let mut raw = sirius();
    let (table, key) = pointer.rsplit_once('/').unwrap();
    raw.pointer_mut(table).unwrap()[key] = value;
    raw
}

fn resolve(raw: &Value) -> Result<Value, String> {
    let resolved = Experiment::read(raw).and_then(|e| e.resolve());
    resolved.map(|e| e.to_json()).map_err(|e| e.to_string())
}

fn run(raw: &Value, threads: usize) -> Flows {
    let experiment = Experiment::read(raw).unwrap();
    experiment.run(0, threads, &mut Silent).unwrap().flows
}

/// All values that determine the bytes of `flows.parquet`, row by row.
fn rows(f: &Flows) -> Vec<(HostId, HostId, u64, [Time; 3], u32)> {
    let times = |i: usize| [f.arrival[i], f.start[i], f.finish[i]];
    (0..f.len())
        .map(|i| {
            (
                f.src[i],
                f.dst[i],
                f.bytes[i],
                times(i),
                f.hops[i].to_bits(),
            )
        })
        .collect()
}

#[test]
fn every_fabric_and_preset_resolves_to_what_resolves_to_itself_and_runs_the_same() {
    for entry in REGISTRY {
        let presets = entry
            .presets
            .iter()
            .map(|p| json!({"kind": entry.kind, "preset": p.name}));
        for fabric in [json!({"kind": entry.kind})].into_iter().chain(presets) {
            let raw = raw_that_fits(&fabric);
            let resolved = resolve(&raw).unwrap();
            assert_eq!(resolve(&resolved).unwrap(), resolved, "{fabric}");
            assert_eq!(resolved["fabric"][0]["label"], entry.kind);
            assert_eq!(resolved["version"], env!("CARGO_PKG_VERSION"));
            assert_eq!(resolved["run"]["seed"], 1);
            let (once, again) = (run(&raw, 1), run(&resolved, 2));
            assert_eq!(rows(&once), rows(&again), "{fabric}");
            assert!(once.finish.iter().any(|&t| t != Time::NEVER), "{fabric}");
        }
    }
}

fn summary(raw: &Value) -> Value {
    let experiment = Experiment::read(raw).unwrap();
    let output = experiment.run(0, 1, &mut Silent).unwrap();
    serde_json::to_value(output.summary).unwrap()
}

/// Keys that a resolved table may omit, with the reason why they have no value in force.
const OPEN: &[(&str, &[&str])] = &[
    // One switch for each link, at the servers' rate. Tiers that are not given follow from the bill
    // of parts, by its price book; `racks_per_pod` records the simulated ones.
    ("clos", &["aggregation_switches", "core_switches", "tiers"]),
    // Routers without a speedup, as by default, have no output queues.
    ("flattened-butterfly", &["output_buffer"]),
    // Its default plan, the idealised rotor, has no gratings.
    ("sirius", &["grating_ports"]),
    // Their default tree of two levels has no pods.
    (
        "tree",
        &[
            "racks_per_pod",
            "link_rate",
            "aggregation_switches",
            "core_switches",
        ],
    ),
    ("cthrough", &["racks_per_pod"]),
    // The number of rules is counted for each change, and servers never leave the circuits.
    ("hydra", &["racks_per_pod", "rules", "controller_timeout"]),
    // The policy determines the schedule; racks send at the rate of circuits, and there is no
    // packet network.
    ("mordia", &["schedule", "stack_rate", "packet_rate"]),
    // There are no pods, no limits of buffers and no shares of links; the order is that of the
    // policy.
    (
        "hybrid",
        &[
            "initial",
            "racks_per_pod",
            "socket_buffer",
            "order",
            "optical_weight",
            "controller_timeout",
        ],
    ),
    // Parts and protocols of other architectures.
    (
        "lions",
        &[
            "hosts_per_queue",
            "detector",
            "abort_on_nack",
            "transmitters",
        ],
    ),
];

/// Keys of physics and devices, which are omitted if they are empty, so that tables of results are
/// as they were before these keys existed.
const LEFT_OUT: &[&str] = &[
    "devices",
    "discipline",
    "propagation",
    "server_propagation",
    "switch_latency",
    "fec_latency",
    "codeword_wait",
    "header",
    "packet",
];

#[test]
fn what_is_in_force_is_in_the_resolved_table_or_in_the_summary() {
    for entry in REGISTRY {
        let raw = raw_that_fits(&json!({"kind": entry.kind}));
        let table = &resolve(&raw).unwrap()["fabric"][0];
        let derived = &summary(&raw)["derived"];
        let open = OPEN
            .iter()
            .find(|o| o.0 == entry.kind)
            .map_or(&[][..], |o| o.1);
        for key in (entry.schema)()["properties"].as_object().unwrap().keys() {
            let known = table.get(key).or(derived.get(key)).is_some();
            let left_out = LEFT_OUT.contains(&key.as_str());
            assert!(
                known || left_out || open.contains(&key.as_str()),
                "{}.{key} is recorded nowhere",
                entry.kind
            );
        }
    }
}

/// The range of a key in the schema, which `explain` prints and refusals of numbers beyond all
/// integers repeat, must be the range by which the fabric itself refuses.
#[test]
fn ranges_of_the_schema_are_those_that_are_refused() {
    let mut checked = 0;
    for entry in REGISTRY {
        let schema = (entry.schema)();
        for (key, about) in schema["properties"].as_object().unwrap() {
            // Only limits other than "not negative" are tested.
            let least = about["minimum"].as_u64().filter(|&least| least > 0);
            let beyond = about["maximum"].as_u64().map(|most| most + 1);
            for value in [least.map(|least| least - 1), beyond].into_iter().flatten() {
                let fabric = json!({"kind": entry.kind, key.as_str(): value});
                let refused = resolve(&raw_that_fits(&fabric)).unwrap_err();
                let starts = format!("fabric.{key} = {value}: ");
                assert!(refused.starts_with(&starts), "{}: {refused}", entry.kind);
                checked += 1;
            }
            let ends = [about["minimum"].as_u64(), about["maximum"].as_u64()];
            for value in ends.into_iter().flatten().filter(|_| beyond.is_some()) {
                let fabric = json!({"kind": entry.kind, key.as_str(): value});
                // Other keys may have an effect on it, but the refusal must not be about its range.
                if let Err(refused) = resolve(&raw_that_fits(&fabric)) {
                    let range = refused.contains("must be from");
                    assert!(!range, "{}: {refused}", entry.kind);
                }
            }
        }
    }
    assert!(checked >= 20, "{checked}");
}

#[test]
fn each_end_of_a_range_has_its_own_reason() {
    let refused = |queue: u32| resolve(&with("/fabric/0/queue", json!(queue))).unwrap_err();
    assert!(refused(1).contains("must be from 2 to 64 (below 2, "));
    assert_eq!(
        refused(65),
        "fabric.queue = 65: must be from 2 to 64; lower it"
    );
}

/// The paper's racks have 8 channels' worth of servers, so 12 uplinks.
#[test]
fn a_run_of_sirius_says_how_long_its_epochs_are() {
    let racks = |fabric: Value| {
        let mut raw = raw(json!([fabric]));
        raw["cluster"] = json!({"racks": 128, "servers_per_rack": 24, "rack_rate": "400 Gb/s"});
        raw
    };
    let derived = |fabric| summary(&racks(fabric))["derived"].clone();
    assert_eq!(
        derived(json!({"kind": "sirius"})),
        json!({"base_uplinks": 8, "uplinks": 12, "cell_bytes": 562, "epoch_slots": 128.0 / 12.0})
    );
    let eight = derived(json!({"kind": "sirius", "uplinks": 8}));
    assert_eq!(eight["epoch_slots"], 16);
    let asked = derived(json!({"kind": "sirius", "epoch_slots": 20}));
    assert_eq!(asked["epoch_slots"], 20);
    // The values in force can be written back.
    let again = derived(json!({"kind": "sirius", "epoch_slots": 128.0 / 12.0}));
    assert_eq!(again["epoch_slots"], 128.0 / 12.0);
    // 8 uplinks meet a pair every 16 slots, and 4 more do not shorten the longest gap.
    let mixed = json!({"kind": "sirius", "uplink_plan": "mixed"});
    assert_eq!(derived(mixed.clone())["epoch_slots"], 16);
    let resolved = resolve(&racks(mixed)).unwrap();
    assert_eq!(resolved["fabric"][0]["grating_ports"], 16);
}

#[test]
fn faults_that_are_due_after_the_end_are_counted() {
    let end = summary(&sirius())["simulated_s"].as_f64().unwrap();
    assert!(end < 1.0);
    let fault = |at: &str, more: Value| {
        let mut fault = json!({"at": at, "element": "node", "node": 1});
        fault
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        fault
    };
    let late = |faults: Value| summary(&with("/fault", faults))["faults_after_end"].clone();
    assert_eq!(late(json!([])), 0);
    assert_eq!(late(json!([fault("1 ns", json!({}))])), 0);
    assert_eq!(late(json!([fault("1 ns", json!({"repair_at": "1 s"}))])), 1);
    let both = fault("1 s", json!({"repair_at": "2 s", "node": 2}));
    assert_eq!(late(json!([both, fault("1 ns", json!({}))])), 2);
}

#[test]
fn another_seed_gives_other_flows() {
    let a = run(&sirius(), 1);
    let b = run(&with("/run", json!({"seed": 2})), 1);
    assert_ne!(a.arrival, b.arrival);
}

#[test]
fn what_cannot_run_is_refused_by_name() {
    for (raw, expect) in [
        (with("/workload/load", json!(0)), "workload.load = 0: "),
        (
            with("/workload/flows", json!(1_000_000_000u64)),
            "workload.flows = 1000000000: would take about",
        ),
        (
            with("/fabric/0/kind", json!("sirus")),
            "fabric.kind = \"sirus\": no such fabric; did you mean \"sirius\"?",
        ),
        (
            with("/fabric/0/quue", json!(3)),
            "fabric.quue = 3: no such key; did you mean \"queue\"?",
        ),
        (with("/fabric/0/queue", json!(1)), "fabric.queue = 1: "),
        (
            with("/fabric/0/slot", json!("5 ns")),
            "fabric.slot = 5 ns: ",
        ),
        (
            with("/fabric/0/preset", json!("none")),
            "fabric.preset = \"none\": sirius has no such preset",
        ),
        (
            with("/fabric/0/label", json!("../up")),
            "fabric[0].label = \"../up\": names a directory",
        ),
        (with("/fabric/0/label", json!(3)), "fabric[0].label = 3: "),
        (
            with("/fabric", json!([])),
            "fabric = (missing): an experiment runs at least one",
        ),
        (
            with("/fabric", json!([{"queue": 3}])),
            "fabric[0].kind = (missing): required",
        ),
        (
            with("/fabric", json!([{"kind": "sirius"}, {"kind": "sirius"}])),
            "fabric[1].label = \"sirius\": another fabric has this label",
        ),
        (
            with(
                "/fabric",
                json!([{"kind": "sirius", "label": "a"}, {"kind": "sirius", "label": "b", "queue": 1}]),
            ),
            "fabric[b].queue = 1: ",
        ),
        (
            with("/compare", json!({"loads": [0.5, 0.0]})),
            "compare.loads[1] = 0: ",
        ),
        (
            with("/compare", json!({"lods": []})),
            "compare.lods = []: no such key; did you mean \"loads\"?",
        ),
        (
            with(
                "/fault",
                json!([{"at": "1 us", "element": "node", "node": 16}]),
            ),
            "fault[0].node = 16: ",
        ),
        (
            with("/workloads", json!({})),
            "workloads = {}: no such key; did you mean \"workload\"?",
        ),
        (json!({}), "cluster = (missing): required"),
    ] {
        let e = resolve(&raw).unwrap_err();
        assert!(e.starts_with(expect), "{e}");
    }
}

#[test]
fn a_fault_that_the_fabric_has_no_part_for_is_refused_before_the_run() {
    let raw = with(
        "/fault",
        json!([{"at": "1 s", "element": "grating", "grating": 1_000_000}]),
    );
    let refused = |raw: &Value, i| {
        let experiment = Experiment::read(raw).unwrap();
        experiment.prepare(i, 1, None).err().unwrap().to_string()
    };
    assert_eq!(
        refused(&raw, 0),
        "fault[0] = grating 1000000: uplink_plan = \"rotor\" is an ideal that no gratings \
         realise; use fabric.uplink_plan = \"wide\""
    );
    let uplink = json!([{"at": "1 s", "element": "transceiver", "node": 1, "uplink": 99}]);
    assert_eq!(
        refused(&with("/fault", uplink), 0),
        "fault[0] = node 1 uplink 99: this fabric has uplinks 0 to 5; correct it"
    );
    // The key can only have been meant for another fabric if there are several.
    let fabrics = json!([
        {"kind": "sirius"}, {"kind": "sirius", "label": "b"}, {"kind": "clos"}
    ]);
    let mut several = with("/fabric", fabrics);
    several["fault"] = json!([{"at": "1 s", "element": "node", "node": 1}]);
    assert_eq!(
        refused(&several, 2),
        "fault[0] = node 1: a failed rack switch disconnects its servers in any network; \
         clos does not model this; let a transceiver or a switch above the racks fail, or name \
         the only fabric in which it happens: fabric = \"sirius\" or \"b\""
    );
    several["fault"][0]["fabric"] = json!("clos");
    assert!(refused(&several, 2).ends_with("let a transceiver or a switch above the racks fail"));
    several["fault"][0]["fabric"] = json!("b");
    let experiment = Experiment::read(&several).unwrap();
    assert!(
        experiment.prepare(2, 1, None).is_ok(),
        "it happens in another"
    );
}

#[test]
fn a_fault_happens_in_the_fabric_it_names_alone() {
    let mut raw = raw(json!([{"kind": "sirius", "label": "a"}, {"kind": "sirius", "label": "b"}]));
    raw["run"] = json!({"stop": "last-arrival"});
    raw["fault"] = json!([{"at": "0 s", "element": "node", "node": 0, "fabric": "b"}]);
    let experiment = Experiment::read(&raw).unwrap();
    let losses = |i| {
        experiment
            .run(i, 1, &mut Silent)
            .unwrap()
            .summary
            .flows_completed
    };
    assert!(losses(1) < losses(0));
}

#[test]
fn a_drained_run_ends_with_its_last_flow_and_so_does_its_time_series() {
    let raw = with("/run", json!({"stop": "drain"}));
    let experiment = Experiment::read(&raw).unwrap();
    let out = experiment.run(0, 1, &mut Silent).unwrap();
    let last = out.flows.finish.iter().max().unwrap();
    assert_eq!(out.summary.flows_completed, 300);
    assert_eq!(out.series.time_ps.last(), Some(&last.0));
    assert!(out.series.time_ps.is_sorted_by(|a, b| a < b));
    assert_eq!(out.summary.mean_flow_bytes_law, Some(20_000.0));
    assert_eq!(out.summary.bytes_delivered, out.summary.bytes_offered);
}

#[test]
fn a_run_ends_at_the_time_it_is_told() {
    let raw = with("/run", json!({"stop": "1 us", "sample": "100 ns"}));
    let out = Experiment::read(&raw)
        .unwrap()
        .run(0, 1, &mut Silent)
        .unwrap();
    assert_eq!(
        out.series.time_ps,
        (0..=10).map(|k| k * 100_000).collect::<Vec<_>>()
    );
    assert_eq!(out.summary.simulated_s, 1e-6);
}

#[test]
fn flows_can_be_handed_over_for_a_parquet_trace() {
    let mut raw = sirius();
    raw["workload"] = json!({"trace": "jobs.parquet"});
    assert_eq!(resolve(&raw).unwrap()["workload"], raw["workload"]);
    assert_eq!(resolve(&raw).unwrap()["run"]["stop"], "drain");
    let experiment = Experiment::read(&raw).unwrap();
    let e = experiment.prepare(0, 1, None).err().unwrap().to_string();
    assert!(e.starts_with("workload.trace = \"jobs.parquet\": "), "{e}");
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(63), 5_000, Time::US);
    let out = experiment
        .prepare(0, 1, Some(flows))
        .unwrap()
        .run(&mut Silent)
        .unwrap();
    assert_eq!(
        (out.summary.flows_completed, out.summary.mean_flow_bytes_law),
        (1, None)
    );
    raw["workload"]["load"] = json!(0.5);
    let e = resolve(&raw).unwrap_err();
    assert!(
        e.starts_with("workload.load = 0.5: a trace defines its flows"),
        "{e}"
    );
}

/// Traffic within racks, one flow in 21 here, is delivered but excluded from goodput if the
/// experiment says so, including unfinished flows.
#[test]
fn goodput_between_racks_leaves_out_what_never_leaves_one() {
    for kind in ["sirius", "clos", "tree", "cthrough"] {
        let raw = raw(json!([{"kind": kind}]));
        let goodput = |rule: Option<&str>| {
            let mut raw = raw.clone();
            if let Some(rule) = rule {
                raw["run"] = json!({ "goodput": rule });
            }
            let experiment = Experiment::read(&raw).unwrap();
            experiment.run(0, 1, &mut Silent).unwrap()
        };
        let (all, between) = (goodput(None), goodput(Some("between-racks")));
        assert_eq!(rows(&all.flows), rows(&between.flows), "{kind}");
        let flows = &all.flows;
        let within: u64 = (0..flows.len())
            .filter(|&f| flows.src[f].0 / 4 == flows.dst[f].0 / 4)
            .map(|f| flows.delivered[f])
            .sum();
        let all_bytes = all.summary.bytes_delivered;
        assert!(within > 0 && within < all_bytes, "{kind}");
        let left = (all_bytes - within) as f64 / all_bytes as f64;
        let ratio =
            between.summary.goodput_normalized.unwrap() / all.summary.goodput_normalized.unwrap();
        assert!((ratio - left).abs() < 1e-12, "{kind}: {ratio} {left}");
    }
}

/// A tree with half of the capacity of its servers, which have 10 Gb/s.
fn tree(rate_precision: Option<&str>) -> Value {
    let mut raw = raw(json!([{"kind": "tree", "oversubscription": 2}, {"kind": "sirius"}]));
    raw["workload"]["load"] = json!(0.9);
    if let Some(precision) = rate_precision {
        raw["run"] = json!({"rate_precision": precision});
    }
    raw
}

/// The precision is printed if it was given, applies to fabrics with rates, and "exact" gives the
/// same bytes as before.
#[test]
fn a_precision_of_rates_reaches_the_fabrics_that_share_them_out() {
    let derived = |raw: &Value, index: usize| {
        let experiment = Experiment::read(raw).unwrap();
        let output = experiment.run(index, 1, &mut Silent).unwrap();
        let summary = serde_json::to_value(&output.summary).unwrap();
        summary["derived"]["rate_precision"].clone()
    };
    assert_eq!(
        resolve(&tree(None)).unwrap()["run"]["rate_precision"],
        Value::Null
    );
    let resolved = resolve(&tree(Some("1.0 %"))).unwrap();
    assert_eq!(resolved["run"]["rate_precision"], "1 %");
    assert_eq!(resolve(&resolved).unwrap(), resolved);
    assert_eq!(derived(&tree(Some("1 %")), 0), json!(0.01));
    assert_eq!(derived(&tree(Some("1 %")), 1), Value::Null);
    assert_eq!(derived(&tree(Some("exact")), 0), Value::Null);
    let exact = rows(&run(&tree(None), 1));
    assert_eq!(rows(&run(&tree(Some("exact")), 1)), exact);
    let rough = rows(&run(&tree(Some("1 %")), 1));
    assert_ne!(rough, exact);
    assert_eq!(rows(&run(&tree(Some("1 %")), 4)), rough);
}

/// 40 flows of 1 MB, on average one per millisecond, on links of 1 Gb/s, where each takes 8 ms.
fn apart(run: Value) -> Value {
    json!({
        "cluster": {"racks": 2, "servers_per_rack": 1, "server_rate": "1 Gb/s"},
        "workload": {"load": 4.0, "flows": 40, "sizes": {"kind": "fixed", "size": "1 MB"}},
        "run": run,
        "fabric": [{"kind": "clos"}],
    })
}

#[test]
fn a_run_that_its_flows_bound_is_not_cut_by_a_default() {
    let resolved = resolve(&apart(json!({"stop": "drain"}))).unwrap();
    assert_eq!(resolved["run"].get("limit"), None);
    let whole = summary(&apart(json!({"stop": "drain"})));
    assert_eq!(
        (&whole["flows_completed"], whole.get("cut")),
        (&json!(40), None)
    );
}

#[test]
fn a_limit_says_how_many_flows_it_left_out() {
    for stop in ["drain", "last-arrival", "1 s"] {
        let cut = summary(&apart(json!({"stop": stop, "limit": "20 ms"})));
        let (offered, done) = (&cut["flows_offered"], &cut["flows_completed"]);
        let (offered, done) = (offered.as_u64().unwrap(), done.as_u64().unwrap());
        let expected = json!({"limit_s": 0.02, "flows": 40, "flows_never_offered": 40 - offered,
                              "flows_unfinished": offered - done});
        assert_eq!(cut["cut"], expected);
        // A server's link carries 2.5 MB in 20 ms, and there are two.
        assert!(done <= 5 && offered < 40, "{cut}");
    }
}
