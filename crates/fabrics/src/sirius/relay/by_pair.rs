//! A first-in, first-out queue for each pair of nodes. It is used if the slot of a cell's departure
//! is not known in advance, because a part may have failed or pairs meet very often in a frame.
//! Otherwise [`by_slot`](super::by_slot) is used.
//!
//! Cells that reach a node in the same slot are ordered by the time at which they took their
//! places, so a cell keeps its place. It takes its place when it joins, if the queue has fewer than
//! [`PLACES`] cells. Otherwise it waits aside, and takes its place at the end of the first slot in
//! which it is among the first [`PLACES`].
//!
//! The first cell of a queue is stored in the queue itself, because most queues have no other; the
//! rest are linked through one list. Queues of a turn are adjacent, with a bit for each queue that
//! has a cell, so that empty queues are skipped.

use super::queued::{Placed, Queued};
use super::queues::{RelayQueues, PLACES};
use crate::memory::Column;
use crate::sirius::cell::Cell;
use crate::sirius::index::{Row, Turn};
use crate::sirius::prefetch::{hinted, prefetch};
use crate::sirius::schedule::peer_order::PeerOrder;
use bytemuck::{Pod, Zeroable};

/// A queue: its first cell, the indices of the second and the last in the list, and its length.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Queue {
    first: Placed,
    second: u32,
    last: u32,
    len: u32,
}

/// A cell, and the index of the next cell in its queue or of the next free entry.
#[derive(Clone, Copy, Debug, Default)]
struct Linked {
    placed: Placed,
    next: u32,
}

/// Index that means "no cell". The first entry of the list is never used.
const NONE: u32 = 0;

/// The queues of a range of nodes for all nodes.
#[derive(Clone, Debug, Default)]
pub struct ByPair {
    rows: usize,
    stride: usize,
    /// Queues by turn and row.
    queues: Column<Queue>,
    /// Words of bits a turn.
    words: usize,
    /// By turn, a bit for each row that has a cell.
    busy: Vec<u64>,
    cells: Vec<Linked>,
    /// The first free entry of the list.
    free: u32,
    /// The next place.
    next: u64,
    /// Cells that wait aside, in order of arrival: turn, row, and the value that replaces their
    /// place.
    aside: Vec<(Turn, Row, u64)>,
}

impl ByPair {
    /// Bytes of a pair without its cells, and bytes of a cell.
    pub const BYTES: (u64, u64) = (size_of::<Queue>() as u64, size_of::<Linked>() as u64);

    /// Empty queues of `rows` nodes out of `nodes`.
    pub fn new(rows: usize, nodes: usize) -> ByPair {
        // Queues of one row must not all map to the same set of the cache.
        let (stride, words) = (rows | 1, rows.div_ceil(64));
        ByPair {
            rows,
            stride,
            queues: Column::zeroed(stride * nodes),
            words,
            busy: vec![0; words * nodes],
            cells: vec![Linked::default()],
            free: NONE,
            next: 0,
            aside: Vec::new(),
        }
    }

    /// Bytes in use, counted by actual capacity.
    #[cfg(test)]
    pub fn bytes_held(&self) -> usize {
        let lists = self.cells.capacity() * size_of::<Linked>();
        let aside = self.aside.capacity() * size_of::<(Turn, Row, u64)>();
        size_of_val(&self.queues[..]) + size_of_val(&self.busy[..]) + lists + aside
    }

    /// The index of the queue that a row has for the peer at `turn`.
    #[inline(always)]
    fn pair(&self, turn: Turn, row: Row) -> usize {
        turn.index() * self.stride + row.0
    }

    /// Adds a cell to the end of its queue.
    #[inline(always)]
    pub fn push(&mut self, turn: Turn, row: Row, queued: Queued) {
        let mut place = self.next;
        self.next += 1;
        if self.queues[self.pair(turn, row)].len as usize >= PLACES {
            place |= Placed::ASIDE;
            self.aside.push((turn, row, place));
        }
        self.append(turn, row, Placed { queued, place });
    }

    /// Adds a cell that already has its place.
    #[inline(always)]
    fn append(&mut self, turn: Turn, row: Row, placed: Placed) {
        let pair = self.pair(turn, row);
        let queue = &mut self.queues[pair];
        queue.len += 1;
        if queue.len == 1 {
            queue.first = placed;
            self.busy[turn.index() * self.words + row.0 / 64] |= 1 << (row.0 % 64);
            return;
        }
        let linked = Linked { placed, next: NONE };
        let at = match self.free {
            NONE => {
                self.cells.push(linked);
                self.cells.len() as u32 - 1
            }
            free => {
                self.free = std::mem::replace(&mut self.cells[free as usize], linked).next;
                free
            }
        };
        match queue.len {
            2 => queue.second = at,
            _ => self.cells[queue.last as usize].next = at,
        }
        queue.last = at;
    }

    /// Takes the first cell of every queue at `turn`, or of those whose rows have a bit in
    /// `rows`.
    #[inline(always)]
    pub fn take(&mut self, turn: Turn, rows: Option<&[u64]>, mut leaves: impl FnMut(Row, Placed)) {
        for word in 0..self.words {
            let chosen = rows.map_or(u64::MAX, |rows| rows[word]);
            let set = self.busy[turn.index() * self.words + word] & chosen;
            // The second cells are anywhere in the list: prefetch all of them before any is read.
            for row in bits(64 * word, set) {
                let queue = &self.queues[self.pair(turn, row)];
                prefetch(&self.cells, queue.second as usize);
            }
            for row in bits(64 * word, set) {
                leaves(row, self.pop(turn, row));
            }
        }
    }

    /// Hints that cells are going to leave at `turn`.
    #[inline(always)]
    pub fn prefetch(&self, turn: Turn) {
        let words = self.busy.get(turn.index() * self.words..).unwrap_or(&[]);
        for (word, &set) in words.iter().take(self.words).enumerate() {
            for row in bits(64 * word, set) {
                self.prefetch_pair(turn, row);
            }
        }
    }

    /// Hints that a queue will be used soon.
    #[inline(always)]
    fn prefetch_pair(&self, turn: Turn, row: Row) {
        prefetch(&self.queues, self.pair(turn, row));
    }

    /// Takes the first cell of a queue that has one.
    #[inline(always)]
    fn pop(&mut self, turn: Turn, row: Row) -> Placed {
        let pair = self.pair(turn, row);
        let queue = &mut self.queues[pair];
        let first = queue.first;
        queue.len -= 1;
        if queue.len == 0 {
            self.busy[turn.index() * self.words + row.0 / 64] &= !(1 << (row.0 % 64));
            return first;
        }
        let (at, free) = (queue.second, self.free);
        let second = &mut self.cells[at as usize];
        (queue.first, queue.second) = (second.placed, second.next);
        (second.next, self.free) = (free, at);
        first
    }

    /// Gives places to the cells that wait aside and are now among the first [`PLACES`] of their
    /// queue.
    #[cold]
    #[inline(never)]
    fn take_places(&mut self) {
        for (turn, row, aside) in std::mem::take(&mut self.aside) {
            let before = self.queue(turn, row).position(|p| p.place == aside);
            match before {
                Some(before) if before < PLACES => {
                    self.placed(turn, row, before).place = self.next;
                    self.next += 1;
                }
                Some(_) => self.aside.push((turn, row, aside)),
                // The cell has been called back.
                None => (),
            }
        }
    }

    /// The cell with `before` cells ahead of it.
    fn placed(&mut self, turn: Turn, row: Row, before: usize) -> &mut Placed {
        let pair = self.pair(turn, row);
        let queue = &mut self.queues[pair];
        let (mut at, Some(rest)) = (queue.second as usize, before.checked_sub(1)) else {
            return &mut queue.first;
        };
        (0..rest).for_each(|_| at = self.cells[at].next as usize);
        &mut self.cells[at].placed
    }

    /// A queue, in order.
    fn queue(&self, turn: Turn, row: Row) -> impl Iterator<Item = Placed> + '_ {
        let queue = self.queues[self.pair(turn, row)];
        let first = (queue.len > 0).then_some(queue.first);
        let next = |at: &usize| Some(self.cells[*at].next as usize);
        let later = std::iter::successors(Some(queue.second as usize), next);
        let later = later.take((queue.len as usize).saturating_sub(1));
        first
            .into_iter()
            .chain(later.map(|at| self.cells[at].placed))
    }

    /// Removes the cells for which `goes` is true from a queue; returns them in order.
    #[cold]
    pub fn pull(&mut self, turn: Turn, row: Row, goes: impl Fn(Cell) -> bool) -> Vec<Cell> {
        if !self.queue(turn, row).any(|p| goes(p.queued.cell())) {
            return Vec::new();
        }
        let mut gone = Vec::new();
        for _ in 0..self.queues[self.pair(turn, row)].len {
            let placed = self.pop(turn, row);
            match goes(placed.queued.cell()) {
                true => gone.push(placed.queued.cell()),
                false => self.append(turn, row, placed),
            }
        }
        gone
    }

    /// All cells; those of one queue in order.
    pub fn each(&self) -> impl Iterator<Item = Queued> + '_ {
        self.all().map(|(_, placed)| placed.queued)
    }

    /// All cells with the rows at which they wait, in the order in which they took their places;
    /// then those that are set aside, in order of arrival.
    pub fn in_order(&self) -> Vec<(Row, Queued)> {
        let mut all: Vec<(Row, Placed)> = self.all().collect();
        all.sort_unstable_by_key(|cell| cell.1.place);
        all.into_iter().map(|(row, p)| (row, p.queued)).collect()
    }

    fn all(&self) -> impl Iterator<Item = (Row, Placed)> + '_ {
        let turns = self.queues.len().checked_div(self.stride).unwrap_or(0);
        let rows = |turn| (0..self.rows).map(move |row| (turn, Row(row)));
        let all = Turn::all(turns).flat_map(rows);
        all.flat_map(|(turn, row)| self.queue(turn, row).map(move |placed| (row, placed)))
    }

    /// The queues under a schedule, for nodes from `lo` on.
    pub fn at<'a>(&'a mut self, peer_order: &'a PeerOrder, lo: usize) -> ByPairAt<'a> {
        ByPairAt {
            queues: self,
            peer_order,
            lo,
        }
    }
}

/// The rows whose bits are set, from row `first` on.
#[inline(always)]
fn bits(first: usize, set: u64) -> impl Iterator<Item = Row> {
    let later = |set: &u64| Some(set & (set - 1)).filter(|&set| set != 0);
    let sets = std::iter::successors(Some(set).filter(|&set| set != 0), later);
    sets.map(move |set| Row(first + set.trailing_zeros() as usize))
}

/// [`ByPair`] with the order in which nodes meet.
pub struct ByPairAt<'a> {
    queues: &'a mut ByPair,
    peer_order: &'a PeerOrder,
    lo: usize,
}

impl RelayQueues for ByPairAt<'_> {
    fn wait(&mut self, row: Row, granted: &[Queued]) {
        let (peer_order, from) = (self.peer_order, row.label(self.lo));
        let turn = |q: &Queued| peer_order.turn_of(from, q.intermediate());
        let hint = |queues: &&mut ByPair, q: &Queued| queues.prefetch_pair(turn(q), row);
        hinted(granted, &mut self.queues, hint, |queues, q| {
            queues.push(turn(q), row, *q);
        });
    }

    fn move_up(&mut self) {
        if !self.queues.aside.is_empty() {
            self.queues.take_places();
        }
    }

    fn relay(&mut self, arrived: &[Queued]) {
        let (peer_order, lo) = (self.peer_order, self.lo);
        let pair = |q: &Queued| {
            let (by, to) = (q.intermediate(), q.destination());
            (peer_order.turn_of(by, to), Row::of(by, lo))
        };
        let hint = |queues: &&mut ByPair, q: &Queued| {
            let (turn, row) = pair(q);
            queues.prefetch_pair(turn, row);
        };
        hinted(arrived, &mut self.queues, hint, |queues, q| {
            let (turn, row) = pair(q);
            queues.push(turn, row, q.relayed());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sirius::index::Label;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const ROWS: usize = 3;

    /// The queues, and a plain queue for each turn and row.
    struct Both {
        queues: ByPair,
        model: Vec<VecDeque<Placed>>,
        next: u64,
    }

    impl Both {
        fn take(&mut self, turn: Turn, rows: Option<u64>) {
            let mut left = Vec::new();
            let words = rows.map(|rows| [rows]);
            let rows_of = words.as_ref().map(|w| &w[..]);
            self.queues
                .take(turn, rows_of, |row, placed| left.push((row, placed)));
            let chosen = (0..ROWS).filter(|row| rows.unwrap_or(u64::MAX) >> row & 1 != 0);
            let firsts = chosen.filter_map(|row| {
                let first = self.model[ROWS * turn.index() + row].pop_front();
                first.map(|placed| (Row(row), placed))
            });
            assert_eq!(left, firsts.collect::<Vec<_>>());
        }

        fn push(&mut self, turn: Turn, row: Row, queued: Queued) {
            let queue = &mut self.model[ROWS * turn.index() + row.0];
            let aside = if queue.len() < PLACES {
                0
            } else {
                Placed::ASIDE
            };
            let place = self.next | aside;
            self.next += 1;
            queue.push_back(Placed { queued, place });
            self.queues.push(turn, row, queued);
        }

        fn pull(&mut self, turn: Turn, row: Row, goes: impl Fn(Cell) -> bool) {
            let gone = self.queues.pull(turn, row, &goes);
            let queue = &mut self.model[ROWS * turn.index() + row.0];
            let (go, stay) = queue.iter().partition(|p| goes(p.queued.cell()));
            *queue = stay;
            let go: VecDeque<Placed> = go;
            assert_eq!(gone, go.iter().map(|p| p.queued.cell()).collect::<Vec<_>>());
        }

        /// Gives places to the cells that wait aside among the first PLACES of each queue, in order
        /// of arrival.
        fn move_up(&mut self) {
            let near = self
                .model
                .iter_mut()
                .flat_map(|q| q.iter_mut().take(PLACES));
            let mut aside: Vec<_> = near.filter(|p| p.place & Placed::ASIDE != 0).collect();
            aside.sort_by_key(|p| p.place);
            for placed in aside {
                placed.place = self.next;
                self.next += 1;
            }
            self.queues.take_places();
        }

        fn agree(&self) {
            for (k, queue) in self.model.iter().enumerate() {
                let (turn, row) = (Turn((k / ROWS) as u16), Row(k % ROWS));
                let found: VecDeque<Placed> = self.queues.queue(turn, row).collect();
                assert_eq!(&found, queue);
            }
            assert_eq!(self.queues.next, self.next);
            let all: usize = self.model.iter().map(VecDeque::len).sum();
            assert_eq!(self.queues.each().count(), all);
        }
    }

    proptest! {
        #[test]
        fn each_is_a_queue(
            ops in prop::collection::vec((0u16..2, 0usize..ROWS, 0u8..20), 1..900),
        ) {
            let mut both = Both {
                queues: ByPair::new(ROWS, 2),
                model: vec![VecDeque::new(); 2 * ROWS],
                next: 0,
            };
            for (seq, (turn, row, op)) in ops.into_iter().enumerate() {
                let (turn, row) = (Turn(turn), Row(row));
                match op {
                    0 => both.take(turn, None),
                    1 => both.take(turn, Some(0b101 >> (seq % 2))),
                    2 => both.pull(turn, row, |c| c.seq().is_multiple_of(3)),
                    3 => both.move_up(),
                    _ => {
                        let cell = Cell::new(7, seq as u32);
                        both.push(turn, row, Queued::new(cell, row.label(0), Label(9)));
                    }
                }
                both.agree();
            }
        }
    }
}
