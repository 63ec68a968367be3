//! The inputs and actions of a controller.

use crate::circuits::Circuits;
use crate::demand::Report;
use crate::hardware::Hardware;
use crate::routes::{Pair, Routes};
use crate::schedule::Schedule;
use lightloom_engine::{Refusal, Time};
use serde::{Deserialize, Serialize};

/// The number of a step that a host is to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StepId(pub u64);

/// An input of the controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A requested time has come; the first tick starts the loop.
    Tick,
    /// The demand, as requested by [`Action::Measure`], or unsolicited.
    Demand(Report),
    /// A step was carried out.
    Done(StepId),
    /// No part of a step was carried out.
    Failed(StepId, String),
    /// The port of a rack on a plane has lost its light, and its circuit is lost.
    PortDown(u32, u32),
    /// The port works again; no circuit is lit on it.
    PortUp(u32, u32),
    /// The controller was silent until now (its host handles the controller's own failures). The
    /// actions in progress are void; the argument is the state that the host found.
    Silence(Found),
}

/// The state of a switch and its servers as a host found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// Circuits that are lit.
    pub lit: Circuits,
    /// Routes in force.
    pub routes: Routes,
    /// The schedule that is followed; the circuits and routes of its days are not listed above.
    pub schedule: Option<Schedule>,
    /// Pairs that the rules of an interrupted change lead to the electrical network.
    #[serde(default)]
    pub drained: Vec<Pair>,
    /// Whether each port works, at [`Hardware::port`].
    pub works: Vec<bool>,
}

impl Found {
    /// Refuses a state that this switch cannot have.
    ///
    /// # Errors
    /// If the state is impossible; names the circuit, the route, the schedule, the pair or `works`.
    pub fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        self.lit.check(hardware)?;
        self.routes.check(hardware)?;
        hardware.check_pairs(&self.drained)?;
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
            "state for each whether it works",
        ))
    }
}

/// An action that the controller requests from its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Report the demand.
    Measure,
    /// Move the traffic of these pairs to those of their routes that stay, or to the electrical
    /// network if none stays. The rules are in force until an [`Action::Enter`] names the pair. In
    /// logs without routes, controllers moved all traffic of a pair to the electrical network.
    Drain(StepId, Vec<Pair>, #[serde(default)] Routes),
    /// Take circuits down.
    Dark(StepId, Circuits),
    /// Bring up the circuits whose ports work at that time.
    Light(StepId, Circuits),
    /// Install routes; they do not take effect yet.
    Route(StepId, Routes),
    /// Let traffic in: remove the rules that drain these pairs, both those of this change and those
    /// of earlier changes that were not completed. Then exactly these routes are in force, if their
    /// circuits are lit.
    Enter(StepId, Vec<Pair>, Routes),
    /// Follow a schedule from now on, without further actions for its days.
    Follow(StepId, Schedule),
    /// Send an [`Input::Tick`] at this time [ps].
    WakeAt(#[serde(with = "crate::ps")] Time),
}

/// The kind of an action, without its arguments.
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
    /// The kind of the action.
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

    /// The step that the host has to answer.
    pub fn step(&self) -> Option<StepId> {
        match self {
            Action::Measure | Action::WakeAt(_) => None,
            Action::Drain(step, ..)
            | Action::Dark(step, _)
            | Action::Light(step, _)
            | Action::Route(step, _)
            | Action::Enter(step, ..)
            | Action::Follow(step, _) => Some(*step),
        }
    }
}
