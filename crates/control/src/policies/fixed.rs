//! A constant target: circuits as an operator would wire them by hand, or a schedule that was
//! planned before.
//!
//! A circuit on a port that does not work is omitted until the port works again. In a schedule such
//! ports keep their slots, which stay dark. This module reads no files: a host that is given a file
//! name passes the contents of the file.

use super::{Decides, Entry, PolicyConfig, Usual};
use crate::circuits::{Circuit, Circuits};
use crate::hardware::Hardware;
use crate::order::Order;
use crate::policy::{Demand, Policy, SwitchView, Target};
use crate::schedule::{plan, Schedule};
use lightloom_engine::Refusal;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Its entry in the registry.
pub const ENTRY: Entry = Entry {
    kind: "fixed",
    aliases: &[],
    source: "an operator's list, or plan",
    summary: "Circuits that never change, from a list of pairs of racks, or an earlier schedule.",
    decides: Decides::Circuits,
    obeys_rules: false,
    usual: Usual {
        planes: Some(1),
        ..Usual::IN_SLOTS
    },
    schema: super::schema::<FixedPolicy>,
    resolve: super::resolve::<FixedPolicy>,
    for_demand: super::for_demand::<FixedPolicy>,
    build: super::build::<FixedPolicy>,
};

/// Lights only the circuits of a list, or follows a given schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FixedPolicy {
    /// One row per circuit: two racks, and the plane if there are several, numbered from 0; for
    /// example `[[0, 1], [2, 3]]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub circuits: Vec<Vec<u32>>,
    /// Whether each circuit leads only from its first rack to its second. Default false.
    pub directed: bool,
    /// A schedule of directed circuits, in place of `circuits`: a file that `lightloom plan -o`
    /// wrote, or its contents as a table. `ports` is the number of racks; `night_ps` is the time at
    /// the start of each slot in which it is dark; each of `slots` has a `permutation`, the output
    /// of every input (an input with its own number, or -1, is idle), and `day_ps`, the time for
    /// which it is lit. Times are in ps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "file_or_table")]
    pub schedule: Option<Schedule>,
}

fn file_or_table(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "object"] })
}

impl FixedPolicy {
    fn wanted(&self) -> Result<Circuits, Refusal> {
        let mut rows = Vec::new();
        for (at, row) in self.circuits.iter().enumerate() {
            let (a, b, plane) = match row[..] {
                [a, b] => (a, b, 0),
                [a, b, plane] => (a, b, plane),
                _ => {
                    let key = format!("policy.circuits[{at}]");
                    let limit = "a circuit has two racks, and a plane";
                    return Err(Refusal::new(key, format!("{row:?}"), limit, "write [0, 1]"));
                }
            };
            rows.push(Circuit { a, b, plane });
        }
        Ok(Circuits::of(self.directed, rows))
    }
}

impl FixedPolicy {
    fn check_circuits(&self, hardware: &Hardware) -> Result<(), Refusal> {
        self.wanted()?.check(hardware).map_err(|r| Refusal {
            key: format!("policy.{}", r.key),
            ..r
        })
    }

    /// Refuses schedules that this switch cannot follow, with the keys of a table.
    fn check_schedule(&self, schedule: &Schedule, hardware: &Hardware) -> Result<(), Refusal> {
        let refuse = |key: &str, value: String, limit: &str, remedy: &str| {
            Err(Refusal::new(format!("policy.{key}"), value, limit, remedy))
        };
        if !self.circuits.is_empty() {
            let value = format!("{:?}", self.circuits);
            return refuse(
                "circuits",
                value,
                "a schedule is also given",
                "give one of them",
            );
        }
        if self.directed {
            let limit = "the circuits of a schedule are always directed";
            return refuse("directed", "true".to_owned(), limit, "leave it out");
        }
        plan::check(schedule).map_err(|refusal| Refusal {
            key: format!("policy.schedule.{}", refusal.key),
            ..refusal
        })?;
        if schedule.ports != hardware.racks as usize {
            let (value, limit) = (schedule.ports.to_string(), hardware.racks);
            let limit = format!("there are {limit} racks");
            return refuse("schedule.ports", value, &limit, "schedule every rack");
        }
        hardware.require_one_port("fixed, with a schedule,")
    }
}

impl PolicyConfig for FixedPolicy {
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        if let Some(schedule) = &self.schedule {
            return self.check_schedule(schedule, hardware);
        }
        if self.circuits.is_empty() {
            let remedy = "list some, like [[0, 1], [2, 3]], or give a schedule";
            let limit = "no circuit is given";
            return Err(Refusal::new("policy.circuits", "[]", limit, remedy));
        }
        self.check_circuits(hardware)
    }

    fn build(self, _: &Hardware) -> Box<dyn Policy> {
        match self.schedule {
            Some(schedule) => Box::new(FixedSchedule(schedule)),
            None => Box::new(FixedCircuits(self.wanted().expect("checked before"))),
        }
    }
}

struct FixedCircuits(Circuits);

impl Policy for FixedCircuits {
    fn decide(&mut self, _: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        // Ports that this switch does not have, because the policy was built for another switch,
        // are refused with the rest of the decision.
        let is_dead = |rack, plane| {
            let exists = switch.hardware.check_port(rack, plane).is_ok();
            exists && !switch.works(rack, plane)
        };
        let works = |c: &Circuit| !is_dead(c.a, c.plane) && !is_dead(c.b, c.plane);
        let circuits = Circuits::of(self.0.directed(), self.0.iter().filter(works));
        Ok(Target::direct(circuits))
    }

    fn order(&self) -> Order {
        Order::DELETE_CREATE
    }
}

struct FixedSchedule(Schedule);

impl Policy for FixedSchedule {
    fn decide(&mut self, _: &Demand, _: &SwitchView) -> Result<Target, Refusal> {
        Ok(Target::Schedule(self.0.clone()))
    }

    fn order(&self) -> Order {
        Order::ALL_DARK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::Matrix;
    use crate::policies::{build, resolve};
    use lightloom_engine::{Rate, Time};
    use serde_json::{json, Value};

    const THREE: Hardware = Hardware {
        racks: 3,
        planes: 1,
        ports: 1,
        rate: Rate::GBPS,
    };

    fn turns() -> Value {
        json!({"ports": 3, "night_ps": 1_000, "slots": [
            {"permutation": [1, 2, 0], "day_ps": 70_000},
            {"permutation": [1, 0, 2], "day_ps": 20_000},
        ]})
    }

    #[test]
    fn a_schedule_is_answered_whatever_the_demand() {
        let table = json!({ "schedule": turns() });
        let mut policy = build::<FixedPolicy>(&table, &THREE).unwrap();
        let view = SwitchView {
            hardware: THREE,
            lit: &Circuits::default(),
            works: &[true, false, true],
            slots: None,
        };
        for bytes in [0, 5] {
            let mut demand = Matrix::zeros(3);
            demand.set(0, 2, bytes);
            let seen = Demand {
                bytes: demand,
                over: Time::S,
            };
            let Target::Schedule(found) = policy.decide(&seen, &view).unwrap() else {
                panic!("a schedule was given")
            };
            assert_eq!(serde_json::to_value(found).unwrap(), turns());
        }
        assert_eq!(policy.order(), Order::ALL_DARK);
        let resolved = resolve::<FixedPolicy>(&table, &THREE).unwrap();
        assert_eq!(resolved, json!({"directed": false, "schedule": turns()}));
    }

    #[test]
    fn schedules_that_cannot_be_followed_are_refused_by_name() {
        let planes = Hardware { planes: 2, ..THREE };
        let refused = |table: Value, hardware: &Hardware| {
            let Err(refusal) = build::<FixedPolicy>(&table, hardware) else {
                panic!("{table} is accepted")
            };
            (refusal.key, refusal.value)
        };
        let with = |key: &str, value: Value| {
            let mut schedule = turns();
            *schedule.pointer_mut(key).expect("a key") = value;
            refused(json!({ "schedule": schedule }), &THREE).0
        };
        let key = |table: Value, hardware| refused(table, hardware).0;
        assert_eq!(key(json!({}), &THREE), "policy.circuits");
        let both = json!({"schedule": turns(), "circuits": [[0, 1]]});
        assert_eq!(
            refused(both, &THREE),
            ("policy.circuits".into(), "[[0, 1]]".into())
        );
        let directed = json!({"schedule": turns(), "directed": true});
        assert_eq!(key(directed, &THREE), "policy.directed");
        assert_eq!(key(json!({ "schedule": turns() }), &planes), "planes");
        let four = Hardware { racks: 4, ..THREE };
        assert_eq!(
            refused(json!({ "schedule": turns() }), &four),
            ("policy.schedule.ports".into(), "3".into())
        );
        assert_eq!(
            key(json!({"schedule": "plan.json"}), &THREE),
            "policy.schedule"
        );
        assert_eq!(
            with("/slots/0/permutation/2", json!(1)),
            "policy.schedule.slots[0].permutation[2]"
        );
        assert_eq!(
            with("/slots/1/day_ps", json!(-7)),
            "policy.schedule.slots[1].day_ps"
        );
        assert_eq!(with("/slots", json!([])), "policy.schedule.slots");
        assert_eq!(with("/night_ps", json!(-1)), "policy.schedule.night_ps");
        assert_eq!(with("/night_ps", json!("1 us")), "policy.schedule.night_ps");
    }
}
