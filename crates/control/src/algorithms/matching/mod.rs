//! Maximum-weight perfect matching: the pairs of racks that get a circuit, one circuit per rack.
//!
//! c-Through sets its circuits in this way (SIGCOMM 2010, §4.1: Edmonds' algorithm). Here a sparse
//! graph of each rack's most promising edges is solved exactly. All pairs are then priced with the
//! duals. Pairs that the duals do not cover are added, and the solution is repaired and continued,
//! until no uncovered pair is left. The result is optimal for all pairs and comes with its proof, a
//! [`Certificate`].
//!
//! Weights are at least 0, so a perfect matching of a complete graph has the same weight as the
//! best matching of any size: racks that the solver leaves unmatched are paired at weight 0. With
//! an odd number of racks one rack stays alone, as if matched with a dummy of weight 0. Several
//! circuits per rack (b-matching) are not modelled.

mod certificate;
mod cycle;
mod events;
mod forest;
mod graph;
mod pricing;
mod search;
mod sparse;
mod weights;

pub use certificate::{Blossom, Certificate, Violation};
pub use weights::{Hysteresis, Weights};

use crate::circuits::Circuits;
use forest::{Forest, NONE};
use graph::Graph;
use search::Search;

/// The first search from each free rack may change duals by this fraction of their mean.
const PATIENCE: i128 = 4096;

/// A perfect matching of maximum weight, and its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// The pairs, in the order of their lower racks; one rack is alone if their number is odd.
    pub circuits: Circuits,
    /// The sum of the weights of the pairs.
    pub weight: i64,
    /// Duals that prove that no matching weighs more.
    pub certificate: Certificate,
    /// The number of times that all pairs were priced.
    pub rounds: u32,
    /// The number of pairs in the last sparse graph.
    pub edges: usize,
}

impl Matching {
    /// The pairs (i, j), i < j, in order of i.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.circuits.iter().map(|circuit| (circuit.a, circuit.b))
    }

    /// Checks the matching and its proof, see [`Certificate::verify`].
    ///
    /// # Errors
    /// The first violation found.
    pub fn verify(&self, weights: &Weights) -> Result<(), Violation> {
        self.certificate
            .verify(&self.circuits, self.weight, weights)
    }
}

/// A perfect matching of maximum weight; the choice among equals is deterministic.
///
/// O(N³)-class in the worst case; a few milliseconds at N = 1,000 for most demand.
///
/// ```
/// use lightloom_control::demand::Matrix;
/// use lightloom_control::algorithms::matching::{maximum_weight_perfect, Weights};
///
/// // 0 and 1 exchange most, but then 2 and 3 are left with nothing to exchange.
/// let rows = [vec![0, 5, 4, 0], vec![5, 0, 0, 3], vec![4, 0, 0, 0], vec![0, 3, 0, 0]];
/// let demand = Matrix::from_rows(&rows).unwrap();
/// let weights = Weights::symmetrise(&demand).unwrap();
/// let matching = maximum_weight_perfect(&weights);
/// assert_eq!((matching.circuits.pairs(), matching.weight), (vec![(0, 2), (1, 3)], 8 + 6));
/// matching.verify(&weights).unwrap();
/// ```
pub fn maximum_weight_perfect(weights: &Weights) -> Matching {
    let (y, mut edges) = sparse::start(weights);
    let mut forest = Forest::new(y);
    let mut graph = Graph::new(weights.n(), &edges);
    match_tight(&graph, &mut forest);
    let mut rounds = 0;
    loop {
        solve(&graph, &mut forest);
        rounds += 1;
        let more = pricing::uncovered(weights, &forest);
        if more.is_empty() {
            break;
        }
        pricing::cover(&more, &mut forest);
        edges.extend(more);
        graph = Graph::new(weights.n(), &edges);
    }
    let blossoms = forest.blossoms().filter(|(z, _)| *z > 0);
    let blossoms = blossoms
        .map(|(z, members)| Blossom { z, members })
        .collect();
    let mate = pair_leftovers(forest.mate);
    let mates = (0u32..).zip(mate);
    let circuits = Circuits::both_ways(mates.filter(|&(i, j)| j != NONE && i < j));
    Matching {
        weight: weights.total(&circuits),
        circuits,
        certificate: Certificate {
            y: forest.y,
            blossoms,
        },
        rounds,
        edges: edges.len(),
    }
}

/// Lowers each free vertex' dual until an edge is tight, and matches it if the other end is free,
/// too.
fn match_tight(graph: &Graph, forest: &mut Forest) {
    for v in 0..forest.vertices() as u32 {
        if forest.mate[v as usize] != NONE {
            continue;
        }
        let left = |&(u, weight): &(u32, i64)| weight - forest.y[u as usize];
        let y = graph.of(v).iter().map(left).max().unwrap_or(0).max(0);
        let free = |&&(u, _): &&(u32, i64)| forest.mate[u as usize] == NONE;
        let tight = graph
            .of(v)
            .iter()
            .filter(free)
            .find(|&edge| left(edge) == y);
        if let Some(&(u, _)) = tight {
            forest.mate[v as usize] = u;
            forest.mate[u as usize] = v;
        }
        forest.y[v as usize] = y;
    }
}

/// Searches from every free node until it is matched or may stay alone. At first a search may
/// change duals only by a small amount: large changes are better made around all free nodes
/// together than far around a single one.
fn solve(graph: &Graph, forest: &mut Forest) {
    let mut search = Search::new(forest);
    let sum: i128 = forest.y.iter().map(|&y| i128::from(y)).sum();
    let mean = sum / forest.vertices().max(1) as i128;
    let mut limit = (mean / PATIENCE) as i64 + 1;
    let mut paused = true;
    while paused {
        paused = false;
        for v in 0..forest.vertices() as u32 {
            let node = forest.top(v);
            if forest.partner(node) == NONE && forest.base[node as usize] == v {
                paused |= !search.run(node, limit, graph, forest);
            }
        }
        limit += limit / 2 + 1;
    }
}

/// Pairs the unmatched racks at weight 0, in order.
fn pair_leftovers(mut mate: Vec<u32>) -> Vec<u32> {
    let alone: Vec<u32> = (0..mate.len() as u32)
        .filter(|&i| mate[i as usize] == NONE)
        .collect();
    for pair in alone.chunks_exact(2) {
        mate[pair[0] as usize] = pair[1];
        mate[pair[1] as usize] = pair[0];
    }
    mate
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, in halves of a weight: 0 falls to 0, where both its edges are tight, and is matched
    /// by the first; 2 falls to 6, where its edge to 0, which is matched, is tight; the edge of 3
    /// already has slack.
    #[test]
    fn free_vertices_fall_until_an_edge_is_tight() {
        let graph = Graph::new(4, &[(0, 1, 5), (0, 2, 3), (2, 3, 1)]);
        let mut forest = Forest::new(vec![10, 10, 6, 2]);
        match_tight(&graph, &mut forest);
        assert_eq!(forest.mate, [1, 0, NONE, NONE]);
        assert_eq!(forest.y, [0, 10, 6, 0]);
    }
}
