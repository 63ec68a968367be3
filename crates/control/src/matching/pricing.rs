//! Which pairs a sparse solve looks at: the heaviest at first, then those whose
//! weight the duals do not cover.

use super::forest::{Forest, NONE};
use super::weights::Weights;

/// An edge i < j and its weight.
pub(super) type Edge = (u32, u32, i64);

/// The heaviest edges of every vertex, all of weight > 0, and a greedy matching
/// whose leftovers are paired.
pub(super) fn core(weights: &Weights, degree: usize) -> Vec<Edge> {
    let n = weights.n();
    let mut edges = Vec::with_capacity(n * degree);
    let mut heaviest: Vec<(i64, u32)> = Vec::with_capacity(degree);
    for i in 0..n {
        // From i onwards, so that equals are not all the same few.
        let row = weights.row(i);
        let around = (i + 1..n).chain(0..i);
        pick(&mut heaviest, degree, around.map(|j| (row[j], j as u32)));
        edges.extend(heaviest.iter().map(|&(w, j)| edge(i as u32, j, w)));
    }
    distinct(&mut edges);
    pair_up(weights, &mut edges);
    edges
}

/// For every vertex, the pairs with it that lack most dual, at most `degree`.
pub(super) fn uncovered(weights: &Weights, forest: &Forest, degree: usize) -> Vec<Edge> {
    let n = weights.n();
    let mut edges = Vec::new();
    let mut worst: Vec<(i64, u32)> = Vec::with_capacity(degree);
    for i in 0..n {
        let y = forest.y[i];
        let lacking =
            weights
                .row(i)
                .iter()
                .zip(&forest.y)
                .enumerate()
                .filter_map(|(j, (w, yj))| {
                    let lacks = 2 * w - y - yj;
                    (lacks > 0 && j != i)
                        .then(|| (lacks - forest.shared_z(i as u32, j as u32), j as u32))
                });
        pick(&mut worst, degree, lacking);
        edges.extend(
            worst
                .iter()
                .map(|&(_, j)| edge(i as u32, j, weights.get(i, j as usize))),
        );
    }
    distinct(&mut edges);
    edges
}

/// Keeps the `most` largest positive values, earlier ones of equals, in `kept`.
fn pick(kept: &mut Vec<(i64, u32)>, most: usize, values: impl Iterator<Item = (i64, u32)>) {
    kept.clear();
    let mut least = 0;
    for (value, j) in values {
        if value <= least {
            continue;
        }
        if kept.len() == most {
            kept.pop();
        }
        let at = kept
            .iter()
            .rposition(|&(other, _)| other >= value)
            .map_or(0, |at| at + 1);
        kept.insert(at, (value, j));
        if kept.len() == most {
            least = kept[most - 1].0;
        }
    }
}

/// Adds the pairs that a greedy matching on `edges` leaves, heaviest first for
/// each vertex.
fn pair_up(weights: &Weights, edges: &mut Vec<Edge>) {
    let mut order: Vec<u32> = (0..edges.len() as u32).collect();
    order.sort_unstable_by_key(|&e| (std::cmp::Reverse(edges[e as usize].2), e));
    let mut free = vec![true; weights.n()];
    for e in order {
        let (i, j, _) = edges[e as usize];
        if free[i as usize] && free[j as usize] {
            (free[i as usize], free[j as usize]) = (false, false);
        }
    }
    let mut left: Vec<u32> = (0..weights.n() as u32)
        .filter(|&i| free[i as usize])
        .collect();
    let before = edges.len();
    while let Some(i) = left.pop() {
        let row = weights.row(i as usize);
        let most =
            (0..left.len()).max_by_key(|&at| (row[left[at] as usize], std::cmp::Reverse(at)));
        let Some(at) = most else { break };
        let j = left.swap_remove(at);
        let weight = row[j as usize];
        if weight > 0 {
            edges.push(edge(i, j, weight));
        }
    }
    if edges.len() > before {
        distinct(edges);
    }
}

fn edge(i: u32, j: u32, weight: i64) -> Edge {
    (i.min(j), i.max(j), weight)
}

fn distinct(edges: &mut Vec<Edge>) {
    edges.sort_unstable();
    edges.dedup();
}

/// Raises y at an end of every edge that is not covered, leaving as much of the
/// matching and of the blossoms as possible: whole blossoms are raised while
/// their z lasts.
pub(super) fn cover(edges: &[Edge], forest: &mut Forest) {
    for &(i, j, weight) in edges {
        let duals = forest.y[i as usize] + forest.y[j as usize] + forest.shared_z(i, j);
        let lacking = 2 * weight - duals;
        if lacking > 0 {
            let free = |v: u32| forest.partner(forest.top[v as usize]) == NONE;
            let (raised, other) = if free(j) && !free(i) { (j, i) } else { (i, j) };
            forest.lift(raised, other, lacking);
        }
    }
}
