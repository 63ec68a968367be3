//! The end of a slot: arrivals at the nodes of a shard.

use super::in_flight::{lane_of, Flight, Purpose};
use super::queued::Queued;
use super::queues::RelayQueues;
use super::Queues;
use crate::sirius::index::Row;
use crate::sirius::schedule::next_meeting::Timetable;
use crate::sirius::shard::{Shard, Shared};

impl Shard {
    /// Receives the cells that arrived in `slot` from all shards (`flights`), in an order that does
    /// not depend on the division of nodes into shards: by block of the senders. `itself` is this
    /// shard's number.
    pub(crate) fn receive(
        &mut self,
        slot: i64,
        shared: &Shared,
        flights: &[Flight],
        itself: usize,
    ) {
        let mut queues = std::mem::take(&mut self.queues);
        match (&mut queues, shared.timetable) {
            (Queues::BySlot(queues), Some(Timetable::Rotor(rounds))) => {
                self.relay(queues.at(rounds.at(slot + 1), self.far), flights, itself);
            }
            (Queues::BySlot(queues), Some(Timetable::Gratings(frame))) => {
                self.relay(queues.at(frame.at(slot + 1), self.far), flights, itself);
            }
            (Queues::ByPair(queues), _) => {
                self.relay(queues.at(shared.peer_order, self.lo), flights, itself);
            }
            (Queues::BySlot(_), None) => unreachable!("kept by slot with a timetable only"),
        }
        self.queues = queues;
        for chunk in chunks(flights, itself, Purpose::Second) {
            self.deliver::<false>(chunk);
        }
        for chunk in chunks(flights, itself, Purpose::Direct) {
            self.deliver::<true>(chunk);
        }
        self.note_peak();
    }

    /// Adds cells that arrived on their first hop to the queues for their destinations.
    fn relay(&mut self, mut queues: impl RelayQueues, flights: &[Flight], itself: usize) {
        queues.move_up();
        for chunk in chunks(flights, itself, Purpose::Relay) {
            self.held += chunk.len() as u64;
            queues.relay(chunk);
            count_relayed(&mut self.relaying, self.lo, chunk);
        }
    }

    /// Delivers cells at their destination; if `SOME`, a cell may be on its first hop.
    #[inline(always)]
    fn deliver<const SOME: bool>(&mut self, arrived: &[Queued]) {
        let cells = arrived.iter().map(Queued::cell);
        if self.far {
            self.reorder.prefetch(cells.clone());
        }
        if SOME {
            for q in arrived.iter().filter(|q| !q.cell().is_second()) {
                let itself = q.destination();
                self.grants.release(Row::of(itself, self.lo), itself, true);
            }
        }
        if self.capped {
            self.arrived.extend(cells);
        } else {
            self.reorder.receive_all::<SOME, _>(arrived, Queued::cell);
        }
    }

    /// Updates the queue peak after all arrivals, because from the last departure of a slot on
    /// queues only grow.
    fn note_peak(&mut self) {
        self.peak = self.peak.max(self.queue());
    }
}

/// Counts more cells on their second hop for each row from label `lo` on. It is a separate
/// function, because the loop that adds cells to queues leaves no registers for it.
#[inline(never)]
fn count_relayed(relaying: &mut [u32], lo: usize, arrived: &[Queued]) {
    for q in arrived {
        relaying[Row::of(q.intermediate(), lo).0] += 1;
    }
}

/// The cells that were sent to a shard for a purpose.
fn chunks(flights: &[Flight], itself: usize, purpose: Purpose) -> impl Iterator<Item = &[Queued]> {
    let lane = lane_of(itself, purpose);
    flights.iter().flat_map(move |f| f.chunks(lane))
}
