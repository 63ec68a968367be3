//! The paths of flows: over the circuits of their racks' route if there is one, otherwise over the
//! electrical tree.
//!
//! | file | contents |
//! |---|---|
//! | this file | the state: routes in force, drained pairs, links |
//! | [`forwarding`] | the links from one server to another |
//! | `moving` | paths of flows that arrive, and of flows whose racks' routes change |
//! | `spreading` | the choice among several routes for each flow |
//! | [`demultiplex`] | the capacity that servers reserve for circuits (c-Through §4.2) |
//! | [`transport`] | the reaction of TCP to a path that changes |

pub mod demultiplex;
pub mod forwarding;
mod moving;
mod spreading;
pub mod transport;

use super::event::{Context, Event};
use super::setup::{self, Setup};
use super::switch::Switch;
use super::tree::Tree;
use demultiplex::Demultiplexer;
use forwarding::Forwarding;
use lightloom_control::hardware::Hardware;
use lightloom_control::routes::{Pair, Routes};
use lightloom_engine::fair::LinkId;
use lightloom_engine::kernel::flow::{LinkKind, Net};
use lightloom_engine::{Cluster, FlowId, HostId, Io, PortId, Rate};
use std::collections::BTreeSet;
use transport::{BatchId, Transport};

/// Paths of all flows.
pub struct Paths {
    cluster: Cluster,
    hardware: Hardware,
    tree: Tree,
    /// Routes in force.
    routes: Routes,
    /// Pairs whose traffic rules send over the electrical network, regardless of their routes.
    drained: BTreeSet<Pair>,
    forwarding: Forwarding,
    /// Pairs (from, to) of racks whose routes may no longer be evenly loaded.
    unsettled: BTreeSet<Pair>,
    servers: Option<Demultiplexer>,
    transport: Transport,
    delays: setup::Transport,
    /// The path that was determined last.
    path: Vec<LinkId>,
    moving: Moving,
}

/// Workspace of a move.
#[derive(Clone, Debug, Default)]
struct Moving {
    ends: Vec<Pair>,
    flows: Vec<FlowId>,
    /// By rack: whether pairs that include it move.
    marked: Vec<bool>,
}

/// The servers of a flow.
pub fn ends(flow: FlowId, io: &Io) -> (HostId, HostId) {
    (io.flows.src[flow.index()], io.flows.dst[flow.index()])
}

impl Paths {
    /// No routes, for `flows` flows.
    pub fn new(setup: &Setup, flows: usize) -> Paths {
        let (cluster, tree, hardware) = (setup.cluster, setup.tree.clone(), setup.hardware);
        let servers = { setup.optical_weight }
            .map(|weight| Demultiplexer::new(&tree, hardware.rate, weight, &cluster));
        Paths {
            routes: Routes::default(),
            drained: BTreeSet::new(),
            forwarding: Forwarding::new(hardware, LinkId(tree.links())),
            unsettled: BTreeSet::new(),
            servers,
            transport: Transport::new(flows),
            delays: setup.transport,
            path: Vec::new(),
            moving: Moving {
                marked: vec![false; cluster.racks as usize],
                ..Moving::default()
            },
            cluster,
            hardware,
            tree,
        }
    }

    /// Adds all links to an empty net: the tree's, optical ports, bounds of servers.
    pub fn lay_links(&mut self, net: &mut Net) {
        self.tree.lay(net);
        for _ in 0..self.hardware.columns() {
            net.add_link(self.hardware.rate, LinkKind::Circuit);
        }
        if let Some(servers) = &mut self.servers {
            servers.lay(LinkId(net.links() as u32));
            for _ in 0..servers.bounds() {
                net.add_link(servers.link(), LinkKind::Bound);
            }
        }
    }

    /// The electrical tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Routes in force.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Pairs that are drained, in order.
    pub fn drained(&self) -> Vec<Pair> {
        self.drained.iter().copied().collect()
    }

    /// The rack and the plane of a port, if it is optical.
    pub fn optical_port(&self, port: PortId) -> Option<(u32, u32)> {
        self.forwarding.port_of(LinkId(port.0))
    }

    /// The rate of a link.
    pub fn port_rate(&self, port: PortId) -> Rate {
        let link = LinkId(port.0);
        match self.optical_port(port) {
            Some(_) => self.hardware.rate,
            None if link.0 < self.tree.links() => self.tree.rate(link),
            None => self.servers.as_ref().map_or(Rate(0), Demultiplexer::link),
        }
    }

    /// Corrects the capacity that servers reserve after rates were computed. Returns whether
    /// anything changed.
    pub fn correct(&mut self, round: u32, net: &mut Net) -> bool {
        let servers = self.servers.as_mut();
        servers.is_some_and(|servers| servers.correct(round, net))
    }

    /// Raises the rate of flows that were moved together.
    pub fn rise(&mut self, batch: BatchId, context: &mut Context) {
        if let Some(at) = self.transport.rise(batch, context.now, context.net) {
            context.todo.schedule(at, Event::Rise(batch));
        }
    }

    /// Moves the traffic of pairs to their routes that stay, or to the electrical network, until
    /// their rules are deleted.
    pub fn drain(
        &mut self,
        pairs: &[Pair],
        staying: &Routes,
        switch: &Switch,
        context: &mut Context,
    ) {
        self.drained.extend(pairs);
        let mut moved = pairs.to_vec();
        moved.retain(|&pair| self.routes.narrow(pair, staying));
        self.reroute(&moved, switch, context);
    }

    /// Removes routes over dark circuits; their flows return to the tree.
    pub fn drop_dark_routes(&mut self, switch: &Switch, context: &mut Context) {
        let lost = self.routes.keep_lit(|hop| switch.is_lit(hop));
        self.reroute(&lost, switch, context);
    }

    /// Deletes the rules of these pairs, so that their traffic enters its new routes.
    pub fn admit(
        &mut self,
        pairs: &[Pair],
        routes: Routes,
        switch: &Switch,
        context: &mut Context,
    ) {
        for pair in pairs {
            self.drained.remove(pair);
        }
        self.enter(routes, switch, context);
    }

    /// Puts routes into effect if they are lit and their pairs are not drained.
    pub fn enter(&mut self, mut routes: Routes, switch: &Switch, context: &mut Context) {
        routes.keep_lit(|hop| switch.is_lit(hop));
        for &pair in &self.drained {
            routes.drop_pair(pair);
        }
        let moved = self.routes.differing(&routes);
        self.routes = routes;
        self.reroute(&moved, switch, context);
    }
}
