//! The line that a node keeps for each other node, where it is not known in advance in
//! which slot who leaves: second hops go first (`hop_order`), something may have failed,
//! or pairs meet very often in a frame. Otherwise see [`departures`](super::departures).
//!
//! Every meeting takes one cell from a line at most, and as long as none is passed over
//! who stands k-th leaves at the k-th meeting from now. That is how cells are kept: not
//! line by line, but meeting by meeting. All nodes are at the same *turn* in a slot (the
//! place of the peer in the order in which a node meets its peers); those who stand k-th
//! in line for their peers of a turn form one list. A slot takes whole lists off, in
//! sequence, and idle lines cost nothing: of a line itself a byte is kept, its length and
//! which list leaves next.
//!
//! Each list is divided by where its cells go (*boxes*): to which shard, and
//! whether that is their destination.

use super::cell::Cell;
use super::lists::{append, divide};
use super::queued::Queued;
use crate::memory::Column;

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

/// Lines of a range of nodes towards all nodes.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    rows: usize,
    boxes: usize,
    stride: usize,
    /// By turn and row, see [`Line`]; without those beyond the last place.
    lines: Column<u8>,
    /// By place, turn and box: most lines are short, so those in use lie together.
    lists: Vec<Vec<Queued>>,
    /// Of each turn, those beyond the last place, with their boxes, as they came.
    beyond: Vec<Vec<(Queued, u16)>>,
    /// Lists that were read: places are filled anew while they are in the cache.
    pub(super) spare: Vec<Vec<Queued>>,
}

impl Lines {
    /// Empty lines of `rows` nodes out of `nodes`.
    pub fn new(rows: usize, nodes: usize, boxes: usize) -> Lines {
        // Lengths of one row must not all fall into the same set of the cache.
        let whole = rows.next_multiple_of(64);
        let stride = whole + if whole.is_multiple_of(512) { 64 } else { 0 };
        Lines {
            rows,
            boxes,
            stride,
            lines: Column::zeroed(stride * nodes),
            lists: vec![Vec::new(); nodes * RING * boxes],
            beyond: vec![Vec::new(); nodes],
            spare: Vec::new(),
        }
    }

    /// Bytes that a pair takes, without its cells.
    pub const BYTES_A_PAIR: u64 = 1;

    /// Adds a cell to the end of its line.
    pub fn push(&mut self, turn: usize, queued: Queued, to: usize) {
        let line = &mut self.lines[turn * self.stride + queued.row()];
        if Line(*line).len() == PLACES {
            self.beyond[turn].push((queued, to as u16));
            return;
        }
        let place = Line(*line).end();
        *line += 1;
        let list = (place * self.beyond.len() + turn) * self.boxes + to;
        append(&mut self.lists[list], queued, &mut self.spare);
    }

    /// The first box of a place in line.
    #[inline(always)]
    fn list(&self, turn: usize, place: usize) -> usize {
        let first = Line(self.lines[turn * self.stride]).first();
        ((first + place) % RING * self.beyond.len() + turn) * self.boxes
    }

    /// The first of every line at `turn`, into empty boxes.
    #[inline(always)]
    pub fn take(&mut self, turn: usize, out: &mut [Vec<Queued>]) {
        let at = self.list(turn, 0);
        let lists = &mut self.lists[at..at + self.boxes];
        if lists.iter().all(Vec::is_empty) {
            return;
        }
        lists.swap_with_slice(out);
        for line in &mut self.lines[turn * self.stride..][..self.rows] {
            *line = Line(*line).moved_up().0;
        }
        self.move_up(turn);
    }

    /// The first of those lines at `turn` whose rows have a bit in `rows`.
    pub fn take_some(&mut self, turn: usize, rows: &[u64], out: &mut [Vec<Queued>]) {
        let (mut going, mut before) = (0, None);
        for place in 0..PLACES {
            let at = self.list(turn, place);
            let moved = going;
            for (b, out) in out.iter_mut().enumerate() {
                let mut list = std::mem::take(&mut self.lists[at + b]);
                let next = match before {
                    Some(before) => &mut self.lists[before + b],
                    None => &mut *out,
                };
                let from = next.len();
                divide(&mut list, next, rows, &mut self.spare);
                going += next.len() - from;
                if before.is_none() {
                    let lines = &mut self.lines[turn * self.stride..][..self.rows];
                    next[from..].iter().for_each(|q| lines[q.row()] -= 1);
                }
                self.lists[at + b] = list;
            }
            // Whoever has somebody at a place has somebody at all before it.
            if going == moved {
                break;
            }
            before = Some(at);
        }
        self.move_up(turn);
    }

    /// Those beyond the last place move up where there is room now.
    #[inline(always)]
    fn move_up(&mut self, turn: usize) {
        if !self.beyond[turn].is_empty() {
            self.queue_again(turn);
        }
    }

    #[cold]
    #[inline(never)]
    fn queue_again(&mut self, turn: usize) {
        for (queued, to) in std::mem::take(&mut self.beyond[turn]) {
            self.push(turn, queued, to as usize);
        }
    }

    /// A bit for each row that has a cell in line at `turn`.
    pub fn busy(&self, turn: usize, rows: &mut [u64]) {
        rows.fill(0);
        let lines = &self.lines[turn * self.stride..][..self.rows];
        for (row, &line) in lines.iter().enumerate() {
            rows[row / 64] |= ((Line(line).len() > 0) as u64) << (row % 64);
        }
    }

    /// The line of a row, in order, with its boxes.
    fn line(&self, row: usize, turn: usize) -> impl Iterator<Item = (Queued, u16)> + '_ {
        let line = Line(self.lines[turn * self.stride + row]);
        let places = (0..line.len()).map(move |place| {
            let lists = &self.lists[self.list(turn, place)..][..self.boxes];
            let found = (0..).zip(lists).find_map(|(to, list)| {
                let queued = list.iter().find(|q| q.row() == row);
                queued.map(|&q| (q, to))
            });
            found.expect("a line has no gaps")
        });
        let beyond = self.beyond[turn].iter().copied();
        places.chain(beyond.filter(move |q| q.0.row() == row))
    }

    /// Takes the cells out of a line that `goes` names; in order.
    #[cold]
    pub fn pull(&mut self, row: usize, turn: usize, goes: impl Fn(Cell) -> bool) -> Vec<Cell> {
        let at = turn * self.stride + row;
        if Line(self.lines[at]).len() == 0 {
            return Vec::new();
        }
        let (gone, kept): (Vec<_>, Vec<_>) = self.line(row, turn).partition(|q| goes(q.0.cell()));
        if gone.is_empty() {
            return Vec::new();
        }
        self.lines[at] &= !15;
        for place in 0..PLACES {
            let at = self.list(turn, place);
            let lists = &mut self.lists[at..at + self.boxes];
            lists.iter_mut().for_each(|l| l.retain(|q| q.row() != row));
        }
        self.beyond[turn].retain(|q| q.0.row() != row);
        for (queued, to) in kept {
            self.push(turn, queued, to as usize);
        }
        gone.into_iter().map(|q| q.0.cell()).collect()
    }

    /// Every cell, in no special order, with the turn of its line.
    pub fn each(&self) -> impl Iterator<Item = (usize, Queued)> + '_ {
        let lists = self.lists.iter().enumerate();
        let placed = lists.flat_map(|(at, list)| {
            let turn = at / self.boxes % self.beyond.len();
            list.iter().map(move |&q| (turn, q))
        });
        let beyond = self.beyond.iter().enumerate();
        placed.chain(beyond.flat_map(|(turn, list)| list.iter().map(move |q| (turn, q.0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const ROWS: usize = 3;

    /// Lines and, for each turn and row, a plain queue.
    struct Both {
        lines: Lines,
        model: Vec<VecDeque<Queued>>,
    }

    impl Both {
        /// What left is what the queues say, whatever the order of rows.
        fn check(&mut self, turn: usize, rows: u64, out: &[Vec<Queued>]) {
            let mut left: Vec<(Queued, usize)> = Vec::new();
            for (to, list) in out.iter().enumerate() {
                left.extend(list.iter().map(|&q| (q, to)));
            }
            left.sort_by_key(|q| q.0.row());
            let firsts = (0..ROWS).filter(|row| rows >> row & 1 != 0);
            let firsts = firsts.filter_map(|row| self.model[ROWS * turn + row].pop_front());
            let firsts: Vec<_> = firsts.map(|q| (q, to(q.cell()))).collect();
            assert_eq!(left, firsts);
        }

        fn agree(&self) {
            for (k, queue) in self.model.iter().enumerate() {
                let line = self.lines.line(k % ROWS, k / ROWS).map(|q| q.0);
                assert_eq!(&line.collect::<VecDeque<_>>(), queue);
            }
            let all: usize = self.model.iter().map(VecDeque::len).sum();
            assert_eq!(self.lines.each().count(), all);
        }
    }

    /// Any rule that stays with the cell.
    fn to(cell: Cell) -> usize {
        cell.seq() as usize % 2
    }

    proptest! {
        #[test]
        fn each_line_is_a_queue(
            ops in prop::collection::vec((0usize..2, 0usize..ROWS, 0u8..12), 1..600),
        ) {
            let mut both = Both {
                lines: Lines::new(ROWS, 2, 2),
                model: vec![VecDeque::new(); 2 * ROWS],
            };
            for (seq, (turn, row, op)) in ops.into_iter().enumerate() {
                let mut out = vec![Vec::new(); 2];
                match op {
                    0 => {
                        both.lines.take(turn, &mut out);
                        both.check(turn, u64::MAX, &out);
                    }
                    1 => {
                        let rows = 0b101 >> (seq % 2);
                        both.lines.take_some(turn, &[rows], &mut out);
                        both.check(turn, rows, &out);
                    }
                    2 => {
                        let goes = |c: Cell| c.seq().is_multiple_of(3);
                        let gone = both.lines.pull(row, turn, goes);
                        let queue = &mut both.model[ROWS * turn + row];
                        let (go, stay) = queue.iter().partition(|q| goes(q.cell()));
                        *queue = stay;
                        let go: VecDeque<Queued> = go;
                        prop_assert_eq!(gone, go.iter().map(|q| q.cell()).collect::<Vec<_>>());
                    }
                    _ => {
                        let queued = Queued::new(Cell::new(7, seq as u32), row, 9);
                        both.lines.push(turn, queued, to(queued.cell()));
                        both.model[ROWS * turn + row].push_back(queued);
                    }
                }
                both.agree();
                both.lines.spare.extend(out.into_iter().map(|mut l| { l.clear(); l }));
            }
        }
    }
}
