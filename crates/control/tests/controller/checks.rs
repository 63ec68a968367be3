//! The properties of the loop, which are checked after every event.
//!
//! | name | property |
//! |---|---|
//! | port | no port is in two circuits |
//! | kept | circuits that a change keeps never go dark, in orders that darken only others |
//! | drained | no circuit with traffic is taken down, in orders that drain |
//! | truth | no dark circuit counts as lit, and no route uses one; when nothing is in progress, the circuits and routes that count as lit and in force are so |
//! | bounded | an input causes at most two more actions than a change has steps |
//! | one change | no change begins while steps are in progress, and steps follow only from ticks and answers |
//! | once | a schedule is set only if another one, or none, is followed; nothing is requested for its days |
//! | goes on | decisions continue after any event |
//! | determinism | the same inputs give the same actions |
//! | log | a log that is written and read is the same |

use crate::scenario::{Scenario, CALM, END};
use lightloom_control::circuits::Circuits;
use lightloom_control::controller::{Action, Controller, Input, Kind};
use lightloom_control::fake::{Breach, Fake};
use lightloom_control::host::{Host, Loop};
use lightloom_control::log::{self, Entry, Event, Header, Log, Read};
use lightloom_control::order::{Extent, Step};
use lightloom_control::policy::{Policy, Target};
use lightloom_control::routes::Routes;
use lightloom_control::schedule::Schedule;
use lightloom_control::words::in_words;
use proptest::test_runner::TestCaseError;

/// The result of a check.
pub type Checked = Result<(), TestCaseError>;

/// A loop that returns the state that it assumes.
pub trait Subject: Loop {
    fn lit(&self) -> &Circuits;
    fn routes(&self) -> &Routes;
}

impl<P: Policy> Subject for Controller<P> {
    fn lit(&self) -> &Circuits {
        Controller::lit(self)
    }
    fn routes(&self) -> &Routes {
        Controller::routes(self)
    }
}

/// The results of a run.
pub struct Ran {
    pub log: Vec<Entry>,
    /// Whether the policy refused to decide.
    pub refused: bool,
}

pub fn ensure(holds: bool, said: impl FnOnce() -> String) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(TestCaseError::fail(said())),
    }
}

/// All promises.
pub fn check(s: &Scenario) -> Checked {
    let ran = run(s.controller(), s)?;
    check_determinism(&ran, s, || s.controller())?;
    check_log(&ran, &s.header(), write)
}

/// Runs the checks that hold at every moment.
pub fn run<C: Subject>(subject: C, s: &Scenario) -> Result<Ran, TestCaseError> {
    let mut host = host(subject, s);
    let mut seen = 0;
    let mut trouble = false;
    loop {
        let before: Vec<_> = host.steps_under_way().collect();
        let followed = host.driver().schedule().cloned();
        let lit = host.driver().lit().clone();
        let more = match host.step(END) {
            Ok(more) => more,
            // A policy may refuse; then nothing changes until its next decision.
            Err(_) => {
                trouble = true;
                true
            }
        };
        if !more {
            break;
        }
        let news = &host.log()[seen..];
        seen = host.log().len();
        check_news(news, s, !before.is_empty(), followed.as_ref(), &lit)?;
        check_breaches(host.driver(), s)?;
        if !host.is_silent() {
            check_truth(&host)?;
        }
    }
    let late = { host.log().iter() }.filter(|e| e.at > CALM);
    let measures = late
        .filter(|e| e.event == Event::Action(Action::Measure))
        .count();
    ensure(measures >= 2 || trouble, || {
        format!("goes on: {measures} decisions in the end")
    })?;
    Ok(Ran {
        log: host.log().to_vec(),
        refused: trouble,
    })
}

fn host<C: Subject>(subject: C, s: &Scenario) -> Host<C, Fake> {
    let mut host = Host::new(subject, s.fake());
    for (at, happening) in &s.happenings {
        host.plan_for(*at, happening.clone());
    }
    for failure in &s.failures {
        host.fail(failure.clone());
    }
    host
}

fn check_news(
    news: &[Entry],
    s: &Scenario,
    busy: bool,
    followed: Option<&Schedule>,
    lit: &Circuits,
) -> Checked {
    let Some(Event::Input(input)) = news.first().map(|e| &e.event) else {
        return Ok(());
    };
    let actions: Vec<&Action> = { news[1..].iter() }
        .filter_map(|e| match &e.event {
            Event::Action(action) => Some(action),
            Event::Input(_) | Event::Host(_) => None,
        })
        .collect();
    let bound = s.order().0.len() + 2;
    let given = actions.len();
    ensure(given <= bound, || {
        format!("bounded: {given} actions for {input:?}, not {bound}")
    })?;
    for action in actions {
        if action.step().is_none() {
            continue;
        }
        let fits = match input {
            Input::Tick => !busy,
            Input::Done(_) | Input::Failed(..) => action.kind() != Kind::Follow,
            _ => false,
        };
        let words = || in_words(action);
        ensure(fits, || format!("one change: {} for {input:?}", words()))?;
        check_kept(action, lit, s)?;
        match action {
            Action::Follow(_, schedule) => ensure(Some(schedule) != followed, || {
                format!("once: {} again", words())
            })?,
            _ => ensure(followed.is_none(), || {
                format!("once: {} beside a schedule", words())
            })?,
        }
    }
    Ok(())
}

fn all_dark(s: &Scenario) -> bool {
    { s.order().0.iter() }.any(|(step, _)| *step == Step::Dark(Extent::All))
}

/// An action that darkens circuits does not darken lit circuits of the policy's target; an action
/// that drains names only routes of its pairs.
fn check_kept(action: &Action, lit: &Circuits, s: &Scenario) -> Checked {
    if let Action::Drain(_, pairs, staying) = action {
        let other = staying.iter().find(|(pair, _)| !pairs.contains(pair));
        ensure(other.is_none(), || {
            format!("kept: {other:?} is not of a pair that drains")
        })?;
    }
    let wanted = s.wanted.lock().expect("the lock is not poisoned");
    let (Action::Dark(_, dark), Some(Target::Network { circuits, .. })) = (action, &*wanted) else {
        return Ok(());
    };
    let kept = lit.change_to(circuits).kept;
    let lost = kept.without(&lit.without(dark));
    ensure(all_dark(s) || lost.is_empty(), || {
        format!("kept: {lost:?} go dark, and are wanted")
    })
}

fn check_breaches(fake: &Fake, s: &Scenario) -> Checked {
    let order = s.order();
    for breach in fake.breaches() {
        match breach {
            Breach::PortTaken(c) => ensure(false, || format!("port: {c:?}"))?,
            Breach::Undrained(p) => ensure(!order.drains(), || format!("drained: {p:?} was not"))?,
        }
    }
    Ok(())
}

fn check_truth<C: Subject>(host: &Host<C, Fake>) -> Checked {
    let (known, fake) = (host.controller(), host.driver());
    let (believed, lit) = (known.lit(), fake.lit());
    ensure(believed.without(lit).is_empty(), || {
        format!(
            "truth: {believed:?} count as lit, {lit:?} are, at {}",
            host.now()
        )
    })?;
    for (pair, route) in known.routes().iter() {
        let dark = route.hops().find(|&hop| !fake.is_lit(hop));
        ensure(dark.is_none(), || {
            format!("truth: {pair:?} are routed over {dark:?}")
        })?;
    }
    if !host.is_quiet() {
        return Ok(());
    }
    ensure(lit.without(believed).is_empty(), || {
        format!("truth: {lit:?} are lit, {believed:?} count as lit")
    })?;
    let (believed, routes) = (known.routes(), fake.routes());
    let same = believed.iter().eq(routes.iter());
    ensure(same, || {
        format!("truth: {routes:?} are in force, {believed:?} count")
    })
}

/// A second run writes the same log, and another controller with the same inputs requests the same
/// actions.
pub fn check_determinism<C: Subject>(ran: &Ran, s: &Scenario, another: impl Fn() -> C) -> Checked {
    let again = run(another(), s)?;
    ensure(again.log == ran.log, || {
        "determinism: another run differs".to_owned()
    })?;
    let mut other = another();
    let mut entries = ran.log.iter().peekable();
    while let Some(entry) = entries.next() {
        let Event::Input(input) = &entry.event else {
            // All actions of an input were taken together with it.
            assert!(matches!(entry.event, Event::Host(_)));
            continue;
        };
        let mut actions = Vec::new();
        let _ = other.on(entry.at, input.clone(), &mut actions);
        let is_action = |e: &&Entry| matches!(e.event, Event::Action(_));
        for action in actions {
            let recorded = entries.next_if(is_action).map(|e| &e.event);
            let same = recorded == Some(&Event::Action(action.clone()));
            ensure(same, || {
                format!("determinism: {} at {}", in_words(&action), entry.at)
            })?;
        }
        let missing = entries.next_if(is_action);
        ensure(missing.is_none(), || format!("determinism: no {missing:?}"))?;
    }
    Ok(())
}

/// A function that writes logs.
pub type Writer = fn(&Header, &[Entry]) -> String;

pub fn write(header: &Header, entries: &[Entry]) -> String {
    let mut log = Log::new(header);
    for entry in entries {
        log.entry(entry);
    }
    log.finish()
}

pub fn check_log(ran: &Ran, header: &Header, write: Writer) -> Checked {
    let read = log::read(&write(header, &ran.log));
    let written = Read {
        header: header.clone(),
        entries: ran.log.clone(),
    };
    ensure(read.as_ref() == Ok(&written), || format!("log: {read:?}"))?;
    let checked = written.check();
    ensure(checked.is_ok(), || format!("log: {checked:?}"))
}
