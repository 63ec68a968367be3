//! A host of a controller in virtual time, over any [`Driver`] of a switch. Tests and replays use
//! it, and it is the pattern for hosts of real switches.
//!
//! It implements the contract of [`controller`](crate::controller) and nothing else. It wakes the
//! controller at the requested times, has the driver carry out each step in its time, answers each
//! step once, and reports ports in the order in which they break. A silent controller receives
//! nothing, and its steps in progress are void.
//!
//! Events at the same time occur in the order in which they were scheduled; a step that takes no
//! time is carried out before any other event.

use crate::controller::{Action, Controller, Found, Input, Kind, StepId};
use crate::demand::Report;
use crate::log::{Entry, Event as Logged, Hosting};
use crate::policy::Policy;
use crate::routes::Routes;
use lightloom_engine::{Refusal, Time};
use std::collections::{BTreeMap, VecDeque};

/// The controller of a host, or in tests a modified one.
pub trait Loop {
    /// See [`Controller::on`].
    ///
    /// # Errors
    /// Those of [`Controller::on`].
    fn on(&mut self, now: Time, input: Input, actions: &mut Vec<Action>) -> Result<(), Refusal>;
}

impl<P: Policy> Loop for Controller<P> {
    fn on(&mut self, now: Time, input: Input, actions: &mut Vec<Action>) -> Result<(), Refusal> {
        Controller::on(self, now, input, actions)
    }
}

/// A driver of a switch, which carries out actions.
pub trait Driver {
    /// The duration of an action that begins now; `None` if it is carried out at once. Called once
    /// for each action except [`Action::WakeAt`].
    fn takes(&mut self, action: &Action) -> Option<Time>;
    /// Carries out an action whose duration has passed.
    fn carry_out(&mut self, action: &Action, now: Time);
    /// Marks the port of a rack on a plane as broken.
    fn break_port(&mut self, rack: u32, plane: u32, now: Time);
    /// Marks the port as repaired.
    fn mend_port(&mut self, rack: u32, plane: u32);
    /// The present state of switch and servers.
    fn found(&self) -> Found;
}

/// An event that the host schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The demand until the next event of this kind.
    Demand(Report),
    /// An unsolicited report.
    Report(Report),
    /// A port breaks.
    PortDown(u32, u32),
    /// The port is repaired.
    PortUp(u32, u32),
    /// The controller becomes silent. Steps in progress are lost, or carried out without an answer.
    Silent(UnderWay),
    /// The controller receives inputs again.
    Hears,
    /// Servers leave all circuits, as they do after a long silence of the controller.
    Leave,
    /// A step that is not in progress is reported as done or failed.
    Stray(StepId, bool),
}

/// The fate of steps that are in progress when the controller becomes silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderWay {
    /// The steps are not carried out.
    Lost,
    /// The steps are carried out, but the controller receives no answer.
    CarriedOut,
}

/// A controller, the driver of its switch, and the events of both.
#[derive(Clone, Debug)]
pub struct Host<C, D> {
    controller: C,
    driver: D,
    now: Time,
    /// By time, then by the order in which the event was scheduled.
    agenda: BTreeMap<(Time, u64), Event>,
    planned: u64,
    /// Answers to actions that took no time.
    answers: VecDeque<Input>,
    under_way: Vec<Pending>,
    demand: Report,
    silent: bool,
    failures: Vec<Failure>,
    begun: BTreeMap<Kind, usize>,
    log: Vec<Entry>,
}

#[derive(Clone, Debug)]
enum Event {
    Wake,
    /// The action with this number in the order of planning ends.
    Ends(u64),
    Happens(Happening),
}

#[derive(Clone, Debug)]
struct Pending {
    number: u64,
    action: Action,
    /// The reason if it fails at the end.
    fails: Option<String>,
}

/// A step that fails, by its position among the steps of its kind, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub kind: Kind,
    /// The number of steps of its kind before it.
    pub nth: usize,
    /// The reason.
    pub why: String,
}

impl<C: Loop, D: Driver> Host<C, D> {
    /// A host at time zero whose controller has received no input yet.
    pub fn new(controller: C, driver: D) -> Host<C, D> {
        let mut host = Host::taken_over(controller, driver, Time::ZERO);
        host.plan(Time::ZERO, Event::Wake);
        host
    }

    /// A host of a controller that is already running; [`Host::resume`] adds its steps in progress.
    pub fn taken_over(controller: C, driver: D, now: Time) -> Host<C, D> {
        Host {
            controller,
            driver,
            now,
            agenda: BTreeMap::new(),
            planned: 0,
            answers: VecDeque::new(),
            under_way: Vec::new(),
            demand: Report::default(),
            silent: false,
            failures: Vec::new(),
            begun: BTreeMap::new(),
            log: Vec::new(),
        }
    }

    /// Schedules an event.
    pub fn plan_for(&mut self, at: Time, happening: Happening) {
        self.plan(at, Event::Happens(happening));
    }

    /// Makes a step fail.
    pub fn fail(&mut self, failure: Failure) {
        self.failures.push(failure);
    }

    /// Adds an action that was begun before and ends at `at`.
    pub fn resume(&mut self, action: Action, at: Time) {
        match action {
            Action::WakeAt(_) => self.plan(at, Event::Wake),
            action => {
                let fails = self.fails(&action);
                let number = self.begin(action, fails);
                self.plan(at, Event::Ends(number));
            }
        }
    }

    /// Counts an action that was begun and answered before.
    pub fn count(&mut self, action: &Action) {
        *self.begun.entry(action.kind()).or_default() += 1;
    }

    /// Processes all events until `until`.
    ///
    /// # Errors
    /// The first error of the controller.
    pub fn run(&mut self, until: Time) -> Result<(), Refusal> {
        while self.step(until)? {}
        Ok(())
    }

    /// Processes the next event until `until`, and passes it to the controller; returns false if
    /// there is none.
    ///
    /// # Errors
    /// If the controller fails; the host may continue.
    pub fn step(&mut self, until: Time) -> Result<bool, Refusal> {
        if let Some(answer) = self.answers.pop_front() {
            self.tell(answer)?;
            return Ok(true);
        }
        let next = self.agenda.first_entry();
        let Some(next) = next.filter(|next| next.key().0 <= until) else {
            return Ok(false);
        };
        self.now = next.key().0;
        let input = match next.remove() {
            Event::Wake => Some(Input::Tick),
            Event::Ends(number) => self.end(number),
            Event::Happens(happening) => self.happens(happening),
        };
        if let Some(input) = input {
            self.tell(input)?;
        }
        Ok(true)
    }

    /// Passes an input to the controller unless it is silent, and begins the actions that it
    /// returns.
    ///
    /// # Errors
    /// If the controller fails.
    pub fn tell(&mut self, input: Input) -> Result<(), Refusal> {
        if self.silent {
            return Ok(());
        }
        let at = self.now;
        let event = Logged::Input(input.clone());
        self.log.push(Entry { at, event });
        let mut actions = Vec::new();
        let heard = self.controller.on(at, input, &mut actions);
        for action in actions {
            let event = Logged::Action(action.clone());
            self.log.push(Entry { at, event });
            self.ask(action);
        }
        heard
    }

    /// Begins an action.
    pub fn ask(&mut self, action: Action) {
        if let Action::WakeAt(at) = action {
            return self.plan(at.max(self.now), Event::Wake);
        }
        let fails = self.fails(&action);
        let takes = self.driver.takes(&action);
        let number = self.begin(action, fails);
        match takes {
            Some(time) => self.plan(self.now + time, Event::Ends(number)),
            None => {
                let answer = self.end(number);
                self.answers.extend(answer);
            }
        }
    }

    fn begin(&mut self, action: Action, fails: Option<String>) -> u64 {
        let number = self.planned;
        self.planned += 1;
        self.under_way.push(Pending {
            number,
            action,
            fails,
        });
        number
    }

    fn fails(&mut self, action: &Action) -> Option<String> {
        let kind = action.kind();
        let nth = *self.begun.get(&kind).unwrap_or(&0);
        self.count(action);
        let failure = { self.failures.iter() }.find(|f| f.kind == kind && f.nth == nth);
        failure.map(|f| f.why.clone())
    }

    /// Ends an action unless it is void; returns the answer.
    fn end(&mut self, number: u64) -> Option<Input> {
        let at = self.under_way.iter().position(|p| p.number == number)?;
        let Pending { action, fails, .. } = self.under_way.remove(at);
        let Some(step) = action.step() else {
            return Some(Input::Demand(self.demand.clone()));
        };
        if let Some(why) = fails {
            return Some(Input::Failed(step, why));
        }
        self.driver.carry_out(&action, self.now);
        Some(Input::Done(step))
    }

    fn happens(&mut self, happening: Happening) -> Option<Input> {
        match happening {
            Happening::Demand(report) => {
                self.demand = report;
                None
            }
            Happening::Report(report) => Some(Input::Demand(report)),
            Happening::PortDown(rack, plane) => {
                self.driver.break_port(rack, plane, self.now);
                Some(Input::PortDown(rack, plane))
            }
            Happening::PortUp(rack, plane) => {
                self.driver.mend_port(rack, plane);
                Some(Input::PortUp(rack, plane))
            }
            Happening::Silent(fate) => {
                self.fall_silent(fate);
                None
            }
            Happening::Hears if self.silent => {
                self.silent = false;
                Some(Input::Silence(self.driver.found()))
            }
            Happening::Hears => None,
            Happening::Leave => {
                let none = Action::Enter(StepId(0), Vec::new(), Routes::default());
                self.driver.carry_out(&none, self.now);
                None
            }
            Happening::Stray(step, done) => self.stray(step, done),
        }
    }

    fn fall_silent(&mut self, fate: UnderWay) {
        if !std::mem::replace(&mut self.silent, true) {
            let (at, event) = (self.now, Logged::Host(Hosting::Silent));
            self.log.push(Entry { at, event });
        }
        self.answers.clear();
        for pending in std::mem::take(&mut self.under_way) {
            if fate == UnderWay::CarriedOut && pending.action.step().is_some() {
                self.driver.carry_out(&pending.action, self.now);
            }
        }
    }

    fn stray(&self, step: StepId, done: bool) -> Option<Input> {
        let mut answers = self.answers.iter();
        let waits =
            answers.any(|a| matches!(a, Input::Done(s) | Input::Failed(s, _) if *s == step));
        if waits || self.steps_under_way().any(|s| s == step) {
            return None;
        }
        Some(match done {
            true => Input::Done(step),
            false => Input::Failed(step, "stray".to_owned()),
        })
    }

    fn plan(&mut self, at: Time, event: Event) {
        self.agenda.insert((at, self.planned), event);
        self.planned += 1;
    }

    /// Steps that have begun and are not carried out yet.
    pub fn steps_under_way(&self) -> impl Iterator<Item = StepId> + '_ {
        self.under_way.iter().filter_map(|p| p.action.step())
    }

    /// Whether no event is pending that the controller has not received.
    pub fn is_quiet(&self) -> bool {
        self.under_way.is_empty() && self.answers.is_empty()
    }

    /// Whether the controller is silent.
    pub fn is_silent(&self) -> bool {
        self.silent
    }

    /// The present time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// The driver.
    pub fn driver(&self) -> &D {
        &self.driver
    }

    /// The inputs and actions of the controller, in order.
    pub fn log(&self) -> &[Entry] {
        &self.log
    }
}
