//! Demand matrices: how many bytes each of N nodes has for each other.
//!
//! Every algorithm of this crate reads demand as a [`Matrix`], so that what cannot
//! be demand (negative, infinite, a node's traffic to itself, sums beyond an i64)
//! is refused in one place, by the name of its entry. Units are the caller's:
//! bytes where a schedule has to last long enough to carry them.
//!
//! Matrices are dense: at N = 4,096 one takes 128 MiB. How demand is measured or
//! predicted is the caller's matter.

use lightloom_engine::Refusal;
use std::fmt;

/// A square matrix of non-negative integers, row = source, column = destination.
#[derive(Clone, PartialEq, Eq)]
pub struct Matrix {
    n: usize,
    cells: Vec<i64>,
}

impl Matrix {
    /// Demand from `rows` × `columns` numbers, row by row [bytes].
    ///
    /// # Errors
    /// The first of: empty; not square; an entry that is negative, or on the
    /// diagonal and not zero; a total beyond i64; nothing but zeros.
    ///
    /// ```
    /// use lightloom_control::demand::Matrix;
    /// let demand = Matrix::new(2, 2, vec![0, 7, 3, 0]).unwrap();
    /// assert_eq!((demand.n(), demand.get(0, 1), demand.total()), (2, 7, 10));
    ///
    /// let refusal = Matrix::new(2, 2, vec![0, -7, 3, 0]).unwrap_err();
    /// assert_eq!(refusal.key, "demand[0][1]");
    /// ```
    pub fn new(rows: usize, columns: usize, cells: Vec<i64>) -> Result<Matrix, Refusal> {
        let n = check_shape(rows, columns, cells.len())?;
        let matrix = Matrix { n, cells };
        let sums = Sums::of(&matrix.cells);
        let mut diagonal = matrix.cells.iter().step_by(n + 1);
        if sums.any_negative || diagonal.any(|&value| value != 0) {
            matrix.check_entries()?;
        }
        sums.check_total()?;
        Ok(matrix)
    }

    /// A matrix whose diagonal may be used, as stuffed demand uses it to idle.
    ///
    /// # Errors
    /// As [`Matrix::new`], but for the diagonal.
    ///
    /// ```
    /// use lightloom_control::demand::Matrix;
    /// assert!(Matrix::new(2, 2, vec![1, 7, 3, 0]).is_err());
    /// assert!(Matrix::with_diagonal(2, 2, vec![1, 7, 3, 0]).is_ok());
    /// ```
    pub fn with_diagonal(rows: usize, columns: usize, cells: Vec<i64>) -> Result<Matrix, Refusal> {
        let n = check_shape(rows, columns, cells.len())?;
        if let Some(at) = cells.iter().position(|&value| value < 0) {
            return Err(negative(n, at, cells[at]));
        }
        Sums::of(&cells).check_total()?;
        Ok(Matrix { n, cells })
    }

    /// Demand from numbers that need not be whole, row by row [bytes]; each is
    /// rounded to the nearest byte.
    ///
    /// # Errors
    /// As [`Matrix::new`]; an entry that is NaN, infinite or beyond i64; and
    /// entries so small that rounding one to whole bytes would change it by more
    /// than a thousandth of the largest.
    ///
    /// ```
    /// use lightloom_control::demand::Matrix;
    /// let demand = Matrix::from_f64(2, 2, &[0.0, 1500.2, 3e9, 0.0]).unwrap();
    /// assert_eq!(demand.cells(), [0, 1500, 3_000_000_000, 0]);
    ///
    /// let shares = Matrix::from_f64(2, 2, &[0.0, 0.9, 1.4, 0.0]).unwrap_err();
    /// assert!(shares.limit.contains("too small to be rounded"));
    /// ```
    pub fn from_f64(rows: usize, columns: usize, cells: &[f64]) -> Result<Matrix, Refusal> {
        let n = check_shape(rows, columns, cells.len())?;
        for (at, &x) in cells.iter().enumerate() {
            check_float(n, at, x)?;
        }
        let rounded = cells.iter().map(|x| x.round() as i64).collect();
        let matrix = Matrix { n, cells: rounded };
        matrix.check_entries()?;
        check_rounding(n, cells)?;
        Sums::of(&matrix.cells).check_total()?;
        Ok(matrix)
    }

    /// Demand from one vector a row [bytes].
    ///
    /// # Errors
    /// As [`Matrix::new`]; a row whose length is not the number of rows.
    ///
    /// ```
    /// use lightloom_control::demand::Matrix;
    /// let demand = Matrix::from_rows(&[vec![0, 7], vec![3, 0]]).unwrap();
    /// assert_eq!(demand.row(1), [3, 0]);
    /// ```
    pub fn from_rows(rows: &[Vec<i64>]) -> Result<Matrix, Refusal> {
        let n = rows.len();
        if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != n) {
            return Err(Refusal::new(
                format!("demand[{i}]"),
                format!("{} numbers", row.len()),
                format!("a demand matrix is square, and this one has {n} rows"),
                format!("give {n} numbers in each row"),
            ));
        }
        Matrix::new(n, n, rows.concat())
    }

    /// No demand between any of `n` nodes, to be filled with [`Matrix::set`].
    ///
    /// ```
    /// use lightloom_control::demand::Matrix;
    /// let mut demand = Matrix::zeros(3);
    /// demand.set(0, 2, 1500);
    /// assert_eq!(demand.entries().collect::<Vec<_>>(), [(0, 2, 1500)]);
    /// ```
    pub fn zeros(n: usize) -> Matrix {
        let cells = vec![0; n * n];
        Matrix { n, cells }
    }

    /// Matrices that need not be demand: stuffed ones may use their diagonal.
    pub(crate) fn from_cells(n: usize, cells: Vec<i64>) -> Matrix {
        debug_assert_eq!(cells.len(), n * n);
        Matrix { n, cells }
    }

    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.n
    }

    /// What `row` has for `column`.
    pub fn get(&self, row: usize, column: usize) -> i64 {
        debug_assert!(column < self.n);
        self.cells[row * self.n + column]
    }

    /// Replaces one entry. The total has to stay within i64.
    ///
    /// # Panics
    /// If `value` is negative, or not zero on the diagonal.
    pub fn set(&mut self, row: usize, column: usize, value: i64) {
        assert!(column < self.n, "column {column} of {}", self.n);
        assert!(value >= 0, "demand is not negative");
        assert!(row != column || value == 0, "no demand of a node to itself");
        self.cells[row * self.n + column] = value;
    }

    /// All entries, row by row.
    pub fn cells(&self) -> &[i64] {
        &self.cells
    }

    /// All entries, row by row, and no matrix any more.
    pub fn into_cells(self) -> Vec<i64> {
        self.cells
    }

    /// All entries of a matrix that solvers take apart.
    pub(crate) fn cells_mut(&mut self) -> &mut [i64] {
        &mut self.cells
    }

    /// What `row` has for everyone.
    pub fn row(&self, row: usize) -> &[i64] {
        &self.cells[row * self.n..][..self.n]
    }

    /// The entries that are not zero, row by row: (row, column, value).
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, i64)> + '_ {
        let cells = self.cells.iter().enumerate();
        cells
            .filter(|(_, &value)| value != 0)
            .map(|(at, &value)| (at / self.n, at % self.n, value))
    }

    /// What each node sends.
    ///
    /// ```
    /// use lightloom_control::demand::Matrix;
    /// let demand = Matrix::new(2, 2, vec![0, 7, 3, 0]).unwrap();
    /// assert_eq!((demand.row_sums(), demand.column_sums()), (vec![7, 3], vec![3, 7]));
    /// ```
    pub fn row_sums(&self) -> Vec<i64> {
        (0..self.n).map(|i| self.row(i).iter().sum()).collect()
    }

    /// What each node receives.
    pub fn column_sums(&self) -> Vec<i64> {
        self.line_sums().1
    }

    /// The largest row or column sum: no schedule of one circuit a port that
    /// carries everything is shorter.
    ///
    /// ```
    /// use lightloom_control::demand::Matrix;
    /// let demand = Matrix::new(3, 3, vec![0, 7, 1, 3, 0, 0, 0, 2, 0]).unwrap();
    /// assert_eq!(demand.line_max(), 9); // node 1 receives 7 + 2
    /// ```
    pub fn line_max(&self) -> i64 {
        let (rows, columns) = self.line_sums();
        rows.into_iter().chain(columns).max().unwrap_or(0)
    }

    /// Row sums and column sums, read in one go.
    pub(crate) fn line_sums(&self) -> (Vec<i64>, Vec<i64>) {
        let mut columns = vec![0; self.n];
        let rows = (0..self.n).map(|i| {
            let row = self.row(i);
            for (sum, value) in columns.iter_mut().zip(row) {
                *sum += value;
            }
            row.iter().sum()
        });
        (rows.collect(), columns)
    }

    /// The sum of all entries.
    ///
    /// ```
    /// use lightloom_control::demand::Matrix;
    /// let demand = Matrix::new(2, 2, vec![0, 7, 3, 0]).unwrap();
    /// assert_eq!((demand.total(), demand.max(), demand.is_zero()), (10, 7, false));
    /// ```
    pub fn total(&self) -> i64 {
        self.cells.iter().sum()
    }

    /// The largest entry; 0 for no nodes.
    pub fn max(&self) -> i64 {
        self.cells.iter().copied().max().unwrap_or(0)
    }

    /// Whether nobody wants anything.
    pub fn is_zero(&self) -> bool {
        self.cells.iter().all(|&value| value == 0)
    }

    /// Demand of both directions on both, `D + Dᵀ`: the weights of circuits that
    /// carry both.
    ///
    /// ```
    /// use lightloom_control::demand::Matrix;
    /// let demand = Matrix::new(2, 2, vec![0, 7, 3, 0]).unwrap();
    /// assert_eq!(demand.symmetrized().cells(), [0, 10, 10, 0]);
    /// ```
    pub fn symmetrized(&self) -> Matrix {
        let pairs = (0..self.n).flat_map(|i| (0..self.n).map(move |j| (i, j)));
        let cells = pairs
            .map(|(i, j)| self.get(i, j) + self.get(j, i))
            .collect();
        Matrix { n: self.n, cells }
    }

    /// Refuses weights that differ by direction, for undirected circuits.
    ///
    /// # Errors
    /// Names the first entry that is not its mirror image.
    ///
    /// ```
    /// use lightloom_control::demand::Matrix;
    /// let demand = Matrix::new(2, 2, vec![0, 7, 3, 0]).unwrap();
    /// assert_eq!(demand.require_symmetric().unwrap_err().key, "demand[0][1]");
    /// assert!(demand.symmetrized().require_symmetric().is_ok());
    /// ```
    pub fn require_symmetric(&self) -> Result<(), Refusal> {
        for i in 0..self.n {
            for j in i + 1..self.n {
                let (there, back) = (self.get(i, j), self.get(j, i));
                if there != back {
                    return Err(Refusal::new(
                        entry(self.n, i * self.n + j),
                        there,
                        format!("not symmetric: demand[{j}][{i}] is {back}"),
                        "add both directions (D + its transpose)",
                    ));
                }
            }
        }
        Ok(())
    }

    /// The first entry that is no demand, by name.
    fn check_entries(&self) -> Result<(), Refusal> {
        for (i, row) in self.cells.chunks_exact(self.n).enumerate() {
            for (j, &value) in row.iter().enumerate() {
                if value < 0 {
                    return Err(negative(self.n, i * self.n + j, value));
                }
                if value != 0 && i == j {
                    return Err(Refusal::new(
                        entry(self.n, i * self.n + j),
                        value,
                        "a node has no demand for itself",
                        "put 0 on the diagonal",
                    ));
                }
            }
        }
        Ok(())
    }
}

/// What is known of all entries together after one walk over them.
struct Sums {
    any_negative: bool,
    /// Of none that is negative.
    total: u128,
}

impl Sums {
    /// Adds upper and lower halves up apart, so that nothing overflows and a processor
    /// adds several at once.
    fn of(cells: &[i64]) -> Sums {
        let (mut signs, mut total) = (0, 0);
        // So many halves fit a word together.
        for part in cells.chunks(1 << 16) {
            let (mut low, mut high) = (0u64, 0u64);
            for &value in part {
                signs |= value;
                low += value as u64 & 0xffff_ffff;
                high += value as u64 >> 32;
            }
            total += (u128::from(high) << 32) + u128::from(low);
        }
        Sums {
            any_negative: signs < 0,
            total,
        }
    }

    fn check_total(&self) -> Result<(), Refusal> {
        let total = self.total;
        if total > i64::MAX as u128 {
            return Err(Refusal::new(
                "demand",
                format!("a total of {total}"),
                format!("the sum must not exceed {}", i64::MAX),
                "give demand in a larger unit, or divide it",
            ));
        }
        if total == 0 {
            return Err(Refusal::new(
                "demand",
                "only zeros",
                "there is nothing to plan for",
                "give at least one entry above 0",
            ));
        }
        Ok(())
    }
}

impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = (0..self.n).map(|i| self.row(i));
        f.debug_list().entries(rows).finish()
    }
}

/// A number for a message, with an exponent where its digits would fill a line.
pub(crate) fn number(x: f64) -> String {
    match x.abs() {
        size if size == 0.0 || (1e-6..1e21).contains(&size) || !size.is_finite() => x.to_string(),
        _ => format!("{x:e}"),
    }
}

fn entry(n: usize, at: usize) -> String {
    format!("demand[{}][{}]", at / n, at % n)
}

fn negative(n: usize, at: usize, value: impl fmt::Display) -> Refusal {
    Refusal::new(
        entry(n, at),
        value,
        "demand is not negative",
        "give 0 or more",
    )
}

fn check_shape(rows: usize, columns: usize, cells: usize) -> Result<usize, Refusal> {
    if rows == 0 || columns == 0 {
        return Err(Refusal::new(
            "demand",
            format!("{rows} x {columns} numbers"),
            "the matrix is empty",
            "give one row and one column for each node",
        ));
    }
    if rows != columns || rows.checked_mul(columns) != Some(cells) {
        return Err(Refusal::new(
            "demand",
            match rows == columns {
                true => format!("{cells} numbers for {rows} rows and columns"),
                false => format!("{rows} x {columns} numbers"),
            },
            "a demand matrix is square",
            "give as many columns as rows: one of each for every node",
        ));
    }
    Ok(rows)
}

fn check_float(n: usize, at: usize, x: f64) -> Result<(), Refusal> {
    let shown = number(x);
    let refuse = |limit: &str, remedy: &str| Err(Refusal::new(entry(n, at), &shown, limit, remedy));
    match x {
        _ if x.is_nan() => refuse("not a number", "give 0 where there is no demand"),
        _ if x.is_infinite() => refuse("demand is finite", "give a number"),
        // What rounding would hide.
        _ if x < 0.0 => Err(negative(n, at, &shown)),
        _ if x >= i64::MAX as f64 => refuse(
            "an entry must fit 63 bits",
            "give demand in a larger unit, or divide it",
        ),
        _ => Ok(()),
    }
}

/// Fractions of a byte matter where there are hardly any bytes.
fn check_rounding(n: usize, cells: &[f64]) -> Result<(), Refusal> {
    let largest = cells.iter().copied().fold(0.0, f64::max);
    let lossy = |x: f64| (x - x.round()).abs() > 1e-3 * largest;
    match cells.iter().position(|&x| lossy(x)) {
        Some(at) => Err(Refusal::new(
            entry(n, at),
            number(cells[at]),
            format!("too small to be rounded to whole bytes, where the largest entry is {largest}"),
            "give demand in bytes, or multiply all of it, say by 1e6",
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Demand of 2 to `nodes` nodes, up to `most` an entry, from sparse to dense.
    pub(crate) fn demands(nodes: usize, most: i64) -> impl Strategy<Value = Matrix> {
        let sizes = (2..=nodes, 0.05f64..1.0, any::<bool>(), any::<u64>());
        sizes.prop_filter_map("no demand", move |(n, density, skewed, seed)| {
            let mut rng = lightloom_engine::Stream::new(seed, "demands", 0);
            let mut demand = Matrix::zeros(n);
            for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
                let (there, size) = (rng.unit() < density, rng.unit());
                // Some matrices have few large entries and many small ones.
                let size = if skewed { size.powi(8) } else { size };
                if there && i != j {
                    demand.set(i, j, 1 + (size * (most - 1) as f64) as i64);
                }
            }
            (!demand.is_zero()).then_some(demand)
        })
    }

    fn refused(result: Result<Matrix, Refusal>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn bad_matrices_are_refused_by_name() {
        let cases = [
            (
                refused(Matrix::new(0, 0, vec![])),
                "demand = 0 x 0 numbers: the matrix is empty; \
                 give one row and one column for each node",
            ),
            (
                refused(Matrix::new(2, 3, vec![0; 6])),
                "demand = 2 x 3 numbers: a demand matrix is square; \
                 give as many columns as rows: one of each for every node",
            ),
            (
                refused(Matrix::new(2, 2, vec![0; 3])),
                "demand = 3 numbers for 2 rows and columns: a demand matrix is square; \
                 give as many columns as rows: one of each for every node",
            ),
            (
                refused(Matrix::from_rows(&[vec![0, 1], vec![0]])),
                "demand[1] = 1 numbers: a demand matrix is square, and this one has 2 rows; \
                 give 2 numbers in each row",
            ),
            (
                refused(Matrix::new(2, 2, vec![0, 4, -1, 0])),
                "demand[1][0] = -1: demand is not negative; give 0 or more",
            ),
            (
                refused(Matrix::new(2, 2, vec![0, 4, 1, 9])),
                "demand[1][1] = 9: a node has no demand for itself; put 0 on the diagonal",
            ),
            (
                refused(Matrix::new(2, 2, vec![0; 4])),
                "demand = only zeros: there is nothing to plan for; \
                 give at least one entry above 0",
            ),
            (
                refused(Matrix::new(2, 2, vec![0, i64::MAX, 1, 0])),
                "demand = a total of 9223372036854775808: \
                 the sum must not exceed 9223372036854775807; \
                 give demand in a larger unit, or divide it",
            ),
        ];
        for (got, expected) in cases {
            assert_eq!(got, expected);
        }
    }

    #[test]
    fn bad_floats_are_refused_by_name() {
        let at_three_seven = |x: f64| {
            let mut cells = vec![0.0; 64];
            cells[3 * 8 + 7] = x;
            refused(Matrix::from_f64(8, 8, &cells))
        };
        let cases = [
            (f64::NAN, "NaN: not a number"),
            (f64::INFINITY, "inf: demand is finite"),
            (f64::NEG_INFINITY, "-inf: demand is finite"),
            (-0.25, "-0.25: demand is not negative"),
            (9.3e18, "9300000000000000000: an entry must fit 63 bits"),
            (1.5e300, "1.5e300: an entry must fit 63 bits"),
            (-1e300, "-1e300: demand is not negative"),
            (0.4, "0.4: too small to be rounded to whole bytes"),
            (1.5, "1.5: too small to be rounded to whole bytes"),
        ];
        for (x, expected) in cases {
            let got = at_three_seven(x);
            let expected = format!("demand[3][7] = {expected}");
            assert!(got.starts_with(&expected), "{got}\nnot {expected}");
        }
        assert!(refused(Matrix::from_f64(1, 2, &[0.0, 1.0])).contains("square"));
        assert!(refused(Matrix::from_f64(2, 2, &[0.0; 4])).contains("only zeros"));
        assert!(refused(Matrix::from_f64(2, 2, &[5.0, 1.0, 1.0, 0.0])).contains("itself"));
        assert!(refused(Matrix::from_f64(2, 2, &[0.0, 9e18, 9e18, 0.0])).contains("total"));
    }

    #[test]
    fn floats_are_rounded_to_whole_bytes() {
        let demand = Matrix::from_f64(2, 2, &[0.0, 1e-12, 999.6, 0.0]).unwrap();
        assert_eq!(demand.cells(), [0, 0, 1000, 0]);
        // Whole numbers may be small.
        let demand = Matrix::from_f64(2, 2, &[-0.0, 1.0, 2.0, 0.0]).unwrap();
        assert_eq!(demand.cells(), [0, 1, 2, 0]);
    }

    /// More entries than are added up in one go, up to the largest that there are.
    #[test]
    fn totals_of_many_large_entries_are_exact() {
        let n = 300;
        for value in [1, (1 << 32) - 1, 1 << 32, i64::MAX / 90_000, i64::MAX] {
            let total = n as i128 * (n as i128 - 1) * i128::from(value);
            let cell = |at: usize| if at / n == at % n { 0 } else { value };
            let refused = Matrix::new(n, n, (0..n * n).map(cell).collect()).err();
            match total <= i64::MAX as i128 {
                true => assert_eq!(refused, None, "{value}"),
                false => assert_eq!(refused.unwrap().value, format!("a total of {total}")),
            }
        }
    }

    #[test]
    fn the_largest_demand_that_fits_is_taken() {
        let demand = Matrix::new(2, 2, vec![0, i64::MAX - 1, 1, 0]).unwrap();
        assert_eq!(demand.symmetrized().get(0, 1), i64::MAX);
        assert_eq!(demand.total(), i64::MAX);
    }

    proptest! {
        #[test]
        fn sums_agree(n in 1usize..9, seed in any::<u64>()) {
            let mut rng = lightloom_engine::Stream::new(seed, "demand", 0);
            let mut demand = Matrix::zeros(n);
            for i in 0..n {
                for j in (0..n).filter(|&j| j != i) {
                    demand.set(i, j, rng.below(5) as i64);
                }
            }
            let of_entries = |f: &dyn Fn((usize, usize, i64)) -> usize, k: usize| -> i64 {
                demand.entries().filter(|&e| f(e) == k).map(|e| e.2).sum()
            };
            for k in 0..n {
                prop_assert_eq!(demand.row_sums()[k], of_entries(&|e| e.0, k));
                prop_assert_eq!(demand.column_sums()[k], of_entries(&|e| e.1, k));
            }
            let total: i64 = demand.entries().map(|e| e.2).sum();
            prop_assert_eq!(demand.total(), total);
            prop_assert_eq!(demand.is_zero(), total == 0);
            prop_assert_eq!(demand.symmetrized().row_sums(), demand.symmetrized().column_sums());
        }
    }
}
