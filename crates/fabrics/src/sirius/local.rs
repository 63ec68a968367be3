//! LOCAL: the cells that wait at their source node (Sirius §4.3).
//!
//! Cells of a flow are alike until they leave, so LOCAL keeps runs of
//! consecutive cells, not cells: admitting a flow of a million cells costs the
//! same as one of a single cell.

use super::cell::Cell;
use super::config::GrantServes;
use super::prefetch::prefetch;
use crate::memory::Column;
use lightloom_engine::Stream;

/// Consecutive cells of one flow that wait.
#[derive(Clone, Copy, Debug)]
struct Run {
    rank: u32,
    left: u32,
    seq: u32,
    dst: u16,
    /// Where it stands among the waiting runs of its node.
    place: u32,
    /// The next younger run to the same destination; 0 for none.
    next: u32,
}

/// LOCAL of a range of nodes (`row` counts from the first).
#[derive(Clone, Debug)]
pub struct Local {
    nodes: usize,
    /// All runs; entry 0 is unused.
    runs: Vec<Run>,
    free: Vec<u32>,
    waiting: Vec<Vec<u32>>,
    /// Oldest and youngest run of (row, destination); 0 for none.
    oldest: Column<u32>,
    youngest: Column<u32>,
    cells: Vec<u64>,
    /// Cells in LOCAL of all rows.
    pub total: u64,
}

impl Local {
    /// Empty LOCALs of `rows` nodes out of `nodes`.
    pub fn new(rows: usize, nodes: usize) -> Local {
        Local {
            nodes,
            runs: vec![Run {
                rank: 0,
                left: 0,
                seq: 0,
                dst: 0,
                place: 0,
                next: 0,
            }],
            free: Vec::new(),
            waiting: vec![Vec::new(); rows],
            oldest: Column::zeroed(rows * nodes),
            youngest: Column::zeroed(rows * nodes),
            cells: vec![0; rows],
            total: 0,
        }
    }

    /// Cells that wait at a node.
    #[inline]
    pub fn cells(&self, row: usize) -> u64 {
        self.cells[row]
    }

    /// Adds cells `seq .. seq + count` of a flow to `dst`.
    pub fn admit(&mut self, row: usize, rank: u32, dst: u16, seq: u32, count: u32) {
        let place = self.waiting[row].len() as u32;
        let run = Run {
            rank,
            left: count,
            seq,
            dst,
            place,
            next: 0,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.runs[id as usize] = run;
                id
            }
            None => {
                self.runs.push(run);
                (self.runs.len() - 1) as u32
            }
        };
        self.waiting[row].push(id);
        let pair = row * self.nodes + dst as usize;
        match std::mem::replace(&mut self.youngest[pair], id) {
            0 => self.oldest[pair] = id,
            before => self.runs[before as usize].next = id,
        }
        self.cells[row] += count as u64;
        self.total += count as u64;
    }

    /// Adds one cell: to the run `id`, if that ends where the cell continues, or
    /// as a run of its own. Returns the run.
    pub fn grow(&mut self, row: usize, id: u32, rank: u32, dst: u16, seq: u32) -> u32 {
        let run = &mut self.runs[id as usize];
        if run.left > 0 && run.rank == rank && run.seq + run.left == seq {
            run.left += 1;
            self.cells[row] += 1;
            self.total += 1;
            return id;
        }
        self.admit(row, rank, dst, seq, 1);
        self.youngest[row * self.nodes + dst as usize]
    }

    /// Takes out every cell for `dst`, as (rank, first cell, cells), oldest first.
    #[cold]
    pub fn withdraw(&mut self, row: usize, dst: u16) -> Vec<(u32, u32, u32)> {
        let mut cells = Vec::new();
        loop {
            let id = self.oldest[row * self.nodes + dst as usize];
            if id == 0 {
                return cells;
            }
            let run = self.runs[id as usize];
            cells.push((run.rank, run.seq, run.left));
            self.runs[id as usize].left = 0;
            self.retire(row, id);
            self.left(row, run.left as u64);
        }
    }

    /// Takes one cell for `dst`, if there is one; [`Local::left`] counts it.
    #[inline(always)]
    pub fn take(
        &mut self,
        row: usize,
        dst: u16,
        serves: GrantServes,
        rng: &mut Stream,
    ) -> Option<Cell> {
        let pair = row * self.nodes + dst as usize;
        let mut id = self.oldest[pair];
        if id == 0 {
            return None;
        }
        if serves == GrantServes::Random {
            id = self.any_run(id, rng);
        }
        let run = &mut self.runs[id as usize];
        let cell = Cell::new(run.rank, run.seq);
        run.seq += 1;
        run.left -= 1;
        if run.left == 0 {
            self.retire(row, id);
        }
        Some(cell)
    }

    /// Takes up to `most` cells of the oldest run for `dst`: the first of them, and how
    /// many; none if there is no run. [`Local::left`] counts them.
    #[inline(always)]
    pub fn take_run(&mut self, row: usize, dst: u16, most: usize) -> (Cell, usize) {
        let id = self.oldest[row * self.nodes + dst as usize];
        if id == 0 {
            return (Cell::default(), 0);
        }
        let run = &mut self.runs[id as usize];
        let first = Cell::new(run.rank, run.seq);
        let taken = most.min(run.left as usize);
        run.seq += taken as u32;
        run.left -= taken as u32;
        if run.left == 0 {
            self.retire(row, id);
        }
        (first, taken)
    }

    /// Counts cells that were taken.
    pub fn left(&mut self, row: usize, count: u64) {
        self.cells[row] -= count;
        self.total -= count;
    }

    /// A run drawn uniformly from the chain that begins with `oldest`.
    #[cold]
    fn any_run(&self, oldest: u32, rng: &mut Stream) -> u32 {
        let next = |id: &u32| Some(self.runs[*id as usize].next).filter(|&n| n != 0);
        let chain = || std::iter::successors(Some(oldest), next);
        let pick = rng.below(chain().count() as u32) as usize;
        chain().nth(pick).expect("within the chain")
    }

    #[cold]
    #[inline(never)]
    fn retire(&mut self, row: usize, id: u32) {
        let Run {
            dst, place, next, ..
        } = self.runs[id as usize];
        let pair = row * self.nodes + dst as usize;
        if self.oldest[pair] == id {
            self.oldest[pair] = next;
            if next == 0 {
                self.youngest[pair] = 0;
            }
        } else {
            self.unlink(pair, id, next);
        }
        let waiting = &mut self.waiting[row];
        waiting.swap_remove(place as usize);
        if let Some(&moved) = waiting.get(place as usize) {
            self.runs[moved as usize].place = place;
        }
        self.free.push(id);
    }

    fn unlink(&mut self, pair: usize, id: u32, next: u32) {
        let mut before = self.oldest[pair];
        while self.runs[before as usize].next != id {
            before = self.runs[before as usize].next;
        }
        self.runs[before as usize].next = next;
        if next == 0 {
            self.youngest[pair] = before;
        }
    }

    /// Hints that the runs of a node will be looked at soon.
    pub fn prefetch(&self, row: usize) {
        for &id in self.waiting.get(row).into_iter().flatten() {
            prefetch(&self.runs, id as usize);
        }
    }

    /// The waiting runs of a node as (destination, cells), in no special order.
    #[inline]
    pub fn flows(&self, row: usize) -> impl Iterator<Item = (u16, u32)> + '_ {
        self.waiting[row].iter().map(|&id| {
            let run = &self.runs[id as usize];
            (run.dst, run.left)
        })
    }

    /// Every waiting cell of a node, for the audit.
    pub fn each_cell(&self, row: usize) -> impl Iterator<Item = Cell> + '_ {
        self.waiting[row].iter().flat_map(|&id| {
            let run = self.runs[id as usize];
            (run.seq..run.seq + run.left).map(move |seq| Cell::new(run.rank, seq))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Against a plain queue of cells for each destination.
        #[test]
        fn oldest_first_is_a_queue_of_cells(ops in prop::collection::vec((0u16..4, 0u32..4), 1..200)) {
            let mut local = Local::new(1, 4);
            let mut model: Vec<VecDeque<Cell>> = vec![VecDeque::new(); 4];
            let mut rng = Stream::new(1, "test", 0);
            for (rank, (dst, count)) in ops.into_iter().enumerate() {
                if count > 0 {
                    local.admit(0, rank as u32, dst, 0, count);
                    model[dst as usize].extend((0..count).map(|s| Cell::new(rank as u32, s)));
                } else {
                    let taken = local.take(0, dst, GrantServes::Fifo, &mut rng);
                    local.left(0, taken.is_some() as u64);
                    prop_assert_eq!(taken, model[dst as usize].pop_front());
                }
                let left: usize = model.iter().map(VecDeque::len).sum();
                prop_assert_eq!(local.cells(0), left as u64);
                prop_assert_eq!(local.each_cell(0).count(), left);
                prop_assert_eq!(local.flows(0).map(|f| f.1 as usize).sum::<usize>(), left);
            }
        }

        #[test]
        fn random_service_takes_every_cell_once(counts in prop::collection::vec(1u32..5, 1..20)) {
            let mut local = Local::new(1, 2);
            let mut rng = Stream::new(1, "test", 0);
            let mut wanted = Vec::new();
            for (rank, &count) in counts.iter().enumerate() {
                local.admit(0, rank as u32, 1, 0, count);
                wanted.extend((0..count).map(|s| (rank as u32, s)));
            }
            let mut taken: Vec<_> = std::iter::from_fn(|| local.take(0, 1, GrantServes::Random, &mut rng))
                .map(|c| (c.rank(), c.seq()))
                .collect();
            taken.sort();
            prop_assert_eq!(taken, wanted);
        }
    }
}
