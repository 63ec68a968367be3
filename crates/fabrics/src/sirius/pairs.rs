//! The two queues that a node keeps for each other node.
//!
//! For the node `p` that it meets in a slot a node has two candidates: *relay*
//! cells whose final destination is `p` (second hop), and *granted* cells that
//! `p` will relay (first hop: the paper's virtual queue for `p`). Both heads of
//! a pair share a cache line.

use super::cell::Cell;

/// Head of both queues of a pair; for Q = 4 exactly one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Heads<const CAP: usize> {
    relay: [Cell; CAP],
    granted: [Cell; CAP],
}

/// A granted cell that did not fit into the head of its queue.
#[derive(Clone, Copy, Debug)]
struct Spilt {
    cell: Cell,
    next: u32,
}

/// Queue lengths of a pair: relay in the low byte, granted above.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lengths(u32);

const GRANTED: u32 = 1 << 8;

impl Lengths {
    /// Cells on their second hop.
    #[inline(always)]
    pub fn relay(self) -> usize {
        (self.0 & 0xFF) as usize
    }

    /// Cells on their first hop.
    #[inline(always)]
    pub fn granted(self) -> usize {
        (self.0 >> 8) as usize
    }

    /// No cells at all.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Queues of a range of nodes towards all nodes: pair = row · nodes + peer.
///
/// `CAP` bounds the relay queues (Q ≤ CAP, which the protocol guarantees);
/// granted queues have no bound and spill into a list.
#[derive(Clone, Debug)]
pub struct Pairs<const CAP: usize> {
    heads: Vec<Heads<CAP>>,
    lengths: Vec<Lengths>,
    /// First and last spilt cell of a pair; 0 for none.
    spill: Vec<(u32, u32)>,
    spilt: Vec<Spilt>,
    free: Vec<u32>,
}

impl<const CAP: usize> Pairs<CAP> {
    /// Empty queues.
    pub fn new(pairs: usize) -> Self {
        let nothing = Heads {
            relay: [Cell::default(); CAP],
            granted: [Cell::default(); CAP],
        };
        Pairs {
            heads: vec![nothing; pairs],
            lengths: vec![Lengths::default(); pairs],
            spill: vec![(0, 0); pairs],
            spilt: vec![Spilt {
                cell: Cell::default(),
                next: 0,
            }],
            free: Vec::new(),
        }
    }

    /// Bytes a pair takes.
    pub const fn bytes_a_pair() -> usize {
        size_of::<Heads<CAP>>() + size_of::<Lengths>()
    }

    /// Lengths of both queues.
    #[inline(always)]
    pub fn lengths(&self, pair: usize) -> Lengths {
        self.lengths[pair]
    }

    /// Queues a cell for its second hop.
    #[inline(always)]
    pub fn push_relay(&mut self, pair: usize, cell: Cell) {
        let n = self.lengths[pair].relay();
        self.heads[pair].relay[n] = cell;
        self.lengths[pair].0 += 1;
    }

    /// Takes the next cell on its second hop; there must be one.
    #[inline(always)]
    pub fn pop_relay(&mut self, pair: usize) -> Cell {
        let queue = &mut self.heads[pair].relay;
        let cell = queue[0];
        queue.copy_within(1.., 0);
        self.lengths[pair].0 -= 1;
        cell
    }

    /// Queues a cell for its first hop.
    #[inline(always)]
    pub fn push_granted(&mut self, pair: usize, cell: Cell) {
        let n = self.lengths[pair].granted();
        self.lengths[pair].0 += GRANTED;
        if n < CAP {
            self.heads[pair].granted[n] = cell;
        } else {
            self.push_spilt(pair, cell);
        }
    }

    /// Takes the next cell on its first hop; there must be one.
    #[inline(always)]
    pub fn pop_granted(&mut self, pair: usize) -> Cell {
        let queue = &mut self.heads[pair].granted;
        let cell = queue[0];
        queue.copy_within(1.., 0);
        self.lengths[pair].0 -= GRANTED;
        if self.lengths[pair].granted() >= CAP {
            let cell = self.pop_spilt(pair);
            self.heads[pair].granted[CAP - 1] = cell;
        }
        cell
    }

    #[cold]
    fn push_spilt(&mut self, pair: usize, cell: Cell) {
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
        let (first, last) = &mut self.spill[pair];
        match std::mem::replace(last, id) {
            0 => *first = id,
            before => self.spilt[before as usize].next = id,
        }
    }

    #[cold]
    fn pop_spilt(&mut self, pair: usize) -> Cell {
        let (first, last) = &mut self.spill[pair];
        let id = *first;
        let Spilt { cell, next } = self.spilt[id as usize];
        *first = next;
        if next == 0 {
            *last = 0;
        }
        self.free.push(id);
        cell
    }

    /// Every cell of a pair, relay cells first.
    pub fn each_cell(&self, pair: usize) -> impl Iterator<Item = Cell> + '_ {
        let (lengths, heads) = (self.lengths[pair], &self.heads[pair]);
        let next = |id: &u32| Some(self.spilt[*id as usize].next).filter(|&n| n != 0);
        let spilt = std::iter::successors(Some(self.spill[pair].0).filter(|&id| id != 0), next);
        heads.relay[..lengths.relay()]
            .iter()
            .chain(&heads.granted[..lengths.granted().min(CAP)])
            .copied()
            .chain(spilt.map(|id| self.spilt[id as usize].cell))
    }

    /// Hints that the queues of a pair will be wanted soon.
    #[inline(always)]
    pub fn prefetch(&self, pair: usize) {
        super::prefetch::prefetch(&self.heads, pair);
        super::prefetch::prefetch(&self.lengths, pair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn a_pair_with_the_papers_q_is_one_cache_line() {
        assert_eq!(size_of::<Heads<4>>(), 64);
    }

    proptest! {
        #[test]
        fn both_are_queues(ops in prop::collection::vec((0usize..3, 0u8..4), 1..400)) {
            let mut pairs = Pairs::<4>::new(3);
            let mut relay = vec![VecDeque::new(); 3];
            let mut granted = vec![VecDeque::new(); 3];
            for (seq, (pair, op)) in ops.into_iter().enumerate() {
                let cell = Cell::new(7, seq as u32);
                match op {
                    0 if relay[pair].len() < 4 => {
                        pairs.push_relay(pair, cell);
                        relay[pair].push_back(cell);
                    }
                    1 if !relay[pair].is_empty() => prop_assert_eq!(Some(pairs.pop_relay(pair)), relay[pair].pop_front()),
                    2 if !granted[pair].is_empty() => prop_assert_eq!(Some(pairs.pop_granted(pair)), granted[pair].pop_front()),
                    3 => {
                        pairs.push_granted(pair, cell);
                        granted[pair].push_back(cell);
                    }
                    _ => {}
                }
                let all: Vec<Cell> = relay[pair].iter().chain(&granted[pair]).copied().collect();
                prop_assert_eq!(pairs.each_cell(pair).collect::<Vec<_>>(), all);
                prop_assert_eq!(pairs.lengths(pair).relay(), relay[pair].len());
                prop_assert_eq!(pairs.lengths(pair).granted(), granted[pair].len());
            }
        }
    }
}
