//! The demand that a policy receives, its computation time, and errors of a policy.

use super::*;
use lightloom_control::circuits::{Circuit as Lit, Circuits};
use lightloom_control::hardware::Hardware;
use lightloom_control::order::Order;
use lightloom_control::policies::Built;
use lightloom_control::policy::{Demand, Policy, SwitchView, Target};
use lightloom_control::routes::Routes;
use lightloom_control::schedule::Schedule;
use lightloom_engine::run::{run, Broken, Plan, Silent, Stop};
use lightloom_engine::Refusal;
use serde_json::Map;
use std::sync::{Arc, Mutex};

/// The n-th decision.
type Decide = Box<dyn FnMut(usize, &Demand) -> Result<Target, Refusal> + Send>;

/// A policy that returns scripted decisions.
struct Scripted {
    decide: Decide,
    calls: usize,
}

impl Policy for Scripted {
    fn decide(&mut self, seen: &Demand, _: &SwitchView) -> Result<Target, Refusal> {
        self.calls += 1;
        (self.decide)(self.calls, seen)
    }

    fn order(&self) -> Order {
        Order::DELETE_CREATE
    }
}

/// A library from which a scripted policy is fetched once.
struct Shelf(Mutex<Option<Decide>>);

impl Library for Shelf {
    fn policy(&self, file: &str, _: &Map<String, Value>, _: &Hardware) -> Built {
        assert_eq!(file, "shelf.py:Scripted");
        let decide = self.0.lock().unwrap().take().expect("fetched once");
        Ok(Box::new(Scripted { decide, calls: 0 }))
    }
}

/// A bench with a scripted policy.
fn scripted(
    more: Value,
    rows: &[Row],
    decide: impl FnMut(usize, &Demand) -> Result<Target, Refusal> + Send + 'static,
) -> Bench {
    let mut table = ideal(json!({"policy": "shelf.py:Scripted", "electrical": false}));
    let more = more.as_object().expect("a table").clone();
    table.as_object_mut().expect("a table").extend(more);
    Bench::with(&Shelf(Mutex::new(Some(Box::new(decide)))), table, rows)
}

fn dark() -> Target {
    Target::direct(Circuits::default())
}

fn joined(pairs: &[(u32, u32)]) -> Target {
    Target::direct(Circuits::both_ways(pairs.iter().copied()))
}

/// The demand of racks 0 and 1, in both directions, that a policy receives at each of five
/// decisions; a flow of 8 MB arrives between the second and the third.
fn seen(keys: Value) -> Vec<(i64, i64)> {
    let record = Arc::new(Mutex::new(Vec::new()));
    let log = record.clone();
    let rows = [
        (0, 2, 8 * MS, Time::MS * 2_500),
        (2, 0, 2 * MS, Time::MS * 2_500),
    ];
    let mut bench = scripted(keys, &rows, move |_, seen| {
        log.lock()
            .unwrap()
            .push((seen.bytes.get(0, 1), seen.bytes.get(1, 0)));
        assert_eq!(seen.over, Time::S);
        Ok(dark())
    });
    bench.until(5_500);
    let seen = record.lock().unwrap().clone();
    seen
}

#[test]
fn demand_is_what_servers_show() {
    let (none, all) = ((0, 0), (8 * MS as i64, 2 * MS as i64));
    assert_eq!(seen(json!({})), [none, none, all, all, all]);
    let some = (3 * MS as i64, 2 * MS as i64);
    assert_eq!(
        seen(json!({"socket_buffer": "3 MB"})),
        [none, none, some, some, some]
    );
    let long = (8 * MS as i64, 0);
    assert_eq!(
        seen(json!({"report_queue": "2 MB"})),
        [none, none, long, long, long]
    );
    assert_eq!(
        seen(json!({"report_change": "7 MB"})),
        [none, none, long, long, long]
    );
    // No bytes are carried, so the policy receives no demand.
    assert_eq!(seen(json!({"demand": "monitored"})), [none; 5]);
}

/// A quarter of the new demand and three quarters of the old: 1/4, 7/16 and 37/64.
#[test]
fn smoothing_believes_new_demand_by_and_by() {
    let parts = |n: i64| (8 * MS as i64 * n / 64, 2 * MS as i64 * n / 64);
    let expected = [parts(0), parts(0), parts(16), parts(28), parts(37)];
    assert_eq!(seen(json!({"smoothing": 0.25})), expected);
}

/// The demand is the bytes that circuits carried between two reports: 490 ms of the first second.
#[test]
fn monitoring_sees_what_circuits_carry() {
    let record = Arc::new(Mutex::new(Vec::new()));
    let log = record.clone();
    let rows = [(0, 2, LONG, Time::MS * 1_500)];
    let mut bench = scripted(json!({"demand": "monitored"}), &rows, move |_, seen| {
        log.lock().unwrap().push(seen.bytes.get(0, 1) as u64);
        Ok(joined(&[(0, 1)]))
    });
    bench.until(3_500);
    assert_eq!(*record.lock().unwrap(), [0, 500 * MS, 1_000 * MS]);
}

#[test]
fn a_decision_takes_what_it_took_when_it_was_measured() {
    let times = json!({"computation_delay": ["3 ms", "200 ms", "7 ms"]});
    let mut bench = scripted(times, &[], |n, _| Ok(joined(&[(0, n as u32)])));
    bench.until(3_500);
    // Each circuit is lit 10 ms after its change begins; the previous circuit goes dark when the
    // change begins.
    let expected = [
        (0, 1, 1_013, 2_200),
        (0, 2, 2_210, 3_007),
        (0, 3, 3_017, 3_500),
    ];
    assert_eq!(bench.circuits(), expected);
    assert!(bench.fabric.trouble().is_none());
}

#[test]
fn more_decisions_than_were_recorded_end_the_run() {
    let times = json!({"computation_delay": ["3 ms"]});
    let mut bench = scripted(times, &[], |n, _| Ok(joined(&[(0, n as u32)])));
    let refusal = bench
        .until(2_500)
        .fabric
        .trouble()
        .expect("a refusal")
        .clone();
    assert_eq!(
        (refusal.key.as_str(), refusal.value.as_str()),
        ("fabric.computation_delay", "a list of 1 at 2 s")
    );
    assert!(refusal.limit.contains("decides more often"));
}

#[test]
fn a_measured_time_is_refused_beyond_the_interval() {
    let keys = json!({"computation_delay": "measured", "interval": "1 ms", "settle": "0 s"});
    let mut bench = scripted(keys, &[], |_, _| {
        std::thread::sleep(std::time::Duration::from_millis(2));
        Ok(joined(&[(0, 1)]))
    });
    let refusal = bench.until(10).fabric.trouble().expect("a refusal").clone();
    assert_eq!(refusal.key, "fabric.policy");
    assert_eq!(refusal.value, "\"shelf.py:Scripted\" at 1 ms");
    let told = |said: &str| refusal.limit.contains(said);
    assert!(told("decision = [(0, 1)]: it took "), "{refusal}");
    assert!(told("ms, longer than the interval, 1 ms"), "{refusal}");
    assert!(bench.circuits().is_empty());
}

/// A measured time must be within the interval, otherwise the run ends.
#[test]
fn a_measured_time_is_the_delay() {
    let keys = json!({"computation_delay": "measured", "interval": "1 s"});
    let mut bench = scripted(keys, &[], |_, _| {
        std::thread::sleep(std::time::Duration::from_millis(2));
        Ok(joined(&[(0, 1)]))
    });
    bench.until(1_900);
    let lit = bench.fabric.circuits(bench.now);
    // At least 10 ms for the mirrors and the 2 ms for which the policy slept.
    assert!(lit[0].from >= Time::MS * 1_012 && lit[0].from < Time::MS * 1_900);
}

/// If the policy refuses, or its decision is refused, the run ends with a message that names the
/// policy.
#[test]
fn a_policy_that_errs_ends_the_run_by_name() {
    let over_nothing = || {
        let (circuits, elsewhere) = (Circuits::both_ways([(0, 1)]), Circuits::both_ways([(2, 3)]));
        let routes = Routes::direct(&elsewhere);
        Target::Network { circuits, routes }
    };
    let plane_1 = || {
        Circuits::of(
            true,
            [Lit {
                a: 0,
                b: 1,
                plane: 1,
            }],
        )
    };
    let own = || {
        Err(Refusal::new(
            "threshold",
            7,
            "no rack has this much",
            "lower it",
        ))
    };
    errs(own, "threshold = 7", "no rack has this much");
    let nowhere = || Ok(joined(&[(0, 4)]));
    errs(
        nowhere,
        "circuits[0] = (0, 4) on plane 0",
        "racks are 0 to 3",
    );
    let twice = || Ok(joined(&[(0, 1), (1, 2)]));
    errs(twice, "circuits[1] = (1, 2) on plane 0", "no port left");
    let days = || {
        Ok(Target::Schedule(Schedule {
            ports: 4,
            night: Time::MS,
            slots: Vec::new(),
        }))
    };
    errs(days, "policy = a schedule", "decided earlier on circuits");
    let routes = move || Ok(over_nothing());
    errs(
        routes,
        "route of racks 2 and 3 = over (2, 3) on plane 0",
        "a circuit that is not requested",
    );
    let planes = move || Ok(Target::direct(plane_1()));
    errs(planes, "circuits[0] = (0, 1) on plane 1", "planes 0 to 0");
    let turned = || Ok(Target::direct(Circuits::one_way([(0, 1)])));
    errs(
        turned,
        "policy = circuits of one direction",
        "decided earlier on circuits of both directions",
    );
}

/// The second decision is refused; the first stays in force.
fn errs(second: impl Fn() -> Result<Target, Refusal> + Send + 'static, what: &str, limit: &str) {
    let decide = move |n: usize, _: &Demand| match n {
        1 => Ok(joined(&[(0, 1)])),
        _ => second(),
    };
    let mut bench = scripted(json!({}), &[(0, 2, LONG, Time::ZERO)], decide);
    let plan = Plan {
        stop: Stop::At(Time::S * 9),
        limit: Time::S * 9,
        sample: None,
        faults: Vec::new(),
    };
    let ended = run(&mut *bench.fabric, &mut bench.io, &plan, &mut Silent);
    let Err(Broken::Trouble(refusal)) = ended else {
        panic!("{what}: the run goes on")
    };
    assert_eq!(
        (refusal.key.as_str(), refusal.value.as_str()),
        ("fabric.policy", "\"shelf.py:Scripted\" at 2 s")
    );
    let told = refusal.limit.split_once(": ").expect("what, and why");
    assert_eq!(told.0, what);
    assert!(told.1.contains(limit), "{refusal}");
}

/// A circuit at a failed port is an error of the policy, too, because it receives the failed ports.
#[test]
fn a_circuit_of_a_broken_port_is_refused() {
    let mut bench = scripted(json!({}), &[], |_, _| Ok(joined(&[(0, 1)])));
    bench.until(1_500).fail(Element::Port { node: 1, plane: 0 });
    let refusal = bench
        .until(2_500)
        .fabric
        .trouble()
        .expect("a refusal")
        .clone();
    assert!(
        refusal.limit.contains("port of rack 1 does not work"),
        "{refusal}"
    );
}
