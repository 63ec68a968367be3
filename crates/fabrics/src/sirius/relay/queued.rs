//! A cell that waits for a meeting.

use crate::sirius::cell::Cell;
use crate::sirius::index::Label;
use bytemuck::{Pod, Zeroable};

/// A cell in a queue, with the labels of its intermediate and its destination. A cell that needs no
/// intermediate has its destination as intermediate. The cell waits at its source for the
/// intermediate, or at the intermediate for the destination.
///
/// The fields are whole words without padding, because the processor cannot read a value as a whole
/// while its halves, written separately, have not reached the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, packed(4))]
pub struct Queued {
    cell: u64,
    /// The intermediate, and above it the destination.
    ends: u32,
}

impl Queued {
    /// A cell that goes via an intermediate.
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

/// A cell in a queue, and its place among all that wait at the nodes of a shard; cells that came
/// earlier have lower places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, packed(4))]
pub struct Placed {
    /// The cell.
    pub queued: Queued,
    /// Its place, or its number among the cells set aside, with the bit [`Placed::ASIDE`].
    pub place: u64,
}

impl Placed {
    /// Set if a cell has no place yet; the other bits then give the order of arrival.
    pub const ASIDE: u64 = 1 << 63;
}
