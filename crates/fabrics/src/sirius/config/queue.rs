//! Whether Q (`queue`) covers the time from a grant to the second hop.
//!
//! A node has at most Q cells queued or granted for a destination, and sends it one cell per epoch
//! (§4.3). A cell is counted from its grant until it has left for the destination: while the grant
//! travels, while the cell waits for the slot of its first hop and crosses the fibre, and while it
//! waits for the slot of its second hop. If this takes more than Q epochs, slots to the destination
//! stay empty although cells wait for them: Q then limits the throughput. The paper's Q = 4 is for
//! fibres without length (§7).

use super::{Derived, Mode, SiriusConfig};
use crate::findings::Finding;
use lightloom_engine::Cluster;

/// The largest Q [cells].
pub(super) const MOST: u32 = 64;

impl SiriusConfig {
    /// The finding that Q prevents nodes from receiving at their servers' rate, if a larger Q would
    /// not; `None` otherwise.
    pub(crate) fn short_queue(&self, derived: &Derived, cluster: &Cluster) -> Option<Finding> {
        let needed = self.covering_queue(derived);
        if self.mode == Mode::Ideal || i64::from(self.queue) >= needed.min(i64::from(MOST)) {
            return None;
        }
        let servers = cluster.rack_rate().0 as f64;
        (self.received(derived, needed, cluster.racks) < servers).then(|| Finding {
            parameter: "queue",
            value: self.queue.to_string(),
            effect: format!(
                "it limits throughput: a cell counts for {needed} epochs, from its grant until its \
                 second hop leaves, and a node sends one cell per epoch to each destination; times \
                 and short queues are those of this Q"
            ),
            remedy: match needed <= i64::from(MOST) {
                true => format!("raise it to {needed}"),
                false => format!(
                    "raise it to {MOST}, the most, which covers {:.0} % of that; shorter fibres \
                     cover the rest",
                    100.0 * f64::from(MOST) / needed as f64
                ),
            },
        })
    }

    /// The smallest Q that covers the time for which a cell is counted [cells].
    ///
    /// This time is the sum of the epochs that the grant takes, half an epoch of waiting for the
    /// slot of each hop, half an epoch until the next grants are made, and the slot and crossing of
    /// the first hop: (2 · lag + 3) / 2 epochs + slot + crossing.
    pub(crate) fn covering_queue(&self, derived: &Derived) -> i64 {
        let (slots, of) = derived.epoch;
        let epoch = i128::from(self.slot.0) * i128::from(slots);
        let hop = i128::from((self.slot + self.crossing()).0) * i128::from(of);
        let counted = i128::from(2 * derived.lag(self) + 3) * epoch + 2 * hop;
        (counted as u128).div_ceil(2 * epoch as u128) as i64
    }

    /// The highest rate at which a node can receive with Q [b/s]: Q cells from each other node in
    /// the time for which a cell is counted.
    fn received(&self, derived: &Derived, needed: i64, nodes: u32) -> f64 {
        let (slots, of) = derived.epoch;
        let epoch_s = self.slot.as_secs_f64() * slots as f64 / of as f64;
        let cells = f64::from(self.queue) * f64::from(nodes - 1);
        cells * derived.cell as f64 * 8.0 / (needed as f64 * epoch_s)
    }
}
