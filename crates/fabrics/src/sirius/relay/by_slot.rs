//! Cells by the slot in which they leave.
//!
//! For each other node, a node has two kinds of cells: cells on their *second* hop, whose
//! destination is that node, and granted cells on their *first* hop, which that node will relay
//! (the paper's virtual queue for it). Both wait in one first-in, first-out queue ("W FIFO output
//! queues per port", §6), and every meeting takes one cell from it. Because the schedule is known
//! in advance, the slot in which a cell will leave is known when it joins a queue; later cells do
//! not change it. Queues themselves are therefore not stored: each pair stores only the meeting of
//! the last cell in its queue, and each slot stores the cells that will leave in it.
//!
//! Cells of a slot are stored by *block* of the nodes at which they wait, so that their order does
//! not depend on the division of nodes into shards. Within a block they are stored by *lane*, which
//! is the receiving shard and the purpose there ([`Purpose`]), in the order in which they joined.
//!
//! If the schedule may change, or if pairs meet very often in a frame, [`by_pair`](super::by_pair)
//! is used instead.

use super::chunked::{Chunked, NOWHERE};
use super::in_flight::{lane_of, Flight, Purpose};
use super::queued::Queued;
use super::queues::{RelayQueues, PLACES};
use crate::memory::Column;
use crate::sirius::index::{Label, Row};
use crate::sirius::partition::Partition;
use crate::sirius::prefetch::prefetch;
use crate::sirius::schedule::next_meeting::{NextMeeting, Timetable};
use crate::sirius::schedule::Schedule;

/// Number of cells whose places are computed before any of them is written.
const TOGETHER: usize = 256;

/// Number of cells between a prefetch of queues and its use.
const AHEAD: usize = 32;

/// Number of cells in a queue, by the number of the first free meeting minus the number of the next
/// meeting; 0 if the free meeting is over. It is a table, because a branch would be mispredicted.
const BEFORE: [u8; 256] = {
    let mut before = [0; 256];
    let mut k = 0;
    while k < 128 {
        before[k] = k as u8;
        k += 1;
    }
    before
};

/// The timetable of a schedule, if cells can be kept by the slot in which they leave.
pub fn timetable(schedule: &Schedule) -> Option<Timetable> {
    Timetable::new(schedule, PLACES)
}

/// An array with an entry for every possible label, so that no index is out of bounds.
type Labels = Box<[u32; 1 << 16]>;

fn labels(range: std::ops::Range<usize>, of: impl Fn(usize) -> usize) -> Labels {
    let mut all = vec![0; 1 << 16];
    range.for_each(|label| all[label] = of(label) as u32);
    all.try_into().expect("as many as labels")
}

/// The mapping from labels to lists.
#[derive(Clone, Debug)]
struct Tables {
    /// Number of labels, and the first label of this shard.
    nodes: usize,
    lo: usize,
    /// The first list of each label's block.
    block: Labels,
    /// Index within a block of the first list of cells that a label will relay.
    relay: Labels,
    /// Offset from the lists of cells that a label relays to the lists of cells that end there.
    direct: u32,
    /// Index within a block of the first list of second hops to a label.
    second: Labels,
}

impl Tables {
    /// The index of a pair in [`BySlot::free`].
    #[inline(always)]
    fn pair(&self, from: Label, to: Label) -> usize {
        Row::of(from, self.lo).0 * self.nodes + to.index()
    }

    /// The first list of `from` for granted cells that wait for `by`; `direct` if `by` is their
    /// destination.
    #[inline(always)]
    fn granted(&self, from: Label, by: Label, direct: bool) -> u32 {
        let direct = if direct { self.direct } else { 0 };
        self.block[from.index()] + self.relay[by.index()] + direct
    }

    #[inline(always)]
    fn relayed(&self, from: Label, to: Label) -> u32 {
        self.block[from.index()] + self.second[to.index()]
    }
}

/// The queues of a range of nodes, kept by the slot in which their cells leave.
///
/// Places are computed for a group of cells before any of them is written, because the processor
/// cannot read the next place ahead while the address of a write is unknown.
#[derive(Clone, Debug)]
pub struct BySlot {
    /// The next slot.
    slot: usize,
    tables: Tables,
    /// Number of lanes of all blocks, and of one block.
    lanes: usize,
    lanes_a_block: usize,
    /// For each pair, by row and label: the number, modulo 256, of the first meeting that no queued
    /// cell uses, or of a meeting that is over.
    free: Column<u8>,
    /// The smallest number of any pair's next meeting when `free` was last checked.
    looked: i64,
    /// Lists by block, lane and slot (a ring).
    lists: Chunked,
    /// Slots of the ring, a power of two, less one.
    ring: usize,
    /// Scratch space: the lists to which the cells of a group belong.
    places: Vec<u32>,
    /// Cells that were set aside because their queue was full, in order of arrival, with the label
    /// of the node at which they wait.
    aside: Vec<(Queued, Label)>,
}

impl BySlot {
    /// Bytes that a pair takes, without its cells.
    pub const BYTES_A_PAIR: u64 = 1;

    /// Empty queues of nodes `lo .. lo + rows`.
    pub fn new(
        timetable: &Timetable,
        (lo, rows): (usize, usize),
        partition: &Partition,
        uplinks: u32,
    ) -> BySlot {
        let (ring, lanes) = (
            ring(timetable),
            lane_of(partition.shards().count(), Purpose::Relay),
        );
        let blocks = rows.div_ceil(partition.block);
        let lists =
            |purpose| move |label: usize| lane_of(partition.shard[label] as usize, purpose) * ring;
        let tables = Tables {
            nodes: partition.nodes,
            lo,
            block: labels(lo..lo + rows, |label| {
                (label - lo) / partition.block * lanes * ring
            }),
            relay: labels(0..partition.nodes, lists(Purpose::Relay)),
            direct: (Purpose::Direct as usize * ring) as u32,
            second: labels(0..partition.nodes, lists(Purpose::Second)),
        };
        BySlot {
            slot: 0,
            tables,
            lanes: blocks * lanes,
            lanes_a_block: lanes,
            free: Column::zeroed(rows * partition.nodes),
            looked: 0,
            lists: Chunked::new(ring * blocks * lanes, partition, uplinks),
            ring: ring - 1,
            places: vec![0; TOGETHER],
            aside: Vec::new(),
        }
    }

    /// Begins `slot`, in which the smallest number of any pair's next meeting is `least`.
    pub fn begin(&mut self, slot: i64, least: i64) {
        self.slot = slot as usize;
        match least - self.looked {
            // Numbers repeat modulo 256: old meetings must not be mistaken for future ones.
            64..100 => self.forget(least),
            // After this number of meetings without an update all queues are empty.
            100.. => self.free.fill(least as u8),
            _ => return,
        }
        self.looked = least;
    }

    #[cold]
    fn forget(&mut self, least: i64) {
        let least = least as u8;
        for free in self.free.iter_mut() {
            let since = free.wrapping_sub(least) as i8;
            *free = least.wrapping_add(since.max(0) as u8);
        }
    }

    /// Adds granted cells of a node to the queues for their intermediates.
    #[inline(always)]
    fn wait(&mut self, meetings: impl NextMeeting, from: Label, granted: &[Queued]) {
        for start in (0..granted.len()).step_by(TOGETHER) {
            let cells = self.find::<false>(meetings, granted, start, |tables, q| {
                let by = q.intermediate();
                let direct = by == q.destination();
                (from, by, tables.granted(from, by, direct))
            });
            self.write::<false>(cells, |_| from);
        }
    }

    /// Prefetches the queues of `row`, which cells will join soon.
    fn prefetch(&self, row: Row) {
        let first = row.0 * self.tables.nodes;
        let lines = (first..first + self.tables.nodes).step_by(64);
        lines.for_each(|pair| prefetch(&self.free, pair));
    }

    /// Adds cells that have reached their intermediates to the queues for their destinations; `FAR`
    /// if the queues do not fit into the second-level cache.
    #[inline(always)]
    fn relay<const FAR: bool>(&mut self, meetings: impl NextMeeting, arrived: &[Queued]) {
        if FAR {
            let first = arrived.iter().take(AHEAD);
            let pairs = first.map(|q| self.tables.pair(q.intermediate(), q.destination()));
            pairs.for_each(|pair| prefetch(&self.free, pair));
        }
        for start in (0..arrived.len()).step_by(TOGETHER) {
            let cells = self.find::<FAR>(meetings, arrived, start, |tables, q| {
                let (by, to) = (q.intermediate(), q.destination());
                (by, to, tables.relayed(by, to))
            });
            self.write::<true>(cells, Queued::intermediate);
        }
    }

    /// Computes the places of the group of cells from `start` on, and returns these cells; `of`
    /// gives the node at which a cell waits, the peer and their first list.
    #[inline(always)]
    fn find<'c, const FAR: bool>(
        &mut self,
        meetings: impl NextMeeting,
        cells: &'c [Queued],
        start: usize,
        of: impl Fn(&Tables, &Queued) -> (Label, Label, u32),
    ) -> &'c [Queued] {
        let (slot, ring) = (self.slot, self.ring);
        let (tables, free) = (&self.tables, &mut self.free[..]);
        let found = &cells[start..cells.len().min(start + TOGETHER)];
        let mut later = cells.get(start + AHEAD..).unwrap_or(&[]).iter();
        for (place, q) in self.places.iter_mut().zip(found) {
            if let (true, Some(later)) = (FAR, later.next()) {
                let (from, to, _) = of(tables, later);
                prefetch(free, tables.pair(from, to));
            }
            let (from, to, lists) = of(tables, q);
            let next = meetings.next(from, to);
            let free = &mut free[tables.pair(from, to)];
            let before = BEFORE[free.wrapping_sub(next.number) as usize] as usize;
            if before >= PLACES {
                *place = NOWHERE;
                continue;
            }
            *free = next.number.wrapping_add(before as u8 + 1);
            let slot = (slot + meetings.ahead(next, before)) & ring;
            *place = lists + slot as u32;
        }
        found
    }

    /// Writes cells to their places and marks them as second hops if `SECOND`; `from` gives the
    /// node at which a cell waits.
    #[inline(always)]
    fn write<const SECOND: bool>(&mut self, cells: &[Queued], from: impl Fn(&Queued) -> Label) {
        let aside = &mut self.aside;
        let full = |q: Queued| aside.push((q, from(&q)));
        self.lists.join::<SECOND>(&self.places, cells, full);
    }

    /// Bytes of the empty lists of all shards.
    pub fn lists_bytes(timetable: &Timetable, partition: &Partition) -> u64 {
        let blocks = partition.nodes.div_ceil(partition.block);
        let lists = ring(timetable) * blocks * lane_of(partition.shards().count(), Purpose::Relay);
        lists as u64 * Chunked::BYTES_A_LIST
    }

    /// Adds the cells that were set aside, before any other cell takes a free place.
    #[cold]
    fn join_aside(&mut self, meetings: impl NextMeeting) {
        for (queued, from) in std::mem::take(&mut self.aside) {
            self.join(meetings, from, queued);
        }
    }

    /// Adds a cell that waits at the node `from`.
    #[cold]
    fn join(&mut self, meetings: impl NextMeeting, from: Label, queued: Queued) {
        match queued.cell().is_second() {
            true => self.relay::<false>(meetings, &[queued]),
            false => self.wait(meetings, from, &[queued]),
        }
    }

    /// Adds cells, each with the row at which it waits, in this order to empty queues; `slot` is
    /// the next slot.
    #[cold]
    pub fn join_all(&mut self, timetable: &Timetable, slot: i64, cells: Vec<(Row, Queued)>) {
        self.begin(slot, timetable.number(slot));
        for (row, queued) in cells {
            let from = row.label(self.tables.lo);
            match timetable {
                Timetable::Rotor(rounds) => self.join(rounds.at(slot), from, queued),
                Timetable::Gratings(frame) => self.join(frame.at(slot), from, queued),
            }
        }
    }

    /// Returns the chunks of `flight`, which have been read, for reuse.
    pub fn reuse(&mut self, flight: &mut Flight) {
        flight.clear(&mut self.lists.spare);
    }

    /// The queues with the meetings from a slot on; `far` if the queues do not fit into the
    /// second-level cache.
    #[inline(always)]
    pub fn at<M: NextMeeting>(&mut self, meetings: M, far: bool) -> BySlotAt<'_, M> {
        BySlotAt {
            queues: self,
            meetings,
            far,
        }
    }

    /// Moves the cells of the present slot into `flight` and advances to the next slot.
    pub fn leave(&mut self, flight: &mut Flight) {
        for at in 0..self.lanes {
            if let Some(chunks) = self.lists.take(self.list(at, self.slot)) {
                flight.send(at % self.lanes_a_block, chunks);
            }
        }
        self.slot += 1;
    }

    /// The list of lane `at` (counted through all blocks) and slot.
    fn list(&self, at: usize, slot: usize) -> usize {
        at * (self.ring + 1) + (slot & self.ring)
    }

    /// All cells; those of one queue in order.
    pub fn each(&self) -> impl Iterator<Item = &Queued> + '_ {
        let slots = self.slot..=self.slot + self.ring;
        let lists = slots.flat_map(move |slot| (0..self.lanes).map(move |at| (at, slot)));
        let listed = lists.flat_map(move |(at, slot)| self.lists.each(self.list(at, slot)));
        listed.chain(self.aside.iter().map(|c| &c.0))
    }
}

/// [`BySlot`] with the meetings from a slot on.
pub struct BySlotAt<'a, M> {
    queues: &'a mut BySlot,
    meetings: M,
    far: bool,
}

impl<M: NextMeeting> RelayQueues for BySlotAt<'_, M> {
    #[inline(always)]
    fn wait(&mut self, row: Row, granted: &[Queued]) {
        let from = row.label(self.queues.tables.lo);
        self.queues.wait(self.meetings, from, granted);
    }

    fn prefetch(&self, row: Row) {
        self.queues.prefetch(row);
    }

    fn move_up(&mut self) {
        if !self.queues.aside.is_empty() {
            self.queues.join_aside(self.meetings);
        }
    }

    #[inline(always)]
    fn relay(&mut self, arrived: &[Queued]) {
        match self.far {
            true => self.queues.relay::<true>(self.meetings, arrived),
            false => self.queues.relay::<false>(self.meetings, arrived),
        }
    }
}

/// Slots of the ring.
fn ring(timetable: &Timetable) -> usize {
    timetable.reach(PLACES).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sirius::cell::{Cell, Routes};
    use crate::sirius::schedule::tests::schedules;
    use lightloom_engine::Stream;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, VecDeque};

    /// BySlot and, for each pair, a plain queue.
    struct Both {
        schedule: Schedule,
        timetable: Timetable,
        by_slot: BySlot,
        flight: Flight,
        model: BTreeMap<(usize, usize), VecDeque<Cell>>,
        /// A flow from every node: its flow index is the label of its source.
        routes: Routes,
        next: u32,
    }

    impl Both {
        fn new(schedule: Schedule) -> Option<Both> {
            let timetable = timetable(&schedule)?;
            let nodes = schedule.nodes() as usize;
            let partition = Partition::new(nodes, 1);
            let routes = Routes {
                payload: 1,
                flow_index: vec![],
                flow: vec![],
                src: (0..nodes as u16).collect(),
                dst: vec![],
                cells: vec![],
                last: vec![],
                first: vec![],
            };
            Some(Both {
                by_slot: BySlot::new(&timetable, (0, nodes), &partition, schedule.uplinks()),
                flight: Flight::default(),
                model: BTreeMap::new(),
                schedule,
                timetable,
                routes,
                next: 0,
            })
        }

        /// Adds a cell: granted to `from` by `to` for a destination, or relayed by `from`
        /// to `to`.
        fn add(&mut self, slot: i64, from: usize, to: usize, destination: Option<usize>) {
            let cell = Cell::new(from as u32, self.next);
            self.next += 1;
            let queue = self.model.entry((from, to)).or_default();
            queue.push_back(cell.on_hop(destination.is_none()));
            let (by_slot, what) = (&mut self.by_slot, (cell, from, to, destination));
            match &self.timetable {
                Timetable::Rotor(rounds) => join(by_slot, rounds.at(slot), what),
                Timetable::Gratings(frame) => join(by_slot, frame.at(slot), what),
            }
        }

        /// Adds cells of one call: of a node to all others, or of all nodes to one.
        fn sweep(&mut self, slot: i64, node: usize, relayed: bool) {
            let nodes = self.routes.src.len();
            let mut cells = Vec::new();
            for other in (0..nodes).map(|k| (node + k) % nodes) {
                let ends = if relayed {
                    (other, node)
                } else {
                    (node, other)
                };
                let cell = Cell::new(ends.0 as u32, self.next);
                self.next += 1;
                let queue = self.model.entry(ends).or_default();
                queue.push_back(cell.on_hop(relayed));
                let (by, to) = if relayed { ends } else { (other, node) };
                cells.push(Queued::new(cell, Label::new(by), Label::new(to)));
            }
            let by_slot = &mut self.by_slot;
            match (&self.timetable, relayed) {
                (Timetable::Rotor(r), true) => by_slot.relay::<true>(r.at(slot), &cells),
                (Timetable::Rotor(r), false) => by_slot.wait(r.at(slot), Label::new(node), &cells),
                (Timetable::Gratings(f), true) => by_slot.relay::<true>(f.at(slot), &cells),
                (Timetable::Gratings(f), false) => {
                    by_slot.wait(f.at(slot), Label::new(node), &cells)
                }
            }
        }

        /// Every meeting of the slot takes the first cell of its queue; then cells that were set
        /// aside try again.
        fn leave(&mut self, slot: i64) {
            let s = &self.schedule;
            let mut wanted = Vec::new();
            for node in 0..s.nodes() {
                for uplink in 0..s.uplinks() {
                    let to = s.label(s.peer(node, uplink, slot).0) as usize;
                    let ends = (s.label(node) as usize, to);
                    let first = self.model.get_mut(&ends).and_then(VecDeque::pop_front);
                    wanted.extend(first.map(|cell| (ends, cell.word())));
                }
            }
            self.by_slot.leave(&mut self.flight);
            let links = self.flight.links(&self.routes);
            let mut left: Vec<_> = links
                .map(|(a, b, q)| ((a.index(), b.index()), q.cell().word()))
                .collect();
            wanted.sort();
            left.sort();
            assert_eq!(left, wanted, "slot {slot}");
            self.flight.land();
            self.by_slot.reuse(&mut self.flight);
            match &self.timetable {
                Timetable::Rotor(rounds) => self.by_slot.join_aside(rounds.at(slot + 1)),
                Timetable::Gratings(frame) => self.by_slot.join_aside(frame.at(slot + 1)),
            }
        }
    }

    fn join(
        by_slot: &mut BySlot,
        meetings: impl NextMeeting,
        (cell, from, to, destination): (Cell, usize, usize, Option<usize>),
    ) {
        let [from, to] = [from, to].map(Label::new);
        match destination.map(Label::new) {
            Some(d) => by_slot.wait(meetings, from, &[Queued::new(cell, to, d)]),
            None => by_slot.relay::<false>(meetings, &[Queued::new(cell, from, to)]),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        /// The cases include queues longer than their places, and idle times after which numbers of
        /// meetings repeat.
        #[test]
        fn cells_of_a_pair_leave_first_in_first_out(s in schedules(), crowded: bool, seed: u64) {
            let Some(mut both) = Both::new(s) else {
                return Ok(());
            };
            let (mut rng, nodes) = (Stream::new(seed, "t", 0), both.schedule.nodes());
            let mut add = |both: &mut Both, slot: i64| {
                for _ in 0..rng.below(if crowded { 2 * nodes } else { nodes }) {
                    let (from, to) = (rng.below(nodes), rng.below(nodes));
                    // Few pairs, so that queues grow long.
                    let to = if crowded { to % 2 } else { to };
                    let on = (rng.below(2) == 0).then(|| rng.below(nodes) as usize);
                    both.add(slot, from as usize, to as usize, on);
                }
                if rng.below(8) == 0 {
                    both.sweep(slot, rng.below(nodes) as usize, rng.below(2) == 0);
                }
            };
            let mut slot = 0;
            for pause in [0, 7, 70, 1_000] {
                for busy in (0..).map(|k| k < 30) {
                    both.by_slot.begin(slot, both.timetable.number(slot));
                    if busy {
                        add(&mut both, slot);
                    }
                    both.leave(slot);
                    slot += 1;
                    if busy {
                        add(&mut both, slot);
                    }
                    if !busy && both.model.values().all(VecDeque::is_empty) {
                        break;
                    }
                }
                slot += pause * both.schedule.frame() as i64;
            }
            prop_assert_eq!(both.by_slot.each().count(), 0);
        }
    }
}
