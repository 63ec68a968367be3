//! Matrices that are not valid demand, and the sums of valid ones.

use super::Matrix;
use lightloom_engine::Refusal;
use proptest::prelude::*;

/// Demand of 2 to `nodes` nodes with entries up to `most`, from sparse to dense.
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

/// More entries than one partial sum adds, with values up to the largest.
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
