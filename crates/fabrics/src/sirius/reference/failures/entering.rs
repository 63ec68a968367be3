//! Cells that were lost or called back and join LOCAL again.

use crate::sirius::reference::{Cell, Reference, Tuple};
use lightloom_engine::Io;

impl Reference {
    pub(super) fn lose(&mut self, cell: Cell, epoch: i64, declared: Option<i64>, io: &mut Io) {
        io.lose();
        let heard = epoch + 2 * self.lag();
        let again = self.failures.lost.entry(heard.max(declared.unwrap_or(0)));
        again.or_default().push(cell);
    }

    pub(super) fn send_again(&mut self, epoch: i64) {
        let later = self.failures.lost.split_off(&(epoch + 1));
        let now = std::mem::replace(&mut self.failures.lost, later);
        let mut cells: Vec<Cell> = now.into_values().flatten().collect();
        cells.sort_by_key(|c| (self.flows[c.flow].dst, c.flow, c.seq));
        let neighbours = |a: &Cell, b: &Cell| a.flow == b.flow && a.seq + 1 == b.seq;
        let runs: Vec<(Cell, u32)> = cells
            .chunk_by(neighbours)
            .map(|run| (run[0], run.len() as u32))
            .collect();
        for (first, cells) in runs {
            self.enter_again(first, cells);
        }
    }

    /// Returns a granted cell to LOCAL.
    pub(super) fn call_back(&mut self, cell: Cell, by: usize) {
        self.m[by][self.flows[cell.flow].dst] -= 1;
        self.enter_again(cell, 1);
    }

    /// Returns cells to LOCAL that had left it; they go before all cells that never left.
    pub(super) fn enter_again(&mut self, first: Cell, cells: u32) {
        let tuple = Tuple {
            flow: first.flow,
            seq: first.seq,
            cells,
            grows: false,
            returned: true,
        };
        if !self.park(tuple) {
            let local = &mut self.local[self.flows[first.flow].src];
            let after = local.iter().take_while(|t| t.returned).count();
            local.insert(after, tuple);
        }
    }

    /// Adds cells to LOCAL, or parks them while they cannot leave.
    pub(in crate::sirius::reference) fn enter(&mut self, tuple: Tuple) {
        if !self.park(tuple) {
            self.local[self.flows[tuple.flow].src].push(tuple);
        }
    }

    /// Sets aside cells that cannot leave; returns whether it did.
    pub(super) fn park(&mut self, tuple: Tuple) -> bool {
        let (src, dst) = (self.flows[tuple.flow].src, self.flows[tuple.flow].dst);
        let barred = self.failures.bars(src, dst);
        if barred {
            let (grows, returned) = (false, false);
            let parked = self.failures.parked.entry(src).or_default();
            parked.push(Tuple {
                grows,
                returned,
                ..tuple
            });
        }
        barred
    }

    pub(super) fn park_local(&mut self, source: usize, destination: usize) {
        let (flows, local) = (&self.flows, &mut self.local[source]);
        let goes = |t: &mut Tuple| flows[t.flow].dst == destination;
        let gone: Vec<Tuple> = local.extract_if(.., goes).collect();
        gone.into_iter().for_each(|tuple| self.enter(tuple));
    }

    pub(super) fn unpark(&mut self) {
        let parked = std::mem::take(&mut self.failures.parked);
        let tuples = parked.into_values().flatten();
        tuples.for_each(|tuple| self.enter(tuple));
    }
}
