//! Maximum-weight assignment: one column for every row and one row for every column, with the
//! largest possible sum of weights. With demand as weights, it is the best set of directed
//! circuits.
//!
//! Rows are added one by one along the shortest augmenting path under potentials (Kuhn & Munkres;
//! Jonker & Volgenant, 1987, without their column reduction, which is slow for skewed demand). The
//! worst case is O(N³), but a search usually visits few entries of a row. The result includes the
//! potentials, with which the optimum can be checked in O(N²).
//!
//! The diagonal is treated like other entries: with zero demand on it, a row that is assigned its
//! own column has no circuit. Rectangular matrices are not supported.

mod solver;

pub use solver::Solver;

use lightloom_engine::Refusal;
use std::fmt;

/// The largest weight, of 61 bits.
const LIMIT: i64 = i64::MAX / 4;

/// A square matrix of weights ≥ 0, read row by row, with an optional cap on each weight.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    n: usize,
    entries: &'a [i64],
    cap: i64,
}

impl<'a> Weights<'a> {
    /// The weights `entries`, row-major, of `n` rows and columns.
    ///
    /// # Panics
    /// If there are not `n`² of them.
    pub fn new(n: usize, entries: &'a [i64]) -> Weights<'a> {
        assert_eq!(entries.len(), n * n, "the entries of {n} rows and columns");
        Weights {
            n,
            entries,
            cap: i64::MAX,
        }
    }

    /// The same weights, where weights above `cap` count as `cap`: the bytes that a slot of limited
    /// length can serve, without a separate matrix.
    pub fn capped(self, cap: i64) -> Weights<'a> {
        Weights { cap, ..self }
    }

    /// Number of rows and of columns.
    pub fn size(&self) -> usize {
        self.n
    }

    /// The weight of an entry.
    pub fn at(&self, row: usize, column: usize) -> i64 {
        self.row(row)[column].min(self.cap)
    }

    /// The entries of a row, before they are capped.
    fn row(&self, row: usize) -> &'a [i64] {
        &self.entries[row * self.n..][..self.n]
    }

    /// Refuses weights that could overflow. Potentials stay between 0 and the largest weight, and
    /// distances below three times this weight while a column is free; nothing else can overflow.
    fn check(&self) -> Result<(), Refusal> {
        let (mut least, mut most, mut total) = (0, 0, 0i128);
        for row in self.entries.chunks_exact(self.n.max(1)) {
            let (low, high) = row
                .iter()
                .fold((0, 0), |(low, high), &w| (w.min(low), w.max(high)));
            least = low.min(least);
            most = high.min(self.cap).max(most);
            total += i128::from(high.min(self.cap));
        }
        if least < 0 || self.cap < 0 {
            return Err(Refusal::new(
                "weights",
                least.min(self.cap),
                "a weight is at least 0",
                "subtract the smallest weight from all: it changes no assignment",
            ));
        }
        if most > LIMIT {
            let largest = self.entries.iter().position(|&w| w.min(self.cap) == most);
            let at = largest.unwrap_or(0);
            return Err(Refusal::new(
                format!("weights[{}][{}]", at / self.n, at % self.n),
                self.entries[at],
                format!("at most {LIMIT}, of 61 bits"),
                "divide all of them by the same number",
            ));
        }
        if total > i128::from(i64::MAX) {
            return Err(Refusal::new(
                "weights",
                total,
                "the sum of the largest entry of each row must fit in 63 bits",
                "divide all entries by the same number",
            ));
        }
        Ok(())
    }
}

/// A maximum-weight assignment and the potentials that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The column of every row.
    pub column_of: Vec<u32>,
    /// The sum of the chosen weights.
    pub weight: i64,
    /// u: for every row, ≥ 0.
    pub row_potential: Vec<i64>,
    /// v: for every column, ≥ 0. u_i + v_j ≥ w_ij for all entries, with equality if i is assigned
    /// j. No assignment therefore weighs more than Σ u + Σ v, and this one has that weight.
    pub column_potential: Vec<i64>,
}

/// An error in an assignment or its proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The number of entries does not match the number of rows of the weights.
    Shape,
    /// Two rows have this column, or it does not exist.
    Column(u32),
    /// The potentials of this row and column do not cover their weight.
    Uncovered(u32, u32),
    /// The weight is not the sum of the assigned entries.
    Weight,
    /// The potentials exceed the weight by this amount.
    Gap(i128),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Shape => write!(
                f,
                "the numbers of rows and potentials differ from those of the weights"
            ),
            Violation::Column(column) => {
                write!(f, "column {column} does not exist or is assigned twice")
            }
            Violation::Uncovered(row, column) => {
                write!(
                    f,
                    "potentials of row {row} and column {column} are below their weight"
                )
            }
            Violation::Weight => write!(f, "the weight is not the sum of the chosen entries"),
            Violation::Gap(gap) => write!(f, "potentials exceed the weight by {gap}"),
        }
    }
}

impl std::error::Error for Violation {}

impl Assignment {
    /// Checks that this is an assignment and that its potentials prove maximum weight; O(N²). It
    /// shares no code with the solver.
    pub fn verify(&self, weights: &Weights) -> Result<(), Violation> {
        let n = weights.size();
        let lengths = [
            self.column_of.len(),
            self.row_potential.len(),
            self.column_potential.len(),
        ];
        if lengths != [n; 3] {
            return Err(Violation::Shape);
        }
        let mut taken = vec![false; n];
        let mut total = 0i128;
        for (row, &column) in self.column_of.iter().enumerate() {
            match taken.get_mut(column as usize) {
                Some(taken) if !*taken => *taken = true,
                _ => return Err(Violation::Column(column)),
            }
            total += i128::from(weights.at(row, column as usize));
        }
        if total != i128::from(self.weight) {
            return Err(Violation::Weight);
        }
        for (row, u) in self.row_potential.iter().enumerate() {
            for (column, v) in self.column_potential.iter().enumerate() {
                if u.saturating_add(*v) < weights.at(row, column) {
                    return Err(Violation::Uncovered(row as u32, column as u32));
                }
            }
        }
        let potentials = self.row_potential.iter().chain(&self.column_potential);
        match potentials.map(|&p| i128::from(p)).sum::<i128>() - total {
            0 => Ok(()),
            gap => Err(Violation::Gap(gap)),
        }
    }
}

/// A maximum-weight assignment of `weights`.
///
/// # Errors
/// Weights below 0, or so large that a sum of them would not fit 63 bits.
pub fn maximum(weights: &Weights) -> Result<Assignment, Refusal> {
    Solver::new().maximum(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The best total of rows `row..` over the columns that are not in `taken`, by dynamic
    /// programming over sets of columns: O(2ⁿ n).
    fn best_by_subsets(n: usize, weights: &Weights) -> i64 {
        let mut best = vec![i64::MIN; 1 << n];
        best[0] = 0;
        for taken in 0..1usize << n {
            let row = taken.count_ones() as usize;
            for column in (0..n).filter(|column| taken >> column & 1 == 0) {
                let total = best[taken] + weights.at(row, column);
                best[taken | 1 << column] = best[taken | 1 << column].max(total);
            }
        }
        best[(1 << n) - 1]
    }

    /// Square matrices with few or many distinct weights, up to the largest allowed.
    fn square(most: usize) -> impl Strategy<Value = (usize, Vec<i64>)> {
        let range = prop_oneof![Just(0), Just(1), Just(5), Just(1_000_000), Just(LIMIT / 16)];
        (0..=most, range)
            .prop_flat_map(|(n, range)| (Just(n), proptest::collection::vec(0..=range, n * n)))
    }

    proptest! {
        #[test]
        fn as_heavy_as_the_best_of_all_subsets((n, entries) in square(9), cap in 0i64..2_000_000) {
            for weights in [Weights::new(n, &entries), Weights::new(n, &entries).capped(cap)] {
                let found = maximum(&weights).unwrap();
                prop_assert_eq!(found.verify(&weights), Ok(()));
                prop_assert_eq!(found.weight, best_by_subsets(n, &weights));
            }
        }

        #[test]
        fn potentials_prove_the_optimum((n, entries) in square(60), cap in 0i64..2_000_000) {
            let mut solver = Solver::new();
            for weights in [Weights::new(n, &entries), Weights::new(n, &entries).capped(cap)] {
                let found = solver.maximum(&weights).unwrap();
                prop_assert_eq!(found.verify(&weights), Ok(()));
                prop_assert!(found.row_potential.iter().all(|&u| u >= 0));
                prop_assert!(found.column_potential.iter().all(|&v| v >= 0));
                prop_assert_eq!(&maximum(&weights).unwrap(), &found);
            }
        }
    }

    #[test]
    fn the_heaviest_entry_is_not_always_taken() {
        let entries = [10, 9, 0, 8, 2, 0, 0, 0, 0];
        let found = maximum(&Weights::new(3, &entries)).unwrap();
        assert_eq!((found.column_of, found.weight), (vec![1, 0, 2], 17));
        let capped = maximum(&Weights::new(3, &entries).capped(2)).unwrap();
        assert_eq!(capped.weight, 4);
    }

    #[test]
    fn a_forged_proof_is_seen_through() {
        let entries = [10, 9, 0, 8, 2, 0, 0, 0, 0];
        let weights = Weights::new(3, &entries);
        let found = maximum(&weights).unwrap();
        let forged = |change: &dyn Fn(&mut Assignment)| {
            let mut forged = found.clone();
            change(&mut forged);
            forged.verify(&weights)
        };
        assert_eq!(
            forged(&|f| f.column_of = vec![1, 1, 2]),
            Err(Violation::Column(1))
        );
        assert_eq!(
            forged(&|f| f.column_of = vec![1, 0, 3]),
            Err(Violation::Column(3))
        );
        assert_eq!(forged(&|f| f.column_of = vec![1, 0]), Err(Violation::Shape));
        assert_eq!(forged(&|f| f.weight += 1), Err(Violation::Weight));
        assert_eq!(forged(&|f| f.row_potential[2] += 1), Err(Violation::Gap(1)));
        assert_eq!(
            forged(&|f| (f.column_of, f.weight) = (vec![0, 1, 2], 12)),
            Err(Violation::Gap(5))
        );
        let uncovered = forged(&|f| f.row_potential[0] -= 1);
        assert!(matches!(uncovered, Err(Violation::Uncovered(0, _))));
        assert_eq!(
            Violation::Gap(5).to_string(),
            "potentials exceed the weight by 5"
        );
    }

    #[test]
    fn weights_out_of_range_are_refused_by_name() {
        let refused = |entries: &[i64]| maximum(&Weights::new(2, entries)).unwrap_err().to_string();
        assert!(refused(&[0, -3, 1, 0]).starts_with("weights = -3: a weight is at least 0"));
        assert!(refused(&[0, i64::MAX, 1, 0])
            .starts_with("weights[0][1] = 9223372036854775807: at most"));
        assert!(maximum(&Weights::new(2, &[LIMIT; 4])).is_ok());
        let five = maximum(&Weights::new(5, &[LIMIT; 25]))
            .unwrap_err()
            .to_string();
        assert!(five.contains("must fit in 63 bits"));
        let mut largest = [[LIMIT; 5]; 4].concat();
        largest.extend([3; 5]);
        assert_eq!(
            maximum(&Weights::new(5, &largest)).unwrap().weight,
            i64::MAX
        );
        largest.splice(20.., [4; 5]);
        assert!(maximum(&Weights::new(5, &largest)).is_err());
        assert!(maximum(&Weights::new(5, &[LIMIT; 25]).capped(7)).is_ok());
    }

    /// Three rows compete for two columns with weights that differ by 1. Their bids would rise by
    /// 1 or 2 per round for up to 10^15 rounds; the search stops bidding earlier.
    #[test]
    fn bids_end_long_before_prices_are_spent() {
        const MOST: i64 = 1_000_000_000_000_000;
        let entries = [MOST, MOST, 0, MOST + 1, MOST, 0, MOST + 2, MOST, 0];
        let weights = Weights::new(3, &entries);
        let found = maximum(&weights).unwrap();
        assert_eq!(found.verify(&weights), Ok(()));
        assert_eq!(found.weight, 2 * MOST + 2);
    }

    #[test]
    fn sizes_without_a_choice() {
        assert_eq!(maximum(&Weights::new(0, &[])).unwrap().weight, 0);
        let one = maximum(&Weights::new(1, &[6])).unwrap();
        assert_eq!((one.column_of, one.weight), (vec![0], 6));
    }
}
