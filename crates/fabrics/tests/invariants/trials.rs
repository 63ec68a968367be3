//! The valid and invalid tables of each fabric: a [`Trial`] per fabric, and all of them. A new
//! fabric in the registry needs a trial: the tests fail until it has one.

use crate::tables::Fitted;
use crate::{butterfly, clos, hybrid, hydra, lions, mordia, opera, policies, rotornet, sirius};
use proptest::strategy::BoxedStrategy;
use serde_json::Value;

/// The inputs with which a fabric is tested.
pub struct Trial {
    /// The fabric.
    pub kind: &'static str,
    /// Tables that it must accept.
    pub tables: fn() -> BoxedStrategy<Fitted>,
    /// Values outside its range: the key that is set, its value as messages show it, and
    /// the key that must be refused.
    pub out_of_range: fn() -> Vec<(&'static str, Value, &'static str)>,
}

const TRIALS: &[Trial] = &[
    sirius::TRIAL,
    clos::TRIAL,
    hybrid::TREE,
    hybrid::CTHROUGH,
    hydra::TRIAL,
    policies::TRIAL,
    mordia::TRIAL,
    rotornet::TRIAL,
    opera::TRIAL,
    lions::TRIAL,
    butterfly::TRIAL,
];

/// The trial of a fabric kind.
pub fn of(kind: &str) -> &'static Trial {
    let found = TRIALS.iter().find(|trial| trial.kind == kind);
    found.unwrap_or_else(|| panic!("add a trial of {kind:?} to tests/invariants/trials.rs"))
}
