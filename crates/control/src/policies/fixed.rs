//! Fixed circuits: the same for ever, as an operator wires them by hand.
//!
//! A circuit of a port that does not work is left out until it works again.

use super::{Entry, PolicyConfig, Usual};
use crate::circuits::{Circuit, Circuits};
use crate::hardware::Hardware;
use crate::order::Order;
use crate::policy::{Demand, Policy, SwitchView, Target};
use lightloom_engine::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Its line in the registry.
pub const ENTRY: Entry = Entry {
    kind: "fixed",
    aliases: &[],
    source: "an operator's list",
    summary: "The same circuits for ever, from a list of pairs of racks.",
    usual: Usual {
        planes: Some(1),
        ..Usual::ONE_PORT
    },
    schema: super::schema::<FixedPolicy>,
    resolve: super::resolve::<FixedPolicy>,
    for_demand: super::for_demand::<FixedPolicy>,
    build: super::build::<FixedPolicy>,
};

/// Lights the circuits of a list, and no others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FixedPolicy {
    /// A row for each circuit: two racks, and the plane where there are several,
    /// counted from 0; like `[[0, 1], [2, 3]]`.
    pub circuits: Vec<Vec<u32>>,
    /// Whether each leads from its first rack to its second only. Default false.
    pub directed: bool,
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

impl PolicyConfig for FixedPolicy {
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        if self.circuits.is_empty() {
            let remedy = "list some, like [[0, 1], [2, 3]]";
            let limit = "there is nothing to light";
            return Err(Refusal::new("policy.circuits", "[]", limit, remedy));
        }
        let checked = self.wanted()?.check(hardware);
        checked.map_err(|r| Refusal {
            key: format!("policy.{}", r.key),
            ..r
        })
    }

    fn build(self, _: &Hardware) -> Box<dyn Policy> {
        let wanted = self.wanted().expect("checked before");
        Box::new(Fixed { wanted })
    }
}

struct Fixed {
    wanted: Circuits,
}

impl Policy for Fixed {
    fn decide(&mut self, _: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        // What this switch does not have, as it was built for another, is refused with
        // the rest of the decision.
        let is_dead = |rack, plane| {
            let exists = switch.hardware.check_port(rack, plane).is_ok();
            exists && !switch.works(rack, plane)
        };
        let works = |c: &Circuit| !is_dead(c.a, c.plane) && !is_dead(c.b, c.plane);
        let circuits = Circuits::of(self.wanted.directed(), self.wanted.iter().filter(works));
        Ok(Target::direct(circuits))
    }

    fn order(&self) -> Order {
        Order::DELETE_CREATE
    }
}
