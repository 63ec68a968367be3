//! A hybrid network's circuit switch: the circuits that its policy needs, and the night for which
//! its policy plans.

use super::policy_table::PolicyTable;
use super::standing::standing;
use crate::devices::switch::Asked;
use crate::devices::AT;
use lightloom_control::hardware::Hardware;
use lightloom_control::policies::{assignment, eclipse, fixed, mordia, rotation, solstice};
use lightloom_control::policy::Target;
use lightloom_engine::{Refusal, Time};
use lightloom_photonics::circuit_switch::Constraint;
use serde_json::{json, Value};

/// Bidirectional circuits; a policy of a user's file may need others.
const MATCHED: &[Constraint] = &[Constraint::Matching, Constraint::Multicast];
/// Circuits of one direction.
const DIRECTED: &[Constraint] = &[Constraint::Multicast];
/// Permutations that never change.
const TURNING: &[Constraint] = &[Constraint::Rotor, Constraint::Multicast];

/// The constraints that a policy states for a switch that is dark for `settle` at each change.
///
/// # Errors
/// If a plan cannot be read, or its nights are too short.
pub fn asked(policy: &PolicyTable, hardware: &Hardware, settle: Time) -> Result<Asked, Refusal> {
    let planned = match policy.is_kind(fixed::ENTRY.kind) {
        true => standing(policy, hardware)?,
        false => None,
    };
    refuse_night(planned.as_ref(), settle)?;
    Ok(Asked {
        settle: "settle",
        deviation: None,
        ports: None,
        takes: takes(policy, planned.as_ref()),
    })
}

/// The constraints of a policy's circuits; `planned` are the circuits of a plan that it follows.
fn takes(policy: &PolicyTable, planned: Option<&Target>) -> &'static [Constraint] {
    let directed = [
        mordia::ENTRY.kind,
        solstice::ENTRY.kind,
        eclipse::ENTRY.kind,
        assignment::ENTRY.kind,
    ];
    match planned {
        Some(Target::Schedule(_)) => TURNING,
        Some(Target::Network { circuits, .. }) if circuits.directed() => DIRECTED,
        _ if policy.is_kind(rotation::ENTRY.kind) => TURNING,
        _ if directed.iter().any(|kind| policy.is_kind(kind)) => DIRECTED,
        _ => MATCHED,
    }
}

/// Refuses a plan whose nights are shorter than the switch is dark.
fn refuse_night(planned: Option<&Target>, settle: Time) -> Result<(), Refusal> {
    match planned {
        Some(Target::Schedule(schedule)) if schedule.night < settle => {
            let night = schedule.night;
            let limit = format!("its nights are {night}, but {AT} are dark for {settle}");
            let remedy = format!("plan longer nights, or change {AT}.settle");
            let key = "fabric.policy.schedule";
            Err(Refusal::new(key, "a schedule", limit, remedy))
        }
        _ => Ok(()),
    }
}

/// A fabric's table with the dark time of the switch as the night of its policy, if the policy
/// plans for nights.
///
/// # Errors
/// If the policy has a different night.
pub fn with_night(table: &Value, policy: &PolicyTable, settle: Time) -> Result<Value, Refusal> {
    let (mut table, mut filled) = (table.clone(), policy.clone());
    filled.fill("night", &settle);
    let Some(night) = filled.own("night") else {
        return Ok(table);
    };
    if night.as_str().and_then(|text| text.parse().ok()) != Some(settle) {
        let limit = format!("{AT} give {settle}");
        let remedy = format!("leave it out (a preset may set it), or change {AT}.settle");
        let shown = { night.as_str() }.map_or_else(|| night.to_string(), str::to_owned);
        return Err(Refusal::new("fabric.policy.night", shown, limit, remedy));
    }
    table["policy"] = json!(filled);
    Ok(table)
}
