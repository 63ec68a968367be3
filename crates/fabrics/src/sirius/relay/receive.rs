//! A slot at its end: what arrives at the nodes of a shard.

use crate::sirius::relay::in_flight::lane_of;
use crate::sirius::relay::in_flight::{Flight, Purpose};
use crate::sirius::relay::queued::Queued;
use crate::sirius::schedule::next_meeting::{NextMeeting, Timetable};
use crate::sirius::shard::{Shard, Shared};

impl Shard {
    /// Takes in what arrived in `slot` from all shards (`flights`), in an order that does
    /// not depend on how nodes are dealt to shards: by block of the senders. `itself` is
    /// this shard's number.
    pub(crate) fn receive(
        &mut self,
        slot: i64,
        shared: &Shared,
        flights: &[Flight],
        itself: usize,
    ) {
        match (&self.by_slot, shared.timetable) {
            (Some(_), Some(Timetable::Rotor(rounds))) => {
                self.relay_all(rounds.at(slot + 1), flights, itself);
            }
            (Some(_), Some(Timetable::Gratings(frame))) => {
                self.relay_all(frame.at(slot + 1), flights, itself);
            }
            _ => self.relay_by_pair(shared, flights, itself),
        }
        for chunk in chunks(flights, itself, Purpose::Second) {
            self.deliver::<false>(chunk);
        }
        for chunk in chunks(flights, itself, Purpose::Direct) {
            self.deliver::<true>(chunk);
        }
        self.note_peak();
    }

    /// Cells that others will fetch join the lines for their destinations; `meetings`
    /// are those from the next slot on.
    fn relay_all(&mut self, meetings: impl NextMeeting, flights: &[Flight], itself: usize) {
        let Some(by_slot) = &mut self.by_slot else {
            return;
        };
        if by_slot.has_crowd() {
            by_slot.join_crowd(meetings);
        }
        for chunk in chunks(flights, itself, Purpose::Relay) {
            self.held += chunk.len() as u64;
            match self.far {
                true => by_slot.relay::<true>(meetings, chunk),
                false => by_slot.relay::<false>(meetings, chunk),
            }
            for q in chunk {
                self.relaying[q.row() - self.lo] += 1;
            }
        }
    }

    /// The same where it is not known in advance who leaves when.
    fn relay_by_pair(&mut self, shared: &Shared, flights: &[Flight], itself: usize) {
        let next = &mut self.next_place;
        self.by_pair.move_up(next);
        for chunk in chunks(flights, itself, Purpose::Relay) {
            self.held += chunk.len() as u64;
            for q in chunk {
                let (via, to) = (q.row(), q.destination());
                let (row, turn) = (via - self.lo, shared.peer_order.turn(via, to));
                self.by_pair.push(turn, q.relayed_at(row), next);
                self.relaying[row] += 1;
            }
        }
    }

    /// Cells have reached their destination, `SOME` perhaps on their first hop.
    #[inline(always)]
    fn deliver<const SOME: bool>(&mut self, arrived: &[Queued]) {
        let cells = arrived.iter().map(Queued::cell);
        if self.far {
            self.reorder.prefetch(cells.clone());
        }
        if SOME {
            for q in arrived.iter().filter(|q| !q.cell().is_second()) {
                let itself = q.destination();
                self.grants.release(itself - self.lo, itself, true);
            }
        }
        if self.capped {
            self.arrived.extend(cells);
        } else {
            self.reorder.receive_all::<SOME, _>(arrived, Queued::cell);
        }
    }

    /// Notes the queue peak when everything has arrived: within a slot queues only
    /// grow from the last departure on.
    fn note_peak(&mut self) {
        self.peak = self.peak.max(self.queue());
    }
}

/// What was sent to a shard for some purpose.
fn chunks(flights: &[Flight], itself: usize, purpose: Purpose) -> impl Iterator<Item = &[Queued]> {
    let lane = lane_of(itself, purpose);
    flights.iter().flat_map(move |f| f.chunks(lane))
}
