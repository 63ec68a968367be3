//! Cells and the flows they belong to, by dense index.
//!
//! The kernel identifies a flow by its [`FlowIndex`]: its position when flows are sorted by
//! destination. The flows that end at one node are then adjacent, and a shard of nodes owns a slice
//! of every column.

use super::index::Label;
use super::schedule::Schedule;
use lightloom_engine::{Cluster, FlowId, Flows};

/// The position of a flow among all flows sorted by the label of their destination.
pub type FlowIndex = u32;

/// One cell: the index of its flow, its number in the flow, and whether it has
/// already been relayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell(u64);

/// The highest bit of the word: set in a cell that has been relayed. The number of the cell and the
/// index of its flow use the lower bits.
const RELAYED: u64 = 1 << 63;

/// One more cell.
const NEXT: u64 = 1 << 32;

impl Cell {
    /// Most cells a flow may have.
    pub const SEQ_MAX: u64 = (1 << 31) - 1;

    /// Cell `seq` of the flow with this index.
    #[inline(always)]
    pub fn new(flow_index: FlowIndex, seq: u32) -> Cell {
        Cell(flow_index as u64 | (seq as u64) << 32)
    }

    /// The same cell on its first or second hop.
    #[inline(always)]
    pub fn on_hop(self, second: bool) -> Cell {
        Cell(self.0 & !RELAYED | if second { RELAYED } else { 0 })
    }

    /// The next cell of the flow.
    #[inline(always)]
    pub fn next(self) -> Cell {
        Cell(self.0 + NEXT)
    }

    /// The cell packed into one word of memory.
    #[inline(always)]
    pub fn word(self) -> u64 {
        self.0
    }

    /// The cell of a word of memory.
    #[inline(always)]
    pub fn from_word(word: u64) -> Cell {
        Cell(word)
    }

    /// Whether it is on its second hop.
    #[inline(always)]
    pub fn is_second(self) -> bool {
        self.0 & RELAYED != 0
    }

    /// Index of the flow.
    #[inline(always)]
    pub fn flow_index(self) -> FlowIndex {
        self.0 as u32
    }

    /// Number of the cell within its flow.
    #[inline(always)]
    pub fn seq(self) -> u32 {
        ((self.0 & !RELAYED) >> 32) as u32
    }
}

/// The constant properties of flows, by flow index.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Payload of a cell [B].
    pub payload: u64,
    /// Index of each flow.
    pub flow_index: Vec<FlowIndex>,
    /// Flow of each index.
    pub flow: Vec<FlowId>,
    /// Label of the source node.
    pub src: Vec<u16>,
    /// Label of the destination node.
    pub dst: Vec<u16>,
    /// Cells of the flow.
    pub cells: Vec<u32>,
    /// Bytes in the last cell.
    pub last: Vec<u32>,
    /// First index of each destination label, and their number at the end.
    pub first: Vec<FlowIndex>,
}

impl Routes {
    /// Sorts the flows by the label of their destination node.
    pub fn new(flows: &Flows, cluster: &Cluster, schedule: &Schedule, payload: u64) -> Routes {
        let label = |host| schedule.label(cluster.rack_of(host)) as u16;
        let mut first: Vec<FlowIndex> = vec![0; cluster.racks as usize + 1];
        for &h in &flows.dst {
            first[label(h) as usize + 1] += 1;
        }
        for d in 0..cluster.racks as usize {
            first[d + 1] += first[d];
        }
        let mut next = first.clone();
        let mut flow_index = Vec::with_capacity(flows.len());
        let mut flow = vec![FlowId(0); flows.len()];
        for f in 0..flows.len() {
            let slot = &mut next[label(flows.dst[f]) as usize];
            flow_index.push(*slot);
            flow[*slot as usize] = FlowId(f as u32);
            *slot += 1;
        }
        let of = |f: &FlowId| flows.bytes[f.index()];
        Routes {
            payload,
            src: flow.iter().map(|f| label(flows.src[f.index()])).collect(),
            dst: flow.iter().map(|f| label(flows.dst[f.index()])).collect(),
            cells: flow
                .iter()
                .map(|f| of(f).div_ceil(payload) as u32)
                .collect(),
            last: flow
                .iter()
                .map(|f| ((of(f) - 1) % payload + 1) as u32)
                .collect(),
            flow_index,
            flow,
            first,
        }
    }

    /// Whether a flow stays within its rack.
    pub fn stays(&self, flow_index: FlowIndex) -> bool {
        self.src[flow_index as usize] == self.dst[flow_index as usize]
    }

    /// The origin of a cell.
    #[inline(always)]
    pub fn source(&self, cell: Cell) -> Label {
        Label(self.src[cell.flow_index() as usize])
    }

    /// The destination.
    #[inline(always)]
    pub fn destination(&self, cell: Cell) -> Label {
        Label(self.dst[cell.flow_index() as usize])
    }

    /// The two ends of a flow.
    #[inline(always)]
    pub fn ends(&self, flow_index: FlowIndex) -> [Label; 2] {
        [&self.src, &self.dst].map(|ends| Label(ends[flow_index as usize]))
    }

    /// Payload of a cell [B]; only the last cell of a flow may be shorter than the others.
    #[inline]
    pub fn bytes(&self, cell: Cell) -> u64 {
        let flow_index = cell.flow_index() as usize;
        if cell.seq() + 1 == self.cells[flow_index] {
            self.last[flow_index] as u64
        } else {
            self.payload
        }
    }

    /// Payload of cells `seq .. seq + count` of a flow [B].
    pub fn bytes_of(&self, flow_index: FlowIndex, seq: u32, count: u32) -> u64 {
        let flow = flow_index as usize;
        match count > 0 && seq + count == self.cells[flow] {
            true => (count - 1) as u64 * self.payload + self.last[flow] as u64,
            false => count as u64 * self.payload,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_keeps_its_parts() {
        let c = Cell::new(u32::MAX, Cell::SEQ_MAX as u32);
        let parts = |c: Cell| (c.flow_index(), c.seq(), c.is_second());
        assert_eq!(parts(c), (u32::MAX, Cell::SEQ_MAX as u32, false));
        let second = c.on_hop(true);
        assert_eq!(parts(second), (u32::MAX, Cell::SEQ_MAX as u32, true));
        assert_eq!(second.on_hop(false), c);
    }
}
