//! The control loop, without input or output: it turns inputs into actions.
//!
//! A host (a simulated fabric, a testbed, a service of a real switch) owns the clock and the
//! switch. It passes every input to [`Controller::on`] and carries out the returned actions in
//! order. The controller has no clock, thread or random source: the same inputs at the same times
//! give the same actions.
//!
//! ```text
//! Tick ─► Measure ─► Demand ─► the policy decides ─► WakeAt ─► Tick
//!   ─► the steps of the policy's order, each answered by Done or Failed ─► idle
//! ```
//!
//! **The contract of a host**
//! - The host answers every [`Action`] with a [`StepId`] once, by `Done` or by `Failed`, in any
//!   order; `Failed` means that no part of the action was carried out. An action without an answer
//!   stops the loop, so a host that could wait without end must stop the wait by itself.
//! - The host carries out actions on one port in the order in which they were given, and reports
//!   inputs in the order of the events: a port that broke before a step was carried out is
//!   reported before that step is done, not after.
//! - The host answers `WakeAt` with a `Tick` at that time, `Measure` with a `Demand`.
//! - When the host reports `PortDown`, servers have detected the loss of light and moved traffic.
//!
//! Only one change is in progress at a time: a decision that falls due waits for the end of the
//! change. A step that fails ends its change; the next decision, in the next interval, decides
//! about the missing parts.
//!
//! | file | concept |
//! |---|---|
//! | this file | the loop: when to measure, decide and change |
//! | `messages` | inputs and actions |
//! | `change` | a change in progress |
//! | `network` | the circuits and routes in the controller's state |

mod change;
mod messages;
mod network;

use crate::circuits::{Circuit, Circuits};
use crate::demand::{Estimator, Report};
use crate::hardware::Hardware;
use crate::order::Order;
use crate::policy::{Demand, Policy, Target};
use crate::routes::Routes;
use change::{Change, Darkening, Progress};
use lightloom_engine::{check_range, Refusal, Time};
use network::Network;
use serde::{Deserialize, Serialize};

pub use messages::{Action, Found, Input, Kind, StepId};

/// When decisions are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// The time between decisions; the first is one interval after the start.
    #[serde(with = "crate::ps", rename = "interval_ps")]
    pub interval: Time,
    /// The time from the demand to the decision, unless the policy reports it.
    #[serde(with = "crate::ps", rename = "computation_delay_ps")]
    pub computation_delay: Time,
}

impl Timing {
    /// The longest interval or delay.
    pub const MOST: Time = Time(3_600 * Time::S.0);

    /// Refuses an interval without length and a negative delay.
    ///
    /// # Errors
    /// If a value is out of range; names `interval_ps` or `computation_delay_ps`.
    pub fn check(&self) -> Result<(), Refusal> {
        let ranges = [
            ("interval_ps", self.interval.0, 1),
            ("computation_delay_ps", self.computation_delay.0, 0),
        ];
        for (key, value, least) in ranges {
            check_range(key, value, least..=Timing::MOST.0).map_err(|refusal| Refusal {
                limit: format!("{} (3600 s)", refusal.limit),
                ..refusal
            })?;
        }
        Ok(())
    }
}

/// The control loop of a policy.
#[derive(Clone, Debug)]
pub struct Controller<P> {
    policy: P,
    hardware: Hardware,
    timing: Timing,
    estimator: Estimator,
    /// The order of a change, if it differs from the policy's.
    order: Option<Order>,
    network: Network,
    phase: Phase,
    /// The time at which the next decision falls due; `None` until the first tick.
    next: Option<Time>,
    /// Whether a decision fell due during another action.
    due: bool,
    steps: u64,
}

#[derive(Clone, Debug)]
enum Phase {
    Idle,
    /// The host is measuring the demand.
    Measuring,
    /// The policy computes until this time.
    Computing(Time, Target),
    Changing(Change),
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

    /// The same controller with this order of changes instead of the policy's.
    pub fn with_order(self, order: Order) -> Self {
        Controller {
            order: Some(order),
            ..self
        }
    }

    /// The order of a change, if it differs from the policy's.
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

    /// The lit circuits in the controller's state.
    pub fn lit(&self) -> &Circuits {
        &self.network.lit
    }

    /// The routes in force in the controller's state.
    pub fn routes(&self) -> &Routes {
        &self.network.routes
    }

    /// Takes an input that arrived at `now`, and appends the resulting actions to `actions`. An
    /// answer to a step that is not in progress is ignored.
    ///
    /// # Errors
    /// If the policy fails, or its decision is invalid; the circuits then stay as they are until
    /// the next decision. If the switch does not have a port.
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

    /// Processes a broken port. A circuit on it that was about to go dark is dark now and does not
    /// count as lit again if its step fails.
    fn port_down(&mut self, rack: u32, plane: u32) {
        let stays = |c: Circuit| c.plane != plane || (c.a != rack && c.b != rack);
        self.network.works[self.hardware.port(rack, plane)] = false;
        self.network.retain(stays);
        if let Phase::Changing(change) = &mut self.phase {
            let Darkening { circuits, routes } = &mut change.dark;
            *circuits = circuits.filtered(stays);
            routes.keep_lit(stays);
        }
    }

    fn wake_at(&mut self, next: Time, actions: &mut Vec<Action>) {
        self.next = Some(next);
        actions.push(Action::WakeAt(next));
    }

    /// Starts a decision that is due, now or when the change in progress ends.
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

    /// Begins every step whose dependencies are done; ends the change when no step is left.
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

    /// Resets the loop: all actions in progress are void.
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
        // Decisions fall due at the same times as without the silence.
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
