//! SIRIUS (IDEAL): per-flow queues with back-pressure instead of requests and grants (Sirius §7).
//! First hops start at once.
//!
//! In every slot each node serves the peers that it meets. A cell on its second hop, whose
//! destination is the peer, goes first; the flows with such cells at this node take turns.
//! Otherwise a cell of a flow that starts at this node leaves for the peer as its intermediate;
//! these flows take turns too, over all uplinks of the node together. A flow is skipped if
//! `ideal_window` of its cells wait at that intermediate or are on their way there. A cell that
//! meets its destination is delivered and uses no window.
//!
//! The paper names the scheme but gives no details. This model makes two choices: back-pressure has
//! no delay (a node uses the state at the end of the last slot), and a cell occupies its window
//! until the end of the slot in which its second hop leaves.
//!
//! - `nodes`: the steps of nodes in a slot;
//! - `source`, `credits`: the flows of a node, and their windows;
//! - `relays`: the queues of second hops;
//! - `steps`: transfers between nodes and servers whose links have a rate.
//!
//! *Not modelled*: faults. The kernel uses one thread.

mod credits;
mod nodes;
mod relays;
mod source;
mod steps;
#[cfg(test)]
mod tests;
pub mod window;

use crate::contract::Site;
use crate::entrance::Entrance;
use crate::sirius::cell::Routes;
use crate::sirius::config::{Derived, SiriusConfig};
use crate::sirius::limits::{lit, shape, soonest};
use crate::sirius::relay::reorder::Reorder;
use crate::sirius::schedule::peer_order::PeerOrder;
use crate::sirius::servers::links::Servers;
use crate::sirius::servers::rack::Bypass;
use crate::sirius::servers::receiving::Coming;
use lightloom_engine::kernel::slot::SlotKernel;
use lightloom_engine::{
    Cluster, Command, HostId, Io, PortId, QueuePlace, Rate, Rejected, Reports, Shape, Time, Totals,
    View,
};
use nodes::{Crossing, Nodes, Via};

/// SIRIUS (IDEAL).
pub struct Ideal {
    cluster: Cluster,
    config: SiriusConfig,
    derived: Derived,
    routes: Routes,
    peer_order: PeerOrder,
    nodes: Nodes,
    /// Cells in the fibres, by the slot in which they were sent.
    crossings: Vec<Crossing>,
    reorder: Reorder,
    entrance: Entrance,
    bypassed: Bypass,
    /// The links of servers, if they have a rate.
    servers: Option<Servers>,
    /// Cells that have left the links to their servers, within a slot.
    delivered: Vec<Coming>,
    /// Number of cells that have reached their source node but not yet their destination.
    inside: u64,
    hops: u64,
    /// Peak of the bytes that waited at any node for second hops and for servers' links.
    peak: u64,
}

impl Ideal {
    /// An idle fabric.
    pub fn new(config: &SiriusConfig, derived: Derived, site: &Site) -> Ideal {
        let routes = Routes::new(site.flows, site.cluster, &derived.schedule, derived.cell);
        let crossings = config.crossing().div_ceil(config.slot) as usize + 1;
        Ideal {
            cluster: *site.cluster,
            config: config.clone(),
            peer_order: PeerOrder::new(&derived.schedule),
            nodes: Nodes::new(config, derived.schedule.nodes() as usize, site.flows.len()),
            crossings: vec![Crossing::default(); crossings],
            reorder: Reorder::new(&routes, 0, site.flows.len() as u32),
            entrance: Entrance::new(config.switch_latency),
            bypassed: Bypass::new(site.cluster),
            servers: Servers::new(site.cluster, config.discipline, site.flows, &routes),
            delivered: Vec::new(),
            routes,
            derived,
            inside: 0,
            hops: 0,
            peak: 0,
        }
    }

    /// Approximate memory for this number of nodes and flows [B].
    pub fn memory(config: &SiriusConfig, derived: &Derived, nodes: u64, flows: u64) -> u64 {
        // More concurrent flows at one source mean an overload, for which memory is not estimated.
        let at_once = flows.div_ceil(nodes).min(256);
        let pair = relays::BYTES_A_PAIR + credits::bytes_a_peer(config.ideal_window, at_once);
        // Every transceiver can have a cell in every slot of the fibre; lists have twice the
        // capacity of their contents.
        let slots = derived.flights(config) as u64;
        let flying = slots * nodes * derived.uplinks as u64 * 2 * size_of::<Via>() as u64;
        nodes.pow(2) * pair + 64 * nodes * at_once + flying
    }

    fn admit(&mut self, now: Time, io: &mut Io) {
        if self.servers.is_some() {
            return self.admit_capped(now, io);
        }
        while let Some((flow, at)) = self.entrance.next(now, io) {
            let (src, dst) = (io.flows.src[flow.index()], io.flows.dst[flow.index()]);
            if self.cluster.rack_of(src) == self.cluster.rack_of(dst) {
                self.bypassed.admit(flow, at, io);
            } else {
                let flow_index = self.routes.flow_index[flow.index()];
                let cells = self.routes.cells[flow_index as usize];
                self.nodes.admit(flow_index, cells, &self.routes);
                self.inside += cells as u64;
            }
        }
    }

    fn transmit(&mut self, slot: i64, io: &mut Io) {
        let at = slot.rem_euclid(self.crossings.len() as i64) as usize;
        let (peer_order, crossing) = (&self.peer_order, &mut self.crossings[at]);
        if io.audit.is_some() {
            self.nodes
                .transmit::<true>(slot, peer_order, &self.routes, crossing);
            self.record(slot, io);
        } else {
            self.nodes
                .transmit::<false>(slot, peer_order, &self.routes, crossing);
        }
        self.hops += self.crossings[at].len();
        for flow_index in self.nodes.started.drain(..) {
            io.start(
                self.routes.flow[flow_index as usize],
                self.config.slot * slot,
            );
        }
    }

    fn receive(&mut self, slot: i64, io: &mut Io) {
        let delay = self.crossings.len() as i64 - 1;
        let crossing = &mut self.crossings[(slot - delay).rem_euclid(delay + 1) as usize];
        let at = self.config.slot * (slot - delay + 1) + self.config.crossing();
        self.nodes.arrive(&crossing.relay, &self.peer_order);
        match &mut self.servers {
            Some(servers) => servers.receiving.arrive_across(&crossing.deliver, at),
            None => {
                let cells = crossing.deliver.iter();
                cells.for_each(|&cell| self.reorder.receive(cell));
            }
        }
        self.inside -= crossing.deliver.len() as u64;
        crossing.clear();
        self.deliver(at, io);
    }

    /// Delivers the cells that the reorder buffer has received by `at`.
    fn deliver(&mut self, at: Time, io: &mut Io) {
        io.deliver_some(std::mem::take(&mut self.reorder.bytes));
        for flow_index in self.reorder.completed.drain(..) {
            io.finish(self.routes.flow[flow_index as usize], at);
        }
    }

    fn each_node(&self) -> std::ops::Range<usize> {
        0..self.derived.schedule.nodes() as usize
    }

    /// The largest number of bytes that wait at any node for second hops and for servers' links.
    fn longest_queue(&self) -> u64 {
        let queue =
            |node: usize| self.nodes.relaying(node) * self.routes.payload + self.received(node);
        self.each_node().map(queue).max().unwrap_or(0)
    }

    fn record(&mut self, slot: i64, io: &mut Io) {
        let (u, schedule) = (self.derived.uplinks, &self.derived.schedule);
        let from = self.config.slot * slot + self.config.guardband;
        let audit = io.audit.as_mut().expect("only when audited");
        for sent in self.nodes.sent.drain(..) {
            let (node, to) = (schedule.node(sent.from), schedule.node(sent.to));
            let (_, port) = schedule.peer(node, sent.uplink, slot);
            let (tx, rx) = (PortId(node * u + sent.uplink), PortId(to * u + port));
            audit.transmit(tx, rx, from, self.config.slot * (slot + 1), sent.bytes);
        }
    }

    /// Locates every byte, cell by cell, because the last cell of a flow may be short.
    fn place(&self, view: &mut View) {
        let (waiting, relayed) = self.nodes.bytes(&self.routes);
        let servers = self.servers.as_ref();
        let unsent = servers.map_or(0, |s| s.unsent(&self.routes));
        view.waiting_bytes = waiting + unsent + self.entrance.bytes();
        for (node, relayed) in relayed.into_iter().enumerate() {
            let queued = relayed + self.received(node);
            view.queued_bytes += queued;
            view.queued_bytes_worst = view.queued_bytes_worst.max(queued);
        }
        let flying = self.crossings.iter().map(|f| f.bytes(&self.routes));
        view.on_links_bytes = flying.sum::<u64>() + self.bypassed.bytes();
        view.in_flight_bytes = view.placed_bytes();
    }

    /// Bytes that wait at a node for the links of its servers.
    fn received(&self, node: usize) -> u64 {
        let rack = self.derived.schedule.node(node as u32);
        self.servers.as_ref().map_or(0, |s| s.receiving.at(rack))
    }
}

impl SlotKernel for Ideal {
    fn slot_length(&self) -> Time {
        self.config.slot
    }

    fn slot(&mut self, slot: i64, io: &mut Io) {
        let now = self.config.slot * slot;
        self.admit(now, io);
        // Flows that a delivery within a rack releases may have arrived by now, too.
        while self.bypassed.deliver(now, io) {
            self.admit(now, io);
        }
        self.bypassed.deliver(now + self.config.slot, io);
        if self.inside > 0 {
            self.transmit(slot, io);
            self.nodes.free_windows(&self.peer_order);
            self.receive(slot, io);
        }
        self.deliver_capped(self.config.slot * (slot + 1), io);
        if self.inside > 0 || self.servers.is_some() {
            self.peak = self.peak.max(self.longest_queue());
        }
    }

    fn idle(&self) -> bool {
        let servers = self.servers.as_ref().is_none_or(Servers::idle);
        let waits = !self.bypassed.is_empty() || !self.entrance.is_empty();
        self.inside == 0 && servers && !waits
    }

    fn apply(&mut self, _command: Command, _now: Time) -> Result<(), Rejected> {
        let why = "mode = \"ideal\" models no failures; use fabric.mode = \"request_grant\"";
        Err(Rejected(why.into()))
    }
}

impl Reports for Ideal {
    fn shape(&self) -> Shape {
        shape(&self.cluster, &self.config, &self.derived)
    }

    fn observe(&self, _: &Io, view: &mut View) {
        *view = View::default();
        self.place(view);
        view.carried_bytes = self.hops * self.routes.payload;
    }

    fn totals(&self) -> Totals {
        Totals {
            queue_peak_bytes: Some(self.peak),
            queue_place: QueuePlace::Relay,
            reorder_peak_bytes: Some(self.reorder.peak_bytes()),
            cell_hops: Some(self.hops),
            packet_hops: None,
            circuit_bytes: None,
        }
    }

    fn settle(&self, io: &mut Io) {
        if let Some(servers) = &self.servers {
            servers.settle(&self.routes, io);
        }
        for (flow_index, bytes, hops) in self.reorder.progress() {
            let flow = self.routes.flow[flow_index as usize].index();
            io.flows.delivered[flow] = bytes;
            io.flows.hops[flow] = hops;
        }
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        soonest(&self.cluster, &self.config, &self.derived, src, dst, bytes)
    }

    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        lit(&self.config, &self.derived.schedule, tx, rx, at)
    }

    fn port_rate(&self, _tx: PortId) -> Rate {
        self.config.channel_rate
    }
}
