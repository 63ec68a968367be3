//! The cells that leave in a slot, if they are not known in advance. They are sorted in the order
//! in which they reach the other nodes: by block of the senders, and within a block by place.

use super::in_flight::Flight;
use super::queued::{Placed, Queued};

/// The place of a cell with its block in the higher bits, and the index of the cell.
type Key = (u64, u32);

/// The position of the block in a key: above the place, whose highest bit marks cells that stand
/// aside. There are 16 blocks at most.
const BLOCK: u32 = 60;

/// Up to this number of cells are sorted by comparison, and so are keys that differ in more than
/// this number of bits.
const FEW: usize = 64;
const FAR: u32 = 24;

/// Most bits of a digit.
const DIGIT: u32 = 10;
const DIGITS: usize = 1 << DIGIT;

/// The cells, and the workspace to sort them.
#[derive(Clone, Debug, Default)]
pub struct Leaving {
    /// The lane of each, and the cell.
    cells: Vec<(u32, Queued)>,
    keys: Vec<Key>,
    /// The bits in which keys differ from the first key, and the first key.
    differ: u64,
    first: u64,
    /// Scratch space: keys after a pass, and cells lane by lane.
    passed: Vec<Key>,
    lanes: Vec<Vec<Queued>>,
    /// Lists that were read.
    pub spare: Vec<Vec<Queued>>,
}

impl Leaving {
    /// Adds a cell that leaves for a lane; `block` is the block of its sender.
    #[inline(always)]
    pub fn push(&mut self, block: usize, lane: usize, placed: &Placed) {
        let Placed { queued, place } = *placed;
        let aside = place >> 63 << (BLOCK - 1);
        let key = (block as u64) << BLOCK | aside | place & !Placed::ASIDE;
        if self.keys.is_empty() {
            (self.first, self.differ) = (key, 0);
        }
        self.differ |= key ^ self.first;
        self.keys.push((key, self.cells.len() as u32));
        self.cells.push((lane as u32, queued));
    }

    /// Sends all cells, to `lanes` lanes.
    pub fn send(&mut self, lanes: usize, flight: &mut Flight) {
        self.sort();
        self.lanes.resize(lanes, Vec::new());
        for &(_, at) in &self.keys {
            let (lane, queued) = self.cells[at as usize];
            let list = &mut self.lanes[lane as usize];
            if list.capacity() == 0 {
                *list = self.spare.pop().unwrap_or_default();
            }
            list.push(queued);
        }
        self.keys.clear();
        self.cells.clear();
        for (lane, list) in self.lanes.iter_mut().enumerate() {
            let list = std::mem::take(list);
            flight.send(lane, (!list.is_empty()).then_some(list).into_iter());
        }
    }

    /// Sorts digit by digit, because the places of a slot are close together.
    fn sort(&mut self) {
        let places = self.differ & ((1 << BLOCK) - 1);
        let bits = 64 - places.leading_zeros();
        if self.keys.len() < FEW || bits > FAR {
            return self.keys.sort_unstable();
        }
        let width = bits.div_ceil(bits.div_ceil(DIGIT).max(1)).max(1);
        for shift in (0..bits).step_by(width as usize) {
            self.pass(width, shift);
        }
        if self.differ >> BLOCK != 0 {
            self.pass(64 - BLOCK, BLOCK);
        }
    }

    /// Sorts by one digit of this number of bits; equal digits keep their order.
    #[inline(always)]
    fn pass(&mut self, bits: u32, shift: u32) {
        let mask = (1 << bits) - 1;
        let digit = |key: &Key| (key.0 >> shift & mask) as usize & (DIGITS - 1);
        let mut next = [0u32; DIGITS];
        let next = &mut next[..=mask as usize];
        self.keys.iter().for_each(|key| next[digit(key)] += 1);
        let mut before = 0;
        for count in next.iter_mut() {
            before += std::mem::replace(count, before);
        }
        self.passed.resize(self.keys.len(), Key::default());
        for key in &self.keys {
            let at = &mut next[digit(key)];
            self.passed[*at as usize] = *key;
            *at += 1;
        }
        std::mem::swap(&mut self.keys, &mut self.passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sirius::cell::Cell;
    use crate::sirius::index::Label;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a sort by comparison.
        #[test]
        fn cells_leave_by_block_and_place(
            cells in prop::collection::vec((0usize..16, 0u64..1 << 20, any::<bool>()), 0..400),
            first in 0u64..1 << 50, blocks in 1usize..17, aside: bool,
        ) {
            let mut leaving = Leaving::default();
            let mut model = Vec::new();
            for (seq, &(block, place, far)) in (0..).zip(&cells) {
                let stands = if aside && far { Placed::ASIDE } else { 0 };
                let place = stands | (first + place);
                let queued = Queued::new(Cell::new(3, seq), Label(0), Label(0));
                let block = block % blocks;
                leaving.push(block, seq as usize % 3, &Placed { queued, place });
                model.push((block, place, seq));
            }
            model.sort();
            for lane in 0..3 {
                let mut again = leaving.clone();
                let mut flight = Flight::default();
                again.send(3, &mut flight);
                let sent = flight.chunks(lane).flatten().map(|q| q.cell().seq());
                let wanted = model.iter().map(|m| m.2).filter(|seq| *seq as usize % 3 == lane);
                prop_assert_eq!(sent.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
            }
        }
    }
}
