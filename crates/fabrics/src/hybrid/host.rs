//! Runs the controller: whether it works, its log, and whether servers have left their circuits.

use super::computation::{Timed, Times};
use super::setup::{GiveUp, Setup};
use super::trouble::could_not;
use lightloom_control::controller::{Action, Controller, Input};
use lightloom_control::demand::{Estimation, Estimator};
use lightloom_control::hardware::Hardware;
use lightloom_control::log::{Header, Hosting, Log, FORMAT};
use lightloom_control::policy::Policy;
use lightloom_engine::{ControlRecord, Refusal, Time};
use serde_json::Value;

/// The controller and the state around it.
pub struct Host {
    controller: Controller<Box<dyn Policy>>,
    hardware: Hardware,
    /// The policy's table, for the log.
    policy: Value,
    /// Set if the policy could not decide; the controller then stops.
    trouble: Option<Refusal>,
    works: bool,
    /// Number of failures and repairs of the controller.
    term: u32,
    patience: Option<GiveUp>,
    /// Whether servers have left the circuits until the controller is repaired.
    given_up: bool,
    log: Option<Log>,
    /// The first input of the controller, and the actions that it returned.
    opening: (Input, Vec<Action>),
    /// The times that decisions took, if they were measured or recorded.
    times: Option<Times>,
}

impl Host {
    /// Creates the host of a policy; a setup without a policy has no host.
    pub fn new(setup: Setup) -> Host {
        let (cluster, monitoring, hardware) = (setup.cluster, setup.monitoring, setup.hardware);
        let estimation = Estimation {
            racks: cluster.racks,
            reporters_per_rack: cluster.servers_per_rack,
            thresholds: monitoring.thresholds,
            smoothing: monitoring.smoothing,
            most: monitoring.most,
        };
        let estimator = Estimator::new(estimation);
        let interval = setup.timing.interval;
        let (policy, times) = Timed::wrap(setup.policy, &setup.computation, Some(interval));
        let mut controller = Controller::new(policy, hardware, setup.timing, estimator);
        if let Some(order) = setup.order {
            controller = controller.with_order(order);
        }
        Host {
            controller,
            hardware,
            policy: setup.described,
            trouble: None,
            works: true,
            term: 0,
            patience: setup.give_up,
            given_up: false,
            log: None,
            opening: (Input::Tick, Vec::new()),
            times,
        }
    }

    /// The controller.
    pub fn controller(&self) -> &Controller<Box<dyn Policy>> {
        &self.controller
    }

    /// The error of a policy that could not decide.
    pub fn trouble(&self) -> Option<&Refusal> {
        self.trouble.as_ref()
    }

    /// Passes an input to the controller unless it has failed. Returns the requested actions.
    pub fn hear(&mut self, input: Input, now: Time) -> Vec<Action> {
        let mut actions = Vec::new();
        if !self.works || self.trouble.is_some() {
            return actions;
        }
        if let Some(log) = &mut self.log {
            log.input(now, &input);
        }
        if let Err(refusal) = self.controller.on(now, input, &mut actions) {
            self.trouble = Some(could_not(&self.policy, refusal, now));
        }
        if let Some(log) = &mut self.log {
            actions.iter().for_each(|action| log.action(now, action));
        }
        actions
    }

    /// Passes the first input, which the log contains, to the controller; returns the requested
    /// actions.
    pub fn hear_first(&mut self, input: Input) -> Vec<Action> {
        let actions = self.hear(input.clone(), Time::ZERO);
        self.opening = (input, actions.clone());
        actions
    }

    /// Sets whether the controller works. Returns whether this is a change.
    pub fn set_works(&mut self, works: bool, now: Time) -> bool {
        if works == self.works {
            return false;
        }
        self.works = works;
        self.term += 1;
        self.given_up = false;
        if let (Some(log), false) = (&mut self.log, works) {
            log.host(now, Hosting::Silent);
        }
        true
    }

    /// The number of failures and repairs so far.
    pub fn term(&self) -> u32 {
        self.term
    }

    /// Time without the controller after which servers leave the circuits, if they do.
    pub fn patience(&self) -> Option<Time> {
        self.patience.map(|patience| patience.after)
    }

    /// Makes servers leave the circuits. Returns whether these go dark.
    pub fn give_up(&mut self) -> bool {
        self.given_up = true;
        self.patience.is_some_and(|patience| patience.dark)
    }

    /// Whether servers have left the circuits.
    pub fn has_given_up(&self) -> bool {
        self.given_up
    }

    /// Begins a log of inputs and actions, which starts with the beginning of the loop.
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
            shortest_slot: None,
            night: None,
        });
        let (input, actions) = &self.opening;
        log.input(Time::ZERO, input);
        for action in actions {
            log.action(Time::ZERO, action);
        }
        self.log = Some(log);
    }

    /// The log, and the times that decisions took.
    pub fn end_log(&mut self) -> ControlRecord {
        let times = self.times.as_ref().and_then(|times| times.lock().ok());
        ControlRecord {
            log: self.log.take().map(Log::finish),
            computed: times.map(|times| times.clone()),
        }
    }
}
