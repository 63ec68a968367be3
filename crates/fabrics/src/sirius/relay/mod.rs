//! The path of a cell: LOCAL, the virtual queue for its intermediate, the fibre, the relay queue
//! for its destination, the fibre again, the reorder buffer (§4.2, §4.3).
//!
//! - [`local`]: cells that wait at their source;
//! - [`queues`]: the queues of each node for each other node, stored [`by_slot`] of departure while
//!   the slot is known in advance, otherwise [`by_pair`]; [`queued`]: a cell in a queue;
//! - `transmit`, [`leaving`], [`in_flight`], `receive`: from one node to the next;
//! - [`reorder`]: the cells at their destination;
//! - `chunked`: lists whose chunks leave without being copied.

pub(crate) mod by_pair;
pub(crate) mod by_slot;
mod chunked;
pub(crate) mod in_flight;
pub(crate) mod leaving;
pub(crate) mod local;
pub(crate) mod queued;
pub(crate) mod queues;
mod receive;
pub(crate) mod reorder;
mod transmit;

use by_pair::ByPair;
use by_slot::BySlot;
use queued::Queued;

/// How cells are kept.
#[derive(Clone, Debug)]
pub enum Queues {
    /// Cells by the slot in which they leave.
    BySlot(BySlot),
    /// A queue for each pair.
    ByPair(ByPair),
}

impl Default for Queues {
    fn default() -> Queues {
        Queues::ByPair(ByPair::default())
    }
}

impl Queues {
    /// All cells; those of one queue in order.
    pub fn each(&self) -> impl Iterator<Item = Queued> + '_ {
        let (by_slot, by_pair) = match self {
            Queues::BySlot(queues) => (Some(queues), None),
            Queues::ByPair(queues) => (None, Some(queues)),
        };
        let by_slot = by_slot.into_iter().flat_map(BySlot::each).copied();
        by_slot.chain(by_pair.into_iter().flat_map(ByPair::each))
    }
}
