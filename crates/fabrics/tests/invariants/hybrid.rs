//! Tables of the tree and of c-Through: intervals are microseconds, so that circuits change within
//! the short runs of these tests.

use crate::scenario::scenarios;
use crate::switches;
use crate::tables::{merged, nic, picoseconds, switches, Fitted};
use crate::trials::Trial;
use crate::watch::Run;
use lightloom_control::controller::{Action, Input};
use lightloom_control::fake::{Breach, Fake};
use lightloom_control::host::Driver;
use lightloom_control::log::{self, Entry, Event, Read};
use lightloom_engine::run::Fault;
use lightloom_engine::{Cluster, Command, Element, Rate, Time};
use lightloom_fabrics::find;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{json, Value};

/// `kind = "tree"`.
pub const TREE: Trial = Trial {
    kind: "tree",
    tables: || tree().boxed(),
    out_of_range: tree_out_of_range,
};

/// `kind = "cthrough"`.
pub const CTHROUGH: Trial = Trial {
    kind: "cthrough",
    tables: || cthrough().boxed(),
    out_of_range: cthrough_out_of_range,
};

/// Values that the tree's keys may not have.
pub fn tree_out_of_range() -> Vec<(&'static str, Value, &'static str)> {
    let same = |key: &'static str, value| (key, value, key);
    vec![
        same("oversubscription", json!(0.5)),
        same("oversubscription", json!(1001.0)),
        same("levels", json!(1)),
        same("levels", json!(4)),
        same("racks_per_pod", json!(0)),
        same("racks_per_pod", json!(1_000_003)),
    ]
}

/// Values that c-Through's keys may not have.
pub fn cthrough_out_of_range() -> Vec<(&'static str, Value, &'static str)> {
    let same = |key: &'static str, value| (key, value, key);
    let mut values = tree_out_of_range();
    values.extend([
        same("circuit_rate", json!("0 b/s")),
        same("interval", json!("0 ps")),
        ("reconfiguration_delay", json!("500 s"), "interval"),
        ("computation_delay", json!("500 s"), "interval"),
        same("socket_buffer", json!("0 B")),
        same("socket_buffer", json!("2 TB")),
        same("report_queue", json!("2 TB")),
        same("report_change", json!("2 TB")),
        same("hysteresis", json!("2 TB")),
        same("optical_weight", json!(0.3)),
        same("optical_weight", json!(1.0)),
        same("ramp", json!("4000 s")),
        same("dip", json!("4000 s")),
        same("controller_timeout", json!("4000 s")),
    ]);
    values
}

/// Racks, their servers, and the keys of a tree that fits.
fn trees() -> impl Strategy<Value = (Cluster, Value)> {
    let pods = (1u32..5, 1u32..4).prop_filter("two racks or more", |(p, r)| p * r > 1);
    let servers = (1u32..5, 10u64..40);
    let ratio = prop::sample::select(vec![1.0, 1.7, 4.0, 10.0]);
    (pods, servers, nic(), ratio, any::<bool>()).prop_map(
        |((pods, pod), (servers, gbps), nic, ratio, fat)| {
            let cluster = Cluster {
                racks: pods * pod,
                servers_per_rack: servers,
                server_rate: Rate(gbps * Rate::GBPS.0 + 7),
                nic,
            };
            let table = match fat {
                true => json!({"oversubscription": ratio, "levels": 3, "racks_per_pod": pod}),
                false => json!({ "oversubscription": ratio }),
            };
            (cluster, table)
        },
    )
}

/// Tables of the tree.
pub fn tree() -> impl Strategy<Value = Fitted> {
    (trees(), switches::failures()).prop_map(|((cluster, mut table), failures)| {
        // Sometimes one switch per tier, whose failure stops all traffic; a single pod has no core.
        if table["racks_per_pod"] != cluster.racks {
            table["core_switches"] = json!(1);
        }
        let mut parts = switches::Parts {
            racks: cluster.racks,
            uplinks: 1,
            aggregation: 0,
            core: 1,
        };
        if let Some(pod) = table["racks_per_pod"].as_u64() {
            table["aggregation_switches"] = json!(1);
            parts.aggregation = cluster.racks / pod as u32;
        }
        Fitted {
            cluster,
            faults: switches::faults(&failures, parts),
            table,
            delivers: true,
        }
    })
}

/// Tables of c-Through.
pub fn cthrough() -> impl Strategy<Value = Fitted> {
    let us = |from: i64, to: i64| (from * 1_000_000..to * 1_000_000).prop_map(picoseconds);
    let delays = (us(3, 90), us(0, 2), us(0, 1));
    let transport = (0i64..9_000_000, 0i64..9_000_000, us(1, 200));
    let bytes = |n: u64| prop_oneof![Just(0), 0..n];
    let demand = (1u64..200_000, bytes(20_000), bytes(20_000), bytes(9_000));
    let optics = (1u64..60, prop::sample::select(vec![0.5, 0.9, 0.99]));
    let words = switches("cthrough", &[]);
    (trees(), delays, transport, demand, optics, words, failures()).prop_map(
        |((cluster, mut table), delays, transport, demand, optics, words, failures)| {
            let (buffer, queue, change, hysteresis) = demand;
            let keys = json!({
                "interval": delays.0, "reconfiguration_delay": delays.1, "computation_delay": delays.2,
                "ramp": picoseconds(transport.0), "dip": picoseconds(transport.1),
                "controller_timeout": transport.2,
                "socket_buffer": format!("{buffer} B"), "hysteresis": format!("{hysteresis} B"),
                "report_queue": format!("{queue} B"), "report_change": format!("{change} B"),
                "circuit_rate": format!("{} Gb/s", optics.0), "optical_weight": optics.1,
            });
            for (key, value) in keys.as_object().expect("a table") {
                table[key] = value.clone();
            }
            Fitted {
                cluster,
                table: merged(table, words),
                faults: faults(&failures, cluster.racks),
                delivers: true,
            }
        },
    )
}

/// The controller or a port fails, and may be repaired.
#[derive(Clone, Copy, Debug)]
struct Failure {
    port: Option<u32>,
    at: Time,
    repaired_after: Option<Time>,
}

fn failures() -> impl Strategy<Value = Vec<Failure>> {
    let span = || (0i64..200_000_000).prop_map(Time);
    let failure = (
        prop::option::of(any::<u32>()),
        span(),
        prop::option::of(span()),
    )
        .prop_map(|(port, at, repaired_after)| Failure {
            port,
            at,
            repaired_after,
        });
    prop_oneof![Just(Vec::new()), prop::collection::vec(failure, 1..4)]
}

fn faults(failures: &[Failure], racks: u32) -> Vec<Fault> {
    let mut faults = Vec::new();
    for f in failures {
        let element = match f.port {
            Some(port) => Element::Port {
                node: port % racks,
                plane: 0,
            },
            None => Element::Controller,
        };
        let command = Command::Fail { element, loss: 1.0 };
        faults.push(Fault { at: f.at, command });
        faults.extend(f.repaired_after.map(|after| Fault {
            at: f.at + after,
            command: Command::Repair(element),
        }));
    }
    faults.sort_by_key(|f| f.at);
    faults
}

/// Ensures that the invariants are not tested on a tree alone; the actions of the controllers are
/// also replayed on a switch that records violations.
#[test]
fn circuits_are_tried_and_no_promise_is_broken() {
    for kind in ["cthrough", "hydra", "hybrid"] {
        try_circuits(kind);
    }
}

fn try_circuits(kind: &'static str) {
    let entry = find(kind).expect("registered");
    let (strategy, mut runner) = (scenarios(kind), TestRunner::deterministic());
    let mut undrained = 0;
    let crossed = (0..100).filter(|_| {
        let scenario = strategy
            .new_tree(&mut runner)
            .expect("a scenario")
            .current();
        let mut run = Run::new(entry, &scenario, 1);
        run.fabric.record_control(kind);
        run.advance(Time::MS);
        let record = run.fabric.control_record().expect("a controller");
        let log = log::read(&record.log.expect("it was recorded")).expect("a whole log");
        let drains = log.header.order.is_some_and(|order| order.drains());
        let noted = breaches(&log);
        undrained += noted.len();
        let is_broken = |b: &Breach| drains || matches!(b, Breach::PortTaken(_));
        assert_eq!(
            noted.into_iter().find(is_broken),
            None,
            "{kind}: {scenario:?}"
        );
        run.fabric.totals().circuit_bytes > Some(0)
    });
    let crossed = crossed.count();
    assert!(
        crossed >= 50,
        "{kind}: only {crossed} of 100 scenarios have bytes over circuits"
    );
    // c-Through does not drain circuits.
    assert_eq!(undrained > 0, kind != "hydra", "{kind}: {undrained}");
}

/// The violations while the actions of a log were carried out.
fn breaches(log: &Read) -> Vec<Breach> {
    let mut fake = Fake::new(log.header.hardware);
    let mut begun: Vec<&Action> = Vec::new();
    for Entry { at, event } in &log.entries {
        match event {
            Event::Action(action) => begun.push(action),
            Event::Input(Input::Done(step)) => {
                let of = |a: &&Action| a.step() == Some(*step);
                if let Some(place) = begun.iter().position(of) {
                    fake.carry_out(begun.remove(place), *at);
                }
            }
            Event::Input(Input::PortDown(rack, plane)) => fake.break_port(*rack, *plane, *at),
            Event::Input(Input::PortUp(rack, plane)) => fake.mend_port(*rack, *plane),
            Event::Input(Input::Silence(found)) => {
                begun.clear();
                fake.set(found.clone());
            }
            Event::Input(_) | Event::Host(_) => {}
        }
    }
    fake.breaches().to_vec()
}
