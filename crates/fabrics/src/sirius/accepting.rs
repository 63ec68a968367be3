//! An epoch begins: the grants of the one before have arrived (A.3). Each moves one cell
//! from LOCAL to the virtual queue for its intermediate.

use super::book::{list_grants, Askers, Grant};
use super::cell::Cell;
use super::config::{GrantServes, QueueMetric};
use super::departures::Joining;
use super::grants::{Tile, FEW, SET};
use super::lines::{Lines, Queued};
use super::local::{Local, Taken};
use super::mail::to_box;
use super::meetings::{Meetings, RoundAt, Timetable};
use super::shard::{Shard, Ways};
use super::topology::Visits;

/// The virtual queues of a range of nodes.
trait VirtualQueues {
    /// A cell of `row` waits for its meeting with `by`, a node of `shard`.
    fn push(&mut self, row: usize, cell: Cell, by: usize, destination: u16, shard: usize);
}

/// Those of which it is known when a cell leaves.
struct BySlot<'a, M> {
    lines: Joining<'a, M>,
    /// First label.
    lo: usize,
}

impl<M: Meetings> VirtualQueues for BySlot<'_, M> {
    #[inline(always)]
    fn push(&mut self, row: usize, cell: Cell, by: usize, destination: u16, shard: usize) {
        let direct = by == destination as usize;
        let queued = Queued::new(cell, if direct { row } else { by }, destination);
        let from = (row, self.lo + row);
        self.lines.join(from, by, queued, to_box(shard, direct));
    }
}

/// The others.
struct ByTurn<'a> {
    lines: &'a mut Lines,
    visits: &'a Visits,
    lo: usize,
}

impl VirtualQueues for ByTurn<'_> {
    fn push(&mut self, row: usize, cell: Cell, by: usize, destination: u16, shard: usize) {
        let to = to_box(shard, by == destination as usize);
        let turn = self.visits.turn(self.lo + row, by);
        self.lines.push(turn, Queued::new(cell, row, destination), to);
    }
}

/// What the nodes of a shard have asked for, and what becomes of it.
pub(super) struct Answers<'a> {
    /// The answers, by shard of the intermediates.
    pub tiles: &'a mut [Tile],
    /// Who asked.
    pub askers: &'a mut Askers,
    /// Grants that find no cell, by shard.
    pub unused: &'a mut [Vec<Grant>],
}

impl Shard {
    /// Takes up the grants that arrive at the start of `slot`.
    pub(super) fn accept(&mut self, slot: i64, ways: &Ways, answers: Answers) {
        let (lo, visits) = (self.lo, ways.visits);
        match (self.departures.take(), ways.timetable) {
            (Some(mut departures), Some(timetable)) => {
                match timetable {
                    Timetable::Rotor(rr) => {
                        let lines = departures.open(RoundAt::new(*rr, slot));
                        self.accept_into(answers, &mut BySlot { lines, lo });
                    }
                    Timetable::Gratings(frame) => {
                        let lines = departures.open(frame.at(slot));
                        self.accept_into(answers, &mut BySlot { lines, lo });
                    }
                }
                self.departures = Some(departures);
            }
            _ => {
                let lines = self.granted.as_mut().unwrap_or(&mut self.lines);
                let mut lines = std::mem::take(lines);
                let queues = &mut ByTurn { lines: &mut lines, visits, lo };
                self.accept_into(answers, queues);
                *self.granted.as_mut().unwrap_or(&mut self.lines) = lines;
            }
        }
    }

    fn accept_into(&mut self, answers: Answers, queues: &mut impl VirtualQueues) {
        let Answers { tiles, askers, unused } = answers;
        let mut granted = std::mem::take(&mut self.found);
        let by_destination = self.serves == GrantServes::Fifo && !self.requests.suppressed();
        for (row, destinations) in askers.iter() {
            let row = row as usize;
            if by_destination && destinations.len() <= FEW {
                self.accept_by_destination(row, destinations, queues, tiles, unused);
                continue;
            }
            let mut first = 0;
            for (shard, tile) in tiles.iter_mut().enumerate() {
                let wants = tile.row(row);
                if self.requests.suppressed() {
                    self.requests.answered(row, wants);
                }
                let n = list_grants(wants, self.nodes as u16, first, &mut granted);
                self.accept_row(row, shard, &granted[..n], queues, &mut unused[shard]);
                first += wants.len() as u16;
            }
        }
        askers.clear();
        self.found = granted;
    }

    /// The grants of a row, destination by destination: all cells come from the
    /// same runs of LOCAL.
    #[inline(always)]
    fn accept_by_destination(
        &mut self,
        row: usize,
        destinations: &[u16],
        queues: &mut impl VirtualQueues,
        tiles: &mut [Tile],
        unused: &mut [Vec<Grant>],
    ) {
        let mut moved = 0;
        for &destination in destinations {
            let (mut first, mut cells) = (0, Taken::default());
            for (shard, tile) in tiles.iter_mut().enumerate() {
                for start in (0..tile.columns()).step_by(SET) {
                    let mut set = tile.columns_for(row, start, destination);
                    while set != 0 {
                        let by = first + start + set.trailing_zeros() as usize;
                        set &= set - 1;
                        if cells.is_empty() {
                            if !cells.is_last() {
                                cells = self.local.next_run(row, destination, cells);
                                self.started.extend(cells.starts());
                            }
                            if cells.is_last() {
                                let by = by as u16;
                                unused[shard].push(Grant { by, destination });
                                continue;
                            }
                        }
                        queues.push(row, cells.pop(), by, destination, shard);
                        moved += 1;
                    }
                }
                first += tile.columns();
            }
            self.local.put_back(row, cells);
        }
        self.count_granted(row, moved);
    }

    /// The grants of a row by the nodes of `shard`, cell by cell.
    #[inline(always)]
    fn accept_row(
        &mut self,
        row: usize,
        shard: usize,
        grants: &[Grant],
        queues: &mut impl VirtualQueues,
        unused: &mut Vec<Grant>,
    ) {
        let (local, rng): (&mut Local, _) = (&mut self.local, &mut self.rng[row]);
        let mut moved = 0;
        for grant in grants {
            let Some(cell) = local.take(row, grant.destination, self.serves, rng) else {
                unused.push(*grant);
                continue;
            };
            if cell.seq() == 0 {
                self.started.push(cell.rank());
            }
            queues.push(row, cell, grant.by as usize, grant.destination, shard);
            moved += 1;
        }
        self.count_granted(row, moved);
    }

    /// Cells of a row went from LOCAL to the virtual queues.
    #[inline(always)]
    fn count_granted(&mut self, row: usize, moved: u64) {
        self.held += moved;
        self.local.left(row, moved);
        if self.metric != QueueMetric::Relay {
            self.promised[row] += moved as u32;
        }
    }
}
