//! The pairs that the duals of a sparse solve do not cover, and the repair of these duals.

use super::forest::Forest;
use super::sparse::{distinct, edge, Edge};
use super::weights::Weights;
use crate::algorithms::largest::Largest;
use std::ops::Range;

/// The largest number of edges that a vertex adds to the graph in a round.
const DEGREE: usize = 8;

/// For every vertex, the pairs with it that are least covered, at most `DEGREE`.
pub(super) fn uncovered(weights: &Weights, forest: &Forest) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut shared = Shared::new(forest);
    for (i, y) in forest.y.iter().enumerate() {
        shared.with(i as u32, forest);
        let mut worst = Largest::new(DEGREE, 0);
        for (j, (w, yj)) in weights.row(i).iter().zip(&forest.y).enumerate() {
            let lacks = 2 * w - y - yj;
            if lacks > worst.least && j != i {
                worst.offer(lacks - shared.z[j], j as u32);
            }
        }
        let pairs = worst.kept.iter();
        edges.extend(pairs.map(|&(_, j)| edge(i as u32, j, weights.get(i, j as usize))));
    }
    distinct(&mut edges);
    edges
}

/// For one vertex at a time, the sums of z over the blossoms that contain it and each other vertex.
struct Shared {
    z: Vec<i64>,
    /// Vertices node by node, so that a blossom is a range.
    order: Vec<u32>,
    place: Vec<u32>,
    /// The range of entries of `z` that can differ from 0.
    filled: Range<usize>,
    holders: Vec<u32>,
}

impl Shared {
    fn new(forest: &Forest) -> Shared {
        let n = forest.vertices();
        let outermost = (0..n as u32).filter(|&v| forest.first(forest.top(v)) == v);
        let leaves = outermost.flat_map(|v| forest.leaves(forest.top(v)));
        let order: Vec<u32> = leaves.collect();
        let mut place = vec![0; n];
        order
            .iter()
            .zip(0..)
            .for_each(|(&v, at)| place[v as usize] = at);
        Shared {
            z: vec![0; n],
            order,
            place,
            filled: 0..0,
            holders: Vec::new(),
        }
    }

    fn with(&mut self, vertex: u32, forest: &Forest) {
        self.fill(self.filled.clone(), 0);
        let mut outer = self.places(forest.top(vertex), forest);
        self.filled = outer.clone();
        let mut holders = std::mem::take(&mut self.holders);
        holders.extend(forest.holders(vertex));
        let mut sum = 0;
        while let Some(blossom) = holders.pop() {
            sum += forest.z(blossom);
            let inner = self.places(holders.last().copied().unwrap_or(vertex), forest);
            self.fill(outer.start..inner.start, sum);
            self.fill(inner.end..outer.end, sum);
            outer = inner;
        }
        self.holders = holders;
    }

    fn places(&self, node: u32, forest: &Forest) -> Range<usize> {
        let (first, last) = forest.ends(node);
        self.place[first as usize] as usize..self.place[last as usize] as usize + 1
    }

    fn fill(&mut self, places: Range<usize>, sum: i64) {
        for &v in &self.order[places] {
            self.z[v as usize] = sum;
        }
    }
}

/// Raises y at both ends of every uncovered edge by half of the difference, and keeps as much as
/// possible of the matching and of the blossoms.
pub(super) fn cover(edges: &[Edge], forest: &mut Forest) {
    for &(i, j, weight) in edges {
        let duals = forest.y[i as usize] + forest.y[j as usize] + forest.shared_z(i, j);
        let lacking = 2 * weight - duals;
        if lacking > 0 {
            let half = (lacking + 1) / 2;
            forest.lift(i, j, half);
            forest.lift(j, i, half);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::forest::{tests::nested, NONE};
    use super::*;

    /// The duals of 0 and 1 lack 8 − 3, which is 3 each in whole numbers; those of 2 and 3 lack
    /// nothing.
    #[test]
    fn both_ends_rise_by_half_of_what_lacks() {
        let mut forest = Forest::new(vec![1, 2, 9, 9]);
        forest.mate = vec![NONE, NONE, 3, 2];
        cover(&[(0, 1, 4), (2, 3, 9)], &mut forest);
        assert_eq!(forest.y, [4, 5, 9, 9]);
        assert_eq!(forest.mate, [NONE, NONE, 3, 2]);
    }

    /// 10 − 1 − 1 − 6 are lacking, 1 each, in addition to the replacement for the z of both
    /// blossoms.
    #[test]
    fn blossoms_that_hold_both_ends_cover_a_part() {
        let mut forest = nested();
        cover(&[(0, 1, 5)], &mut forest);
        assert_eq!(forest.y, [5, 5, 4, 3, 3, 1]);
    }
}
