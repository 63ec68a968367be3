//! The line that a node keeps for each other node, where it is not known in advance in
//! which slot who leaves: something may have failed, or pairs meet very often in a frame. Otherwise see [`departures`](crate::sirius::relay::by_slot).
//!
//! Every meeting takes one cell from a line at most, and as long as none is passed over
//! who stands k-th leaves at the k-th meeting from now. That is how cells are kept: not
//! line by line, but meeting by meeting. All nodes are at the same *turn* in a slot (the
//! place of the peer in the order in which a node meets its peers); those who stand k-th
//! in line for their peers of a turn form one list. A slot takes whole lists off, in
//! sequence, and idle lines cost nothing: of a line itself a byte is kept, its length and
//! which list leaves next.
//!
//! Of cells that reach a node in the same slot the order is settled by when they took
//! their places, as it is there: so a cell keeps its place. It takes it when it joins, if
//! fewer than [`STANDING`] stand before it; otherwise it stands aside until the end of a slot
//! in which it has come so far.

use crate::memory::Column;
use crate::sirius::cell::Cell;
use crate::sirius::relay::by_slot::PLACES as STANDING;
use crate::sirius::relay::lists::{append, divide};
use crate::sirius::relay::queued::{Placed, Queued};

/// Places of a turn: the lists take turns in being the first.
const RING: usize = 16;

/// Those who stand further back in their line wait beside the lists.
const PLACES: usize = RING - 1;

/// A line in a byte: how many stand in it, and in the upper half which place of its
/// turn leaves next, for who joins needs both.
#[derive(Clone, Copy)]
struct Line(u8);

impl Line {
    #[inline(always)]
    fn len(self) -> usize {
        (self.0 & 15) as usize
    }

    #[inline(always)]
    fn first(self) -> usize {
        (self.0 >> 4) as usize
    }

    /// The place that the next to join takes.
    #[inline(always)]
    fn end(self) -> usize {
        ((self.0 >> 4).wrapping_add(self.0) & 15) as usize
    }

    /// When the first place has left.
    #[inline(always)]
    fn moved_up(self) -> Line {
        Line(self.0.wrapping_add(16) - (self.0 & 15 != 0) as u8)
    }
}

/// ByPair of a range of nodes towards all nodes.
#[derive(Clone, Debug, Default)]
pub struct ByPair {
    rows: usize,
    stride: usize,
    /// By turn and row, see [`Line`]; without those beyond the last place.
    lines: Column<u8>,
    /// By place and turn: most lines are short, so those in use lie together.
    lists: Vec<Vec<Placed>>,
    /// Of each turn, those beyond the last place, as they came.
    beyond: Vec<Vec<Placed>>,
    /// Who stands aside, as they came: turn, row, and what is in place of a place.
    aside: Vec<(usize, usize, u64)>,
    /// Lists that were read: places are filled anew while they are in the cache.
    pub(crate) spare: Vec<Vec<Placed>>,
}

impl ByPair {
    /// Empty lines of `rows` nodes out of `nodes`.
    pub fn new(rows: usize, nodes: usize) -> ByPair {
        // Lengths of one row must not all fall into the same set of the cache.
        let whole = rows.next_multiple_of(64);
        let stride = whole + if whole.is_multiple_of(512) { 64 } else { 0 };
        ByPair {
            rows,
            stride,
            lines: Column::zeroed(stride * nodes),
            lists: vec![Vec::new(); nodes * RING],
            beyond: vec![Vec::new(); nodes],
            aside: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Bytes that a pair takes, without its cells.
    pub const BYTES_A_PAIR: u64 = 1;

    /// Adds a cell to the end of its line; `next` is the next place.
    pub fn push(&mut self, turn: usize, queued: Queued, next: &mut u64) {
        let mut place = *next;
        *next += 1;
        let (row, line) = (queued.row(), self.lines[turn * self.stride + queued.row()]);
        if Line(line).len() == PLACES && self.len(turn, row) >= STANDING {
            place |= Placed::ASIDE;
            self.aside.push((turn, row, place));
        }
        self.put(turn, Placed { queued, place });
    }

    /// Cells in a line that is longer than its places.
    fn len(&self, turn: usize, row: usize) -> usize {
        let beyond = self.beyond[turn].iter();
        PLACES + beyond.filter(|p| p.queued.row() == row).count()
    }

    fn put(&mut self, turn: usize, placed: Placed) {
        let line = &mut self.lines[turn * self.stride + placed.queued.row()];
        if Line(*line).len() == PLACES {
            self.beyond[turn].push(placed);
            return;
        }
        let place = Line(*line).end();
        *line += 1;
        let list = place * self.beyond.len() + turn;
        append(&mut self.lists[list], placed, &mut self.spare);
    }

    /// Those who stand aside take their places if they have come so far, from `next` on.
    #[inline(always)]
    pub fn move_up(&mut self, next: &mut u64) {
        if !self.aside.is_empty() {
            self.take_places(next);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_places(&mut self, next: &mut u64) {
        for (turn, row, aside) in std::mem::take(&mut self.aside) {
            match self.find(turn, row, aside) {
                Some((before, placed)) if before < STANDING => {
                    placed.place = *next;
                    *next += 1;
                }
                Some(_) => self.aside.push((turn, row, aside)),
                // It was called back.
                None => (),
            }
        }
    }

    /// The cell at a place, and how many stand before it in its line.
    fn find(&mut self, turn: usize, row: usize, place: u64) -> Option<(usize, &mut Placed)> {
        let before = self.line(row, turn).position(|p| p.place == place)?;
        let list = match before < Line(self.lines[turn * self.stride + row]).len() {
            true => {
                let at = self.list(turn, before);
                &mut self.lists[at]
            }
            false => &mut self.beyond[turn],
        };
        let found = list.iter_mut().find(|p| p.place == place);
        found.map(|placed| (before, placed))
    }

    /// The list of a place in line.
    #[inline(always)]
    fn list(&self, turn: usize, place: usize) -> usize {
        let first = Line(self.lines[turn * self.stride]).first();
        (first + place) % RING * self.beyond.len() + turn
    }

    /// The first of every line at `turn`.
    #[inline(always)]
    pub fn take(&mut self, turn: usize) -> Vec<Placed> {
        let at = self.list(turn, 0);
        if self.lists[at].is_empty() {
            return Vec::new();
        }
        let out = std::mem::take(&mut self.lists[at]);
        for line in &mut self.lines[turn * self.stride..][..self.rows] {
            *line = Line(*line).moved_up().0;
        }
        self.queue_again(turn);
        out
    }

    /// The first of those lines at `turn` whose rows have a bit in `rows`.
    pub fn take_some(&mut self, turn: usize, rows: &[u64]) -> Vec<Placed> {
        let mut out = Vec::new();
        let mut before = None;
        for place in 0..PLACES {
            let at = self.list(turn, place);
            let mut list = std::mem::take(&mut self.lists[at]);
            let next = match before {
                Some(before) => &mut self.lists[before],
                None => &mut out,
            };
            let from = next.len();
            divide(&mut list, next, rows, &mut self.spare);
            let moved = next.len() - from;
            self.lists[at] = list;
            // Whoever has somebody at a place has somebody at all before it.
            if moved == 0 {
                break;
            }
            before = Some(at);
        }
        let lines = &mut self.lines[turn * self.stride..][..self.rows];
        out.iter().for_each(|p| lines[p.queued.row()] -= 1);
        self.queue_again(turn);
        out
    }

    /// Those beyond the last place move up where there is room now.
    #[inline(always)]
    fn queue_again(&mut self, turn: usize) {
        if !self.beyond[turn].is_empty() {
            let beyond = std::mem::take(&mut self.beyond[turn]);
            beyond.into_iter().for_each(|placed| self.put(turn, placed));
        }
    }

    /// The line of a row, in order.
    fn line(&self, row: usize, turn: usize) -> impl Iterator<Item = Placed> + '_ {
        let line = Line(self.lines[turn * self.stride + row]);
        let of_row = move |p: &&Placed| p.queued.row() == row;
        let places = (0..line.len()).map(move |place| {
            let mut list = self.lists[self.list(turn, place)].iter();
            *list.find(of_row).expect("a line has no gaps")
        });
        places.chain(self.beyond[turn].iter().filter(of_row).copied())
    }

    /// Takes the cells out of a line that `goes` names; in order.
    #[cold]
    pub fn pull(&mut self, row: usize, turn: usize, goes: impl Fn(Cell) -> bool) -> Vec<Cell> {
        let at = turn * self.stride + row;
        if Line(self.lines[at]).len() == 0 {
            return Vec::new();
        }
        let line = self.line(row, turn);
        let (gone, kept): (Vec<_>, Vec<_>) = line.partition(|p| goes(p.queued.cell()));
        if gone.is_empty() {
            return Vec::new();
        }
        self.lines[at] &= !15;
        for place in 0..PLACES {
            let at = self.list(turn, place);
            self.lists[at].retain(|p| p.queued.row() != row);
        }
        self.beyond[turn].retain(|p| p.queued.row() != row);
        kept.into_iter().for_each(|placed| self.put(turn, placed));
        gone.into_iter().map(|p| p.queued.cell()).collect()
    }

    /// Every cell, in no special order, with the turn of its line.
    pub fn each(&self) -> impl Iterator<Item = (usize, Queued)> + '_ {
        let turns = self.beyond.len();
        let lists = self.lists.iter().enumerate();
        let lists = lists.map(move |(at, list)| (at % turns, list));
        let all = lists.chain(self.beyond.iter().enumerate());
        all.flat_map(|(turn, list)| list.iter().map(move |p| (turn, p.queued)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const ROWS: usize = 3;

    /// ByPair and, for each turn and row, a plain queue.
    struct Both {
        lines: ByPair,
        model: Vec<VecDeque<Placed>>,
        next: u64,
    }

    impl Both {
        /// What left is what the queues say, whatever the order of rows.
        fn check(&mut self, turn: usize, rows: u64, mut left: Vec<Placed>) {
            left.sort_by_key(|p| p.queued.row());
            let firsts = (0..ROWS).filter(|row| rows >> row & 1 != 0);
            let firsts = firsts.filter_map(|row| self.model[ROWS * turn + row].pop_front());
            assert_eq!(left, firsts.collect::<Vec<_>>());
        }

        fn push(&mut self, turn: usize, queued: Queued) {
            let queue = &mut self.model[ROWS * turn + queued.row()];
            let aside = if queue.len() < STANDING {
                0
            } else {
                Placed::ASIDE
            };
            let place = self.next | aside;
            queue.push_back(Placed { queued, place });
            self.lines.push(turn, queued, &mut self.next);
        }

        /// Of those who stand aside the first in all lines, one by one.
        fn move_up(&mut self) {
            let mut next = self.next;
            let near = self
                .model
                .iter_mut()
                .flat_map(|q| q.iter_mut().take(STANDING));
            let mut aside: Vec<_> = near.filter(|p| p.place & Placed::ASIDE != 0).collect();
            aside.sort_by_key(|p| p.place);
            for placed in aside {
                placed.place = next;
                next += 1;
            }
            self.lines.move_up(&mut self.next);
            assert_eq!(self.next, next);
        }

        fn agree(&self) {
            for (k, queue) in self.model.iter().enumerate() {
                let line = self.lines.line(k % ROWS, k / ROWS);
                assert_eq!(&line.collect::<VecDeque<_>>(), queue);
            }
            let all: usize = self.model.iter().map(VecDeque::len).sum();
            assert_eq!(self.lines.each().count(), all);
        }
    }

    proptest! {
        #[test]
        fn each_line_is_a_queue(
            ops in prop::collection::vec((0usize..2, 0usize..ROWS, 0u8..20), 1..900),
        ) {
            let mut both = Both {
                lines: ByPair::new(ROWS, 2),
                model: vec![VecDeque::new(); 2 * ROWS],
                next: 0,
            };
            for (seq, (turn, row, op)) in ops.into_iter().enumerate() {
                match op {
                    0 => {
                        let left = both.lines.take(turn);
                        both.check(turn, u64::MAX, left);
                    }
                    1 => {
                        let rows = 0b101 >> (seq % 2);
                        let left = both.lines.take_some(turn, &[rows]);
                        both.check(turn, rows, left);
                    }
                    2 => {
                        let goes = |c: Cell| c.seq().is_multiple_of(3);
                        let gone = both.lines.pull(row, turn, goes);
                        let queue = &mut both.model[ROWS * turn + row];
                        let (go, stay) = queue.iter().partition(|p| goes(p.queued.cell()));
                        *queue = stay;
                        let go: VecDeque<Placed> = go;
                        let go: Vec<Cell> = go.iter().map(|p| p.queued.cell()).collect();
                        prop_assert_eq!(gone, go);
                    }
                    3 => both.move_up(),
                    _ => {
                        let queued = Queued::new(Cell::new(7, seq as u32), row, 9);
                        both.push(turn, queued);
                    }
                }
                both.agree();
            }
        }
    }
}
