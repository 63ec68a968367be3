//! The start of a slot: departures from the nodes of a shard.

use super::in_flight::{lane_of, Flight, Purpose};
use super::queued::{Placed, Queued};
use super::Queues;
use crate::sirius::failure::faults::Lost;
use crate::sirius::index::{Label, Row, Turn};
use crate::sirius::prefetch::hinted;
use crate::sirius::schedule::peer_order::MatchingRef;
use crate::sirius::shard::{Sent, Shard, Shared};

impl Shard {
    /// Sends one cell on every uplink if a cell waits for its peer of this slot.
    pub(crate) fn transmit<const WATCHED: bool>(
        &mut self,
        slot: i64,
        shared: &Shared,
        flight: &mut Flight,
    ) {
        let Queues::BySlot(by_slot) = &mut self.queues else {
            let matchings = shared.peer_order.matchings(slot);
            return self.transmit_by_pair::<WATCHED, false>(slot, matchings, shared, flight);
        };
        by_slot.reuse(flight);
        by_slot.leave(flight);
        let taken = flight.cells();
        self.held -= taken;
        self.hops += taken;
        if WATCHED {
            self.note_departed(slot, flight, shared);
        }
        for shard in 0..self.shards {
            let relayed = flight.chunks(lane_of(shard, Purpose::Second));
            relayed.for_each(|chunk| self.leave_relayed(chunk));
        }
    }

    /// Transmits matching by matching, if departures are not known in advance. Cells can be lost
    /// only with `FAULTY`.
    pub(crate) fn transmit_by_pair<'a, const WATCHED: bool, const FAULTY: bool>(
        &mut self,
        slot: i64,
        matchings: impl Iterator<Item = MatchingRef<'a>>,
        shared: &Shared,
        flight: &mut Flight,
    ) {
        flight.clear(&mut self.leaving.spare);
        let mut queues = std::mem::take(&mut self.queues);
        if let (Queues::ByPair(by_pair), 1..) = (&mut queues, self.held) {
            for matching in matchings {
                // The next matching is usually that of the next turn.
                by_pair.prefetch(Turn(matching.turn + 1));
                let labels = matching.labels;
                let rows = labels.map(|l| &l[self.lo / 64..][..self.rows.div_ceil(64)]);
                by_pair.take(Turn(matching.turn), rows, |row, placed| {
                    self.leave::<WATCHED, FAULTY>(slot, matching, row, placed, shared);
                });
            }
            let lanes = lane_of(self.shards, Purpose::Relay);
            self.leaving.send(lanes, flight);
        }
        self.queues = queues;
    }

    /// Sends a cell from its row over a matching.
    #[inline(always)]
    fn leave<const WATCHED: bool, const FAULTY: bool>(
        &mut self,
        slot: i64,
        matching: MatchingRef,
        row: Row,
        placed: Placed,
        shared: &Shared,
    ) {
        let (q, from) = (placed.queued, row.label(self.lo));
        let to = shared.peer_order.peer_of(from, Turn(matching.turn));
        let second = q.cell().is_second();
        self.held -= 1;
        self.hops += 1;
        self.grants.release(row, q.destination(), second);
        self.relaying[row.0] -= second as u32;
        if WATCHED {
            self.sent.push(Sent {
                from: from.0.into(),
                to: to.0.into(),
                uplink: matching.uplink as u32,
                bytes: shared.routes.bytes(q.cell()),
            });
        }
        if FAULTY && self.loses(slot, matching.uplink, [from, to], &q, shared) {
            return;
        }
        let purpose = match second {
            true => Purpose::Second,
            false if to == q.destination() => Purpose::Direct,
            false => Purpose::Relay,
        };
        let lane = lane_of(shared.partition.shard_of(to), purpose);
        self.leaving
            .push(from.index() / shared.partition.block, lane, &placed);
    }

    /// Whether a cell is lost on its way; notes it if it is.
    fn loses(
        &mut self,
        slot: i64,
        uplink: u16,
        [from, to]: [Label; 2],
        q: &Queued,
        shared: &Shared,
    ) -> bool {
        let fate = shared.faults.fate(slot, uplink, from, to);
        self.lost.extend(fate.map(|known_from| Lost {
            cell: q.cell(),
            via: to,
            known_from,
        }));
        fate.is_some()
    }

    /// Releases the grants of cells that leave on their second hop, and reduces the number of cells
    /// that their intermediates hold.
    #[inline(always)]
    fn leave_relayed(&mut self, leaving: &[Queued]) {
        let lo = self.lo;
        let leave = |shard: &mut Shard, q: &Queued| {
            let row = Row::of(q.intermediate(), lo);
            shard.grants.release(row, q.destination(), true);
            shard.relaying[row.0] -= 1;
        };
        if self.far {
            let hint = |shard: &Shard, q: &Queued| {
                shard
                    .grants
                    .prefetch(Row::of(q.intermediate(), lo), q.destination());
            };
            hinted(leaving, self, hint, leave);
        } else {
            leaving.iter().for_each(|q| leave(self, q));
        }
    }

    /// Records the sent cells and their uplinks for the audit.
    #[cold]
    #[inline(never)]
    fn note_departed(&mut self, slot: i64, flight: &Flight, shared: &Shared) {
        let Shared {
            peer_order, routes, ..
        } = *shared;
        self.sent.extend(flight.links(routes).map(|(from, to, q)| {
            let turn = peer_order.turn_of(from, to).0;
            let mut matchings = peer_order.matchings(slot);
            let met = matchings.find(|m| m.turn == turn && m.has(from.index()));
            Sent {
                from: from.0.into(),
                to: to.0.into(),
                uplink: met.expect("cells leave when nodes meet").uplink as u32,
                bytes: routes.bytes(q.cell()),
            }
        }));
    }
}
