//! Statistics of a controller, from its inputs and actions.

use super::{Account, Decision};
use crate::circuits::Circuits;
use crate::controller::{Action, Found, Input, StepId};
use crate::demand::{Estimator, Matrix};
use crate::fake::Fake;
use crate::hardware::Hardware;
use crate::host::Driver;
use crate::log::{Entry, Event, Header, Hosting};
use crate::routes::Routes;
use crate::schedule::Schedule;
use lightloom_engine::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Follows the inputs and actions of a controller and the state of its switch.
pub struct Bookkeeper {
    account: Account,
    hardware: Hardware,
    estimator: Estimator,
    switch: Fake,
    /// Steps in progress.
    steps: BTreeMap<StepId, Action>,
    measuring: bool,
    /// Whether a tick was received; a change begins with one.
    ticked: bool,
    /// The last decision and its demand.
    decided: Option<(Decision, Matrix)>,
    /// The time up to which light has been counted.
    now: Time,
    /// Start of the present schedule.
    followed: Time,
    /// Lit circuits [circuits × ps] and dark ports [ports × ps], by plane.
    lit: Vec<i128>,
    dark: Vec<i128>,
}

impl Bookkeeper {
    /// Creates the account of a controller that has not started.
    pub fn new(header: &Header) -> Bookkeeper {
        let planes = header.hardware.planes as usize;
        Bookkeeper {
            account: Account::default(),
            hardware: header.hardware,
            estimator: Estimator::new(header.estimation),
            switch: Fake::new(header.hardware),
            steps: BTreeMap::new(),
            measuring: false,
            ticked: false,
            decided: None,
            now: Time::ZERO,
            followed: Time::ZERO,
            lit: vec![0; planes],
            dark: vec![0; planes],
        }
    }

    /// Processes all entries of a log.
    pub fn read(mut self, entries: &[Entry]) -> Bookkeeper {
        for entry in entries {
            match &entry.event {
                Event::Input(input) => self.hear(entry.at, input),
                Event::Action(action) => self.ask(action),
                Event::Host(Hosting::Silent) => {}
            }
        }
        self
    }

    /// Processes an input of the controller.
    pub fn hear(&mut self, at: Time, input: &Input) {
        self.wait(at);
        self.ticked = *input == Input::Tick;
        match input {
            Input::Demand(report) => {
                let demand = self.estimator.update(report);
                if std::mem::take(&mut self.measuring) {
                    self.decide(at, demand);
                }
            }
            Input::Done(step) => {
                if let Some(action) = self.steps.remove(step) {
                    self.carry_out(&action);
                }
            }
            Input::Failed(step, _) => {
                self.account.failed_steps += u64::from(self.steps.remove(step).is_some());
            }
            Input::PortDown(rack, plane) => {
                let before = self.switch.lit().len();
                self.switch.break_port(*rack, *plane, at);
                self.account.lost += (before - self.switch.lit().len()) as u64;
            }
            Input::PortUp(rack, plane) => self.switch.mend_port(*rack, *plane),
            Input::Silence(found) => self.find(found),
            Input::Tick => {}
        }
    }

    /// Records an action that the controller requested.
    pub fn ask(&mut self, action: &Action) {
        self.measuring |= *action == Action::Measure;
        let Some(step) = action.step() else {
            return;
        };
        self.account.changes += u64::from(std::mem::take(&mut self.ticked));
        self.steps.insert(step, action.clone());
        match action {
            Action::Enter(_, _, routes) => self.joins(|demand| by_routes(demand, routes)),
            Action::Follow(_, schedule) => {
                self.account.schedules += 1;
                self.joins(|demand| by_schedule(demand, schedule));
            }
            _ => {}
        }
    }

    /// The account at `end`.
    pub fn close(mut self, end: Time) -> Account {
        self.wait(end);
        self.account.decisions.extend(self.decided.map(|(d, _)| d));
        let seconds = |ps: &i128| *ps as f64 / Time::S.0 as f64;
        Account {
            lit_circuit_s: self.lit.iter().map(seconds).collect(),
            dark_port_s: self.dark.iter().map(seconds).collect(),
            ..self.account
        }
    }

    /// Processes a decision, which includes the circuits that are already lit unless others follow.
    fn decide(&mut self, at: Time, demand: Matrix) {
        self.account
            .decisions
            .extend(self.decided.take().map(|(d, _)| d));
        let joined = match self.switch.schedule() {
            Some(schedule) => by_schedule(&demand, schedule),
            None => by_routes(&demand, self.switch.routes()),
        };
        let decision = Decision::of(at, demand.total() as u64, joined);
        self.decided = Some((decision, demand));
    }

    fn joins(&mut self, bytes: impl Fn(&Matrix) -> u64) {
        if let Some((decision, demand)) = &mut self.decided {
            *decision = Decision::of(decision.at, decision.demand_bytes, bytes(demand));
        }
    }

    fn carry_out(&mut self, action: &Action) {
        let before = self.switch.lit().clone();
        self.switch.carry_out(action, self.now);
        match action {
            Action::Follow(..) => self.followed = self.now,
            _ => {
                let change = before.change_to(self.switch.lit());
                self.account.made += change.added.len() as u64;
                self.account.broken += change.removed.len() as u64;
            }
        }
    }

    fn find(&mut self, found: &Found) {
        let change = self.switch.lit().change_to(&found.lit);
        self.account.made += change.added.len() as u64;
        self.account.lost += change.removed.len() as u64;
        if self.switch.schedule() != found.schedule.as_ref() {
            self.followed = self.now;
        }
        self.switch.set(found.clone());
        self.steps.clear();
        self.measuring = false;
    }

    /// Counts the light in its present state until `at`.
    fn wait(&mut self, at: Time) {
        let span = i128::from((at - self.now).0);
        let ports = i128::from(self.hardware.racks) * i128::from(self.hardware.ports);
        self.dark.iter_mut().for_each(|dark| *dark += ports * span);
        match self.switch.schedule() {
            Some(schedule) => {
                let lit_by = |t: Time| self.lit_by(schedule, t - self.followed);
                let lit = lit_by(at) - lit_by(self.now);
                self.lit[0] += lit;
                self.dark[0] -= lit;
            }
            None => self.shine(&self.switch.lit().clone(), span),
        }
        self.now = at;
    }

    fn shine(&mut self, lit: &Circuits, span: i128) {
        let senders = if lit.directed() { 1 } else { 2 };
        for circuit in lit.iter() {
            self.lit[circuit.plane as usize] += span;
            self.dark[circuit.plane as usize] -= senders * span;
        }
    }

    /// Light of a schedule that was followed for this long [circuits × ps].
    fn lit_by(&self, schedule: &Schedule, span: Time) -> i128 {
        let works = |rack: usize| self.switch.works(rack as u32, 0);
        let mut left = span;
        let (mut lit, mut day) = (0, Vec::new());
        for slot in &schedule.slots {
            let circuits = { slot.circuits() }
                .filter(|&(a, b)| works(a) && works(b))
                .count();
            day.push(circuits as i128 * i128::from(slot.day.0));
        }
        if schedule.slots.is_empty() {
            return 0;
        }
        lit += i128::from(left.0 / schedule.period().0) * day.iter().sum::<i128>();
        left = Time(left.0 % schedule.period().0);
        for (slot, whole) in schedule.slots.iter().zip(day) {
            left -= schedule.night;
            let lasted = left.min(slot.day).max(Time::ZERO);
            lit += whole / i128::from(slot.day.0) * i128::from(lasted.0);
            left -= slot.day;
        }
        lit
    }
}

impl Decision {
    fn of(at: Time, demand_bytes: u64, joined_bytes: u64) -> Decision {
        Decision {
            at,
            demand_bytes,
            joined_bytes,
            share: (demand_bytes > 0).then(|| joined_bytes as f64 / demand_bytes as f64),
        }
    }
}

fn by_routes(demand: &Matrix, routes: &Routes) -> u64 {
    let joined = |a: usize, b: usize| !routes.between(a as u32, b as u32).is_empty();
    sum(demand, joined)
}

fn by_schedule(demand: &Matrix, schedule: &Schedule) -> u64 {
    let slots = schedule.slots.iter();
    let joined: BTreeSet<(usize, usize)> = slots.flat_map(|slot| slot.circuits()).collect();
    sum(demand, |a, b| joined.contains(&(a, b)))
}

fn sum(demand: &Matrix, joined: impl Fn(usize, usize) -> bool) -> u64 {
    let entries = demand.entries().filter(|&(a, b, _)| joined(a, b));
    entries.map(|(.., bytes)| bytes as u64).sum()
}
