//! Symmetric weights: the value of a circuit between two racks.

use crate::circuits::{Circuit, Circuits};
use crate::demand::Matrix;
use lightloom_engine::Refusal;

/// The largest weight, of 57 bits: duals reach twice this value, times of a search four times, and
/// their sums must fit. All bits are ones.
const LIMIT: i64 = i64::MAX / 64;

/// Side length of the blocks in which a matrix is transposed.
const SIDE: usize = 32;

/// The weight of an undirected circuit between any two of N racks: a symmetric matrix, ≥ 0, zero on
/// the diagonal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    n: usize,
    cells: Vec<i64>,
}

/// The advantage of lit circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hysteresis {
    /// An advantage smaller than any difference of weights: of matchings with equal weight, the
    /// one that keeps most circuits is chosen.
    Ties,
    /// An advantage of this weight for each circuit. A change that gains less is not worth its
    /// dark time.
    Bonus(i64),
}

impl Weights {
    /// w_ij = D_ij + D_ji: the demand that a circuit between i and j carries in both directions.
    ///
    /// # Errors
    /// If sums leave no room for the arithmetic of duals.
    pub fn symmetrise(demand: &Matrix) -> Result<Weights, Refusal> {
        let (n, demand) = (demand.n(), demand.cells());
        let mut cells = vec![0i64; n * n];
        let mut bits = 0;
        // In blocks that fit the cache, because one side is read by columns.
        for (top, left) in squares(n) {
            for i in top..n.min(top + SIDE) {
                for j in left.max(i)..n.min(left + SIDE) {
                    let sum = demand[i * n + j] as u64 + demand[j * n + i] as u64;
                    bits |= sum;
                    cells[i * n + j] = sum as i64;
                    cells[j * n + i] = sum as i64;
                }
            }
        }
        // Demand sums up to 63 bits, so only single weights can be too large. All bits of the limit
        // are ones, so a weight is too large if any higher bit is set.
        let weights = Weights { n, cells };
        match bits > LIMIT as u64 {
            true => {
                Err(weights.too_large(LIMIT, |i, j| format!("demand[{i}][{j}] + demand[{j}][{i}]")))
            }
            false => Ok(weights),
        }
    }

    /// Weights that are already symmetric, row by row.
    ///
    /// # Errors
    /// If their number is not `n`²; if they are not symmetric, below 0, or not 0 on the diagonal;
    /// or if they leave no room for the arithmetic of duals.
    pub fn new(n: usize, cells: Vec<i64>) -> Result<Weights, Refusal> {
        if n.checked_mul(n) != Some(cells.len()) {
            return Err(Refusal::new(
                "weights",
                format!("{} numbers", cells.len()),
                format!("weights between {n} racks are a square of {n} rows"),
                "give a number for every pair",
            ));
        }
        let weights = Weights { n, cells };
        weights.check_pairs()?;
        weights.check_size()?;
        Ok(weights)
    }

    /// These weights with a preference for the circuits `up`. Totals are then not those of the
    /// demand; call [`Weights::total`] on a copy made before.
    ///
    /// # Errors
    /// If a circuit is not between two of the racks, or a rack has two; if a bonus is below 0; if
    /// weights are too large for a bonus.
    pub fn favour(mut self, up: &[(u32, u32)], how: Hysteresis) -> Result<Weights, Refusal> {
        let (scale, bonus) = match how {
            // More than the number of circuits in a matching.
            Hysteresis::Ties => (self.n as i64 / 2 + 1, 1),
            Hysteresis::Bonus(bonus) => (1, bonus),
        };
        if bonus < 0 {
            let limit = "lit circuits have at least the weight of others";
            return Err(Refusal::new("bonus", bonus, limit, "give 0 or more"));
        }
        let most = (LIMIT - bonus.min(LIMIT)) / scale;
        if bonus > LIMIT {
            let limit = format!("at most {LIMIT}, of 57 bits");
            return Err(Refusal::new("bonus", bonus, limit, "lower it"));
        }
        if self.cells.iter().any(|&weight| weight > most) {
            return Err(self.too_large(most, entry));
        }
        self.cells.iter_mut().for_each(|weight| *weight *= scale);
        let mut busy = vec![false; self.n];
        for &(i, j) in up {
            let (row, column) = (i as usize, j as usize);
            let fresh = row != column && row.max(column) < self.n && !busy[row] && !busy[column];
            if !fresh {
                return Err(Refusal::new(
                    "up",
                    format!("({i}, {j})"),
                    format!(
                        "a circuit joins two of the {} racks, and each rack has at most one",
                        self.n
                    ),
                    "list each circuit once",
                ));
            }
            (busy[row], busy[column]) = (true, true);
            self.cells[row * self.n + column] += bonus;
            self.cells[column * self.n + row] += bonus;
        }
        self.check_size()?;
        Ok(self)
    }

    /// Number of racks.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The weight of a circuit between two racks.
    pub fn get(&self, i: usize, j: usize) -> i64 {
        debug_assert!(j < self.n);
        self.cells[i * self.n + j]
    }

    /// All weights, row by row.
    pub fn cells(&self) -> &[i64] {
        &self.cells
    }

    /// The weights of circuits from one rack.
    pub fn row(&self, i: usize) -> &[i64] {
        &self.cells[i * self.n..][..self.n]
    }

    /// The sum over circuits between these racks.
    pub fn total(&self, circuits: &Circuits) -> i64 {
        let weight = |c: Circuit| self.get(c.a as usize, c.b as usize);
        circuits.iter().map(weight).sum()
    }

    fn check_pairs(&self) -> Result<(), Refusal> {
        for i in 0..self.n {
            for j in 0..=i {
                let (here, there) = (self.get(i, j), self.get(j, i));
                let refuse =
                    |limit: &str, remedy: &str| Err(Refusal::new(entry(i, j), here, limit, remedy));
                if here < 0 || there < 0 {
                    let (i, j) = if here < 0 { (i, j) } else { (j, i) };
                    let (limit, remedy) =
                        ("a weight is at least 0", "give 0 for a pair without demand");
                    return Err(Refusal::new(entry(i, j), self.get(i, j), limit, remedy));
                }
                if here != there {
                    let limit = format!("a circuit has both directions, but [{j}][{i}] is {there}");
                    return refuse(&limit, "add the demand of both directions (symmetrise)");
                }
                if i == j && here != 0 {
                    return refuse("no circuit joins a rack with itself", "set it to 0");
                }
            }
        }
        Ok(())
    }

    /// Refuses weights that are too large. A matching uses at most one entry of a row, so half the
    /// sum of the rows' largest entries bounds its total.
    fn check_size(&self) -> Result<(), Refusal> {
        let most = |i| self.row(i).iter().copied().max().unwrap_or(0);
        let (mut largest, mut sum) = (0, 0i128);
        for i in 0..self.n {
            largest = most(i).max(largest);
            sum += i128::from(most(i));
        }
        if largest > LIMIT {
            return Err(self.too_large(LIMIT, entry));
        }
        if sum / 2 > i128::from(i64::MAX) {
            return Err(Refusal::new(
                "weights",
                sum / 2,
                "the weight of a matching must fit 63 bits",
                SMALLER,
            ));
        }
        Ok(())
    }

    /// The refusal of the largest weight, with the name of its pair.
    fn too_large(&self, most: i64, name: impl Fn(usize, usize) -> String) -> Refusal {
        let largest = self.cells.iter().copied().max().unwrap_or(0);
        let at = { self.cells.iter() }.position(|&weight| weight == largest);
        let at = at.unwrap_or(0);
        let limit = match most {
            LIMIT => format!("a circuit weighs at most {LIMIT}, of 57 bits"),
            _ => format!("at most {most}, so that lit circuits can have a higher weight"),
        };
        Refusal::new(name(at / self.n, at % self.n), largest, limit, SMALLER)
    }
}

const SMALLER: &str = "divide all of them by the same number";

fn entry(i: usize, j: usize) -> String {
    format!("weights[{i}][{j}]")
}

/// The corners of the blocks on and above the diagonal.
fn squares(n: usize) -> impl Iterator<Item = (usize, usize)> {
    let begin = move |from| (from..n).step_by(SIDE);
    begin(0).flat_map(move |top| begin(top).map(move |left| (top, left)))
}
