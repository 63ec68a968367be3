//! A hybrid network: flows that move at their max-min fair rates over circuits and an
//! electrical tree, and the host of the controller that decides about circuits.
//!
//! The controller is the one that testbeds and real switches run
//! ([`lightloom_control::controller`]); here its actions are carried out in simulated
//! time: the [`Switch`] knows light and delays, [`Forwarding`] who goes where, this file
//! what becomes of flows. A controller that fails hears nothing until it is repaired,
//! what it had begun is void, and then it is told what its host found.

use super::computation::{Timed, Times};
use super::days::Days;
use super::demultiplex::Demultiplexer;
use super::forwarding::Forwarding;
use super::meter::Meter;
use super::port_failures::PortFailures;
use super::setup::{GiveUp, Setup};
use super::switch::Switch;
use super::transport::{BatchId, Transport};
use super::tree::Tree;
use lightloom_control::controller::{Action, Controller, Input, StepId};
use lightloom_control::demand::{Estimation, Estimator};
use lightloom_control::hardware::Hardware;
use lightloom_control::log::Log;
use lightloom_control::policy::{Policy, Target};
use lightloom_control::routes::{Pair, Routes};
use lightloom_control::schedule::Schedule;
use lightloom_engine::fair::{LinkId, WEIGHT};
use lightloom_engine::kernel::flow::{FlowKernel, LinkKind, Net, Todo};
use lightloom_engine::{
    Circuit as Lit, Cluster, Command, ControlRecord, Element, FlowId, HostId, Io, LinkLoad, PortId,
    Rate, Refusal, Rejected, Reports, Shape, Time,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// What happens by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The controller wanted to be woken.
    Wake,
    /// A step of a change is carried out; void if it was forgotten.
    Ends(StepId),
    /// A night of the schedule of that number begins, and its day.
    Night(u32),
    /// See above.
    Day(u32),
    /// Flows that were moved send faster.
    Rise(BatchId),
    /// Pairs with several routes have their flows spread over them.
    Spread,
    /// An optical port breaks.
    PortBreaks(u32, u32),
    /// Servers have heard nothing of the controller for too long, in this term.
    GiveUp(u32),
}

/// The fabric.
pub struct Hybrid {
    pub(super) title: &'static str,
    pub(super) cluster: Cluster,
    pub(super) tree: Tree,
    pub(super) hardware: Hardware,
    pub(super) delays: super::setup::Transport,
    pub(super) give_up: Option<GiveUp>,
    pub(super) controller: Controller<Box<dyn Policy>>,
    /// Of the policy, if it could not decide: then nobody decides any more.
    pub(super) trouble: Option<Refusal>,
    pub(super) controller_works: bool,
    /// Counts failures of the controller and repairs.
    pub(super) term: u32,
    /// Servers have left the circuits, until the controller is back.
    pub(super) given_up: bool,
    /// Its policy's table, for the log.
    pub(super) policy: Value,
    pub(super) log: Option<Log>,
    /// What is lit, or followed, when the loop begins.
    initial: Option<Target>,
    /// What the controller heard when the loop began, and asked for.
    pub(super) opening: (Input, Vec<Action>),
    /// What decisions took, if it was measured or had been.
    pub(super) times: Option<Times>,
    pub(super) switch: Switch,
    port_failures: PortFailures,
    /// That is followed, and where it is; nowhere, if it has no slots.
    pub(super) schedule: Option<Schedule>,
    pub(super) days: Option<Days>,
    pub(super) schedules: u32,
    /// In force.
    pub(super) routes: Routes,
    /// Pairs that rules lead to the electrical network, whatever routes there are.
    pub(super) drained: BTreeSet<Pair>,
    pub(super) forwarding: Forwarding,
    /// Pairs of racks, from one to the other, whose routes may no longer be evenly busy.
    pub(super) unsettled: BTreeSet<Pair>,
    pub(super) meter: Meter,
    /// What servers tell the controller, whatever they have.
    #[cfg(test)]
    pub(super) told: Option<std::sync::Arc<std::sync::Mutex<lightloom_control::demand::Report>>>,
    pub(super) servers: Option<Demultiplexer>,
    pub(super) transport: Transport,
    pub(super) path: Vec<LinkId>,
    pub(super) moving: Moving,
}

/// Room for what a move works with.
#[derive(Clone, Debug, Default)]
pub(super) struct Moving {
    pub(super) ends: Vec<Pair>,
    pub(super) flows: Vec<FlowId>,
    /// By rack: whether pairs with it move.
    pub(super) marked: Vec<bool>,
}

/// Everything that an event may touch, beside the kernel.
pub(super) struct Context<'a> {
    pub(super) now: Time,
    pub(super) io: &'a Io,
    pub(super) net: &'a mut Net,
    pub(super) todo: &'a mut Todo<Event>,
}

impl Hybrid {
    /// A hybrid network for so many flows.
    pub fn new(setup: Setup, flows: usize) -> Hybrid {
        let Setup {
            cluster,
            tree,
            hardware,
            monitoring,
            ..
        } = setup;
        let servers = setup
            .optical_weight
            .map(|weight| Demultiplexer::new(&tree, hardware.rate, weight, &cluster));
        let estimation = Estimation {
            racks: cluster.racks,
            reporters_per_rack: cluster.servers_per_rack,
            thresholds: monitoring.thresholds,
            smoothing: monitoring.smoothing,
            most: monitoring.most,
        };
        let estimator = Estimator::new(estimation);
        let interval = setup.timing.interval;
        let (policy, times) = Timed::wrap(setup.policy, &setup.computation, Some(interval));
        let mut controller = Controller::new(policy, hardware, setup.timing, estimator);
        if let Some(order) = setup.order {
            controller = controller.with_order(order);
        }
        Hybrid {
            title: setup.title,
            controller,
            policy: setup.described,
            log: None,
            initial: setup.initial,
            opening: (Input::Tick, Vec::new()),
            times,
            trouble: None,
            controller_works: true,
            term: 0,
            given_up: false,
            switch: Switch::new(hardware, setup.delays, cluster.servers_per_rack),
            port_failures: PortFailures::new(hardware),
            schedule: None,
            days: None,
            schedules: 0,
            routes: Routes::default(),
            drained: BTreeSet::new(),
            forwarding: Forwarding::new(hardware, LinkId(tree.links())),
            unsettled: BTreeSet::new(),
            meter: Meter::new(&monitoring, &cluster, flows),
            #[cfg(test)]
            told: None,
            servers,
            transport: Transport::new(flows),
            path: Vec::new(),
            moving: Moving {
                marked: vec![false; cluster.racks as usize],
                ..Moving::default()
            },
            delays: setup.transport,
            give_up: setup.give_up,
            cluster,
            tree,
            hardware,
        }
    }

    /// The controller.
    pub fn controller(&self) -> &Controller<Box<dyn Policy>> {
        &self.controller
    }

    /// Routes in force.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// A port works no more, or works again.
    fn set_port(&mut self, rack: u32, plane: u32, works: bool, now: Time, todo: &mut Todo<Event>) {
        if works {
            self.switch.mend_port(rack, plane);
            self.tell_at_once(Input::PortUp(rack, plane), now, todo);
        } else {
            todo.schedule(now, Event::PortBreaks(rack, plane));
        }
    }

    fn check_port(&self, rack: u32, plane: u32) -> Result<(), Rejected> {
        if rack < self.hardware.racks && plane < self.hardware.planes {
            return Ok(());
        }
        Err(Rejected(format!(
            "the racks are 0 to {}, the planes 0 to {}",
            self.hardware.racks - 1,
            self.hardware.planes - 1
        )))
    }
}

pub(super) fn ends(flow: FlowId, io: &Io) -> (HostId, HostId) {
    (io.flows.src[flow.index()], io.flows.dst[flow.index()])
}

impl FlowKernel for Hybrid {
    type Event = Event;

    fn begin(&mut self, net: &mut Net, todo: &mut Todo<Event>) {
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
        let opening = match self.initial.take() {
            Some(initial) => self.begin_with(initial, net, todo),
            None => Input::Tick,
        };
        self.begin_loop(opening, todo);
    }

    fn arrive(
        &mut self,
        flow: FlowId,
        now: Time,
        io: &mut Io,
        net: &mut Net,
        todo: &mut Todo<Event>,
    ) {
        let vlan = self.lay_path(flow, false, io, net);
        // Within a rack, where servers' links do not limit, nothing is shared.
        let limit = self.path.is_empty().then(|| self.tree.rack());
        let bytes = io.flows.bytes[flow.index()];
        net.open(flow, bytes, &self.path, WEIGHT, limit);
        self.delay(flow, vlan, io, net);
        self.meter.begin(flow, bytes);
        if let Some(servers) = &mut self.servers {
            servers.join(ends(flow, io), vlan, net);
        }
        self.unsettle(net.path(flow), now, todo);
    }

    fn complete(
        &mut self,
        flow: FlowId,
        now: Time,
        io: &mut Io,
        net: &mut Net,
        todo: &mut Todo<Event>,
    ) {
        self.unsettle(net.path(flow), now, todo);
        let (src, dst) = ends(flow, io);
        self.meter.end(flow, src, dst);
        if self.servers.is_none() {
            return;
        }
        let vlan = self.vlan_of(net.path(flow));
        if let Some(servers) = &mut self.servers {
            servers.leave((src, dst), vlan, net);
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
        let context = &mut Context { now, io, net, todo };
        match event {
            Event::Wake => self.tell(Input::Tick, context),
            Event::Ends(step) => {
                if let Some(action) = self.switch.end(step) {
                    self.do_now(action, context);
                    self.tell(Input::Done(step), context);
                }
            }
            Event::Night(number) if self.schedules == number => self.dusk(number, context),
            Event::Day(number) if self.schedules == number => self.day(number, context),
            Event::GiveUp(term) if term == self.term => self.give_up(context),
            Event::Night(_) | Event::Day(_) | Event::GiveUp(_) => {}
            Event::Rise(batch) => {
                if let Some(at) = self.transport.rise(batch, now, context.net) {
                    context.todo.schedule(at, event);
                }
            }
            Event::Spread => self.spread(context),
            Event::PortBreaks(rack, plane) => self.break_port(rack, plane, context),
        }
    }

    fn solved(&mut self, round: u32, net: &mut Net) -> bool {
        let servers = self.servers.as_mut();
        servers.is_some_and(|servers| servers.correct(round, net))
    }

    fn apply(
        &mut self,
        command: Command,
        now: Time,
        _: &mut Net,
        todo: &mut Todo<Event>,
    ) -> Result<(), Rejected> {
        let (element, works) = match command {
            Command::Fail { loss, .. } if loss < 1.0 => {
                return Err(Rejected(format!(
                    "circuits and the controller fail wholly, not with loss {loss}; set its loss to 1"
                )));
            }
            Command::Fail { element, .. } => (element, false),
            Command::Repair(element) => (element, true),
        };
        match element {
            Element::Controller => self.set_controller(works, now, todo),
            Element::Port { node, plane } => {
                self.check_port(node, plane)?;
                if self.port_failures.set_port(node, plane, !works) {
                    self.set_port(node, plane, works, now, todo);
                }
            }
            Element::Plane(plane) => {
                self.check_port(0, plane)?;
                for node in self.port_failures.set_plane(plane, !works) {
                    self.set_port(node, plane, works, now, todo);
                }
            }
            _ => {
                return Err(Rejected(format!(
                    "only the controller, planes and optical ports of racks can fail in {}",
                    self.title
                )));
            }
        }
        Ok(())
    }
}

impl Reports for Hybrid {
    fn shape(&self) -> Shape {
        let ports = self.hardware.columns() as u64;
        let circuits = self.hardware.rate.0.saturating_mul(ports);
        Shape {
            hosts: self.cluster.hosts(),
            racks: self.cluster.racks,
            host_rate: self.cluster.server_rate,
            link_capacity: Rate(self.tree.capacity().0.saturating_add(circuits)),
        }
    }

    fn link_loads(&self, carried: &[u64]) -> Vec<LinkLoad> {
        self.tree.loads(carried)
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        let (a, b) = (self.cluster.rack_of(src), self.cluster.rack_of(dst));
        if a == b {
            return self.tree.soonest(src, dst, bytes);
        }
        let tree = self.tree.narrowest(a, b);
        let nic = self.tree.nic().unwrap_or(self.hardware.rate);
        let lit = nic.min(self.hardware.rate);
        // Whichever path its last packet takes.
        let over_one = self.tree.beyond_over(bytes, 1);
        let beyond = self.tree.beyond(bytes, a, b).min(over_one);
        tree.max(lit).time_for(bytes) + beyond.unwrap_or_default()
    }

    fn lit(&self, tx: PortId, _: PortId, at: Time) -> bool {
        let port = self.forwarding.port_of(LinkId(tx.0));
        port.is_none_or(|(rack, plane)| self.switch.was_lit(rack, plane, at))
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        let link = LinkId(tx.0);
        match self.forwarding.port_of(link) {
            Some(_) => self.hardware.rate,
            None if link.0 < self.tree.links() => self.tree.rate(link),
            None => self.servers.as_ref().map_or(Rate(0), Demultiplexer::link),
        }
    }

    fn circuits(&self, now: Time) -> Vec<Lit> {
        self.switch.circuits(now)
    }

    fn trouble(&self) -> Option<&Refusal> {
        self.trouble.as_ref()
    }

    fn record_control(&mut self, label: &str) {
        self.begin_log(label);
    }

    fn control_record(&mut self) -> Option<ControlRecord> {
        Some(self.end_log())
    }
}
