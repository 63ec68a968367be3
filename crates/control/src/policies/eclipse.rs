//! Eclipse as a policy: a schedule that carries as much demand in a window as a greedy choice can
//! (Bojja Venkatakrishnan et al., SIGMETRICS 2016); see [`crate::algorithms::eclipse`].
//!
//! Ports that do not work keep their slots, which stay dark.

use super::frame::{self, frame, no_slots, NIGHT};
use super::{Decides, Entry, PolicyConfig, Usual};
use crate::algorithms::eclipse::{self, Options};
use crate::hardware::Hardware;
use crate::order::Order;
use crate::policy::{Demand, Evidence, Policy, SwitchView, Target};
use lightloom_engine::{Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Its entry in the registry.
pub const ENTRY: Entry = Entry {
    kind: "eclipse",
    aliases: &[],
    source: "Bojja Venkatakrishnan et al., Costly circuits, submodular schedules and \
             approximate Caratheodory theorems, SIGMETRICS 2016",
    summary: "A schedule whose slots are chosen greedily to carry the most demand within a window.",
    decides: Decides::Schedule,
    obeys_rules: false,
    usual: Usual::IN_SLOTS,
    schema: super::schema::<EclipsePolicy>,
    resolve: super::resolve::<EclipsePolicy>,
    for_demand: super::for_demand::<EclipsePolicy>,
    build: super::build::<EclipsePolicy>,
};

/// Chooses the slots of a window greedily, each by the demand that it carries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EclipsePolicy {
    /// Night: time at the start of each slot in which it is dark [s]. Default 10 us.
    pub night: Time,
    /// W: length of the schedule before it is repeated [s]. Default: 1.25 times the time that the
    /// busiest port needs, at least five nights per slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Time>,
    /// Shortest slot, including its night [s]. Default: five nights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest: Option<Time>,
    /// Largest number of slots. Default 256.
    #[schemars(range(min = 1))]
    pub max_slots: u32,
    /// Relative step between the lengths of days that are tried, from 0.001 to 10. A smaller step
    /// takes more computation; the schedule improves at most by this fraction. Default 0.1.
    pub step: f64,
}

impl Default for EclipsePolicy {
    fn default() -> EclipsePolicy {
        EclipsePolicy {
            night: NIGHT,
            period: None,
            shortest: None,
            max_slots: 256,
            step: 0.1,
        }
    }
}

impl EclipsePolicy {
    fn options(&self, seen: &Demand, hardware: &Hardware) -> Options {
        let frame = frame(
            &seen.bytes,
            hardware.rate,
            self.night,
            self.period,
            self.shortest,
            self.max_slots as usize,
        );
        Options {
            rate: hardware.rate,
            frame,
            step: self.step,
        }
    }
}

impl PolicyConfig for EclipsePolicy {
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        hardware.require_one_port("eclipse")?;
        frame::check(
            self.night,
            self.period,
            self.shortest,
            self.max_slots as usize,
        )?;
        let frame = crate::schedule::Frame::of(Time::S);
        let options = Options {
            rate: hardware.rate,
            frame,
            step: self.step,
        };
        options.check().map_err(frame::below_policy)
    }

    fn for_demand(self, seen: &Demand, hardware: &Hardware) -> EclipsePolicy {
        let Options { frame, .. } = self.options(seen, hardware);
        EclipsePolicy {
            period: Some(frame.period),
            shortest: Some(frame.shortest),
            ..self
        }
    }

    fn build(self, _: &Hardware) -> Box<dyn Policy> {
        Box::new(Window {
            config: self,
            bound: None,
        })
    }
}

struct Window {
    config: EclipsePolicy,
    /// An upper bound on the bytes that a schedule of the last frame carries.
    bound: Option<i64>,
}

impl Policy for Window {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        self.bound = None;
        if seen.bytes.is_zero() {
            return Ok(no_slots(&switch.hardware, self.config.night));
        }
        let options = self.config.options(seen, &switch.hardware);
        let plan = eclipse::plan(&seen.bytes, &options)?;
        self.bound = Some(plan.upper_bound);
        Ok(Target::Schedule(plan.schedule))
    }

    fn order(&self) -> Order {
        Order::ALL_DARK
    }

    fn evidence(&self) -> Option<Evidence<'_>> {
        self.bound.map(Evidence::Covers)
    }
}
