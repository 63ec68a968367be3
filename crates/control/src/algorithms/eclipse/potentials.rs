//! Upper bounds on the bytes that a matching of one day carries, tightened step by step.
//!
//! Potentials u of rows and v of columns, none below 0, cover the remaining demand, capped by the
//! capacity of the day: u_i + v_j ≥ w_ij. By duality no matching carries more than Σ u + Σ v. The
//! remaining demand only falls, so potentials stay valid from slot to slot; sent bytes leave slack,
//! and a search resumes by lowering potentials where there is slack. An assigned pair is tight;
//! once all lines whose potential is above 0 are assigned, the matching is optimal. Lines with
//! potential 0 need no peer.

use super::forest::Forest;
use super::left::Left;
use super::sides::{Side, View, NONE};
use lightloom_engine::Refusal;

/// A limit of 60 bits: potentials stay below the largest weight, times in the forest below three
/// times this weight.
const LIMIT: i64 = i64::MAX / 8;
/// Rounds of bids before the search for paths; they are cheaper while many lines wait.
const ROUNDS: usize = 2;

/// Potentials, and the tight pairs that are assigned.
#[derive(Clone, Debug)]
pub(super) struct Potentials {
    pub rows: Side,
    pub columns: Side,
    /// Σ u + Σ v, an upper bound for every matching.
    pub most: i128,
}

impl Potentials {
    /// Without assignments, with `columns` as potentials of the columns, all at least 0.
    ///
    /// # Errors
    /// Weights so large that potentials might overflow.
    pub fn new(left: &Left, cap: i64, columns: Vec<i64>) -> Result<Potentials, Refusal> {
        check(left, cap)?;
        let rows: Vec<i64> = left.rows.largest().map(|bytes| bytes.min(cap)).collect();
        let total = rows.iter().chain(&columns).map(|&p| i128::from(p)).sum();
        let mut potentials = Potentials {
            rows: Side::new(rows),
            columns: Side::new(columns),
            most: total,
        };
        potentials.lower(left, cap);
        Ok(potentials)
    }

    /// Removes assignments that are no longer tight, and lowers potentials that have slack.
    pub fn tighten(&mut self, left: &Left, cap: i64) {
        for row in 0..self.rows.peer.len() {
            let column = self.rows.peer[row];
            if column != NONE && self.slack(left, cap, row, column) != 0 {
                self.rows.peer[row] = NONE;
                self.columns.peer[column as usize] = NONE;
            }
        }
        self.lower(left, cap);
    }

    /// Continues until the matching is optimal (`true`), or until it is certain that it carries no
    /// more than `enough`.
    pub fn solve(&mut self, left: &Left, cap: i64, forest: &mut Forest, enough: i64) -> bool {
        solve(self.by_rows(left, cap), forest, enough)
            && solve(self.by_columns(left, cap), forest, enough)
    }

    pub fn is_solved(&self) -> bool {
        let waiting = self.rows.waiting().chain(self.columns.waiting());
        waiting.count() == 0
    }

    /// The matching; free lines get pairs without remaining demand.
    pub fn permutation(&self) -> Vec<u32> {
        let mut permutation = self.rows.peer.clone();
        for (row, column) in self.rows.free().zip(self.columns.free()) {
            permutation[row as usize] = column;
        }
        permutation
    }

    fn lower(&mut self, left: &Left, cap: i64) {
        self.by_rows(left, cap).lower();
        self.by_columns(left, cap).lower();
    }

    fn slack(&self, left: &Left, cap: i64, row: usize, column: u32) -> i64 {
        let cover = self.rows.potential[row] + self.columns.potential[column as usize];
        cover - left.get(row, column).min(cap)
    }

    fn by_rows<'a>(&'a mut self, left: &'a Left, cap: i64) -> View<'a> {
        View {
            lines: &left.rows,
            cap,
            own: &mut self.rows,
            other: &mut self.columns,
            most: &mut self.most,
        }
    }

    fn by_columns<'a>(&'a mut self, left: &'a Left, cap: i64) -> View<'a> {
        View {
            lines: &left.columns,
            cap,
            own: &mut self.columns,
            other: &mut self.rows,
            most: &mut self.most,
        }
    }
}

/// Continues until no line of the view's own side waits (`true`), or until no matching carries more
/// than `enough`.
fn solve(mut view: View, forest: &mut Forest, enough: i64) -> bool {
    let mut waiting: Vec<u32> = view.own.waiting().collect();
    for _ in 0..ROUNDS {
        waiting = view.bid(waiting);
        if *view.most <= i128::from(enough) && !waiting.is_empty() {
            return false;
        }
    }
    view.lower();
    forest.grow(&mut view, enough)
}

fn check(left: &Left, cap: i64) -> Result<(), Refusal> {
    let beyond = |bytes: i64| bytes.min(cap) > LIMIT;
    let Some(row) = left.rows.largest().position(beyond) else {
        return Ok(());
    };
    let largest = left.rows.line(row)[0];
    Err(Refusal::new(
        format!("demand[{row}][{}]", largest.of),
        largest.bytes,
        format!("at most {LIMIT}, of 60 bits"),
        "divide all of them by the same number",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::assignment::{Solver, Weights};
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    /// Checks that potentials are feasible, tight where assigned, and that the sum is right.
    fn verify(potentials: &Potentials, left: &Left, cap: i64) {
        let sum = |side: &Side| side.potential.iter().map(|&p| i128::from(p)).sum::<i128>();
        let (rows, columns) = (&potentials.rows, &potentials.columns);
        assert_eq!(potentials.most, sum(rows) + sum(columns));
        assert!(rows
            .potential
            .iter()
            .chain(&columns.potential)
            .all(|&p| p >= 0));
        for row in 0..rows.peer.len() {
            for column in 0..columns.peer.len() as u32 {
                let slack = potentials.slack(left, cap, row, column);
                assert!(slack >= 0);
                let assigned = rows.peer[row] == column;
                assert_eq!(assigned, columns.peer[column as usize] == row as u32);
                assert!(!assigned || slack == 0);
            }
        }
    }

    /// Bytes that the matching carries.
    fn carried(potentials: &Potentials, left: &Left, cap: i64) -> i128 {
        let mut permutation = potentials.permutation();
        let pairs = permutation.iter().enumerate();
        let bytes = pairs.map(|(row, &column)| i128::from(left.get(row, column).min(cap)));
        let total = bytes.sum();
        permutation.sort_unstable();
        assert!(permutation
            .into_iter()
            .eq(0..potentials.rows.peer.len() as u32));
        total
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// The remaining demand and the cap decrease by arbitrary amounts. Each time the weight
        /// equals that of a newly solved assignment, and so does a bound at which a search stops.
        #[test]
        fn resumed_is_as_good_as_afresh(
            demand in demands(10, 40), cap in 1i64..60, most in prop_oneof![Just(1), Just(LIMIT / 60)],
            sent in proptest::collection::vec((any::<u64>(), 0i64..30, any::<bool>()), 1..12),
        ) {
            let n = demand.n();
            let scaled = demand.cells().iter().map(|e| e * most).collect();
            let mut left = Left::new(n, scaled);
            let mut forest = Forest::default();
            let mut cap = cap * most;
            let mut potentials = Potentials::new(&left, cap, vec![0; n]).unwrap();
            for (seed, bytes, stop) in sent {
                left.sort();
                potentials.tighten(&left, cap);
                verify(&potentials, &left, cap);
                let weights = Weights::new(n, left.cells()).capped(cap);
                let best = Solver::new().maximum(&weights).unwrap().weight;
                prop_assert!(potentials.most >= i128::from(best));
                let enough = if stop { best + most } else { -1 };
                let solved = potentials.solve(&left, cap, &mut forest, enough);
                verify(&potentials, &left, cap);
                prop_assert!(solved || potentials.most <= i128::from(enough));
                prop_assert!(solved || stop);
                prop_assert!(potentials.most >= i128::from(best));
                if solved {
                    prop_assert!(potentials.is_solved());
                    prop_assert_eq!(potentials.most, i128::from(best));
                    prop_assert_eq!(carried(&potentials, &left, cap), i128::from(best));
                }
                for row in 0..n {
                    let column = (seed as usize).wrapping_add(row * (1 + seed as usize % n)) % n;
                    let before = left.get(row, column as u32);
                    let after = (before - bytes * most).max(0);
                    if after < before {
                        left.shrink(row, column as u32, after);
                    }
                }
                cap -= cap / 16 * i64::from(stop);
            }
        }
    }
}
