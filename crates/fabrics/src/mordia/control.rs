//! Runs, in simulated time, the controller that chooses schedules.
//!
//! Only three kinds of controller actions occur here: measure demand, request a tick, and follow a
//! schedule, which the switch does from its next night on.

use crate::hybrid::computation::{Computation, Timed, Times};
use crate::hybrid::trouble;
use lightloom_control::circuits::Circuits;
use lightloom_control::controller::{Action, Controller, Found, Input, Timing};
use lightloom_control::demand::{Estimation, Estimator, Matrix, Report};
use lightloom_control::hardware::{self, Hardware};
use lightloom_control::log::{Header, Hosting, Log, FORMAT};
use lightloom_control::order::Order;
use lightloom_control::policies::fixed;
use lightloom_control::policy::{Demand, Evidence, Policy, SwitchView, Target};
use lightloom_control::routes::Routes;
use lightloom_control::schedule::{Schedule, Slot};
use lightloom_engine::{ControlRecord, Refusal, Time};
use serde_json::Value;

/// The actions that the controller requests of the switch.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Ticks that the controller requested.
    pub wakes: Vec<Time>,
    /// Whether the demand of the racks has been measured.
    pub measured: bool,
    /// The schedule to follow from the next night on.
    pub follow: Option<Schedule>,
}

/// The times of a slot of the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// t_setup: the shortest night of a schedule.
    pub night: Time,
    /// Time in each slot in which no packet is sent: the night for which policies plan.
    pub silent: Time,
    /// The shortest slot, its night included. Shorter slots of a policy in the registry are
    /// lengthened; those of a user's policy are refused.
    pub shortest: Time,
}

impl Slots {
    /// The times that policies receive.
    fn told(&self) -> hardware::Slots {
        hardware::Slots {
            night: self.silent,
            shortest: self.shortest,
        }
    }
}

/// A controller and its log.
pub struct Control {
    controller: Controller<Box<dyn Policy>>,
    hardware: Hardware,
    slots: Slots,
    /// The policy in the form that logs contain.
    policy: Value,
    works: bool,
    /// Set if the policy failed; the controller then stops deciding.
    trouble: Option<Refusal>,
    log: Option<Log>,
    /// The schedule in force when the control loop began.
    first: Option<Schedule>,
    /// The schedule in force now, or from the next night on.
    following: Option<Schedule>,
    opening: Vec<Action>,
    times: Option<Times>,
    /// The demand of the racks at the last decision.
    seen: Report,
}

impl Control {
    /// Creates the controller of a policy for a switch with these `slots`; `timing` gives the times
    /// of its decisions.
    ///
    /// If a policy of the registry has a schedule without demand, such as a round robin, the switch
    /// follows it from the start, before the first decision.
    ///
    /// # Errors
    /// If the switch cannot follow that schedule.
    pub fn new(
        mut policy: Box<dyn Policy>,
        described: Value,
        hardware: Hardware,
        slots: Slots,
        timing: Timing,
        computation: &Computation,
        estimation: Estimation,
    ) -> Result<Control, Refusal> {
        // Determined before any call, because a user's policy may count its calls.
        let author = Author::of(&described);
        let first = match author {
            Author::User => None,
            _ => unasked(&mut *policy, author, &hardware, &slots, timing.interval)?,
        };
        let policy = Box::new(Schedules {
            policy,
            author,
            slots,
        });
        // A decision that takes longer than its interval delays the next.
        let (policy, times) = Timed::wrap(policy, computation, None);
        Ok(Control {
            controller: Controller::new(policy, hardware, timing, Estimator::new(estimation)),
            hardware,
            slots,
            policy: described,
            works: true,
            trouble: None,
            log: None,
            following: first.clone(),
            first,
            opening: Vec::new(),
            times,
            seen: Report::default(),
        })
    }

    /// The schedule that is followed before the first decision.
    pub fn first(&self) -> Option<&Schedule> {
        self.first.as_ref()
    }

    /// The loop begins.
    pub fn begin(&mut self) -> Asked {
        let found = self.found();
        let asked = self.tell(Time::ZERO, Input::Silence(found), &mut Report::default);
        self.opening = asked.wakes.iter().map(|&at| Action::WakeAt(at)).collect();
        asked
    }

    /// Passes an input to the controller unless it has failed, and carries out its actions.
    pub fn tell(&mut self, now: Time, input: Input, measure: &mut dyn FnMut() -> Report) -> Asked {
        let mut asked = Asked::default();
        let (mut next, mut actions) = (Some(input), Vec::new());
        while let Some(input) = next.take() {
            if !self.works || self.trouble.is_some() {
                break;
            }
            if let Some(log) = &mut self.log {
                log.input(now, &input);
            }
            if let Err(refusal) = self.controller.on(now, input, &mut actions) {
                self.trouble = Some(trouble::could_not(&self.policy, refusal, now));
            }
            for action in actions.drain(..) {
                if let Some(log) = &mut self.log {
                    log.action(now, &action);
                }
                match action {
                    Action::WakeAt(at) => asked.wakes.push(at),
                    Action::Measure => {
                        self.seen = measure();
                        asked.measured = true;
                        next = Some(Input::Demand(self.seen.clone()));
                    }
                    Action::Follow(step, schedule) => {
                        self.following = Some(schedule.clone());
                        asked.follow = Some(schedule);
                        next = Some(Input::Done(step));
                    }
                    other => unreachable!("schedules alone are decided on: {other:?}"),
                }
            }
        }
        asked
    }

    /// Lets the controller fail or repairs it.
    pub fn set(&mut self, works: bool, now: Time) -> Asked {
        if works == self.works {
            return Asked::default();
        }
        self.works = works;
        if works {
            return self.tell(now, Input::Silence(self.found()), &mut Report::default);
        }
        if let Some(log) = &mut self.log {
            log.host(now, Hosting::Silent);
        }
        Asked::default()
    }

    fn found(&self) -> Found {
        Found {
            lit: Circuits::default(),
            routes: Routes::default(),
            schedule: self.following.clone(),
            drained: Vec::new(),
            works: vec![true; self.hardware.columns()],
        }
    }

    /// The demand of the racks at the last decision, and the schedule in force since then or from
    /// the next night on.
    pub fn decided(&self) -> (&Report, Option<&Schedule>) {
        (&self.seen, self.following.as_ref())
    }

    /// The error that stopped the policy.
    pub fn trouble(&self) -> Option<&Refusal> {
        self.trouble.as_ref()
    }

    /// Begins a log of inputs and actions, which starts with the state at the beginning of the
    /// loop.
    pub fn begin_log(&mut self, label: &str) {
        let mut log = Log::new(&Header {
            format: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: label.to_owned(),
            policy: self.policy.clone(),
            order: self.controller.order(),
            hardware: self.hardware,
            timing: *self.controller.timing(),
            estimation: *self.controller.estimator().rules(),
            shortest_slot: Some(self.slots.shortest),
            night: Some(self.slots.silent),
        });
        log.input(Time::ZERO, &Input::Silence(self.found()));
        for action in &self.opening {
            log.action(Time::ZERO, action);
        }
        self.log = Some(log);
    }

    /// Ends the log and returns the records of the run.
    pub fn end_log(&mut self) -> ControlRecord {
        let times = self.times.as_ref().and_then(|times| times.lock().ok());
        ControlRecord {
            log: self.log.take().map(Log::finish),
            computed: times.map(|times| times.clone()),
        }
    }
}

/// The schedule that a policy computes without demand; `None` if it has no circuits.
fn unasked(
    policy: &mut dyn Policy,
    author: Author,
    hardware: &Hardware,
    slots: &Slots,
    over: Time,
) -> Result<Option<Schedule>, Refusal> {
    let (lit, works) = (Circuits::default(), vec![true; hardware.columns()]);
    let view = SwitchView {
        hardware: *hardware,
        lit: &lit,
        works: &works,
        slots: Some(slots.told()),
    };
    let bytes = Matrix::zeros(hardware.racks as usize);
    let target = policy.decide(&Demand { bytes, over }, &view)?;
    target.check(&view)?;
    let schedule = of_schedules(target, author, slots)?;
    refuse_short(&schedule, author, slots)?;
    Ok((!schedule.slots.is_empty()).then_some(schedule))
}

/// The origin of a policy's schedules, which determines the remedy in a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Author {
    /// `lightloom plan`, or the author of the file.
    Plan,
    /// A class of the user's own.
    User,
    /// A policy of the registry, with its keys.
    Keys,
}

impl Author {
    /// The author of the policy that this table describes.
    fn of(described: &Value) -> Author {
        match described.get("kind").and_then(Value::as_str) {
            None => Author::User,
            Some(kind) if kind == fixed::ENTRY.kind => Author::Plan,
            Some(_) => Author::Keys,
        }
    }

    /// The remedy for a schedule that the switch cannot follow.
    fn remedy(self, slots: &Slots) -> String {
        let Slots {
            silent, shortest, ..
        } = slots;
        match self {
            Author::Plan => format!(
                "plan for the switch: lightloom plan … --night \"{silent}\" --shortest \"{shortest}\""
            ),
            Author::User => "plan for switch.night_ps and switch.shortest_slot_ps".to_owned(),
            Author::Keys => "leave fabric.policy.night out: the switch has its own".to_owned(),
        }
    }
}

/// The remedy for slots that are too short because of a policy's keys.
pub const LONGER: &str =
    "raise fabric.policy.day, or fabric.policy.period if it determines the slots";

/// Refuses slots that the switch cannot have; the remedy depends on the author of the schedule.
fn refuse_short(schedule: &Schedule, author: Author, slots: &Slots) -> Result<(), Refusal> {
    let is_short = |slot: &Slot| schedule.night + slot.day < slots.shortest;
    let Some(at) = schedule.slots.iter().position(is_short) else {
        return Ok(());
    };
    Err(Refusal::new(
        format!("slots[{at}]"),
        schedule.night + schedule.slots[at].day,
        format!("shorter than the shortest slot, {}", slots.shortest),
        match author {
            Author::Keys => LONGER.to_owned(),
            _ => author.remedy(slots),
        },
    ))
}

/// The schedule of a target.
fn of_schedules(target: Target, author: Author, slots: &Slots) -> Result<Schedule, Refusal> {
    let night = slots.night;
    let schedule = match target {
        Target::Schedule(schedule) => schedule,
        Target::Network { circuits, .. } if author == Author::User && circuits.is_empty() => {
            return Err(Refusal::new(
                "",
                "",
                "it returned nothing (None before any schedule, or []), but the switch needs a \
                 schedule",
                "return a schedule at the first decision; later, None keeps the last schedule",
            ))
        }
        circuits => {
            return Err(Refusal::new(
                "decision",
                circuits,
                "these circuits have no end, but the switch follows schedules",
                "use a policy that makes schedules, or kind = \"hybrid\"",
            ))
        }
    };
    if schedule.night < night && !schedule.slots.is_empty() {
        return Err(Refusal::new(
            "night",
            schedule.night,
            format!("the switch is dark for {night} in every slot"),
            author.remedy(slots),
        ));
    }
    Ok(schedule)
}

/// A policy of which only schedules are used, with slots at least as long as the switch permits. A
/// policy of the registry may have no limit for slots; its slots are lengthened. A user's own
/// policy receives the limit.
struct Schedules {
    policy: Box<dyn Policy>,
    author: Author,
    slots: Slots,
}

impl Policy for Schedules {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        let slots = Some(self.slots.told());
        let target = self.policy.decide(seen, &SwitchView { slots, ..*switch })?;
        if matches!(target, Target::Schedule(_)) {
            // The target is checked first, so that its own refusal comes before that of short
            // slots.
            target.check(switch)?;
        }
        let schedule = of_schedules(target, self.author, &self.slots)?;
        if self.author == Author::User {
            refuse_short(&schedule, self.author, &self.slots)?;
        }
        Ok(Target::Schedule(schedule.in_slots_of(self.slots.shortest)))
    }

    fn order(&self) -> Order {
        self.policy.order()
    }

    fn took(&self) -> Option<Time> {
        self.policy.took()
    }

    fn evidence(&self) -> Option<Evidence<'_>> {
        self.policy.evidence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOTS: Slots = Slots {
        night: Time::US,
        silent: Time::US,
        shortest: Time(10_000_000),
    };

    fn refused(pairs: &[(u32, u32)], author: Author) -> Refusal {
        let circuits = Circuits::on_planes(pairs.iter().map(|&(a, b)| (a, b, 0)));
        let target = Target::Network {
            circuits,
            routes: Routes::default(),
        };
        of_schedules(target, author, &SLOTS).unwrap_err()
    }

    #[test]
    fn who_returns_nothing_is_not_told_of_circuits() {
        let nothing = refused(&[], Author::User);
        assert!(
            nothing.limit.starts_with("it returned nothing"),
            "{nothing}"
        );
        assert!(nothing.key.is_empty());
        let some = refused(&[(0, 1)], Author::User).to_string();
        assert!(
            some.starts_with("decision = [(0, 1)]: these circuits have no end"),
            "{some}"
        );
        let kept = refused(&[], Author::Keys).to_string();
        assert!(
            kept.starts_with("decision = []: these circuits have no end"),
            "{kept}"
        );
    }

    #[test]
    fn slots_that_are_too_short_are_blamed_on_whoever_made_them() {
        let ring = Schedule::round_robin(4, Time::US * 5, Time::US).unwrap();
        let remedy = |author| refuse_short(&ring, author, &SLOTS).unwrap_err().remedy;
        assert!(remedy(Author::Keys).starts_with("raise fabric.policy.day"));
        assert!(remedy(Author::Plan).contains("--shortest \"10 us\""));
        assert!(remedy(Author::User).contains("switch.shortest_slot_ps"));
    }
}
