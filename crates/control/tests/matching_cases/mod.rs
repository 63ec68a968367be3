//! The demand with which matching and assignment are tested and measured.
//!
//! Families differ in their difficulty: uniform weights have many near-optima, heavy tails a few
//! decisive entries, sparse demand mostly zeros, ties long searches among equals, odd cliques many
//! odd sets that the dual needs, and points in the plane neighbours with the same preferences.
#![allow(dead_code)] // each test that includes this file uses a part of it

/// SplitMix64: the same cases on every machine.
pub struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Draws {
        Draws(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((self.next() as u128 * bound as u128) >> 64) as u64
    }

    /// Pareto bytes of shape 1.05 and minimum 5 kB, at most 1 TB.
    pub fn bytes(&mut self) -> i64 {
        (5e3 * (1.0 - self.unit()).powf(-1.0 / 1.05)).min(1e12) as i64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Uniform in 0 … 10⁹.
    Uniform,
    /// Pareto bytes.
    Heavy,
    /// Eight peers for each rack, with Pareto bytes.
    Sparse,
    /// 0 … 9.
    Ties,
    /// Cliques of 3, 5, 7, 9 and 11: 10⁶ and more inside, up to 10⁴ between.
    OddClique,
    /// Points in a square; nearer points have more demand.
    Geometric,
    /// Only zeros and ones, half of each.
    Binary,
    /// Equal cliques of five, equal weights inside and between.
    EqualCliques,
    /// Groups of three groups of three groups of three racks, with ten times the demand inside
    /// each, so that odd sets nest.
    Nested,
    /// The traffic of two racks is the product of their loads, varied by up to a half: a few racks
    /// have a very high load.
    Gravity,
    /// Thirty racks have high demand with every rack, the others little.
    Hubs,
}

/// The six families of the specification.
pub const FAMILIES: [Family; 6] = [
    Family::Uniform,
    Family::Heavy,
    Family::Sparse,
    Family::Ties,
    Family::OddClique,
    Family::Geometric,
];

/// Families that are harder for the solver.
pub const EXTREMES: [Family; 5] = [
    Family::Binary,
    Family::EqualCliques,
    Family::Nested,
    Family::Gravity,
    Family::Hubs,
];

impl Family {
    pub fn name(self) -> &'static str {
        match self {
            Family::Uniform => "uniform",
            Family::Heavy => "heavy-tailed",
            Family::Sparse => "sparse",
            Family::Ties => "tied",
            Family::OddClique => "odd-clique",
            Family::Geometric => "geometric",
            Family::Binary => "binary",
            Family::EqualCliques => "equal-cliques",
            Family::Nested => "nested",
            Family::Gravity => "gravity",
            Family::Hubs => "hubs",
        }
    }

    /// Demand between `n` racks, row-major, zero on the diagonal.
    pub fn demand(self, n: usize, seed: u64) -> Vec<i64> {
        let mut draws = Draws::new(seed);
        let clique = cliques(n, self == Family::EqualCliques);
        let points: Vec<(f64, f64)> = (0..n).map(|_| (draws.unit(), draws.unit())).collect();
        let busy: Vec<f64> = (0..n)
            .map(|_| (1.0 - draws.unit()).powf(-0.8).min(1e4))
            .collect();
        let mut demand = vec![0; n * n];
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                demand[i * n + j] = match self {
                    Family::Uniform => draws.below(1_000_000_001) as i64,
                    Family::Heavy => draws.bytes(),
                    Family::Sparse if draws.unit() * n as f64 > 8.0 => 0,
                    Family::Sparse => draws.bytes(),
                    Family::Ties => draws.below(10) as i64,
                    Family::OddClique if clique[i] == clique[j] => {
                        1_000_000 + draws.below(100_000) as i64
                    }
                    Family::OddClique => draws.below(10_000) as i64,
                    Family::Geometric => {
                        let (dx, dy) = (points[i].0 - points[j].0, points[i].1 - points[j].1);
                        ((1.5 - dx.hypot(dy)) * 1e9) as i64
                    }
                    Family::Binary => draws.below(2) as i64,
                    Family::Nested => {
                        let apart = (0u32..).find(|&k| i / 3usize.pow(k) == j / 3usize.pow(k));
                        10i64.pow(8u32.saturating_sub(apart.unwrap_or(8))) + draws.below(3) as i64
                    }
                    Family::Gravity => (busy[i] * busy[j] * (500.0 + 1e3 * draws.unit())) as i64,
                    Family::Hubs if i.min(j) < 30 => 1_000_000 + draws.below(1_000) as i64,
                    Family::Hubs => draws.below(1_000) as i64,
                    Family::EqualCliques => 1 + 99 * i64::from(clique[i] == clique[j]),
                };
            }
        }
        demand
    }
}

/// The clique of each rack; cliques have 3, 5, 7, 9, 11, 3, … racks, or five racks each.
fn cliques(n: usize, equal: bool) -> Vec<usize> {
    let size = |clique: usize| if equal { 5 } else { 3 + clique % 5 * 2 };
    (0..)
        .flat_map(|clique| vec![clique; size(clique)])
        .take(n)
        .collect()
}
