//! Replays logs of whole fabrics without a difference.

use lightloom_control::controller::Input;
use lightloom_control::hardware::Hardware;
use lightloom_control::log::{self, Event, Read};
use lightloom_control::order::Order;
use lightloom_control::policies::find as find_policy;
use lightloom_control::policy::Policy;
use lightloom_control::replay::replay;
use lightloom_engine::{Cluster, Command, Element, Flows, HostId, Io, Nic, Rate, Stream, Time};
use lightloom_fabrics::{find, Site};
use serde_json::{json, Value};

const CLUSTER: Cluster = Cluster {
    racks: 6,
    servers_per_rack: 2,
    server_rate: Rate(10_000_000_000),
    nic: Nic::Uncapped,
};

/// 300 flows of up to 2 MB in 20 ms.
fn flows() -> Flows {
    let mut rng = Stream::new(5, "flows", 0);
    let mut flows = Flows::new();
    let mut at = Time::ZERO;
    for _ in 0..300 {
        at += Time((rng.draw() % 130_000_000) as i64);
        let (src, dst) = ((rng.draw() % 12) as u32, (rng.draw() % 12) as u32);
        if src != dst {
            flows.push(HostId(src), HostId(dst), 1 + rng.draw() % 2_000_000, at);
        }
    }
    flows
}

/// The inputs and actions of a fabric's controller in 40 ms, in which a port breaks and is
/// repaired, and the controller is silent for some time.
fn recorded(kind: &str, table: &Value) -> Read {
    let entry = find(kind).expect("registered");
    let table = (entry.resolve)(table, &CLUSTER).expect("a valid table");
    let flows = flows();
    let site = Site {
        cluster: &CLUSTER,
        flows: &flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let mut fabric = (entry.build)(&table, &site).expect("a valid table");
    fabric.record_control("a test");
    let port = Element::Port { node: 2, plane: 0 };
    let fail = |element| Command::Fail { element, loss: 1.0 };
    let faults = [
        (5_300, fail(port)),
        (11_100, Command::Repair(port)),
        (14_050, fail(Element::Controller)),
        (17_700, Command::Repair(Element::Controller)),
    ];
    let mut io = Io::new(flows.clone());
    for (us, command) in faults {
        fabric.advance(Time::US * us, &mut io);
        fabric.apply(command).expect("it can fail");
    }
    fabric.advance(Time::MS * 40, &mut io);
    let record = fabric.control_record().expect("a controller");
    log::read(&record.log.expect("it was recorded")).expect("a whole log")
}

fn built(table: &Value, hardware: &Hardware) -> Box<dyn Policy> {
    let mut table = table.clone();
    let kind = table
        .as_object_mut()
        .and_then(|t| t.remove("kind"))
        .expect("a kind");
    let entry = find_policy(kind.as_str().expect("a name"), "policy").expect("registered");
    (entry.build)(&table, hardware).expect("a table that fits")
}

fn steps(log: &Read) -> usize {
    log.entries
        .iter()
        .filter(|e| e.action().is_some_and(|a| a.step().is_some()))
        .count()
}

#[test]
fn what_fabrics_log_is_played_again_without_parting() {
    let fast = json!({"interval": "2 ms", "settle": "100 us", "ramp": "0 s", "dip": "0 s"});
    let with = |more: Value| {
        let mut table = fast.clone();
        let more = more.as_object().expect("a table").clone();
        table.as_object_mut().expect("a table").extend(more);
        table
    };
    let cthrough = json!({"interval": "2 ms", "reconfiguration_delay": "100 us",
                          "ramp": "0 s", "dip": "0 s", "controller_timeout": "1 ms"});
    let hydra = json!({"interval": "2 ms", "settle": "100 us", "retag": "50 us", "rule": "1 us",
                       "planes": 2, "threshold": "1 kB"});
    let cases = [
        ("cthrough", cthrough),
        ("hydra", hydra),
        ("hybrid", fast.clone()),
        ("hybrid", with(json!({"computation_delay": "measured"}))),
        (
            "hybrid",
            with(json!({"order": "three-substeps", "rule": "2 us"})),
        ),
        (
            "hybrid",
            with(json!({"policy": "assignment", "settle": "3 ms"})),
        ),
        (
            "hybrid",
            with(json!({"policy": "hydra", "planes": 3, "electrical": false})),
        ),
        (
            "hybrid",
            with(json!({"policy": {"kind": "fixed", "circuits": [[0, 2], [1, 3]]}})),
        ),
        (
            "hybrid",
            with(json!({"policy": {"kind": "rotation", "day": "1 ms"}})),
        ),
        (
            "hybrid",
            with(json!({"policy": {"kind": "rotation", "day": "1 ms"}, "initial": []})),
        ),
        ("hybrid", with(json!({"policy": "mordia"}))),
    ];
    for (kind, table) in cases {
        let log = recorded(kind, &table);
        // A schedule that is followed from the start never changes.
        let stays = table["policy"]["kind"] == "rotation" && table.get("initial").is_none();
        assert_eq!(steps(&log) > 0, !stays, "{kind} {table}");
        let heard = |wanted: fn(&Input) -> bool| {
            log.entries
                .iter()
                .any(|e| matches!(&e.event, Event::Input(i) if wanted(i)))
        };
        assert!(
            heard(|i| matches!(i, Input::PortDown(2, 0))),
            "{kind} {table}"
        );
        assert!(heard(|i| matches!(i, Input::Silence(_))), "{kind} {table}");
        let silent = { log.entries.iter() }.filter(|e| matches!(e.event, Event::Host(_)));
        assert!(silent.count() > 0, "{kind} {table}");
        let header = &log.header;
        let again = replay(&log, built(&header.policy, &header.hardware), header.order);
        let again = again.unwrap_or_else(|e| panic!("{kind} {table}: {e}"));
        assert_eq!(again.parted, None, "{kind} {table}");
        assert_eq!(again.recorded, again.replayed, "{kind} {table}");
    }
}

/// c-Through's log with other policies: rotation lights nothing until its schedule is set, and then
/// connects all racks.
#[test]
fn other_policies_part_from_a_fabrics_log() {
    let table = json!({"interval": "2 ms", "reconfiguration_delay": "100 us"});
    let log = recorded("cthrough", &table);
    let hardware = &log.header.hardware;
    let rotation = built(&json!({"kind": "rotation", "day": "1 ms"}), hardware);
    let other = replay(&log, rotation, None).expect("it decides");
    let parted = other.parted.expect("they differ");
    assert_eq!(parted.at, Time::MS * 2);
    assert!(parted
        .replayed
        .is_some_and(|words| words.starts_with("follow 1: 5 slots of 6 ports")));
    assert_eq!((other.replayed.schedules, other.replayed.made), (1, 0));
    let joined = other.replayed.decisions.iter().map(|d| d.share).skip(1);
    assert!(joined.flatten().all(|share| share == 1.0));
    assert!(other.recorded.changes > 3, "{:?}", other.recorded);

    // The same policy in an order that keeps circuits is never darker.
    let kept = built(&log.header.policy, hardware);
    let other = replay(&log, kept, Some(Order::DELETE_CREATE)).expect("it decides");
    assert!(
        other.replayed.dark_port_s <= other.recorded.dark_port_s,
        "{other:?}"
    );
    assert!(other.replayed.broken <= other.recorded.broken, "{other:?}");
}
