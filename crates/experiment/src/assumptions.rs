//! The idealised properties of a fabric, and its relation to the physics of its experiment: the
//! assumptions about each fabric of a comparison.

use crate::FabricTable;
use lightloom_engine::{Cluster, Refusal};
use lightloom_fabrics::physics::{Physics, Term};
use lightloom_fabrics::Finding;
use serde::Serialize;
use serde_json::Value;

/// The assumptions of one fabric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assumptions {
    /// Its label.
    pub label: String,
    /// Its idealised properties, a few words each.
    pub ideal: Vec<&'static str>,
    /// Terms of the physics that its model does not have.
    pub missing: Vec<Missing>,
    /// Keys through which it would obey the physics, but that have values of their own.
    pub own: Vec<Own>,
    /// Whether its results depend on the seed.
    pub draws: bool,
    /// The assumptions of its model about failures; empty if it models none.
    pub failures: String,
    /// The keys that state the number of switches in each tier above the racks, from the lowest
    /// tier; empty unless it is a network of such tiers.
    pub switch_tiers: &'static [&'static str],
    /// Values of its table that limit its results.
    pub findings: Vec<Finding>,
}

/// A term of the physics that a fabric does not have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Missing {
    /// The term.
    pub term: Term,
    /// Why.
    pub why: &'static str,
}

/// A key of a fabric that overrides the physics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Own {
    /// The term that is not obeyed.
    pub term: Term,
    /// The key.
    pub key: &'static str,
    /// Its value in the completed table; `None` if the key is omitted because its value is zero.
    pub value: Option<Value>,
}

impl Assumptions {
    /// The assumptions of a resolved table.
    pub(crate) fn of(
        table: &FabricTable,
        physics: &Physics,
        cluster: &Cluster,
    ) -> Result<Assumptions, Refusal> {
        let (entry, own) = (table.entry("fabric")?, table.table());
        let obeyed = (entry.obey)(&own, physics, cluster)?;
        let differs = |key: &str, value: &Value| match own.get(key) {
            Some(has) => has != value,
            // Keys that were added later are omitted if their value is zero.
            None => !is_nothing(value),
        };
        let keys = obeyed.keys.into_iter();
        let own = keys.filter(|o| differs(o.key, &o.value)).map(|o| Own {
            term: o.term,
            key: o.key,
            value: own.get(o.key).cloned(),
        });
        let missing = obeyed.missing.into_iter();
        Ok(Assumptions {
            label: table.label().to_owned(),
            ideal: (entry.ideal)(&table.table())?,
            missing: missing.map(|(term, why)| Missing { term, why }).collect(),
            own: own.collect(),
            draws: (entry.draws)(&table.table())?,
            failures: (entry.failures)(&table.table(), cluster)?,
            switch_tiers: (entry.switch_tiers)(&table.table())?,
            findings: (entry.findings)(&table.table(), cluster)?,
        })
    }
}

/// Whether a quantity of a table is zero, such as `0 ps`.
fn is_nothing(value: &Value) -> bool {
    let number = value.as_str().and_then(|text| text.split(' ').next());
    number == Some("0")
}
