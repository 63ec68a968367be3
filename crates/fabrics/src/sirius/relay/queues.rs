//! The queue of a node for each other node: cells granted by that node, on their first hop (the
//! paper's virtual queue for an intermediate), and cells for it, on their second hop (the relay
//! queue for a destination). Both wait in one first-in, first-out queue ("W FIFO output queues per
//! port", §6), and every meeting of the two nodes takes one cell from it.
//!
//! Cells join through [`RelayQueues`]; they leave by a method of each kind, which `transmit.rs`
//! selects once per slot. `BySlot::leave` returns the lists of the slot without visiting pairs;
//! `ByPair::take` goes from matching to matching, and each cell may be lost on a dark link. A
//! common method would make the former visit every pair.

use super::queued::Queued;
use crate::sirius::index::Row;

/// The number of cells of a queue that have places; later cells stand aside until there is space.
pub(crate) const PLACES: usize = 32;

/// The queues of a range of nodes, at the start or the end of a slot. Which of two cells that
/// join in the same slot leaves first does not depend on how they are kept.
pub trait RelayQueues {
    /// Cells of `row` that their intermediates have granted join the queues for these.
    fn wait(&mut self, row: Row, granted: &[Queued]);

    /// Hints that cells of `row` are going to wait.
    fn prefetch(&self, _row: Row) {}

    /// At the end of a slot, before any cell is relayed: cells that found their queues full enter
    /// them if there is a place now.
    fn move_up(&mut self);

    /// Cells have come to their intermediates, and join the queues for their destinations.
    fn relay(&mut self, arrived: &[Queued]);
}
