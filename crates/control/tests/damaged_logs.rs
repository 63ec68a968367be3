//! Edited logs: any of them is replayed, or refused with the name of its error, within a short
//! time.

use lightloom_control::controller::{Controller, Kind, Timing};
use lightloom_control::demand::{Estimation, Estimator, Queue, Report, Thresholds};
use lightloom_control::fake::Fake;
use lightloom_control::hardware::Hardware;
use lightloom_control::host::{Failure, Happening, Host, UnderWay};
use lightloom_control::log::{read, Header, Log, FORMAT};
use lightloom_control::order::Order;
use lightloom_control::policies::{find, Built};
use lightloom_control::replay::replay;
use lightloom_engine::{Rate, Refusal, Time};
use proptest::prelude::*;
use serde_json::{json, Value};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// A log takes milliseconds; one that takes longer than this never ends.
const PATIENCE: Duration = Duration::from_secs(60);

fn built(table: &Value, hardware: &Hardware) -> Built {
    let mut own = table.as_object().cloned().unwrap_or_default();
    let kind = own.remove("kind").unwrap_or_default();
    (find(kind.as_str().unwrap_or_default(), "policy")?.build)(&Value::Object(own), hardware)
}

/// Six seconds of a policy for six racks, with changing demand, a failed step, a broken port, a
/// silence, and another silence that lasts until the end.
fn recorded(policy: Value, planes: u32, order: Option<Order>) -> String {
    let header = Header {
        format: FORMAT.to_owned(),
        version: "0.1.0".to_owned(),
        host: "a test".to_owned(),
        hardware: Hardware::new(6, planes, Rate::GBPS),
        timing: Timing {
            interval: Time::MS * 500,
            computation_delay: Time::MS,
        },
        estimation: Estimation {
            thresholds: Some(Thresholds {
                queue_above: 10,
                change_above: 5,
            }),
            smoothing: 0.75,
            ..Estimation::plain(6, 2)
        },
        shortest_slot: Some(Time::NS),
        night: Some(Time::ZERO),
        policy,
        order,
    };
    let policy = built(&header.policy, &header.hardware).expect("it is right");
    let estimator = Estimator::new(header.estimation);
    let controller = Controller::new(policy, header.hardware, header.timing, estimator);
    let controller = match order {
        Some(order) => controller.with_order(order),
        None => controller,
    };
    let light = vec![Some(Time::MS * 100)];
    let mut host = Host::new(
        controller,
        Fake::new(header.hardware).taking(Kind::Light, light),
    );
    for (at, happening) in happenings() {
        host.plan_for(at, happening);
    }
    host.fail(Failure {
        kind: Kind::Light,
        nth: 1,
        why: "a mirror sticks".to_owned(),
    });
    host.run(Time::S * 6).expect("it decides");
    let mut log = Log::new(&header);
    host.log().iter().for_each(|entry| log.entry(entry));
    log.finish()
}

fn happenings() -> Vec<(Time, Happening)> {
    let queue = |(from, to, bytes)| Queue { from, to, bytes };
    let demand = |rows: [(u32, u32, u64); 3]| {
        Happening::Demand(Report {
            queues: rows.map(queue).to_vec(),
        })
    };
    let mut all = vec![
        (Time::MS * 2_200, Happening::Silent(UnderWay::Lost)),
        (Time::MS * 2_900, Happening::PortDown(2, 0)),
        (Time::MS * 3_300, Happening::Hears),
        (Time::MS * 4_000, Happening::PortUp(2, 0)),
        (Time::MS * 4_300, Happening::PortDown(0, 0)),
        (Time::MS * 5_600, Happening::Silent(UnderWay::Lost)),
    ];
    for at in 0..12u32 {
        let (from, to) = (at % 6, (at + 1 + at / 6) % 6);
        let rows = [
            (2 * from, to, 9_000),
            (2 * to + 1, from, 700),
            (3, 5, 1_000),
        ];
        all.push((Time::MS * 500 * i64::from(at), demand(rows)));
    }
    all
}

/// Logs with bidirectional circuits, directed circuits, several planes with routes, and schedules.
fn logs() -> &'static [String] {
    static LOGS: OnceLock<Vec<String>> = OnceLock::new();
    LOGS.get_or_init(|| {
        vec![
            recorded(json!({"kind": "cthrough"}), 1, None),
            recorded(
                json!({"kind": "assignment"}),
                1,
                Some(Order::THREE_SUBSTEPS),
            ),
            recorded(json!({"kind": "hydra", "hops": 2}), 2, None),
            recorded(json!({"kind": "rotation", "day": "10 ms"}), 1, None),
            recorded(json!({"kind": "mordia"}), 1, None),
        ]
    })
}

/// The refusals of a replayed log, if any.
fn played(text: &str) -> Vec<Refusal> {
    let log = match read(text) {
        Ok(log) => log,
        Err(refusal) => return vec![refusal],
    };
    let Header {
        policy,
        order,
        hardware,
        ..
    } = &log.header;
    let others = [
        (policy.clone(), *order),
        (json!({"kind": "fixed", "circuits": [[0, 1]]}), None),
        (json!({"kind": "hydra"}), None),
    ];
    let play = |(table, order): &(Value, Option<Order>)| {
        // An error in the table is reported as one of the policy.
        let policy = built(table, hardware).map_err(|r| Refusal {
            key: "policy".into(),
            ..r
        })?;
        replay(&log, policy, *order)
    };
    others
        .iter()
        .filter_map(|other| play(other).err())
        .collect()
}

fn check(text: String) -> Result<Vec<Refusal>, TestCaseError> {
    let (sender, receiver) = channel();
    let copy = text.clone();
    let thread = thread::spawn(move || drop(sender.send(played(&text))));
    let refusals = match receiver.recv_timeout(PATIENCE) {
        Ok(refusals) => refusals,
        Err(RecvTimeoutError::Timeout) => {
            return Err(TestCaseError::fail(format!("it hangs:\n{copy}")))
        }
        Err(RecvTimeoutError::Disconnected) => {
            let panic = thread.join().expect_err("it said nothing");
            let said = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            return Err(TestCaseError::fail(format!("it panics: {said}\n{copy}")));
        }
    };
    for refusal in &refusals {
        let named = refusal.key.starts_with("line ") || refusal.key == "policy";
        let whole = !refusal.value.is_empty() && !refusal.limit.is_empty();
        prop_assert!(named && whole && !refusal.remedy.is_empty(), "{refusal}");
    }
    Ok(refusals)
}

/// An edit of a place in a line's JSON, or of the whole line.
#[derive(Clone, Debug)]
enum Edit {
    Put(Value),
    Add(i64),
    Remove,
    Twice,
    Key(Value),
    DropLine,
    LineTwice,
    SwapLines,
    Byte(u8),
}

fn edits() -> impl Strategy<Value = Edit> {
    let odd = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(""),
        json!("x"),
        json!("all-dark"),
        json!(-1),
        json!(-5),
        json!(0),
        json!(1),
        json!(2),
        json!(5),
        json!(6),
        json!(99),
        json!(400_000),
        json!(4_000_000_000u64),
        json!(4_600_000_000_000_000_000i64),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(0.5),
        json!(-1.0),
        json!(1e300),
        json!([]),
        json!({}),
        json!([0, 1]),
        json!([[0, 1, 0], [1, 2, 0]]),
        json!([6, 7]),
    ]);
    prop_oneof![
        6 => odd.clone().prop_map(Edit::Put),
        2 => prop::sample::select(vec![-1, 1, 1_000, -1_000_000_000]).prop_map(Edit::Add),
        1 => Just(Edit::Remove),
        1 => Just(Edit::Twice),
        1 => odd.prop_map(Edit::Key),
        1 => Just(Edit::DropLine),
        1 => Just(Edit::LineTwice),
        1 => Just(Edit::SwapLines),
        1 => (32u8..127).prop_map(Edit::Byte),
    ]
}

/// All places in a value, as pointers.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (nth, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{nth}"), all);
            }
        }
        Value::Object(keys) => {
            for (key, item) in keys {
                places(item, &format!("{at}/{key}"), all);
            }
        }
        _ => {}
    }
}

/// The line with the edit at its `nth` place; unchanged if the edit does not apply.
fn edited(line: &str, nth: usize, edit: &Edit) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(line) else {
        return line.to_owned();
    };
    let mut all = Vec::new();
    places(&value, "", &mut all);
    let place = &all[nth % all.len()];
    match edit {
        Edit::Remove | Edit::Twice if place.is_empty() => {}
        Edit::Remove | Edit::Twice => {
            let (above, key) = place.rsplit_once('/').unwrap_or(("", ""));
            match value.pointer_mut(above) {
                Some(Value::Object(keys)) => drop(keys.remove(key)),
                Some(Value::Array(items)) => {
                    let nth: usize = key.parse().unwrap_or(0);
                    match edit {
                        Edit::Remove => drop(items.remove(nth)),
                        _ => items.insert(nth, items[nth].clone()),
                    }
                }
                _ => {}
            }
        }
        _ => {
            // Earlier edits may have made some keys unusable.
            let Some(here) = value.pointer_mut(place) else {
                return line.to_owned();
            };
            match edit {
                Edit::Put(other) => *here = other.clone(),
                Edit::Add(more) => {
                    if let Some(number) = here.as_i64() {
                        *here = number.wrapping_add(*more).into();
                    }
                }
                Edit::Key(other) => {
                    if let Value::Object(keys) = here {
                        keys.insert("odd".to_owned(), other.clone());
                    }
                }
                _ => {}
            }
        }
    }
    value.to_string()
}

fn apply(lines: &mut Vec<String>, (at, nth, edit): &(usize, usize, Edit)) {
    // The first line is edited as often as all other lines together.
    let at = match at % 2 {
        0 => 0,
        _ => at / 2 % lines.len(),
    };
    match edit {
        Edit::DropLine => drop(lines.remove(at)),
        Edit::LineTwice => lines.insert(at, lines[at].clone()),
        Edit::SwapLines => {
            let other = nth % lines.len();
            lines.swap(at, other);
        }
        Edit::Byte(byte) if lines[at].is_ascii() && !lines[at].is_empty() => {
            let mut bytes = lines[at].clone().into_bytes();
            let place = nth % bytes.len();
            bytes[place] = *byte;
            lines[at] = String::from_utf8(bytes).expect("ASCII");
        }
        Edit::Byte(_) => {}
        _ => lines[at] = edited(&lines[at], *nth, edit),
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
}

#[test]
fn undamaged_logs_are_played() {
    for log in logs() {
        // Circuits of one kind are no answer to those of another.
        let refusals = check(log.clone()).expect("they are right");
        assert!(refusals.iter().all(|r| r.key == "policy"), "{refusals:?}");
        let read = read(log).expect("it is right");
        let own = built(&read.header.policy, &read.header.hardware).expect("it is right");
        let again = replay(&read, own, read.header.order).expect("it is right");
        assert_eq!(again.parted, None);
        assert_eq!(again.recorded, again.replayed);
    }
}

proptest! {
    // PROPTEST_CASES sets a larger number.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(1_500)))]

    #[test]
    fn damaged_logs_are_played_or_refused_by_name(
        which in 0usize..5,
        edits in prop::collection::vec((any::<usize>(), any::<usize>(), edits()), 1..4),
    ) {
        let mut lines: Vec<String> = logs()[which].lines().map(str::to_owned).collect();
        for edit in &edits {
            apply(&mut lines, edit);
        }
        check(lines.join("\n") + "\n")?;
    }
}
