//! The policies: one file each, one line each in the [`REGISTRY`].
//!
//! | policy | decision |
//! |---|---|
//! | [`cthrough`] | the matching that carries the most demand (c-Through's optical manager) |
//! | [`hydra`] | a topology with multihop paths (HydRA's controller) |
//! | [`assignment`] | directed circuits that carry the most demand |
//! | [`mordia`] | a schedule whose days are proportional to demand |
//! | [`solstice`] | a short schedule that serves all demand, with a packet network |
//! | [`eclipse`] | a schedule that carries as much in a period as a greedy choice can |
//! | [`rotation`] | a schedule in which every pair has its turn |
//! | [`fixed`] | constant circuits, or a schedule that was planned before |
//!
//! A policy's table is a struct; `lightloom explain` prints its doc comments. The same table serves
//! a simulated fabric (`policy = { kind = … }`) and `lightloom plan`.

pub mod assignment;
pub mod cthrough;
pub mod eclipse;
pub mod fixed;
mod frame;
pub mod hydra;
pub mod library;
pub mod mordia;
pub mod rotation;
pub mod solstice;

use crate::hardware::Hardware;
use crate::policy::{Demand, Policy};
use lightloom_engine::{config, Rate, Refusal, Time};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::Value;

/// A policy's own table.
pub trait PolicyConfig: DeserializeOwned + Serialize + JsonSchema {
    /// Refuses a table that cannot decide for this switch. Keys in a [`Refusal`] begin with
    /// `policy.`, or are those of [`Hardware`].
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal>;

    /// The same table with the demand-dependent values that a decision uses.
    fn for_demand(self, _: &Demand, _: &Hardware) -> Self {
        self
    }

    /// The policy; the table has been checked.
    fn build(self, hardware: &Hardware) -> Box<dyn Policy>;
}

/// A policy, or the refusal of its table.
pub type Built = Result<Box<dyn Policy>, Refusal>;

/// A policy in the registry.
pub struct Entry {
    /// The value of `policy` or `--algorithm` that selects it.
    pub kind: &'static str,
    /// Names of its algorithm, which may be used instead of its own name.
    pub aliases: &'static [&'static str],
    /// The paper that describes it.
    pub source: &'static str,
    /// One or two sentences on its decision.
    pub summary: &'static str,
    /// The form of its decisions.
    pub decides: Decides,
    /// Whether it obeys an operator's rules itself: its paths use pinned circuits and avoid pairs
    /// that are kept apart. The decisions of other policies are corrected.
    pub obeys_rules: bool,
    /// The properties of the switch that it uses.
    pub usual: Usual,
    /// JSON Schema of its table.
    pub schema: fn() -> Value,
    /// Validates a table and fills in its defaults.
    pub resolve: fn(&Value, &Hardware) -> Result<Value, Refusal>,
    /// The resolved table with its demand-dependent values.
    pub for_demand: fn(&Value, &Demand, &Hardware) -> Result<Value, Refusal>,
    /// Builds the policy from a table.
    pub build: fn(&Value, &Hardware) -> Built,
}

/// The form of a policy's decisions, unless its table has a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decides {
    /// Circuits that carry traffic in both directions.
    Circuits,
    /// Circuits that carry traffic in one direction.
    Directed,
    /// A schedule of slots with directed circuits.
    Schedule,
}

/// The properties of a switch that a policy uses, and their defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usual {
    /// Optical switches in parallel, on each of which a rack has some ports; `None` if the policy
    /// decides for a single port of each rack.
    pub planes: Option<u32>,
    /// Rate of a circuit; `None` if the policy does not use it.
    pub rate: Option<Rate>,
    /// The time that demand is for; `None` if the policy does not use it.
    pub over: Option<Time>,
    /// Whether it matches racks bidirectionally and prefers lit circuits in ties, so that
    /// `lightloom plan` accepts the lit circuits and symmetric weights.
    pub matches: bool,
}

impl Usual {
    /// One port of each rack, without a rate.
    pub const ONE_PORT: Usual = Usual {
        planes: None,
        rate: None,
        over: None,
        matches: false,
    };
    /// One port of each rack, matched with another rack's.
    pub const MATCHING: Usual = Usual {
        matches: true,
        ..Usual::ONE_PORT
    };
    /// One port of each rack, with slots that a circuit fills.
    pub const IN_SLOTS: Usual = Usual {
        rate: Some(Rate(10 * Rate::GBPS.0)),
        ..Usual::ONE_PORT
    };
}

/// Every policy.
pub static REGISTRY: &[Entry] = &[
    cthrough::ENTRY,
    hydra::ENTRY,
    assignment::ENTRY,
    mordia::ENTRY,
    solstice::ENTRY,
    eclipse::ENTRY,
    rotation::ENTRY,
    fixed::ENTRY,
];

/// The policy with this name, or with an algorithm of this name.
///
/// # Errors
/// If there is no policy of this name; the refusal names `key`.
pub fn find(name: &str, key: &str) -> Result<&'static Entry, Refusal> {
    let is = |e: &&Entry| e.kind == name || e.aliases.contains(&name);
    let known: Vec<&str> = REGISTRY.iter().map(|e| e.kind).collect();
    REGISTRY.iter().find(is).ok_or_else(|| {
        let remedy = config::nearest(name, &known);
        Refusal::new(key, format!("\"{name}\""), "no such policy", remedy)
    })
}

/// JSON Schema of a policy's table.
pub fn schema<C: PolicyConfig>() -> Value {
    schemars::schema_for!(C).to_value()
}

/// Reads and checks a table, and fills in its defaults.
///
/// # Errors
/// If a value is refused; names a key below `policy.`, or one of [`Hardware`].
pub fn resolve<C: PolicyConfig>(table: &Value, hardware: &Hardware) -> Result<Value, Refusal> {
    let config = read::<C>(table, hardware)?;
    Ok(serde_json::to_value(config).expect("configurations are plain data"))
}

/// Reads and checks a table, and fills in the values that a decision for a demand uses.
///
/// # Errors
/// The errors of [`resolve`].
pub fn for_demand<C: PolicyConfig>(
    table: &Value,
    seen: &Demand,
    hardware: &Hardware,
) -> Result<Value, Refusal> {
    let config = read::<C>(table, hardware)?.for_demand(seen, hardware);
    Ok(serde_json::to_value(config).expect("configurations are plain data"))
}

/// Builds a policy from a table.
///
/// # Errors
/// The errors of [`resolve`].
pub fn build<C: PolicyConfig>(table: &Value, hardware: &Hardware) -> Built {
    Ok(read::<C>(table, hardware)?.build(hardware))
}

fn read<C: PolicyConfig>(table: &Value, hardware: &Hardware) -> Result<C, Refusal> {
    if !table.is_object() {
        // serde would read a list as the keys in order.
        let limit = "must be a table of keys";
        return Err(Refusal::new("policy", table, limit, "name each key"));
    }
    let config = config::read::<C>(table, "policy")?;
    config.check(hardware)?;
    Ok(config)
}
