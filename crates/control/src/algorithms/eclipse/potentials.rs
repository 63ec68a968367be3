//! What matchings of a day can carry at most, known better and better.
//!
//! Potentials u of rows and v of columns cover what is left, capped by what the day
//! carries: u_i + v_j ≥ w_ij. By duality no perfect matching carries more than Σ u +
//! Σ v. Since less and less is left, potentials stay valid from slot to slot; what was
//! sent leaves slack, and lowering them where there is slack is where a search resumes.
//! A pair that is assigned is tight; once all rows are, the matching is the best.

use super::forest::Forest;
use crate::algorithms::assignment::Weights;
use lightloom_engine::Refusal;

/// No row, no column.
pub(super) const NONE: u32 = u32::MAX;
/// Of 60 bits: potentials stay below twice the largest weight and times in the forest
/// below five times.
const LIMIT: i64 = i64::MAX / 8;
/// Rounds of bids before paths are looked for: cheaper while many rows are free.
const ROUNDS: usize = 2;

/// Potentials, and the pairs that are tight and assigned.
#[derive(Clone, Debug)]
pub(super) struct Potentials {
    pub u: Vec<i64>,
    pub v: Vec<i64>,
    pub column_of: Vec<u32>,
    pub row_of: Vec<u32>,
    /// Σ u + Σ v: no matching carries more.
    pub most: i128,
    /// For rows and columns that are free, what they were last tight with: while they
    /// still are, there is nothing to lower.
    row_with: Vec<u32>,
    column_with: Vec<u32>,
}

/// The best column of a row, and the second best: w_ij − v_j, and which.
type TwoBest = [(i64, u32); 2];

impl Potentials {
    /// Nothing assigned, `columns` as potentials of the columns.
    ///
    /// # Errors
    /// Weights so large that potentials might overflow.
    pub fn new(weights: &Weights, columns: Vec<i64>) -> Result<Potentials, Refusal> {
        check(weights)?;
        let n = weights.size();
        let worths = (0..n).map(|row| best(weights, row, &columns).0);
        let u: Vec<i64> = worths.collect();
        let total = u.iter().chain(&columns).map(|&p| i128::from(p)).sum();
        let mut potentials = Potentials {
            u,
            v: columns,
            column_of: vec![NONE; n],
            row_of: vec![NONE; n],
            most: total,
            row_with: vec![0; n],
            column_with: vec![0; n],
        };
        potentials.lower_columns(weights);
        Ok(potentials)
    }

    /// Takes back what is no longer tight, and lowers what has slack: O(N) for each
    /// row and column that is free then.
    pub fn tighten(&mut self, weights: &Weights) {
        self.shift();
        for row in 0..self.u.len() {
            let column = self.column_of[row];
            if column != NONE && self.slack(weights, row, column) != 0 {
                self.column_of[row] = NONE;
                self.row_of[column as usize] = NONE;
            }
        }
        self.lower_rows(weights);
        self.lower_columns(weights);
    }

    /// Goes on until the matching is the best (`true`), or until it is certain that it
    /// carries no more than `enough`.
    pub fn solve(&mut self, weights: &Weights, forest: &mut Forest, enough: i64) -> bool {
        let mut free: Vec<u32> = self.free_rows().collect();
        for _ in 0..ROUNDS {
            free = self.bid(weights, free);
            if self.most <= i128::from(enough) && !free.is_empty() {
                return false;
            }
        }
        self.lower_rows(weights);
        forest.grow(weights, self, enough)
    }

    pub fn free_rows(&self) -> impl Iterator<Item = u32> + '_ {
        let rows = self.column_of.iter().zip(0..);
        rows.filter(|(&column, _)| column == NONE)
            .map(|(_, row)| row)
    }

    pub fn assign(&mut self, row: u32, column: u32) {
        self.column_of[row as usize] = column;
        self.row_of[column as usize] = row;
    }

    fn slack(&self, weights: &Weights, row: usize, column: u32) -> i64 {
        self.u[row] + self.v[column as usize] - weights.at(row, column as usize)
    }

    /// A perfect matching has as many rows as columns, so that all potentials may be
    /// shifted from one side to the other: the least of a column is 0.
    fn shift(&mut self) {
        let least = self.v.iter().copied().min().unwrap_or(0);
        self.v.iter_mut().for_each(|v| *v -= least);
        self.u.iter_mut().for_each(|u| *u += least);
    }

    fn set_row(&mut self, row: usize, to: i64) {
        self.most += i128::from(to) - i128::from(self.u[row]);
        self.u[row] = to;
    }

    fn set_column(&mut self, column: usize, to: i64) {
        self.most += i128::from(to) - i128::from(self.v[column]);
        self.v[column] = to;
    }

    /// Free rows need no more than their best column is worth, and get it if it is
    /// free, too.
    fn lower_rows(&mut self, weights: &Weights) {
        for row in 0..self.u.len() {
            if self.column_of[row] != NONE {
                continue;
            }
            if self.slack(weights, row, self.row_with[row]) != 0 {
                let (worth, column) = best(weights, row, &self.v);
                self.set_row(row, worth);
                self.row_with[row] = column;
            }
            let column = self.row_with[row];
            if self.row_of[column as usize] == NONE {
                self.assign(row as u32, column);
            }
        }
    }

    /// Free columns need no more than they are worth to some row.
    fn lower_columns(&mut self, weights: &Weights) {
        let free = (0..self.v.len()).filter(|&column| {
            let with = self.column_with[column] as usize;
            self.row_of[column] == NONE && self.slack(weights, with, column as u32) != 0
        });
        let mut best: Vec<(usize, i64, u32)> = free.map(|c| (c, i64::MIN, NONE)).collect();
        if best.is_empty() {
            return;
        }
        for (row, &u) in self.u.iter().enumerate() {
            let (line, cap) = (weights.row(row), weights.cap());
            for (column, worth, with) in &mut best {
                let weight = line[*column];
                if weight - u > *worth && weight.min(cap) - u > *worth {
                    (*worth, *with) = (weight.min(cap) - u, row as u32);
                }
            }
        }
        for (column, worth, with) in best {
            self.set_column(column, worth);
            self.column_with[column] = with;
        }
    }

    /// A round of bids (augmenting row reduction): every free row takes its best
    /// column and pays what leaves it as content with the second best. Those that lost
    /// theirs bid at once, at most once each, the others are returned.
    fn bid(&mut self, weights: &Weights, mut waiting: Vec<u32>) -> Vec<u32> {
        let (mut lost, mut at, mut patience) = (Vec::new(), 0, waiting.len());
        while at < waiting.len() {
            let row = waiting[at];
            at += 1;
            let [(best, mut column), (next, second)] = self.two_best(weights, row as usize);
            if best == next && self.row_of[column as usize] != NONE {
                column = second;
            }
            self.set_row(row as usize, next);
            let price = self.v[column as usize] + best - next;
            self.set_column(column as usize, price);
            let loser = self.row_of[column as usize];
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
                lost.push(loser);
            }
        }
        lost
    }

    fn two_best(&self, weights: &Weights, row: usize) -> TwoBest {
        let mut two = [(i64::MIN, NONE); 2];
        let cap = weights.cap();
        for ((&weight, &v), column) in weights.row(row).iter().zip(&self.v).zip(0..) {
            // Few get so far that the cap matters.
            if weight - v <= two[1].0 {
                continue;
            }
            let worth = weight.min(cap) - v;
            if worth > two[1].0 {
                two = match worth > two[0].0 {
                    true => [(worth, column), two[0]],
                    false => [two[0], (worth, column)],
                };
            }
        }
        two
    }
}

/// A row's best column, and what it is worth.
fn best(weights: &Weights, row: usize, v: &[i64]) -> (i64, u32) {
    let (line, cap) = (weights.row(row), weights.cap());
    let mut best = (i64::MIN, NONE);
    for ((&weight, &v), column) in line.iter().zip(v).zip(0..) {
        // Few get so far that the cap matters.
        if weight - v > best.0 && weight.min(cap) - v > best.0 {
            best = (weight.min(cap) - v, column);
        }
    }
    best
}

fn check(weights: &Weights) -> Result<(), Refusal> {
    let n = weights.size();
    for row in 0..n {
        let beyond = |&entry: &i64| entry.min(weights.cap()) > LIMIT;
        if let Some(column) = weights.row(row).iter().position(beyond) {
            return Err(Refusal::new(
                format!("demand[{row}][{column}]"),
                weights.row(row)[column],
                format!("at most {LIMIT}, of 60 bits"),
                "divide all of them by the same number",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::assignment::Solver;
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    /// Feasible, tight where assigned, and the sum is right.
    fn verify(potentials: &Potentials, weights: &Weights) {
        let sum = |p: &[i64]| p.iter().map(|&p| i128::from(p)).sum::<i128>();
        assert_eq!(potentials.most, sum(&potentials.u) + sum(&potentials.v));
        for row in 0..weights.size() {
            for column in 0..weights.size() as u32 {
                let slack = potentials.slack(weights, row, column);
                assert!(slack >= 0);
                let assigned = potentials.column_of[row] == column;
                assert_eq!(assigned, potentials.row_of[column as usize] == row as u32);
                assert!(!assigned || slack == 0);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// What is left shrinks, by whatever is sent, and the cap too: each time the
        /// weight is that of an assignment solved afresh, and so is a bound that a
        /// search stops at.
        #[test]
        fn resumed_is_as_good_as_afresh(
            demand in demands(10, 40), cap in 1i64..60, most in prop_oneof![Just(1), Just(LIMIT / 60)],
            sent in proptest::collection::vec((any::<u64>(), 0i64..30, any::<bool>()), 1..12),
        ) {
            let n = demand.n();
            let mut left: Vec<i64> = demand.cells().iter().map(|e| e * most).collect();
            let mut forest = Forest::default();
            let weights = Weights::new(n, &left).capped(cap * most);
            let mut potentials = Potentials::new(&weights, vec![0; n]).unwrap();
            let mut cap = cap * most;
            for (seed, bytes, stop) in sent {
                let weights = Weights::new(n, &left).capped(cap);
                potentials.tighten(&weights);
                verify(&potentials, &weights);
                let best = Solver::new().maximum(&weights).unwrap().weight;
                prop_assert!(potentials.most >= i128::from(best));
                let enough = if stop { best + most } else { -1 };
                let solved = potentials.solve(&weights, &mut forest, enough);
                verify(&potentials, &weights);
                prop_assert!(solved || potentials.most <= i128::from(enough));
                prop_assert!(solved || stop);
                prop_assert!(potentials.most >= i128::from(best));
                if solved {
                    prop_assert_eq!(potentials.most, i128::from(best));
                    prop_assert_eq!(potentials.free_rows().count(), 0);
                }
                for row in 0..n {
                    let column = (seed as usize).wrapping_add(row * (1 + seed as usize % n)) % n;
                    let entry = &mut left[row * n + column];
                    *entry = (*entry - bytes * most).max(0);
                }
                cap -= cap / 16 * i64::from(stop);
            }
        }
    }
}
