//! The demands of pairs of racks, and the checks on them.

use super::hardware::Hardware;
use crate::demand::Matrix;
use lightloom_engine::Refusal;

/// The demand of a pair of racks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// One of the racks; paths begin here.
    pub a: u32,
    /// The other rack.
    pub b: u32,
    /// Demands with larger weights are served first.
    pub weight: i64,
    /// The capacity that it needs on every circuit of its path; it reserves this capacity, or all
    /// of a circuit if it needs more.
    pub need: i64,
}

/// The capacity that the demands of a matrix reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The larger of the two entries; the matrix holds rates.
    Larger,
    /// The same for all; the matrix only shows which pairs communicate (the paper's Boolean
    /// demand).
    Each(i64),
}

/// A demand for every pair with traffic, in the order of (a, b) with a < b; the weight is the sum
/// of both directions.
///
/// ```
/// use lightloom_control::demand::Matrix;
/// use lightloom_control::algorithms::multihop::{demands, Demand, Need};
/// let matrix = Matrix::new(3, 3, vec![0, 2, 0, 7, 0, 0, 0, 4, 0]).unwrap();
/// assert_eq!(
///     demands(&matrix, Need::Larger),
///     [
///         Demand { a: 0, b: 1, weight: 9, need: 7 },
///         Demand { a: 1, b: 2, weight: 4, need: 4 },
///     ]
/// );
/// ```
pub fn demands(matrix: &Matrix, need: Need) -> Vec<Demand> {
    let n = matrix.n();
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let demand = |(a, b)| {
        let (there, back) = (matrix.get(a, b), matrix.get(b, a));
        Demand {
            a: a as u32,
            b: b as u32,
            weight: there + back,
            need: match need {
                Need::Larger => there.max(back),
                Need::Each(need) => need,
            },
        }
    };
    pairs
        .map(demand)
        .filter(|demand| demand.weight > 0)
        .collect()
}

/// Refuses demands of racks that do not exist, of a rack with itself, and negative ones.
pub(super) fn check_demands(hardware: &Hardware, demands: &[Demand]) -> Result<(), Refusal> {
    for (at, demand) in demands.iter().enumerate() {
        for (end, rack) in [("a", demand.a), ("b", demand.b)] {
            if rack >= hardware.racks {
                return Err(Refusal::new(
                    format!("demands[{at}].{end}"),
                    rack,
                    format!("the racks are 0 to {}", hardware.racks - 1),
                    "name a rack that exists",
                ));
            }
        }
        if demand.a == demand.b {
            return Err(Refusal::new(
                format!("demands[{at}].b"),
                demand.b,
                "a rack has no demand for itself",
                "remove the demand",
            ));
        }
        for (name, value) in [("weight", demand.weight), ("need", demand.need)] {
            if value < 0 {
                return Err(Refusal::new(
                    format!("demands[{at}].{name}"),
                    value,
                    "not negative",
                    "give 0 or more",
                ));
            }
        }
    }
    Ok(())
}
