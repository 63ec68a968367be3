//! Rotation: every rack is connected to every other rack once a round, for any demand. It is
//! Mordia's round robin (SIGCOMM 2013) and the schedule of rotor switches.
//!
//! The schedule is decided once and never changes. Ports that do not work keep their
//! turns, which stay dark.

use super::frame::{no_slots, period, NIGHT};
use super::{Decides, Entry, PolicyConfig, Usual};
use crate::hardware::Hardware;
use crate::order::Order;
use crate::policy::{Demand, Policy, SwitchView, Target};
use crate::schedule::{Frame, Schedule};
use lightloom_engine::{Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Its entry in the registry.
pub const ENTRY: Entry = Entry {
    kind: "rotation",
    aliases: &["round-robin"],
    source: "Porter et al., Integrating Microsecond Circuit Switching into the Data Center, \
             SIGCOMM 2013",
    summary: "A fixed schedule in which every pair of racks has its turn, for any demand.",
    decides: Decides::Schedule,
    obeys_rules: false,
    usual: Usual::IN_SLOTS,
    schema: super::schema::<RotationPolicy>,
    resolve: super::resolve::<RotationPolicy>,
    for_demand: super::for_demand::<RotationPolicy>,
    build: super::build::<RotationPolicy>,
};

/// Gives every pair of racks its turn in a fixed order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RotationPolicy {
    /// Night: time at the start of each slot in which it is dark [s]. Default 10 us.
    pub night: Time,
    /// Time for which each slot is lit [s]. Default: derived from the period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<Time>,
    /// Length of a round [s]. Default: 1.25 times the time that the busiest port needs for the
    /// first demand of any rack, at least five nights per slot; until then all circuits are dark.
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
        self.period
            .unwrap_or_else(|| self.round_for(seen, hardware))
    }
}

impl PolicyConfig for RotationPolicy {
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        hardware.require_one_port("rotation")?;
        match (self.day, self.period) {
            (Some(day), Some(_)) => {
                let (limit, remedy) = ("a period also sets the length of days", "give one of them");
                Err(Refusal::new("policy.day", day, limit, remedy))
            }
            (Some(day), None) if day <= Time::ZERO => {
                let (limit, remedy) = ("must be above 0 s", "write the lit time of each slot");
                Err(Refusal::new("policy.day", day, limit, remedy))
            }
            (None, Some(period)) if period < self.shortest_round(hardware.racks) => {
                let slots = hardware.racks - 1;
                let limit = match slots {
                    1 => format!("a night of {} leaves no time for a day", self.night),
                    _ => format!("{slots} nights of {} leave no time for days", self.night),
                };
                let remedy = "raise it, or lower the night";
                Err(Refusal::new("policy.period", period, limit, remedy))
            }
            _ => Ok(()),
        }
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

impl RotationPolicy {
    /// A round with slots of one picosecond.
    fn shortest_round(&self, racks: u32) -> Time {
        let slot = self.night.0.saturating_add(1);
        Time(slot.saturating_mul(i64::from(racks) - 1))
    }

    /// A round that is long enough for the demand.
    fn round_for(&self, seen: &Demand, hardware: &Hardware) -> Time {
        let slots = hardware.racks as usize - 1;
        let needed = period(&seen.bytes, hardware.rate, self.night, slots);
        needed.max(self.shortest_round(hardware.racks))
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
        let hardware = &switch.hardware;
        let ports = hardware.racks as usize;
        let RotationPolicy { night, day, period } = self.config;
        let schedule = match (day, period) {
            (Some(day), _) => Schedule::round_robin(ports, day, night)?,
            (None, None) if seen.bytes.is_zero() => return Ok(no_slots(hardware, night)),
            (None, _) => {
                let frame = Frame {
                    night,
                    shortest: Time(night.0.saturating_add(1)),
                    ..Frame::of(self.config.period_for(seen, hardware))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuits::Circuits;
    use crate::demand::Matrix;
    use lightloom_engine::Rate;

    const RACKS: u32 = 4;

    fn config(night: i64, day: Option<i64>, period: Option<i64>) -> RotationPolicy {
        let us = |n: i64| Time::US * n;
        RotationPolicy {
            night: us(night),
            day: day.map(us),
            period: period.map(us),
        }
    }

    /// The day of each slot for a total demand of `bytes`; empty in the dark.
    fn days(policy: &mut dyn Policy, bytes: i64) -> Vec<Time> {
        let mut demand = Matrix::zeros(RACKS as usize);
        demand.set(2, 0, bytes);
        let (bytes, over) = (demand, Time::S);
        let hardware = Hardware::new(RACKS, 1, Rate(8 * Rate::GBPS.0));
        let (lit, works) = (&Circuits::default(), &vec![true; RACKS as usize]);
        let view = SwitchView {
            hardware,
            lit,
            works,
            slots: None,
        };
        match policy.decide(&Demand { bytes, over }, &view) {
            Ok(Target::Schedule(schedule)) => schedule.slots.iter().map(|slot| slot.day).collect(),
            other => panic!("no schedule: {other:?}"),
        }
    }

    /// 96 kB at 1 B/ns take 96 µs, with a quarter more 120 µs: three slots of 40 µs.
    #[test]
    fn what_is_not_given_is_decided_when_somebody_sends() {
        let hardware = Hardware::new(RACKS, 1, Rate::GBPS);
        let mut round = config(1, None, None).build(&hardware);
        assert_eq!(days(&mut *round, 0), []);
        assert_eq!(days(&mut *round, 96_000), [Time::US * 39; 3]);
        assert_eq!(days(&mut *round, 1), [Time::US * 39; 3], "and stays");
        // The same without a night, and for very little demand.
        let mut round = config(0, None, None).build(&hardware);
        assert_eq!(days(&mut *round, 0), []);
        assert_eq!(days(&mut *round, 1).len(), 3);
        let mut given = config(1, Some(7), None).build(&hardware);
        assert_eq!(days(&mut *given, 0), [Time::US * 7; 3]);
    }

    #[test]
    fn rounds_without_a_day_are_refused_by_name() {
        let hardware = Hardware::new(RACKS, 1, Rate::GBPS);
        let refused = |config: RotationPolicy| config.check(&hardware).unwrap_err().key;
        assert_eq!(refused(config(1, Some(2), Some(9))), "policy.day");
        assert_eq!(refused(config(1, Some(0), None)), "policy.day");
        assert_eq!(refused(config(1, None, Some(3))), "policy.period");
        assert!(config(1, None, Some(4)).check(&hardware).is_ok());
        let planes = Hardware::new(RACKS, 2, Rate::GBPS);
        assert_eq!(
            config(1, None, None).check(&planes).unwrap_err().key,
            "planes"
        );
    }
}
