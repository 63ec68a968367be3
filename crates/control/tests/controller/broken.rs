//! Tests of the checks themselves: c-Through's or HydRA's loop with one flaw each, which the check
//! of the violated property must detect.

use crate::checks::{self, Ran, Subject};
use crate::scenario::{scenarios, Scenario};
use lightloom_control::circuits::Circuits;
use lightloom_control::controller::{Action, Controller, Input, Kind, StepId};
use lightloom_control::host::Loop;
use lightloom_control::log::{Entry, Header};
use lightloom_control::order::{Extent, Order, Step};
use lightloom_control::policy::Policy;
use lightloom_control::routes::Routes;
use lightloom_engine::{Refusal, Time};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRng, TestRunner};
use std::sync::atomic::{AtomicI64, Ordering};

/// An error in a control loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    /// New circuits come up before the old ones go dark.
    LightsFirst,
    /// Everything goes dark, although only some circuits have to.
    DarkensAll,
    /// Circuits go dark while their traffic is still being moved away.
    DoesNotWait,
    /// Circuits that did not come up count as lit.
    IgnoresFailure,
    /// Requests more actions than it should.
    Babbles,
    /// Starts a change at each tick, even if another is in progress.
    Impatient,
    /// Sends its schedule again with every tick.
    Repeats,
    /// Does not request further ticks.
    FallsAsleep,
    /// Uses information that it has not received.
    Remembers,
}

/// Each flaw with a policy that shows it, and the property that it violates.
const FLAWS: [(Flaw, &str, &str); 9] = [
    (Flaw::LightsFirst, "assignment", "port"),
    (Flaw::DarkensAll, "hydra", "kept"),
    (Flaw::DoesNotWait, "hydra", "drained"),
    (Flaw::IgnoresFailure, "cthrough", "truth"),
    (Flaw::Babbles, "fixed", "bounded"),
    (Flaw::Impatient, "cthrough", "one change"),
    (Flaw::Repeats, "rotation", "once"),
    (Flaw::FallsAsleep, "cthrough", "goes on"),
    (Flaw::Remembers, "cthrough", "determinism"),
];

const LIGHTS_FIRST: Order = Order(&[
    (Step::Light, &[]),
    (Step::Dark(Extent::Removed), &[0]),
    (Step::Enter, &[1]),
]);

const DOES_NOT_WAIT: Order = Order(&[
    (Step::Drain, &[]),
    (Step::Dark(Extent::Removed), &[]),
    (Step::Light, &[1]),
    (Step::Route, &[0, 1]),
    (Step::Enter, &[2, 3]),
]);

struct Broken {
    controller: Controller<Box<dyn Policy>>,
    flaw: Flaw,
    ticks: u32,
    handed_over: Option<Action>,
}

static HEARD_BY_ALL: AtomicI64 = AtomicI64::new(0);

impl Broken {
    fn of(flaw: Flaw, s: &Scenario) -> Broken {
        let controller = match flaw {
            Flaw::DarkensAll => s.controller().with_order(Order::ALL_DARK),
            _ => s.controller(),
        };
        Broken {
            controller,
            flaw,
            ticks: 0,
            handed_over: None,
        }
    }

    fn repeat(&mut self, actions: &mut Vec<Action>) {
        let is_follow = |a: &&Action| matches!(a, Action::Follow(..));
        if let Some(action) = actions.iter().find(is_follow) {
            self.handed_over = Some(action.clone());
        } else if let Some(Action::Follow(step, schedule)) = &self.handed_over {
            let step = StepId(step.0 + 1_000);
            actions.push(Action::Follow(step, schedule.clone()));
        }
    }
}

impl Loop for Broken {
    fn on(&mut self, now: Time, input: Input, actions: &mut Vec<Action>) -> Result<(), Refusal> {
        let is_tick = input == Input::Tick;
        self.ticks += u32::from(is_tick);
        let input = match (self.flaw, input) {
            (Flaw::IgnoresFailure, Input::Failed(step, _)) => Input::Done(step),
            (_, input) => input,
        };
        self.controller.on(now, input, actions)?;
        match self.flaw {
            Flaw::Babbles => actions.extend((0..9).map(|_| Action::WakeAt(now + Time::S))),
            Flaw::Impatient if is_tick => {
                let step = StepId(1_000 + u64::from(self.ticks));
                actions.push(Action::Light(step, Circuits::default()));
            }
            Flaw::Repeats if is_tick => self.repeat(actions),
            Flaw::FallsAsleep if self.ticks > 3 => {
                actions.retain(|a| !matches!(a, Action::WakeAt(_)))
            }
            Flaw::Remembers => {
                let heard = HEARD_BY_ALL.fetch_add(1, Ordering::Relaxed);
                actions.push(Action::WakeAt(now + Time::S + Time(heard)));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Subject for Broken {
    fn lit(&self) -> &Circuits {
        self.controller.lit()
    }
    fn routes(&self) -> &Routes {
        self.controller.routes()
    }
}

fn broken(flaw: Flaw, mut s: Scenario) -> Result<(), TestCaseError> {
    if flaw == Flaw::IgnoresFailure {
        s.failures.retain(|f| f.kind == Kind::Light);
    }
    s.order = match flaw {
        Flaw::LightsFirst => Some(LIGHTS_FIRST),
        Flaw::DoesNotWait => Some(DOES_NOT_WAIT),
        Flaw::DarkensAll => Some(Order::DELETE_CREATE),
        _ => s.order,
    };
    let ran = checks::run(Broken::of(flaw, &s), &s)?;
    checks::check_determinism(&ran, &s, || Broken::of(flaw, &s))
}

fn assert_noticed(
    name: &str,
    promise: &str,
    kind: &'static str,
    case: impl Fn(Scenario) -> Result<(), TestCaseError>,
) {
    let config = Config {
        cases: 1_024,
        max_shrink_iters: 0,
        failure_persistence: None,
        ..Config::default()
    };
    // The scenarios are the same each time, because others might also violate another property.
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, rng);
    match runner.run(&scenarios(kind), case) {
        Err(TestError::Fail(why, _)) if why.message().starts_with(promise) => {}
        Err(TestError::Fail(why, _)) => panic!("{name} should break \"{promise}\": {why}"),
        other => panic!("{name} should break \"{promise}\": {:?}", other.is_ok()),
    }
}

#[test]
fn each_flaw_is_noticed_by_its_promise() {
    for (flaw, kind, promise) in FLAWS {
        assert_noticed(&format!("{flaw:?}"), promise, kind, |s| broken(flaw, s));
    }
}

/// Writes times in nanoseconds, which is too coarse.
fn written_in_ns(header: &Header, entries: &[Entry]) -> String {
    let round = |e: &Entry| Entry {
        at: Time(e.at.0 / 2_000_000 * 2_000_000),
        event: e.event.clone(),
    };
    checks::write(header, &entries.iter().map(round).collect::<Vec<_>>())
}

/// Omits the last line.
fn cut_off(header: &Header, entries: &[Entry]) -> String {
    let whole = checks::write(header, entries);
    whole[..whole.trim_end().rfind('\n').map_or(0, |at| at + 1)].to_owned()
}

#[test]
fn a_log_that_loses_something_is_noticed() {
    for (name, write) in [
        ("rounding", written_in_ns as checks::Writer),
        ("cutting", cut_off),
    ] {
        assert_noticed(name, "log", "cthrough", |mut s| {
            s.timing.computation_delay = Time(1_234_567);
            let ran: Ran = checks::run(s.controller(), &s)?;
            checks::check_log(&ran, &s.header(), write)
        });
    }
}
