//! Bottleneck perfect matchings: the smallest chosen entry is as large as possible.
//!
//! Free rows grow trees along entries that reach a threshold. A tree that cannot grow proves (Hall)
//! that every perfect matching needs an entry from the tree's rows to columns outside; the largest
//! of these entries becomes the threshold. The threshold therefore falls exactly to the bottleneck,
//! without a search over sorted entries. Valid pairs of an earlier matching are kept and augmented.

const NONE: u32 = u32::MAX;

/// A matching and the workspace to find it.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    n: usize,
    /// The column of every row, and back.
    column_of: Vec<u32>,
    row_of: Vec<u32>,
    /// The largest entry from the tree to each column outside it; below zero
    /// inside.
    widest: Vec<i64>,
    /// The row of the tree that has it.
    from: Vec<u32>,
}

/// Marks a column of the tree.
const INSIDE: i64 = -1;

impl Bottleneck {
    /// A workspace in which no vertex is matched.
    pub fn new(n: usize) -> Bottleneck {
        Bottleneck {
            n,
            column_of: vec![NONE; n],
            row_of: vec![NONE; n],
            widest: vec![0; n],
            from: vec![NONE; n],
        }
    }

    /// The column of every row, after [`Bottleneck::improve`].
    pub fn columns(&self) -> &[u32] {
        &self.column_of
    }

    /// Finds a bottleneck perfect matching of the n × n non-negative `cells` and returns its
    /// smallest entry. It starts with the pairs of the last matching whose entries still reach the
    /// threshold. `above` must be at least the result: [`i64::MAX`], or the last result if entries
    /// have only decreased since. O(n³), and O(n²) for each lost pair.
    ///
    /// ```
    /// use lightloom_control::algorithms::birkhoff::Bottleneck;
    /// let cells = [
    ///     9, 5, 0, //
    ///     8, 0, 3,
    ///     0, 4, 2,
    /// ];
    /// let mut matching = Bottleneck::new(3);
    /// assert_eq!(matching.improve(&cells, i64::MAX), 3);
    /// assert_eq!(matching.columns(), [0, 2, 1]);
    /// ```
    pub fn improve(&mut self, cells: &[i64], above: i64) -> i64 {
        assert_eq!(cells.len(), self.n * self.n, "n rows of n");
        let mut threshold = above.min(widest_possible(self.n, cells));
        self.drop_below(cells, threshold);
        for row in 0..self.n {
            if self.column_of[row] == NONE {
                threshold = self.augment(row, cells, threshold);
            }
        }
        threshold
    }

    fn drop_below(&mut self, cells: &[i64], threshold: i64) {
        for (row, column) in self.column_of.iter_mut().enumerate() {
            if *column != NONE && cells[row * self.n + *column as usize] < threshold {
                self.row_of[*column as usize] = NONE;
                *column = NONE;
            }
        }
    }

    /// Matches one more row; returns the threshold that this required.
    fn augment(&mut self, root: usize, cells: &[i64], mut threshold: i64) -> i64 {
        self.widest
            .copy_from_slice(&cells[root * self.n..][..self.n]);
        self.from.fill(root as u32);
        loop {
            let column = self.reach(threshold);
            threshold = threshold.min(self.widest[column]);
            let row = self.row_of[column];
            if row == NONE {
                self.flip(root as u32, column as u32);
                return threshold;
            }
            self.widest[column] = INSIDE;
            self.grow(row, &cells[row as usize * self.n..][..self.n]);
        }
    }

    /// A free column to which the tree has an entry of at least `threshold`; if there is none, the
    /// column outside the tree to which it has the largest entry.
    fn reach(&self, threshold: i64) -> usize {
        let mut best = (INSIDE, 0);
        for (column, (&widest, &row)) in self.widest.iter().zip(&self.row_of).enumerate() {
            if row == NONE && widest >= threshold {
                return column;
            }
            if widest > best.0 {
                best = (widest, column);
            }
        }
        best.1
    }

    fn grow(&mut self, row: u32, cells: &[i64]) {
        let columns = self.widest.iter_mut().zip(&mut self.from);
        for ((widest, from), &cell) in columns.zip(cells) {
            if *widest != INSIDE && cell > *widest {
                *widest = cell;
                *from = row;
            }
        }
    }

    /// Matches each row on the path from the root to the free `column` with the next column on it.
    fn flip(&mut self, root: u32, mut column: u32) {
        loop {
            let row = self.from[column as usize];
            self.row_of[column as usize] = row;
            column = std::mem::replace(&mut self.column_of[row as usize], column);
            if row == root {
                return;
            }
        }
    }
}

/// An upper bound: the smallest of the largest entries of all rows and columns.
fn widest_possible(n: usize, cells: &[i64]) -> i64 {
    let mut columns = vec![0; n];
    let mut least = i64::MAX;
    for row in cells.chunks_exact(n.max(1)) {
        let mut most = 0;
        for (column, &cell) in columns.iter_mut().zip(row) {
            most = most.max(cell);
            *column = cell.max(*column);
        }
        least = least.min(most);
    }
    columns.into_iter().fold(least, i64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::hopcroft_karp::{maximum, BitRows};
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    fn perfect_at(n: usize, cells: &[i64], threshold: i64) -> bool {
        let edges = BitRows::from_fn(n, n, |i, j| cells[i * n + j] >= threshold);
        maximum(&edges).is_perfect()
    }

    fn check(n: usize, cells: &[i64], matching: &Bottleneck, smallest: i64) {
        let mut columns = matching.columns().to_vec();
        let chosen = columns.iter().enumerate();
        let chosen = chosen.map(|(i, &j)| cells[i * n + j as usize]);
        assert_eq!(chosen.min(), Some(smallest));
        columns.sort_unstable();
        assert!(columns.iter().enumerate().all(|(i, &j)| i as u32 == j));
        assert!(!perfect_at(n, cells, smallest + 1));
    }

    proptest! {
        #[test]
        fn no_perfect_matching_exists_above_it(demand in demands(20, 50)) {
            let mut matching = Bottleneck::new(demand.n());
            let smallest = matching.improve(demand.cells(), i64::MAX);
            check(demand.n(), demand.cells(), &matching, smallest);
        }

        #[test]
        fn a_warm_start_finds_the_same_bottleneck(
            demand in demands(12, 50), cuts in proptest::collection::vec((0usize..144, 1i64..20), 30)
        ) {
            let n = demand.n();
            let mut cells = demand.cells().to_vec();
            let mut matching = Bottleneck::new(n);
            let mut last = matching.improve(&cells, i64::MAX);
            for (at, cut) in cuts {
                let cell = &mut cells[at % (n * n)];
                *cell = (*cell - cut).max(0);
                last = matching.improve(&cells, last);
                check(n, &cells, &matching, last);
            }
        }
    }
}
