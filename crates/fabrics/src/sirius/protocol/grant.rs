//! `compute_grants` of A.3, Fig 15: a node answers the requests that it
//! received in the epoch before, in random order, while the cells it has queued
//! or granted for a destination are fewer than Q.

use super::matrix::{apart, Grant, RequestMatrix};
use super::simd::BLOCK;
use crate::memory::Column;
use crate::sirius::config::GrantRule;
use crate::sirius::index::{Label, Row};
use lightloom_engine::Stream;

/// Number of counts above which they do not fit into the second-level cache.
const FAR: usize = 1 << 19;

/// Number of rows between a prefetch and its use.
const AHEAD: usize = 16;

/// Rows with requests for more destinations than this are handled cell by cell.
pub const FEW: usize = 12;

/// A node that sent requests.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// Shard of the node.
    pub shard: u16,
    /// Its row there.
    pub row: Row,
    /// The destinations of its requests, each once.
    pub destinations: &'a [Label],
}

/// The state with which a range of intermediates answers requests: M of A.3, the cells queued and
/// granted for each destination. A node also counts grants for cells to itself, although these use
/// no relay queue: without this bound, cells for the direct hop would queue at their source behind
/// the cells that it relays.
#[derive(Clone, Debug)]
pub struct Grants {
    first: usize,
    rows: usize,
    stride: usize,
    nodes: usize,
    limit: i8,
    rule: GrantRule,
    /// M by (destination, row), because a long flow sends requests for one destination to all
    /// intermediates, and adjacent counts are then updated together.
    m: Column<i8>,
    /// `one_per_destination`: the epoch of the last grant, with the same index.
    last: Column<u32>,
}

impl Grants {
    /// The state of intermediates `first .. first + rows` out of `nodes`.
    pub fn new(first: usize, rows: usize, nodes: usize, queue: u32, rule: GrantRule) -> Grants {
        let stride = apart(rows.next_multiple_of(BLOCK), 1);
        let last = match rule {
            GrantRule::Threshold => 0,
            GrantRule::OnePerDestination => nodes * stride,
        };
        let (m, last) = (Column::zeroed(nodes * stride), Column::zeroed(last));
        Grants {
            first,
            rows,
            stride,
            nodes,
            limit: queue as i8,
            rule,
            m,
            last,
        }
    }

    /// Releases one count of `destination` if `really`: a cell for it left this node, or a grant
    /// for it lapsed. (A flag, so that there is no branch.)
    #[inline(always)]
    pub fn release(&mut self, row: Row, destination: Label, really: bool) {
        let m = &mut self.m[destination.index() * self.stride + row.0];
        debug_assert!(*m > 0 || !really, "released more than was granted");
        *m -= really as i8;
    }

    /// Releases the counts of grants for which there was no cell.
    pub fn lapse(&mut self, unused: &[Grant]) {
        for (k, grant) in unused.iter().enumerate() {
            if let Some(later) = unused.get(k + AHEAD) {
                self.prefetch(Row::of(later.by, self.first), later.destination);
            }
            self.release(Row::of(grant.by, self.first), grant.destination, true);
        }
    }

    /// Number of cells queued and granted.
    #[cfg(test)]
    pub fn count(&self, row: Row, destination: Label) -> i8 {
        self.m[destination.index() * self.stride + row.0]
    }

    /// Hints that M of this pair will be used soon.
    #[inline(always)]
    pub fn prefetch(&self, row: Row, destination: Label) {
        crate::sirius::prefetch::prefetch(&self.m, destination.index() * self.stride + row.0);
    }

    /// Answers the requests of `askers` in `matrices` (one for each shard of sources); grants
    /// remain in the matrices, denied requests are removed.
    pub fn compute_grants(
        &mut self,
        seed: u64,
        epoch: i64,
        askers: &[Asker],
        matrices: &mut [&mut RequestMatrix],
    ) {
        let by_destination = self.rule == GrantRule::Threshold;
        let mut order: Vec<u32> = Vec::with_capacity(askers.len());
        for start in (0..self.rows).step_by(BLOCK) {
            // Each intermediate processes its askers in a uniformly random order; the intermediates
            // of a block use the same order.
            let block = (self.first + start) / BLOCK;
            let mut rng = Stream::new(seed, "sirius.grants", (epoch as u64) << 16 | block as u64);
            order.clear();
            order.extend(0..askers.len() as u32);
            rng.shuffle(&mut order);
            self.hint(start);
            for (at, &k) in order.iter().enumerate() {
                if let Some(&later) = order.get(at + AHEAD) {
                    let later = &askers[later as usize];
                    matrices[later.shard as usize].prefetch(later.row, start);
                }
                let asker = &askers[k as usize];
                let wants = matrices[asker.shard as usize].block(asker.row, start);
                let asked = !crate::sirius::protocol::simd::equal(wants, self.nodes as u16);
                // With many requests for the same destination, a block answers them together.
                let few = asker.destinations.len();
                if by_destination && few <= FEW && 2 * few as u32 <= asked.count_ones() {
                    for &destination in asker.destinations {
                        self.grant_block(start, destination, wants);
                    }
                } else {
                    self.grant_some(start, asked, wants, epoch);
                }
            }
        }
    }

    /// Prefetches the counts that a block of intermediates will need: the cache line of each
    /// destination, which two blocks share.
    fn hint(&self, start: usize) {
        if start.is_multiple_of(2 * BLOCK) && self.m.len() > FAR {
            Label::all(self.nodes).for_each(|destination| self.prefetch(Row(start), destination));
        }
    }

    /// Answers the requests for one destination to a block of intermediates.
    #[inline(always)]
    fn grant_block(&mut self, start: usize, destination: Label, wants: &mut [u16; BLOCK]) {
        let at = destination.index() * self.stride + start;
        let m: &mut [i8; BLOCK] = (&mut self.m[at..at + BLOCK])
            .try_into()
            .expect("rows are whole blocks");
        let (none, limit) = (self.nodes as u16, self.limit);
        for (m, want) in m.iter_mut().zip(wants) {
            let asked = *want == destination.0;
            let free = *m < limit;
            *m += (asked & free) as i8;
            *want = if asked & !free { none } else { *want };
        }
    }

    /// Answers the requests of a row to a block of intermediates; `asked` has a bit for each of
    /// these with a request.
    #[inline(always)]
    fn grant_some(&mut self, start: usize, asked: u32, wants: &mut [u16; BLOCK], epoch: i64) {
        match self.rule {
            GrantRule::Threshold => self.grant_each::<false>(start, asked, wants, epoch),
            GrantRule::OnePerDestination => self.grant_each::<true>(start, asked, wants, epoch),
        }
    }

    /// Answers the requests of a row, with at most one grant per epoch and destination if `ONCE`.
    /// It has no branches, because about half of the requests are granted and branches would be
    /// mispredicted.
    #[inline(always)]
    fn grant_each<const ONCE: bool>(
        &mut self,
        start: usize,
        mut asked: u32,
        wants: &mut [u16; BLOCK],
        epoch: i64,
    ) {
        let (none, stride, limit) = (self.nodes as u16, self.stride, self.limit);
        let (m, last) = (&mut self.m[..], &mut self.last[..]);
        while asked != 0 {
            let column = asked.trailing_zeros() as usize;
            asked &= asked - 1;
            let want = wants[column];
            let at = want as usize * stride + start + column;
            let mut free = m[at] < limit;
            if ONCE {
                // 0 means "no grant so far", hence epoch + 1.
                free &= last[at] != epoch as u32 + 1;
                last[at] = if free { epoch as u32 + 1 } else { last[at] };
            }
            m[at] += free as i8;
            wants[column] = if free { want } else { none };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn destinations(matrix: &mut RequestMatrix, rows: usize, nodes: usize) -> Vec<Vec<Label>> {
        let of = |row| {
            let mut d: Vec<Label> = matrix
                .row(row)
                .iter()
                .copied()
                .filter(|&d| (d as usize) < nodes)
                .map(Label)
                .collect();
            d.sort();
            d.dedup();
            d
        };
        (0..rows).map(Row).map(of).collect()
    }

    fn answer(grants: &mut Grants, matrix: &mut RequestMatrix, nodes: usize, epoch: i64) {
        let lists = destinations(matrix, nodes, nodes);
        let askers: Vec<Asker> = (0..)
            .map(Row)
            .zip(&lists)
            .map(|(row, destinations)| Asker {
                shard: 0,
                row,
                destinations,
            })
            .collect();
        grants.compute_grants(1, epoch, &askers, &mut [matrix]);
    }

    proptest! {
        /// Brute force: for each intermediate and destination min(Q, requests) are granted, and
        /// only to sources with requests.
        #[test]
        fn grants_up_to_the_threshold(
            nodes in 2usize..70, queue in 2u32..6, few in 1u32..70, seed: u64, one: bool,
        ) {
            let rule = if one { GrantRule::OnePerDestination } else { GrantRule::Threshold };
            let mut rng = Stream::new(seed, "t", 0);
            let none = nodes as u16;
            let mut matrix = RequestMatrix::new(nodes, nodes, none);
            for s in 0..nodes {
                for want in matrix.row(Row(s)) {
                    let d = rng.below(few.min(nodes as u32) + 1) as u16;
                    *want = if d as u32 == few { none } else { d };
                }
            }
            let mut asked = matrix.clone();
            let mut grants = Grants::new(0, nodes, nodes, queue, rule);
            answer(&mut grants, &mut matrix, nodes, 5);
            for i in 0..nodes {
                for d in 0..nodes {
                    let count = |t: &mut RequestMatrix| (0..nodes).filter(|&s| t.row(Row(s))[i] as usize == d).count();
                    let most = if one { 1 } else { queue as usize };
                    let granted = count(&mut matrix);
                    prop_assert_eq!(granted, count(&mut asked).min(most));
                    prop_assert_eq!(grants.count(Row(i), Label::new(d)) as usize, granted);
                }
            }
            for s in 0..nodes {
                for i in 0..nodes {
                    let (was, is) = (asked.row(Row(s))[i], matrix.row(Row(s))[i]);
                    prop_assert!(is == was || is == none);
                }
            }
        }
    }

    /// `one_per_destination`: one grant in an epoch, and another in the next.
    #[test]
    fn what_was_granted_once_is_granted_again_in_another_epoch() {
        let rule = GrantRule::OnePerDestination;
        let mut grants = Grants::new(0, 4, 4, 8, rule);
        for (times, epoch) in (1..).zip([0, 1, 2, 7, 8]) {
            let mut matrix = RequestMatrix::new(4, 4, 4);
            (0..4).for_each(|s| matrix.row(Row(s)).fill(3));
            answer(&mut grants, &mut matrix, 4, epoch);
            assert!(
                (0..4).all(|i| grants.count(Row(i), Label(3)) == times),
                "epoch {epoch}"
            );
        }
    }

    #[test]
    fn contenders_win_equally_often() {
        let (nodes, epochs) = (8usize, 16_000);
        let mut wins = vec![0; nodes];
        for epoch in 0..epochs {
            let mut matrix = RequestMatrix::new(nodes, nodes, nodes as u16);
            (0..nodes).for_each(|s| matrix.row(Row(s)).fill(7));
            let mut grants = Grants::new(0, nodes, nodes, 2, GrantRule::Threshold);
            answer(&mut grants, &mut matrix, nodes, epoch);
            (0..nodes).for_each(|s| wins[s] += (matrix.row(Row(s))[0] == 7) as u32);
        }
        // Two of eight win: a quarter each, standard deviation 0.0034.
        assert!(
            wins.iter()
                .all(|&w| (w as f64 / epochs as f64 - 0.25).abs() < 0.015),
            "{wins:?}"
        );
    }

    /// The winners at each intermediate of `first .. first + rows`, if two of all nodes send a
    /// request.
    fn winners(nodes: usize, epoch: i64, (first, rows): (usize, usize)) -> Vec<Vec<usize>> {
        let mut matrix = RequestMatrix::new(nodes, rows, nodes as u16);
        (0..nodes).for_each(|s| matrix.row(Row(s)).fill(7));
        let mut grants = Grants::new(first, rows, nodes, 2, GrantRule::Threshold);
        let (mine, rest) = ([Label(7)], (0..nodes).map(Row));
        let asker = |row| Asker {
            shard: 0,
            row,
            destinations: &mine,
        };
        let askers: Vec<Asker> = rest.map(asker).collect();
        grants.compute_grants(1, epoch, &askers, &mut [&mut matrix]);
        let mut won = vec![Vec::new(); rows];
        for s in 0..nodes {
            let wants = matrix.row(Row(s));
            (0..rows)
                .filter(|&i| wants[i] == 7)
                .for_each(|i| won[i].push(s));
        }
        won
    }

    /// Intermediates of a block use the same order, those of other blocks another: two draws of two
    /// out of 96 are equal by chance once in 4,560 times.
    #[test]
    fn every_block_draws_an_order_of_its_own() {
        let same = (0..200).map(|epoch| {
            let won = winners(96, epoch, (0, 96));
            assert!(won.iter().all(|w| w.len() == 2));
            let blocks: Vec<&Vec<usize>> = won.iter().step_by(BLOCK).collect();
            won.chunks(BLOCK)
                .for_each(|b| assert!(b.iter().all(|w| *w == b[0])));
            [(0, 1), (0, 2), (1, 2)]
                .iter()
                .filter(|&&(a, b)| blocks[a] == blocks[b])
                .count()
        });
        // 0.13 expected of 600.
        assert!(same.sum::<usize>() <= 3);
    }

    /// Answers do not depend on the shards to which nodes belong.
    #[test]
    fn shards_do_not_matter() {
        for epoch in 0..20 {
            let all = winners(96, epoch, (0, 96));
            assert_eq!(winners(96, epoch, (BLOCK, 64)), all[BLOCK..]);
            assert_eq!(winners(96, epoch, (0, BLOCK)), all[..BLOCK]);
        }
    }
}
