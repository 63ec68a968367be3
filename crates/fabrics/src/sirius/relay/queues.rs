//! The queues of a node, one for each other node. A queue contains cells granted by that node, on
//! their first hop (the paper's virtual queue for an intermediate), and cells for that node, on
//! their second hop (the relay queue for a destination). Both wait in one first-in, first-out queue
//! ("W FIFO output queues per port", §6), and every meeting of the two nodes takes one cell from
//! it.
//!
//! Cells join through the trait [`RelayQueues`]. To let them leave, `transmit.rs` selects a method
//! of either type once per slot. `BySlot::leave` returns the lists of the slot without visiting
//! pairs; `ByPair::take` goes from matching to matching, and each cell may be lost on a dark link.
//! A common method would have to visit every pair in both cases.

use super::queued::Queued;
use crate::sirius::index::Row;

/// Number of places of a queue. Further cells are set aside until there is space.
pub(crate) const PLACES: usize = 32;

/// The queues of a range of nodes, at the start or the end of a slot. The order in which cells of
/// the same slot leave does not depend on the type of the queues.
pub trait RelayQueues {
    /// Adds granted cells of `row` to the queues for their intermediates.
    fn wait(&mut self, row: Row, granted: &[Queued]);

    /// Prefetches the queues of `row`, which cells will join soon.
    fn prefetch(&self, _row: Row) {}

    /// Lets cells that found their queues full join them if there is a place now; called at the end
    /// of a slot, before any cell is relayed.
    fn move_up(&mut self);

    /// Adds cells that have reached their intermediates to the queues for their destinations.
    fn relay(&mut self, arrived: &[Queued]);
}
