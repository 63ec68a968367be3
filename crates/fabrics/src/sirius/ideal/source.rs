//! The flows of one source, from their arrival until their last cell has left its intermediate:
//! their cells at the source, their turns to send, and their cells in transit.

use super::credits::Credits;
use crate::sirius::cell::{Cell, FlowIndex, Routes};
use std::collections::VecDeque;

/// A flow, from its arrival until its last cell has left its intermediate.
#[derive(Clone, Debug, Default)]
struct SourceFlow {
    flow_index: FlowIndex,
    cells: u32,
    /// Number of cells that have come from its server.
    come: u32,
    /// The next cell to leave.
    next: u32,
    /// Number of cells at intermediates or on their way there.
    away: u32,
    dst: u16,
    /// Cells at intermediates behind another cell of this flow, in order of
    /// arrival: (intermediate, number). At most window − 1 for each.
    behind: VecDeque<(u16, u32)>,
}

impl SourceFlow {
    fn is_over(&self) -> bool {
        self.next == self.cells && self.away == 0
    }
}

/// One source.
#[derive(Clone, Debug)]
pub struct Source {
    /// Whether the destination may not be an intermediate.
    others: bool,
    flows: Vec<SourceFlow>,
    /// Places in use, one bit each.
    taken: Vec<u64>,
    /// The subset of flows that still have cells here.
    waiting: Vec<u64>,
    /// Their number.
    count: u32,
    /// The place from which on the next flow to send is searched.
    from: usize,
    credits: Credits,
}

impl Source {
    /// No flows.
    pub fn new(nodes: usize, window: u32, others: bool) -> Source {
        Source {
            others,
            flows: Vec::new(),
            taken: Vec::new(),
            waiting: Vec::new(),
            count: 0,
            from: 0,
            credits: Credits::new(nodes, window),
        }
    }

    /// Whether any cell waits here.
    #[inline(always)]
    pub fn is_waiting(&self) -> bool {
        self.count > 0
    }

    /// Adds a flow of `cells` cells, of which `come` have reached the source; returns its place,
    /// the lowest free one.
    pub fn admit(&mut self, flow_index: FlowIndex, dst: u16, cells: u32, come: u32) -> u32 {
        let word = self.taken.iter().position(|&w| w != u64::MAX);
        let word = word.unwrap_or_else(|| self.grow());
        let place = word * 64 + self.taken[word].trailing_ones() as usize;
        let bit = 1 << (place % 64);
        self.taken[word] |= bit;
        self.waiting[word] |= bit;
        let flow = &mut self.flows[place];
        (flow.flow_index, flow.dst) = (flow_index, dst);
        (flow.cells, flow.come, flow.next) = (cells, come, 0);
        self.count += 1;
        if self.others {
            self.credits.open(dst as usize, place, false);
        }
        place as u32
    }

    /// Adds another cell of a flow, which has come from its server.
    pub fn take_another(&mut self, place: u32) {
        let (word, bit) = (place as usize / 64, 1 << (place % 64));
        self.flows[place as usize].come += 1;
        if self.waiting[word] & bit == 0 {
            self.waiting[word] |= bit;
            self.count += 1;
        }
    }

    /// Adds a word of places; returns its index.
    fn grow(&mut self) -> usize {
        let words = self.taken.len();
        self.credits.grow();
        self.flows
            .resize_with(self.credits.room(), SourceFlow::default);
        self.taken.resize(self.credits.room() / 64, 0);
        self.waiting.resize(self.credits.room() / 64, 0);
        words
    }

    /// Takes the cell of the next flow that may use `peer`; returns whether that is its
    /// destination. At least one flow must wait.
    #[inline(always)]
    pub fn send(&mut self, peer: usize) -> Option<(Cell, bool)> {
        let place = self.credits.next_open(peer, &self.waiting, self.from)?;
        self.from = if place + 1 < self.credits.room() {
            place + 1
        } else {
            0
        };
        let flow = &mut self.flows[place];
        let cell = Cell::new(flow.flow_index, flow.next);
        let arrives = flow.dst as usize == peer;
        flow.next += 1;
        if flow.next == flow.come {
            self.waiting[place / 64] &= !(1 << (place % 64));
            self.count -= 1;
        }
        if !arrives {
            flow.away += 1;
            self.credits.take(peer, place);
        } else if flow.is_over() {
            self.retire(place);
        }
        Some((cell, arrives))
    }

    /// Records the arrival of a cell at an intermediate; returns whether it is the only cell of its
    /// flow there and must join the queue for its second hop.
    #[inline(always)]
    pub fn arrived(&mut self, via: u16, place: u32, seq: u32) -> bool {
        let alone = !self.credits.enter(via as usize, place as usize);
        if !alone {
            self.flows[place as usize].behind.push_back((via, seq));
        }
        alone
    }

    /// Records the departure of a cell from its intermediate; returns the next cell of the flow
    /// there.
    #[inline(always)]
    pub fn relayed(&mut self, via: u16, place: u32) -> Option<Cell> {
        let place = place as usize;
        let flow = &mut self.flows[place];
        flow.away -= 1;
        let mut next = None;
        if !self.credits.give(via as usize, place) {
            // Under back-pressure cells arrive at and leave intermediates in the order of the
            // schedule, so the entry is near the front.
            let at = flow.behind.iter().position(|&(v, _)| v == via);
            next = at.and_then(|k| flow.behind.remove(k));
        }
        let next = next.map(|(_, seq)| Cell::new(flow.flow_index, seq));
        let over = flow.is_over();
        if next.is_none() {
            self.credits.leave(via as usize, place);
        }
        if over {
            self.retire(place);
        }
        next
    }

    fn retire(&mut self, place: usize) {
        self.taken[place / 64] &= !(1 << (place % 64));
        if self.others {
            let dst = self.flows[place].dst as usize;
            self.credits.open(dst, place, true);
        }
    }

    /// Payload of the cells that wait here [B].
    pub fn bytes(&self, routes: &Routes) -> u64 {
        let flows = self.flows.iter().filter(|f| f.next < f.come);
        flows
            .map(|f| routes.bytes_of(f.flow_index, f.next, f.come - f.next))
            .sum()
    }

    /// Every cell that is behind another cell of its flow at an intermediate, with that
    /// intermediate. No other queue contains these cells.
    pub fn each_behind(&self) -> impl Iterator<Item = (usize, Cell)> + '_ {
        self.flows.iter().flat_map(|f| {
            let behind = f.behind.iter();
            behind.map(|&(via, seq)| (via as usize, Cell::new(f.flow_index, seq)))
        })
    }
}
