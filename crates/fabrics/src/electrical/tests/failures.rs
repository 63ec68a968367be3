//! The capacity of the Clos with failed links and switches.

use super::*;
use lightloom_engine::run::Fault;
use lightloom_engine::{Command, Element, SwitchTier};
use serde_json::{json, Value};

/// 2 pods of 2 racks of 4 servers; each rack has 4 uplinks of 10 Gb/s, each pod 8 links.
fn table(detail: &str) -> Value {
    json!({"racks_per_pod": 2, "link_rate": "10 Gb/s", "detail": detail})
}

fn switch(tier: SwitchTier, index: u32) -> Element {
    Element::Switch { tier, index }
}

fn fail(element: Element, at: Time) -> Fault {
    let command = Command::Fail { element, loss: 1.0 };
    Fault { at, command }
}

fn repair(element: Element, at: Time) -> Fault {
    let command = Command::Repair(element);
    Fault { at, command }
}

/// The time at which the last flow is delivered [us], if every server of rack 0 sends 15 MB to one
/// of rack 3.
fn took(detail: &str, faults: &[Fault]) -> f64 {
    let rows: Vec<_> = (0..4)
        .map(|s| (s, 12 + s, 15_000_000, Time::ZERO))
        .collect();
    let (cluster, flows) = (cluster(4, 4), flows(&rows));
    let mut fabric = fabric(&cluster, &table(detail), &flows);
    let mut io = Io::new(flows);
    let plan = Plan {
        stop: Stop::Drain,
        limit: Time::S,
        sample: None,
        faults: faults.to_vec(),
    };
    run(&mut *fabric, &mut io, &plan, &mut Silent).expect("its own parts");
    assert_eq!(
        io.ledger.delivered,
        io.flows.total_bytes(),
        "nothing is lost"
    );
    let last = { io.flows.finish.iter() }.max().expect("flows");
    last.0 as f64 / 1e6
}

/// 60 MB take 12 ms at 40 Gb/s, and proportionally longer over the remaining links. Packets on the
/// last hops and the last round over the links add some microseconds.
#[test]
fn time_is_as_the_links_that_are_left() {
    let cable = Element::Transceiver { node: 0, uplink: 2 };
    for (elements, left) in [
        (vec![], 1.0),
        (vec![cable], 3.0 / 4.0),
        (vec![switch(SwitchTier::Aggregation, 1)], 3.0 / 4.0),
        // A switch of the other pod, on the way down to rack 3.
        (vec![switch(SwitchTier::Aggregation, 4)], 3.0 / 4.0),
        // 7 of 8 links of a pod still carry the full rate of one rack.
        (vec![switch(SwitchTier::Core, 5)], 1.0),
        (
            vec![
                switch(SwitchTier::Aggregation, 0),
                switch(SwitchTier::Aggregation, 1),
            ],
            1.0 / 2.0,
        ),
        (vec![cable, switch(SwitchTier::Aggregation, 2)], 3.0 / 4.0),
    ] {
        let faults: Vec<Fault> = elements.iter().map(|&e| fail(e, Time::ZERO)).collect();
        for detail in ["packets", "flows"] {
            let (took, expected) = (took(detail, &faults), 12_000.0 / left);
            let apart = took - expected;
            assert!(
                (0.0..10.0).contains(&apart),
                "{detail} {elements:?}: {took} {expected}"
            );
        }
    }
}

/// Half of the rate for 4 ms adds 2 ms.
#[test]
fn a_repair_gives_back_what_failed() {
    let switches = [0, 1].map(|k| switch(SwitchTier::Aggregation, k));
    let mut faults: Vec<Fault> = switches.map(|s| fail(s, Time::MS)).to_vec();
    faults.extend(switches.map(|s| repair(s, Time::MS * 5)));
    for detail in ["packets", "flows"] {
        let apart = took(detail, &faults) - 14_000.0;
        assert!((0.0..10.0).contains(&apart), "{detail}: {apart} us late");
    }
}

/// Flows wait for the repair, and are then delivered.
#[test]
fn what_is_cut_off_waits() {
    let all: Vec<Element> = (0..4).map(|k| switch(SwitchTier::Aggregation, k)).collect();
    let mut faults: Vec<Fault> = all.iter().map(|&e| fail(e, Time::MS)).collect();
    faults.extend(all.iter().map(|&e| repair(e, Time::MS * 101)));
    for detail in ["packets", "flows"] {
        let apart = took(detail, &faults) - 112_000.0;
        assert!((-5.0..10.0).contains(&apart), "{detail}: {apart} us late");
    }
}

/// One pod has no core: with two tiers, or with all racks in a pod.
#[test]
fn core_switches_of_one_pod_are_refused() {
    for shape in [json!({"tiers": 2}), json!({"racks_per_pod": 4})] {
        let mut table = shape;
        table["aggregation_switches"] = json!(1);
        let resolve = |table: &Value| (ENTRY.resolve)(table, &cluster(4, 4));
        resolve(&table).expect("a pod has aggregation switches");
        table["core_switches"] = json!(2);
        assert_eq!(
            resolve(&table).unwrap_err().to_string(),
            "fabric.core_switches = 2: has no effect: all 4 racks are in one pod and nothing \
             passes the core; remove it, or lower fabric.racks_per_pod"
        );
    }
}

#[test]
fn tiers_of_no_switches_and_of_too_many_are_refused() {
    let refused = |key: &str, value: u32| {
        let mut table = table("packets");
        table[key] = json!(value);
        (ENTRY.resolve)(&table, &cluster(4, 4))
            .unwrap_err()
            .to_string()
    };
    for (key, value, links) in [
        ("aggregation_switches", 0, 4),
        ("aggregation_switches", 5, 4),
        ("core_switches", 0, 8),
        ("core_switches", 9, 8),
    ] {
        let expected = format!("fabric.{key} = {value}: must be from 1 to the {links} links");
        let told = refused(key, value);
        assert!(told.starts_with(&expected), "{told}");
    }
}
