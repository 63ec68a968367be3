//! A slot at its end: what arrives at the nodes of a shard.

use super::config::QueueMetric;
use super::departures::Joining;
use super::lines::Queued;
use super::mail::{to_box, Flight, Mail};
use super::meetings::{Meetings, RoundAt, Timetable};
use super::prefetch::hinted;
use super::shard::{Shard, Ways};

impl Shard {
    /// Takes in what arrived in `slot` from all shards (`flights`), in an order that does
    /// not depend on how nodes are dealt to shards: by block of the senders, or column by
    /// column. `itself` is this shard's number.
    pub(super) fn receive(&mut self, slot: i64, ways: &Ways, flights: &[Flight], itself: usize) {
        match (&self.departures, ways.timetable) {
            (Some(_), Some(Timetable::Rotor(rr))) => {
                self.relay_all(RoundAt::new(*rr, slot + 1), ways, flights, itself);
            }
            (Some(_), Some(Timetable::Gratings(frame))) => {
                self.relay_all(frame.at(slot + 1), ways, flights, itself);
            }
            _ => self.receive_columns(ways, flights, itself),
        }
        for chunk in flights.iter().flat_map(|f| f.chunks(to_box(itself, true))) {
            self.deliver(chunk);
        }
        self.note_peak();
    }

    fn receive_columns(&mut self, ways: &Ways, flights: &[Flight], itself: usize) {
        let columns = flights.iter().map(Flight::columns).max().unwrap_or(0);
        for k in 0..columns {
            for flight in flights.iter().filter(|f| k < f.columns()) {
                let mail = flight.column(k, itself);
                self.relay_column(ways, mail);
                self.deliver(mail.deliver);
            }
        }
    }

    /// Cells that others will fetch join the lines for their destinations; `meetings`
    /// are those from the next slot on.
    fn relay_all(
        &mut self,
        meetings: impl Meetings,
        ways: &Ways,
        flights: &[Flight],
        itself: usize,
    ) {
        let Some(departures) = &mut self.departures else {
            return;
        };
        let mut relays = Relays {
            shards: &ways.deal.shard,
            lo: self.lo,
            lines: departures.open(meetings),
            relaying: &mut self.relaying,
        };
        for chunk in flights.iter().flat_map(|f| f.chunks(to_box(itself, false))) {
            self.held += chunk.len() as u64;
            if self.far {
                hinted(chunk, &mut relays, Relays::hint, Relays::join);
            } else {
                chunk.iter().for_each(|q| relays.join(q));
            }
        }
    }

    /// The same for a column, where it is not known in advance who leaves when.
    fn relay_column(&mut self, ways: &Ways, mail: Mail) {
        for q in mail.relay {
            let via = ways.visits.peer(mail.lo + q.row(), mail.turn);
            let (row, to) = (via - self.lo, q.destination());
            let turn = ways.visits.turn(via, to);
            let to = to_box(ways.deal.shard[to] as usize, true);
            self.lines.push(turn, q.relayed_at(row), to);
            self.relaying[row] += 1;
        }
        self.held += mail.relay.len() as u64;
    }

    /// Cells have reached their destination.
    #[inline(always)]
    fn deliver(&mut self, arrived: &[Queued]) {
        let cells = arrived.iter().map(Queued::cell);
        if self.far {
            self.reorder.prefetch(cells.clone());
        }
        for q in arrived.iter().filter(|q| !q.cell().is_second()) {
            let itself = q.destination();
            self.grants.release(itself - self.lo, itself, true);
        }
        if self.capped {
            self.arrived.extend(cells);
        } else {
            self.reorder.receive_all(cells);
        }
    }

    /// Notes the queue peak when everything has arrived: within a slot queues only
    /// grow from the last departure on.
    fn note_peak(&mut self) {
        self.peak = self.peak.max(match self.metric {
            QueueMetric::Relay => self.relaying.iter().max().map_or(0, |&most| most as u64),
            QueueMetric::RelayAndLocal => self.queue(),
        });
    }
}

/// What relaying cells takes, borrowed once for all of them.
struct Relays<'a, M> {
    shards: &'a [u16],
    /// First label here.
    lo: usize,
    lines: Joining<'a, M>,
    relaying: &'a mut [u32],
}

impl<M: Meetings> Relays<'_, M> {
    #[inline(always)]
    fn hint(&self, q: &Queued) {
        self.lines.prefetch(q.row() - self.lo, q.destination());
    }

    #[inline(always)]
    fn join(&mut self, q: &Queued) {
        let (via, to) = (q.row(), q.destination());
        let row = via - self.lo;
        let to_box = to_box(self.shards[to] as usize, true);
        let queued = q.relayed_at(row);
        self.lines.join((row, via), to, queued, to_box);
        self.relaying[row] += 1;
    }
}
