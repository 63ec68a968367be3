//! Flows on their paths: laid out when they arrive, laid out anew when the routes of
//! their racks change.

use super::demultiplex::Vlan;
use super::kernel::{ends, Around, Event, Hybrid, Moving};
use lightloom_control::routes::Pair;
use lightloom_engine::fair::LinkId;
use lightloom_engine::{FlowId, Io, Time};

impl Hybrid {
    fn racks(&self, flow: FlowId, io: &Io) -> Pair {
        let (src, dst) = ends(flow, io);
        (self.cluster.rack_of(src), self.cluster.rack_of(dst))
    }

    /// Lays out `self.path`; returns the network that it takes.
    pub(super) fn lead(&mut self, flow: FlowId, io: &Io) -> Vlan {
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
    pub(super) fn flows_of(&self, rack: u32, around: &Around, mut each: impl FnMut(FlowId, u32)) {
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
    pub(super) fn lead_anew(&mut self, pairs: &[Pair], around: &mut Around) {
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

    pub(super) fn vlan_of(&self, path: &[LinkId]) -> Vlan {
        let optical = |&link: &LinkId| self.forwarding.port_of(link).is_some();
        match path.iter().any(optical) {
            true => Vlan::Optical,
            false => Vlan::Electrical,
        }
    }

    pub(super) fn rise(&mut self, flows: Vec<FlowId>, span: Time, around: &mut Around) {
        let (now, net) = (around.now, &mut *around.net);
        if let Some((batch, at)) = self.transport.moved(flows, span, now, net) {
            around.todo.schedule(at, Event::Rise(batch));
        }
    }
}
