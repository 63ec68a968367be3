//! A slot at its end: what arrives at the nodes of a shard.

use super::departures::{self, Kind};
use super::mail::Flight;
use super::meetings::{Meetings, Timetable};
use super::queued::Queued;
use super::shard::{Shard, Ways};

impl Shard {
    /// Takes in what arrived in `slot` from all shards (`flights`), in an order that does
    /// not depend on how nodes are dealt to shards: by block of the senders. `itself` is
    /// this shard's number.
    pub(super) fn receive(&mut self, slot: i64, ways: &Ways, flights: &[Flight], itself: usize) {
        match (&self.departures, ways.timetable) {
            (Some(_), Some(Timetable::Rotor(rounds))) => {
                self.relay_all(rounds.at(slot + 1), flights, itself);
            }
            (Some(_), Some(Timetable::Gratings(frame))) => {
                self.relay_all(frame.at(slot + 1), flights, itself);
            }
            _ => self.relay_by_turn(ways, flights, itself),
        }
        for chunk in chunks(flights, itself, Kind::Second) {
            self.deliver::<false>(chunk);
        }
        for chunk in chunks(flights, itself, Kind::Direct) {
            self.deliver::<true>(chunk);
        }
        self.note_peak();
    }

    /// Cells that others will fetch join the lines for their destinations; `meetings`
    /// are those from the next slot on.
    fn relay_all(&mut self, meetings: impl Meetings, flights: &[Flight], itself: usize) {
        let Some(departures) = &mut self.departures else {
            return;
        };
        if departures.has_crowd() {
            departures.join_crowd(meetings);
        }
        for chunk in chunks(flights, itself, Kind::Relay) {
            self.held += chunk.len() as u64;
            match self.far {
                true => departures.relay::<true>(meetings, chunk),
                false => departures.relay::<false>(meetings, chunk),
            }
            for q in chunk {
                self.relaying[q.row() - self.lo] += 1;
            }
        }
    }

    /// The same where it is not known in advance who leaves when.
    fn relay_by_turn(&mut self, ways: &Ways, flights: &[Flight], itself: usize) {
        let next = &mut self.next_place;
        self.lines.move_up(next);
        for chunk in chunks(flights, itself, Kind::Relay) {
            self.held += chunk.len() as u64;
            for q in chunk {
                let (via, to) = (q.row(), q.destination());
                let (row, turn) = (via - self.lo, ways.visits.turn(via, to));
                self.lines.push(turn, q.relayed_at(row), next);
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
fn chunks(flights: &[Flight], itself: usize, kind: Kind) -> impl Iterator<Item = &[Queued]> {
    let to_box = departures::box_of(itself, kind);
    flights.iter().flat_map(move |f| f.chunks(to_box))
}
