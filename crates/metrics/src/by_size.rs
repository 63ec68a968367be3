//! Slowdowns by flow size: `by_size` of `summary.json`.

use crate::bounds::Bound;
use crate::completion::SlowdownBound;
use crate::room::Room;
use lightloom_engine::{Bytes, Cluster, Flows, Time};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Slowdowns for each range of flow sizes, smallest first, by the name of the range, such as "10 KB
/// to 100 KB".
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BySize(pub Vec<(String, OfSize)>);

/// Slowdowns of the flows of one size range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OfSize {
    /// The smallest size in the range [B].
    pub from_bytes: u64,
    /// The smallest size above the range [B]; null for the last range.
    pub below_bytes: Option<u64>,
    /// Flows that were offered; in a run with a window, those that arrived in the window.
    pub flows: u64,
    /// Flows that were not delivered when the run ended.
    pub unfinished: u64,
    /// Median.
    pub p50: Bound,
    /// 99th percentile.
    pub p99: Bound,
}

impl BySize {
    /// The ranges for the flows of these rows, which are in order of arrival, as known when the run
    /// `ended`.
    pub(crate) fn of(
        limits: &[Bytes],
        cluster: &Cluster,
        flows: &Flows,
        rows: &[usize],
        ended: Time,
        room: Room,
    ) -> BySize {
        let below = limits.iter().map(|limit| Some(limit.0)).chain([None]);
        let mut from = 0;
        let ranges = below.map(|below| {
            let inside = |&&f: &&usize| {
                let bytes = flows.bytes[f];
                bytes >= from && below.is_none_or(|below| bytes < below)
            };
            let rows: Vec<usize> = rows.iter().filter(inside).copied().collect();
            let unfinished = { rows.iter() }.filter(|&&f| flows.finish[f] == Time::NEVER);
            let slowdown = SlowdownBound::of(cluster, flows, &rows, ended, room);
            let range = OfSize {
                from_bytes: from,
                below_bytes: below,
                flows: rows.len() as u64,
                unfinished: unfinished.count() as u64,
                p50: slowdown.p50,
                p99: slowdown.p99,
            };
            from = below.unwrap_or(from);
            (range.name(), range)
        });
        BySize(ranges.collect())
    }
}

impl OfSize {
    fn name(&self) -> String {
        match (self.from_bytes, self.below_bytes) {
            (0, Some(below)) => format!("under {}", Bytes(below)),
            (from, Some(below)) => format!("{} to {}", Bytes(from), Bytes(below)),
            (from, None) => format!("from {}", Bytes(from)),
        }
    }
}

impl Serialize for BySize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, range) in &self.0 {
            map.serialize_entry(name, range)?;
        }
        map.end()
    }
}
