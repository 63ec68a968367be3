//! A slot at its beginning: what leaves the nodes of a shard.

use super::cell::Routes;
use super::departures::{self, Kind};
use super::faults::Lost;
use super::mail::Flight;
use super::prefetch::hinted;
use super::queued::{Placed, Queued};
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
        for shard in 0..self.shards {
            let relayed = flight.chunks(departures::box_of(shard, Kind::Second));
            relayed.for_each(|chunk| self.leave_relayed(chunk));
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
        flight.clear(&mut self.spare);
        if self.held == 0 {
            return;
        }
        for column in columns {
            let mut out = self.take(column);
            self.held -= out.len() as u64;
            self.hops += out.len() as u64;
            if WATCHED {
                self.note_sent(column, &out, ways);
            }
            if FAULTY {
                self.lose_some(slot, column, &mut out, ways);
            }
            for placed in &out {
                self.leave_one(&placed.queued);
                self.leaving.push(leaving(self.lo, column, placed, ways));
            }
            out.clear();
            self.lines.spare.extend((out.capacity() > 0).then_some(out));
        }
        self.send_leaving(flight);
    }

    /// Sends what leaves in the slot: by block of the senders, and in the order in which the
    /// cells of a block took their places.
    fn send_leaving(&mut self, flight: &mut Flight) {
        // Numbers are sorted in a third of the time.
        let numbered = self.leaving.iter().zip(0u128..);
        let keys = numbered.map(|(l, at)| (l.block as u128) << 96 | (l.place as u128) << 32 | at);
        self.order.extend(keys);
        self.order.sort_unstable();
        let boxes = departures::box_of(self.shards, Kind::Relay);
        self.boxes.resize(boxes, Vec::new());
        for key in self.order.drain(..) {
            let leaving = &self.leaving[key as u32 as usize];
            let list = &mut self.boxes[leaving.to_box as usize];
            if list.capacity() == 0 {
                *list = self.spare.pop().unwrap_or_default();
            }
            list.push(leaving.queued);
        }
        self.leaving.clear();
        for (to_box, list) in self.boxes.iter_mut().enumerate() {
            let list = std::mem::take(list);
            flight.send(to_box, (!list.is_empty()).then_some(list).into_iter());
        }
    }

    /// The first cells of all lines of a column.
    #[inline(always)]
    fn take(&mut self, column: ColumnRef) -> Vec<Placed> {
        let turn = column.turn as usize;
        match column.labels {
            None => self.lines.take(turn),
            Some(labels) => {
                let rows = &labels[self.lo / 64..][..self.rows.div_ceil(64)];
                self.lines.take_some(turn, rows)
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
    fn lose_some(&mut self, slot: i64, column: ColumnRef, out: &mut Vec<Placed>, ways: &Ways) {
        let mut lost = Vec::new();
        out.retain(|Placed { queued, .. }| {
            let label = self.lo + queued.row();
            let via = ways.visits.peer(label, column.turn as usize) as u16;
            let fate = ways.faults.fate(slot, column.uplink, label as u16, via);
            lost.extend(fate.map(|known_from| (*queued, via, known_from)));
            fate.is_none()
        });
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
    fn note_sent(&mut self, column: ColumnRef, out: &[Placed], ways: &Ways) {
        let (visits, routes): (&Visits, &Routes) = (ways.visits, ways.routes);
        self.sent.extend(out.iter().map(|Placed { queued: q, .. }| {
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

/// A cell that leaves in a slot, where it is not known in advance who does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    /// The block of its sender.
    block: u32,
    to_box: u32,
    /// Its place there.
    place: u64,
    /// As in a [`Flight`].
    queued: Queued,
}

/// What a cell becomes that leaves by a column of a shard whose first label is `lo`.
#[inline(always)]
fn leaving(lo: usize, column: ColumnRef, placed: &Placed, ways: &Ways) -> Leaving {
    let Placed { queued, place } = *placed;
    let (from, destination) = (lo + queued.row(), queued.destination());
    let to = ways.visits.peer(from, column.turn as usize);
    let (kind, named) = match queued.cell().is_second() {
        true => (Kind::Second, from),
        false if to == destination => (Kind::Direct, to),
        false => (Kind::Relay, to),
    };
    Leaving {
        block: (from / ways.deal.block) as u32,
        place,
        to_box: departures::box_of(ways.deal.shard[to] as usize, kind) as u32,
        queued: Queued::new(queued.cell(), named, destination as u16),
    }
}
