//! `compute_requests` of A.3, Fig 15: at the start of each epoch a node walks LOCAL and requests
//! permission to send from random intermediates.

use super::epoch::Askers;
use super::matrix::RequestMatrix;
use crate::sirius::config::Intermediates;
use crate::sirius::failure::avoid::Avoid;
use crate::sirius::index::{Label, Row};
use crate::sirius::relay::local::Local;
use lightloom_engine::Stream;

/// A flow tuple of A.3: the destination in the lower bits, the number of cells without a request in
/// the higher bits. It is one word, because the processor cannot read a value as a whole while its
/// parts, written separately, have not reached the cache.
#[derive(Clone, Copy, Debug)]
struct Tuple(u64);

impl Tuple {
    const CELL: u64 = 1 << 16;

    #[inline(always)]
    fn new(destination: Label, cells: u32) -> Tuple {
        Tuple(destination.0 as u64 + cells as u64 * Tuple::CELL)
    }

    #[inline(always)]
    fn destination(self) -> Label {
        Label(self.0 as u16)
    }

    #[inline(always)]
    fn cells(self) -> u64 {
        self.0 / Tuple::CELL
    }

    /// Counts a request for a cell; returns whether it was the last.
    #[inline(always)]
    fn ask(&mut self) -> bool {
        self.0 -= Tuple::CELL;
        self.0 < Tuple::CELL
    }
}

/// The state that a range of nodes needs to send requests.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// First label.
    lo: usize,
    /// The random stream of each row.
    rng: Vec<Stream>,
    walk: Walk,
    /// Scratch space: the requests of a row to each node.
    wants: Vec<u16>,
}

impl Requests {
    /// The state of nodes `lo .. lo + rows` out of `nodes`, with this number of nodes per block.
    pub(crate) fn new(
        (lo, rows): (usize, usize),
        block: usize,
        nodes: usize,
        intermediates: Intermediates,
        seed: u64,
    ) -> Requests {
        let stream = |node| Stream::new(seed, "sirius.requests", node as u64);
        Requests {
            lo,
            rng: (lo..lo + rows).map(stream).collect(),
            walk: Walk::new((rows, block), nodes, intermediates),
            wants: vec![0; nodes],
        }
    }

    /// Computes the requests of the epoch: fills the rows of the nodes that send requests, and
    /// lists these nodes. `avoid` lists nodes that are not requested.
    pub(crate) fn request(
        &mut self,
        local: &Local,
        matrices: &mut [RequestMatrix],
        askers: &mut Askers,
        avoid: &Avoid,
    ) {
        askers.clear();
        for row in (0..self.rng.len()).map(Row) {
            self.request_row(row, local, matrices, askers, Some(avoid));
        }
    }

    /// The same for one row.
    #[inline(always)]
    pub(super) fn request_row(
        &mut self,
        row: Row,
        local: &Local,
        matrices: &mut [RequestMatrix],
        askers: &mut Askers,
        avoid: Option<&Avoid>,
    ) {
        if local.cells(row) == 0 {
            return;
        }
        let (label, rng) = (row.label(self.lo), &mut self.rng[row.0]);
        if let ([matrix], None) = (&mut *matrices, avoid) {
            // There is one shard: write the requests directly into its matrix.
            let wants = matrix.row(row);
            let asked = self.walk.compute_requests(row, label, local, rng, wants);
            if asked > 0 {
                askers.push(row, &self.walk.destinations);
            }
            return;
        }
        let wants = &mut self.wants[..];
        let mut asked = self.walk.compute_requests(row, label, local, rng, wants);
        if let Some(avoid) = avoid {
            asked = avoid.ask_others(label, wants, asked, rng);
        }
        if asked > 0 {
            askers.push(row, &self.walk.destinations);
            let mut from = 0;
            for matrix in matrices.iter_mut() {
                let part = matrix.row(row);
                part.copy_from_slice(&wants[from..from + part.len()]);
                from += part.len();
            }
        }
    }
}

/// Scratch space of the walk, and the possible intermediates.
#[derive(Clone, Debug)]
struct Walk {
    nodes: usize,
    intermediates: Intermediates,
    /// The flow tuples F.
    flows: Vec<Tuple>,
    /// The destinations of F, each once.
    destinations: Vec<Label>,
    /// The candidate set C. It is kept from walk to walk, because a Fisher–Yates draw may start
    /// from any order. There is one set for each block of rows, so that draws do not depend on the
    /// assignment of blocks to shards.
    candidates: Vec<Label>,
    /// Rows a block.
    block: usize,
}

impl Walk {
    /// Scratch space for `rows` nodes out of `nodes`, with this number of nodes per block.
    fn new((rows, block): (usize, usize), nodes: usize, intermediates: Intermediates) -> Walk {
        let blocks = 0..rows.div_ceil(block);
        Walk {
            nodes,
            intermediates,
            flows: Vec::new(),
            destinations: Vec::new(),
            candidates: blocks.flat_map(|_| Label::all(nodes)).collect(),
            block,
        }
    }

    /// Fills `wants[i]` with the destination for which intermediate `i` is requested, or `nodes`
    /// for none; returns the number of requests.
    fn compute_requests(
        &mut self,
        row: Row,
        label: Label,
        local: &Local,
        rng: &mut Stream,
        wants: &mut [u16],
    ) -> u32 {
        self.flows.clear();
        self.flows
            .extend(local.flows(row).map(|(d, cells)| Tuple::new(d, cells)));
        self.list_destinations();
        let all = self.intermediates == Intermediates::All;
        if all && self.flows.iter().all(|f| f.cells() >= self.nodes as u64) {
            return self.ask_everyone(rng, wants);
        }
        wants.fill(self.nodes as u16);
        let candidates = &mut self.candidates[row.0 / self.block * self.nodes..][..self.nodes];
        match all {
            true => walk(&mut self.flows, candidates, rng, wants),
            false => walk_others(&mut self.flows, candidates, label, rng, wants),
        }
    }

    fn list_destinations(&mut self) {
        self.destinations.clear();
        self.destinations
            .extend(self.flows.iter().map(|f| f.destination()));
        if self.destinations.len() > 1 {
            self.destinations.sort_unstable();
            self.destinations.dedup();
        }
    }

    /// The walk if no flow can run out before every intermediate has a request: the draws of flows
    /// are then independent, and intermediates can be visited in any order.
    fn ask_everyone(&mut self, rng: &mut Stream, wants: &mut [u16]) -> u32 {
        if let [only] = self.flows[..] {
            wants.fill(only.destination().0);
            return wants.len() as u32;
        }
        let n = self.flows.len() as u32;
        for pair in wants.chunks_mut(2) {
            let (a, b) = rng.below2(n, n);
            pair[0] = self.flows[a as usize].destination().0;
            if let Some(second) = pair.get_mut(1) {
                *second = self.flows[b as usize].destination().0;
            }
        }
        wants.len() as u32
    }
}

/// The walk of A.3: draws flows and intermediates until either are exhausted. Returns the number of
/// requests.
fn walk(flows: &mut [Tuple], candidates: &mut [Label], rng: &mut Stream, wants: &mut [u16]) -> u32 {
    let mut draws = rng.clone();
    let (mut flows_left, mut used) = (flows.len(), 0);
    while flows_left > 0 && used < candidates.len() {
        let (open, left) = (&mut flows[..flows_left], &mut candidates[used..]);
        if let [only] = open {
            if only.cells() >= left.len() as u64 {
                // Only one flow is left for all remaining intermediates: no draw is needed.
                let destination = only.destination();
                left.iter().for_each(|c| wants[c.index()] = destination.0);
                used += left.len();
                break;
            }
        }
        let (f, c) = draws.below2(open.len() as u32, left.len() as u32);
        let flow = &mut open[f as usize];
        left.swap(0, c as usize);
        wants[left[0].index()] = flow.destination().0;
        used += 1;
        if flow.ask() {
            flows_left -= 1;
            flows.swap(f as usize, flows_left);
        }
    }
    *rng = draws;
    used as u32
}

/// Like [`walk`], but a node sends requests neither to itself (`source`) nor to the destination.
fn walk_others(
    flows: &mut Vec<Tuple>,
    candidates: &mut [Label],
    source: Label,
    rng: &mut Stream,
    wants: &mut [u16],
) -> u32 {
    let mut asked = 0;
    while !flows.is_empty() && asked < candidates.len() {
        let left = &mut candidates[asked..];
        let (f, c) = rng.below2(flows.len() as u32, left.len() as u32);
        let destination = flows[f as usize].destination();
        if flows[f as usize].ask() {
            flows.swap_remove(f as usize);
        }
        let barred = |by: Label| by == source || by == destination;
        if left.len() <= 2 && left.iter().all(|&by| barred(by)) {
            // Only the source and this destination remain as intermediates.
            flows.retain(|f| f.destination() != destination);
            continue;
        }
        let mut c = c as usize;
        while barred(left[c]) {
            c = rng.below(left.len() as u32) as usize;
        }
        left.swap(0, c);
        wants[left[0].index()] = destination.0;
        asked += 1;
    }
    asked as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ask(
        flows: &[(u16, u32)],
        nodes: usize,
        intermediates: Intermediates,
        rng: &mut Stream,
    ) -> (Vec<u16>, u32) {
        let mut local = Local::new(1, nodes);
        for (flow_index, &(dst, cells)) in flows.iter().enumerate() {
            local.admit(Row(0), flow_index as u32, Label(dst), 0, cells);
        }
        let mut requests = Walk::new((1, 1), nodes, intermediates);
        let mut wants = vec![0; nodes];
        let asked = requests.compute_requests(Row(0), Label(0), &local, rng, &mut wants);
        (wants, asked)
    }

    proptest! {
        /// "This process terminates when either one request has been generated
        /// for all cells in LOCAL or all intermediate nodes have been selected."
        #[test]
        fn ends_when_cells_or_intermediates_end(
            flows in prop::collection::vec((1u16..8, 1u32..20), 1..6), seed: u64,
        ) {
            let (wants, asked) = ask(&flows, 8, Intermediates::All, &mut Stream::new(seed, "t", 0));
            let cells: u32 = flows.iter().map(|f| f.1).sum();
            prop_assert_eq!(asked, cells.min(8));
            prop_assert_eq!(wants.iter().filter(|&&d| d < 8).count() as u32, asked);
            for d in 1..8 {
                let has: u32 = flows.iter().filter(|f| f.0 == d).map(|f| f.1).sum();
                prop_assert!(wants.iter().filter(|&&w| w == d).count() as u32 <= has);
            }
        }

        #[test]
        fn others_excludes_source_and_destination(
            flows in prop::collection::vec((1u16..8, 1u32..20), 1..6), seed: u64,
        ) {
            let (wants, _) = ask(&flows, 8, Intermediates::Others, &mut Stream::new(seed, "t", 0));
            prop_assert_eq!(wants[0], 8);
            prop_assert!(wants.iter().enumerate().all(|(i, &d)| d as usize != i));
        }
    }

    /// Two nodes of a block repeatedly walk the same candidate set: the choice of one is
    /// independent of the choice of the other, and of its own next choice.
    #[test]
    fn walks_of_one_candidate_set_are_independent() {
        const N: usize = 6;
        for intermediates in [Intermediates::All, Intermediates::Others] {
            let mut local = Local::new(2, N);
            local.admit(Row(0), 0, Label(2), 0, 1);
            local.admit(Row(1), 1, Label(3), 0, 1);
            let mut requests = Walk::new((2, 2), N, intermediates);
            let mut rng = [0, 1].map(|row| Stream::new(5, "t", row));
            let (mut together, mut again) = ([[0u32; N]; N], [[0u32; N]; N]);
            let (mut wants, mut last, walks) = (vec![0; N], 4, 144_000);
            for _ in 0..walks {
                let asked = [0, 1].map(|row| {
                    let (row, rng) = (Row(row), &mut rng[row]);
                    requests.compute_requests(row, row.label(0), &local, rng, &mut wants);
                    wants
                        .iter()
                        .position(|&d| d != N as u16)
                        .expect("one is asked")
                });
                together[asked[0]][asked[1]] += 1;
                again[last][asked[0]] += 1;
                last = asked[0];
            }
            let can = |row: usize, i: usize| {
                intermediates == Intermediates::All || (i != row && i != row + 2)
            };
            let pairs = (0..N).flat_map(|a| (0..N).map(move |b| (a, b)));
            for (a, b) in pairs {
                for (count, ends) in [
                    (together[a][b], can(0, a) && can(1, b)),
                    (again[a][b], can(0, a) && can(0, b)),
                ] {
                    let one = if intermediates == Intermediates::All {
                        N
                    } else {
                        N - 2
                    };
                    let fair = if ends {
                        walks as f64 / (one * one) as f64
                    } else {
                        0.0
                    };
                    // Five standard deviations.
                    let off = (count as f64 - fair).abs();
                    assert!(
                        off <= 5.0 * fair.sqrt() + 1.0,
                        "{intermediates:?} {a} {b}: {count} for {fair}"
                    );
                }
            }
        }
    }

    /// Walks `count` times over `flows`, and passes the requests of each walk to `show`.
    fn walks(flows: &[(u16, u32)], count: usize, mut show: impl FnMut(&[u16])) {
        let mut local = Local::new(1, 8);
        for (flow_index, &(dst, cells)) in flows.iter().enumerate() {
            local.admit(Row(0), flow_index as u32, Label(dst), 0, cells);
        }
        let mut requests = Walk::new((1, 1), 8, Intermediates::All);
        let (mut rng, mut wants) = (Stream::new(7, "t", 0), vec![0; 8]);
        for _ in 0..count {
            requests.compute_requests(Row(0), Label(0), &local, &mut rng, &mut wants);
            show(&wants);
        }
    }

    /// Each flow is drawn with equal probability, whatever its size (A.3): a flow with a quarter of
    /// the cells has half of the requests.
    #[test]
    fn flows_are_drawn_and_not_cells() {
        let (mut short, mut all) = (0, 0);
        walks(&[(1, 1_000), (2, 3_000)], 10_000, |wants| {
            short += wants.iter().filter(|&&d| d == 1).count();
            all += wants.len();
        });
        let fair = 0.5 * all as f64;
        let off = (short as f64 - fair) / (fair * 0.5).sqrt();
        assert!(off.abs() < 5.0, "{short} of {all}");
    }

    #[test]
    fn intermediates_and_flows_are_drawn_uniformly() {
        let mut rng = Stream::new(3, "t", 0);
        let (mut asked, mut for_two) = (vec![0; 8], 0);
        for _ in 0..8_000 {
            let (wants, _) = ask(&[(1, 2), (2, 100)], 8, Intermediates::All, &mut rng);
            // The short flow can appear at most twice; the long one fills the rest.
            asked
                .iter_mut()
                .zip(&wants)
                .for_each(|(a, &w)| *a += (w == 1) as u32);
            for_two += wants.iter().filter(|&&w| w == 2).count();
        }
        let short: u32 = asked.iter().sum();
        assert_eq!(for_two as u32 + short, 64_000);
        // Nearly always both of its cells are drawn among eight.
        assert!((15_000..16_000).contains(&short), "{short}");
        assert!(
            asked
                .iter()
                .all(|&a| (a as f64 / short as f64 - 0.125).abs() < 0.01),
            "{asked:?}"
        );
    }
}
