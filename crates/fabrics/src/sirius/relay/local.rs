//! LOCAL: the cells that wait at their source node (Sirius §4.3).
//!
//! LOCAL stores runs of consecutive cells instead of single cells, so admitting a flow of a million
//! cells costs the same as a flow of one cell. The runs of a node are adjacent, by age; the next
//! run for a destination is determined whenever the node is *opened*.

use crate::sirius::cell::{Cell, FlowIndex, Routes};
use crate::sirius::index::{Label, Row};

/// Consecutive cells of one flow that wait.
#[derive(Clone, Copy, Debug)]
struct Run {
    flow_index: FlowIndex,
    left: u32,
    seq: u32,
    dst: Label,
    /// Its number among all runs that the node ever had, from 1 on; 0 if its cells had left and
    /// have returned.
    id: u32,
    /// While its row is open, the position of the next run with the same destination.
    next: u32,
}

/// No run.
const NONE: u32 = u32::MAX;

/// LOCAL of a range of nodes.
#[derive(Clone, Debug)]
pub struct Local {
    /// The runs of each row, the oldest first.
    runs: Vec<Vec<Run>>,
    /// Number of runs that each row ever had.
    ever: Vec<u32>,
    /// The position of the oldest run of the open row, by destination.
    first: Vec<u32>,
    /// Whether a run of the open row has no cells any more.
    spent: bool,
    cells: Vec<u64>,
    /// Number of cells in LOCAL of all rows.
    pub total: u64,
}

impl Local {
    /// Empty LOCALs of `rows` nodes out of `nodes`.
    pub fn new(rows: usize, nodes: usize) -> Local {
        Local {
            runs: vec![Vec::new(); rows],
            ever: vec![0; rows],
            first: vec![NONE; nodes],
            spent: false,
            cells: vec![0; rows],
            total: 0,
        }
    }

    /// Cells that wait at a node.
    #[inline]
    pub fn cells(&self, row: Row) -> u64 {
        self.cells[row.0]
    }

    /// Adds cells `seq .. seq + count` of a flow to `dst`; returns the id of their run.
    pub fn admit(
        &mut self,
        row: Row,
        flow_index: FlowIndex,
        dst: Label,
        seq: u32,
        count: u32,
    ) -> u32 {
        self.ever[row.0] += 1;
        let id = self.ever[row.0];
        let run = Run {
            flow_index,
            left: count,
            seq,
            dst,
            id,
            next: NONE,
        };
        self.runs[row.0].push(run);
        self.cells[row.0] += count as u64;
        self.total += count as u64;
        id
    }

    /// Adds cells that had left and have returned (called back or lost); they are older than all
    /// cells that wait.
    #[cold]
    pub fn readmit(&mut self, row: Row, flow_index: FlowIndex, dst: Label, seq: u32, count: u32) {
        self.admit(row, flow_index, dst, seq, count);
        let runs = &mut self.runs[row.0];
        let after = runs.partition_point(|run| run.id == 0);
        if let Some(run) = runs.pop() {
            runs.insert(after, Run { id: 0, ..run });
        }
    }

    /// Adds one cell: to the run `id`, if that still waits and the cell continues it, otherwise as
    /// a new run. Returns the id of its run.
    pub fn grow(&mut self, row: Row, id: u32, flow_index: FlowIndex, dst: Label, seq: u32) -> u32 {
        let runs = &mut self.runs[row.0];
        match runs.binary_search_by_key(&id, |run| run.id) {
            Ok(place) if id > 0 && runs[place].seq + runs[place].left == seq => {
                runs[place].left += 1;
                self.cells[row.0] += 1;
                self.total += 1;
                id
            }
            _ => self.admit(row, flow_index, dst, seq, 1),
        }
    }

    /// Takes out every cell for `dst`, as (flow index, first cell, cells), oldest first.
    #[cold]
    pub fn withdraw(&mut self, row: Row, dst: Label) -> Vec<(FlowIndex, u32, u32)> {
        let gone = self.runs[row.0].extract_if(.., |run| run.dst == dst);
        let cells: Vec<_> = gone
            .map(|run| (run.flow_index, run.seq, run.left))
            .collect();
        self.left(row, cells.iter().map(|&(.., left)| left as u64).sum());
        cells
    }

    /// Prepares a row for [`Local::take`] and [`Local::take_run`].
    pub fn open(&mut self, row: Row) {
        self.first.fill(NONE);
        let runs = &mut self.runs[row.0][..];
        // From the youngest run on, so that `first` is the oldest at the end.
        for (place, run) in runs.iter_mut().enumerate().rev() {
            run.next = std::mem::replace(&mut self.first[run.dst.index()], place as u32);
        }
    }

    /// Ends the access to the open row, from which `taken` cells have been taken.
    pub fn close(&mut self, row: Row, taken: u64) {
        if std::mem::take(&mut self.spent) {
            self.runs[row.0].retain(|run| run.left > 0);
        }
        self.left(row, taken);
    }

    /// Takes one cell of the open row for `dst`, if there is one.
    #[inline(always)]
    pub fn take(&mut self, row: Row, dst: Label) -> Option<Cell> {
        let (cell, taken) = self.take_run(row, dst, 1);
        (taken > 0).then_some(cell)
    }

    /// Takes up to `most` cells of the oldest run of the open row for `dst`; returns the first cell
    /// and their number, which is 0 if there is no run.
    #[inline(always)]
    pub fn take_run(&mut self, row: Row, dst: Label, most: usize) -> (Cell, usize) {
        let place = &mut self.first[dst.index()];
        let Some(run) = self.runs[row.0].get_mut(*place as usize) else {
            return (Cell::default(), 0);
        };
        let first = Cell::new(run.flow_index, run.seq);
        let taken = most.min(run.left as usize);
        run.seq += taken as u32;
        run.left -= taken as u32;
        if run.left == 0 {
            *place = run.next;
            self.spent = true;
        }
        (first, taken)
    }

    fn left(&mut self, row: Row, count: u64) {
        self.cells[row.0] -= count;
        self.total -= count;
    }

    /// The waiting runs of a node as (destination, cells), the oldest first.
    #[inline]
    pub fn flows(&self, row: Row) -> impl Iterator<Item = (Label, u32)> + '_ {
        self.runs[row.0].iter().map(|run| (run.dst, run.left))
    }

    /// Payload of all waiting cells [B].
    pub fn bytes(&self, routes: &Routes) -> u64 {
        let runs = self.runs.iter().flatten();
        runs.map(|run| routes.bytes_of(run.flow_index, run.seq, run.left))
            .sum()
    }

    /// Every waiting cell of a node.
    #[cfg(test)]
    pub fn each_cell(&self, row: Row) -> impl Iterator<Item = Cell> + '_ {
        let cells =
            |run: &Run| (run.seq..run.seq + run.left).zip(std::iter::repeat(run.flow_index));
        let all = self.runs[row.0].iter().flat_map(cells);
        all.map(|(seq, flow_index)| Cell::new(flow_index, seq))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Compared with a plain queue of cells for each destination.
        #[test]
        fn oldest_first_is_a_queue_of_cells(ops in prop::collection::vec((0u16..4, 0u32..4), 1..200)) {
            let mut local = Local::new(1, 4);
            let mut model: Vec<VecDeque<Cell>> = vec![VecDeque::new(); 4];
            for (flow_index, (dst, count)) in ops.into_iter().enumerate() {
                if count > 0 {
                    local.admit(Row(0), flow_index as u32, Label(dst), 0, count);
                    model[dst as usize].extend((0..count).map(|s| Cell::new(flow_index as u32, s)));
                } else {
                    local.open(Row(0));
                    let taken = local.take(Row(0), Label(dst));
                    local.close(Row(0), taken.is_some() as u64);
                    prop_assert_eq!(taken, model[dst as usize].pop_front());
                }
                let left: usize = model.iter().map(VecDeque::len).sum();
                prop_assert_eq!(local.cells(Row(0)), left as u64);
                prop_assert_eq!(local.each_cell(Row(0)).count(), left);
                prop_assert_eq!(local.flows(Row(0)).map(|f| f.1 as usize).sum::<usize>(), left);
            }
        }

        /// Cells that arrive one by one join the run of their flow, regardless of the cells that
        /// have left or returned since. Compared with plain runs by age.
        #[test]
        fn a_flow_that_grows_is_one_run(ops in prop::collection::vec((0u32..6, 0u32..5), 1..200)) {
            let mut local = Local::new(1, 4);
            // (id, flow, number after the last, cells) by age.
            let mut model: Vec<(u32, u32, u32, u32)> = Vec::new();
            let (mut ids, mut sent) = ([0; 6], [0; 6]);
            for (flow, what) in ops {
                let (f, dst) = (flow as usize, (flow % 4) as u16);
                if what == 0 {
                    local.open(Row(0));
                    let taken = local.take(Row(0), Label(dst));
                    local.close(Row(0), taken.is_some() as u64);
                    if let Some(run) = model.iter_mut().find(|run| run.1 % 4 == dst as u32) {
                        run.3 -= 1;
                    }
                    model.retain(|run| run.3 > 0);
                } else if what == 1 && sent[f] > 0 {
                    // A cell that had left returns: it goes before all others.
                    local.readmit(Row(0), flow, Label(dst), sent[f] - 1, 1);
                    let after = model.iter().take_while(|run| run.0 == 0).count();
                    model.insert(after, (0, flow, sent[f], 1));
                } else {
                    let began = std::mem::replace(&mut ids[f], 0);
                    ids[f] = local.grow(Row(0), began, flow, Label(dst), sent[f]);
                    sent[f] += 1;
                    match model.iter_mut().find(|run| run.0 == began && began > 0) {
                        Some(run) => (run.2, run.3) = (run.2 + 1, run.3 + 1),
                        None => model.push((ids[f], flow, sent[f], 1)),
                    }
                }
                let runs: Vec<_> = local.flows(Row(0)).map(|(dst, left)| (dst.0 as u32, left)).collect();
                prop_assert_eq!(runs, model.iter().map(|r| (r.1 % 4, r.3)).collect::<Vec<_>>());
                let mut seqs: Vec<_> = local.each_cell(Row(0)).map(|c| (c.flow_index(), c.seq())).collect();
                let kept = |r: &(u32, u32, u32, u32)| (r.2 - r.3..r.2).zip(std::iter::repeat(r.1));
                let mut wanted: Vec<_> = model.iter().flat_map(kept).map(|(s, r)| (r, s)).collect();
                seqs.sort();
                wanted.sort();
                prop_assert_eq!(seqs, wanted);
            }
        }

        #[test]
        fn withdrawn_cells_are_gone(counts in prop::collection::vec((0u16..3, 1u32..5), 1..20)) {
            let mut local = Local::new(1, 3);
            for (flow_index, &(dst, count)) in (0..).zip(&counts) {
                local.admit(Row(0), flow_index, Label(dst), 7, count);
            }
            let to_one = (0..).zip(&counts).filter(|c| c.1 .0 == 1);
            let wanted: Vec<_> = to_one.map(|(flow_index, c)| (flow_index, 7, c.1)).collect();
            prop_assert_eq!(local.withdraw(Row(0), Label(1)), wanted);
            let left: u32 = counts.iter().filter(|c| c.0 != 1).map(|c| c.1).sum();
            prop_assert_eq!((local.cells(Row(0)), local.total), (left as u64, left as u64));
            prop_assert!(local.flows(Row(0)).all(|f| f.0 != Label(1)));
        }
    }
}
