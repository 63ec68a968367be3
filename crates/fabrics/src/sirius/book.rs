//! The book of an epoch: who asked whom for what, what was granted, and what of
//! that found no cell. Epochs follow each other faster than answers travel, so
//! several books are open at a time.

use super::grants::Tile;
use std::ops::Range;

/// The requests of one epoch and what becomes of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    /// Tiles by (shard of the source, shard of the intermediate), from the requests until
    /// the grants are taken up: then the next book to be opened has them.
    pub(super) tiles: Vec<Vec<Tile>>,
    /// By shard, the rows that have something in the tiles.
    pub(super) askers: Vec<Askers>,
    /// Grants that found no cell, by (shard of the source, shard of the granter).
    pub(super) unused: Vec<Vec<Vec<Grant>>>,
    /// The slots of the epoch.
    pub(super) slots: Range<i64>,
    /// Whether what is in the tiles was granted.
    pub(super) answered: bool,
}

impl Book {
    pub(super) fn new(deal: &Deal) -> Book {
        let shards = deal.shards().count();
        Book {
            tiles: Vec::new(),
            askers: vec![Askers::default(); shards],
            unused: vec![vec![Vec::new(); shards]; shards],
            slots: 0..0,
            answered: false,
        }
    }

    fn tiles(deal: &Deal) -> Vec<Vec<Tile>> {
        let none = deal.nodes as u16;
        let tile = |rows| {
            deal.shards()
                .map(move |(_, columns)| Tile::new(rows, columns, none))
        };
        deal.shards()
            .map(|(_, rows)| tile(rows).collect())
            .collect()
    }

    fn has_askers(&self) -> bool {
        self.askers.iter().any(|a| !a.is_empty())
    }

    pub(super) fn is_live(&self) -> bool {
        self.has_askers() || self.unused.iter().flatten().any(|u| !u.is_empty())
    }
}

/// Opens the book of an epoch with these slots, `asking`, in which nobody has asked yet. It
/// takes over the tiles of the book whose grants are taken up from now on, `granted`: a row
/// is written when it has been read.
pub(super) fn open(
    books: &mut [Book],
    [granted, asking]: [usize; 2],
    slots: Range<i64>,
    deal: &Deal,
) {
    (books[asking].slots, books[asking].answered) = (slots, false);
    // After a pause it may have none; books of before it, whose requests have been
    // answered, still do.
    let done = |book: &Book| !book.tiles.is_empty() && !book.has_askers();
    let from = match (&books[granted], &books[asking]) {
        (granted_book, _) if !granted_book.tiles.is_empty() => Some(granted),
        (_, asking_book) if !asking_book.tiles.is_empty() => return,
        _ => books.iter().position(done),
    };
    let tiles = match from {
        Some(from) => std::mem::take(&mut books[from].tiles),
        None => Book::tiles(deal),
    };
    let before = std::mem::replace(&mut books[asking].tiles, tiles);
    if let Some(from) = from {
        books[from].tiles = before;
    }
}

/// The tiles that each shard of intermediates answers.
pub(super) fn by_intermediate(tiles: &mut [Vec<Tile>]) -> Vec<Vec<&mut Tile>> {
    let mut columns: Vec<Vec<&mut Tile>> = tiles.iter().map(|_| Vec::new()).collect();
    for row in tiles {
        for (column, tile) in columns.iter_mut().zip(row) {
            column.push(tile);
        }
    }
    columns
}

/// The rows of a shard that sent requests in an epoch.
#[derive(Clone, Debug, Default)]
pub struct Askers {
    rows: Vec<u32>,
    /// Where the destinations of each row end.
    ends: Vec<u32>,
    destinations: Vec<u16>,
}

impl Askers {
    /// Nobody.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
        self.destinations.clear();
    }

    /// Whether nobody asked.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether a row asked.
    pub(super) fn has(&self, row: usize) -> bool {
        self.rows.binary_search(&(row as u32)).is_ok()
    }

    pub(super) fn push(&mut self, row: usize, destinations: &[u16]) {
        self.rows.push(row as u32);
        self.destinations.extend_from_slice(destinations);
        self.ends.push(self.destinations.len() as u32);
    }

    /// Row and destinations of each.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u16])> + '_ {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let ends = starts.zip(&self.ends);
        self.rows
            .iter()
            .zip(ends)
            .map(|(&row, (start, &end))| (row, &self.destinations[start as usize..end as usize]))
    }
}

/// Leave to send one cell for `destination` by way of node `by` (labels).
#[derive(Clone, Copy, Debug, Default)]
pub struct Grant {
    /// The intermediate.
    pub by: u16,
    /// The destination.
    pub destination: u16,
}

/// Most blocks, and so most threads that are used: lists of cells are kept by block.
const BLOCKS: usize = 16;

/// Fewest nodes a block, so that neither a block of intermediates nor a word of labels
/// is split.
const ROWS: usize = 64;

/// How nodes are dealt to shards.
#[derive(Clone, Debug)]
pub struct Deal {
    /// Nodes in all.
    pub nodes: usize,
    /// Rows of every shard but the last.
    pub rows: usize,
    /// Nodes a block, a power of two: shards are whole blocks.
    pub block: usize,
    /// Shard of each label.
    pub shard: Vec<u16>,
}

impl Deal {
    /// Deals `nodes` to at most `threads` shards of whole blocks.
    pub fn new(nodes: usize, threads: usize) -> Deal {
        let block = nodes.div_ceil(BLOCKS).next_power_of_two().max(ROWS);
        let threads = threads.clamp(1, nodes.div_ceil(block));
        let rows = match threads {
            1 => nodes,
            _ => nodes.div_ceil(threads).next_multiple_of(block),
        };
        Deal {
            nodes,
            rows,
            block,
            shard: (0..nodes).map(|label| (label / rows) as u16).collect(),
        }
    }

    /// First label and number of rows of each shard.
    pub fn shards(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.nodes)
            .step_by(self.rows)
            .map(|lo| (lo, self.rows.min(self.nodes - lo)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shards_are_whole_blocks(nodes in 1usize..6_000, threads in 1usize..40) {
            let deal = Deal::new(nodes, threads);
            let shards: Vec<(usize, usize)> = deal.shards().collect();
            prop_assert!(deal.block.is_power_of_two() && deal.block >= ROWS);
            prop_assert!(shards.len() <= threads && shards.len() <= BLOCKS);
            let mut next = 0;
            for (number, &(lo, rows)) in shards.iter().enumerate() {
                prop_assert!(lo == next && rows > 0 && lo.is_multiple_of(deal.block));
                let labels = &deal.shard[lo..lo + rows];
                prop_assert!(labels.iter().all(|&shard| shard as usize == number));
                next += rows;
            }
            prop_assert_eq!(next, nodes);
        }
    }
}
