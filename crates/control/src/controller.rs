//! The control loop, without input or output: inputs in, actions out.
//!
//! A host (a simulated fabric, a testbed, a service before a real switch) owns the
//! clock and the switch. It hands every input to [`Controller::on`] and carries out
//! the actions that come back, in order. There is no clock, thread or random source in
//! here: the same inputs at the same times give the same actions.
//!
//! ```text
//! Tick ─► Measure ─► Demand ─► the policy decides ─► WakeAt ─► Tick
//!   ─► the steps of the policy's order, each answered by Done or Failed ─► idle
//! ```
//!
//! **The contract of a host**
//! - Every [`Action`] with a [`StepId`] is answered once, by `Done` or by `Failed`,
//!   in any order; `Failed` says that nothing of it was carried out. What is never
//!   answered stops the loop: a host that may wait for ever gives up by itself.
//! - Actions on one port are carried out in the order in which they were given, and
//!   inputs come in the order in which things happened: a port that broke before a step
//!   was carried out is reported before it is done, not after.
//! - `WakeAt` is answered by a `Tick` at that time, `Measure` by a `Demand`.
//! - Whoever reports `PortDown` has led traffic away: servers see that light is lost.
//!
//! While a change is under way no other is begun: a decision that falls due waits for
//! its end. A step that fails ends its change; what is missing is decided anew when
//! the next interval begins.

use crate::circuits::{Circuit, Circuits};
use crate::demand::{Estimator, Report};
use crate::hardware::Hardware;
use crate::order::{Extent, Order, Step};
use crate::policy::{Demand, Policy, SwitchView, Target};
use crate::routes::{Pair, Routes};
use crate::schedule::Schedule;
use lightloom_engine::{Refusal, Time};
use serde::{Deserialize, Serialize};

/// Numbers the steps that a host is asked to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StepId(pub u64);

/// What the controller hears.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A time that was asked for has come; the first begins the loop.
    Tick,
    /// What there is to send, as asked for by [`Action::Measure`], or unasked.
    Demand(Report),
    /// A step is carried out.
    Done(StepId),
    /// A step is not carried out, nor any part of it.
    Failed(StepId, String),
    /// The port of a rack on a plane has lost its light, and its circuit with it.
    PortDown(u32, u32),
    /// It works again; no circuit is lit on it.
    PortUp(u32, u32),
    /// The controller has been silent until now (its own failure is its host's
    /// business). What it had begun is void; this is what its host found.
    Silence(Found),
}

/// A switch and its servers as a host finds them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Circuits that are lit.
    pub lit: Circuits,
    /// Routes in force.
    pub routes: Routes,
    /// The schedule that is followed, of whose days nothing is lit or in force above.
    pub schedule: Option<Schedule>,
    /// Pairs that rules of a change that was cut short lead to the electrical network.
    #[serde(default)]
    pub drained: Vec<Pair>,
    /// Which ports work, at [`Hardware::port`].
    pub works: Vec<bool>,
}

impl Found {
    /// Refuses what cannot be so on this switch.
    ///
    /// # Errors
    /// Names the circuit, the schedule or `works`.
    pub fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        self.lit.check(hardware)?;
        if let Some(schedule) = &self.schedule {
            schedule.check_for(hardware)?;
        }
        let ports = hardware.columns();
        if self.works.len() == ports {
            return Ok(());
        }
        let value = format!("{} ports", self.works.len());
        let limit = format!("the switch has {ports}");
        Err(Refusal::new(
            "works",
            value,
            limit,
            "say of each whether it works",
        ))
    }
}

/// What a host is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Say what there is to send.
    Measure,
    /// Lead the traffic of these pairs to the electrical network, by rules that stay
    /// until an [`Action::Enter`] names the pair.
    Drain(StepId, Vec<Pair>),
    /// Take circuits down.
    Dark(StepId, Circuits),
    /// Bring circuits up, as far as their ports work by then.
    Light(StepId, Circuits),
    /// Install routes where they do not count yet.
    Route(StepId, Routes),
    /// Let traffic in: the rules that drain these pairs go, of this change and of those
    /// before it that were never completed, and exactly these routes are in force, as
    /// far as they are lit.
    Enter(StepId, Vec<Pair>, Routes),
    /// Follow a schedule from now on, without being told of its days.
    Follow(StepId, Schedule),
    /// Send a [`Input::Tick`] then [ps].
    WakeAt(#[serde(with = "crate::ps")] Time),
}

/// What an action is, whatever it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Measure,
    Drain,
    Dark,
    Light,
    Route,
    Enter,
    Follow,
    WakeAt,
}

impl Action {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Action::Measure => Kind::Measure,
            Action::Drain(..) => Kind::Drain,
            Action::Dark(..) => Kind::Dark,
            Action::Light(..) => Kind::Light,
            Action::Route(..) => Kind::Route,
            Action::Enter(..) => Kind::Enter,
            Action::Follow(..) => Kind::Follow,
            Action::WakeAt(_) => Kind::WakeAt,
        }
    }

    /// The step that is to be answered.
    pub fn step(&self) -> Option<StepId> {
        match self {
            Action::Measure | Action::WakeAt(_) => None,
            Action::Drain(step, _)
            | Action::Dark(step, _)
            | Action::Light(step, _)
            | Action::Route(step, _)
            | Action::Enter(step, ..)
            | Action::Follow(step, _) => Some(*step),
        }
    }
}

/// When decisions are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// From one decision to the next; the first is one interval after the start.
    #[serde(with = "crate::ps", rename = "interval_ps")]
    pub interval: Time,
    /// From the demand to the decision, unless the policy says what it took.
    #[serde(with = "crate::ps", rename = "computation_delay_ps")]
    pub computation_delay: Time,
}

/// The loop around a policy.
#[derive(Clone, Debug)]
pub struct Controller<P> {
    policy: P,
    hardware: Hardware,
    timing: Timing,
    estimator: Estimator,
    /// Of a change, if not the policy's own.
    order: Option<Order>,
    network: Network,
    phase: Phase,
    /// When the next decision falls due; unknown until the first tick.
    next: Option<Time>,
    /// One fell due while something else was under way.
    due: bool,
    steps: u64,
}

/// What is lit, and in force, as far as is known.
#[derive(Clone, Debug)]
struct Network {
    lit: Circuits,
    routes: Routes,
    /// Pairs that rules lead to the electrical network, in order.
    drained: Vec<Pair>,
    works: Vec<bool>,
    schedule: Option<Schedule>,
}

#[derive(Clone, Debug)]
enum Phase {
    Idle,
    /// Somebody counts what there is to send.
    Measuring,
    /// The policy computes until then.
    Computing(Time, Target),
    Changing(Change),
}

/// A change under way.
#[derive(Clone, Debug)]
struct Change {
    target: Target,
    order: &'static [(Step, &'static [usize])],
    /// By place in the order.
    steps: Vec<Progress>,
    /// Of steps under way: pairs to be drained, circuits to be dark and to be lit.
    drain: Vec<Pair>,
    dark: Going,
    light: Circuits,
    failed: bool,
}

/// Circuits that were told to go dark, and routes as they were before: they count again
/// if that fails.
#[derive(Clone, Debug, Default)]
struct Going {
    circuits: Circuits,
    routes: Routes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Waiting,
    UnderWay(StepId),
    Over,
}

impl<P: Policy> Controller<P> {
    /// A controller of a dark switch whose ports all work.
    pub fn new(policy: P, hardware: Hardware, timing: Timing, estimator: Estimator) -> Self {
        Controller {
            policy,
            hardware,
            timing,
            estimator,
            order: None,
            network: Network {
                lit: Circuits::default(),
                routes: Routes::default(),
                drained: Vec::new(),
                works: vec![true; hardware.columns()],
                schedule: None,
            },
            phase: Phase::Idle,
            next: None,
            due: false,
            steps: 0,
        }
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// The same, where changes are carried out in this order instead of the policy's.
    pub fn with_order(self, order: Order) -> Self {
        Controller {
            order: Some(order),
            ..self
        }
    }

    /// The order of a change, if it is not the policy's own.
    pub fn order(&self) -> Option<Order> {
        self.order
    }

    /// When decisions are made.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// How demand is estimated.
    pub fn estimator(&self) -> &Estimator {
        &self.estimator
    }

    /// Circuits that are lit, as far as the controller knows.
    pub fn lit(&self) -> &Circuits {
        &self.network.lit
    }

    /// Routes in force, as far as the controller knows.
    pub fn routes(&self) -> &Routes {
        &self.network.routes
    }

    /// Takes an input that came at `now`, and appends what is to be done to `actions`.
    /// An answer to a step that is not under way is ignored.
    ///
    /// # Errors
    /// Of the policy, or of what it decided; then the circuits stay as they are until
    /// the next decision. A port that the switch does not have.
    pub fn on(
        &mut self,
        now: Time,
        input: Input,
        actions: &mut Vec<Action>,
    ) -> Result<(), Refusal> {
        match input {
            Input::Tick => self.tick(now, actions),
            Input::Demand(report) => self.demand(now, &report, actions)?,
            Input::Done(step) => self.answered(now, step, true, actions),
            Input::Failed(step, _) => self.answered(now, step, false, actions),
            Input::PortDown(rack, plane) => {
                self.hardware.check_port(rack, plane)?;
                self.port_down(rack, plane);
            }
            Input::PortUp(rack, plane) => {
                self.hardware.check_port(rack, plane)?;
                let port = self.hardware.port(rack, plane);
                self.network.works[port] = true;
            }
            Input::Silence(found) => self.begin_again(now, found, actions),
        }
        Ok(())
    }

    fn tick(&mut self, now: Time, actions: &mut Vec<Action>) {
        if matches!(self.phase, Phase::Computing(until, _) if until <= now) {
            if let Phase::Computing(_, target) = std::mem::replace(&mut self.phase, Phase::Idle) {
                self.change(target, actions);
            }
        }
        match self.next {
            None => self.wake_at(now + self.timing.interval, actions),
            Some(next) if next <= now => {
                let passed = (now - next).0 / self.timing.interval.0;
                self.wake_at(next + self.timing.interval * (passed + 1), actions);
                self.cycle(actions);
            }
            Some(_) => {}
        }
    }

    /// A circuit that was about to go dark does so now, and does not count again if that
    /// step fails.
    fn port_down(&mut self, rack: u32, plane: u32) {
        let stays = |c: &Circuit| c.plane != plane || (c.a != rack && c.b != rack);
        self.network.works[self.hardware.port(rack, plane)] = false;
        self.network.retain(stays);
        if let Phase::Changing(change) = &mut self.phase {
            let Going { circuits, routes } = &mut change.dark;
            *circuits = Circuits::of(circuits.directed(), circuits.iter().filter(stays));
            routes.keep_lit(|hop| stays(&hop));
        }
    }

    fn wake_at(&mut self, next: Time, actions: &mut Vec<Action>) {
        self.next = Some(next);
        actions.push(Action::WakeAt(next));
    }

    /// A decision is due: now, or when what is under way is over.
    fn cycle(&mut self, actions: &mut Vec<Action>) {
        match self.phase {
            Phase::Idle => {
                self.due = false;
                self.phase = Phase::Measuring;
                actions.push(Action::Measure);
            }
            _ => self.due = true,
        }
    }

    fn demand(
        &mut self,
        now: Time,
        report: &Report,
        actions: &mut Vec<Action>,
    ) -> Result<(), Refusal> {
        let bytes = self.estimator.update(report);
        if !matches!(self.phase, Phase::Measuring) {
            return Ok(());
        }
        self.phase = Phase::Idle;
        let over = self.timing.interval;
        let view = self.network.view(self.hardware);
        let target = self.policy.decide(&Demand { bytes, over }, &view)?;
        target.check(&view)?;
        self.network.check_kind(&target)?;
        if self.network.needs(&target) {
            let took = self.policy.took();
            let until = now + took.unwrap_or(self.timing.computation_delay);
            self.phase = Phase::Computing(until, target);
            actions.push(Action::WakeAt(until));
        } else if self.due {
            self.cycle(actions);
        }
        Ok(())
    }

    /// Begins a change.
    fn change(&mut self, target: Target, actions: &mut Vec<Action>) {
        let order = match target {
            Target::Network { .. } => self.order.unwrap_or_else(|| self.policy.order()).0,
            Target::Schedule(_) => &[],
        };
        if let Target::Schedule(schedule) = &target {
            let step = self.number();
            actions.push(Action::Follow(step, schedule.clone()));
            let change = Change::of(target, order, vec![Progress::UnderWay(step)]);
            self.phase = Phase::Changing(change);
            return;
        }
        let steps = vec![Progress::Waiting; order.len()];
        self.phase = Phase::Changing(Change::of(target, order, steps));
        self.walk(actions);
    }

    /// Begins every step that waits for nothing any more; ends the change when none is
    /// left.
    fn walk(&mut self, actions: &mut Vec<Action>) {
        let Phase::Changing(mut change) = std::mem::replace(&mut self.phase, Phase::Idle) else {
            return;
        };
        for at in 0..change.order.len() {
            if change.may_begin(at) {
                let step = self.number();
                change.steps[at] = Progress::UnderWay(step);
                actions.push(self.network.begin(step, change.order[at].0, &mut change));
            }
        }
        if change.is_over() {
            if std::mem::take(&mut self.due) {
                self.cycle(actions);
            }
            return;
        }
        self.phase = Phase::Changing(change);
    }

    fn answered(&mut self, _: Time, step: StepId, done: bool, actions: &mut Vec<Action>) {
        let Phase::Changing(change) = &mut self.phase else {
            return;
        };
        let Some(at) = { change.steps.iter() }.position(|&p| p == Progress::UnderWay(step)) else {
            return;
        };
        change.steps[at] = Progress::Over;
        change.failed |= !done;
        match (change.order.get(at), done) {
            (Some((step, _)), true) => self.network.done(*step, change, self.hardware),
            (Some((step, _)), false) => self.network.failed(*step, change, self.hardware),
            (None, true) => self.network.follows(&change.target),
            (None, false) => {}
        }
        self.walk(actions);
    }

    /// Whatever was under way is void.
    fn begin_again(&mut self, now: Time, found: Found, actions: &mut Vec<Action>) {
        self.phase = Phase::Idle;
        self.due = false;
        self.network = Network {
            lit: found.lit,
            routes: found.routes,
            drained: found.drained,
            works: found.works,
            schedule: found.schedule,
        };
        // Decisions fall due when they would have.
        let interval = self.timing.interval;
        let next = match self.next {
            None => now + interval,
            Some(next) if next < now => next + interval * (now - next).div_ceil(interval),
            Some(next) => next,
        };
        self.wake_at(next, actions);
    }

    fn number(&mut self) -> StepId {
        self.steps += 1;
        StepId(self.steps)
    }
}

impl Network {
    fn view(&self, hardware: Hardware) -> SwitchView<'_> {
        SwitchView {
            hardware,
            lit: &self.lit,
            works: &self.works,
        }
    }

    /// Whether anything has to change: unwanted circuits harm nobody, and go dark with
    /// the next change.
    fn needs(&self, target: &Target) -> bool {
        match target {
            Target::Schedule(schedule) => self.schedule.as_ref() != Some(schedule),
            Target::Network { circuits, routes } => {
                !self.routes.differing(routes).is_empty()
                    || !self.lit.change_to(circuits).added.is_empty()
            }
        }
    }

    /// Circuits that stay and circuits that take turns are not mixed, nor circuits of
    /// one direction and of both.
    fn check_kind(&self, target: &Target) -> Result<(), Refusal> {
        let ways = |directed| match directed {
            true => "circuits of one direction",
            false => "circuits of both directions",
        };
        let (found, before) = match target {
            Target::Network { .. } if self.schedule.is_some() => ("circuits", "a schedule"),
            Target::Schedule(_) if !self.lit.is_empty() => ("a schedule", "circuits"),
            Target::Network { circuits, .. } if self.mixes(circuits) => {
                (ways(circuits.directed()), ways(self.lit.directed()))
            }
            _ => return Ok(()),
        };
        Err(Refusal::new(
            "policy",
            found,
            format!("it decided on {before} before"),
            "answer with one kind of target",
        ))
    }

    fn follows(&mut self, target: &Target) {
        if let Target::Schedule(schedule) = target {
            self.schedule = Some(schedule.clone());
        }
    }

    fn mixes(&self, wanted: &Circuits) -> bool {
        let some = !self.lit.is_empty() && !wanted.is_empty();
        some && self.lit.directed() != wanted.directed()
    }

    /// Keeps some circuits lit, and the routes over them.
    fn retain(&mut self, keep: impl Fn(&Circuit) -> bool) {
        let directed = self.lit.directed();
        self.lit = Circuits::of(directed, self.lit.iter().filter(|c| keep(c)));
        let mut rows: Vec<Circuit> = self.lit.iter().collect();
        rows.sort_unstable();
        self.routes.keep_lit(|hop| is_among(&rows, directed, hop));
    }

    /// What a step of `change` asks for; circuits that are told to go dark do not count
    /// as lit any more, nor routes over them as in force.
    fn begin(&mut self, id: StepId, step: Step, change: &mut Change) -> Action {
        let Target::Network { circuits, routes } = &change.target else {
            unreachable!("schedules have no steps");
        };
        match step {
            Step::Drain => {
                change.drain = self.routes.differing(routes);
                let in_force = |&(a, b): &Pair| !self.routes.between(a, b).is_empty();
                change.drain.retain(in_force);
                Action::Drain(id, change.drain.clone())
            }
            Step::Dark(extent) => {
                let dark = match extent {
                    Extent::All => self.lit.clone(),
                    Extent::Removed => self.lit.change_to(circuits).removed,
                };
                let mut rows: Vec<Circuit> = dark.iter().collect();
                rows.sort_unstable();
                change.dark = Going {
                    circuits: dark.clone(),
                    routes: self.routes.clone(),
                };
                self.retain(|c| rows.binary_search(c).is_err());
                Action::Dark(id, dark)
            }
            Step::Light => {
                change.light = self.lit.change_to(circuits).added;
                Action::Light(id, change.light.clone())
            }
            Step::Route => Action::Route(id, new_routes(&self.routes, routes)),
            Step::Enter => Action::Enter(id, self.drained.clone(), routes.clone()),
        }
    }

    fn done(&mut self, step: Step, change: &mut Change, hardware: Hardware) {
        match step {
            Step::Drain => {
                for pair in std::mem::take(&mut change.drain) {
                    self.routes.drop_pair(pair);
                    change.dark.routes.drop_pair(pair);
                    self.drained.push(pair);
                }
                self.drained.sort_unstable();
                self.drained.dedup();
            }
            Step::Dark(_) => change.dark = Going::default(),
            Step::Light => {
                let light = std::mem::take(&mut change.light);
                self.light(&light, hardware);
            }
            Step::Route => {}
            Step::Enter => {
                if let Target::Network { routes, .. } = &change.target {
                    self.drained.clear();
                    self.routes = routes.clone();
                    self.retain(|_| true);
                }
            }
        }
    }

    /// Nothing of a step was carried out: what was to go dark is still lit.
    fn failed(&mut self, step: Step, change: &mut Change, hardware: Hardware) {
        match step {
            Step::Dark(_) => {
                let Going { circuits, routes } = std::mem::take(&mut change.dark);
                self.light(&circuits, hardware);
                self.routes = routes;
                self.retain(|_| true);
            }
            Step::Light => change.light = Circuits::default(),
            Step::Drain | Step::Route | Step::Enter => {}
        }
    }

    /// Circuits count as lit, as far as their ports work.
    fn light(&mut self, circuits: &Circuits, hardware: Hardware) {
        let works = |c: &Circuit| [c.a, c.b].map(|r| self.works[hardware.port(r, c.plane)]);
        let new = circuits.iter().filter(|c| works(c) == [true, true]);
        let rows: Vec<Circuit> = self.lit.iter().chain(new).collect();
        let directed = match self.lit.is_empty() {
            true => circuits.directed(),
            false => self.lit.directed(),
        };
        self.lit = Circuits::of(directed, rows);
    }
}

/// Whether a hop is over one of the circuits, which are in order.
fn is_among(rows: &[Circuit], directed: bool, mut hop: Circuit) -> bool {
    if !directed && hop.a > hop.b {
        std::mem::swap(&mut hop.a, &mut hop.b);
    }
    rows.binary_search(&hop).is_ok()
}

/// Routes of pairs that have others now, or none.
fn new_routes(now: &Routes, wanted: &Routes) -> Routes {
    let mut new = Routes::none(wanted.directed());
    for (a, b) in now.differing(wanted) {
        for route in wanted.between(a, b) {
            new.add(route.clone());
        }
    }
    new
}

impl Change {
    fn of(
        target: Target,
        order: &'static [(Step, &'static [usize])],
        steps: Vec<Progress>,
    ) -> Change {
        Change {
            target,
            order,
            steps,
            drain: Vec::new(),
            dark: Going::default(),
            light: Circuits::default(),
            failed: false,
        }
    }

    /// After a failure nothing more is begun.
    fn may_begin(&self, at: usize) -> bool {
        let over = |&before: &usize| self.steps[before] == Progress::Over;
        let waits = self.steps[at] == Progress::Waiting;
        waits && !self.failed && self.order[at].1.iter().all(over)
    }

    fn is_over(&self) -> bool {
        let under_way = |p: &Progress| matches!(p, Progress::UnderWay(_));
        match self.failed {
            true => !self.steps.iter().any(under_way),
            false => self.steps.iter().all(|p| *p == Progress::Over),
        }
    }
}
