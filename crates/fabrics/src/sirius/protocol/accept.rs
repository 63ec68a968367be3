//! Acceptance of grants at the start of an epoch, when the grants of the epoch before have arrived
//! (A.3). Each grant moves one cell from LOCAL to the virtual queue for its intermediate. A node
//! sends new requests immediately after it has accepted its grants, so its part of LOCAL is read
//! from memory once per epoch.

use super::epoch::Askers;
use super::grant::FEW;
use super::matrix::{Grant, RequestMatrix, SET};
use crate::sirius::index::{Label, Row};
use crate::sirius::relay::queued::Queued;
use crate::sirius::relay::queues::RelayQueues;
use crate::sirius::relay::Queues;
use crate::sirius::schedule::next_meeting::Timetable;
use crate::sirius::shard::{Shard, Shared};

/// The requests of the nodes of a shard and the answers to them. A node that sends new requests in
/// the same step overwrites the answers that it has read.
pub(crate) struct Answers<'a> {
    /// The answers, by shard of the intermediates.
    pub matrices: &'a mut [RequestMatrix],
    /// The nodes that sent requests.
    pub askers: &'a mut Askers,
    /// Grants for which there is no cell, by shard.
    pub unused: &'a mut [Vec<Grant>],
}

/// The nodes that send requests in the new epoch, if they send them in the same step.
type Asking<'a> = Option<&'a mut Askers>;

impl Shard {
    /// Accepts the grants that arrive at the start of `slot`.
    pub(crate) fn accept(&mut self, slot: i64, shared: &Shared, answers: Answers, asking: Asking) {
        let mut queues = std::mem::take(&mut self.queues);
        match (&mut queues, shared.timetable) {
            (Queues::BySlot(queues), Some(Timetable::Rotor(rounds))) => {
                self.accept_into(answers, queues.at(rounds.at(slot), self.far), asking);
            }
            (Queues::BySlot(queues), Some(Timetable::Gratings(frame))) => {
                self.accept_into(answers, queues.at(frame.at(slot), self.far), asking);
            }
            (Queues::ByPair(queues), _) => {
                self.accept_into(answers, queues.at(shared.peer_order, self.lo), asking);
            }
            (Queues::BySlot(_), None) => unreachable!("kept by slot with a timetable only"),
        }
        self.queues = queues;
    }

    /// Row by row.
    fn accept_into(&mut self, answers: Answers, mut queues: impl RelayQueues, mut asking: Asking) {
        let Answers {
            matrices,
            askers,
            unused,
        } = answers;
        if let Some(asking) = &mut asking {
            asking.clear();
        }
        let mut asked = askers.iter().peekable();
        for row in (0..self.rows).map(Row) {
            if let Some((_, destinations)) = asked.next_if(|a| a.0 == row) {
                self.accept_row(row, destinations, matrices, unused, &mut queues);
            }
            if let Some(asking) = &mut asking {
                self.requests
                    .request_row(row, &self.local, matrices, asking, None);
            }
        }
        drop(asked);
        askers.clear();
    }

    /// Accepts the grants of a row with requests for some destinations.
    #[inline(always)]
    fn accept_row(
        &mut self,
        row: Row,
        destinations: &[Label],
        matrices: &mut [RequestMatrix],
        unused: &mut [Vec<Grant>],
        queues: &mut impl RelayQueues,
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
                first += matrix.columns();
            }
            self.found = granted;
        }
        queues.wait(row, &moving);
        self.held += moving.len() as u64;
        self.local.close(row, moving.len() as u64);
        self.moving = moving;
    }

    /// Takes the cells for the grants of a row, destination by destination, because the cells for a
    /// destination come from the same runs of LOCAL.
    #[inline(always)]
    fn take_by_destination(
        &mut self,
        row: Row,
        destinations: &[Label],
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

    /// Lists the intermediates that granted a row permission to send to `destination`; returns
    /// their number.
    #[inline(always)]
    fn list_granters(
        &mut self,
        matrix: &mut RequestMatrix,
        row: Row,
        first: usize,
        destination: Label,
    ) -> usize {
        let mut granters = 0;
        for start in (0..matrix.columns()).step_by(SET) {
            let mut set = matrix.columns_for(row, start, destination);
            while set != 0 {
                let by = first + start + set.trailing_zeros() as usize;
                self.granters[granters] = Label::new(by);
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
        row: Row,
        destination: Label,
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
                .extend((cell.seq() == 0).then_some(cell.flow_index()));
            let (now, later) = granters.split_at(cells);
            moving.extend(now.iter().map(|&by| {
                let queued = Queued::new(cell, by, destination);
                cell = cell.next();
                queued
            }));
            granters = later;
        }
    }

    /// Takes the cells for the grants of a row, one by one.
    #[inline(always)]
    fn take_each(
        &mut self,
        row: Row,
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
                self.started.push(cell.flow_index());
            }
            moving.push(Queued::new(cell, grant.by, grant.destination));
        }
    }
}
