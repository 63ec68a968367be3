//! A slot at its beginning: what leaves the nodes of a shard.

use super::cell::Routes;
use super::config::QueueMetric;
use super::departures::{self, Kind};
use super::faults::Lost;
use super::mail::{to_box, Flight};
use super::prefetch::hinted;
use super::queued::Queued;
use super::shard::{Sent, Shard, Ways};
use super::topology::{ColumnRef, Visits};

impl Shard {
    /// Sends one cell on every uplink whose peer of this slot has one waiting.
    pub(super) fn send<const WATCHED: bool>(
        &mut self,
        slot: i64,
        ways: &Ways,
        flight: &mut Flight,
    ) {
        let Some(departures) = &mut self.departures else {
            let columns = ways.visits.columns(slot);
            return self.transmit::<WATCHED, false>(slot, columns, ways, flight);
        };
        departures.reuse(flight);
        departures.leave(flight);
        let taken = flight.cells();
        self.held -= taken;
        self.hops += taken;
        if WATCHED {
            self.note_departed(slot, flight, ways);
        }
        if self.metric != QueueMetric::Relay {
            self.keep_promises(flight, ways.routes);
        }
        for shard in 0..self.shards {
            let relayed = flight.chunks(departures::box_of(shard, Kind::Second));
            relayed.for_each(|chunk| self.leave_relayed(chunk));
        }
    }

    /// Granted cells leave.
    #[cold]
    fn keep_promises(&mut self, flight: &Flight, routes: &Routes) {
        for q in flight.each().filter(|q| !q.cell().is_second()) {
            let source = routes.src[q.cell().rank() as usize] as usize;
            self.promised[source - self.lo] -= 1;
        }
    }

    /// The same by columns, where it is not known in advance who leaves when. Only with
    /// `FAULTY` any of them may be lost.
    pub(super) fn transmit<'a, const WATCHED: bool, const FAULTY: bool>(
        &mut self,
        slot: i64,
        columns: impl Iterator<Item = ColumnRef<'a>>,
        ways: &Ways,
        flight: &mut Flight,
    ) {
        let spare = match &mut self.granted {
            // Whoever has less: who has none would ask for more for ever.
            Some(g) if g.spare.len() < self.lines.spare.len() => &mut g.spare,
            _ => &mut self.lines.spare,
        };
        flight.clear(spare);
        if self.held == 0 {
            return;
        }
        for column in columns {
            let out = flight.open(column.turn);
            self.take(column, out);
            if ways.visits.shares_peers() {
                out.iter_mut().for_each(|list| self.order(list));
            }
            let taken: u64 = out.iter().map(|list| list.len() as u64).sum();
            self.held -= taken;
            self.hops += taken;
            if WATCHED {
                self.note_sent(column, out, ways);
            }
            if self.metric != QueueMetric::Relay {
                let first_hops = out.iter().flatten().filter(|q| !q.cell().is_second());
                first_hops.for_each(|q| self.promised[q.row()] -= 1);
            }
            if FAULTY {
                self.lose_some(slot, column, out, ways);
            }
            for shard in 0..self.shards {
                out[to_box(shard, true)]
                    .iter()
                    .for_each(|q| self.leave_one(q));
            }
        }
    }

    /// The first cells of all lines of a column.
    #[inline(always)]
    fn take(&mut self, column: ColumnRef, out: &mut [Vec<Queued>]) {
        match (column.labels, &self.granted) {
            (None, None) => self.lines.take(column.turn as usize, out),
            _ => self.take_some(column, out),
        }
    }

    /// The same where not all nodes belong to the column, or second hops go first.
    #[inline(never)]
    fn take_some(&mut self, column: ColumnRef, out: &mut [Vec<Queued>]) {
        let (turn, words) = (column.turn as usize, self.rows.div_ceil(64));
        let mut rows = vec![u64::MAX; words];
        if let Some(labels) = column.labels {
            rows.copy_from_slice(&labels[self.lo / 64..][..words]);
        }
        let Some(granted) = &mut self.granted else {
            return self.lines.take_some(turn, &rows, out);
        };
        let mut seconds = vec![0; words];
        self.lines.busy(turn, &mut seconds);
        self.lines.take_some(turn, &rows, out);
        rows.iter_mut().zip(&seconds).for_each(|(r, s)| *r &= !s);
        granted.take_some(turn, &rows, out);
    }

    /// Sorts a list by row, so that who comes first to a peer that they all meet
    /// does not depend on how nodes are dealt to shards.
    #[inline(never)]
    fn order(&mut self, list: &mut [Queued]) {
        let (sorted, rows) = (&mut self.sorted, &mut self.occupied);
        for &q in &*list {
            sorted[q.row()] = q;
            rows[q.row() / 64] |= 1 << (q.row() % 64);
        }
        let mut places = list.iter_mut();
        for (word, set) in rows.iter_mut().enumerate() {
            while *set != 0 {
                let row = word * 64 + set.trailing_zeros() as usize;
                *set &= *set - 1;
                if let Some(place) = places.next() {
                    *place = sorted[row];
                }
            }
        }
    }

    /// Second hops leave: their nodes, named by label, relay one cell less.
    #[inline(always)]
    fn leave_relayed(&mut self, leaving: &[Queued]) {
        let lo = self.lo;
        let leave = |shard: &mut Shard, q: &Queued| {
            let row = q.row() - lo;
            shard.grants.release(row, q.destination(), true);
            shard.relaying[row] -= 1;
        };
        if self.far {
            let hint = |shard: &Shard, q: &Queued| {
                shard.grants.prefetch(q.row() - lo, q.destination());
            };
            hinted(leaving, self, hint, leave);
        } else {
            leaving.iter().for_each(|q| leave(self, q));
        }
    }

    /// A cell leaves its row; if it is on its second hop, that relays one less.
    #[inline(always)]
    fn leave_one(&mut self, q: &Queued) {
        let second = q.cell().is_second();
        self.grants.release(q.row(), q.destination(), second);
        self.relaying[q.row()] -= second as u32;
    }

    /// Takes out what is lost.
    #[cold]
    #[inline(never)]
    fn lose_some(&mut self, slot: i64, column: ColumnRef, out: &mut [Vec<Queued>], ways: &Ways) {
        let mut lost = Vec::new();
        for list in out {
            list.retain(|q| {
                let label = self.lo + q.row();
                let via = ways.visits.peer(label, column.turn as usize) as u16;
                let fate = ways.faults.fate(slot, column.uplink, label as u16, via);
                lost.extend(fate.map(|known_from| (*q, via, known_from)));
                fate.is_none()
            });
        }
        for (q, via, known_from) in lost {
            self.leave_one(&q);
            let cell = q.cell();
            self.lost.push(Lost {
                cell,
                via,
                known_from,
            });
        }
    }

    /// For the audit: what is sent, and on which uplink.
    #[cold]
    #[inline(never)]
    fn note_departed(&mut self, slot: i64, flight: &Flight, ways: &Ways) {
        let (visits, routes): (&Visits, &Routes) = (ways.visits, ways.routes);
        let links = flight.links(routes);
        self.sent.extend(links.map(|(from, to, q)| {
            let turn = visits.turn(from, to) as u16;
            let met = visits.columns(slot).find(|c| c.turn == turn && c.has(from));
            Sent {
                from: from as u32,
                to: to as u32,
                uplink: met.expect("cells leave when nodes meet").uplink as u32,
                bytes: routes.bytes(q.cell()),
            }
        }));
    }

    /// For the audit: what is sent, and on which uplink.
    #[cold]
    #[inline(never)]
    fn note_sent(&mut self, column: ColumnRef, out: &[Vec<Queued>], ways: &Ways) {
        let (visits, routes): (&Visits, &Routes) = (ways.visits, ways.routes);
        self.sent.extend(out.iter().flatten().map(|q| {
            let label = self.lo + q.row();
            Sent {
                from: label as u32,
                to: visits.peer(label, column.turn as usize) as u32,
                uplink: column.uplink as u32,
                bytes: routes.bytes(q.cell()),
            }
        }));
    }
}
