//! Perfect matchings with halved thresholds.

use crate::algorithms::hopcroft_karp::{BitRows, HopcroftKarp, Pairing, FREE};
use crate::demand::Matrix;

/// The remaining demand of a pair, with and without stuffing; adjacent, because both are read and
/// written together.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub stuffed: i64,
    pub real: i64,
}

/// The properties of a matching that the plan uses.
pub(super) struct Slice {
    /// The smallest of its stuffed entries.
    pub smallest: i64,
    /// The largest of its real entries.
    pub largest_real: i64,
}

/// Perfect matchings of a matrix with equal line sums, with the largest possible entries within a
/// factor of two.
pub(super) struct Slices {
    n: usize,
    entries: Vec<Entry>,
    /// The exponent of r: entries of at least 2^level are edges.
    level: usize,
    edges: BitRows,
    pairing: Pairing,
    search: HopcroftKarp,
    /// The entries of the present matching, row by row; gathered once, because they are far apart
    /// in memory.
    chosen: Vec<Entry>,
    /// Columns without a row, as a bitset.
    free: Vec<u64>,
    /// Entries that become edges at each level; some have become too small since.
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
            chosen: Vec::with_capacity(n),
            free: vec![0; n.div_ceil(64)],
            waiting,
        };
        slices.admit();
        slices
    }

    /// Adds the entries of this level as edges.
    fn admit(&mut self) {
        for at in std::mem::take(&mut self.waiting[self.level]) {
            let at = at as usize;
            if self.entries[at].stuffed >> self.level > 0 {
                self.edges.set(at / self.n, at % self.n);
            }
        }
    }

    /// The next matching, which is in `pairing`; `None` if nothing remains.
    pub fn next(&mut self) -> Option<Slice> {
        loop {
            self.pair_quickly();
            self.search.augment(&self.edges, &mut self.pairing);
            if self.pairing.is_perfect() {
                return Some(self.gather());
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
        let pairs = self.pairing.column_of().iter().zip(&self.chosen);
        let pairs = pairs.enumerate();
        pairs.map(|(row, (&column, entry))| (row, column as usize, entry.real))
    }

    /// Matches free rows with free columns, or with a column whose row has another one: nearly all
    /// of them, in a fraction of the time of a complete search.
    fn pair_quickly(&mut self) {
        self.free.fill(0);
        for (column, &row) in self.pairing.row_of().iter().enumerate() {
            self.free[column / 64] |= u64::from(row == FREE) << (column % 64);
        }
        for row in 0..self.n {
            if self.pairing.column_of()[row] == FREE {
                self.pair_row(row);
            }
        }
    }

    fn pair_row(&mut self, row: usize) {
        let columns = self.edges.row(row);
        let mut found = first_common(columns, &self.free);
        if let Some(column) = found {
            self.pairing.pair(row, column);
        } else {
            for column in ones(columns) {
                let other = self.pairing.row_of()[column] as usize;
                found = first_common(self.edges.row(other), &self.free);
                if let Some(instead) = found {
                    self.pairing.release(other);
                    self.pairing.pair(row, column);
                    self.pairing.pair(other, instead);
                    break;
                }
            }
        }
        if let Some(column) = found {
            self.free[column / 64] &= !(1 << (column % 64));
        }
    }

    fn gather(&mut self) -> Slice {
        let mut slice = Slice {
            smallest: i64::MAX,
            largest_real: 0,
        };
        self.chosen.clear();
        let rows = self.entries.chunks_exact(self.n);
        self.chosen
            .extend(rows.zip(self.pairing.column_of()).map(|(row, &column)| {
                let entry = row[column as usize];
                slice.smallest = slice.smallest.min(entry.stuffed);
                slice.largest_real = slice.largest_real.max(entry.real);
                entry
            }));
        slice
    }

    /// Subtracts `stuffed` from every entry of the matching, and up to `bytes` from its real
    /// demand; calls `sent` for every pair with the bytes that were real.
    pub fn take(&mut self, stuffed: i64, bytes: i64, mut sent: impl FnMut(usize, usize, i64)) {
        for (row, entry) in self.chosen.iter().enumerate() {
            let column = self.pairing.column_of()[row] as usize;
            let at = row * self.n + column;
            let (real, left) = (bytes.min(entry.real), entry.stuffed - stuffed);
            self.entries[at] = Entry {
                stuffed: left,
                real: entry.real - real,
            };
            sent(row, column, real);
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

/// The lowest index that is set in both.
fn first_common(a: &[u64], b: &[u64]) -> Option<usize> {
    let common = a.iter().zip(b).map(|(a, b)| a & b);
    let (word, bits) = common.enumerate().find(|&(_, bits)| bits != 0)?;
    Some(word * 64 + bits.trailing_zeros() as usize)
}

/// The set indices in ascending order.
fn ones(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(word, &bits)| {
        let mut bits = bits;
        std::iter::from_fn(move || {
            let bit = bits.trailing_zeros() as usize;
            let is_one = bits != 0;
            bits &= bits.wrapping_sub(1);
            is_one.then_some(word * 64 + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::quickstuff;
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slices_are_within_a_factor_of_two_of_the_bottleneck(demand in demands(12, 1000)) {
            let stuffed = quickstuff::stuff(&demand);
            let mut slices = Slices::new(stuffed.matrix, &demand);
            let mut taken = 0;
            while let Some(slice) = slices.next().filter(|_| taken < stuffed.line_sum) {
                let smallest = slice.smallest;
                let mut bottleneck = crate::algorithms::birkhoff::Bottleneck::new(demand.n());
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
