//! A hybrid network: flows that move at their max-min fair rates over circuits and an
//! electrical tree, and the host of the controller that decides about circuits.
//!
//! The controller is the one that testbeds and real switches run
//! ([`lightloom_control::controller`]); here its actions are carried out in simulated
//! time: the [`Switch`] knows light and delays, [`Forwarding`] who goes where, this file
//! what becomes of flows. A controller that fails hears nothing until it is repaired,
//! what it had begun is void, and then it is told what its host found.

use super::days::Days;
use super::demultiplex::{Demultiplexer, Vlan};
use super::forwarding::Forwarding;
use super::meter::Meter;
use super::setup::{GiveUp, Setup};
use super::switch::Switch;
use super::transport::{BatchId, Transport};
use super::tree::Tree;
use lightloom_control::circuits::Circuits;
use lightloom_control::controller::{Action, Controller, Found, Input, StepId};
use lightloom_control::demand::Estimator;
use lightloom_control::hardware::Hardware;
use lightloom_control::policy::Policy;
use lightloom_control::routes::{Pair, Routes};
use lightloom_control::schedule::Schedule;
use lightloom_engine::fair::{LinkId, WEIGHT};
use lightloom_engine::kernel::flow::{FlowKernel, LinkKind, Net, Todo};
use lightloom_engine::{
    Circuit as Lit, Cluster, Command, Element, FlowId, HostId, Io, PortId, Rate, Refusal, Rejected,
    Shape, Time,
};
use std::collections::VecDeque;

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
    /// An optical port breaks.
    PortBreaks(u32, u32),
    /// Servers have heard nothing of the controller for too long, in this term.
    GiveUp(u32),
}

/// The fabric.
pub struct Hybrid {
    title: &'static str,
    cluster: Cluster,
    tree: Tree,
    hardware: Hardware,
    delays: super::setup::Transport,
    give_up: Option<GiveUp>,
    controller: Controller<Box<dyn Policy>>,
    /// Of the policy, if it could not decide: then nobody decides any more.
    trouble: Option<Refusal>,
    controller_works: bool,
    /// Counts failures of the controller and repairs.
    term: u32,
    switch: Switch,
    /// That is followed, and where it is; nowhere, if it has no slots.
    schedule: Option<Schedule>,
    days: Option<Days>,
    schedules: u32,
    /// In force.
    routes: Routes,
    forwarding: Forwarding,
    meter: Meter,
    servers: Option<Demultiplexer>,
    transport: Transport,
    path: Vec<LinkId>,
    moving: Moving,
}

/// Room for what a move works with.
#[derive(Clone, Debug, Default)]
struct Moving {
    ends: Vec<Pair>,
    flows: Vec<FlowId>,
    /// By rack: whether pairs with it move.
    marked: Vec<bool>,
}

/// Everything that an event may touch, beside the kernel.
struct Around<'a> {
    now: Time,
    io: &'a Io,
    net: &'a mut Net,
    todo: &'a mut Todo<Event>,
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
        let servers = setup.optical_weight.map(|weight| {
            let (racks, servers) = (cluster.racks, cluster.servers_per_rack);
            Demultiplexer::new(tree.nic(), hardware.rate, weight, racks, servers)
        });
        let mut estimator = Estimator::plain(cluster.racks, cluster.servers_per_rack)
            .with_smoothing(monitoring.smoothing)
            .at_most(monitoring.most);
        if let Some(thresholds) = monitoring.thresholds {
            estimator = estimator.with_thresholds(thresholds);
        }
        Hybrid {
            title: setup.title,
            controller: Controller::new(setup.policy, hardware, setup.timing, estimator),
            trouble: None,
            controller_works: true,
            term: 0,
            switch: Switch::new(hardware, setup.delays, cluster.servers_per_rack),
            schedule: None,
            days: None,
            schedules: 0,
            routes: Routes::default(),
            forwarding: Forwarding::new(hardware, LinkId(tree.links())),
            meter: Meter::new(&monitoring, &cluster, flows),
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

    // ---- The controller ------------------------------------------------------

    /// Hands an input to the controller, unless it is down, and carries out what it
    /// asks for, and so on until it asks for nothing that is done at once.
    fn tell(&mut self, input: Input, around: &mut Around) {
        let mut inputs = VecDeque::from([input]);
        let mut actions = Vec::new();
        while let Some(input) = inputs.pop_front() {
            if !self.controller_works || self.trouble.is_some() {
                return;
            }
            if let Err(refusal) = self.controller.on(around.now, input, &mut actions) {
                self.trouble = Some(refused(refusal, around.now));
            }
            for action in actions.drain(..) {
                inputs.extend(self.carry_out(action, around));
            }
        }
    }

    /// Carries out an action, at once or in its time; returns the answer to one that
    /// takes none.
    fn carry_out(&mut self, action: Action, around: &mut Around) -> Option<Input> {
        let Some(step) = action.step() else {
            return match action {
                Action::WakeAt(at) => {
                    around.todo.schedule(at, Event::Wake);
                    None
                }
                _ => Some(Input::Demand(self.measure(around))),
            };
        };
        match self.switch.takes(&action) {
            Some(time) => {
                let at = around.now + time;
                self.switch.begin(step, action);
                around.todo.schedule(at, Event::Ends(step));
                None
            }
            None => {
                self.do_now(action, around);
                Some(Input::Done(step))
            }
        }
    }

    fn do_now(&mut self, action: Action, around: &mut Around) {
        match action {
            Action::Drain(_, pairs) => self.drain(&pairs, around),
            Action::Dark(_, circuits) => {
                self.switch.darken(&circuits, around.now);
                self.leave_the_dark(around);
            }
            Action::Light(_, circuits) => self.switch.light(&circuits, around.now),
            Action::Enter(_, _, routes) => self.enter(routes, around),
            Action::Follow(_, schedule) => self.follow(schedule, around),
            Action::Route(..) | Action::Measure | Action::WakeAt(_) => {}
        }
    }

    fn measure(&mut self, around: &Around) -> lightloom_control::demand::Report {
        let mut flows = Vec::new();
        for rack in 0..self.cluster.racks {
            self.flows_of(rack, around, |flow, _| flows.push(flow));
        }
        let (io, net) = (around.io, &*around.net);
        let row = |flow: FlowId| {
            let (src, dst) = ends(flow, io);
            (flow, src, dst, net.remaining(flow))
        };
        self.meter.report(flows.into_iter().map(row))
    }

    fn set_controller(&mut self, works: bool, now: Time, todo: &mut Todo<Event>) {
        if works == self.controller_works {
            return;
        }
        self.controller_works = works;
        self.term += 1;
        if !works {
            self.switch.forget();
            if let Some(give_up) = self.give_up {
                todo.schedule(now + give_up.after, Event::GiveUp(self.term));
            }
            return;
        }
        let found = self.found();
        let mut actions = Vec::new();
        let heard = self
            .controller
            .on(now, Input::Silence(found), &mut actions);
        debug_assert!(heard.is_ok(), "nothing is decided");
        wake(&actions, todo);
    }

    fn found(&self) -> Found {
        let works = self.switch.works().to_vec();
        match &self.schedule {
            Some(_) => Found {
                lit: Circuits::default(),
                routes: Routes::default(),
                schedule: self.schedule.clone(),
                works,
            },
            None => Found {
                lit: self.switch.lit(),
                routes: self.routes.clone(),
                schedule: None,
                works,
            },
        }
    }

    /// Servers leave the circuits, which may go dark then.
    fn give_up(&mut self, around: &mut Around) {
        if self.give_up.is_some_and(|g| g.dark) {
            let lit = self.switch.lit();
            self.switch.darken(&lit, around.now);
        }
        let none = Routes::none(self.routes.directed());
        self.enter(none, around);
    }

    // ---- Light and routes ----------------------------------------------------

    /// These pairs are led to the electrical network.
    fn drain(&mut self, pairs: &[Pair], around: &mut Around) {
        let mut moved = pairs.to_vec();
        moved.retain(|&pair| self.routes.drop_pair(pair));
        self.lead_anew(&moved, around);
    }

    /// Routes over circuits that are dark end: their flows fall back.
    fn leave_the_dark(&mut self, around: &mut Around) {
        let switch = &self.switch;
        let lost = self.routes.keep_lit(|hop| switch.is_lit(hop));
        self.lead_anew(&lost, around);
    }

    /// These routes are in force, as far as they are lit.
    fn enter(&mut self, mut routes: Routes, around: &mut Around) {
        let switch = &self.switch;
        routes.keep_lit(|hop| switch.is_lit(hop));
        let moved = self.routes.differing(&routes);
        self.routes = routes;
        self.lead_anew(&moved, around);
    }

    fn break_port(&mut self, rack: u32, plane: u32, around: &mut Around) {
        self.switch.break_port(rack, plane, around.now);
        self.leave_the_dark(around);
        self.tell(Input::PortDown(rack, plane), around);
    }

    /// A schedule is followed from a night on.
    fn follow(&mut self, schedule: Schedule, around: &mut Around) {
        self.schedules += 1;
        self.schedule = Some(schedule.clone());
        self.days = Days::new(schedule, self.schedules);
        self.night(self.schedules, around);
    }

    fn night(&mut self, number: u32, around: &mut Around) {
        let lit = self.switch.lit();
        self.switch.darken(&lit, around.now);
        let Some(days) = self.days.as_ref().filter(|d| d.number() == number) else {
            return self.leave_the_dark(around);
        };
        let day = around.now + days.night();
        // Without a night nothing moves: what is dark is lit again, or others are.
        if days.night() > Time::ZERO {
            self.leave_the_dark(around);
        }
        around.todo.schedule(day, Event::Day(number));
    }

    fn day(&mut self, number: u32, around: &mut Around) {
        let Some(days) = self.days.as_mut().filter(|d| d.number() == number) else {
            return;
        };
        let (circuits, length) = days.day();
        days.next();
        around.todo.schedule(around.now + length, Event::Night(number));
        self.switch.light(&circuits, around.now);
        self.enter(Routes::direct(&circuits), around);
    }

    // ---- Flows ---------------------------------------------------------------

    fn racks(&self, flow: FlowId, io: &Io) -> Pair {
        let (src, dst) = ends(flow, io);
        (self.cluster.rack_of(src), self.cluster.rack_of(dst))
    }

    /// Lays out `self.path`; returns the network that it takes.
    fn lead(&mut self, flow: FlowId, io: &Io) -> Vlan {
        let (src, dst) = ends(flow, io);
        let from = (src, self.cluster.rack_of(src));
        let to = (dst, self.cluster.rack_of(dst));
        let (tree, servers) = (&self.tree, self.servers.as_ref());
        let optical = self
            .forwarding
            .lead(flow, from, to, tree, servers, &mut self.path);
        match optical {
            true => Vlan::Optical,
            false => Vlan::Electrical,
        }
    }

    /// Open flows out of a rack with the rack that each is for, in an order that is
    /// the same in every run.
    fn flows_of(&self, rack: u32, around: &Around, mut each: impl FnMut(FlowId, u32)) {
        let net = &*around.net;
        for flow in net.flows_over(self.tree.from_rack(rack)) {
            each(flow, self.racks(flow, around.io).1);
        }
        for plane in 0..self.hardware.planes {
            for flow in net.flows_over(self.forwarding.port(rack, plane)) {
                let (from, to) = self.racks(flow, around.io);
                if from == rack {
                    each(flow, to);
                }
            }
        }
    }

    /// Leads the flows of some pairs along what is in force now; those that move rise
    /// to their new share.
    fn lead_anew(&mut self, pairs: &[Pair], around: &mut Around) {
        if pairs.is_empty() {
            return;
        }
        self.forwarding.update(pairs, &self.routes);
        let mut moving = std::mem::take(&mut self.moving);
        self.find_flows(pairs, &mut moving, around);
        let (mut ramp, mut dip) = (Vec::new(), Vec::new());
        for &flow in &moving.flows {
            let vlan = self.lead(flow, around.io);
            let before = around.net.path(flow);
            if before == self.path {
                continue;
            }
            let was = self.vlan_of(before);
            around.net.reroute(flow, &self.path);
            if let Some(servers) = &mut self.servers {
                let src = around.io.flows.src[flow.index()];
                servers.leave(src, was, around.net);
                servers.join(src, vlan, around.net);
            }
            match vlan {
                Vlan::Optical => ramp.push(flow),
                Vlan::Electrical => dip.push(flow),
            }
        }
        self.moving = moving;
        self.count_circuits(pairs, around);
        self.rise(ramp, self.delays.ramp, around);
        self.rise(dip, self.delays.dip, around);
    }

    /// The flows of some pairs, rack by rack.
    fn find_flows(&self, pairs: &[Pair], moving: &mut Moving, around: &Around) {
        let Moving {
            ends,
            flows,
            marked,
        } = moving;
        ends.clear();
        flows.clear();
        ends.extend_from_slice(pairs);
        if !self.routes.directed() {
            ends.extend(pairs.iter().map(|&(a, b)| (b, a)));
        }
        ends.sort_unstable();
        for of_rack in ends.chunk_by(|x, y| x.0 == y.0) {
            of_rack.iter().for_each(|e| marked[e.1 as usize] = true);
            self.flows_of(of_rack[0].0, around, |flow, to| {
                if marked[to as usize] {
                    flows.push(flow);
                }
            });
            of_rack.iter().for_each(|e| marked[e.1 as usize] = false);
        }
    }

    /// Tells the servers of some pairs how many circuits their racks have.
    fn count_circuits(&mut self, pairs: &[Pair], around: &mut Around) {
        let Some(servers) = &mut self.servers else {
            return;
        };
        if self.hardware.planes > 1 {
            for rack in pairs.iter().flat_map(|&(a, b)| [a, b]) {
                servers.circuits(rack, self.switch.circuits_of(rack), around.net);
            }
        }
    }

    fn vlan_of(&self, path: &[LinkId]) -> Vlan {
        let optical = |&link: &LinkId| self.forwarding.port_of(link).is_some();
        match path.iter().any(optical) {
            true => Vlan::Optical,
            false => Vlan::Electrical,
        }
    }

    fn rise(&mut self, flows: Vec<FlowId>, span: Time, around: &mut Around) {
        let (now, net) = (around.now, &mut *around.net);
        if let Some((batch, at)) = self.transport.moved(flows, span, now, net) {
            around.todo.schedule(at, Event::Rise(batch));
        }
    }

    // ---- What fails ----------------------------------------------------------

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

fn ends(flow: FlowId, io: &Io) -> (HostId, HostId) {
    (io.flows.src[flow.index()], io.flows.dst[flow.index()])
}

/// What a policy could not decide, or should not have, as a user's key.
fn refused(refusal: Refusal, now: Time) -> Refusal {
    Refusal {
        key: "fabric.policy".to_owned(),
        value: format!("{} = {} at {now}", refusal.key, refusal.value),
        ..refusal
    }
}

fn wake(actions: &[Action], todo: &mut Todo<Event>) {
    for action in actions {
        if let Action::WakeAt(at) = action {
            todo.schedule(*at, Event::Wake);
        }
    }
}

impl FlowKernel for Hybrid {
    type Event = Event;

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
        let mut actions = Vec::new();
        let begun = self.controller.on(Time::ZERO, Input::Tick, &mut actions);
        debug_assert!(begun.is_ok(), "nothing is decided");
        wake(&actions, todo);
    }

    fn arrive(&mut self, flow: FlowId, _: Time, io: &mut Io, net: &mut Net, _: &mut Todo<Event>) {
        let vlan = self.lead(flow, io);
        // Within a rack, where servers' links do not limit, nothing is shared.
        let limit = self.path.is_empty().then(|| self.cluster.rack_rate());
        let bytes = io.flows.bytes[flow.index()];
        net.open(flow, bytes, &self.path, WEIGHT, limit);
        self.meter.begin(flow, bytes);
        if let Some(servers) = &mut self.servers {
            servers.join(io.flows.src[flow.index()], vlan, net);
        }
    }

    fn complete(&mut self, flow: FlowId, _: Time, io: &mut Io, net: &mut Net, _: &mut Todo<Event>) {
        let (src, dst) = ends(flow, io);
        self.meter.end(flow, src, dst);
        if self.servers.is_none() {
            return;
        }
        let vlan = self.vlan_of(net.path(flow));
        if let Some(servers) = &mut self.servers {
            servers.leave(src, vlan, net);
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
        let around = &mut Around { now, io, net, todo };
        match event {
            Event::Wake => self.tell(Input::Tick, around),
            Event::Ends(step) => {
                if let Some(action) = self.switch.end(step) {
                    self.do_now(action, around);
                    self.tell(Input::Done(step), around);
                }
            }
            Event::Night(number) if self.schedules == number => self.night(number, around),
            Event::Day(number) if self.schedules == number => self.day(number, around),
            Event::GiveUp(term) if term == self.term => self.give_up(around),
            Event::Night(_) | Event::Day(_) | Event::GiveUp(_) => {}
            Event::Rise(batch) => {
                if let Some(at) = self.transport.rise(batch, now, around.net) {
                    around.todo.schedule(at, event);
                }
            }
            Event::PortBreaks(rack, plane) => self.break_port(rack, plane, around),
        }
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
                if !works {
                    todo.schedule(now, Event::PortBreaks(node, plane));
                    return Ok(());
                }
                self.switch.mend_port(node, plane);
                if self.controller_works {
                    let (input, actions) = (Input::PortUp(node, plane), &mut Vec::new());
                    let heard = self.controller.on(now, input, actions);
                    debug_assert!(heard.is_ok() && actions.is_empty());
                }
            }
            _ => {
                return Err(Rejected(format!(
                    "only the controller and optical ports of racks can fail in {}",
                    self.title
                )));
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
        let nic = self.tree.nic().unwrap_or(self.hardware.rate);
        let circuit = nic.min(self.hardware.rate);
        tree.max(circuit).time_for(bytes)
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
}
