//! Cells by the slot in which they leave.
//!
//! For the node that it meets in a slot a node has cells on their *second* hop
//! (that node is their destination) and granted cells on their *first* (that
//! node will relay them: the paper's virtual queue for it). Both wait in one
//! line, first in, first out ("W FIFO output queues per port", §6), and every
//! meeting takes one cell from it. As the schedule is known in advance, a cell that
//! joins a line knows the slot in which it will leave, whatever joins behind it. So
//! lines are not kept at all: of each pair only the meeting that the last in line will
//! take, and of each slot the cells that will leave.
//!
//! Cells of a slot are kept by *block* of the nodes at which they wait, in the order in
//! which they joined, so that the order does not depend on how nodes are dealt to
//! shards; and within a block by where they go (*boxes*): to which shard, and whether
//! that is their destination.
//!
//! *Not for* schedules that change and lines in which somebody may be overtaken: see
//! [`lines`](super::lines).

use super::lines::Queued;
use super::mail::Flight;
use super::meetings::{Meetings, Timetable};
use crate::memory::Column;

/// So many may stand in a line; who comes later waits beside it.
const PLACES: usize = 32;

/// Cells a chunk of a list.
const CHUNK: usize = 256;

/// The departures from a range of nodes.
#[derive(Clone, Debug)]
pub struct Departures {
    /// The next slot.
    slot: usize,
    nodes: usize,
    /// Nodes a block, as a power of two, and blocks.
    block: u32,
    blocks: usize,
    boxes: usize,
    /// Of each pair, by row and label: the number of the meeting at which the last in
    /// line leaves, modulo 256; or of one that is over.
    last: Column<u8>,
    /// The least number of any pair's next meeting when all in `last` were looked at.
    looked: i64,
    /// The last chunk of each list, by slot (a ring), block and box.
    lists: Vec<Vec<Queued>>,
    /// Its chunks before.
    full: Vec<Vec<Vec<Queued>>>,
    /// Slots of the ring, a power of two, less one.
    ring: usize,
    /// Those who found a full line, as they came: row, peer and box.
    crowd: Vec<(Queued, usize, usize, usize)>,
    /// Chunks that were read: lists are continued in what is in the cache.
    pub(super) spare: Vec<Vec<Queued>>,
}

/// The timetable of a schedule, if cells can be kept by their departures.
pub fn timetable(schedule: &super::topology::Schedule) -> Option<Timetable> {
    Timetable::new(schedule, PLACES)
}

impl Departures {
    /// None from `rows` nodes out of `nodes`, dealt to blocks of `block` nodes (a power
    /// of two).
    pub fn new(
        timetable: &Timetable,
        (rows, nodes): (usize, usize),
        block: usize,
        boxes: usize,
    ) -> Departures {
        let ring = timetable.reach(PLACES).next_power_of_two();
        let blocks = rows.div_ceil(block);
        let mut last = Column::zeroed(rows * nodes);
        last.fill(u8::MAX);
        Departures {
            slot: 0,
            nodes,
            block: block.trailing_zeros(),
            blocks,
            boxes,
            last,
            looked: 0,
            lists: vec![Vec::new(); ring * blocks * boxes],
            full: vec![Vec::new(); ring * blocks * boxes],
            ring: ring - 1,
            crowd: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// From now on `slot` is the next, in which the least number of a meeting is `least`.
    pub fn begin(&mut self, slot: i64, least: i64) {
        self.slot = slot as usize;
        match least - self.looked {
            // Meetings long over must not be taken for some to come.
            64..100 => self.forget(least),
            // Nothing happened for long: all lines are empty.
            100.. => self.last.fill((least - 1) as u8),
            _ => return,
        }
        self.looked = least;
    }

    #[cold]
    fn forget(&mut self, least: i64) {
        let over = (least as u8).wrapping_sub(1);
        for last in self.last.iter_mut() {
            let since = last.wrapping_sub(over) as i8;
            *last = over.wrapping_add(since.max(0) as u8);
        }
    }

    /// All lines from now on, borrowed once for many cells.
    #[inline(always)]
    pub fn open<M: Meetings>(&mut self, meetings: M) -> Joining<'_, M> {
        Joining {
            meetings,
            slot: self.slot,
            nodes: self.nodes,
            block: self.block,
            boxes: self.boxes,
            ring: self.ring,
            last: &mut self.last,
            lists: &mut self.lists,
            full: &mut self.full,
            crowd: &mut self.crowd,
            spare: &mut self.spare,
        }
    }

    /// Those who found a full line try again; `lo` is the first label here.
    #[cold]
    pub fn join_crowd(&mut self, lo: usize, meetings: impl Meetings) {
        let crowd = std::mem::take(&mut self.crowd);
        let mut lines = self.open(meetings);
        for (queued, row, to, to_box) in crowd {
            lines.join((row, lo + row), to, queued, to_box);
        }
    }

    /// Whether there are any.
    #[inline(always)]
    pub fn has_crowd(&self) -> bool {
        !self.crowd.is_empty()
    }

    /// What leaves in the present slot; the next one begins.
    pub fn leave(&mut self, flight: &mut Flight) {
        for at in 0..self.blocks * self.boxes {
            let list = self.list(at, self.slot);
            let last = std::mem::take(&mut self.lists[list]);
            if last.capacity() > 0 {
                let chunks = self.full[list].drain(..).chain([last]);
                flight.send(at % self.boxes, chunks);
            }
        }
        self.slot += 1;
    }

    /// The list of box `at` (counted through all blocks) and slot.
    fn list(&self, at: usize, slot: usize) -> usize {
        at * (self.ring + 1) + (slot & self.ring)
    }

    /// Every cell with its box; those of a line in their order.
    pub fn each(&self) -> impl Iterator<Item = (&Queued, usize)> + '_ {
        let slots = self.slot..=self.slot + self.ring;
        let boxes = self.blocks * self.boxes;
        let lists = slots.flat_map(move |slot| (0..boxes).map(move |at| (at, slot)));
        let listed = lists.flat_map(move |(at, slot)| {
            let list = self.list(at, slot);
            let chunks = self.full[list].iter().chain([&self.lists[list]]);
            chunks.flatten().map(move |q| (q, at % self.boxes))
        });
        listed.chain(self.crowd.iter().map(|c| (&c.0, c.3)))
    }
}

/// The lines of a range of nodes for their meetings from some slot on, to add cells to.
pub struct Joining<'a, M> {
    meetings: M,
    slot: usize,
    nodes: usize,
    block: u32,
    boxes: usize,
    ring: usize,
    last: &'a mut [u8],
    lists: &'a mut [Vec<Queued>],
    full: &'a mut [Vec<Vec<Queued>>],
    crowd: &'a mut Vec<(Queued, usize, usize, usize)>,
    spare: &'a mut Vec<Vec<Queued>>,
}

impl<M: Meetings> Joining<'_, M> {
    /// A cell of `row` (label `from`) joins the line for its meetings with `to`.
    #[inline(always)]
    pub fn join(&mut self, (row, from): (usize, usize), to: usize, queued: Queued, to_box: usize) {
        let next = self.meetings.next(from, to);
        let last = &mut self.last[row * self.nodes + to];
        let before = last.wrapping_add(1).wrapping_sub(next.number) as i8;
        let before = before.max(0) as usize;
        if before >= PLACES {
            let (rank, seq, ends) = queued.words();
            return crowd(self.crowd, (rank, seq, ends), row, to, to_box);
        }
        *last = next.number.wrapping_add(before as u8);
        let slot = (self.slot + self.meetings.ahead(next, before)) & self.ring;
        let list = ((row >> self.block) * self.boxes + to_box) * (self.ring + 1) + slot;
        let chunk = &mut self.lists[list];
        if chunk.len() == chunk.capacity() {
            continue_list(chunk, &mut self.full[list], self.spare);
        }
        super::prefetch::prefetch(chunk.spare_capacity_mut(), 8);
        chunk.push(queued);
    }

    /// Hints that a cell of `row` is going to join the line for `to`.
    #[inline(always)]
    pub fn prefetch(&self, row: usize, to: usize) {
        super::prefetch::prefetch(self.last, row * self.nodes + to);
    }
}

/// Keeps a cell, by words, beside its line: one on its way to a list is never in memory.
#[cold]
#[inline(never)]
fn crowd(
    crowd: &mut Vec<(Queued, usize, usize, usize)>,
    (rank, seq, ends): (u32, u32, u32),
    row: usize,
    to: usize,
    to_box: usize,
) {
    crowd.push((Queued::from_words(rank, seq, ends), row, to, to_box));
}

/// Begins another chunk of a list.
#[cold]
#[inline(never)]
fn continue_list(
    chunk: &mut Vec<Queued>,
    full: &mut Vec<Vec<Queued>>,
    spare: &mut Vec<Vec<Queued>>,
) {
    let empty = spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK));
    let before = std::mem::replace(chunk, empty);
    if !before.is_empty() {
        full.push(before);
    }
}
