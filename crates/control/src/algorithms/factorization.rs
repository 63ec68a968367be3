//! Random 1-factorisations: the complete graph as a set of disjoint perfect matchings.
//!
//! Switches that rotate through such matchings connect every two nodes once in a cycle, in both
//! directions at once; a random subset of the matchings forms an expander (Mellette et al., NSDI
//! 2020). For up to `BASE` nodes, random perfect matchings are removed from the complete graph one
//! after another. Larger graphs consist of two halves and the edges between them: matchings of the
//! two halves side by side, and matchings between the halves, which form a cyclic Latin square with
//! randomly ordered rows and columns. Any two of these matchings form cycles together. They
//! exchange their pairs along some of the cycles, so that each matching connects the halves.

use super::matching::{maximum_weight_perfect, Weights};
use lightloom_engine::Stream;

/// A perfect matching: the partner of each node.
pub type Factor = Vec<u32>;

/// Largest number of nodes that is factorised directly.
const BASE: usize = 64;
/// The number of last matchings that are drawn again if they leave odd cycles.
const REDRAWN: usize = 6;
/// The number of other matchings with which each exchanges pairs.
const EXCHANGES: usize = 4;

/// The complete graph of `nodes` as matchings, in random order: N − 1 matchings for an even N; N
/// for an odd N, where a different node is alone in each matching (matched with itself).
///
/// # Panics
/// With fewer than two nodes.
pub fn random_factors(nodes: u32, seed: u64) -> Vec<Factor> {
    assert!(nodes >= 2, "{nodes} nodes have no matching");
    let mut rng = Stream::new(seed, "1-factorisation", 0);
    let n = nodes as usize;
    let mut factors = even(n + n % 2, &mut rng);
    if n % 2 == 1 {
        for factor in &mut factors {
            let alone = factor.pop().expect("not empty") as usize;
            factor[alone] = alone as u32;
        }
    }
    factors
}

fn even(n: usize, rng: &mut Stream) -> Vec<Factor> {
    let mut factors = match n <= BASE {
        true => direct(n, rng),
        false => doubled(n / 2, rng),
    };
    rng.shuffle(&mut factors);
    factors
}

// ---- One matching after another ----------------------------------------------

/// The pairs that are in no matching yet.
#[derive(Clone)]
struct Left {
    n: usize,
    pairs: Vec<bool>,
}

impl Left {
    fn complete(n: usize) -> Left {
        let pairs = (0..n * n).map(|pair| pair / n != pair % n).collect();
        Left { n, pairs }
    }

    fn others(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let row = &self.pairs[node * self.n..(node + 1) * self.n];
        (0..self.n).filter(|&other| row[other])
    }

    fn remove(&mut self, factor: &[u32]) {
        for (node, &other) in factor.iter().enumerate() {
            self.pairs[node * self.n + other as usize] = false;
        }
    }

    /// A random perfect matching, if there is one: the maximum-weight matching under random weights
    /// that are so large that two pairs do not outweigh three.
    fn take(&mut self, rng: &mut Stream) -> Option<Factor> {
        const SPREAD: u32 = 1 << 16;
        let n = self.n;
        let base = n as i64 * i64::from(SPREAD);
        let mut cells = vec![0; n * n];
        for pair in (0..n * n).filter(|&pair| pair / n < pair % n && self.pairs[pair]) {
            let weight = base + i64::from(rng.below(SPREAD));
            cells[pair] = weight;
            cells[pair % n * n + pair / n] = weight;
        }
        let weights = Weights::new(n, cells).expect("small weights");
        let mut factor = vec![u32::MAX; n];
        for (a, b) in maximum_weight_perfect(&weights).pairs() {
            if !self.pairs[a as usize * n + b as usize] {
                return None;
            }
            factor[a as usize] = b;
            factor[b as usize] = a;
        }
        self.remove(&factor);
        Some(factor)
    }

    /// The two matchings that remain if every node has two partners: each takes every second edge
    /// of each cycle, all of which must be even.
    fn halve(&self) -> Option<[Factor; 2]> {
        let mut halves = [vec![u32::MAX; self.n], vec![u32::MAX; self.n]];
        for start in 0..self.n {
            let (mut node, mut half) = (start, 0);
            while halves[half][node] == u32::MAX {
                let before = halves[1 - half][node];
                let next = self.others(node).find(|&other| other as u32 != before)?;
                if halves[half][next] != u32::MAX {
                    return None;
                }
                halves[half][node] = next as u32;
                halves[half][next] = node as u32;
                (node, half) = (next, 1 - half);
            }
        }
        Some(halves)
    }
}

/// One random matching after another; if the last ones cannot be found, some earlier ones are drawn
/// again.
fn direct(n: usize, rng: &mut Stream) -> Vec<Factor> {
    if n == 2 {
        return vec![vec![1, 0]];
    }
    let mut left = Left::complete(n);
    let mut factors: Vec<Factor> = Vec::with_capacity(n - 1);
    loop {
        let last = match n - 1 - factors.len() {
            2 => left.halve().map(|halves| factors.extend(halves)),
            _ => left.take(rng).map(|factor| factors.push(factor)),
        };
        if factors.len() == n - 1 {
            return factors;
        }
        if last.is_none() {
            factors.truncate(factors.len().saturating_sub(REDRAWN));
            left = Left::complete(n);
            factors.iter().for_each(|factor| left.remove(factor));
        }
    }
}

// ---- Two halves -----------------------------------------------------------------

/// Two halves of `m` nodes. If m is even, matchings of both halves are placed side by side. If m is
/// odd, one node of each half is alone in each matching, and these two are matched.
fn doubled(m: usize, rng: &mut Stream) -> Vec<Factor> {
    let odd = m % 2;
    let halves = [even(m + odd, rng), even(m + odd, rng)];
    let mut factors: Vec<Factor> = { halves[0].iter().zip(&halves[1]) }
        .map(|(one, other)| beside(&one[..m], &other[..m]))
        .collect();
    // The random order of the rows and columns of the Latin square.
    let [mut rows, mut columns]: [Vec<u32>; 2] = [(0..m as u32).collect(), (0..m as u32).collect()];
    rng.shuffle(&mut rows);
    rng.shuffle(&mut columns);
    if odd == 1 {
        // Its first matching consists of the nodes that were alone.
        let alone = |half: &Factor| half[m];
        rows = halves[0].iter().map(alone).collect();
        columns = halves[1].iter().map(alone).collect();
        let mut order: Vec<usize> = (0..m).collect();
        rng.shuffle(&mut order);
        rows = order.iter().map(|&k| rows[k]).collect();
        columns = order.iter().map(|&k| columns[k]).collect();
    }
    factors.extend((odd..m).map(|shift| between(&rows, &columns, shift)));
    for _ in 0..EXCHANGES {
        rng.shuffle(&mut factors);
        for pair in factors.chunks_exact_mut(2) {
            let [one, other] = pair else { unreachable!() };
            exchange(one, other, rng);
        }
    }
    factors
}

/// Two matchings form cycles together; along half of these cycles they exchange their pairs.
fn exchange(one: &mut Factor, other: &mut Factor, rng: &mut Stream) {
    let mut seen = vec![false; one.len()];
    for start in 0..one.len() {
        if seen[start] {
            continue;
        }
        let swaps = rng.below(2) == 1;
        let mut node = start;
        while !seen[node] {
            let next = one[node] as usize;
            let then = other[next] as usize;
            for of in [node, next] {
                seen[of] = true;
                if swaps {
                    std::mem::swap(&mut one[of], &mut other[of]);
                }
            }
            node = then;
        }
    }
}

/// Combines a matching of each half; the two nodes without a partner in their halves are matched
/// with each other.
fn beside(one: &[u32], other: &[u32]) -> Factor {
    let m = one.len();
    let alone = |half: &[u32]| half.iter().position(|&to| to as usize == m);
    let mut factor: Factor = one.to_vec();
    factor.extend(other.iter().map(|to| to + m as u32));
    if let (Some(a), Some(b)) = (alone(one), alone(other)) {
        factor[a] = (m + b) as u32;
        factor[m + b] = a as u32;
    }
    factor
}

fn between(rows: &[u32], columns: &[u32], shift: usize) -> Factor {
    let m = rows.len();
    let mut factor = vec![0; 2 * m];
    for (k, &row) in rows.iter().enumerate() {
        let column = columns[(k + shift) % m];
        factor[row as usize] = m as u32 + column;
        factor[m + column as usize] = row;
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of a 1-factorisation: each matching consists of pairs, and each pair is in
    /// one matching.
    fn check(n: usize, factors: &[Factor]) {
        let mut met = vec![0; n * n];
        assert_eq!(factors.len(), n - 1 + n % 2);
        for factor in factors {
            assert_eq!(factor.len(), n);
            let alone = (0..n).filter(|&a| factor[a] as usize == a).count();
            assert_eq!(alone, n % 2);
            for (a, &b) in factor.iter().enumerate() {
                assert_eq!(factor[b as usize] as usize, a);
                met[a * n + b as usize] += 1;
            }
        }
        // If the number is odd, each node is alone once.
        let expected = |pair: usize| u32::from(pair / n != pair % n || n % 2 == 1);
        assert!((0..n * n).all(|pair| met[pair] == expected(pair)), "{n}");
    }

    #[test]
    fn every_pair_is_in_one_matching() {
        for n in (2..=33).chain([54, 63, 64, 65, 66, 70, 108, 127, 130, 260]) {
            check(n, &random_factors(n as u32, 7));
        }
    }

    #[test]
    fn a_seed_has_its_factors() {
        assert_eq!(random_factors(20, 3), random_factors(20, 3));
        assert_ne!(random_factors(20, 3), random_factors(20, 4));
    }

    /// Mean number of circuits between two nodes over the first `k` of these matchings; `None` if a
    /// node is unreachable.
    fn mean_path(factors: &[Factor], k: usize) -> Option<f64> {
        let n = factors[0].len();
        let mut all = 0;
        for start in 0..n {
            let mut distance = vec![u32::MAX; n];
            distance[start] = 0;
            let mut queue = std::collections::VecDeque::from([start]);
            while let Some(node) = queue.pop_front() {
                for factor in &factors[..k] {
                    let next = factor[node] as usize;
                    if distance[next] == u32::MAX {
                        distance[next] = distance[node] + 1;
                        queue.push_back(next);
                    }
                }
            }
            if distance.contains(&u32::MAX) {
                return None;
            }
            all += distance.iter().sum::<u32>();
        }
        Some(f64::from(all) / (n * (n - 1)) as f64)
    }

    /// Any five matchings are nearly as good as a random regular graph of degree 5 can be: that has
    /// at most 5 · 4^(h − 1) nodes at a distance of h circuits (Moore's bound), while five
    /// matchings of a round robin reach about 5 h.
    #[test]
    fn some_are_an_expander() {
        let moore = (5.0 + 2.0 * 20.0 + 3.0 * 80.0 + 4.0 * 2.0) / 107.0;
        for seed in 0..20 {
            let factors = random_factors(108, seed);
            let mean = mean_path(&factors, 5).expect("connected");
            assert!(moore <= mean && mean < 1.15 * moore, "{mean} {moore}");
        }
    }
}
