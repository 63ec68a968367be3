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

/// The first cells of a queue, a ring; for Q = 4 one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Ring<const CAP: usize>([Cell; CAP]);

/// Where a ring begins (low byte) and how many cells wait, spilt ones included.
#[derive(Clone, Copy, Debug, Default)]
struct Line(u32);

const ONE: u32 = 1 << 8;

impl Line {
    #[inline(always)]
    fn first(self) -> usize {
        (self.0 & 0xFF) as usize
    }

    #[inline(always)]
    fn len(self) -> usize {
        (self.0 >> 8) as usize
    }
}

/// A cell that did not fit into the ring of its queue.
#[derive(Clone, Copy, Debug)]
struct Spilt {
    cell: Cell,
    next: u32,
}

/// Queues of a range of nodes towards all nodes.
///
/// `CAP` (a power of two, at least 2 Q) is the room of a ring; second hops are at
/// most Q by protocol, granted cells have no bound, and spill into a list.
#[derive(Clone, Debug)]
pub struct Pairs<const CAP: usize> {
    /// Queues of one turn, and some padding: without it those of one row would
    /// all fall into the same sets of the cache.
    stride: usize,
    rows: usize,
    rings: Vec<Ring<CAP>>,
    lines: Vec<Line>,
    /// First and last spilt cell of a queue; 0 for none.
    spill: Vec<(u32, u32)>,
    spilt: Vec<Spilt>,
    free: Vec<u32>,
}

impl<const CAP: usize> Pairs<CAP> {
    /// Empty queues.
    pub fn new(rows: usize, nodes: usize) -> Self {
        let stride = rows | 1;
        Pairs {
            stride,
            rows,
            rings: vec![Ring([Cell::default(); CAP]); stride * nodes],
            lines: vec![Line::default(); stride * nodes],
            spill: vec![(0, 0); stride * nodes],
            spilt: vec![Spilt {
                cell: Cell::default(),
                next: 0,
            }],
            free: Vec::new(),
        }
    }

    /// Bytes a pair takes.
    pub const fn bytes_a_pair() -> usize {
        size_of::<Ring<CAP>>() + size_of::<Line>()
    }

    /// Cells that wait.
    pub fn len(&self, row: usize, turn: usize) -> usize {
        self.lines[turn * self.stride + row].len()
    }

    /// Adds a cell at the end.
    #[inline(always)]
    pub fn push(&mut self, row: usize, turn: usize, cell: Cell) {
        let queue = turn * self.stride + row;
        let line = &mut self.lines[queue];
        let (first, len) = (line.first(), line.len());
        line.0 += ONE;
        if len < CAP {
            self.rings[queue].0[(first + len) % CAP] = cell;
        } else {
            self.push_spilt(queue, cell);
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
    pub fn turn(&mut self, turn: usize) -> Queues<'_, CAP> {
        let queues = turn * self.stride..turn * self.stride + self.rows;
        Queues {
            rings: &mut self.rings[queues.clone()],
            lines: &mut self.lines[queues.clone()],
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

    #[cold]
    fn push_spilt(&mut self, queue: usize, cell: Cell) {
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
        let (first, last) = &mut self.spill[queue];
        match std::mem::replace(last, id) {
            0 => *first = id,
            before => self.spilt[before as usize].next = id,
        }
    }

    /// Every cell of a queue in order.
    pub fn each_cell(&self, row: usize, turn: usize) -> impl Iterator<Item = Cell> + '_ {
        let queue = turn * self.stride + row;
        let (line, ring) = (self.lines[queue], &self.rings[queue].0);
        let next = |id: &u32| Some(self.spilt[*id as usize].next).filter(|&n| n != 0);
        let spilt = std::iter::successors(Some(self.spill[queue].0).filter(|&id| id != 0), next);
        (0..line.len().min(CAP))
            .map(move |k| ring[(line.first() + k) % CAP])
            .chain(spilt.map(|id| self.spilt[id as usize].cell))
    }

    /// Hints that a queue will be wanted soon.
    #[inline(always)]
    pub fn prefetch(&self, row: usize, turn: usize) {
        super::prefetch::prefetch(&self.rings, turn * self.stride + row);
        super::prefetch::prefetch(&self.lines, turn * self.stride + row);
    }
}

/// The queues of one turn, by row.
pub struct Queues<'a, const CAP: usize> {
    rings: &'a mut [Ring<CAP>],
    lines: &'a mut [Line],
    spill: &'a mut [(u32, u32)],
    spilt: &'a [Spilt],
    free: &'a mut Vec<u32>,
}

impl<const CAP: usize> Queues<'_, CAP> {
    /// See [`Pairs::pop`].
    #[inline(always)]
    pub fn pop(&mut self, row: usize) -> (Cell, bool) {
        let line = self.lines[row].0;
        let first = line as usize % CAP;
        let cell = self.rings[row].0[first];
        // One cell less; the ring begins one place on.
        self.lines[row].0 = (line - ONE) & !0xFF | (first as u32 + 1) % CAP as u32;
        if line >= (CAP as u32 + 1) * ONE {
            self.refill(row, first);
        }
        (cell, line < 2 * ONE)
    }

    /// Moves the first spilt cell into the ring.
    #[cold]
    #[inline(never)]
    fn refill(&mut self, row: usize, place: usize) {
        let (first, last) = &mut self.spill[row];
        let id = *first;
        let Spilt { cell, next } = self.spilt[id as usize];
        *first = next;
        if next == 0 {
            *last = 0;
        }
        self.free.push(id);
        self.rings[row].0[place] = cell;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn the_head_of_a_queue_is_one_cache_line() {
        assert_eq!(size_of::<Ring<8>>(), 64);
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
