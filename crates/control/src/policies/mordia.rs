//! Mordia's traffic-matrix scheduling (Porter et al., SIGCOMM 2013). Demand is scaled so that every
//! port sends as much as it receives, and decomposed into permutations; their weights become the
//! lengths of days.
//!
//! Demand that is too short for a slot waits or uses another network. Ports that do not work keep
//! their slots, which stay dark.

use super::frame::{self, frame, no_slots, NIGHT};
use super::{Decides, Entry, PolicyConfig, Usual};
use crate::algorithms::birkhoff::{self, Scaling as Scaled};
use crate::algorithms::sinkhorn;
use crate::hardware::Hardware;
use crate::order::Order;
use crate::policy::{Demand, Policy, SwitchView, Target};
use crate::schedule::Frame;
use lightloom_engine::{Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Its entry in the registry.
pub const ENTRY: Entry = Entry {
    kind: "mordia",
    aliases: &["bvn", "tms"],
    source: "Porter et al., Integrating Microsecond Circuit Switching into the Data Center, \
             SIGCOMM 2013",
    summary: "A schedule in which every pair's share of time is proportional to its demand: \
        Sinkhorn scaling or QuickStuff, then a Birkhoff-von Neumann decomposition.",
    decides: Decides::Schedule,
    obeys_rules: false,
    usual: Usual::IN_SLOTS,
    schema: super::schema::<MordiaPolicy>,
    resolve: super::resolve::<MordiaPolicy>,
    for_demand: super::for_demand::<MordiaPolicy>,
    build: super::build::<MordiaPolicy>,
};

/// Gives every pair a share of time in proportion to its demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MordiaPolicy {
    /// Night: time at the start of each slot in which it is dark [s]. Default 10 us.
    pub night: Time,
    /// Length of the schedule before it is repeated [s]. Default: 1.25 times the time that the
    /// busiest port needs, at least five nights per slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Time>,
    /// Shortest slot, including its night [s]. Default: five nights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest: Option<Time>,
    /// Largest number of slots. Default 1,000.
    #[schemars(range(min = 1))]
    pub max_slots: u32,
    /// How demand is scaled.
    pub scaling: Scaling,
}

/// Method that makes demand decomposable into permutations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// Sinkhorn scaling to shares of every port's time (default).
    Sinkhorn,
    /// QuickStuff: the demand of every port is raised to that of the busiest port.
    QuickStuff,
}

impl Default for MordiaPolicy {
    fn default() -> MordiaPolicy {
        MordiaPolicy {
            night: NIGHT,
            period: None,
            shortest: None,
            max_slots: 1_000,
            scaling: Scaling::Sinkhorn,
        }
    }
}

impl MordiaPolicy {
    fn frame(&self, seen: &Demand, hardware: &Hardware) -> Frame {
        frame(
            &seen.bytes,
            hardware.rate,
            self.night,
            self.period,
            self.shortest,
            self.max_slots as usize,
        )
    }
}

impl PolicyConfig for MordiaPolicy {
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        hardware.require_one_port("mordia")?;
        frame::check(
            self.night,
            self.period,
            self.shortest,
            self.max_slots as usize,
        )
    }

    fn for_demand(self, seen: &Demand, hardware: &Hardware) -> MordiaPolicy {
        let frame = self.frame(seen, hardware);
        MordiaPolicy {
            period: Some(frame.period),
            shortest: Some(frame.shortest),
            ..self
        }
    }

    fn build(self, _: &Hardware) -> Box<dyn Policy> {
        Box::new(self)
    }
}

impl Policy for MordiaPolicy {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        if seen.bytes.is_zero() {
            return Ok(no_slots(&switch.hardware, self.night));
        }
        let frame = self.frame(seen, &switch.hardware);
        let scaling = match self.scaling {
            Scaling::Sinkhorn => Scaled::Sinkhorn(sinkhorn::Options::default()),
            Scaling::QuickStuff => Scaled::QuickStuff,
        };
        birkhoff::plan(&seen.bytes, scaling, &frame).map(Target::Schedule)
    }

    fn order(&self) -> Order {
        Order::ALL_DARK
    }
}
