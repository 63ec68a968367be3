//! The paths of flows, which are determined when flows arrive and when the routes of their racks
//! change.

use super::demultiplex::Vlan;
use super::forwarding::lay;
use super::spreading::{choose, unsettle_path};
use super::{ends, Moving, Paths};
use crate::hybrid::event::{Context, Event};
use crate::hybrid::switch::Switch;
use lightloom_control::routes::Pair;
use lightloom_engine::fair::{LinkId, WEIGHT};
use lightloom_engine::kernel::flow::Net;
use lightloom_engine::{FlowId, Io, Time};

impl Paths {
    /// Puts an arriving flow on a path. Returns its bytes.
    pub fn open(&mut self, flow: FlowId, context: &mut Context) -> u64 {
        let (io, net) = (context.io, &mut *context.net);
        let vlan = self.lay_path(flow, false, io, net);
        // Within a rack whose servers' links are not a limit, flows share no link.
        let limit = self.path.is_empty().then(|| self.tree.rack());
        let bytes = io.flows.bytes[flow.index()];
        net.open(flow, bytes, &self.path, WEIGHT, limit);
        self.delay(flow, vlan, io, net);
        if let Some(servers) = &mut self.servers {
            servers.join(ends(flow, io), vlan, net);
        }
        self.unsettle(flow, context);
        bytes
    }

    /// Removes a completed flow from its path.
    pub fn close(&mut self, flow: FlowId, context: &mut Context) {
        self.unsettle(flow, context);
        if self.servers.is_none() {
            return;
        }
        let vlan = self.vlan_of(context.net.path(flow));
        if let Some(servers) = &mut self.servers {
            servers.leave(ends(flow, context.io), vlan, context.net);
        }
    }

    /// The racks of a flow.
    pub(super) fn racks(&self, flow: FlowId, io: &Io) -> Pair {
        let (src, dst) = ends(flow, io);
        (self.cluster.rack_of(src), self.cluster.rack_of(dst))
    }

    /// Determines `self.path`, for an open flow or an arriving one; returns the network that it
    /// uses.
    fn lay_path(&mut self, flow: FlowId, is_open: bool, io: &Io, net: &Net) -> Vlan {
        let (a, b) = self.racks(flow, io);
        let before = is_open.then(|| net.path(flow));
        let route = choose(self.forwarding.routes(a, b), before, net);
        let (src, dst) = ends(flow, io);
        let (tree, servers) = (&self.tree, self.servers.as_ref());
        lay(route, (src, a), (dst, b), tree, servers, &mut self.path);
        match route.is_some() {
            true => Vlan::Optical,
            false => Vlan::Electrical,
        }
    }

    /// Determines `self.path` over a route of the flow's pair.
    pub(super) fn lay_path_over(&mut self, flow: FlowId, route: &[LinkId], io: &Io) {
        let (a, b) = self.racks(flow, io);
        let (src, dst) = ends(flow, io);
        let path = &mut self.path;
        let servers = self.servers.as_ref();
        lay(Some(route), (src, a), (dst, b), &self.tree, servers, path);
    }

    /// Sets the time that `flow` takes beyond bytes ÷ rate on `self.path`, its present path.
    #[inline]
    pub(super) fn delay(&self, flow: FlowId, vlan: Vlan, io: &Io, net: &mut Net) {
        let bytes = io.flows.bytes[flow.index()];
        let beyond = match vlan {
            Vlan::Optical => {
                let is_circuit = |&&link: &&LinkId| self.forwarding.port_of(link).is_some();
                let circuits = self.path.iter().filter(is_circuit).count();
                self.tree.beyond_over(bytes, circuits as u32)
            }
            Vlan::Electrical => {
                let (a, b) = self.racks(flow, io);
                self.tree.beyond(bytes, a, b)
            }
        };
        if let Some(beyond) = beyond {
            net.set_delay(flow, beyond);
        }
    }

    /// Visits the open flows that leave a rack, with their destination racks, in an order that is
    /// the same in every run.
    fn flows_of(&self, rack: u32, context: &Context, mut each: impl FnMut(FlowId, u32)) {
        let net = &*context.net;
        for flow in net.flows_over(self.tree.from_rack(rack)) {
            each(flow, self.racks(flow, context.io).1);
        }
        for plane in 0..self.hardware.planes {
            for flow in net.flows_over(self.forwarding.port(rack, plane)) {
                let (from, to) = self.racks(flow, context.io);
                if from == rack {
                    each(flow, to);
                }
            }
        }
    }

    /// All open flows between racks, rack by rack.
    pub fn flows(&self, context: &Context) -> Vec<FlowId> {
        let mut flows = Vec::new();
        for rack in 0..self.cluster.racks {
            self.flows_of(rack, context, |flow, _| flows.push(flow));
        }
        flows
    }

    /// Moves the flows of some pairs to the routes now in force; the rates of moved flows rise to
    /// their new share.
    pub(super) fn reroute(&mut self, pairs: &[Pair], switch: &Switch, context: &mut Context) {
        if pairs.is_empty() {
            return;
        }
        self.forwarding.update(pairs, &self.routes);
        let mut moving = std::mem::take(&mut self.moving);
        self.find_flows(pairs, &mut moving, context);
        let (mut ramp, mut dip) = (Vec::new(), Vec::new());
        for &flow in &moving.flows {
            let vlan = self.lay_path(flow, true, context.io, context.net);
            let before = context.net.path(flow);
            if before == self.path {
                continue;
            }
            let was = self.vlan_of(before);
            unsettle_path(&self.forwarding, &mut self.unsettled, before);
            unsettle_path(&self.forwarding, &mut self.unsettled, &self.path);
            context.net.reroute(flow, &self.path);
            self.delay(flow, vlan, context.io, context.net);
            if let Some(servers) = &mut self.servers {
                let ends = ends(flow, context.io);
                servers.leave(ends, was, context.net);
                servers.join(ends, vlan, context.net);
            }
            match vlan {
                Vlan::Optical => ramp.push(flow),
                Vlan::Electrical => dip.push(flow),
            }
        }
        self.unsettled.extend(
            { moving.ends.iter() }.filter(|&&(a, b)| self.forwarding.routes(a, b).len() > 1),
        );
        self.moving = moving;
        self.spread(context);
        self.count_circuits(pairs, switch, context);
        self.begin_rise(ramp, self.delays.ramp, context);
        self.begin_rise(dip, self.delays.dip, context);
    }

    /// The flows of some pairs, rack by rack.
    fn find_flows(&self, pairs: &[Pair], moving: &mut Moving, context: &Context) {
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
            self.flows_of(of_rack[0].0, context, |flow, to| {
                if marked[to as usize] {
                    flows.push(flow);
                }
            });
            of_rack.iter().for_each(|e| marked[e.1 as usize] = false);
        }
    }

    /// Updates the number of circuits of some pairs' racks at their servers.
    fn count_circuits(&mut self, pairs: &[Pair], switch: &Switch, context: &mut Context) {
        let Some(servers) = &mut self.servers else {
            return;
        };
        if self.hardware.planes > 1 {
            for rack in pairs.iter().flat_map(|&(a, b)| [a, b]) {
                servers.circuits(rack, switch.circuits_of(rack), context.net);
            }
        }
    }

    /// The network that a path uses.
    fn vlan_of(&self, path: &[LinkId]) -> Vlan {
        let optical = |&link: &LinkId| self.forwarding.port_of(link).is_some();
        match path.iter().any(optical) {
            true => Vlan::Optical,
            false => Vlan::Electrical,
        }
    }

    /// Starts the rise of the rates of flows that were moved together.
    fn begin_rise(&mut self, flows: Vec<FlowId>, span: Time, context: &mut Context) {
        let (now, net) = (context.now, &mut *context.net);
        if let Some((batch, at)) = self.transport.moved(flows, span, now, net) {
            context.todo.schedule(at, Event::Rise(batch));
        }
    }
}
