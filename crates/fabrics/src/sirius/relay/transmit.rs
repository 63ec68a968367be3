//! A slot at its beginning: what leaves the nodes of a shard.

use crate::sirius::cell::Routes;
use crate::sirius::failure::faults::Lost;
use crate::sirius::prefetch::hinted;
use crate::sirius::relay::in_flight::{lane_of, Leaving};
use crate::sirius::relay::in_flight::{Flight, Purpose};
use crate::sirius::relay::queued::{Placed, Queued};
use crate::sirius::schedule::peer_order::{MatchingRef, PeerOrder};
use crate::sirius::shard::{Sent, Shard, Shared};

impl Shard {
    /// Sends one cell on every uplink whose peer of this slot has one waiting.
    pub(crate) fn send<const WATCHED: bool>(
        &mut self,
        slot: i64,
        shared: &Shared,
        flight: &mut Flight,
    ) {
        let Some(by_slot) = &mut self.by_slot else {
            let matchings = shared.peer_order.matchings(slot);
            return self.transmit::<WATCHED, false>(slot, matchings, shared, flight);
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

    /// The same by matchings, where it is not known in advance who leaves when. Only with
    /// `FAULTY` any of them may be lost.
    pub(crate) fn transmit<'a, const WATCHED: bool, const FAULTY: bool>(
        &mut self,
        slot: i64,
        matchings: impl Iterator<Item = MatchingRef<'a>>,
        shared: &Shared,
        flight: &mut Flight,
    ) {
        flight.clear(&mut self.spare);
        if self.held == 0 {
            return;
        }
        for matching in matchings {
            let mut out = self.take(matching);
            self.held -= out.len() as u64;
            self.hops += out.len() as u64;
            if WATCHED {
                self.note_sent(matching, &out, shared);
            }
            if FAULTY {
                self.lose_some(slot, matching, &mut out, shared);
            }
            for placed in &out {
                self.leave_one(&placed.queued);
                self.leaving
                    .push(leaving(self.lo, matching, placed, shared));
            }
            out.clear();
            self.by_pair
                .spare
                .extend((out.capacity() > 0).then_some(out));
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
        let lanes = lane_of(self.shards, Purpose::Relay);
        self.lanes.resize(lanes, Vec::new());
        for key in self.order.drain(..) {
            let leaving = &self.leaving[key as u32 as usize];
            let list = &mut self.lanes[leaving.lane as usize];
            if list.capacity() == 0 {
                *list = self.spare.pop().unwrap_or_default();
            }
            list.push(leaving.queued);
        }
        self.leaving.clear();
        for (lane, list) in self.lanes.iter_mut().enumerate() {
            let list = std::mem::take(list);
            flight.send(lane, (!list.is_empty()).then_some(list).into_iter());
        }
    }

    /// The first cells of all lines of a matching.
    #[inline(always)]
    fn take(&mut self, matching: MatchingRef) -> Vec<Placed> {
        let turn = matching.turn as usize;
        match matching.labels {
            None => self.by_pair.take(turn),
            Some(labels) => {
                let rows = &labels[self.lo / 64..][..self.rows.div_ceil(64)];
                self.by_pair.take_some(turn, rows)
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
    fn lose_some(
        &mut self,
        slot: i64,
        matching: MatchingRef,
        out: &mut Vec<Placed>,
        shared: &Shared,
    ) {
        let mut lost = Vec::new();
        out.retain(|Placed { queued, .. }| {
            let label = self.lo + queued.row();
            let via = shared.peer_order.peer(label, matching.turn as usize) as u16;
            let fate = shared.faults.fate(slot, matching.uplink, label as u16, via);
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
    fn note_departed(&mut self, slot: i64, flight: &Flight, shared: &Shared) {
        let (peer_order, routes): (&PeerOrder, &Routes) = (shared.peer_order, shared.routes);
        let links = flight.links(routes);
        self.sent.extend(links.map(|(from, to, q)| {
            let turn = peer_order.turn(from, to) as u16;
            let met = peer_order
                .matchings(slot)
                .find(|c| c.turn == turn && c.has(from));
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
    fn note_sent(&mut self, matching: MatchingRef, out: &[Placed], shared: &Shared) {
        let (peer_order, routes): (&PeerOrder, &Routes) = (shared.peer_order, shared.routes);
        self.sent.extend(out.iter().map(|Placed { queued: q, .. }| {
            let label = self.lo + q.row();
            Sent {
                from: label as u32,
                to: peer_order.peer(label, matching.turn as usize) as u32,
                uplink: matching.uplink as u32,
                bytes: routes.bytes(q.cell()),
            }
        }));
    }
}

/// What a cell becomes that leaves by a matching of a shard whose first label is `lo`.
#[inline(always)]
fn leaving(lo: usize, matching: MatchingRef, placed: &Placed, shared: &Shared) -> Leaving {
    let Placed { queued, place } = *placed;
    let (from, destination) = (lo + queued.row(), queued.destination());
    let to = shared.peer_order.peer(from, matching.turn as usize);
    let (purpose, named) = match queued.cell().is_second() {
        true => (Purpose::Second, from),
        false if to == destination => (Purpose::Direct, to),
        false => (Purpose::Relay, to),
    };
    Leaving {
        block: (from / shared.partition.block) as u32,
        place,
        lane: lane_of(shared.partition.shard[to] as usize, purpose) as u32,
        queued: Queued::new(queued.cell(), named, destination as u16),
    }
}
