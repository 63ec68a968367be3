//! The two queues that a node keeps for each other node.
//!
//! For the node `p` that it meets in a slot a node has two candidates: *relay*
//! cells whose final destination is `p` (second hop), and *granted* cells that
//! `p` will relay (first hop: the paper's virtual queue for `p`). Both heads of
//! a pair share a cache line.

use super::cell::Cell;

/// Head of both queues of a pair, relay before granted; for Q = 4 exactly one
/// cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Heads<const CAP: usize>([[Cell; CAP]; 2]);

const RELAY: usize = 0;
const FIRST: usize = 1;

/// A granted cell that did not fit into the head of its queue.
#[derive(Clone, Copy, Debug)]
struct Spilt {
    cell: Cell,
    next: u32,
}

/// Everything that is counted of a pair, in one word: cells on their second hop
/// (7 bits), M of A.3 (7 bits), cells on their first hop (18 bits).
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts(u32);

const ONE_RELAY: u32 = 1;
const ONE_M: u32 = 1 << 7;
const ONE_GRANTED: u32 = 1 << 14;

impl Counts {
    /// Cells on their second hop.
    #[inline(always)]
    pub fn relay(self) -> usize {
        (self.0 & (ONE_M - 1)) as usize
    }

    /// M of A.3: cells queued for their second hop, and grants that promise one.
    #[inline(always)]
    pub fn m(self) -> u32 {
        self.0 / ONE_M & 0x7F
    }

    /// Cells on their first hop.
    #[inline(always)]
    pub fn granted(self) -> usize {
        (self.0 / ONE_GRANTED) as usize
    }

    /// No cells at all.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0 & !(ONE_GRANTED - ONE_M) == 0
    }
}

/// Queues of a range of nodes (rows) towards all nodes (peers).
///
/// `CAP` bounds the relay queues (Q ≤ CAP, which the protocol guarantees);
/// granted queues have no bound and spill into a list.
#[derive(Clone, Debug)]
pub struct Pairs<const CAP: usize> {
    nodes: usize,
    heads: Vec<Heads<CAP>>,
    /// nodes + 1 a row: the last peer is "no request" of a book, whose M is
    /// always full, so that it is denied without being looked at.
    counts: Vec<Counts>,
    /// First and last spilt cell of a pair; 0 for none.
    spill: Vec<(u32, u32)>,
    spilt: Vec<Spilt>,
    free: Vec<u32>,
}

/// The queues of one row, borrowed once for many cells.
pub struct Row<'a, const CAP: usize> {
    heads: &'a mut [Heads<CAP>],
    counts: &'a mut [Counts],
    spill: &'a mut [(u32, u32)],
    spilt: &'a [Spilt],
    free: &'a mut Vec<u32>,
}

impl<const CAP: usize> Pairs<CAP> {
    /// Empty queues.
    pub fn new(rows: usize, nodes: usize) -> Self {
        let mut counts = vec![Counts::default(); rows * (nodes + 1)];
        counts
            .iter_mut()
            .skip(nodes)
            .step_by(nodes + 1)
            .for_each(|c| c.0 = 0x7F * ONE_M);
        Pairs {
            nodes,
            heads: vec![Heads([[Cell::default(); CAP]; 2]); rows * nodes],
            counts,
            spill: vec![(0, 0); rows * nodes],
            spilt: vec![Spilt {
                cell: Cell::default(),
                next: 0,
            }],
            free: Vec::new(),
        }
    }

    /// Bytes a pair takes.
    pub const fn bytes_a_pair() -> usize {
        size_of::<Heads<CAP>>() + size_of::<Counts>()
    }

    /// Counts of a pair.
    #[inline(always)]
    pub fn counts(&self, row: usize, peer: usize) -> Counts {
        self.counts[row * (self.nodes + 1) + peer]
    }

    /// The counts of the rows from `row`, nodes + 1 each: "no request" is the
    /// last peer of a row.
    #[inline(always)]
    pub fn counts_from(&mut self, row: usize) -> &mut [Counts] {
        &mut self.counts[row * (self.nodes + 1)..]
    }

    /// A grant of `row` for `destination` was not used.
    #[inline(always)]
    pub fn lapse(&mut self, row: usize, destination: usize) {
        let counts = &mut self.counts[row * (self.nodes + 1) + destination];
        debug_assert!(counts.m() > 0, "lapsed more than was granted");
        counts.0 -= ONE_M;
    }

    /// The queues of a row.
    #[inline(always)]
    pub fn row(&mut self, row: usize) -> Row<'_, CAP> {
        let n = self.nodes;
        Row {
            heads: &mut self.heads[row * n..][..n],
            counts: &mut self.counts[row * (n + 1)..][..n],
            spill: &mut self.spill[row * n..][..n],
            spilt: &self.spilt,
            free: &mut self.free,
        }
    }

    /// Queues a cell for its second hop.
    #[inline(always)]
    pub fn push_relay(&mut self, row: usize, peer: usize, cell: Cell) {
        let counts = &mut self.counts[row * (self.nodes + 1) + peer];
        self.heads[row * self.nodes + peer].0[RELAY][counts.relay()] = cell;
        counts.0 += ONE_RELAY;
    }

    /// Queues a cell for its first hop.
    #[inline(always)]
    pub fn push_granted(&mut self, row: usize, peer: usize, cell: Cell) {
        let counts = &mut self.counts[row * (self.nodes + 1) + peer];
        let n = counts.granted();
        counts.0 += ONE_GRANTED;
        if n < CAP {
            self.heads[row * self.nodes + peer].0[FIRST][n] = cell;
        } else {
            self.push_spilt(row * self.nodes + peer, cell);
        }
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

    /// Every cell of a pair, relay cells first.
    pub fn each_cell(&self, row: usize, peer: usize) -> impl Iterator<Item = Cell> + '_ {
        let (counts, pair) = (self.counts(row, peer), row * self.nodes + peer);
        let heads = &self.heads[pair];
        let next = |id: &u32| Some(self.spilt[*id as usize].next).filter(|&n| n != 0);
        let spilt = std::iter::successors(Some(self.spill[pair].0).filter(|&id| id != 0), next);
        heads.0[RELAY][..counts.relay()]
            .iter()
            .chain(&heads.0[FIRST][..counts.granted().min(CAP)])
            .copied()
            .chain(spilt.map(|id| self.spilt[id as usize].cell))
    }

    /// Hints that the queues of a pair will be wanted soon.
    #[inline(always)]
    pub fn prefetch(&self, row: usize, peer: usize) {
        super::prefetch::prefetch(&self.heads, row * self.nodes + peer);
        self.prefetch_counts(row, peer);
    }

    /// The same for the counts alone.
    #[inline(always)]
    pub fn prefetch_counts(&self, row: usize, peer: usize) {
        super::prefetch::prefetch(&self.counts, row * (self.nodes + 1) + peer);
    }
}

impl<const CAP: usize> Row<'_, CAP> {
    /// Takes the next cell for `peer`, second hop first; there must be one.
    /// Returns it, whether it is on its second hop, and whether it was the
    /// last. Without branches: which queue it is cannot be predicted.
    #[inline(always)]
    pub fn pop(&mut self, peer: usize) -> (Cell, bool, bool) {
        let counts = &mut self.counts[peer];
        let second = counts.relay() > 0;
        counts.0 -= if second {
            ONE_RELAY + ONE_M
        } else {
            ONE_GRANTED
        };
        let queue = &mut self.heads[peer].0[!second as usize];
        let cell = queue[0];
        queue.copy_within(1.., 0);
        let left = *counts;
        if left.granted() >= CAP && !second {
            let spilt = self.pop_spilt(peer);
            self.heads[peer].0[FIRST][CAP - 1] = spilt;
        }
        (cell, second, left.is_empty())
    }

    #[cold]
    fn pop_spilt(&mut self, peer: usize) -> Cell {
        let (first, last) = &mut self.spill[peer];
        let id = *first;
        let Spilt { cell, next } = self.spilt[id as usize];
        *first = next;
        if next == 0 {
            *last = 0;
        }
        self.free.push(id);
        cell
    }
}

/// Grants one more cell if M is below `limit`, and counts it if it is `counted`
/// (a cell for the granting node itself takes no relay queue); returns whether
/// it granted. Without branches: the answer cannot be predicted.
#[inline(always)]
pub fn grant_below(counts: &mut Counts, limit: u32, counted: bool) -> bool {
    let granted = counts.m() < limit;
    counts.0 += (granted & counted) as u32 * ONE_M;
    granted
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
        fn both_are_queues_and_the_second_hop_goes_first(
            ops in prop::collection::vec((0usize..3, 0u8..4), 1..400),
        ) {
            let mut pairs = Pairs::<4>::new(1, 3);
            let mut relay = vec![VecDeque::new(); 3];
            let mut granted = vec![VecDeque::new(); 3];
            for (seq, (peer, op)) in ops.into_iter().enumerate() {
                let cell = Cell::new(7, seq as u32);
                let waiting = relay[peer].len() + granted[peer].len();
                match op {
                    0 if relay[peer].len() < 4 => {
                        prop_assert!(grant_below(&mut pairs.counts_from(0)[peer], 4, true));
                        pairs.push_relay(0, peer, cell);
                        relay[peer].push_back(cell);
                    }
                    1 | 2 if waiting > 0 => {
                        let second = !relay[peer].is_empty();
                        let next = relay[peer].pop_front().or_else(|| granted[peer].pop_front());
                        let got = pairs.row(0).pop(peer);
                        prop_assert_eq!(got, (next.unwrap(), second, waiting == 1));
                    }
                    3 => {
                        pairs.push_granted(0, peer, cell);
                        granted[peer].push_back(cell);
                    }
                    _ => {}
                }
                let all: Vec<Cell> = relay[peer].iter().chain(&granted[peer]).copied().collect();
                prop_assert_eq!(pairs.each_cell(0, peer).collect::<Vec<_>>(), all);
                prop_assert_eq!(pairs.counts(0, peer).relay(), relay[peer].len());
                prop_assert_eq!(pairs.counts(0, peer).m() as usize, relay[peer].len());
                prop_assert_eq!(pairs.counts(0, peer).granted(), granted[peer].len());
            }
        }
    }
}
