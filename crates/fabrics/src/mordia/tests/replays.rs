//! The log of a run, replayed with the same policy.

use super::{built, cluster, SKEWED};
use lightloom_control::log::{read, Read};
use lightloom_control::policies::find;
use lightloom_control::replay::{replay, Replay};
use lightloom_engine::{Command, Element, Flows, HostId, Time};
use serde_json::{json, Value};

/// The log of 20 ms: pairs send some kilobytes at a time, and the controller is dead for a while.
fn recorded(table: &Value) -> Read {
    let mut flows = Flows::new();
    for turn in 0..40 {
        for (pair, bytes) in SKEWED.iter().enumerate().filter(|(_, &bytes)| bytes > 0) {
            let (from, to) = (HostId(pair as u32 / 4), HostId(pair as u32 % 4));
            let some = *bytes as u64 / (20 + pair as u64 * turn % 7);
            flows.push(from, to, some, Time::US * (500 * turn as i64 + 3));
        }
    }
    let (mut fabric, mut io) = built(&cluster(4), table, flows);
    fabric.record_control("a test");
    let element = Element::Controller;
    fabric.advance(Time(6_300_000_001), &mut io);
    let fail = Command::Fail { element, loss: 1.0 };
    fabric.apply(fail).expect("it has a controller");
    fabric.advance(Time(8_100_000_001), &mut io);
    fabric.apply(Command::Repair(element)).expect("it has one");
    fabric.advance(Time::MS * 20, &mut io);
    let log = fabric.control_record().and_then(|record| record.log);
    read(&log.expect("it was asked for")).expect("a log")
}

fn again(log: &Read) -> Replay {
    let mut table = log.header.policy.as_object().expect("a table").clone();
    let kind = table.remove("kind").expect("of the registry");
    let entry = find(kind.as_str().expect("a name"), "policy").expect("it ran");
    let policy = (entry.build)(&Value::Object(table), &log.header.hardware).expect("it ran");
    replay(log, policy, log.header.order).expect("it was recorded")
}

fn with(policy: &str, more: &Value) -> Value {
    let mut table = json!({"policy": policy, "interval": "1 ms"});
    let table_of = |v: &Value| v.as_object().expect("a table").clone();
    table
        .as_object_mut()
        .expect("a table")
        .extend(table_of(more));
    table
}

#[test]
fn no_policy_parts_from_its_own_log() {
    for policy in ["tms", "mordia", "solstice", "eclipse", "rotation"] {
        for more in [
            json!({}),
            json!({"nic_delay": "23 us", "computation_delay": "300 us", "smoothing": 0.5}),
            json!({"packet_rate": "1 Gb/s", "computation_delay": "2500 us"}),
        ] {
            let log = recorded(&with(policy, &more));
            let replayed = again(&log);
            assert_eq!(replayed.parted, None, "{policy}, {more}");
            assert_eq!(replayed.recorded, replayed.replayed, "{policy}, {more}");
            assert!(replayed.recorded.decisions.len() >= 4, "{policy}, {more}");
        }
    }
    let turns = json!({"ports": 4, "night_ps": 11_500_000, "slots": [
        {"permutation": [1, 2, 3, 0], "day_ps": 90_000_000},
    ]});
    let fixed = json!({"policy": {"kind": "fixed", "schedule": turns}});
    assert_eq!(again(&recorded(&with("", &fixed))).parted, None);
}

/// Solstice would compute slots that are too short for the switch, so a replay must use the
/// shortest slot.
#[test]
fn replays_know_the_shortest_slot() {
    let policy = json!({"policy": {"kind": "solstice", "shortest": "0 s"}});
    let mut log = recorded(&with("", &policy));
    assert_eq!(log.header.shortest_slot, Some(Time::US * 61));
    log.header.shortest_slot = None;
    let parted = again(&log).parted.expect("its slots are shorter");
    assert!(parted.recorded.is_some() && parted.replayed.is_some());
}
