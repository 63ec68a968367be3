//! The queues of second hops: one for each node and destination. Destinations are indexed by turn
//! ([`crate::sirius::schedule::peer_order::PeerOrder`]), so that consecutive peers are adjacent.
//! Each waiting flow has one cell in the queue. When it leaves, the next cell of the flow joins the
//! end of the queue (see [`super::source`]), so flows take turns.

use crate::sirius::cell::Cell;

/// Bytes of state for a pair of nodes.
pub const BYTES_A_PAIR: u64 = size_of::<Queue>() as u64;

/// Cells for one destination. The first cell is stored here, because most queues hold one cell at
/// most.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    first: Cell,
    /// Indices in `more` of the second and the last cell; `second` is 0 if there is none.
    second: u32,
    last: u32,
}

/// A cell behind the first of its queue.
#[derive(Clone, Copy, Debug, Default)]
struct Behind {
    cell: Cell,
    /// Index of the next cell in its queue, or of the next free entry.
    next: u32,
}

/// The queues of all nodes.
#[derive(Clone, Debug)]
pub struct Relays {
    nodes: usize,
    words: usize,
    queues: Vec<Queue>,
    /// Queues that are not empty, a bit each.
    busy: Vec<u64>,
    /// Entry 0 is unused.
    more: Vec<Behind>,
    free: u32,
    /// Number of cells at each node: in its queues, or behind another cell of their flow.
    cells: Vec<u64>,
}

impl Relays {
    /// Empty queues.
    pub fn new(nodes: usize) -> Relays {
        let words = nodes.div_ceil(64);
        Relays {
            nodes,
            words,
            queues: vec![Queue::default(); nodes * nodes],
            busy: vec![0; nodes * words],
            more: vec![Behind::default()],
            free: 0,
            cells: vec![0; nodes],
        }
    }

    /// Cells that wait at a node.
    #[inline(always)]
    pub fn at(&self, node: usize) -> u64 {
        self.cells[node]
    }

    /// Counts a cell that arrives at a node.
    #[inline(always)]
    pub fn count(&mut self, node: usize) {
        self.cells[node] += 1;
    }

    /// Whether a cell at `node` waits for the destination at `turn`.
    #[inline(always)]
    pub fn has(&self, node: usize, turn: usize) -> bool {
        self.busy[node * self.words + turn / 64] >> (turn % 64) & 1 != 0
    }

    /// Whether a cell at `node` waits for any of the destinations at the turns
    /// `met`, a bit each.
    #[inline(always)]
    pub fn meets(&self, node: usize, met: &[u64]) -> bool {
        let busy = &self.busy[node * self.words..][..self.words];
        busy.iter().zip(met).any(|(busy, met)| busy & met != 0)
    }

    /// Adds a cell to a queue of a node. [`Relays::count`] has already counted it.
    #[inline(always)]
    pub fn push(&mut self, node: usize, turn: usize, cell: Cell) {
        let (word, bit) = (node * self.words + turn / 64, 1 << (turn % 64));
        let pair = node * self.nodes + turn;
        if self.busy[word] & bit == 0 {
            self.busy[word] |= bit;
            self.queues[pair].first = cell;
        } else {
            self.push_behind(pair, cell);
        }
    }

    fn push_behind(&mut self, pair: usize, cell: Cell) {
        let entry = Behind { cell, next: 0 };
        let mut id = self.free;
        if id == 0 {
            id = self.more.len() as u32;
            self.more.push(entry);
        } else {
            self.free = self.more[id as usize].next;
            self.more[id as usize] = entry;
        }
        let queue = &mut self.queues[pair];
        match queue.second {
            0 => queue.second = id,
            _ => self.more[queue.last as usize].next = id,
        }
        queue.last = id;
    }

    /// Takes the first cell for the destination at `turn`; there must be one.
    #[inline(always)]
    pub fn pop(&mut self, node: usize, turn: usize) -> Cell {
        self.cells[node] -= 1;
        let queue = &mut self.queues[node * self.nodes + turn];
        let cell = queue.first;
        if queue.second == 0 {
            self.busy[node * self.words + turn / 64] &= !(1 << (turn % 64));
        } else {
            let id = queue.second;
            let entry = &mut self.more[id as usize];
            (queue.first, queue.second) = (entry.cell, entry.next);
            entry.next = self.free;
            self.free = id;
        }
        cell
    }

    /// Every queued cell, and the node at which it waits.
    pub fn each_cell(&self) -> impl Iterator<Item = (usize, Cell)> + '_ {
        let busy = |pair: &usize| self.has(pair / self.nodes, pair % self.nodes);
        (0..self.queues.len()).filter(busy).flat_map(move |pair| {
            let queue = self.queues[pair];
            let entry = |id: u32| (id != 0).then(|| self.more[id as usize]);
            let behind = std::iter::successors(entry(queue.second), move |e| entry(e.next));
            let cells = std::iter::once(queue.first).chain(behind.map(|e| e.cell));
            cells.map(move |cell| (pair / self.nodes, cell))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Compared with a plain queue for each pair; free entries are reused.
        #[test]
        fn each_pair_is_a_queue(ops in prop::collection::vec((0usize..3, 0usize..3, any::<bool>()), 1..300)) {
            let mut relays = Relays::new(3);
            let mut model = vec![VecDeque::new(); 9];
            let mut most = 0;
            for (k, (node, turn, push)) in ops.into_iter().enumerate() {
                let queue = &mut model[3 * node + turn];
                if push {
                    let cell = Cell::new(k as u32, 0);
                    relays.count(node);
                    relays.push(node, turn, cell);
                    queue.push_back(cell);
                } else if let Some(cell) = queue.pop_front() {
                    prop_assert_eq!(relays.pop(node, turn), cell);
                }
                prop_assert_eq!(relays.has(node, turn), !model[3 * node + turn].is_empty());
                let here = model[3 * node..][..3].iter().map(VecDeque::len).sum::<usize>();
                prop_assert_eq!(relays.at(node), here as u64);
                let of = |(pair, q): (usize, &VecDeque<Cell>)| q.iter().map(move |&c| (pair / 3, c)).collect::<Vec<_>>();
                let all: Vec<(usize, Cell)> = model.iter().enumerate().flat_map(of).collect();
                prop_assert_eq!(relays.each_cell().collect::<Vec<_>>(), all);
                most = most.max(model.iter().map(|q| q.len().saturating_sub(1)).sum());
                prop_assert_eq!(relays.more.len(), 1 + most);
            }
        }
    }
}
