//! A cell that waits for a meeting.

use crate::sirius::cell::Cell;
use crate::sirius::index::Label;
use bytemuck::{Pod, Zeroable};

/// A cell in a queue: which, the label of its intermediate and that of its destination. Its
/// destination is its intermediate if it needs none. It waits at its source for the former, or
/// at the former for the latter.
///
/// As words of the processor, without padding: what was written by halves could not be
/// read as a whole until they had reached the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, packed(4))]
pub struct Queued {
    cell: u64,
    /// The intermediate, and above it the destination.
    ends: u32,
}

impl Queued {
    /// A cell by way of an intermediate.
    #[inline(always)]
    pub fn new(cell: Cell, intermediate: Label, destination: Label) -> Queued {
        Queued {
            cell: cell.word(),
            ends: (destination.0 as u32) << 16 | intermediate.0 as u32,
        }
    }

    /// The cell.
    #[inline(always)]
    pub fn cell(&self) -> Cell {
        Cell::from_word(self.cell)
    }

    /// The intermediate.
    #[inline(always)]
    pub fn intermediate(&self) -> Label {
        Label(self.ends as u16)
    }

    /// The destination.
    #[inline(always)]
    pub fn destination(&self) -> Label {
        Label((self.ends >> 16) as u16)
    }

    /// The same cell on its second hop.
    #[inline(always)]
    pub fn relayed(&self) -> Queued {
        Queued {
            cell: self.cell().on_hop(true).word(),
            ..*self
        }
    }
}

/// A cell in a queue, and its place among all that wait at the nodes of a shard: who came
/// earlier has a lower one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, packed(4))]
pub struct Placed {
    /// The cell.
    pub queued: Queued,
    /// Its place, or where it stands aside ([`Placed::ASIDE`]).
    pub place: u64,
}

impl Placed {
    /// Set where a cell has no place yet: the other bits say who of those came earlier.
    pub const ASIDE: u64 = 1 << 63;
}
