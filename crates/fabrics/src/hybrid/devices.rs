//! A hybrid by its circuit switch: what its policy asks of it, and the night that its policy
//! plans for.

use super::config::HybridConfig;
use super::policy_table::PolicyTable;
use super::standing::standing;
use crate::devices::switch::{named, Asked};
use crate::devices::AT;
use lightloom_control::hardware::Hardware;
use lightloom_control::policies::{assignment, eclipse, fixed, mordia, rotation, solstice};
use lightloom_control::policy::Target;
use lightloom_engine::{config, Cluster, Refusal, Time};
use lightloom_photonics::circuit_switch::Constraint;
use serde_json::{json, Value};

/// Circuits of both directions; a policy of a user's file may want others.
const MATCHED: &[Constraint] = &[Constraint::Matching, Constraint::Multicast];
/// Circuits of one direction.
const DIRECTED: &[Constraint] = &[Constraint::Multicast];
/// The same permutations for ever.
const TURNING: &[Constraint] = &[Constraint::Rotor, Constraint::Multicast];

/// The table with what follows from the switch that it names, if it names one.
///
/// # Errors
/// Of the switch, or of a key that contradicts it.
pub fn with_devices(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
    let Some(switch) = named(table)? else {
        return Ok(table.clone());
    };
    let config = config::read::<HybridConfig>(table, "fabric")?;
    let hardware = config.hardware(cluster);
    let asked = Asked {
        settle: "settle",
        deviation: None,
        ports: None,
        takes: takes(&config.policy, &hardware)?,
    };
    let mut table = table.clone();
    if let Some(policy) = with_night(&config.policy, switch.settle)? {
        table["policy"] = json!(policy);
    }
    asked.lay::<HybridConfig>(&table, cluster)
}

/// What a policy's circuits need.
fn takes(policy: &PolicyTable, hardware: &Hardware) -> Result<&'static [Constraint], Refusal> {
    let is = |kinds: &[&str]| kinds.iter().any(|kind| policy.is_kind(kind));
    if is(&[rotation::ENTRY.kind]) {
        return Ok(TURNING);
    }
    let schedules = [
        mordia::ENTRY.kind,
        solstice::ENTRY.kind,
        eclipse::ENTRY.kind,
    ];
    if is(&schedules) || is(&[assignment::ENTRY.kind]) {
        return Ok(DIRECTED);
    }
    if !is(&[fixed::ENTRY.kind]) {
        return Ok(MATCHED);
    }
    Ok(match standing(policy, hardware)? {
        Some(Target::Schedule(_)) => TURNING,
        Some(Target::Network { circuits, .. }) if circuits.directed() => DIRECTED,
        _ => MATCHED,
    })
}

/// The policy with the switch's time as its night; none if it plans for no night.
fn with_night(policy: &PolicyTable, settle: Time) -> Result<Option<PolicyTable>, Refusal> {
    let mut filled = policy.clone();
    filled.fill("night", &settle);
    let Some(night) = filled.own("night") else {
        return Ok(None);
    };
    if night.as_str().and_then(|text| text.parse().ok()) == Some(settle) {
        return Ok(Some(filled));
    }
    let limit = format!("{AT} give {settle}");
    let remedy = format!("leave it out (a preset may set it), or change {AT}.settle");
    let given = night
        .as_str()
        .map_or_else(|| night.to_string(), str::to_owned);
    Err(Refusal::new("fabric.policy.night", given, limit, remedy))
}
