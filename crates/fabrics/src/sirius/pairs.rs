//! The queue that a node keeps for each other node.
//!
//! For the node that it meets in a slot a node has cells on their *second* hop
//! (that node is their destination) and granted cells on their *first* (that
//! node will relay them: the paper's virtual queue for it). Both wait in one
//! line, first in, first out ("W FIFO output queues per port", §6), or second
//! hops before first hops, as `hop_order` says. The head of a queue is one
//! cache line.
//!
//! A queue is addressed by row (its node) and *turn*: the place of its peer in
//! the order in which the node meets its peers. All nodes are at the same turns
//! in a slot, so queues lie turn by turn, those served together side by side.

use super::cell::Cell;
use crate::memory::Column;

/// Where a ring begins (low byte) and how many cells wait, spilt ones included:
/// the first word of a queue, before the cells of its ring.
type Line = u64;

const ONE: Line = 1 << 8;

/// A cell that did not fit into the ring of its queue.
#[derive(Clone, Copy, Debug)]
struct Spilt {
    cell: Cell,
    next: u32,
}

/// Queues of a range of nodes towards all nodes.
///
/// Each takes `WORDS` words: its line and a ring of `WORDS` − 1 cells; 8 words
/// are a cache line. Second hops are at most Q by protocol, granted cells have no
/// bound, and spill into a list.
#[derive(Clone, Debug)]
pub struct Pairs<const WORDS: usize> {
    /// Queues of one turn, and some padding: without it those of one row would
    /// all fall into the same sets of the cache.
    stride: usize,
    rows: usize,
    words: Column<u64>,
    /// First and last spilt cell of a queue, by queue; 0 for none.
    spill: Column<[u32; 2]>,
    spilt: Vec<Spilt>,
    free: Vec<u32>,
}

#[inline(always)]
fn wrap<const WORDS: usize>(place: usize) -> usize {
    place - if place >= WORDS - 1 { WORDS - 1 } else { 0 }
}

impl<const WORDS: usize> Pairs<WORDS> {
    const RING: usize = WORDS - 1;

    /// Empty queues.
    pub fn new(rows: usize, nodes: usize) -> Self {
        let stride = rows | 1;
        Pairs {
            stride,
            rows,
            words: Column::zeroed(stride * nodes * WORDS),
            spill: Column::zeroed(stride * nodes),
            spilt: vec![Spilt {
                cell: Cell::default(),
                next: 0,
            }],
            free: Vec::new(),
        }
    }

    /// Bytes a pair takes.
    pub const fn bytes_a_pair() -> usize {
        WORDS * size_of::<u64>()
    }

    #[inline(always)]
    fn queue(&self, row: usize, turn: usize) -> &[u64; WORDS] {
        &self.words.as_chunks().0[turn * self.stride + row]
    }

    /// Cells that wait.
    pub fn len(&self, row: usize, turn: usize) -> usize {
        (self.queue(row, turn)[0] >> 8) as usize
    }

    /// Adds a cell at the end.
    pub fn push(&mut self, row: usize, turn: usize, cell: Cell) {
        self.open().push(row, turn, cell);
    }

    /// All queues, borrowed once for many cells.
    #[inline(always)]
    pub fn open(&mut self) -> Open<'_, WORDS> {
        Open {
            stride: self.stride,
            queues: self.words.as_chunks_mut().0,
            spill: &mut self.spill,
            spilt: &mut self.spilt,
            free: &mut self.free,
        }
    }

    /// Takes the first cell; there must be one. Also returns whether it was the
    /// last.
    #[inline(always)]
    pub fn pop(&mut self, row: usize, turn: usize) -> (Cell, bool) {
        self.turn(turn).pop(row)
    }

    /// The queues of a turn, borrowed once for many cells.
    #[inline(always)]
    pub fn turn(&mut self, turn: usize) -> Queues<'_, WORDS> {
        let queues = turn * self.stride..turn * self.stride + self.rows;
        Queues {
            queues: &mut self.words.as_chunks_mut().0[queues.clone()],
            spill: &mut self.spill[queues],
            spilt: &self.spilt,
            free: &mut self.free,
        }
    }

    /// Adds a cell behind the last one on its second hop, before all others.
    pub fn push_second_first(&mut self, row: usize, turn: usize, cell: Cell) {
        let cells: Vec<Cell> = self.each_cell(row, turn).collect();
        let at = cells
            .iter()
            .position(|c| !c.is_second())
            .unwrap_or(cells.len());
        for _ in &cells {
            self.pop(row, turn);
        }
        for &c in cells[..at].iter().chain([&cell]).chain(&cells[at..]) {
            self.push(row, turn, c);
        }
    }

    /// Every cell of a queue in order.
    pub fn each_cell(&self, row: usize, turn: usize) -> impl Iterator<Item = Cell> + '_ {
        let queue = self.queue(row, turn);
        let (first, len) = ((queue[0] & 0xFF) as usize, (queue[0] >> 8) as usize);
        let next = |id: &u32| Some(self.spilt[*id as usize].next).filter(|&n| n != 0);
        let oldest = self.spill[turn * self.stride + row][0];
        let spilt = std::iter::successors(Some(oldest).filter(|&id| id != 0), next);
        (0..len.min(Self::RING))
            .map(move |k| Cell::from_bits(queue[1 + wrap::<WORDS>(first + k)]))
            .chain(spilt.map(|id| self.spilt[id as usize].cell))
    }

    /// Hints that a queue will be wanted soon.
    #[inline(always)]
    pub fn prefetch(&self, row: usize, turn: usize) {
        super::prefetch::prefetch(&self.words, (turn * self.stride + row) * WORDS);
    }
}

/// The queues of all turns, to add cells to.
pub struct Open<'a, const WORDS: usize> {
    stride: usize,
    queues: &'a mut [[u64; WORDS]],
    spill: &'a mut [[u32; 2]],
    spilt: &'a mut Vec<Spilt>,
    free: &'a mut Vec<u32>,
}

impl<const WORDS: usize> Open<'_, WORDS> {
    /// Adds a cell at the end.
    #[inline(always)]
    pub fn push(&mut self, row: usize, turn: usize, cell: Cell) {
        let at = turn * self.stride + row;
        let queue = &mut self.queues[at];
        let line = queue[0];
        queue[0] = line + ONE;
        let len = (line >> 8) as usize;
        if len < WORDS - 1 {
            queue[1 + wrap::<WORDS>((line & 0xFF) as usize + len)] = cell.bits();
        } else {
            self.push_spilt(at, cell);
        }
    }

    /// Hints that a queue will be wanted soon.
    #[inline(always)]
    pub fn prefetch(&self, row: usize, turn: usize) {
        super::prefetch::prefetch(self.queues, turn * self.stride + row);
    }

    #[cold]
    #[inline(never)]
    fn push_spilt(&mut self, at: usize, cell: Cell) {
        let entry = Spilt { cell, next: 0 };
        let id = match self.free.pop() {
            Some(id) => {
                self.spilt[id as usize] = entry;
                id
            }
            None => {
                self.spilt.push(entry);
                (self.spilt.len() - 1) as u32
            }
        };
        let [first, last] = &mut self.spill[at];
        match std::mem::replace(last, id) {
            0 => *first = id,
            before => self.spilt[before as usize].next = id,
        }
    }
}

/// The queues of one turn, by row.
pub struct Queues<'a, const WORDS: usize> {
    queues: &'a mut [[u64; WORDS]],
    spill: &'a mut [[u32; 2]],
    spilt: &'a [Spilt],
    free: &'a mut Vec<u32>,
}

impl<const WORDS: usize> Queues<'_, WORDS> {
    /// See [`Pairs::pop`].
    #[inline(always)]
    pub fn pop(&mut self, row: usize) -> (Cell, bool) {
        let queue = &mut self.queues[row];
        let line = queue[0];
        let first = (line & 0xFF) as usize;
        let cell = Cell::from_bits(queue[1 + first]);
        // One cell less; the ring begins one place on.
        queue[0] = ((line - ONE) & !0xFF) | wrap::<WORDS>(first + 1) as u64;
        if line >= WORDS as u64 * ONE {
            self.refill(row, first);
        }
        (cell, line < 2 * ONE)
    }

    /// Moves the first spilt cell into the ring.
    #[cold]
    #[inline(never)]
    fn refill(&mut self, row: usize, place: usize) {
        let [first, last] = &mut self.spill[row];
        let id = *first;
        let Spilt { cell, next } = self.spilt[id as usize];
        *first = next;
        if next == 0 {
            *last = 0;
        }
        self.free.push(id);
        self.queues[row][1 + place] = cell.bits();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn the_head_of_a_queue_is_one_cache_line() {
        assert_eq!(Pairs::<8>::bytes_a_pair(), 64);
    }

    proptest! {
        #[test]
        fn each_is_a_queue(ops in prop::collection::vec((0usize..3, 0u8..8), 1..400)) {
            let mut pairs = Pairs::<8>::new(1, 3);
            let mut model = vec![VecDeque::new(); 3];
            for (seq, (turn, op)) in ops.into_iter().enumerate() {
                let cell = Cell::new(7, seq as u32);
                match op {
                    0..=2 if !model[turn].is_empty() => {
                        let (got, last) = pairs.pop(0, turn);
                        prop_assert_eq!(Some(got), model[turn].pop_front());
                        prop_assert_eq!(last, model[turn].is_empty());
                    }
                    3 => {
                        let second = cell.on_hop(true);
                        pairs.push_second_first(0, turn, second);
                        let at = model[turn].iter().take_while(|c: &&Cell| c.is_second()).count();
                        model[turn].insert(at, second);
                    }
                    _ => {
                        pairs.push(0, turn, cell);
                        model[turn].push_back(cell);
                    }
                }
                prop_assert_eq!(pairs.each_cell(0, turn).collect::<VecDeque<_>>(), model[turn].clone());
                prop_assert_eq!(pairs.len(0, turn), model[turn].len());
            }
        }
    }
}
