//! Sinkhorn scaling: demand turned into shares of a port's time, by normalising
//! columns and rows in turn (Sinkhorn, 1964; Mordia's traffic-matrix scheduling,
//! Porter et al., SIGCOMM 2013).
//!
//! Afterwards every port sends and receives all the time, so ports with little demand get more time
//! than they request: shares change, unlike with [`crate::algorithms::quickstuff`]. A small amount
//! is first added to every pair, because many matrices have no such scaling otherwise. Floats are
//! used only here; the results are integers whose lines have exactly equal sums.

use crate::demand::{number, Matrix};
use lightloom_engine::Refusal;

/// The sum of each line of [`Scaled::units`], in units of 2⁻⁴⁰.
pub const WHOLE: i64 = 1 << 40;

/// The parameters of the scaling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// ε: added to every pair, in units of the mean demand of all pairs. Smaller values are closer
    /// to the demand and slower.
    pub epsilon: f64,
    /// The largest deviation of a row or column sum from 1.
    pub tolerance: f64,
    /// Rounds of one normalisation of columns and one of rows.
    pub max_rounds: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            epsilon: 0.01,
            tolerance: 1e-9,
            max_rounds: 10_000,
        }
    }
}

impl Options {
    fn check(&self) -> Result<(), Refusal> {
        let positive = |key, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(Refusal::new(
                key,
                number(value),
                "above 0 and finite",
                "give a small number, say 0.01 for epsilon and 1e-9 for tolerance",
            )),
        };
        positive("epsilon", self.epsilon)?;
        positive("tolerance", self.tolerance)
    }
}

/// A doubly stochastic matrix with a zero diagonal.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaled {
    /// Number of nodes.
    pub n: usize,
    /// Shares, row by row.
    pub cells: Vec<f64>,
    /// The number of rounds.
    pub rounds: usize,
    /// The largest deviation of a row or column sum from 1.
    pub error: f64,
}

/// Scales `demand` so that every row and every column sums up to 1.
///
/// # Errors
/// No demand at all; options that are not positive; sums that are still off after
/// `max_rounds`.
///
/// ```
/// use lightloom_control::{algorithms::sinkhorn, demand::Matrix};
/// // Twice as much of everything for node 2 changes nothing: its column is scaled.
/// let even = Matrix::new(3, 3, vec![0, 5, 10, 5, 0, 10, 5, 5, 0]).unwrap();
/// let scaled = sinkhorn::scale(&even, &sinkhorn::Options::default()).unwrap();
/// assert!(scaled.error <= 1e-9);
/// assert!(scaled.cells.iter().all(|share| *share == 0.0 || (share - 0.5).abs() < 0.01));
/// ```
pub fn scale(demand: &Matrix, options: &Options) -> Result<Scaled, Refusal> {
    options.check()?;
    if demand.is_zero() {
        return Err(Refusal::new(
            "demand",
            "only zeros",
            "nothing can be scaled",
            "give at least one entry above 0",
        ));
    }
    let mut raised = raise(demand, options.epsilon);
    let n = demand.n();
    let mut rows = vec![1.0; n];
    let mut columns = vec![1.0; n];
    let mut error = f64::INFINITY;
    for round in 1..=options.max_rounds {
        normalise_columns(&raised, &rows, &mut columns);
        error = normalise_rows(&raised, &mut rows, &columns);
        if error <= options.tolerance {
            apply(&mut raised, &rows, &columns);
            return Ok(Scaled {
                n,
                error: worst(n, &raised),
                cells: raised,
                rounds: round,
            });
        }
    }
    Err(Refusal::new(
        "max_rounds",
        options.max_rounds,
        format!("after this number of rounds a row still deviates by {error:.1e}"),
        "raise epsilon, tolerance or max_rounds",
    ))
}

/// D + ε · mean off the diagonal, in units of the mean.
fn raise(demand: &Matrix, epsilon: f64) -> Vec<f64> {
    let n = demand.n();
    let mean = demand.total() as f64 / (n * (n - 1)) as f64;
    let cells = demand.cells().iter();
    let mut raised: Vec<f64> = cells.map(|&value| value as f64 / mean + epsilon).collect();
    (0..n).for_each(|i| raised[i * n + i] = 0.0);
    raised
}

/// Sets the factors of columns so that their sums are 1.
fn normalise_columns(cells: &[f64], rows: &[f64], columns: &mut [f64]) {
    columns.fill(0.0);
    for (line, row) in cells.chunks_exact(columns.len()).zip(rows) {
        for (sum, cell) in columns.iter_mut().zip(line) {
            *sum += row * cell;
        }
    }
    columns.iter_mut().for_each(|sum| *sum = 1.0 / *sum);
}

/// Sets the factors of rows so that their sums are 1; returns the largest deviation before.
fn normalise_rows(cells: &[f64], rows: &mut [f64], columns: &[f64]) -> f64 {
    let mut error = 0.0f64;
    for (line, row) in cells.chunks_exact(columns.len()).zip(rows) {
        let sum = dot(line, columns);
        error = error.max((*row * sum - 1.0).abs());
        *row = 1.0 / sum;
    }
    error
}

/// The dot product in eight partial sums, which the processor adds in parallel.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = a8.remainder().iter().zip(b8.remainder());
    let rest: f64 = rest.map(|(a, b)| a * b).sum();
    for (a, b) in a8.zip(b8) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    lanes.iter().sum::<f64>() + rest
}

fn apply(cells: &mut [f64], rows: &[f64], columns: &[f64]) {
    for (line, row) in cells.chunks_exact_mut(columns.len()).zip(rows) {
        for (cell, column) in line.iter_mut().zip(columns) {
            *cell *= row * column;
        }
    }
}

fn worst(n: usize, cells: &[f64]) -> f64 {
    let ones = vec![1.0; n];
    let mut sums = vec![0.0; n];
    normalise_columns(cells, &ones, &mut sums);
    let columns = sums.iter().map(|inverse| (1.0 / inverse - 1.0).abs());
    let rows = cells
        .chunks_exact(n)
        .map(|row| (dot(row, &ones) - 1.0).abs());
    columns.chain(rows).fold(0.0, f64::max)
}

impl Scaled {
    /// The shares as integers whose rows and columns each sum up to exactly [`WHOLE`]: shares are
    /// rounded down, and the remainder is added where row and column both lack it. The diagonal
    /// stays zero; no entry deviates by more than about N units.
    ///
    /// ```
    /// use lightloom_control::{algorithms::sinkhorn, demand::Matrix};
    /// let demand = Matrix::new(3, 3, vec![0, 5, 9, 2, 0, 8, 7, 5, 0]).unwrap();
    /// let scaled = sinkhorn::scale(&demand, &sinkhorn::Options::default()).unwrap();
    /// let units = scaled.units();
    /// assert_eq!(units.row_sums(), [sinkhorn::WHOLE; 3]);
    /// assert_eq!(units.column_sums(), [sinkhorn::WHOLE; 3]);
    /// ```
    pub fn units(&self) -> Matrix {
        // The residual error of scaling is subtracted from all entries, so that no line sum is too
        // large.
        let unit = WHOLE as f64 * (1.0 - 2.0 * self.error.max(1e-12));
        let cells = self.cells.iter().map(|share| (share * unit) as i64);
        let mut matrix = Matrix::from_cells(self.n, cells.collect());
        let mut rows: Vec<i64> = matrix.row_sums();
        let mut columns: Vec<i64> = matrix.column_sums();
        let sums = rows.iter_mut().chain(&mut columns);
        sums.for_each(|sum| *sum = WHOLE - *sum);
        fill_off_diagonal(&mut matrix, &mut rows, &mut columns);
        matrix
    }
}

/// Adds the amounts that rows and columns lack.
fn fill_off_diagonal(matrix: &mut Matrix, rows: &mut [i64], columns: &mut [i64]) {
    let n = matrix.n();
    let cells = matrix.cells_mut();
    for (i, row) in rows.iter_mut().enumerate() {
        for (j, column) in columns.iter_mut().enumerate() {
            if i != j {
                let more = (*row).min(*column);
                cells[i * n + j] += more;
                *row -= more;
                *column -= more;
            }
        }
    }
    // Only a row and a column of the same node can still lack units; they get them through entries
    // of two other nodes.
    let Some(k) = (0..n).find(|&k| rows[k] > 0) else {
        return;
    };
    for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
        if i != k && j != k {
            let more = rows[k].min(cells[i * n + j]);
            cells[i * n + j] -= more;
            cells[i * n + k] += more;
            cells[k * n + j] += more;
            rows[k] -= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    fn scaled(demand: &Matrix) -> Scaled {
        scale(demand, &Options::default()).unwrap()
    }

    #[test]
    fn two_nodes_have_one_schedule() {
        let demand = Matrix::new(2, 2, vec![0, 9, 0, 0]).unwrap();
        assert_eq!(scaled(&demand).cells, [0.0, 1.0, 1.0, 0.0]);
        assert_eq!(scaled(&demand).units().cells(), [0, WHOLE, WHOLE, 0]);
    }

    #[test]
    fn what_cannot_be_scaled_is_refused() {
        let demand = Matrix::new(3, 3, vec![0, 9, 0, 1, 0, 0, 2, 2, 0]).unwrap();
        let refused = |options: &Options| scale(&demand, options).unwrap_err().key;
        let good = Options::default();
        assert_eq!(
            refused(&Options {
                epsilon: 0.0,
                ..good
            }),
            "epsilon"
        );
        assert_eq!(
            refused(&Options {
                epsilon: f64::NAN,
                ..good
            }),
            "epsilon"
        );
        assert_eq!(
            refused(&Options {
                tolerance: -1.0,
                ..good
            }),
            "tolerance"
        );
        assert_eq!(
            refused(&Options {
                max_rounds: 2,
                ..good
            }),
            "max_rounds"
        );
        assert_eq!(scale(&Matrix::zeros(3), &good).unwrap_err().key, "demand");
    }

    /// Scaling keeps all cross ratios a_ij · a_kl / (a_il · a_kj), and only one doubly stochastic
    /// matrix has the given ratios.
    fn cross_ratios(n: usize, cells: &[f64], check: &mut dyn FnMut(f64)) {
        let at = |i: usize, j: usize| cells[i * n + j];
        for i in 0..n {
            for k in (0..n).filter(|&k| k != i) {
                for j in (0..n).filter(|&j| j != i && j != k) {
                    for l in (0..n).filter(|&l| l != i && l != k && l != j) {
                        check(at(i, j) * at(k, l) / (at(i, l) * at(k, j)));
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn it_is_the_one_scaling_there_is(demand in demands(7, 1000)) {
            let scaled = scaled(&demand);
            let n = demand.n();
            prop_assert!(scaled.error <= 1e-8);
            let sums = |line: &dyn Fn(usize, usize) -> usize| -> Vec<f64> {
                (0..n).map(|i| (0..n).map(|j| scaled.cells[line(i, j)]).sum()).collect()
            };
            for sum in sums(&|i, j| i * n + j).iter().chain(&sums(&|i, j| j * n + i)) {
                prop_assert!((sum - 1.0).abs() < 1e-8);
            }
            let raised = raise(&demand, Options::default().epsilon);
            let mut expected = vec![];
            cross_ratios(n, &raised, &mut |ratio| expected.push(ratio));
            let mut at = 0;
            cross_ratios(n, &scaled.cells, &mut |ratio| {
                assert!((ratio / expected[at] - 1.0).abs() < 1e-9);
                at += 1;
            });
        }

        #[test]
        fn units_sum_up_exactly(demand in demands(20, 1 << 40)) {
            let scaled = scaled(&demand);
            let units = scaled.units();
            prop_assert_eq!(units.row_sums(), vec![WHOLE; demand.n()]);
            prop_assert_eq!(units.column_sums(), vec![WHOLE; demand.n()]);
            for (at, (&unit, share)) in units.cells().iter().zip(&scaled.cells).enumerate() {
                prop_assert!(unit >= 0);
                prop_assert!(at / demand.n() != at % demand.n() || unit == 0);
                prop_assert!((unit as f64 / WHOLE as f64 - share).abs() < 1e-6);
            }
        }
    }
}
