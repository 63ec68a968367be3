//! The inputs and actions of a controller.

use crate::circuits::Circuits;
use crate::demand::Report;
use crate::hardware::Hardware;
use crate::routes::{Pair, Routes};
use crate::schedule::Schedule;
use lightloom_engine::{Refusal, Time};
use serde::{Deserialize, Serialize};

/// Numbers the steps that a host is asked to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StepId(pub u64);

/// An input of the controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A time that was asked for has come; the first begins the loop.
    Tick,
    /// The demand, as requested by [`Action::Measure`], or unsolicited.
    Demand(Report),
    /// A step is carried out.
    Done(StepId),
    /// A step is not carried out, nor any part of it.
    Failed(StepId, String),
    /// The port of a rack on a plane has lost its light, and its circuit with it.
    PortDown(u32, u32),
    /// The port works again; no circuit is lit on it.
    PortUp(u32, u32),
    /// The controller has been silent until now (its own failure is its host's
    /// business). What it had begun is void; this is what its host found.
    Silence(Found),
}

/// A switch and its servers as a host finds them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// Whether each port works, at [`Hardware::port`].
    pub works: Vec<bool>,
}

impl Found {
    /// Refuses what cannot be so on this switch.
    ///
    /// # Errors
    /// Names the circuit, the route, the schedule, the pair or `works`.
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
            "say of each whether it works",
        ))
    }
}

/// An action that the controller requests of its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Say what there is to send.
    Measure,
    /// Lead the traffic of these pairs to those of their routes that stay, or to the
    /// electrical network where none does, by rules in force until an [`Action::Enter`]
    /// names the pair. Logs without routes are of controllers that led all traffic of a pair
    /// to the electrical network.
    Drain(StepId, Vec<Pair>, #[serde(default)] Routes),
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

    /// The step that is to be answered.
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
