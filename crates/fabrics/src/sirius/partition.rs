//! How nodes are divided among threads.

use super::index::Label;
use rayon::prelude::*;

/// Largest number of blocks, and therefore of threads, because lists of cells are kept by block.
const BLOCKS: usize = 16;

/// Smallest number of nodes per block, so that neither a block of intermediates nor a word of
/// labels is split.
const ROWS: usize = 64;

/// How nodes are divided into shards.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Number of nodes in all shards.
    pub nodes: usize,
    /// Rows of every shard but the last.
    pub rows: usize,
    /// Nodes per block, a power of two. A shard consists of whole blocks.
    pub block: usize,
    /// Shard of each label.
    pub shard: Vec<u16>,
}

impl Partition {
    /// Divides `nodes` into at most `threads` shards of whole blocks.
    pub fn new(nodes: usize, threads: usize) -> Partition {
        let block = nodes.div_ceil(BLOCKS).next_power_of_two().max(ROWS);
        let threads = threads.clamp(1, nodes.div_ceil(block));
        let rows = match threads {
            1 => nodes,
            _ => nodes.div_ceil(threads).next_multiple_of(block),
        };
        Partition {
            nodes,
            rows,
            block,
            shard: (0..nodes).map(|label| (label / rows) as u16).collect(),
        }
    }

    /// The shard of a node.
    #[inline(always)]
    pub fn shard_of(&self, label: Label) -> usize {
        self.shard[label.index()] as usize
    }

    /// First label and number of rows of each shard.
    pub fn shards(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.nodes)
            .step_by(self.rows)
            .map(|lo| (lo, self.rows.min(self.nodes - lo)))
    }
}

/// The threads that work on shards: the caller's, or one per shard.
pub struct Threads(Option<rayon::ThreadPool>);

impl Threads {
    /// Threads for `shards` shards.
    pub fn new(shards: usize) -> Threads {
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(shards).build();
        Threads((shards > 1).then(|| pool().expect("threads can be started")))
    }

    /// Runs `work` on every item.
    pub fn each<I: Send>(&self, items: impl Iterator<Item = I>, work: impl Fn(I) + Sync + Send) {
        match &self.0 {
            None => items.for_each(work),
            Some(pool) => {
                let items: Vec<I> = items.collect();
                pool.install(|| items.into_par_iter().for_each(work));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shards_are_whole_blocks(nodes in 1usize..6_000, threads in 1usize..40) {
            let partition = Partition::new(nodes, threads);
            let shards: Vec<(usize, usize)> = partition.shards().collect();
            prop_assert!(partition.block.is_power_of_two() && partition.block >= ROWS);
            prop_assert!(shards.len() <= threads && shards.len() <= BLOCKS);
            let mut next = 0;
            for (number, &(lo, rows)) in shards.iter().enumerate() {
                prop_assert!(lo == next && rows > 0 && lo.is_multiple_of(partition.block));
                let labels = &partition.shard[lo..lo + rows];
                prop_assert!(labels.iter().all(|&shard| shard as usize == number));
                next += rows;
            }
            prop_assert_eq!(next, nodes);
        }
    }
}
