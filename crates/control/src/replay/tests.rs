use super::*;
use crate::controller::{Kind, Timing};
use crate::demand::{Estimation, Queue, Report};
use crate::hardware::Hardware;
use crate::host::{Failure, Happening, UnderWay};
use crate::log::{read, Header, Log, FORMAT};
use crate::policies::find;
use crate::schedule::Schedule;
use lightloom_engine::Rate;
use serde_json::{json, Value};

const SWITCH: Hardware = Hardware {
    racks: 4,
    planes: 1,
    ports: 1,
    rate: Rate::GBPS,
};

fn built(kind: &str, table: Value) -> Box<dyn Policy> {
    let entry = find(kind, "policy").unwrap();
    (entry.build)(&table, &SWITCH).unwrap()
}

fn fixed() -> Box<dyn Policy> {
    built("fixed", json!({ "circuits": [[0, 2]] }))
}

fn cthrough() -> Box<dyn Policy> {
    built("cthrough", json!({ "unrequested": "alone" }))
}

/// c-Through with 100 B from rack 0 to 1, 50 B from 2 to 3 and 10 B from 0 to 2; a
/// decision each second, 100 ms to light circuits.
fn recorded(happenings: &[(Time, Happening)], failures: &[Failure], until: Time) -> Read {
    let header = Header {
        format: FORMAT.to_owned(),
        version: "0.1.0".to_owned(),
        host: "a test".to_owned(),
        policy: json!({"kind": "cthrough", "unrequested": "alone"}),
        order: None,
        hardware: SWITCH,
        timing: Timing {
            interval: Time::S,
            computation_delay: Time::ZERO,
        },
        estimation: Estimation::plain(4, 1),
        shortest_slot: None,
        night: None,
    };
    let estimator = Estimator::new(header.estimation);
    let controller = Controller::new(cthrough(), SWITCH, header.timing, estimator);
    let fake = Fake::new(SWITCH).taking(Kind::Light, vec![Some(Time::MS * 100)]);
    let mut host = Host::new(controller, fake);
    let queue = |(from, to, bytes)| Queue { from, to, bytes };
    let queues = [(0, 1, 100), (2, 3, 50), (0, 2, 10)].map(queue).to_vec();
    host.plan_for(Time::ZERO, Happening::Demand(Report { queues }));
    for (at, happening) in happenings {
        host.plan_for(*at, happening.clone());
    }
    failures.iter().for_each(|f| host.fail(f.clone()));
    host.run(until).unwrap();
    let mut log = Log::new(&header);
    host.log().iter().for_each(|entry| log.entry(entry));
    read(&log.finish()).unwrap()
}

fn joined(account: &Account) -> Vec<(u64, u64)> {
    let decisions = account.decisions.iter();
    decisions
        .map(|d| (d.joined_bytes, d.demand_bytes))
        .collect()
}

/// Both circuits of c-Through are lit from 1.1 s to 3 s, and so is the fixed one.
#[test]
fn what_another_policy_would_have_done() {
    let log = recorded(&[], &[], Time::S * 3);
    let Replay {
        parted,
        recorded,
        replayed,
    } = replay(&log, fixed(), None).unwrap();
    let parted = parted.unwrap();
    // The lines before: tick, wake; tick, wake, measure; demand, wake; tick, dark; done, light.
    assert_eq!((parted.at, parted.line), (Time::S, 12));
    assert_eq!(parted.recorded.as_deref(), Some("light 2: 0-1, 2-3"));
    assert_eq!(parted.replayed.as_deref(), Some("light 2: 0-2"));

    assert_eq!(joined(&recorded), [(150, 160); 3]);
    assert_eq!(joined(&replayed), [(10, 160); 3]);
    assert_eq!(recorded.decisions[0].share, Some(0.9375));
    let counts = |a: &Account| [a.changes, a.made, a.broken, a.lost, a.failed_steps];
    assert_eq!(counts(&recorded), [1, 2, 0, 0, 0]);
    assert_eq!(counts(&replayed), [1, 1, 0, 0, 0]);
    // 12 port-seconds in total.
    assert_eq!(
        (&recorded.lit_circuit_s, &recorded.dark_port_s),
        (&vec![3.8], &vec![4.4])
    );
    assert_eq!(
        (&replayed.lit_circuit_s, &replayed.dark_port_s),
        (&vec![1.9], &vec![8.2])
    );
}

#[test]
fn the_same_policy_does_the_same() {
    let log = recorded(&[], &[], Time::S * 3);
    let again = replay(&log, cthrough(), None).unwrap();
    assert_eq!(again.parted, None);
    assert_eq!(again.recorded, again.replayed);
}

/// A schedule without slots lights no circuit, whatever its night.
#[test]
fn schedules_without_slots_are_the_same() {
    let follow = |slots: usize, night: i64| {
        let mut ring = Schedule::round_robin(4, Time::US, Time(night)).unwrap();
        ring.slots.truncate(slots);
        Action::Follow(StepId(1), ring)
    };
    let parted = |a: &Action, b: &Action| {
        let parted = parting(Time::ZERO, 1, &[a], std::slice::from_ref(b))?;
        Some((parted.recorded?, parted.replayed?))
    };
    assert_eq!(parted(&follow(0, 5), &follow(0, 7)), None);
    assert!(parted(&follow(0, 5), &follow(1, 5)).is_some());
    let (recorded, replayed) = parted(&follow(2, 5_000), &follow(2, 7_000)).unwrap();
    assert!(recorded.contains("in 2.01 us") && replayed.contains("in 2.014 us"));
}

/// The first attempt fails at 1.1 s, the second begins at 2 s; at 2.5 s rack 0 loses its
/// port, and gets it back at 4.2 s. At 5 s the circuits come up again, by 5.1 s.
#[test]
fn what_failed_and_broke_does_so_again() {
    let failure = Failure {
        kind: Kind::Light,
        nth: 0,
        why: "a mirror sticks".to_owned(),
    };
    let port = [
        (Time::MS * 2_500, Happening::PortDown(0, 0)),
        (Time::MS * 4_200, Happening::PortUp(0, 0)),
    ];
    let log = recorded(&port, &[failure], Time::S * 6);
    let other = replay(&log, fixed(), None).unwrap();
    // 0-1 is lit for 0.4 s and 0.9 s, less 100 ms in which c-Through lights all circuits again; 2-3
    // is lit from 2.1 s, less the same 100 ms.
    assert_eq!(other.recorded.lit_circuit_s, [0.4 + 0.9 + 3.8]);
    assert_eq!(other.replayed.lit_circuit_s, [0.4 + 0.9]);
    let counts = |a: &Account| [a.changes, a.made, a.broken, a.lost, a.failed_steps];
    assert_eq!(counts(&other.recorded), [3, 4, 1, 1, 1]);
    assert_eq!(counts(&other.replayed), [3, 2, 0, 1, 1]);
}

/// The controller is silent from 2.2 s (the log states: after 2 s) to 4.7 s; meanwhile rack 2 loses
/// its port for good, and with it the fixed policy its circuit.
#[test]
fn silences_are_of_both() {
    let silence = [
        (Time::MS * 2_200, Happening::Silent(UnderWay::Lost)),
        (Time::MS * 3_100, Happening::PortDown(2, 0)),
        (Time::MS * 4_700, Happening::Hears),
    ];
    let log = recorded(&silence, &[], Time::S * 6);
    let other = replay(&log, fixed(), None).unwrap();
    let decided = |a: &Account| {
        a.decisions
            .iter()
            .map(|d| d.at.0 / Time::S.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(decided(&other.recorded), [1, 2, 5, 6]);
    assert_eq!(decided(&other.replayed), [1, 2, 5, 6]);
    assert_eq!(
        joined(&other.replayed),
        [(10, 160), (10, 160), (0, 160), (0, 160)]
    );
    // The account contains the loss from the time at which it is found, 4.7 s.
    assert_eq!(other.replayed.lit_circuit_s, [3.6]);
    assert_eq!((other.recorded.lost, other.replayed.lost), (1, 1));
}

/// The fixed policy's circuit is lit at 1.1 s, 100 ms after its decision. The controller becomes
/// silent afterwards, at 1.2 s, and receives inputs again at 2.5 s.
#[test]
fn what_was_done_before_a_silence_is_done() {
    let silence = [
        (Time::MS * 1_200, Happening::Silent(UnderWay::Lost)),
        (Time::MS * 2_500, Happening::Hears),
    ];
    let log = recorded(&silence, &[], Time::S * 3);
    let line = log
        .entries
        .iter()
        .find(|e| matches!(e.event, Event::Host(_)));
    assert_eq!(line.map(|e| e.at), Some(Time::MS * 1_200));
    let other = replay(&log, fixed(), None).unwrap();
    assert_eq!(other.recorded.lit_circuit_s, [3.8]);
    assert_eq!(other.replayed.lit_circuit_s, [1.9]);
    assert_eq!((other.replayed.made, other.replayed.lost), (1, 0));
}

/// The controller is silent from 1.5 s on: no decision is made at 2 s, nor at 3 s, when rack 0 gets
/// its port back.
#[test]
fn a_silence_may_last() {
    let silence = [
        (Time::MS * 1_400, Happening::PortDown(0, 0)),
        (Time::MS * 1_500, Happening::Silent(UnderWay::Lost)),
    ];
    let log = recorded(&silence, &[], Time::S * 4);
    assert!(matches!(log.entries.last().unwrap().event, Event::Host(_)));
    let other = replay(&log, fixed(), None).unwrap();
    assert_eq!(
        (
            other.recorded.decisions.len(),
            other.replayed.decisions.len()
        ),
        (1, 1)
    );
    assert_eq!(other.replayed.lit_circuit_s, [0.3]);
}

/// A policy for more racks than the log has.
#[test]
fn a_policy_for_a_larger_switch_is_refused() {
    let log = recorded(&[], &[], Time::S * 2);
    let larger = Hardware {
        racks: 64,
        ..SWITCH
    };
    for (kind, table) in [
        ("fixed", json!({"circuits": [[0, 1], [40, 63]]})),
        ("rotation", json!({"day": "10 ms"})),
    ] {
        let mut policy = (find(kind, "policy").unwrap().build)(&table, &larger).unwrap();
        if kind == "rotation" {
            decide_of(&mut *policy, larger);
        }
        let refused = replay(&log, policy, None).unwrap_err();
        assert_eq!(
            (refused.key.as_str(), refused.value.as_str()),
            ("policy", "at 1 s")
        );
    }
    let fixed =
        (find("fixed", "policy").unwrap().build)(&json!({"circuits": [[0, 1], [40, 63]]}), &larger);
    assert_eq!(
        replay(&log, fixed.unwrap(), None).unwrap_err().limit,
        "circuits[1] = (40, 63) on plane 0: racks are 0 to 3, planes 0 to 0"
    );
}

/// A decision for another switch.
fn decide_of(policy: &mut dyn Policy, hardware: Hardware) {
    let lit = crate::circuits::Circuits::default();
    let works = vec![true; hardware.columns()];
    let view = crate::policy::SwitchView {
        hardware,
        lit: &lit,
        works: &works,
        slots: None,
    };
    let seen = crate::policy::Demand {
        bytes: crate::demand::Matrix::zeros(hardware.racks as usize),
        over: Time::S,
    };
    policy.decide(&seen, &view).unwrap();
}

/// 3 ports, days of 10 ms and nights of 1 ms: two days in 22 ms with three circuits each. From 1 s
/// to 1.05 s (the last line) this is two whole periods, and 5 ms of the next slot's day.
#[test]
fn days_of_a_schedule_are_lit() {
    let late = (Time::MS * 1_050, Happening::Report(Report::default()));
    let mut log = recorded(&[late], &[], Time::MS * 1_050);
    let three = Hardware { racks: 3, ..SWITCH };
    let table = json!({"day": "10 ms", "night": "1 ms"});
    let rotation = (find("rotation", "policy").unwrap().build)(&table, &three).unwrap();
    log.header.hardware = three;
    log.header.estimation.racks = 3;
    // c-Through's own actions do not matter here, but their circuits do not fit three racks either.
    let first = log
        .entries
        .iter()
        .position(|e| matches!(e.event, Event::Action(Action::Dark(..))));
    let last = log.entries.pop().unwrap();
    log.entries.truncate(first.unwrap());
    log.entries.push(last);
    for entry in &mut log.entries {
        if let Event::Input(Input::Demand(report)) = &mut entry.event {
            report.queues.retain(|q| q.from < 3 && q.to < 3);
        }
    }
    let other = replay(&log, rotation, None).unwrap().replayed;
    assert_eq!((other.schedules, other.changes, other.made), (1, 1, 0));
    assert_eq!(other.lit_circuit_s, [3.0 * (0.040 + 0.005)]);
    assert_eq!(joined(&other), [(110, 110)]);
}

#[test]
fn logs_that_do_not_fit_are_refused() {
    let log = recorded(
        &[(Time::MS * 1_500, Happening::PortDown(3, 0))],
        &[],
        Time::S * 2,
    );
    let refused = |log: &Read| replay(log, cthrough(), None).unwrap_err().to_string();
    let mut smaller = log.clone();
    smaller.header.hardware.racks = 3;
    smaller.header.estimation.racks = 3;
    assert!(
        refused(&smaller).starts_with("line 7: input.demand = of 2 for 3: "),
        "{}",
        refused(&smaller)
    );
    let mut backwards = log.clone();
    backwards.entries[2].at = Time::S * 9;
    assert!(
        refused(&backwards).starts_with("line 5: at_ps = "),
        "{}",
        refused(&backwards)
    );
    let mut silent = log;
    silent.entries.remove(0);
    assert!(
        refused(&silent).starts_with("line 2: action"),
        "{}",
        refused(&silent)
    );
}

/// A policy for another kind of switch is refused when it decides, with the time.
#[test]
fn a_policy_that_cannot_decide_is_refused() {
    let log = recorded(&[], &[], Time::S * 2);
    let of_two = Hardware { racks: 2, ..SWITCH };
    let table = json!({"day": "10 ms", "night": "1 ms"});
    let entry = find("rotation", "policy").unwrap();
    let mut two = (entry.build)(&table, &of_two).unwrap();
    // The policy decides once, for two racks.
    decide_of(&mut *two, of_two);
    let refused = replay(&log, two, None).unwrap_err().to_string();
    assert!(
        refused.starts_with("policy = at 1 s: schedule = 2 ports: "),
        "{refused}"
    );
}
