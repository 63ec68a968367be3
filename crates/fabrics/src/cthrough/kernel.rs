//! The fabric: flows, the manager's timeline, and what fails.
//!
//! Every interval servers report and the manager decides; if the decision takes
//! `computation_delay`, the circuits that are up stay so meanwhile. If it is a new
//! matching, all circuits go dark for `reconfiguration_delay` and the new ones
//! come up. Flows follow: on a circuit while their racks are joined, on the tree
//! otherwise.

use super::config::CThroughConfig;
use super::demultiplex::{Demultiplexer, Vlan};
use super::estimate::Estimator;
use super::manager::Manager;
use super::reconfigure::Switch;
use crate::hybrid::transport::{BatchId, Transport};
use crate::hybrid::tree::Tree;
use lightloom_engine::fair::{LinkId, WEIGHT};
use lightloom_engine::kernel::flow::{FlowKernel, LinkKind, Net, Todo};
use lightloom_engine::{
    Circuit, Cluster, Command, Element, FlowId, HostId, Io, PortId, Rate, Rejected, Shape, Time,
};

/// What happens by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Servers report and the manager decides.
    Tick,
    /// The decision is made: circuits go dark. Void if the term is over.
    Decided(Term),
    /// The switch is set: new circuits come up.
    Set(Term),
    /// Flows that were moved send faster.
    Rise(BatchId),
    /// An optical port breaks.
    PortBreaks(u32),
    /// And works again.
    PortMends(u32),
    /// Servers have not heard of the manager for too long.
    GiveUp(Term),
}

/// Ends when the controller fails or is repaired: what it had begun is void.
type Term = u32;

/// The fabric.
pub struct CThrough {
    config: CThroughConfig,
    cluster: Cluster,
    tree: Tree,
    estimator: Estimator,
    manager: Manager,
    switch: Switch,
    servers: Demultiplexer,
    transport: Transport,
    /// The matching that the switch is being set to.
    decided: Vec<u32>,
    controller_works: bool,
    term: Term,
    path: Vec<LinkId>,
}

impl CThrough {
    /// From a resolved configuration, for as many flows.
    pub fn new(config: &CThroughConfig, cluster: &Cluster, flows: usize) -> CThrough {
        let tree = Tree::new(&config.tree(), cluster);
        let [buffer, queue, change] = [
            config.socket_buffer,
            config.report_queue,
            config.report_change,
        ]
        .map(|b| b.0);
        CThrough {
            estimator: Estimator::new(buffer, queue, change, cluster),
            manager: Manager::new(config.hysteresis.0, config.unrequested),
            switch: Switch::new(cluster.racks),
            servers: Demultiplexer::new(
                tree.nic(),
                config.circuit_rate,
                config.optical_weight,
                cluster.racks,
                cluster.servers_per_rack,
            ),
            transport: Transport::new(flows),
            decided: Vec::new(),
            controller_works: true,
            term: 0,
            path: Vec::new(),
            config: config.clone(),
            cluster: *cluster,
            tree,
        }
    }

    /// Queues that servers have reported so far.
    pub fn reported(&self) -> u64 {
        self.estimator.reported()
    }

    /// The link of a rack's optical port, outwards.
    fn port(&self, rack: u32) -> LinkId {
        LinkId(self.tree.links() + rack)
    }

    fn ends(&self, flow: FlowId, io: &Io) -> (HostId, HostId) {
        (io.flows.src[flow.index()], io.flows.dst[flow.index()])
    }

    /// The network that leads from rack `a` to rack `b` now.
    fn vlan(&self, a: u32, b: u32) -> Vlan {
        match self.switch.joins(a, b) {
            true => Vlan::Optical,
            false => Vlan::Electrical,
        }
    }

    /// Lays out `self.path`.
    fn lead(&mut self, src: HostId, dst: HostId, vlan: Vlan) {
        let (a, b) = (self.cluster.rack_of(src), self.cluster.rack_of(dst));
        self.path.clear();
        self.path.extend(self.tree.from_server(src));
        match vlan {
            Vlan::Optical => self.path.push(self.port(a)),
            Vlan::Electrical => {
                self.path.extend(self.servers.bound(src));
                self.path.extend(self.tree.between(a, b));
            }
        }
        self.path.extend(self.tree.to_server(dst));
    }

    /// Moves flows that are open from the one network to the other.
    fn move_to(&mut self, vlan: Vlan, flows: &[FlowId], io: &Io, net: &mut Net) {
        let from = match vlan {
            Vlan::Optical => Vlan::Electrical,
            Vlan::Electrical => Vlan::Optical,
        };
        for &flow in flows {
            let (src, dst) = self.ends(flow, io);
            self.lead(src, dst, vlan);
            net.reroute(flow, &self.path);
            self.servers.leave(src, from, net);
            self.servers.join(src, vlan, net);
        }
    }

    /// Every server shows its connections; the manager matches racks.
    fn decide(&mut self, io: &Io, net: &Net) -> Vec<u32> {
        for rack in 0..self.cluster.racks {
            let tree = net.flows_over(self.tree.from_rack(rack));
            for flow in tree.chain(net.flows_over(self.port(rack))) {
                let (src, dst) = self.ends(flow, io);
                let to = self.cluster.rack_of(dst);
                self.estimator.connection(src, to, net.remaining(flow));
            }
        }
        let demand = self.estimator.report();
        let (joined, works) = (self.switch.joined(), self.switch.works());
        self.manager.decide(&demand, joined, works)
    }

    fn tick(&mut self, now: Time, io: &Io, net: &Net, todo: &mut Todo<Event>) {
        todo.schedule(now + self.config.interval, Event::Tick);
        if !self.controller_works {
            return;
        }
        let mates = self.decide(io, net);
        if mates != self.switch.joined() {
            self.decided = mates;
            let at = now + self.config.computation_delay;
            todo.schedule(at, Event::Decided(self.term));
        }
    }

    /// All circuits go dark; their flows fall back to the tree.
    fn darken(&mut self, now: Time, io: &Io, net: &mut Net, todo: &mut Todo<Event>) {
        for circuit in self.switch.darken(now) {
            self.fall_back(circuit, now, io, net, todo);
        }
    }

    fn fall_back(
        &mut self,
        (a, b): (u32, u32),
        now: Time,
        io: &Io,
        net: &mut Net,
        todo: &mut Todo<Event>,
    ) {
        let over = |rack| net.flows_over(self.port(rack));
        let flows: Vec<FlowId> = over(a).chain(over(b)).collect();
        self.move_to(Vlan::Electrical, &flows, io, net);
        self.rise(flows, self.config.dip, now, net, todo);
    }

    /// The switch is set: flows between joined racks take their circuit.
    fn light(&mut self, now: Time, io: &Io, net: &mut Net, todo: &mut Todo<Event>) {
        let mates = std::mem::take(&mut self.decided);
        for (a, b) in self.switch.light(&mates, now) {
            let mut flows = Vec::new();
            for (from, to) in [(a, b), (b, a)] {
                let here = net.flows_over(self.tree.from_rack(from));
                flows.extend(here.filter(|&f| self.cluster.rack_of(self.ends(f, io).1) == to));
            }
            self.move_to(Vlan::Optical, &flows, io, net);
            self.rise(flows, self.config.ramp, now, net, todo);
        }
    }

    fn rise(
        &mut self,
        flows: Vec<FlowId>,
        span: Time,
        now: Time,
        net: &mut Net,
        todo: &mut Todo<Event>,
    ) {
        if let Some((batch, at)) = self.transport.moved(flows, span, now, net) {
            todo.schedule(at, Event::Rise(batch));
        }
    }

    fn controller(&mut self, works: bool, now: Time, todo: &mut Todo<Event>) {
        if works == self.controller_works {
            return;
        }
        self.controller_works = works;
        self.term += 1;
        if !works {
            let at = now + self.config.controller_timeout;
            todo.schedule(at, Event::GiveUp(self.term));
        }
    }

    /// The rack whose port it is, or why there is none.
    fn rack_of_port(&self, node: u32, plane: u32) -> Result<u32, Rejected> {
        let limit = match (node < self.cluster.racks, plane) {
            (true, 0) => return Ok(node),
            (true, _) => "c-Through has one optical switch, plane 0".to_owned(),
            (false, _) => format!("the racks are 0 to {}", self.cluster.racks - 1),
        };
        Err(Rejected(limit))
    }
}

impl FlowKernel for CThrough {
    type Event = Event;

    fn shape(&self) -> Shape {
        let circuits = self
            .config
            .circuit_rate
            .0
            .saturating_mul(self.cluster.racks as u64);
        Shape {
            hosts: self.cluster.hosts(),
            racks: self.cluster.racks,
            host_rate: self.cluster.server_rate,
            link_capacity: Rate(self.tree.capacity().0.saturating_add(circuits)),
        }
    }

    fn begin(&mut self, net: &mut Net, todo: &mut Todo<Event>) {
        self.tree.lay(net);
        for _ in 0..self.cluster.racks {
            net.add_link(self.config.circuit_rate, LinkKind::Circuit);
        }
        self.servers.lay(self.port(self.cluster.racks));
        for _ in 0..self.servers.bounds() {
            net.add_link(self.servers.link(), LinkKind::Bound);
        }
        todo.schedule(self.config.interval, Event::Tick);
    }

    fn arrive(&mut self, flow: FlowId, _: Time, io: &mut Io, net: &mut Net, _: &mut Todo<Event>) {
        let (src, dst) = self.ends(flow, io);
        let vlan = self.vlan(self.cluster.rack_of(src), self.cluster.rack_of(dst));
        self.lead(src, dst, vlan);
        // Within a rack, where servers' links do not limit, nothing is shared.
        let limit = self.path.is_empty().then(|| self.cluster.rack_rate());
        let bytes = io.flows.bytes[flow.index()];
        net.open(flow, bytes, &self.path, WEIGHT, limit);
        self.servers.join(src, vlan, net);
    }

    fn complete(&mut self, flow: FlowId, _: Time, io: &mut Io, net: &mut Net, _: &mut Todo<Event>) {
        let (src, dst) = self.ends(flow, io);
        let vlan = self.vlan(self.cluster.rack_of(src), self.cluster.rack_of(dst));
        self.servers.leave(src, vlan, net);
    }

    fn handle(
        &mut self,
        now: Time,
        event: Event,
        io: &mut Io,
        net: &mut Net,
        todo: &mut Todo<Event>,
    ) {
        match event {
            Event::Tick => self.tick(now, io, net, todo),
            Event::Decided(term) if term == self.term => {
                self.darken(now, io, net, todo);
                let at = now + self.config.reconfiguration_delay;
                todo.schedule(at, Event::Set(term));
            }
            Event::Set(term) if term == self.term => self.light(now, io, net, todo),
            Event::GiveUp(term) if term == self.term => self.darken(now, io, net, todo),
            Event::Decided(_) | Event::Set(_) | Event::GiveUp(_) => {}
            Event::Rise(batch) => {
                if let Some(at) = self.transport.rise(batch, now, net) {
                    todo.schedule(at, event);
                }
            }
            Event::PortMends(rack) => self.switch.mend_port(rack),
            Event::PortBreaks(rack) => {
                if let Some(circuit) = self.switch.break_port(rack, now) {
                    self.fall_back(circuit, now, io, net, todo);
                }
            }
        }
    }

    fn apply(
        &mut self,
        command: Command,
        now: Time,
        _: &mut Net,
        todo: &mut Todo<Event>,
    ) -> Result<(), Rejected> {
        match command {
            Command::Fail { loss, .. } if loss < 1.0 => {
                return Err(Rejected(format!(
                    "circuits and the manager fail wholly, not with loss {loss}; set its loss to 1"
                )));
            }
            Command::Fail {
                element: Element::Controller,
                ..
            } => self.controller(false, now, todo),
            Command::Repair(Element::Controller) => self.controller(true, now, todo),
            Command::Fail {
                element: Element::Port { node, plane },
                ..
            } => {
                let rack = self.rack_of_port(node, plane)?;
                todo.schedule(now, Event::PortBreaks(rack));
            }
            Command::Repair(Element::Port { node, plane }) => {
                let rack = self.rack_of_port(node, plane)?;
                todo.schedule(now, Event::PortMends(rack));
            }
            Command::Fail { .. } | Command::Repair(_) => {
                let limit = "only the controller and optical ports of racks can fail in c-Through";
                return Err(Rejected(limit.to_owned()));
            }
        }
        Ok(())
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        let (a, b) = (self.cluster.rack_of(src), self.cluster.rack_of(dst));
        let tree = self.tree.narrowest(a, b);
        if a == b {
            return tree.time_for(bytes);
        }
        let circuit = self.tree.nic().unwrap_or(self.config.circuit_rate);
        tree.max(circuit.min(self.config.circuit_rate))
            .time_for(bytes)
    }

    fn lit(&self, tx: PortId, _: PortId, at: Time) -> bool {
        let racks = self.port(0).0..self.port(self.cluster.racks).0;
        !racks.contains(&tx.0) || self.switch.was_lit(tx.0 - racks.start, at)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        let link = LinkId(tx.0);
        match link {
            link if link < self.port(0) => self.tree.rate(link),
            link if link < self.port(self.cluster.racks) => self.config.circuit_rate,
            _ => self.servers.link(),
        }
    }

    fn circuits(&self, now: Time) -> Vec<Circuit> {
        self.switch.circuits(now)
    }
}
