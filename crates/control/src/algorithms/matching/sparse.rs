//! The first sparse graph, and initial duals.
//!
//! A greedy matching gives a lower bound on the value of every vertex, and twice this value covers
//! every pair. A few rounds of lowering remove most of the excess. The edges for which the duals
//! then have the least excess are likely to be in an optimal matching. (The heaviest edges of every
//! vertex alone would all lead to the same few vertices if some racks are much busier than others.)

use super::weights::Weights;
use crate::algorithms::largest::Largest;

/// An edge i < j and its weight.
pub(super) type Edge = (u32, u32, i64);

/// Edges that every vertex adds to the first graph.
const DEGREE: usize = 12;
/// Number of heaviest edges of a vertex that the greedy matching stores.
const REMEMBERED: usize = 16;
/// A dual that would fall by less than one part in this many is not changed.
const PARTS: i64 = 64;
/// Rounds of lowering; each halves what can be halved.
const ROUNDS: usize = 40;

/// Duals that cover all pairs, in halves of a weight, and the edges with the least excess, all of
/// weight > 0.
pub(super) fn start(weights: &Weights) -> (Vec<i64>, Vec<Edge>) {
    let pairs = greedy(weights);
    let y = duals(weights, &pairs);
    let mut edges = nearly_tight(weights, &y);
    edges.extend(pairs);
    distinct(&mut edges);
    (y, edges)
}

/// The edge of two vertices, given in any order.
pub(super) fn edge(i: u32, j: u32, weight: i64) -> Edge {
    (i.min(j), i.max(j), weight)
}

/// Removes duplicate edges.
pub(super) fn distinct(edges: &mut Vec<Edge>) {
    edges.sort_unstable();
    edges.dedup();
}

/// All vertices except `i`, from the next one onwards, so that with equal weights not all vertices
/// prefer the same few.
fn around(i: usize, n: usize) -> impl Iterator<Item = usize> {
    (i + 1..n).chain(0..i)
}

/// The best partner of every free vertex.
struct Wishes<'a> {
    weights: &'a Weights,
    free: Vec<bool>,
    /// The heaviest edges of every vertex at its last scan, and how many of them lead to vertices
    /// that are no longer free.
    lists: Vec<(Largest, usize)>,
}

impl Wishes<'_> {
    /// The heaviest edge of a vertex to a free one, if any has weight.
    fn of(&mut self, i: u32) -> Option<(i64, u32)> {
        loop {
            let (list, gone) = &mut self.lists[i as usize];
            while let Some(&(weight, j)) = list.kept.get(*gone) {
                if self.free[j as usize] {
                    return Some((weight, j));
                }
                *gone += 1;
            }
            let complete = list.kept.len() < REMEMBERED;
            if complete {
                return None;
            }
            self.lists[i as usize] = (self.look(i as usize), 0);
        }
    }

    fn look(&self, i: usize) -> Largest {
        let row = self.weights.row(i);
        let mut heaviest = Largest::new(REMEMBERED, 0);
        around(i, row.len()).for_each(|j| {
            if row[j] > heaviest.least && self.free[j] {
                heaviest.offer(row[j], j as u32);
            }
        });
        heaviest
    }
}

/// A matching each of whose edges was, when it was chosen, the heaviest remaining one of both its
/// ends. Every edge is therefore at most as heavy as the chosen edge of one of its ends.
fn greedy(weights: &Weights) -> Vec<Edge> {
    let n = weights.n();
    let mut wishes = Wishes {
        weights,
        free: vec![true; n],
        lists: Vec::with_capacity(n),
    };
    for i in 0..n {
        let list = wishes.look(i);
        wishes.lists.push((list, 0));
    }
    let mut pairs = Vec::with_capacity(n / 2);
    // Each vertex prefers the next; the last two, or two with equal weights, are matched.
    let mut chain = Vec::new();
    for v in 0..n as u32 {
        chain.push(v);
        while let Some(&i) = chain.last() {
            let wish = if wishes.free[i as usize] {
                wishes.of(i)
            } else {
                None
            };
            let Some((weight, j)) = wish else {
                chain.pop();
                continue;
            };
            if wishes.of(j).is_some_and(|(better, _)| better > weight) {
                chain.push(j);
            } else {
                wishes.free[i as usize] = false;
                wishes.free[j as usize] = false;
                pairs.push(edge(i, j, weight));
            }
        }
    }
    pairs
}

/// Duals that cover all pairs. They start from half of each vertex' heaviest edge, or from its
/// greedy edge if the sum of these is less. y_i then repeatedly moves halfway to the value that the
/// other duals require; if both ends move halfway, a pair stays covered.
fn duals(weights: &Weights, pairs: &[Edge]) -> Vec<i64> {
    let n = weights.n();
    let mut y: Vec<i64> = (0..n)
        .map(|i| most(weights.row(i).iter().copied()))
        .collect();
    let halves: i128 = y.iter().map(|&y| i128::from(y)).sum();
    if pairs
        .iter()
        .map(|pair| 4 * i128::from(pair.2))
        .sum::<i128>()
        < halves
    {
        y.fill(0);
        for &(i, j, weight) in pairs {
            (y[i as usize], y[j as usize]) = (2 * weight, 2 * weight);
        }
    }
    let mut falling: Vec<(u32, i64)> = (0..n as u32).map(|i| (i, 0)).collect();
    for _ in 0..ROUNDS {
        for (i, fall) in &mut falling {
            let others = weights.row(*i as usize).iter().zip(&y);
            *fall = (y[*i as usize] - most(others.map(|(w, y)| 2 * w - y))) / 2;
        }
        falling.retain(|&(i, fall)| fall > y[i as usize] / PARTS);
        for &(i, fall) in &falling {
            y[i as usize] -= fall;
        }
    }
    y
}

/// The largest value, at least 0.
fn most(values: impl Iterator<Item = i64>) -> i64 {
    values.fold(0, i64::max)
}

/// For every vertex, the edges of weight > 0 with the least excess of the duals.
fn nearly_tight(weights: &Weights, y: &[i64]) -> Vec<Edge> {
    let n = weights.n();
    let mut edges = Vec::with_capacity(n * DEGREE);
    for i in 0..n {
        let row = weights.row(i);
        let mut nearest = Largest::new(DEGREE, i64::MIN);
        around(i, n).for_each(|j| {
            let left = 2 * row[j] - y[j];
            if left > nearest.least && row[j] > 0 {
                nearest.offer(left, j as u32);
            }
        });
        edges.extend(
            nearest
                .kept
                .iter()
                .map(|&(_, j)| edge(i as u32, j, row[j as usize])),
        );
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Weights with few digits, so that ties are frequent, including zeros.
    fn any_weights() -> impl Strategy<Value = Weights> {
        (1usize..50, 1i64..1000).prop_flat_map(|(n, most)| {
            proptest::collection::vec(0..=most, n * n).prop_map(move |draws| {
                let weight = |i: usize, j: usize| match i.cmp(&j) {
                    std::cmp::Ordering::Equal => 0,
                    _ => draws[i.min(j) * n + i.max(j)],
                };
                let cells = (0..n * n).map(|at| weight(at / n, at % n)).collect();
                Weights::new(n, cells).expect("symmetric weights")
            })
        })
    }

    #[test]
    fn others_come_in_order_from_the_next_one_onwards() {
        assert_eq!(around(1, 4).collect::<Vec<_>>(), [2, 3, 0]);
    }

    #[test]
    fn an_edge_is_there_once() {
        let mut edges = vec![(1, 2, 3), (0, 1, 5), (1, 2, 3)];
        distinct(&mut edges);
        assert_eq!(edges, [(0, 1, 5), (1, 2, 3)]);
    }

    /// Vertex 0 with all others, by weight; no other pairs.
    fn star(rays: &[i64]) -> Weights {
        let n = rays.len() + 1;
        let mut cells = vec![0; n * n];
        for (j, &weight) in (1..).zip(rays) {
            (cells[j], cells[j * n]) = (weight, weight);
        }
        Weights::new(n, cells).expect("symmetric weights")
    }

    /// By hand, from half of the heaviest edges: 2 falls 90, 85, 83 towards 80 and stops when it
    /// would fall by one 64th or less; 3 falls 80, 70, 65, 63, 62, 61.
    #[test]
    fn duals_fall_halfway_again_and_again() {
        let weights = star(&[100, 90, 80]);
        let pairs = greedy(&weights);
        assert_eq!(pairs, [(0, 1, 100)]);
        assert_eq!(duals(&weights, &pairs), [100, 100, 83, 61]);
    }

    /// 440 would be half of the heaviest edges; twice the greedy edge at both its ends is 400. 0
    /// falls 200, 190, 185; 1 falls 200, 100, 55, 35, 25, 20, 18, 17, 16. At 400 it is half again.
    #[test]
    fn duals_begin_with_the_greedy_edges_where_that_is_less() {
        let weights = star(&[100, 90, 80, 70]);
        let found = duals(&weights, &greedy(&weights));
        assert_eq!(found, [185, 16, 0, 0, 0]);
        // The same with vertices 0 and 1 exchanged.
        let mut cells = vec![0; 25];
        for (j, weight) in [(0, 100), (2, 90), (3, 80), (4, 70)] {
            (cells[5 + j], cells[5 * j + 1]) = (weight, weight);
        }
        let weights = Weights::new(5, cells).unwrap();
        let found = duals(&weights, &greedy(&weights));
        assert_eq!(found, [16, 185, 0, 0, 0]);
        let weights = star(&[100, 100, 100]);
        assert_eq!(duals(&weights, &greedy(&weights)), [100; 4]);
    }

    /// Twelve edges have an excess of 2 · 50 − 20 at vertex 0, one of 2 · 60 − 50, one of 2 · 39 −
    /// 1, a zero has none.
    #[test]
    fn the_first_graph_has_a_dozen_edges_that_waste_least() {
        let (mut rays, mut y) = (vec![50; 12], vec![0]);
        rays.extend([60, 39, 0]);
        y.extend([20; 12]);
        y.extend([50, 1, 0]);
        let found = nearly_tight(&star(&rays), &y);
        let of_0 = (1..=12).map(|j| (0, j, 50));
        let of_others = (1..=14).map(|j| (0, j, rays[j as usize - 1]));
        assert_eq!(found, of_0.chain(of_others).collect::<Vec<Edge>>());
    }

    proptest! {
        #[test]
        fn every_edge_has_an_end_with_a_greedy_edge_as_heavy(weights in any_weights()) {
            let n = weights.n();
            let mut worth = vec![0; n];
            for (i, j, weight) in greedy(&weights) {
                prop_assert!(worth[i as usize] == 0 && worth[j as usize] == 0, "matched twice");
                prop_assert_eq!(weight, weights.get(i as usize, j as usize));
                (worth[i as usize], worth[j as usize]) = (weight, weight);
            }
            for i in 0..n {
                for j in 0..i {
                    prop_assert!(weights.get(i, j) <= worth[i].max(worth[j]));
                }
            }
        }

        #[test]
        fn first_duals_cover_all_pairs(weights in any_weights()) {
            let n = weights.n();
            let (y, edges) = start(&weights);
            for i in 0..n {
                for j in 0..i {
                    prop_assert!(y[i] + y[j] >= 2 * weights.get(i, j));
                }
            }
            for (i, j, weight) in edges {
                prop_assert!(i < j && weight > 0);
                prop_assert_eq!(weight, weights.get(i as usize, j as usize));
            }
        }
    }
}
