//! Requests of a block of nodes as a matrix; grants replace the requests in place.

use super::simd::{equal, BLOCK};
use crate::memory::Column;
use crate::sirius::index::{Label, Row};

/// Columns per set; each has one bit.
pub const SET: usize = 2 * BLOCK;

/// Permission to send one cell for `destination` via node `by` (labels).
#[derive(Clone, Copy, Debug, Default)]
pub struct Grant {
    /// The intermediate.
    pub by: Label,
    /// The destination.
    pub destination: Label,
}

/// The requests of the nodes of one shard to those of another, row by row. The answers use the same
/// entries: a request becomes a grant.
#[derive(Clone, Debug)]
pub struct RequestMatrix {
    columns: usize,
    stride: usize,
    /// The label of the destination of each request, or `none`.
    wants: Column<u16>,
}

impl RequestMatrix {
    /// `rows` × `columns` entries without a request. Rows are padded to whole sets.
    pub fn new(rows: usize, columns: usize, none: u16) -> RequestMatrix {
        let stride = apart(columns.next_multiple_of(SET), 2);
        let mut wants = Column::zeroed(rows * stride);
        wants.fill(none);
        RequestMatrix {
            columns,
            stride,
            wants,
        }
    }

    /// Lists the grants of a row, whose first column has the label `first`; returns how
    /// many.
    #[inline(always)]
    pub fn list_grants(&mut self, row: Row, first: usize, none: u16, found: &mut [Grant]) -> usize {
        let mut grants = 0;
        for start in (0..self.columns).step_by(BLOCK) {
            let block = self.block(row, start);
            let mut set = !equal(block, none);
            while set != 0 {
                let column = set.trailing_zeros() as usize;
                found[grants] = Grant {
                    by: Label::new(first + start + column),
                    destination: Label(block[column]),
                };
                grants += 1;
                set &= set - 1;
            }
        }
        grants
    }

    /// The requests of one node.
    #[inline(always)]
    pub fn row(&mut self, row: Row) -> &mut [u16] {
        &mut self.wants[row.0 * self.stride..][..self.columns]
    }

    /// A bit for each of the [`SET`] columns from `start` whose request is for
    /// `destination`; the padding has none.
    #[inline(always)]
    pub fn columns_for(&mut self, row: Row, start: usize, destination: Label) -> u64 {
        let of = |block: &[u16; BLOCK]| equal(block, destination.0) as u64;
        of(self.block(row, start)) | of(self.block(row, start + BLOCK)) << BLOCK
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    #[inline(always)]
    pub(super) fn prefetch(&self, row: Row, start: usize) {
        crate::sirius::prefetch::prefetch(&self.wants, row.0 * self.stride + start);
    }

    #[inline(always)]
    pub(super) fn block(&mut self, row: Row, start: usize) -> &mut [u16; BLOCK] {
        let block = &mut self.wants[row.0 * self.stride + start..][..BLOCK];
        block.try_into().expect("rows are whole blocks")
    }
}

/// A stride for items of `size` bytes with which rows do not all map to the same sets of a cache:
/// one line more than a multiple of half a kilobyte.
pub fn apart(stride: usize, size: usize) -> usize {
    let line = 64 / size;
    stride
        + if stride.is_multiple_of(8 * line) {
            line
        } else {
            0
        }
}
