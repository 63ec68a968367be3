//! QuickStuff: raises demand until every port sends and receives the same amount, so that it
//! decomposes into permutations (Liu et al., Solstice, CoNEXT 2015, §4.2).
//!
//! No entry decreases, so a schedule of the stuffed matrix carries all demand; the added volume is
//! unused capacity. The shares of the demand are not preserved ([`crate::algorithms::sinkhorn`]
//! comes closer to them). Volume on the diagonal is idle time.

use crate::demand::Matrix;

/// The stuffed matrix and the value of all its row and column sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuffed {
    /// At least the demand, entry by entry; its diagonal may be used.
    pub matrix: Matrix,
    /// φ: the largest row or column sum of the demand.
    pub line_sum: i64,
}

/// Raises the non-zero entries as far as possible, then all entries, row by row, until every row
/// and column sum equals the largest of them. O(N²).
///
/// ```
/// use lightloom_control::{algorithms::quickstuff::stuff, demand::Matrix};
/// let demand = Matrix::new(3, 3, vec![0, 4, 1, 2, 0, 0, 0, 0, 0]).unwrap();
/// let stuffed = stuff(&demand);
/// assert_eq!(stuffed.line_sum, 5);
/// // 2 at [1][0] became 5; [2][1] and [2][2] were empty.
/// assert_eq!(stuffed.matrix.cells(), [0, 4, 1, 5, 0, 0, 0, 1, 4]);
/// ```
pub fn stuff(demand: &Matrix) -> Stuffed {
    let (rows, columns) = demand.line_sums();
    stuff_lines(demand, rows, columns)
}

/// Like [`stuff`], with given sums.
pub(crate) fn stuff_lines(demand: &Matrix, mut rows: Vec<i64>, mut columns: Vec<i64>) -> Stuffed {
    let n = demand.n();
    let line_sum = rows.iter().chain(&columns).copied().max().unwrap_or(0);
    let lines = rows.iter_mut().chain(&mut columns);
    lines.for_each(|sum| *sum = line_sum - *sum);
    let mut matrix = demand.clone();
    for fill_zeros in [false, true] {
        for (row, short) in rows.iter_mut().enumerate() {
            let cells = &mut matrix.cells_mut()[row * n..][..n];
            raise(cells, short, &mut columns, fill_zeros);
        }
    }
    Stuffed { matrix, line_sum }
}

/// Raises entries of one row by the amounts that the row and its columns lack.
fn raise(cells: &mut [i64], short: &mut i64, columns: &mut [i64], fill_zeros: bool) {
    for (cell, column) in cells.iter_mut().zip(columns) {
        if *short == 0 {
            break;
        }
        if fill_zeros || *cell != 0 {
            let more = (*short).min(*column);
            *cell += more;
            *short -= more;
            *column -= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_become_equal_and_nothing_shrinks(demand in demands(12, 1000)) {
            let stuffed = stuff(&demand);
            prop_assert_eq!(stuffed.line_sum, demand.line_max());
            prop_assert_eq!(stuffed.matrix.row_sums(), vec![stuffed.line_sum; demand.n()]);
            prop_assert_eq!(stuffed.matrix.column_sums(), vec![stuffed.line_sum; demand.n()]);
            for (after, before) in stuffed.matrix.cells().iter().zip(demand.cells()) {
                prop_assert!(after >= before);
            }
        }

        /// The reason for which non-zero entries come first: fewer circuits are needed.
        #[test]
        fn the_first_pass_leaves_no_pair_short(demand in demands(12, 1000)) {
            let mut first = demand.clone();
            let n = demand.n();
            let phi = demand.line_max();
            let stuffed = stuff(&demand).matrix;
            for (i, j, _) in demand.entries() {
                first.cells_mut()[i * n + j] = stuffed.get(i, j);
            }
            let (rows, columns) = (first.row_sums(), first.column_sums());
            for (i, j, _) in demand.entries() {
                prop_assert!(rows[i] == phi || columns[j] == phi);
            }
        }
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let most = i64::MAX / 2;
        let demand = Matrix::new(3, 3, vec![0, most, most, 0, 0, 0, 0, 0, 0]).unwrap();
        let stuffed = stuff(&demand);
        assert_eq!(stuffed.matrix.column_sums(), [2 * most; 3]);
        assert_eq!(stuff(&Matrix::zeros(2)).line_sum, 0);
    }
}
