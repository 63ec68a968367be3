//! The remaining demand, line by line.
//!
//! Rows and columns list the pairs with remaining demand, the largest first. This order holds for
//! every cap, so a search for the best pairs of a line can stop early. Pairs without remaining
//! demand are not listed.

use std::cmp::Reverse;

/// The remaining demand of a pair in one of its lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub bytes: i64,
    /// The other line.
    pub of: u32,
}

/// The pairs of every row, or of every column, in descending order; equal ones from the diagonal
/// onwards, so that not all lines have the same first pair.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    entries: Vec<Entry>,
    /// Start and end of each line in `entries`.
    bounds: Vec<(usize, usize)>,
}

/// The remaining demand.
#[derive(Clone, Debug)]
pub(super) struct Left {
    n: usize,
    cells: Vec<i64>,
    pub rows: Lines,
    pub columns: Lines,
    /// Pairs whose entries in the lines are outdated, with the outdated values.
    unsorted: Vec<(u32, u32, i64)>,
}

impl Left {
    /// Row-major, of `n` rows and columns.
    pub fn new(n: usize, cells: Vec<i64>) -> Left {
        Left {
            n,
            rows: Lines::new(n, |row, column| cells[row * n + column]),
            columns: Lines::new(n, |column, row| cells[row * n + column]),
            cells,
            unsorted: Vec::new(),
        }
    }

    pub fn get(&self, row: usize, column: u32) -> i64 {
        self.cells[row * self.n + column as usize]
    }

    /// Lowers the remaining demand of a pair to `to`. Lines are sorted again later.
    pub fn shrink(&mut self, row: usize, column: u32, to: i64) {
        let cell = &mut self.cells[row * self.n + column as usize];
        let from = std::mem::replace(cell, to);
        self.unsorted.push((row as u32, column, from));
    }

    /// Sorts lines by the remaining demand. A slot is often lengthened many times before the next
    /// query, so the first value of a pair since the last sort is used.
    pub fn sort(&mut self) {
        let order = |&(row, column, from): &(u32, u32, i64)| (row, column, Reverse(from));
        self.unsorted.sort_unstable_by_key(order);
        self.unsorted
            .dedup_by_key(|&mut (row, column, _)| (row, column));
        for (row, column, from) in self.unsorted.drain(..) {
            let to = self.cells[row as usize * self.n + column as usize];
            self.rows.shrink(row as usize, column, from, to);
            self.columns.shrink(column as usize, row, from, to);
        }
    }

    #[cfg(test)]
    pub fn cells(&self) -> &[i64] {
        &self.cells
    }
}

impl Lines {
    fn new(n: usize, bytes: impl Fn(usize, usize) -> i64) -> Lines {
        let (mut entries, mut bounds) = (Vec::new(), Vec::with_capacity(n));
        for line in 0..n {
            let from = entries.len();
            for of in 0..n {
                let (bytes, of) = (bytes(line, of), of as u32);
                if bytes > 0 {
                    entries.push(Entry { bytes, of });
                }
            }
            entries[from..].sort_unstable_by_key(|entry| order(line, entry));
            bounds.push((from, entries.len()));
        }
        Lines { entries, bounds }
    }

    pub fn line(&self, line: usize) -> &[Entry] {
        let (from, to) = self.bounds[line];
        &self.entries[from..to]
    }

    /// The largest remaining demand of a pair, for each line.
    pub fn largest(&self) -> impl Iterator<Item = i64> + '_ {
        let lines = (0..self.bounds.len()).map(|line| self.line(line));
        lines.map(|line| line.first().map_or(0, |entry| entry.bytes))
    }

    fn shrink(&mut self, line: usize, of: u32, from: i64, to: i64) {
        let (begin, end) = &mut self.bounds[line];
        let entries = &mut self.entries[*begin..*end];
        let place = |entries: &[Entry], bytes| {
            let sought = order(line, &Entry { bytes, of });
            entries.partition_point(|entry| order(line, entry) < sought)
        };
        let at = place(entries, from);
        let behind = &mut entries[at..];
        let to_place = place(&behind[1..], to);
        behind.copy_within(1..=to_place, 0);
        behind[to_place] = Entry { bytes: to, of };
        *end -= usize::from(to == 0);
    }
}

/// The sort key of a line's entries.
fn order(line: usize, entry: &Entry) -> (Reverse<i64>, bool, u32) {
    let before_diagonal = (entry.of as usize) < line;
    (Reverse(entry.bytes), before_diagonal, entry.of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    fn verify(lines: &Lines, bytes: impl Fn(usize, usize) -> i64) {
        let n = lines.bounds.len();
        for line in 0..n {
            let entries = lines.line(line);
            assert!(entries.windows(2).all(|w| w[0].bytes >= w[1].bytes));
            let positive = (0..n).filter(|&of| bytes(line, of) > 0);
            assert_eq!(entries.len(), positive.count());
            let mut seen: Vec<u32> = entries.iter().map(|entry| entry.of).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), entries.len());
            for entry in entries {
                assert_eq!(entry.bytes, bytes(line, entry.of as usize));
            }
        }
    }

    proptest! {
        #[test]
        fn lines_list_what_is_left(
            demand in demands(8, 5),
            sent in proptest::collection::vec((0usize..8, 0u32..8, 1i64..4, any::<bool>()), 0..40),
        ) {
            let mut left = Left::new(demand.n(), demand.cells().to_vec());
            let mut expected = demand.clone();
            for (row, column, bytes, sort) in sent {
                let n = demand.n();
                let (row, column) = (row % n, column % n as u32);
                let to = (left.get(row, column) - bytes).max(0);
                if to < left.get(row, column) {
                    left.shrink(row, column, to);
                    expected.set(row, column as usize, to);
                }
                if sort {
                    left.sort();
                }
            }
            left.sort();
            {
                prop_assert_eq!(left.cells(), expected.cells());
                verify(&left.rows, |row, column| expected.get(row, column));
                verify(&left.columns, |column, row| expected.get(row, column));
            }
        }
    }
}
