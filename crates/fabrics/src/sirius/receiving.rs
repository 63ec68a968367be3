//! A slot at its end: what arrives at the nodes of a shard.

use super::config::QueueMetric;
use super::lines::{Open, Queued};
use super::mail::{to_box, Flight, Mail};
use super::shard::{Shard, Ways};
use super::topology::Visits;

impl Shard {
    /// Takes in what arrived, column by column, from all shards (`flights`), so
    /// that the order does not depend on how nodes are dealt to shards. `itself`
    /// is this shard's number.
    pub(super) fn receive(&mut self, ways: &Ways, flights: &[Flight], itself: usize) {
        let columns = flights.iter().map(Flight::columns).max().unwrap_or(0);
        for k in 0..columns {
            for flight in flights.iter().filter(|f| k < f.columns()) {
                let mail = flight.column(k, itself);
                self.relay(ways, mail);
                self.deliver(mail.deliver);
            }
        }
        self.lines.settle();
        self.note_peak();
    }

    /// Cells that others will fetch join the lines for their destinations.
    #[inline(always)]
    fn relay(&mut self, ways: &Ways, mail: Mail) {
        let mut relays = Relays {
            visits: ways.visits,
            shards: &ways.deal.shard,
            from: mail.lo,
            turn: mail.turn,
            lo: self.lo,
            lines: self.lines.open(),
            relaying: &mut self.relaying,
        };
        mail.relay.iter().for_each(|q| relays.join(q));
        relays.lines.write();
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

/// What relaying the cells of a column takes, borrowed once for all of them.
struct Relays<'a> {
    visits: &'a Visits,
    shards: &'a [u16],
    /// First label and turn of the senders.
    from: usize,
    turn: usize,
    /// First label here.
    lo: usize,
    lines: Open<'a>,
    relaying: &'a mut [u32],
}

impl Relays<'_> {
    /// The row that a cell comes to, and the turn of its destination there.
    #[inline(always)]
    fn place(&self, q: &Queued) -> (usize, usize) {
        let via = self.visits.peer(self.from + q.row(), self.turn);
        (via - self.lo, self.visits.turn(via, q.destination()))
    }

    #[inline(always)]
    fn join(&mut self, q: &Queued) {
        let (row, turn) = self.place(q);
        let to = to_box(self.shards[q.destination()] as usize, true);
        self.lines.join(turn, q.relayed_at(row), to);
        self.relaying[row] += 1;
    }
}
