//! `compute_grants` of A.3, Fig 15: a node answers the requests that it
//! received in the epoch before, in random order, while the cells it has queued
//! or granted for a destination are fewer than Q.

use super::config::GrantRule;
use super::pairs::{grant_below, Pairs};
use lightloom_engine::Stream;

/// Intermediates are handled in blocks of this many: one cache line of requests.
pub const BLOCK: usize = 32;

/// In a book of requests: a request that was denied, where that matters.
pub const DENIED: u16 = 1 << 15;

/// The requests of the nodes of one shard to those of another, row by row, and
/// in place what becomes of them: asked → granted.
#[derive(Clone, Debug)]
pub struct Tile {
    columns: usize,
    wants: Vec<u16>,
}

impl Tile {
    /// `rows` × `columns`, nothing asked.
    pub fn new(rows: usize, columns: usize) -> Tile {
        Tile {
            columns,
            wants: vec![0; rows * columns],
        }
    }

    /// The requests of one node.
    #[inline(always)]
    pub fn row(&mut self, row: usize) -> &mut [u16] {
        &mut self.wants[row * self.columns..][..self.columns]
    }
}

/// Who sent requests, by label, with the shard and row where they stand.
#[derive(Clone, Copy, Debug)]
pub struct Asker {
    /// Shard of the node.
    pub shard: u16,
    /// Its row there.
    pub row: u32,
}

/// The answering side of a range of intermediates. M of A.3 stands in the
/// [`Counts`](super::pairs::Counts) of the pairs, beside the cells it counts.
#[derive(Clone, Debug)]
pub struct Grants {
    first: usize,
    rows: usize,
    nodes: usize,
    limit: u32,
    rule: GrantRule,
    /// What stands for a denied request: `nodes` (none), or the destination
    /// marked [`DENIED`] where sources track pending requests.
    keep_denied: bool,
    /// `one_per_destination`: the epoch of the last grant.
    last: Vec<u32>,
}

impl Grants {
    /// For intermediates `first .. first + rows` out of `nodes`.
    pub fn new(
        first: usize,
        rows: usize,
        nodes: usize,
        queue: u32,
        rule: GrantRule,
        keep_denied: bool,
    ) -> Grants {
        let mut m = vec![0; rows * (nodes + 1)];
        m.iter_mut()
            .skip(nodes)
            .step_by(nodes + 1)
            .for_each(|full| *full = u8::MAX);
        let last = match rule {
            GrantRule::Threshold => Vec::new(),
            GrantRule::OnePerDestination => vec![0; rows * nodes],
        };
        Grants {
            first,
            rows,
            nodes,
            limit: queue,
            rule,
            keep_denied,
            last,
        }
    }

    /// Answers the requests of `askers` in `tiles` (one for each shard of
    /// sources); what is granted stays, what is denied goes.
    pub fn compute_grants<const CAP: usize>(
        &mut self,
        pairs: &mut Pairs<CAP>,
        seed: u64,
        epoch: i64,
        askers: &[Asker],
        tiles: &mut [&mut Tile],
        scratch: &mut Vec<Asker>,
    ) {
        for start in (0..self.rows).step_by(BLOCK) {
            // Each intermediate sees a uniformly random order; those of a block
            // see the same one.
            let block = (self.first + start) / BLOCK;
            let mut rng = Stream::new(seed, "sirius.grants", (epoch as u64) << 16 | block as u64);
            scratch.clear();
            scratch.extend_from_slice(askers);
            rng.shuffle(scratch);
            let end = (start + BLOCK).min(self.rows);
            for asker in scratch.iter() {
                let wants = &mut tiles[asker.shard as usize].row(asker.row as usize)[start..end];
                match self.rule {
                    GrantRule::Threshold => self.grant_below_threshold(pairs, start, wants),
                    GrantRule::OnePerDestination => {
                        self.grant_one(pairs, start, wants, epoch as u32)
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn grant_below_threshold<const CAP: usize>(
        &self,
        pairs: &mut Pairs<CAP>,
        start: usize,
        wants: &mut [u16],
    ) {
        let none = self.nodes as u16;
        let denied = if self.keep_denied { DENIED } else { 0 };
        let counts = pairs.counts_from(start);
        let (mut row, mut itself) = (0, self.first + start);
        for want in wants {
            let destination = *want as usize;
            let count = &mut counts[row + destination];
            let granted = grant_below(count, self.limit, destination != itself);
            // All ones where granted, all zeros where not.
            let keep = (granted as u16).wrapping_neg();
            let answer = if denied != 0 && *want != none {
                *want | denied
            } else {
                none
            };
            *want = *want & keep | answer & !keep;
            row += self.nodes + 1;
            itself += 1;
        }
    }

    fn grant_one<const CAP: usize>(
        &mut self,
        pairs: &mut Pairs<CAP>,
        start: usize,
        wants: &mut [u16],
        epoch: u32,
    ) {
        let none = self.nodes as u16;
        let counts = pairs.counts_from(start);
        for (k, want) in wants.iter_mut().enumerate() {
            let (row, destination) = (start + k, *want as usize);
            if *want == none || destination == self.first + row {
                continue;
            }
            let last = &mut self.last[row * self.nodes + destination];
            let count = &mut counts[k * (self.nodes + 1) + destination];
            if *last != epoch + 1 && grant_below(count, self.limit, true) {
                *last = epoch + 1;
            } else {
                *want = if self.keep_denied {
                    *want | DENIED
                } else {
                    none
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(grants: &mut Grants, tile: &mut Tile, rows: usize, epoch: i64) {
        let askers: Vec<Asker> = (0..rows as u32)
            .map(|row| Asker { shard: 0, row })
            .collect();
        grants.compute_grants(1, epoch, &askers, &mut [tile], &mut Vec::new());
    }

    proptest! {
        /// Brute force: for each intermediate and destination min(Q, asked) are
        /// granted, none to those who did not ask.
        #[test]
        fn grants_up_to_the_threshold(
            nodes in 2usize..40, queue in 2u32..6, seed: u64, one in any::<bool>(),
        ) {
            let rule = if one { GrantRule::OnePerDestination } else { GrantRule::Threshold };
            let mut rng = Stream::new(seed, "t", 0);
            let mut tile = Tile::new(nodes, nodes);
            for s in 0..nodes {
                for want in tile.row(s) {
                    *want = rng.below(nodes as u32 + 1) as u16;
                }
            }
            let mut asked = tile.clone();
            let mut grants = Grants::new(0, nodes, nodes, queue, rule, false);
            let mut pairs = Pairs::new(nodes, nodes);
            answer(&mut grants, &mut pairs, &mut tile, nodes, 5);
            for i in 0..nodes {
                for d in (0..nodes).filter(|&d| d != i) {
                    let mut count = |t: &mut Tile| (0..nodes).filter(|&s| t.row(s)[i] as usize == d).count();
                    let most = if one { 1 } else { queue as usize };
                    let granted = count(&mut tile);
                    prop_assert_eq!(granted, count(&mut asked).min(most));
                    prop_assert_eq!(pairs.counts(i, d).m() as usize, granted);
                }
            }
            for s in 0..nodes {
                for i in 0..nodes {
                    let (was, is) = (asked.row(s)[i], tile.row(s)[i]);
                    prop_assert!(is == was || is as usize == nodes);
                }
            }
        }
    }

    #[test]
    fn contenders_win_equally_often() {
        let (nodes, epochs) = (8usize, 16_000);
        let mut wins = vec![0; nodes];
        for epoch in 0..epochs {
            let mut tile = Tile::new(nodes, nodes);
            (0..nodes).for_each(|s| tile.row(s).fill(7));
            let mut grants = Grants::new(0, nodes, nodes, 2, GrantRule::Threshold, false);
            let mut pairs = Pairs::new(nodes, nodes);
            answer(&mut grants, &mut pairs, &mut tile, nodes, epoch);
            (0..nodes).for_each(|s| wins[s] += (tile.row(s)[0] == 7) as u32);
        }
        // Two of eight win: a quarter each, standard deviation 0.0034.
        assert!(
            wins.iter()
                .all(|&w| (w as f64 / epochs as f64 - 0.25).abs() < 0.015),
            "{wins:?}"
        );
    }
}
