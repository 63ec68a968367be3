//! Lists of cells in chunks.
//!
//! A list gets another chunk when its last one is full. Whole chunks leave, so no cell is ever
//! copied. Chunks that have been read are reused while they are still in the cache.

use super::queued::Queued;
use crate::sirius::partition::Partition;

/// Largest and smallest number of cells per chunk.
const CHUNK: (usize, usize) = (256, 16);

/// Number of cells that are sampled to decide whether consecutive cells join the same list. This
/// selects the way in which cells are written, not the result.
const SAMPLE: usize = 16;

/// Index of a list that means "no room for the cell".
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Lists of cells.
#[derive(Clone, Debug)]
pub(crate) struct Chunked {
    /// The last chunk of each.
    last: Vec<Vec<Queued>>,
    /// Its chunks before.
    full: Vec<Vec<Vec<Queued>>>,
    /// Cells a chunk.
    cells: usize,
    /// Chunks that were read.
    pub spare: Vec<Vec<Queued>>,
}

impl Chunked {
    /// Bytes that a list takes, without its cells.
    pub const BYTES_A_LIST: u64 = size_of::<(Vec<Queued>, Vec<Vec<Queued>>)>() as u64;

    /// Empty `lists`, each for the cells that the nodes of a block send to a shard in a slot.
    pub fn new(lists: usize, partition: &Partition, uplinks: u32) -> Chunked {
        let sent =
            partition.block.min(partition.nodes) * uplinks as usize / partition.shards().count();
        Chunked {
            last: vec![Vec::new(); lists],
            full: vec![Vec::new(); lists],
            cells: (sent / 2).clamp(CHUNK.1, CHUNK.0),
            spare: Vec::new(),
        }
    }

    /// Adds each cell to the list at the same position of `lists`, and marks it as a second hop if
    /// `SECOND`. Cells without a list are passed to `nowhere`.
    #[inline(always)]
    pub fn join<const SECOND: bool>(
        &mut self,
        lists: &[u32],
        cells: &[Queued],
        nowhere: impl FnMut(Queued),
    ) {
        let (some, next) = (&lists[..SAMPLE], &lists[1..=SAMPLE]);
        let joined: u32 = some.iter().zip(next).map(|(a, b)| (a == b) as u32).sum();
        match cells.len() > SAMPLE && 4 * joined as usize >= 3 * SAMPLE {
            true => self.join_in_runs::<SECOND>(lists, cells, nowhere),
            false => self.join_one_by_one::<SECOND>(lists, cells, nowhere),
        }
    }

    #[inline(never)]
    fn join_one_by_one<const SECOND: bool>(
        &mut self,
        lists: &[u32],
        cells: &[Queued],
        mut nowhere: impl FnMut(Queued),
    ) {
        for (&list, q) in lists.iter().zip(cells) {
            let queued = if SECOND { q.relayed() } else { *q };
            match self.chunk(list as usize) {
                Some(chunk) => chunk.push(queued),
                None => nowhere(queued),
            }
        }
    }

    /// Adds cells, most of which join the list of the previous cell. Written one by one, each cell
    /// would have to wait for the list length that the previous cell leaves.
    #[inline(never)]
    fn join_in_runs<const SECOND: bool>(
        &mut self,
        lists: &[u32],
        mut cells: &[Queued],
        mut nowhere: impl FnMut(Queued),
    ) {
        let marked = |q: &Queued| if SECOND { q.relayed() } else { *q };
        let mut lists = &lists[..cells.len()];
        while let Some(&list) = lists.first() {
            let run = lists.iter().take_while(|&&l| l == list).count();
            let (mut joining, later) = cells.split_at(run);
            (lists, cells) = (&lists[run..], later);
            while !joining.is_empty() {
                let Some(chunk) = self.chunk(list as usize) else {
                    joining.iter().map(marked).for_each(&mut nowhere);
                    break;
                };
                let room = chunk.capacity() - chunk.len();
                let (now, rest) = joining.split_at(room.min(joining.len()));
                match SECOND {
                    true => chunk.extend(now.iter().map(marked)),
                    false => chunk.extend_from_slice(now),
                }
                joining = rest;
            }
        }
    }

    /// A chunk with room at the end of a list, if there is such a list.
    #[inline(always)]
    fn chunk(&mut self, list: usize) -> Option<&mut Vec<Queued>> {
        let chunk = self.last.get_mut(list)?;
        if chunk.len() == chunk.capacity() {
            let empty = || Vec::with_capacity(self.cells);
            continue_list(chunk, &mut self.full[list], &mut self.spare, empty);
        }
        Some(chunk)
    }

    /// Empties a list that has ever had a cell; returns its chunks.
    pub fn take(&mut self, list: usize) -> Option<impl Iterator<Item = Vec<Queued>> + '_> {
        let last = std::mem::take(&mut self.last[list]);
        (last.capacity() > 0).then(|| self.full[list].drain(..).chain([last]))
    }

    /// The cells of a list, in order.
    pub fn each(&self, list: usize) -> impl Iterator<Item = &Queued> + '_ {
        self.full[list].iter().chain([&self.last[list]]).flatten()
    }
}

/// Begins another chunk of a list.
#[cold]
#[inline(never)]
fn continue_list(
    last: &mut Vec<Queued>,
    full: &mut Vec<Vec<Queued>>,
    spare: &mut Vec<Vec<Queued>>,
    empty: impl FnOnce() -> Vec<Queued>,
) {
    let before = std::mem::replace(last, spare.pop().unwrap_or_else(empty));
    if !before.is_empty() {
        full.push(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sirius::cell::Cell;
    use crate::sirius::index::Label;
    use proptest::prelude::*;

    proptest! {
        /// Cells join arbitrary lists, and some cells find no room.
        #[test]
        fn runs_join_as_single_cells_do(
            runs in prop::collection::vec((0u32..7, 1usize..60), 1..12), second: bool,
        ) {
            let partition = Partition::new(8, 1);
            let mut both = [0; 2].map(|_| (Chunked::new(6, &partition, 2), Vec::new()));
            let to = runs.iter().flat_map(|&(to, count)| std::iter::repeat_n(to, count));
            let lists: Vec<u32> = to.map(|to| if to == 6 { NOWHERE } else { to }).collect();
            for (k, lists) in lists.chunks(70).enumerate() {
                let cell = |at| {
                    let cell = Cell::new(k as u32, at as u32);
                    Queued::new(cell, Label::new(at % 8), Label(3))
                };
                let cells: Vec<Queued> = (0..lists.len()).map(cell).collect();
                let [(runs, out), (each, outside)] = &mut both;
                if second {
                    runs.join_in_runs::<true>(lists, &cells, |q| out.push(q));
                    each.join_one_by_one::<true>(lists, &cells, |q| outside.push(q));
                } else {
                    runs.join_in_runs::<false>(lists, &cells, |q| out.push(q));
                    each.join_one_by_one::<false>(lists, &cells, |q| outside.push(q));
                }
            }
            let [(runs, out), (each, outside)] = both;
            prop_assert!(out == outside);
            for list in 0..6 {
                prop_assert!(runs.each(list).eq(each.each(list)));
            }
        }
    }
}
