//! Checks of demands: shapes, entries and sums are refused by name.

use lightloom_engine::Refusal;
use std::fmt;

/// Properties of all entries, from one pass over them.
pub(super) struct Sums {
    pub(super) any_negative: bool,
    /// The sum of all entries that are not negative.
    total: u128,
}

impl Sums {
    /// Adds upper and lower halves separately, so that nothing overflows and the processor adds
    /// several values at once.
    pub(super) fn of(cells: &[i64]) -> Sums {
        let (mut signs, mut total) = (0, 0);
        // The sum of this many halves fits into a word.
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

    pub(super) fn check_total(&self) -> Result<(), Refusal> {
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

/// A number for a message, with an exponent if it has too many digits for a line.
pub(crate) fn number(x: f64) -> String {
    match x.abs() {
        size if size == 0.0 || (1e-6..1e21).contains(&size) || !size.is_finite() => x.to_string(),
        _ => format!("{x:e}"),
    }
}

pub(super) fn entry(n: usize, at: usize) -> String {
    format!("demand[{}][{}]", at / n, at % n)
}

pub(super) fn negative(n: usize, at: usize, value: impl fmt::Display) -> Refusal {
    Refusal::new(
        entry(n, at),
        value,
        "demand is not negative",
        "give 0 or more",
    )
}

pub(super) fn check_shape(rows: usize, columns: usize, cells: usize) -> Result<usize, Refusal> {
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

pub(super) fn check_float(n: usize, at: usize, x: f64) -> Result<(), Refusal> {
    let shown = number(x);
    let refuse = |limit: &str, remedy: &str| Err(Refusal::new(entry(n, at), &shown, limit, remedy));
    match x {
        _ if x.is_nan() => refuse("not a number", "give 0 where there is no demand"),
        _ if x.is_infinite() => refuse("demand is finite", "give a number"),
        // Values that rounding would turn into valid ones.
        _ if x < 0.0 => Err(negative(n, at, &shown)),
        _ if x >= i64::MAX as f64 => refuse(
            "an entry must fit 63 bits",
            "give demand in a larger unit, or divide it",
        ),
        _ => Ok(()),
    }
}

/// Refuses fractions of a byte that are large relative to the demand.
pub(super) fn check_rounding(n: usize, cells: &[f64]) -> Result<(), Refusal> {
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
