//! The parts of a fabric: `parts` of `summary.json`.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Counts of parts by name, in the order of the fabric's list. Names of bandwidths end in `_bps`,
/// and their values are in bits per second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartCounts(pub Vec<(&'static str, u64)>);

impl Serialize for PartCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, count) in &self.0 {
            map.serialize_entry(name, count)?;
        }
        map.end()
    }
}
