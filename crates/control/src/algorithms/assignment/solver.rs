//! Shortest augmenting paths, row by row.
//!
//! The potentials satisfy u_i + v_j ≥ w_ij at all times, with equality if row i has column j.
//! Column potentials never fall. Each row therefore stores its few best columns by w_ij − v_j, and
//! an upper bound for all other columns. A search visits these few columns, and the whole row only
//! if another column may be next.

use super::{Assignment, Weights};
use crate::algorithms::largest::Largest;
use lightloom_engine::Refusal;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The value for no row or no column.
const NONE: u32 = u32::MAX;
/// In the heap, marks a row whose other columns come next, instead of a column.
const ROW: u32 = 1 << 31;

/// The workspace of a search, kept between calls.
#[derive(Clone, Debug, Default)]
pub struct Solver {
    /// u and v of [`Assignment`].
    u: Vec<i64>,
    v: Vec<i64>,
    column_of: Vec<u32>,
    row_of: Vec<u32>,
    /// Weights of the best columns of every row, and those columns.
    best: Vec<(i64, u32)>,
    /// The number of entries of `best` per row.
    remembered: usize,
    /// Upper bound on the weights of a row's other columns.
    others: Vec<i64>,
    largest: Largest,
    /// Length of the shortest path found to each column, and the previous row on it.
    distance: Vec<i64>,
    before: Vec<u32>,
    /// Length of the path to a row's column, plus u.
    reach: Vec<i64>,
    /// Columns and rows that the search may reach, by path length.
    heap: BinaryHeap<Reverse<(i64, u32)>>,
    touched: Vec<u32>,
    settled: Vec<u32>,
    /// The nearest free column, and its distance.
    end: (i64, u32),
    free: Vec<u32>,
}

impl Solver {
    /// An empty workspace; it grows as needed.
    pub fn new() -> Solver {
        Solver::default()
    }

    /// A maximum-weight assignment of `weights`; the choice among equals is deterministic.
    ///
    /// # Errors
    /// Weights below 0, or so large that a sum of them would not fit 63 bits.
    pub fn maximum(&mut self, weights: &Weights) -> Result<Assignment, Refusal> {
        weights.check()?;
        match weights.cap {
            i64::MAX => self.solve(weights, |weight| weight),
            cap => self.solve(weights, |weight| weight.min(cap)),
        }
        let chosen = self.column_of.iter().enumerate();
        Ok(Assignment {
            weight: chosen
                .map(|(row, &column)| weights.at(row, column as usize))
                .sum(),
            column_of: self.column_of.clone(),
            row_potential: self.u.clone(),
            column_potential: self.v.clone(),
        })
    }

    fn solve(&mut self, weights: &Weights, value: impl Fn(i64) -> i64 + Copy) {
        self.clear(weights.n);
        for row in 0..weights.n {
            self.look(row, weights, value);
            self.ask(row as u32);
        }
        for _ in 0..2 {
            self.bid(weights, value);
        }
        for row in std::mem::take(&mut self.free) {
            let (length, column) = self.shortest_path(row, weights, value);
            self.reprice(row, length);
            self.augment(row, column);
        }
    }

    fn clear(&mut self, n: usize) {
        self.remembered = remembered(n);
        refill(&mut self.u, n, 0);
        refill(&mut self.v, n, 0);
        refill(&mut self.column_of, n, NONE);
        refill(&mut self.row_of, n, NONE);
        refill(&mut self.best, n * self.remembered, (0, NONE));
        refill(&mut self.others, n, i64::MIN);
        refill(&mut self.distance, n, i64::MAX);
        refill(&mut self.before, n, NONE);
        refill(&mut self.reach, n, 0);
        self.free.clear();
    }

    /// Stores the best columns of a row.
    fn look(&mut self, row: usize, weights: &Weights, value: impl Fn(i64) -> i64) {
        let (entries, v) = (weights.row(row), &self.v);
        let largest = &mut self.largest;
        largest.restart(self.remembered, i64::MIN);
        // Starts at the diagonal, so that rows with equal entries do not all store the same
        // columns.
        let mut offer = |from: usize, to: usize| {
            for ((&entry, &v), column) in entries[from..to].iter().zip(&v[from..to]).zip(from..) {
                let worth = value(entry) - v;
                if worth > largest.least {
                    largest.offer(worth, column as u32);
                }
            }
        };
        offer(row, entries.len());
        offer(0, row);
        self.others[row] = largest.least;
        let best = &mut self.best[row * self.remembered..][..self.remembered];
        for (slot, &(_, column)) in best.iter_mut().zip(&largest.kept) {
            *slot = (value(entries[column as usize]), column);
        }
    }

    fn best(&self, row: u32) -> &[(i64, u32)] {
        &self.best[row as usize * self.remembered..][..self.remembered]
    }

    /// A row requests its heaviest entry; the first to request a column gets it.
    fn ask(&mut self, row: u32) {
        let best = self.best(row);
        let most = best.first().map_or(0, |best| best.0);
        let tight = best.iter().take_while(|best| best.0 == most);
        let open = tight
            .map(|best| best.1)
            .find(|&c| self.row_of[c as usize] == NONE);
        self.u[row as usize] = most;
        match open {
            Some(column) => self.assign(row, column),
            None => self.free.push(row),
        }
    }

    /// A round of bids (augmenting row reduction): every free row takes its best column and pays
    /// until the second best is equally good.
    fn bid(&mut self, weights: &Weights, value: impl Fn(i64) -> i64 + Copy) {
        let mut waiting = std::mem::take(&mut self.free);
        let mut at = 0;
        let mut patience = waiting.len();
        while at < waiting.len() {
            let row = waiting[at];
            at += 1;
            let mut two = self.two_best(row);
            if two[1].0 < self.others[row as usize] {
                self.look(row as usize, weights, value);
                two = self.two_best(row);
            }
            let [(best, mut column), (next, second)] = two;
            if best == next && self.row_of[column as usize] != NONE && second != NONE {
                column = second;
            }
            // Values below 0 do not count: a free column is worth at least 0.
            let next = next.max(0);
            self.u[row as usize] = next;
            self.v[column as usize] += best - next;
            let loser = std::mem::replace(&mut self.row_of[column as usize], NONE);
            self.assign(row, column);
            if loser == NONE {
                continue;
            }
            self.column_of[loser as usize] = NONE;
            if best > next && patience > 0 {
                patience -= 1;
                at -= 1;
                waiting[at] = loser;
            } else {
                self.free.push(loser);
            }
        }
    }

    /// The two stored columns with the highest value for a row.
    fn two_best(&self, row: u32) -> [(i64, u32); 2] {
        let mut two = [(i64::MIN, NONE); 2];
        for &(weight, column) in self.best(row) {
            let worth = weight - self.v[column as usize];
            if worth > two[0].0 {
                two = [(worth, column), two[0]];
            } else if worth > two[1].0 {
                two[1] = (worth, column);
            }
        }
        two
    }

    /// The nearest free column to a free row, and its distance (Dijkstra on slacks
    /// u_i + v_j − w_ij). Columns nearer than that are left in `settled`.
    fn shortest_path(
        &mut self,
        from: u32,
        weights: &Weights,
        value: impl Fn(i64) -> i64 + Copy,
    ) -> (i64, u32) {
        self.end = (i64::MAX, NONE);
        self.see_best(from, 0);
        while let Some(Reverse((length, next))) = self.heap.pop() {
            if length >= self.end.0 {
                break;
            }
            if next & ROW != 0 {
                self.see_all((next & !ROW) as usize, weights, value);
            } else if length == self.distance[next as usize] {
                self.settled.push(next);
                self.see_best(self.row_of[next as usize], length);
            }
        }
        self.heap.clear();
        self.end
    }

    /// Visits the stored columns of a row at distance `length`, and computes when its other columns
    /// might be next.
    fn see_best(&mut self, row: u32, length: i64) {
        let reach = length + self.u[row as usize];
        self.reach[row as usize] = reach;
        for at in row as usize * self.remembered..(row as usize + 1) * self.remembered {
            let (weight, column) = self.best[at];
            self.relax_column(row, column, reach - weight + self.v[column as usize]);
        }
        let others = self.others[row as usize];
        if others > i64::MIN && reach - others < self.end.0 {
            self.heap.push(Reverse((reach - others, ROW | row)));
        }
    }

    fn see_all(&mut self, row: usize, weights: &Weights, value: impl Fn(i64) -> i64 + Copy) {
        let reach = self.reach[row];
        for (column, &entry) in weights.row(row).iter().enumerate() {
            self.relax_column(
                row as u32,
                column as u32,
                reach - value(entry) + self.v[column],
            );
        }
        self.look(row, weights, value);
    }

    fn relax_column(&mut self, row: u32, column: u32, distance: i64) {
        let at = column as usize;
        if distance >= self.distance[at] || distance >= self.end.0 {
            return;
        }
        if self.distance[at] == i64::MAX {
            self.touched.push(column);
        }
        self.distance[at] = distance;
        self.before[at] = row;
        if self.row_of[at] == NONE {
            self.end = (distance, column);
        } else {
            self.heap.push(Reverse((distance, column)));
        }
    }

    /// Makes the entries of the found path tight without negative slack.
    fn reprice(&mut self, from: u32, length: i64) {
        self.u[from as usize] -= length;
        for column in self.settled.drain(..) {
            let change = length - self.distance[column as usize];
            self.v[column as usize] += change;
            self.u[self.row_of[column as usize] as usize] -= change;
        }
        for column in self.touched.drain(..) {
            self.distance[column as usize] = i64::MAX;
        }
    }

    /// Shifts every row on the path from `from` by one column.
    fn augment(&mut self, from: u32, to: u32) {
        let mut column = to;
        loop {
            let row = self.before[column as usize];
            let given_up = self.column_of[row as usize];
            self.assign(row, column);
            if row == from {
                return;
            }
            column = given_up;
        }
    }

    fn assign(&mut self, row: u32, column: u32) {
        self.column_of[row as usize] = column;
        self.row_of[column as usize] = row;
    }
}

/// The number of columns that a row stores. With more columns a search goes further before it ends,
/// but each stored column costs time.
fn remembered(n: usize) -> usize {
    n.min(n.max(1).ilog2() as usize + 3)
}

fn refill<T: Copy>(column: &mut Vec<T>, n: usize, with: T) {
    column.clear();
    column.resize(n, with);
}
