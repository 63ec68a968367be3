//! The steps of nodes in a slot of SIRIUS (IDEAL): send to the peers that they meet, free windows,
//! receive arrivals.
//!
//! Sending reads only the state at the start of the slot, so the order of the nodes does not
//! matter.

use super::relays::Relays;
use super::source::Source;
use crate::sirius::cell::{Cell, FlowIndex, Routes};
use crate::sirius::config::{Intermediates, SiriusConfig};
use crate::sirius::schedule::peer_order::{MatchingRef, PeerOrder};
use crate::sirius::shard::Sent;

/// A cell and the label of its intermediate.
#[derive(Clone, Copy, Debug)]
pub struct Via {
    /// The cell.
    pub cell: Cell,
    /// The intermediate.
    pub node: u16,
}

/// The cells that are sent in one slot.
#[derive(Clone, Debug, Default)]
pub struct Crossing {
    /// First hops.
    pub relay: Vec<Via>,
    /// Cells to their destination.
    pub deliver: Vec<Cell>,
}

impl Crossing {
    /// Cells.
    pub fn len(&self) -> u64 {
        (self.relay.len() + self.deliver.len()) as u64
    }

    /// Lands: nothing is left in the air.
    pub fn clear(&mut self) {
        self.relay.clear();
        self.deliver.clear();
    }

    /// Bytes of its cells, for the audit.
    pub fn bytes(&self, routes: &Routes) -> u64 {
        let relay = self.relay.iter().map(|r| r.cell);
        let all = relay.chain(self.deliver.iter().copied());
        all.map(|cell| routes.bytes(cell)).sum()
    }
}

/// The node and place at which a flow is handled, by flow index.
#[derive(Clone, Copy, Debug, Default)]
struct Home {
    src: u16,
    dst: u16,
    /// Its place at the source.
    place: u32,
}

/// All nodes, by label.
#[derive(Clone, Debug)]
pub struct Nodes {
    sources: Vec<Source>,
    relays: Relays,
    homes: Vec<Home>,
    /// Whether a node may not be its own intermediate.
    others: bool,
    /// Cells that left on their second hop in this slot, with the nodes that they left.
    left: Vec<Via>,
    /// Indices of the flows whose first cell left in this slot.
    pub started: Vec<FlowIndex>,
    /// Every transmission of the slot, when watched.
    pub sent: Vec<Sent>,
}

impl Nodes {
    /// Idle nodes, to carry `flows` flows.
    pub fn new(config: &SiriusConfig, nodes: usize, flows: usize) -> Nodes {
        let others = config.intermediates == Intermediates::Others;
        Nodes {
            sources: vec![Source::new(nodes, config.ideal_window, others); nodes],
            relays: Relays::new(nodes),
            homes: vec![Home::default(); flows],
            others,
            left: Vec::new(),
            started: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// Adds a flow to its source, with the first `come` of its cells.
    pub fn admit(&mut self, flow_index: FlowIndex, come: u32, routes: &Routes) {
        let flow = flow_index as usize;
        let (src, dst, cells) = (routes.src[flow], routes.dst[flow], routes.cells[flow]);
        let place = self.sources[src as usize].admit(flow_index, dst, cells, come);
        self.homes[flow] = Home { src, dst, place };
    }

    /// Adds another cell of a flow to its source.
    pub fn take_another(&mut self, flow_index: FlowIndex) {
        let Home { src, place, .. } = self.homes[flow_index as usize];
        self.sources[src as usize].take_another(place);
    }

    /// Sends one cell on every uplink if there is a cell for its peer of this slot. Each step of a
    /// slot is a separate function, because one function for all steps would need too many
    /// registers.
    #[inline(never)]
    pub fn transmit<const WATCHED: bool>(
        &mut self,
        slot: i64,
        peer_order: &PeerOrder,
        routes: &Routes,
        crossing: &mut Crossing,
    ) {
        let matchings: Vec<MatchingRef> = peer_order.matchings(slot).collect();
        let mut met = vec![0; self.sources.len().div_ceil(64)];
        for c in &matchings {
            met[c.turn as usize / 64] |= 1 << (c.turn % 64);
        }
        for node in 0..self.sources.len() {
            let first_hops = self.sources[node].is_waiting();
            if !first_hops && !self.relays.meets(node, &met) {
                continue;
            }
            for matching in matchings.iter().filter(|c| has(c, node)) {
                let (turn, peer) = (
                    matching.turn as usize,
                    peer_order.peer(node, matching.turn as usize),
                );
                let sent = if self.relays.has(node, turn) {
                    Some(self.second_hop(node, turn, crossing))
                } else if first_hops {
                    self.first_hop(node, peer, crossing)
                } else {
                    None
                };
                if let (true, Some(cell)) = (WATCHED, sent) {
                    self.sent.push(Sent {
                        from: node as u32,
                        to: peer as u32,
                        uplink: matching.uplink as u32,
                        bytes: routes.bytes(cell),
                    });
                }
            }
        }
    }

    #[inline(always)]
    fn second_hop(&mut self, node: usize, turn: usize, crossing: &mut Crossing) -> Cell {
        let cell = self.relays.pop(node, turn);
        self.left.push(Via {
            cell,
            node: node as u16,
        });
        crossing.deliver.push(cell.on_hop(true));
        cell
    }

    #[inline(always)]
    fn first_hop(&mut self, node: usize, peer: usize, crossing: &mut Crossing) -> Option<Cell> {
        if self.others && peer == node || !self.sources[node].is_waiting() {
            return None;
        }
        let (cell, arrives) = self.sources[node].send(peer)?;
        if cell.seq() == 0 {
            self.started.push(cell.flow_index());
        }
        if arrives {
            crossing.deliver.push(cell);
        } else {
            let node = peer as u16;
            crossing.relay.push(Via { cell, node });
        }
        Some(cell)
    }

    /// Ends the slot for the cells that left on their second hop: the next cell of the same flow at
    /// the node joins the queue, and the source may send another.
    #[inline(never)]
    pub fn free_windows(&mut self, peer_order: &PeerOrder) {
        for Via { cell, node } in self.left.drain(..) {
            let Home { src, dst, place } = self.homes[cell.flow_index() as usize];
            if let Some(next) = self.sources[src as usize].relayed(node, place) {
                let turn = peer_order.turn(node as usize, dst as usize);
                self.relays.push(node as usize, turn, next);
            }
        }
    }

    /// Cells arrive at their intermediates.
    #[inline(never)]
    pub fn arrive(&mut self, cells: &[Via], peer_order: &PeerOrder) {
        for &Via { cell, node } in cells {
            let Home { src, dst, place } = self.homes[cell.flow_index() as usize];
            self.relays.count(node as usize);
            if self.sources[src as usize].arrived(node, place, cell.seq()) {
                let turn = peer_order.turn(node as usize, dst as usize);
                self.relays.push(node as usize, turn, cell);
            }
        }
    }

    /// Cells that wait at a node for their second hop.
    #[inline]
    pub fn relaying(&self, node: usize) -> u64 {
        self.relays.at(node)
    }

    /// Bytes of all cells, counted queue by queue: the bytes at sources, and for each node the
    /// bytes that wait for their second hop.
    pub fn bytes(&self, routes: &Routes) -> (u64, Vec<u64>) {
        let waiting = self.sources.iter().map(|s| s.bytes(routes)).sum();
        let mut relayed = vec![0; self.sources.len()];
        let behind = self.sources.iter().flat_map(Source::each_behind);
        for (node, cell) in behind.chain(self.relays.each_cell()) {
            relayed[node] += routes.bytes(cell);
        }
        (waiting, relayed)
    }
}

/// Whether a node belongs to a matching.
#[inline(always)]
fn has(matching: &MatchingRef, node: usize) -> bool {
    matching
        .labels
        .is_none_or(|labels| labels[node / 64] >> (node % 64) & 1 != 0)
}
