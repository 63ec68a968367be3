//! Demand matrices: the bytes that each of N nodes has for each other node.
//!
//! Every algorithm of this crate takes demand as a [`Matrix`]. Invalid demand (negative or infinite
//! values, a node's traffic to itself, sums beyond an i64) is therefore refused in one place, by
//! the name of its entry. The caller chooses the unit: bytes if a schedule has to last long enough
//! to carry them.
//!
//! Matrices are dense: at N = 4,096 one takes 128 MiB. The caller measures or predicts the demand.

use super::checks::{check_float, check_rounding, check_shape, entry, negative, Sums};
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

    /// A matrix whose diagonal may be used; stuffed demand uses it for idle time.
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

    /// A matrix that need not be demand: a stuffed one may use its diagonal.
    pub(crate) fn from_cells(n: usize, cells: Vec<i64>) -> Matrix {
        debug_assert_eq!(cells.len(), n * n);
        Matrix { n, cells }
    }

    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The demand from `row` to `column`.
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

    /// All entries, row by row; consumes the matrix.
    pub fn into_cells(self) -> Vec<i64> {
        self.cells
    }

    /// All entries, for solvers that modify them.
    pub(crate) fn cells_mut(&mut self) -> &mut [i64] {
        &mut self.cells
    }

    /// The demand from `row` to all nodes.
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

    /// The demand that each node sends.
    ///
    /// ```
    /// use lightloom_control::demand::Matrix;
    /// let demand = Matrix::new(2, 2, vec![0, 7, 3, 0]).unwrap();
    /// assert_eq!((demand.row_sums(), demand.column_sums()), (vec![7, 3], vec![3, 7]));
    /// ```
    pub fn row_sums(&self) -> Vec<i64> {
        (0..self.n).map(|i| self.row(i).iter().sum()).collect()
    }

    /// The demand that each node receives.
    pub fn column_sums(&self) -> Vec<i64> {
        self.line_sums().1
    }

    /// The largest row or column sum: a lower bound on the length of a schedule with one circuit
    /// per port that carries everything.
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

    /// Row sums and column sums in one pass.
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

    /// Whether all entries are 0.
    pub fn is_zero(&self) -> bool {
        self.cells.iter().all(|&value| value == 0)
    }

    /// The sum of both directions, `D + Dᵀ`: the weights of bidirectional circuits.
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

    /// Refuses asymmetric weights, for bidirectional circuits.
    ///
    /// # Errors
    /// If an entry differs from its mirror image; names the first.
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

    /// Refuses the first entry that is not a valid demand, by name.
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

impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = (0..self.n).map(|i| self.row(i));
        f.debug_list().entries(rows).finish()
    }
}
