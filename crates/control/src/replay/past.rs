//! The environment of a controller as its log records it: the duration of every step, failed steps,
//! demand, failures of ports.

use crate::controller::{Action, Found, Input, Kind, StepId};
use crate::fake::Fake;
use crate::hardware::Slots;
use crate::host::{Failure, Happening, UnderWay};
use crate::log::{Entry, Event, Hosting, Read};
use crate::order::Order;
use crate::policy::{Demand, Evidence, Policy, SwitchView, Target};
use lightloom_engine::{Refusal, Time};
use std::collections::BTreeMap;

/// The actions that were requested, and their answers.
#[derive(Clone, Debug)]
struct Course {
    begun: Time,
    ended: Option<Time>,
    failed: Option<String>,
}

/// Actions by kind, in order, and decisions.
#[derive(Clone, Debug, Default)]
pub struct Past {
    courses: BTreeMap<Kind, Vec<Course>>,
    /// Time from each demand to its decision, if something was to change.
    computed: Vec<Option<Time>>,
    /// The shortest slot of the switch.
    shortest: Option<Time>,
    /// The slots of the switch that policies received.
    slots: Option<Slots>,
}

impl Past {
    /// Creates the past of a log.
    pub fn of(log: &Read) -> Past {
        let mut past = Past {
            shortest: log.header.shortest_slot,
            slots: slots(log),
            ..Past::default()
        };
        let mut kinds = BTreeMap::<StepId, (Kind, usize)>::new();
        let (mut measuring, mut decided) = (None, None);
        for Entry { at, event } in &log.entries {
            match event {
                Event::Action(Action::WakeAt(until)) => {
                    if let Some(at) = decided.take() {
                        *past.computed.last_mut().expect("a decision") = Some(*until - at);
                    }
                }
                Event::Action(action) => {
                    let nth = past.begin(action.kind(), *at);
                    match action.step() {
                        Some(step) => _ = kinds.insert(step, (action.kind(), nth)),
                        None => measuring = Some(nth),
                    }
                }
                Event::Input(input) => {
                    decided = None;
                    match input {
                        Input::Done(step) => past.end(kinds.remove(step), *at, None),
                        Input::Failed(step, why) => {
                            past.end(kinds.remove(step), *at, Some(why.clone()));
                        }
                        Input::Demand(_) => {
                            if let Some(nth) = measuring.take() {
                                past.computed.push(None);
                                decided = Some(*at);
                                past.end(Some((Kind::Measure, nth)), *at, None);
                            }
                        }
                        Input::Silence(_) => {
                            measuring = None;
                            kinds.clear();
                        }
                        _ => {}
                    }
                }
                Event::Host(Hosting::Silent) => {}
            }
        }
        past
    }

    fn begin(&mut self, kind: Kind, begun: Time) -> usize {
        let courses = self.courses.entry(kind).or_default();
        courses.push(Course {
            begun,
            ended: None,
            failed: None,
        });
        courses.len() - 1
    }

    fn end(&mut self, which: Option<(Kind, usize)>, at: Time, failed: Option<String>) {
        let course = which.and_then(|(kind, nth)| self.courses.get_mut(&kind)?.get_mut(nth));
        if let Some(course) = course {
            course.ended = Some(at);
            course.failed = failed;
        }
    }

    /// Gives a switch the step times of the log.
    pub fn taking(&self, fake: Fake) -> Fake {
        let kinds = self.courses.iter();
        kinds.fold(fake, |fake, (&kind, courses)| {
            fake.taking(kind, times(courses))
        })
    }

    /// Steps that failed.
    pub fn failures(&self) -> Vec<Failure> {
        let mut failures = Vec::new();
        for (&kind, courses) in &self.courses {
            let failed = courses.iter().enumerate();
            failures.extend(failed.filter_map(|(nth, course)| {
                let why = course.failed.clone()?;
                Some(Failure { kind, nth, why })
            }));
        }
        failures
    }

    /// Makes the decisions of a policy take the times of the log, and its slots at least the
    /// shortest slot of the switch.
    pub fn pace(&self, policy: Box<dyn Policy>) -> Paced {
        Paced {
            policy,
            shortest: self.shortest,
            slots: self.slots,
            computed: self.computed.clone(),
            decisions: 0,
        }
    }
}

/// The slots of the switch, if the log has them.
fn slots(log: &Read) -> Option<Slots> {
    let (night, shortest) = (log.header.night?, log.header.shortest_slot?);
    Some(Slots { night, shortest })
}

/// Durations by position; `None` if the step did not end.
fn times(courses: &[Course]) -> Vec<Option<Time>> {
    let took = |c: &Course| c.ended.map(|ended| ended - c.begun);
    let mut sorted: Vec<Time> = courses.iter().filter_map(took).collect();
    sorted.sort_unstable();
    let mut last = sorted.get(sorted.len() / 2).copied().unwrap_or(Time::ZERO);
    let mut times = Vec::new();
    for course in courses {
        last = took(course).unwrap_or(last);
        times.push(Some(last).filter(|&time| time > Time::ZERO));
    }
    times
}

/// The unsolicited events after a position in the log, and the demand at that time.
pub fn happenings(log: &Read, after: usize) -> Vec<(Time, Happening)> {
    let mut all = Vec::new();
    let (mut measuring, mut deaf, mut begun) = (false, Time::ZERO, None);
    let mut lit = Lit::default();
    for (place, Entry { at, event }) in log.entries.iter().enumerate() {
        let happening = match event {
            Event::Action(action) => {
                measuring |= *action == Action::Measure;
                lit.ask(action);
                continue;
            }
            Event::Input(Input::Demand(report)) => Some(match std::mem::take(&mut measuring) {
                true => Happening::Demand(report.clone()),
                false => Happening::Report(report.clone()),
            }),
            Event::Input(Input::PortDown(rack, plane)) => Some(Happening::PortDown(*rack, *plane)),
            Event::Input(Input::PortUp(rack, plane)) => Some(Happening::PortUp(*rack, *plane)),
            Event::Input(Input::Silence(found)) => {
                measuring = false;
                if place > after {
                    let begun = begun.unwrap_or(deaf).min(*at);
                    all.push((begun, Happening::Silent(UnderWay::Lost)));
                    all.extend(silence(log, *at, found, &lit));
                }
                lit.find(found);
                None
            }
            Event::Input(_) => None,
            Event::Host(Hosting::Silent) => {
                begun = Some(*at);
                continue;
            }
        };
        // A log without this time: after the last input that was received.
        (deaf, begun) = (Time(at.0 + 1), None);
        match happening {
            Some(Happening::Demand(report)) if place <= after => {
                // The measured demand stays the same until the log records another.
                all.clear();
                all.push((log.entries[after].at, Happening::Demand(report)));
            }
            Some(happening) if place > after => all.push((*at, happening)),
            _ => {}
        }
    }
    // The silence lasts until the end.
    all.extend(begun.map(|at| (at, Happening::Silent(UnderWay::Lost))));
    all
}

/// Whether any circuit was lit and any route in force, according to the log.
#[derive(Default)]
struct Lit {
    circuits: bool,
    routes: bool,
}

impl Lit {
    fn ask(&mut self, action: &Action) {
        match action {
            Action::Light(_, circuits) => self.circuits |= !circuits.is_empty(),
            Action::Enter(_, _, routes) => self.routes = !routes.is_empty(),
            _ => {}
        }
    }

    fn find(&mut self, found: &Found) {
        self.circuits = !found.lit.is_empty();
        self.routes = !found.routes.is_empty();
    }
}

/// The events of a silence. Ports are as the host found them. If it found no lit circuit, or no
/// route in force, there is none after the silence either.
fn silence(log: &Read, at: Time, found: &Found, before: &Lit) -> Vec<(Time, Happening)> {
    let hardware = log.header.hardware;
    let mut all = Vec::new();
    if before.routes && found.routes.is_empty() && found.schedule.is_none() {
        all.push((at, Happening::Leave));
    }
    let goes_dark = before.circuits && found.lit.is_empty() && found.schedule.is_none();
    for plane in 0..hardware.planes {
        for rack in 0..hardware.racks {
            let works = found.works[hardware.port(rack, plane)];
            if goes_dark || !works {
                all.push((at, Happening::PortDown(rack, plane)));
            }
            if works {
                all.push((at, Happening::PortUp(rack, plane)));
            }
        }
    }
    all.push((at, Happening::Hears));
    all
}

/// A policy whose k-th decision takes the time of the log's k-th one, and whose schedules are
/// adapted to the log's switch.
pub struct Paced {
    policy: Box<dyn Policy>,
    shortest: Option<Time>,
    slots: Option<Slots>,
    computed: Vec<Option<Time>>,
    decisions: usize,
}

impl Policy for Paced {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        self.decisions += 1;
        let slots = self.slots;
        let target = self.policy.decide(seen, &SwitchView { slots, ..*switch })?;
        let Some(shortest) = self.shortest else {
            return Ok(target);
        };
        // With a longer slot, a day without length would pass the check.
        target.check(switch)?;
        Ok(match target {
            Target::Schedule(schedule) => Target::Schedule(schedule.in_slots_of(shortest)),
            circuits => circuits,
        })
    }

    fn order(&self) -> Order {
        self.policy.order()
    }

    fn took(&self) -> Option<Time> {
        let last = self.decisions.checked_sub(1)?;
        self.computed.get(last).copied().flatten()
    }

    fn evidence(&self) -> Option<Evidence<'_>> {
        self.policy.evidence()
    }
}
