//! An epoch begins: the grants of the one before have arrived (A.3). Each moves one cell
//! from LOCAL to the virtual queue for its intermediate. Whoever has taken up its grants
//! asks anew, so that what it has in LOCAL is fetched from memory once an epoch.

use crate::sirius::protocol::epoch::Askers;
use crate::sirius::protocol::grant::FEW;
use crate::sirius::protocol::matrix::{Grant, RequestMatrix, SET};
use crate::sirius::relay::by_pair::ByPair;
use crate::sirius::relay::by_slot::BySlot;
use crate::sirius::relay::queued::Queued;
use crate::sirius::schedule::next_meeting::{NextMeeting, Timetable};
use crate::sirius::schedule::peer_order::PeerOrder;
use crate::sirius::shard::{Shard, Shared};

/// The virtual queues of a range of nodes.
trait VirtualQueues {
    /// Granted cells of `row` join the queues for their intermediates, which are named in
    /// place of rows.
    fn wait(&mut self, row: usize, granted: &[Queued]);

    /// Hints that cells of `row` are going to wait.
    fn prefetch(&self, _row: usize) {}
}

/// Those of which it is known when a cell leaves.
struct BySlotAt<'a, M> {
    by_slot: &'a mut BySlot,
    meetings: M,
    lo: usize,
}

impl<M: NextMeeting> VirtualQueues for BySlotAt<'_, M> {
    #[inline(always)]
    fn wait(&mut self, row: usize, granted: &[Queued]) {
        self.by_slot.wait(self.meetings, self.lo + row, granted);
    }

    fn prefetch(&self, row: usize) {
        self.by_slot.prefetch(row);
    }
}

/// The others.
struct ByPairAt<'a> {
    by_pair: &'a mut ByPair,
    peer_order: &'a PeerOrder,
    lo: usize,
    next_place: u64,
}

impl VirtualQueues for ByPairAt<'_> {
    fn wait(&mut self, row: usize, granted: &[Queued]) {
        for q in granted {
            let (by, destination) = (q.row(), q.destination());
            let queued = Queued::new(q.cell(), row, destination as u16);
            let turn = self.peer_order.turn(self.lo + row, by);
            self.by_pair.push(turn, queued, &mut self.next_place);
        }
    }
}

/// What the nodes of a shard have asked for, and what becomes of it. Whoever asks at once
/// writes over the answers that it has read.
pub(crate) struct Answers<'a> {
    /// The answers, by shard of the intermediates.
    pub matrices: &'a mut [RequestMatrix],
    /// Who asked.
    pub askers: &'a mut Askers,
    /// Grants that find no cell, by shard.
    pub unused: &'a mut [Vec<Grant>],
}

/// Who asks in the epoch that begins, if they do so at once.
type Asking<'a> = Option<&'a mut Askers>;

impl Shard {
    /// Takes up the grants that arrive at the start of `slot`.
    pub(crate) fn accept(&mut self, slot: i64, shared: &Shared, answers: Answers, asking: Asking) {
        match (self.by_slot.take(), shared.timetable) {
            (Some(mut by_slot), Some(timetable)) => {
                match timetable {
                    Timetable::Rotor(rounds) => {
                        self.accept_by_slot(answers, &mut by_slot, rounds.at(slot), asking);
                    }
                    Timetable::Gratings(frame) => {
                        self.accept_by_slot(answers, &mut by_slot, frame.at(slot), asking);
                    }
                }
                self.by_slot = Some(by_slot);
            }
            _ => self.accept_by_pair(shared, answers, asking),
        }
    }

    fn accept_by_slot(
        &mut self,
        answers: Answers,
        by_slot: &mut BySlot,
        meetings: impl NextMeeting,
        asking: Asking,
    ) {
        let queues = &mut BySlotAt {
            by_slot,
            meetings,
            lo: self.lo,
        };
        self.accept_into(answers, queues, asking);
    }

    fn accept_by_pair(&mut self, shared: &Shared, answers: Answers, asking: Asking) {
        let mut by_pair = std::mem::take(&mut self.by_pair);
        let queues = &mut ByPairAt {
            by_pair: &mut by_pair,
            peer_order: shared.peer_order,
            lo: self.lo,
            next_place: self.next_place,
        };
        self.accept_into(answers, queues, asking);
        self.next_place = queues.next_place;
        self.by_pair = by_pair;
    }

    /// Row by row.
    fn accept_into(
        &mut self,
        answers: Answers,
        queues: &mut impl VirtualQueues,
        mut asking: Asking,
    ) {
        let Answers {
            matrices,
            askers,
            unused,
        } = answers;
        if let Some(asking) = &mut asking {
            asking.clear();
        }
        let mut asked = askers.iter().peekable();
        for row in 0..self.rows {
            if let Some((_, destinations)) = asked.next_if(|a| a.0 as usize == row) {
                self.accept_row(row, destinations, matrices, unused, queues);
            }
            if let Some(asking) = &mut asking {
                self.request_row(row, matrices, asking, None);
            }
        }
        drop(asked);
        askers.clear();
    }

    /// Takes up the grants of a row that asked for some destinations.
    #[inline(always)]
    fn accept_row(
        &mut self,
        row: usize,
        destinations: &[u16],
        matrices: &mut [RequestMatrix],
        unused: &mut [Vec<Grant>],
        queues: &mut impl VirtualQueues,
    ) {
        let mut moving = std::mem::take(&mut self.moving);
        moving.clear();
        self.local.open(row);
        if self.far {
            queues.prefetch(row);
        }
        if destinations.len() <= FEW {
            self.take_by_destination(row, destinations, matrices, unused, &mut moving);
        } else {
            let mut granted = std::mem::take(&mut self.found);
            let mut first = 0;
            for (matrix, unused) in matrices.iter_mut().zip(unused) {
                let n = matrix.list_grants(row, first, self.nodes as u16, &mut granted);
                self.take_each(row, &granted[..n], unused, &mut moving);
                first += matrix.columns() as u16;
            }
            self.found = granted;
        }
        queues.wait(row, &moving);
        self.held += moving.len() as u64;
        self.local.close(row, moving.len() as u64);
        self.moving = moving;
    }

    /// The cells for the grants of a row, destination by destination: all come from the
    /// same runs of LOCAL.
    #[inline(always)]
    fn take_by_destination(
        &mut self,
        row: usize,
        destinations: &[u16],
        matrices: &mut [RequestMatrix],
        unused: &mut [Vec<Grant>],
        moving: &mut Vec<Queued>,
    ) {
        for &destination in destinations {
            let mut first = 0;
            for (matrix, unused) in matrices.iter_mut().zip(&mut *unused) {
                let granters = self.list_granters(matrix, row, first, destination);
                self.take_runs(row, destination, granters, unused, moving);
                first += matrix.columns();
            }
        }
    }

    /// Lists those who granted a row leave to send to `destination`; returns how many.
    #[inline(always)]
    fn list_granters(
        &mut self,
        matrix: &mut RequestMatrix,
        row: usize,
        first: usize,
        destination: u16,
    ) -> usize {
        let mut granters = 0;
        for start in (0..matrix.columns()).step_by(SET) {
            let mut set = matrix.columns_for(row, start, destination);
            while set != 0 {
                let by = first + start + set.trailing_zeros() as usize;
                self.granters[granters] = by as u16;
                granters += 1;
                set &= set - 1;
            }
        }
        granters
    }

    /// Takes a cell for each of the first `granters` from LOCAL.
    #[inline(always)]
    fn take_runs(
        &mut self,
        row: usize,
        destination: u16,
        granters: usize,
        unused: &mut Vec<Grant>,
        moving: &mut Vec<Queued>,
    ) {
        let mut granters = &self.granters[..granters];
        while !granters.is_empty() {
            let (mut cell, cells) = self.local.take_run(row, destination, granters.len());
            if cells == 0 {
                unused.extend(granters.iter().map(|&by| Grant { by, destination }));
                return;
            }
            self.started
                .extend((cell.seq() == 0).then_some(cell.rank()));
            let (now, later) = granters.split_at(cells);
            moving.extend(now.iter().map(|&by| {
                let queued = Queued::new(cell, by as usize, destination);
                cell = cell.next();
                queued
            }));
            granters = later;
        }
    }

    /// The cells for the grants of a row, one by one.
    #[inline(always)]
    fn take_each(
        &mut self,
        row: usize,
        grants: &[Grant],
        unused: &mut Vec<Grant>,
        moving: &mut Vec<Queued>,
    ) {
        for grant in grants {
            let Some(cell) = self.local.take(row, grant.destination) else {
                unused.push(*grant);
                continue;
            };
            if cell.seq() == 0 {
                self.started.push(cell.rank());
            }
            moving.push(Queued::new(cell, grant.by as usize, grant.destination));
        }
    }
}
