//! A hybrid network: flows that move at their max-min fair rates over circuits and an electrical
//! tree, and the controller that decides on circuits.
//!
//! The controller is the one of testbeds and real switches ([`lightloom_control::controller`]).
//! Here its actions are carried out in simulated time: [`Switch`] has light and delays, [`Paths`]
//! has flows and routes, [`Host`] has the controller, and `changes` carries out its actions. A
//! failed controller receives nothing until it is repaired, and its actions in progress are
//! cancelled; after the repair it receives the present state of the network.

mod changes;

use super::days::Followed;
use super::event::{Context, Event};
use super::host::Host;
use super::meter::Meter;
use super::paths::{ends, Paths};
use super::port_failures::PortFailures;
use super::setup::Setup;
use super::switch::Switch;
use lightloom_control::controller::{Controller, Input};
#[cfg(test)]
use lightloom_control::demand::Report;
use lightloom_control::hardware::Hardware;
use lightloom_control::policy::{Policy, Target};
use lightloom_control::routes::Routes;
use lightloom_engine::kernel::flow::{FlowKernel, Net, Todo};
use lightloom_engine::{
    Circuit as Lit, Cluster, Command, ControlRecord, Element, FlowId, HostId, Io, LinkLoad, PortId,
    Rate, Refusal, Rejected, Reports, Shape, Time,
};
#[cfg(test)]
use std::sync::{Arc, Mutex};

/// The fabric.
pub struct Hybrid {
    title: &'static str,
    cluster: Cluster,
    hardware: Hardware,
    /// The controller.
    host: Host,
    /// The circuits that are lit, or the schedule, when the control loop begins.
    initial: Option<Target>,
    /// The optical switches.
    switch: Switch,
    port_failures: PortFailures,
    /// The schedule that the switch follows by itself.
    followed: Followed,
    /// Routes, and the flows on them.
    paths: Paths,
    /// The demand that servers report.
    meter: Meter,
    /// A fixed report that replaces that of the servers.
    #[cfg(test)]
    told: Option<Arc<Mutex<Report>>>,
}

impl Hybrid {
    /// A hybrid network for `flows` flows.
    pub fn new(mut setup: Setup, flows: usize) -> Hybrid {
        let (cluster, hardware) = (setup.cluster, setup.hardware);
        Hybrid {
            title: setup.title,
            cluster,
            hardware,
            initial: setup.initial.take(),
            switch: Switch::new(hardware, setup.delays, cluster.servers_per_rack),
            port_failures: PortFailures::new(hardware),
            followed: Followed::default(),
            paths: Paths::new(&setup, flows),
            meter: Meter::new(&setup.monitoring, &cluster, flows),
            #[cfg(test)]
            told: None,
            host: Host::new(setup),
        }
    }

    /// Makes servers report this demand instead of their own.
    #[cfg(test)]
    pub fn reporting(self, told: Arc<Mutex<Report>>) -> Hybrid {
        let told = Some(told);
        Hybrid { told, ..self }
    }

    /// The controller.
    pub fn controller(&self) -> &Controller<Box<dyn Policy>> {
        self.host.controller()
    }

    /// Routes in force.
    pub fn routes(&self) -> &Routes {
        self.paths.routes()
    }

    /// Lets a port fail or repairs it.
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

impl FlowKernel for Hybrid {
    type Event = Event;

    fn begin(&mut self, net: &mut Net, todo: &mut Todo<Event>) {
        self.paths.lay_links(net);
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
        let context = &mut Context { now, io, net, todo };
        let bytes = self.paths.open(flow, context);
        self.meter.begin(flow, bytes);
    }

    fn complete(
        &mut self,
        flow: FlowId,
        now: Time,
        io: &mut Io,
        net: &mut Net,
        todo: &mut Todo<Event>,
    ) {
        self.paths.close(flow, &mut Context { now, io, net, todo });
        let (src, dst) = ends(flow, io);
        self.meter.end(flow, src, dst);
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
                    self.complete_action(action, context);
                    self.tell(Input::Done(step), context);
                }
            }
            Event::Night(number) if self.followed.is(number) => self.end_day(number, context),
            Event::Day(number) if self.followed.is(number) => self.begin_day(number, context),
            Event::GiveUp(term) if term == self.host.term() => self.give_up(context),
            Event::Night(_) | Event::Day(_) | Event::GiveUp(_) => {}
            Event::Rise(batch) => self.paths.rise(batch, context),
            Event::Spread => self.paths.spread(context),
            Event::PortBreaks(rack, plane) => self.break_port(rack, plane, context),
        }
    }

    fn solved(&mut self, round: u32, net: &mut Net) -> bool {
        self.paths.correct(round, net)
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
            link_capacity: Rate(self.paths.tree().capacity().0.saturating_add(circuits)),
        }
    }

    fn link_loads(&self, carried: &[u64]) -> Vec<LinkLoad> {
        self.paths.tree().loads(carried)
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        let tree = self.paths.tree();
        let (a, b) = (self.cluster.rack_of(src), self.cluster.rack_of(dst));
        if a == b {
            return tree.soonest(src, dst, bytes);
        }
        let over_tree = tree.narrowest(a, b);
        let nic = tree.nic().unwrap_or(self.hardware.rate);
        let lit = nic.min(self.hardware.rate);
        // The bound must hold for any path of the last packet.
        let over_one = tree.beyond_over(bytes, 1);
        let beyond = tree.beyond(bytes, a, b).min(over_one);
        over_tree.max(lit).time_for(bytes) + beyond.unwrap_or_default()
    }

    fn lit(&self, tx: PortId, _: PortId, at: Time) -> bool {
        let port = self.paths.optical_port(tx);
        port.is_none_or(|(rack, plane)| self.switch.was_lit(rack, plane, at))
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        self.paths.port_rate(tx)
    }

    fn circuits(&self, now: Time) -> Vec<Lit> {
        self.switch.circuits(now)
    }

    fn trouble(&self) -> Option<&Refusal> {
        self.host.trouble()
    }

    fn record_control(&mut self, label: &str) {
        self.host.begin_log(label);
    }

    fn control_record(&mut self) -> Option<ControlRecord> {
        Some(self.host.end_log())
    }
}
