//! Perfect matchings by halving thresholds.

use crate::demand::Matrix;
use crate::hopcroft_karp::{BitRows, HopcroftKarp, Pairing};

/// What is left of a pair's demand, with stuffing and without: side by side, since
/// they are read and written together.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub stuffed: i64,
    pub real: i64,
}

/// What matters of a matching.
pub(super) struct Slice {
    /// Of the stuffed entries.
    pub smallest: i64,
    /// Of the real ones.
    pub largest_real: i64,
}

/// Perfect matchings of a matrix with equal line sums, of entries as large as can
/// be within a factor of two.
pub(super) struct Slices {
    n: usize,
    entries: Vec<Entry>,
    /// The exponent of r: entries of at least 2^level are edges.
    level: usize,
    edges: BitRows,
    pairing: Pairing,
    search: HopcroftKarp,
    /// Entries that become edges at each level; some no longer do.
    waiting: Vec<Vec<u32>>,
}

/// ⌊log₂⌋ of an entry above 0.
fn level(entry: i64) -> usize {
    entry.ilog2() as usize
}

impl Slices {
    pub fn new(stuffed: Matrix, demand: &Matrix) -> Slices {
        let n = stuffed.n();
        let top = level(stuffed.max().max(1));
        let mut waiting = vec![Vec::new(); top + 1];
        for (at, &entry) in stuffed.cells().iter().enumerate() {
            if entry > 0 {
                waiting[level(entry)].push(at as u32);
            }
        }
        let mut slices = Slices {
            n,
            entries: stuffed
                .cells()
                .iter()
                .zip(demand.cells())
                .map(|(&stuffed, &real)| Entry { stuffed, real })
                .collect(),
            level: top,
            edges: BitRows::new(n, n),
            pairing: Pairing::new(n, n),
            search: HopcroftKarp::new(),
            waiting,
        };
        slices.admit();
        slices
    }

    /// Makes edges of the entries of this level.
    fn admit(&mut self) {
        for at in std::mem::take(&mut self.waiting[self.level]) {
            let at = at as usize;
            if self.entries[at].stuffed >> self.level > 0 {
                self.edges.set(at / self.n, at % self.n);
            }
        }
    }

    /// The next matching, which is in `pairing`; `None` when nothing is left.
    pub fn next(&mut self) -> Option<Slice> {
        loop {
            self.search.augment(&self.edges, &mut self.pairing);
            if self.pairing.is_perfect() {
                return Some(self.slice());
            }
            self.level = self.level.checked_sub(1)?;
            self.admit();
        }
    }

    /// The output of every input in the present matching.
    pub fn permutation(&self) -> &[u32] {
        self.pairing.column_of()
    }

    /// The real demand of the present matching: (input, output, bytes).
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, i64)> + '_ {
        let rows = self.entries.chunks_exact(self.n);
        let pairs = self.pairing.column_of().iter().zip(rows).enumerate();
        pairs.map(|(i, (&j, row))| (i, j as usize, row[j as usize].real))
    }

    fn slice(&self) -> Slice {
        let pairs = self.pairing.column_of().iter();
        let rows = self.entries.chunks_exact(self.n);
        let none = Slice {
            smallest: i64::MAX,
            largest_real: 0,
        };
        pairs.zip(rows).fold(none, |slice, (&column, row)| Slice {
            smallest: slice.smallest.min(row[column as usize].stuffed),
            largest_real: slice.largest_real.max(row[column as usize].real),
        })
    }

    /// Takes `stuffed` from every entry of the matching, and `bytes` from what is
    /// real of it; says where how much was.
    pub fn take(&mut self, stuffed: i64, bytes: i64, mut sent: impl FnMut(usize, usize, i64)) {
        for row in 0..self.n {
            let column = self.pairing.column_of()[row] as usize;
            let at = row * self.n + column;
            let entry = &mut self.entries[at];
            let real = bytes.min(entry.real);
            entry.real -= real;
            sent(row, column, real);
            entry.stuffed -= stuffed;
            let left = entry.stuffed;
            if left >> self.level == 0 {
                self.edges.clear(row, column);
                self.pairing.release(row);
                if left > 0 {
                    self.waiting[level(left)].push(at as u32);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::tests::demands;
    use crate::quickstuff;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slices_are_within_a_factor_of_two_of_the_bottleneck(demand in demands(12, 1000)) {
            let stuffed = quickstuff::stuff(&demand);
            let mut slices = Slices::new(stuffed.matrix, &demand);
            let mut taken = 0;
            while let Some(slice) = slices.next().filter(|_| taken < stuffed.line_sum) {
                let smallest = slice.smallest;
                let mut bottleneck = crate::birkhoff::Bottleneck::new(demand.n());
                let left: Vec<i64> = slices.entries.iter().map(|entry| entry.stuffed).collect();
                let widest = bottleneck.improve(&left, i64::MAX);
                prop_assert!(smallest <= widest && widest < 2 << slices.level);
                prop_assert!(smallest >= 1 << slices.level);
                slices.take(smallest, 0, |_, _, _| {});
                taken += smallest;
            }
            prop_assert_eq!(taken, stuffed.line_sum);
        }
    }
}
