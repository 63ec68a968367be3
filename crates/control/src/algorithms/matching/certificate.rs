//! Proof that a matching is of maximum weight, and its check.

use super::weights::Weights;
use crate::circuits::Circuits;
use std::fmt;

/// An odd set of racks, which a matching cannot match completely within the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blossom {
    /// Its dual, ≥ 0, in units of half a weight.
    pub z: i64,
    /// Its racks.
    pub members: Vec<u32>,
}

/// Duals of a maximum-weight perfect matching (Edmonds, 1965), **in units of half
/// a weight**, in which they are whole numbers: with y_i ≥ 0, z_B ≥ 0 and
///
/// y_i + y_j + Σ z_B (over the blossoms B with both) ≥ 2 w_ij for all pairs,
///
/// no matching weighs more than ½ (Σ y + Σ z_B (|B| − 1)/2), since of an odd set
/// at most (|B| − 1)/2 pairs are matched within. A matching of that weight is
/// therefore optimal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// The dual of every rack.
    pub y: Vec<i64>,
    /// Odd sets with a dual above 0.
    pub blossoms: Vec<Blossom>,
}

/// An error in a matching or its proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Not one dual per rack, or more than one rack without a circuit.
    Shape,
    /// The circuit with this index does not connect two racks without another circuit.
    Circuit(usize),
    /// The weight is not the sum over the pairs.
    Weight,
    /// The dual of this rack is below 0.
    Negative(u32),
    /// The blossom with this index has a dual below 0, an even number of racks, fewer than three
    /// racks, or a rack that does not exist or occurs twice.
    Blossom(usize),
    /// The duals do not cover the weight of this pair.
    Uncovered(u32, u32),
    /// The duals' bound exceeds the weight by this many halves.
    Gap(i128),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Shape => write!(f, "each rack needs one circuit and one dual"),
            Violation::Circuit(c) => {
                write!(
                    f,
                    "circuit {c} must join two racks that have no other circuit"
                )
            }
            Violation::Weight => write!(f, "the weight is not the sum over the pairs"),
            Violation::Negative(i) => write!(f, "the dual of rack {i} is below 0"),
            Violation::Blossom(b) => {
                write!(f, "blossom {b} is not an odd set with a dual of 0 or more")
            }
            Violation::Uncovered(i, j) => write!(f, "duals do not cover the weight of ({i}, {j})"),
            Violation::Gap(gap) => write!(f, "the bound exceeds the weight by {gap} halves"),
        }
    }
}

impl std::error::Error for Violation {}

impl Certificate {
    /// Twice the upper bound on the weight of a matching, if the duals cover `weights`; O(N² + Σ
    /// |B|²).
    ///
    /// # Errors
    /// The first violation found.
    pub fn bound(&self, weights: &Weights) -> Result<i128, Violation> {
        let n = weights.n();
        if self.y.len() != n {
            return Err(Violation::Shape);
        }
        if let Some(i) = self.y.iter().position(|&y| y < 0) {
            return Err(Violation::Negative(i as u32));
        }
        let within = self.memberships(n)?;
        let mut shared = vec![0i128; n];
        for (i, sets) in within.iter().enumerate() {
            self.share(sets, 1, &mut shared);
            let y = i128::from(self.y[i]);
            for (j, &weight) in weights.row(i).iter().enumerate().skip(i + 1) {
                let lacking = 2 * i128::from(weight) - y - i128::from(self.y[j]);
                if lacking > shared[j] {
                    return Err(Violation::Uncovered(i as u32, j as u32));
                }
            }
            self.share(sets, -1, &mut shared);
        }
        let sets = self.blossoms.iter();
        let odd: i128 = sets
            .map(|b| i128::from(b.z) * (b.members.len() as i128 / 2))
            .sum();
        Ok(self.y.iter().map(|&y| i128::from(y)).sum::<i128>() + odd)
    }

    /// Checks that `circuits` are a perfect matching of weight `weight` (one rack is alone if their
    /// number is odd), and that these duals prove it optimal. It shares no code with the solver.
    ///
    /// # Errors
    /// The first violation found.
    pub fn verify(
        &self,
        circuits: &Circuits,
        weight: i64,
        weights: &Weights,
    ) -> Result<(), Violation> {
        let n = weights.n();
        let mut joined = vec![false; n];
        let mut total = 0;
        for (at, circuit) in circuits.iter().enumerate() {
            for rack in [circuit.a, circuit.b] {
                match joined.get_mut(rack as usize) {
                    Some(joined) if !*joined => *joined = true,
                    _ => return Err(Violation::Circuit(at)),
                }
            }
            total += i128::from(weights.get(circuit.a as usize, circuit.b as usize));
        }
        if circuits.len() != n / 2 {
            return Err(Violation::Shape);
        }
        if total != i128::from(weight) {
            return Err(Violation::Weight);
        }
        match self.bound(weights)? - 2 * total {
            0 => Ok(()),
            gap => Err(Violation::Gap(gap)),
        }
    }

    /// The blossoms that contain each rack, in ascending order.
    fn memberships(&self, n: usize) -> Result<Vec<Vec<usize>>, Violation> {
        let mut within = vec![Vec::new(); n];
        for (index, blossom) in self.blossoms.iter().enumerate() {
            let size = blossom.members.len();
            if blossom.z < 0 || size < 3 || size % 2 == 0 {
                return Err(Violation::Blossom(index));
            }
            for &member in &blossom.members {
                match within.get_mut(member as usize) {
                    Some(sets) if sets.last() != Some(&index) => sets.push(index),
                    _ => return Err(Violation::Blossom(index)),
                }
            }
        }
        Ok(within)
    }

    /// Adds z of these blossoms `times` times for each of their members.
    fn share(&self, blossoms: &[usize], times: i128, shared: &mut [i128]) {
        for &index in blossoms {
            let Blossom { z, members } = &self.blossoms[index];
            members
                .iter()
                .for_each(|&m| shared[m as usize] += times * i128::from(*z));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound for four racks of which only 1 and 2 have traffic, with `y` and one blossom.
    fn bound(y: [i64; 4], z: i64, members: &[u32]) -> Result<i128, Violation> {
        let cells = vec![0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        let blossoms = vec![Blossom {
            z,
            members: members.to_vec(),
        }];
        let certificate = Certificate {
            y: y.to_vec(),
            blossoms,
        };
        certificate.bound(&Weights::new(4, cells).unwrap())
    }

    #[test]
    fn a_blossom_covers_pairs_within_and_no_others() {
        assert_eq!(bound([0; 4], 2, &[0, 1, 2]), Ok(2));
        assert_eq!(
            bound([0; 4], 2, &[0, 2, 3]),
            Err(Violation::Uncovered(1, 2))
        );
    }

    #[test]
    fn a_blossom_is_an_odd_set_with_a_dual_of_0_or_more() {
        let covered = [0, 1, 1, 0];
        assert_eq!(bound(covered, 0, &[0, 1, 3]), Ok(2));
        for (z, members) in [(-1, &[0, 1, 3][..]), (0, &[0]), (0, &[0, 1, 2, 3])] {
            assert_eq!(bound(covered, z, members), Err(Violation::Blossom(0)));
        }
    }

    #[test]
    fn a_violation_says_where_it_is() {
        let said = [
            (Violation::Shape, "each rack needs one circuit and one dual"),
            (
                Violation::Circuit(3),
                "circuit 3 must join two racks that have no other circuit",
            ),
            (
                Violation::Weight,
                "the weight is not the sum over the pairs",
            ),
            (Violation::Negative(7), "the dual of rack 7 is below 0"),
            (
                Violation::Blossom(2),
                "blossom 2 is not an odd set with a dual of 0 or more",
            ),
            (
                Violation::Uncovered(4, 5),
                "duals do not cover the weight of (4, 5)",
            ),
            (
                Violation::Gap(8),
                "the bound exceeds the weight by 8 halves",
            ),
        ];
        for (violation, words) in said {
            assert_eq!(violation.to_string(), words);
        }
    }
}
