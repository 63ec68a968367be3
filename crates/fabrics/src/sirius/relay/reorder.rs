//! The receiving side of flows: reorder buffer and completion (Sirius §4.2).
//!
//! Cells arrive out of order because they take different paths. The buffer of a flow holds the
//! cells beyond its first gap; its peak is exact, with one bit per cell.

use crate::memory::Column;
use crate::sirius::cell::{Cell, FlowIndex, Routes};
use bytemuck::{Pod, Zeroable};

/// Number of cells that are sampled to decide whether consecutive cells belong to the same flow.
const SAMPLE: usize = 16;

/// The fields that a destination reads whenever a cell of a flow arrives: few, because there are
/// many flows.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Arriving {
    received: u32,
    /// Cells before the first gap.
    in_order: u32,
    cells: u32,
    /// Index of the first word of its bits: one bit per cell, and at least one more.
    bits: u32,
}

/// Fields that are rarely used, kept apart.
#[derive(Clone, Copy, Debug)]
struct Seldom {
    /// Bytes in the last cell.
    last: u32,
    /// Number of cells that came directly from their source.
    direct: u32,
}

/// The flows that end at a range of nodes, by flow index from `first`.
#[derive(Clone, Debug)]
pub struct Reorder {
    first: FlowIndex,
    payload: u64,
    flows: Column<Arriving>,
    seldom: Vec<Seldom>,
    seen: Column<u64>,
    /// Largest peak of any flow [cells].
    peak: u32,
    /// Bytes delivered since the last call that took this figure.
    pub bytes: u64,
    /// Indices of the flows completed since the last call that took them.
    pub completed: Vec<FlowIndex>,
}

impl Reorder {
    /// Flows with indices `first .. last`.
    pub fn new(routes: &Routes, first: FlowIndex, last: FlowIndex) -> Reorder {
        let mut words = 0u32;
        let mut flows = Column::<Arriving>::zeroed((last - first) as usize);
        for (flow, &cells) in flows.iter_mut().zip(&routes.cells[first as usize..]) {
            (flow.cells, flow.bits) = (cells, words);
            words += cells / 64 + 1;
        }
        let last = &routes.last[first as usize..last as usize];
        let seldom = |&last| Seldom { last, direct: 0 };
        Reorder {
            first,
            payload: routes.payload,
            flows,
            seldom: last.iter().map(seldom).collect(),
            seen: Column::zeroed(words as usize),
            peak: 0,
            bytes: 0,
            completed: Vec::new(),
        }
    }

    /// A cell arrives at its destination.
    pub fn receive(&mut self, cell: Cell) {
        self.receive_each::<true, _>(&[cell], Cell::clone);
    }

    /// Receives cells at their destinations; if `SOME`, a cell may be on its first hop.
    #[inline(always)]
    pub fn receive_all<const SOME: bool, T>(&mut self, arrived: &[T], cell: impl Fn(&T) -> Cell) {
        let sample = &arrived[..arrived.len().min(SAMPLE)];
        let pairs = sample.windows(2);
        let alike = pairs.filter(|p| cell(&p[0]).flow_index() == cell(&p[1]).flow_index());
        match 2 * alike.count() >= SAMPLE {
            true => self.receive_runs::<SOME, T>(arrived, cell),
            false => self.receive_each::<SOME, T>(arrived, cell),
        }
    }

    #[inline(always)]
    fn receive_each<const SOME: bool, T>(&mut self, arrived: &[T], cell: impl Fn(&T) -> Cell) {
        let (flows, seen) = (&mut self.flows[..], &mut self.seen[..]);
        let (mut short, mut peak) = (0, self.peak);
        for cell in arrived.iter().map(cell) {
            let flow = (cell.flow_index() - self.first) as usize;
            let f = &mut flows[flow];
            let (seq, received) = (cell.seq(), f.received + 1);
            f.received = received;
            if seq + 1 == f.cells {
                short += self.payload - self.seldom[flow].last as u64;
            }
            if SOME && !cell.is_second() {
                self.seldom[flow].direct += 1;
            }
            mark(seen, f.bits, seq);
            f.in_order = first_gap(seen, f.bits as usize, f.in_order);
            peak = peak.max(received - f.in_order);
            if received == f.cells {
                self.completed.push(cell.flow_index());
            }
        }
        self.bytes += arrived.len() as u64 * self.payload - short;
        self.peak = peak;
    }

    /// Receives cells if most of them belong to the flow of the previous cell: the state of the
    /// flow is written once per run, and few cells fill the first gap.
    #[inline(never)]
    fn receive_runs<const SOME: bool, T>(&mut self, arrived: &[T], cell: impl Fn(&T) -> Cell) {
        let (flows, seen) = (&mut self.flows[..], &mut self.seen[..]);
        let (mut short, mut peak, mut at) = (0, self.peak, 0);
        while at < arrived.len() {
            let flow_index = cell(&arrived[at]).flow_index();
            let flow = (flow_index - self.first) as usize;
            let Arriving {
                mut received,
                mut in_order,
                cells,
                bits,
            } = flows[flow];
            let seldom = &mut self.seldom[flow];
            while let Some(cell) = arrived
                .get(at)
                .map(&cell)
                .filter(|c| c.flow_index() == flow_index)
            {
                let seq = cell.seq();
                received += 1;
                if seq + 1 == cells {
                    short += self.payload - seldom.last as u64;
                }
                if SOME && !cell.is_second() {
                    seldom.direct += 1;
                }
                mark(seen, bits, seq);
                if seq == in_order {
                    in_order = first_gap(seen, bits as usize, in_order);
                }
                peak = peak.max(received - in_order);
                at += 1;
            }
            (flows[flow].received, flows[flow].in_order) = (received, in_order);
            if received == cells {
                self.completed.push(flow_index);
            }
        }
        self.bytes += arrived.len() as u64 * self.payload - short;
        self.peak = peak;
    }

    /// Prefetches the state for cells that will be received soon: first their flows, then their
    /// bits.
    pub fn prefetch(&self, cells: impl Iterator<Item = Cell> + Clone) {
        let flow = |cell: Cell| (cell.flow_index() - self.first) as usize;
        for cell in cells.clone() {
            crate::sirius::prefetch::prefetch(&self.flows, flow(cell));
        }
        for cell in cells {
            let first = self.flows[flow(cell)].bits;
            crate::sirius::prefetch::prefetch(&self.seen, (first + cell.seq() / 64) as usize);
        }
    }

    /// The largest peak of any flow's reorder buffer [B]. Every waiting cell counts as a full cell.
    pub fn peak_bytes(&self) -> u64 {
        self.peak as u64 * self.payload
    }

    /// (flow index, bytes received, mean hops) of every flow that has received cells.
    pub fn progress(&self) -> impl Iterator<Item = (FlowIndex, u64, f32)> + '_ {
        let flows = self.flows.iter().zip(&self.seldom).zip(self.first..);
        flows
            .filter(|((f, _), _)| f.received > 0)
            .map(|((f, seldom), flow_index)| {
                let last = f.cells - 1;
                let has_last = self.seen[(f.bits + last / 64) as usize] & 1 << (last % 64) != 0;
                let short = if has_last {
                    self.payload - seldom.last as u64
                } else {
                    0
                };
                let bytes = f.received as u64 * self.payload - short;
                let hops = 2 * f.received as u64 - seldom.direct as u64;
                (flow_index, bytes, (hops as f64 / f.received as f64) as f32)
            })
    }
}

/// Sets the bit of number `seq` in the bits whose first word is `first`.
#[inline(always)]
fn mark(seen: &mut [u64], first: u32, seq: u32) {
    let word = &mut seen[(first + seq / 64) as usize];
    debug_assert!(*word & 1 << (seq % 64) == 0, "a cell arrived twice");
    *word |= 1 << (seq % 64);
}

/// The first number at or after `from` whose bit is not set, in the bits whose first word is
/// `first`; there always is one.
#[inline(always)]
fn first_gap(seen: &[u64], first: usize, from: u32) -> u32 {
    let mut at = from;
    loop {
        let word = seen[first + (at / 64) as usize];
        // The shift fills with zeros from above, so the count ends with the word.
        let ones = (!(word >> (at % 64))).trailing_zeros();
        at += ones;
        if ones == 0 || !at.is_multiple_of(64) {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::Stream;
    use proptest::prelude::*;

    fn routes(cells: u32, last: u32) -> Routes {
        Routes {
            payload: 562,
            flow_index: vec![0],
            flow: vec![lightloom_engine::FlowId(0)],
            src: vec![0],
            dst: vec![1],
            cells: vec![cells],
            last: vec![last],
            first: vec![0, 0, 1],
        }
    }

    proptest! {
        /// Compared with a sorted set of arrived numbers.
        #[test]
        fn the_peak_is_what_waits_beyond_the_first_gap(cells in 1u32..300, last in 1u32..=562, seed: u64) {
            let mut order: Vec<u32> = (0..cells).collect();
            Stream::new(seed, "test", 0).shuffle(&mut order);
            let mut reorder = Reorder::new(&routes(cells, last), 0, 1);
            let mut arrived = std::collections::BTreeSet::new();
            let mut peak = 0;
            for seq in order {
                reorder.receive(Cell::new(0, seq));
                arrived.insert(seq);
                let gap = (0..).find(|s| !arrived.contains(s)).unwrap();
                peak = peak.max(arrived.len() as u32 - gap);
                prop_assert_eq!(reorder.peak_bytes(), peak as u64 * 562);
            }
            prop_assert_eq!(reorder.completed, vec![0]);
            prop_assert_eq!(reorder.bytes, (cells as u64 - 1) * 562 + last as u64);
        }

        /// Receiving the cells of several flows together gives the same result as cell by cell.
        #[test]
        fn runs_of_a_flow_are_received_as_single_cells_are(
            cells in prop::collection::vec(1u32..200, 1..4), most in 1usize..80, seed: u64,
        ) {
            let mut routes = routes(0, 562);
            routes.cells = cells.clone();
            routes.last = vec![100; cells.len()];
            let [mut one, mut all] = [0; 2].map(|_| Reorder::new(&routes, 0, cells.len() as u32));
            let numbers = |(flow_index, &n): (u32, &u32)| (0..n).map(move |seq| Cell::new(flow_index, seq));
            let mut order: Vec<Cell> = (0..).zip(&cells).flat_map(numbers).collect();
            let mut rng = Stream::new(seed, "test", 0);
            rng.shuffle(&mut order);
            for batch in order.chunks_mut(most) {
                if rng.below(2) == 0 {
                    batch.sort_by_key(|cell| cell.flow_index());
                }
                batch.iter_mut().for_each(|cell| *cell = cell.on_hop(rng.below(2) == 0));
                all.receive_all::<true, _>(batch, Cell::clone);
                batch.iter().for_each(|&cell| one.receive(cell));
                prop_assert_eq!(all.peak_bytes(), one.peak_bytes());
                prop_assert_eq!((&all.completed, all.bytes), (&one.completed, one.bytes));
                prop_assert!(all.progress().eq(one.progress()));
            }
        }
    }
}
