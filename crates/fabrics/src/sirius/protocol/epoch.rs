//! An epoch of the protocol: its requests, its grants, and the grants for which there was no cell.
//! Several epochs are open at the same time, because an answer takes longer than an epoch.

use super::matrix::{Grant, RequestMatrix};
use crate::sirius::index::{Label, Row};
use crate::sirius::partition::Partition;
use std::ops::Range;

/// The requests of one epoch, and the grants that answer them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Epoch {
    /// Matrices by (shard of the source, shard of the intermediate), from the requests until the
    /// grants are accepted. The next epoch that is opened then reuses them.
    pub(crate) matrices: Vec<Vec<RequestMatrix>>,
    /// By shard, the rows that have entries in the matrices.
    pub(crate) askers: Vec<Askers>,
    /// Grants for which there was no cell, by (shard of the source, shard of the granting node).
    pub(crate) unused: Vec<Vec<Vec<Grant>>>,
    /// The slots of the epoch.
    pub(crate) slots: Range<i64>,
    /// Whether the matrices hold grants.
    pub(crate) answered: bool,
}

impl Epoch {
    pub(crate) fn new(partition: &Partition) -> Epoch {
        let shards = partition.shards().count();
        Epoch {
            matrices: Vec::new(),
            askers: vec![Askers::default(); shards],
            unused: vec![vec![Vec::new(); shards]; shards],
            slots: 0..0,
            answered: false,
        }
    }

    fn matrices(partition: &Partition) -> Vec<Vec<RequestMatrix>> {
        let none = partition.nodes as u16;
        let matrix = |rows| {
            partition
                .shards()
                .map(move |(_, columns)| RequestMatrix::new(rows, columns, none))
        };
        partition
            .shards()
            .map(|(_, rows)| matrix(rows).collect())
            .collect()
    }

    fn has_askers(&self) -> bool {
        self.askers.iter().any(|a| !a.is_empty())
    }

    pub(crate) fn is_live(&self) -> bool {
        self.has_askers() || self.unused.iter().flatten().any(|u| !u.is_empty())
    }
}

/// Opens an epoch with the slots `asking`, without requests. It reuses the matrices of `granted`,
/// the epoch whose grants are now accepted, because each row is read before it is written.
pub(crate) fn open(
    epochs: &mut [Epoch],
    [granted, asking]: [usize; 2],
    slots: Range<i64>,
    partition: &Partition,
) {
    (epochs[asking].slots, epochs[asking].answered) = (slots, false);
    // After a pause `granted` may have no matrices; epochs from before the pause, whose requests
    // have been answered, still have theirs.
    let done = |epoch: &Epoch| !epoch.matrices.is_empty() && !epoch.has_askers();
    let from = match (&epochs[granted], &epochs[asking]) {
        (from, _) if !from.matrices.is_empty() => Some(granted),
        (_, itself) if !itself.matrices.is_empty() => return,
        _ => epochs.iter().position(done),
    };
    let matrices = match from {
        Some(from) => std::mem::take(&mut epochs[from].matrices),
        None => Epoch::matrices(partition),
    };
    let before = std::mem::replace(&mut epochs[asking].matrices, matrices);
    if let Some(from) = from {
        epochs[from].matrices = before;
    }
}

/// The matrices that each shard of intermediates answers.
pub(crate) fn by_intermediate(matrices: &mut [Vec<RequestMatrix>]) -> Vec<Vec<&mut RequestMatrix>> {
    let mut columns: Vec<Vec<&mut RequestMatrix>> = matrices.iter().map(|_| Vec::new()).collect();
    for row in matrices {
        for (column, matrix) in columns.iter_mut().zip(row) {
            column.push(matrix);
        }
    }
    columns
}

/// The rows of a shard that sent requests in an epoch.
#[derive(Clone, Debug, Default)]
pub struct Askers {
    rows: Vec<u32>,
    /// End of the destinations of each row.
    ends: Vec<u32>,
    destinations: Vec<Label>,
}

impl Askers {
    /// Removes all requests.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
        self.destinations.clear();
    }

    /// True if there are no requests.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether a row has requests.
    pub(crate) fn has(&self, row: Row) -> bool {
        self.rows.binary_search(&(row.0 as u32)).is_ok()
    }

    pub(crate) fn push(&mut self, row: Row, destinations: &[Label]) {
        self.rows.push(row.0 as u32);
        self.destinations.extend_from_slice(destinations);
        self.ends.push(self.destinations.len() as u32);
    }

    /// Row and destinations of each.
    pub fn iter(&self) -> impl Iterator<Item = (Row, &[Label])> + '_ {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let ends = starts.zip(&self.ends);
        let asked = |start, end| &self.destinations[start as usize..end as usize];
        let rows = self.rows.iter().map(|&row| Row(row as usize));
        rows.zip(ends)
            .map(move |(row, (start, &end))| (row, asked(start, end)))
    }
}
