//! The set of directed circuits that carries most demand: one output for every input. It is for
//! switches that set the input and the output of a rack independently.
//!
//! Demand of racks whose port does not work is ignored. Lit circuits are not favoured.

use super::{Decides, Entry, PolicyConfig, Usual};
use crate::algorithms::assignment::{maximum, Assignment, Weights};
use crate::circuits::Circuits;
use crate::hardware::Hardware;
use crate::order::Order;
use crate::policy::{Demand, Evidence, Policy, SwitchView, Target};
use lightloom_engine::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Its entry in the registry.
pub const ENTRY: Entry = Entry {
    kind: "assignment",
    aliases: &[],
    source: "Kuhn, The Hungarian method for the assignment problem, 1955",
    summary: "The directed circuits with the most demand: one output for each input. Unchanged \
              circuits stay lit during a change.",
    decides: Decides::Directed,
    obeys_rules: false,
    usual: Usual::ONE_PORT,
    schema: super::schema::<AssignmentPolicy>,
    resolve: super::resolve::<AssignmentPolicy>,
    for_demand: super::for_demand::<AssignmentPolicy>,
    build: super::build::<AssignmentPolicy>,
};

/// Gives every rack one destination, so that the directed circuits carry the most demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AssignmentPolicy {}

impl PolicyConfig for AssignmentPolicy {
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        hardware.require_one_port("assignment")
    }

    fn build(self, _: &Hardware) -> Box<dyn Policy> {
        Box::new(Assigned { last: None })
    }
}

struct Assigned {
    last: Option<Assignment>,
}

impl Policy for Assigned {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        let n = seen.bytes.n();
        let mut cells = Cow::Borrowed(seen.bytes.cells());
        for rack in (0..n).filter(|&rack| !switch.works[rack]) {
            let cells = cells.to_mut();
            for other in 0..n {
                cells[rack * n + other] = 0;
                cells[other * n + rack] = 0;
            }
        }
        let found = maximum(&Weights::new(n, &cells)).map_err(of_demand)?;
        let used = |&(a, b): &(u32, u32)| cells[a as usize * n + b as usize] > 0;
        let pairs: Vec<_> = (0u32..).zip(found.column_of.iter().copied()).collect();
        let circuits = Circuits::one_way(pairs.into_iter().filter(used));
        self.last = Some(found);
        Ok(Target::direct(circuits))
    }

    fn order(&self) -> Order {
        Order::DELETE_CREATE
    }

    fn evidence(&self) -> Option<Evidence<'_>> {
        self.last.as_ref().map(Evidence::Assignment)
    }
}

/// Converts the refusal of a weight into a refusal of the demand that has this weight.
fn of_demand(refusal: Refusal) -> Refusal {
    Refusal {
        key: refusal.key.replace("weights", "demand"),
        ..refusal
    }
}
