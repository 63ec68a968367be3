//! SIRIUS (IDEAL) (§7): per-flow queues and back-pressure in place of requests and grants.
//!
//! On every uplink a node sends a cell on its second hop to the peer of the slot; the flows with
//! such cells take turns. If there is none, the flows that start at this node take turns, over all
//! its uplinks together; a flow is skipped while `ideal_window` of its cells are at the peer or on
//! their way there.

use super::{Cell, Reference};
use crate::contract::Site;
use crate::sirius::config::{Derived, Intermediates, SiriusConfig};
use lightloom_engine::kernel::slot::SlotKernel;
use lightloom_engine::{
    Command, FlowId, HostId, Io, Nic, PortId, Rate, Rejected, Reports, Shape, Time, Totals, View,
};
use std::collections::{BTreeMap, VecDeque};

/// Flows of a node that take turns are identified by places; each set has this many places.
const PLACES: usize = 64;

/// A cell at an intermediate, or on its way there.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Away {
    cell: Cell,
    via: usize,
    /// The first slot in which it waits there.
    from: i64,
}

/// The flows that begin at a node.
#[derive(Clone, Debug, Default)]
struct Source {
    /// A flow takes the first free place, until all its cells have left their intermediates.
    places: Vec<Option<usize>>,
    /// The place from which the search for the next flow starts.
    from: usize,
}

/// SIRIUS (IDEAL).
pub struct Ideal {
    /// The receivers, and the traffic that stays within racks.
    common: Reference,
    sources: Vec<Source>,
    /// Number of cells of every flow that have reached its source, and its next cell to leave.
    come: Vec<u32>,
    next: Vec<u32>,
    /// In the order of sending.
    away: Vec<Away>,
    /// By node and destination, the flows whose cells wait, in order of their turns.
    turns: Vec<Vec<VecDeque<usize>>>,
    /// Cells to their destination, by slot of sending.
    fibres: BTreeMap<i64, Vec<Cell>>,
    /// The next.
    slot: i64,
}

impl Ideal {
    /// An idle fabric.
    pub fn new(config: &SiriusConfig, derived: Derived, site: &Site) -> Ideal {
        let nodes = site.cluster.racks as usize;
        Ideal {
            common: Reference::new(config, derived, site),
            sources: vec![Source::default(); nodes],
            come: vec![0; site.flows.len()],
            next: vec![0; site.flows.len()],
            away: Vec::new(),
            turns: vec![vec![VecDeque::new(); nodes]; nodes],
            fibres: BTreeMap::new(),
            slot: 0,
        }
    }

    fn admit(&mut self, now: Time, io: &mut Io) {
        for (id, at) in self.common.through(now, io) {
            let flow = &self.common.flows[id.index()];
            if self.common.cluster.nic != Nic::Uncapped || flow.src == flow.dst {
                self.common.admit_to_server(id, at, io);
            } else {
                let cells = flow.cells;
                self.take(id.index(), cells);
            }
        }
        self.common.send_from_servers(now, io);
        for source in 0..self.common.nodes {
            for tuple in std::mem::take(&mut self.common.local[source]) {
                self.take(tuple.flow, tuple.cells);
            }
        }
    }

    /// Adds cells of a flow that have reached its source.
    fn take(&mut self, flow: usize, cells: u32) {
        let places = &mut self.sources[self.common.flows[flow].src].places;
        if self.come[flow] == 0 {
            match places.iter().position(Option::is_none) {
                Some(free) => places[free] = Some(flow),
                None => places.push(Some(flow)),
            }
        }
        self.come[flow] += cells;
    }

    /// Returns the cells that left on their second hop.
    fn transmit(&mut self, slot: i64, io: &mut Io) -> Vec<Away> {
        let before = self.away.clone();
        let mut left = Vec::new();
        for node in 0..self.common.nodes {
            for uplink in 0..self.common.derived.uplinks {
                let peer = self.common.peer(node, uplink, slot);
                let peer = peer.expect("nothing fails");
                if let Some(flow) = self.turns[node][peer].pop_front() {
                    let cell = self.first_there(flow, node, slot).expect("it has its turn");
                    left.push(cell);
                    let relayed = true;
                    self.send(
                        slot,
                        Cell {
                            relayed,
                            ..cell.cell
                        },
                    );
                } else if let Some(flow) = self.next_flow(node, peer, &before) {
                    let at = self.common.config.slot * slot;
                    io.start(FlowId(flow as u32), at);
                    self.first_hop(slot, flow, peer);
                }
            }
        }
        left
    }

    fn first_hop(&mut self, slot: i64, flow: usize, peer: usize) {
        let cell = Cell {
            flow,
            seq: self.next[flow],
            relayed: false,
        };
        self.next[flow] += 1;
        if self.common.flows[flow].dst == peer {
            return self.send(slot, cell);
        }
        self.common.hops += 1;
        let config = &self.common.config;
        let from = slot + 1 + config.crossing().div_ceil(config.slot);
        self.away.push(Away {
            cell,
            via: peer,
            from,
        });
    }

    /// Sends a cell to its destination.
    fn send(&mut self, slot: i64, cell: Cell) {
        self.common.hops += 1;
        self.fibres.entry(slot).or_default().push(cell);
    }

    /// The flow's first cell that waits at a node.
    fn first_there(&self, flow: usize, via: usize, slot: i64) -> Option<Away> {
        let there = |a: &&Away| a.cell.flow == flow && a.via == via && a.from <= slot;
        self.away.iter().find(there).copied()
    }

    /// The next flow of a node that may use a peer, given the cells at intermediates and on the way
    /// there.
    fn next_flow(&mut self, node: usize, peer: usize, away: &[Away]) -> Option<usize> {
        let config = &self.common.config;
        let others = config.intermediates == Intermediates::Others;
        let may = |f: usize| {
            let flow = &self.common.flows[f];
            let there = away.iter().filter(|a| a.cell.flow == f && a.via == peer);
            let barred = others && (peer == flow.src || peer == flow.dst);
            let full = there.count() >= config.ideal_window as usize;
            self.next[f] < self.come[f] && !full && !barred
        };
        let Source { places, from } = &self.sources[node];
        let first = places.len().min(*from);
        let mut round = (first..places.len()).chain(0..first);
        let place = round.find(|&p| places[p].is_some_and(may))?;
        let flow = places[place];
        let room = places.len().next_multiple_of(PLACES);
        self.sources[node].from = (place + 1) % room;
        flow
    }

    /// Ends the slot for the cells that left: their windows are free, and the next cells of the
    /// flows get turns.
    fn free_windows(&mut self, slot: i64, left: &[Away]) {
        self.away.retain(|a| !left.contains(a));
        for Away { cell, via, .. } in left {
            if self.first_there(cell.flow, *via, slot).is_some() {
                self.take_turns(cell.flow, *via);
            }
        }
        let (next, flows, away) = (&self.next, &self.common.flows, &self.away);
        let over = |f: usize| next[f] == flows[f].cells && away.iter().all(|a| a.cell.flow != f);
        for place in self.sources.iter_mut().flat_map(|s| &mut s.places) {
            *place = place.filter(|&f| !over(f));
        }
    }

    fn take_turns(&mut self, flow: usize, via: usize) {
        let turns = &mut self.turns[via][self.common.flows[flow].dst];
        if !turns.contains(&flow) {
            turns.push_back(flow);
        }
    }

    fn receive(&mut self, slot: i64, io: &mut Io) {
        let config = &self.common.config;
        let sent = slot - config.crossing().div_ceil(config.slot);
        let at = config.slot * (sent + 1) + config.crossing();
        let landed: Vec<Away> = self
            .away
            .iter()
            .filter(|a| a.from == slot + 1)
            .copied()
            .collect();
        landed
            .iter()
            .for_each(|a| self.take_turns(a.cell.flow, a.via));
        for cell in self.fibres.remove(&sent).unwrap_or_default() {
            self.common.send_to_server(cell, at, io);
        }
        let end = self.common.config.slot * (slot + 1);
        self.common.deliver_to_servers(end, io);
        let cell = self.common.derived.cell;
        let queue = |node| self.relaying(node, slot + 1).count() as u64 * cell;
        let queues = (0..self.common.nodes).map(|n| queue(n) + self.common.received(n));
        self.common.queue_peak = queues.max().unwrap_or(0).max(self.common.queue_peak);
    }

    /// Cells that wait at a node for their second hop.
    fn relaying(&self, node: usize, slot: i64) -> impl Iterator<Item = Cell> + '_ {
        let there = move |a: &&Away| a.via == node && a.from <= slot;
        self.away.iter().filter(there).map(|a| a.cell)
    }

    fn waiting(&self) -> u64 {
        let flows = self.sources.iter().flat_map(|s| &s.places).flatten();
        let here = flows.map(|&f| self.common.bytes_from(f, self.next[f], self.come[f]));
        here.sum::<u64>() + self.common.unsent()
    }
}

impl SlotKernel for Ideal {
    fn slot_length(&self) -> Time {
        self.common.slot_length()
    }

    fn slot(&mut self, slot: i64, io: &mut Io) {
        let now = self.common.config.slot * slot;
        self.admit(now, io);
        while self.common.deliver_within_racks(now, io) {
            self.admit(now, io);
        }
        self.common
            .deliver_within_racks(now + self.common.config.slot, io);
        let left = self.transmit(slot, io);
        self.free_windows(slot, &left);
        self.receive(slot, io);
        self.slot = slot + 1;
    }

    fn idle(&self) -> bool {
        let placed = self.sources.iter().flat_map(|s| &s.places).flatten();
        placed.count() == 0 && self.fibres.is_empty() && self.common.idle()
    }

    fn apply(&mut self, _command: Command, _now: Time) -> Result<(), Rejected> {
        Err(Rejected("SIRIUS (IDEAL) has no failures".into()))
    }
}

impl Reports for Ideal {
    fn shape(&self) -> Shape {
        self.common.shape()
    }

    fn observe(&self, _io: &Io, view: &mut View) {
        let (common, now) = (&self.common, self.slot);
        let queue = |node| common.bytes_of(self.relaying(node, now)) + common.received(node);
        let queues = || (0..common.nodes).map(queue);
        view.queued_bytes = queues().sum();
        view.queued_bytes_worst = queues().max().unwrap_or(0);
        view.waiting_bytes = self.waiting() + common.entering_bytes();
        let coming = self.away.iter().filter(|a| a.from > now).map(|a| a.cell);
        let flying = coming.chain(self.fibres.values().flatten().copied());
        view.on_links_bytes = common.bytes_of(flying) + common.bytes_within();
        view.in_flight_bytes = view.waiting_bytes + view.queued_bytes + view.on_links_bytes;
        view.carried_bytes = common.hops * common.derived.cell;
    }

    fn totals(&self) -> Totals {
        self.common.totals()
    }

    fn settle(&self, io: &mut Io) {
        self.common.settle(io)
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        self.common.soonest(src, dst, bytes)
    }

    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        self.common.lit(tx, rx, at)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        self.common.port_rate(tx)
    }
}
