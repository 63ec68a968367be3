//! Lost cells: when the source retransmits them, and when the intermediate that granted them stops
//! counting them (Sirius §4.5).

use super::faults::{Faults, Stretch};
use crate::sirius::cell::{Cell, Routes};
use crate::sirius::index::Label;

impl Faults {
    /// Records a cell that was lost in `epoch`, for retransmission by its source.
    pub fn resend(&mut self, cell: Cell, epoch: i64, known_from: Option<i64>) {
        let due = (epoch + 2 * self.delays.lag).max(known_from.unwrap_or(0));
        self.lost.entry(due).or_default().push(cell.on_hop(false));
    }

    /// Records a grant of an intermediate whose cell will not arrive.
    pub fn lapse(&mut self, by: Label, destination: Label, epoch: i64) {
        let due = epoch + self.delays.lag;
        self.lapsed.entry(due).or_default().push((by, destination));
    }

    /// The grants that lapse by `epoch`.
    pub fn lapsed_by(&mut self, epoch: i64) -> Vec<(Label, Label)> {
        let later = self.lapsed.split_off(&(epoch + 1));
        let now = std::mem::replace(&mut self.lapsed, later);
        now.into_values().flatten().collect()
    }

    /// The cells to send again by `epoch`, neighbours together.
    pub fn resent_by(&mut self, epoch: i64) -> Vec<Stretch> {
        let later = self.lost.split_off(&(epoch + 1));
        let now = std::mem::replace(&mut self.lost, later);
        let mut cells: Vec<_> = now
            .into_values()
            .flatten()
            .map(|c| (c.flow_index(), c.seq()))
            .collect();
        // The result must not depend on the order in which shards recorded them.
        cells.sort_unstable();
        let mut stretches: Vec<Stretch> = Vec::new();
        for (flow_index, seq) in cells {
            match stretches.last_mut() {
                Some(s) if s.flow_index == flow_index && s.seq + s.count == seq => s.count += 1,
                _ => stretches.push(Stretch {
                    flow_index,
                    seq,
                    count: 1,
                }),
            }
        }
        stretches
    }

    /// Bytes that sources keep because they were lost or cannot leave.
    pub fn bytes(&self, routes: &Routes) -> u64 {
        let parked = self.parked.values().flatten();
        let parked = parked.map(|s| routes.bytes_of(s.flow_index, s.seq, s.count));
        let lost = self.lost.values().flatten();
        parked.sum::<u64>() + lost.map(|&cell| routes.bytes(cell)).sum::<u64>()
    }
}
