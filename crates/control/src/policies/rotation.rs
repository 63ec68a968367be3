//! Rotation: every rack meets every other once a round, whatever the demand. Mordia's
//! round robin (SIGCOMM 2013), and what rotor switches do for ever.
//!
//! The schedule is decided once and never changes. Ports that do not work keep their
//! turns, which stay dark.

use super::frame::{period, NIGHT};
use super::{Entry, PolicyConfig, Usual};
use crate::hardware::Hardware;
use crate::order::Order;
use crate::policy::{Demand, Policy, SwitchView, Target};
use crate::schedule::{Frame, Schedule};
use lightloom_engine::{Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Its line in the registry.
pub const ENTRY: Entry = Entry {
    kind: "rotation",
    alias: Some("round-robin"),
    source: "Porter et al., Integrating Microsecond Circuit Switching into the Data Center, \
             SIGCOMM 2013",
    summary: "A schedule in which every pair has its turn, whatever the demand.",
    usual: Usual::IN_SLOTS,
    schema: super::schema::<RotationPolicy>,
    resolve: super::resolve::<RotationPolicy>,
    for_demand: super::for_demand::<RotationPolicy>,
    build: super::build::<RotationPolicy>,
};

/// Gives every pair its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RotationPolicy {
    /// Darkness at the start of each slot [s]. Default 10 us.
    pub night: Time,
    /// How long each slot is lit [s]. Default: as the period says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<Time>,
    /// How long a round lasts [s]. Default: what the busiest port needs when the
    /// schedule is decided and a quarter, at least five nights a slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Time>,
}

impl Default for RotationPolicy {
    fn default() -> RotationPolicy {
        RotationPolicy {
            night: NIGHT,
            day: None,
            period: None,
        }
    }
}

impl RotationPolicy {
    fn period_for(&self, seen: &Demand, hardware: &Hardware) -> Time {
        let slots = hardware.racks as usize - 1;
        let whole = || period(&seen.bytes, hardware.rate, self.night, slots);
        self.period.unwrap_or_else(whole)
    }
}

impl PolicyConfig for RotationPolicy {
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        hardware.require_one_port("rotation")?;
        let (Some(day), Some(_)) = (self.day, self.period) else {
            return Ok(());
        };
        let (limit, remedy) = ("a period says how long days are, too", "give one of them");
        Err(Refusal::new("policy.day", day, limit, remedy))
    }

    fn for_demand(self, seen: &Demand, hardware: &Hardware) -> RotationPolicy {
        let period = match self.day {
            Some(_) => None,
            None => Some(self.period_for(seen, hardware)),
        };
        RotationPolicy { period, ..self }
    }

    fn build(self, _: &Hardware) -> Box<dyn Policy> {
        Box::new(Round {
            config: self,
            decided: None,
        })
    }
}

struct Round {
    config: RotationPolicy,
    decided: Option<Schedule>,
}

impl Policy for Round {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        if let Some(schedule) = &self.decided {
            return Ok(Target::Schedule(schedule.clone()));
        }
        let ports = switch.hardware.racks as usize;
        let RotationPolicy { night, day, .. } = self.config;
        let schedule = match day {
            Some(day) => Schedule::round_robin(ports, day, night)?,
            None => {
                let frame = Frame {
                    night,
                    shortest: Time(night.0.saturating_add(1)),
                    ..Frame::of(self.config.period_for(seen, &switch.hardware))
                };
                Schedule::round_robin_in(ports, &frame)?
            }
        };
        self.decided = Some(schedule.clone());
        Ok(Target::Schedule(schedule))
    }

    fn order(&self) -> Order {
        Order::ALL_DARK
    }
}
