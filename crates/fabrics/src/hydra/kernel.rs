//! The fabric: flows on their paths, the control cycle (§III.B), failures.

use super::config::{DemandFrom, HydraConfig};
use super::controller::Controller;
use super::demand::{add, Between, Monitor, Rule};
use super::routes::Routes;
use crate::hybrid::recorder::Recorder;
use crate::hybrid::transport::{BatchId, Transport};
use crate::hybrid::tree::Tree;
use lightloom_control::multihop::Hardware;
use lightloom_engine::fair::{LinkId, WEIGHT};
use lightloom_engine::kernel::flow::{FlowKernel, LinkKind, Net, Todo};
use lightloom_engine::{
    Circuit, Cluster, Command, Element, FlowId, HostId, Io, PortId, Rate, Refusal, Rejected, Shape,
    Time,
};

/// What happens by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A control cycle is due.
    Tick,
    /// The topology is found. Void, like what follows from it, if the term is over.
    Decided(Term),
    /// 3-1 is done: affected traffic is on the tree.
    Left(Term),
    /// The mirrors have settled and links are up.
    Lit(Term),
    /// 3-3 is done: traffic enters the new paths.
    Entered(Term),
    /// Flows that were moved send faster.
    Rise(BatchId),
    /// An optical port breaks.
    PortBreaks(u32, u32),
    /// The controller has been silent for so long that servers leave the circuits.
    GiveUp(Term),
}

/// Ends when the controller fails or is repaired: what it had begun is void.
type Term = u32;

/// The fabric.
pub struct Hydra {
    pub(super) config: HydraConfig,
    pub(super) cluster: Cluster,
    tree: Tree,
    rule: Rule,
    monitor: Monitor,
    pub(super) controller: Controller,
    pub(super) record: Recorder,
    transport: Transport,
    /// In force.
    pub(super) routes: Routes,
    /// What the cycle under way leads to.
    pub(super) next: Routes,
    pub(super) busy: bool,
    /// A cycle became due during another.
    pub(super) due: bool,
    controller_works: bool,
    pub(super) term: Term,
    path: Vec<LinkId>,
}

impl Hydra {
    /// From a resolved configuration, for as many flows.
    ///
    /// # Errors
    /// If there is no such hardware.
    pub fn new(config: &HydraConfig, cluster: &Cluster, flows: usize) -> Result<Hydra, Refusal> {
        let rate = config.circuit_rate;
        let hardware = Hardware::new(cluster.racks, config.planes, rate.0 as i64);
        Ok(Hydra {
            tree: Tree::new(&config.tree(), cluster),
            rule: Rule {
                from: config.demand,
                need: config.need,
                threshold: config.threshold.0,
                interval: config.interval,
                circuit: rate,
                planes: config.planes,
            },
            monitor: Monitor::new(flows),
            controller: Controller::new(
                hardware,
                config.hops,
                config.reconfigure,
                config.vlans as usize,
            )?,
            record: Recorder::new(cluster.racks, config.planes as u16),
            transport: Transport::new(flows),
            routes: Routes::default(),
            next: Routes::default(),
            busy: false,
            due: false,
            controller_works: true,
            term: 0,
            path: Vec::new(),
            config: config.clone(),
            cluster: *cluster,
        })
    }

    /// The paths in force.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The link of an optical port, outwards.
    fn port(&self, rack: u32, plane: u32) -> LinkId {
        LinkId(self.tree.links() + plane * self.cluster.racks + rack)
    }

    fn ends(&self, flow: FlowId, io: &Io) -> (HostId, HostId) {
        (io.flows.src[flow.index()], io.flows.dst[flow.index()])
    }

    fn racks(&self, flow: FlowId, io: &Io) -> (u32, u32) {
        let (src, dst) = self.ends(flow, io);
        (self.cluster.rack_of(src), self.cluster.rack_of(dst))
    }

    /// Lays out `self.path`: over circuits where there is a path of them.
    fn lead(&mut self, flow: FlowId, io: &Io) {
        let (src, dst) = self.ends(flow, io);
        let (a, b) = self.racks(flow, io);
        self.path.clear();
        self.path.extend(self.tree.from_server(src));
        let routes = self.routes.between(a, b);
        if routes.is_empty() || a == b {
            self.path.extend(self.tree.between(a, b));
        } else {
            let ports = routes[flow.index() % routes.len()].ports(a);
            let first = self.tree.links();
            let link = |(rack, plane)| LinkId(first + plane * self.cluster.racks + rack);
            self.path.extend(ports.map(link));
        }
        self.path.extend(self.tree.to_server(dst));
    }

    /// Open flows between racks, in an order that is the same in every run.
    fn between_racks(&self, io: &Io, net: &Net) -> Vec<FlowId> {
        let mut flows = Vec::new();
        for rack in 0..self.cluster.racks {
            flows.extend(net.flows_over(self.tree.from_rack(rack)));
            for plane in 0..self.config.planes {
                let over = net.flows_over(self.port(rack, plane));
                flows.extend(over.filter(|&f| self.racks(f, io).0 == rack));
            }
        }
        flows
    }

    /// Leads open flows along the paths now in force; those that move recover.
    pub(super) fn follow(&mut self, now: Time, io: &Io, net: &mut Net, todo: &mut Todo<Event>) {
        let mut moved = Vec::new();
        for flow in self.between_racks(io, net) {
            self.lead(flow, io);
            if net.path(flow) == self.path {
                continue;
            }
            net.reroute(flow, &self.path);
            moved.push(flow);
        }
        let span = self.config.transport_recovery;
        if let Some((batch, at)) = self.transport.moved(moved, span, now, net) {
            todo.schedule(at, Event::Rise(batch));
        }
    }

    /// Step 1.
    fn demand(&mut self, io: &Io, net: &Net) -> Between {
        let mut between = self.monitor.closed();
        for flow in self.between_racks(io, net) {
            let (a, b) = self.racks(flow, io);
            let left = net.remaining(flow);
            let bytes = match self.config.demand {
                DemandFrom::Announced => left,
                DemandFrom::Monitored => self.monitor.sent(flow, left),
            };
            add(&mut between, a, b, bytes);
        }
        between
    }

    /// Steps 1 and 2; step 3 follows if anything changes.
    pub(super) fn cycle(&mut self, now: Time, io: &Io, net: &Net, todo: &mut Todo<Event>) {
        let between = self.demand(io, net);
        let demands = self.rule.demands(&between);
        self.next = self.controller.decide(&demands);
        let dark = self.controller.circuits().any(|c| !self.is_lit(c));
        if self.next == self.routes && !dark {
            return;
        }
        self.busy = true;
        let at = now + self.config.computation_delay;
        todo.schedule(at, Event::Decided(self.term));
    }

    pub(super) fn is_lit(&self, (a, b, plane): (u32, u32, u32)) -> bool {
        self.record.peer(a, plane as u16) == Some(b)
    }

    fn tick(&mut self, now: Time, io: &Io, net: &Net, todo: &mut Todo<Event>) {
        todo.schedule(now + self.config.interval, Event::Tick);
        match (self.controller_works, self.busy) {
            (false, _) => {}
            (true, true) => self.due = true,
            (true, false) => self.cycle(now, io, net, todo),
        }
    }

    pub(super) fn keep_lit(&mut self) -> bool {
        let record = &self.record;
        let lit = |a, b, plane: u32| record.peer(a, plane as u16) == Some(b);
        !self.routes.keep_lit(lit).is_empty()
    }

    fn break_port(
        &mut self,
        rack: u32,
        plane: u32,
        now: Time,
        io: &Io,
        net: &mut Net,
        todo: &mut Todo<Event>,
    ) {
        self.controller.port(rack, plane, false);
        self.record.down(rack, plane as u16, now);
        if self.keep_lit() {
            self.follow(now, io, net, todo);
        }
    }

    fn set_controller(&mut self, works: bool, now: Time, todo: &mut Todo<Event>) {
        if works == self.controller_works {
            return;
        }
        self.controller_works = works;
        self.term += 1;
        self.busy = false;
        self.due = false;
        if let (false, Some(timeout)) = (works, self.config.controller_timeout) {
            todo.schedule(now + timeout, Event::GiveUp(self.term));
        }
    }

    /// All traffic to the tree; circuits stay lit, and empty.
    fn give_up(&mut self, now: Time, io: &Io, net: &mut Net, todo: &mut Todo<Event>) {
        self.routes = Routes::default();
        self.follow(now, io, net, todo);
    }

    fn check_port(&self, rack: u32, plane: u32) -> Result<(), Rejected> {
        if rack < self.cluster.racks && plane < self.config.planes {
            return Ok(());
        }
        Err(Rejected(format!(
            "the racks are 0 to {}, the planes 0 to {}",
            self.cluster.racks - 1,
            self.config.planes - 1
        )))
    }
}

impl FlowKernel for Hydra {
    type Event = Event;

    fn shape(&self) -> Shape {
        let ports = self.cluster.racks as u64 * self.config.planes as u64;
        let circuits = self.config.circuit_rate.0.saturating_mul(ports);
        Shape {
            hosts: self.cluster.hosts(),
            racks: self.cluster.racks,
            host_rate: self.cluster.server_rate,
            link_capacity: Rate(self.tree.capacity().0.saturating_add(circuits)),
        }
    }

    fn begin(&mut self, net: &mut Net, todo: &mut Todo<Event>) {
        self.tree.lay(net);
        for _ in 0..self.cluster.racks * self.config.planes {
            net.add_link(self.config.circuit_rate, LinkKind::Circuit);
        }
        todo.schedule(self.config.interval, Event::Tick);
    }

    fn arrive(&mut self, flow: FlowId, _: Time, io: &mut Io, net: &mut Net, _: &mut Todo<Event>) {
        self.lead(flow, io);
        // Within a rack, where servers' links do not limit, nothing is shared.
        let limit = self.path.is_empty().then(|| self.cluster.rack_rate());
        let bytes = io.flows.bytes[flow.index()];
        net.open(flow, bytes, &self.path, WEIGHT, limit);
        self.monitor.begin(flow, bytes);
    }

    fn complete(&mut self, flow: FlowId, _: Time, io: &mut Io, _: &mut Net, _: &mut Todo<Event>) {
        if self.config.demand == DemandFrom::Monitored {
            let (a, b) = self.racks(flow, io);
            self.monitor.end(flow, a, b);
        }
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
            Event::Decided(term) if term == self.term => self.decided(now, todo),
            Event::Left(term) if term == self.term => self.left(now, io, net, todo),
            Event::Lit(term) if term == self.term => self.light(now),
            Event::Entered(term) if term == self.term => self.entered(now, io, net, todo),
            Event::GiveUp(term) if term == self.term => self.give_up(now, io, net, todo),
            Event::Decided(_)
            | Event::Left(_)
            | Event::Lit(_)
            | Event::Entered(_)
            | Event::GiveUp(_) => {}
            Event::Rise(batch) => {
                if let Some(at) = self.transport.rise(batch, now, net) {
                    todo.schedule(at, event);
                }
            }
            Event::PortBreaks(rack, plane) => self.break_port(rack, plane, now, io, net, todo),
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
                    "circuits and the controller fail wholly, not with loss {loss}; set its loss to 1"
                )));
            }
            Command::Fail {
                element: Element::Controller,
                ..
            } => self.set_controller(false, now, todo),
            Command::Repair(Element::Controller) => self.set_controller(true, now, todo),
            Command::Fail {
                element: Element::Port { node, plane },
                ..
            } => {
                self.check_port(node, plane)?;
                todo.schedule(now, Event::PortBreaks(node, plane));
            }
            Command::Repair(Element::Port { node, plane }) => {
                self.check_port(node, plane)?;
                self.controller.port(node, plane, true);
            }
            Command::Fail { .. } | Command::Repair(_) => {
                let limit = "only the controller and optical ports of racks can fail in HydRA";
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
        let nic = self.tree.nic().unwrap_or(self.config.circuit_rate);
        let circuit = nic.min(self.config.circuit_rate);
        tree.max(circuit).time_for(bytes)
    }

    fn lit(&self, tx: PortId, _: PortId, at: Time) -> bool {
        let first = self.port(0, 0).0;
        if tx.0 < first {
            return true;
        }
        let (rack, plane) = (
            (tx.0 - first) % self.cluster.racks,
            (tx.0 - first) / self.cluster.racks,
        );
        self.record.was_lit(rack, plane as u16, at)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        match LinkId(tx.0) {
            link if link < self.port(0, 0) => self.tree.rate(link),
            _ => self.config.circuit_rate,
        }
    }

    fn circuits(&self, now: Time) -> Vec<Circuit> {
        self.record.circuits(now)
    }
}
