//! Values derived from a fabric's table and the cluster: `derived` of `summary.json`.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Derived values by name, each a fraction (numerator, denominator above 0), in the order of the
/// fabric's list. Whole numbers are written as integers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InForce(pub Vec<(&'static str, (u64, u64))>);

impl Serialize for InForce {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for &(name, (value, of)) in &self.0 {
            match value % of {
                0 => map.serialize_entry(name, &(value / of))?,
                _ => map.serialize_entry(name, &(value as f64 / of as f64))?,
            }
        }
        map.end()
    }
}
