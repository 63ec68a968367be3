//! Sirius at `detail = "flows"`: max-min rates instead of cells.
//!
//! Each flow has its max-min fair rate. Its limits are the capacities that the schedule and the
//! protocol leave of the uplinks of its source rack, of its destination rack, and of all racks
//! together (`capacity`), and the rates of servers' links, if any. The last byte arrives later than
//! the rate alone gives, by the time of the request, the grant and the waits for the slots of both
//! hops (`latency`). A flow that is alone in the network therefore takes as long, on average, as
//! with `detail = "cells"`.
//!
//! Traffic within a rack is the same as with cells: a flow has the rack's rate, or shares the links
//! of its two servers.
//!
//! # Not modelled
//! - Queues: no flow waits for the cells of another flow, however full the uplinks are, so short
//!   flows in a busy network are faster than with `detail = "cells"`. Queue and reorder peaks are
//!   null.
//! - The padding of the last cell of a flow.
//! - The choice of intermediates: a source with flows for a congested destination wastes requests
//!   that its other flows could use.
//! - Failures.

mod capacity;
mod doubts;
mod latency;
#[cfg(test)]
mod tests;

use super::config::{Derived, SiriusConfig};
use super::limits::{shape, soonest};
use super::servers::rack;
use crate::contract::Site;
use capacity::{Active, Capacity};
use latency::{CellArrivals, Latency};
use lightloom_engine::fair::{LinkId, WEIGHT};
use lightloom_engine::kernel::flow::{self, FlowKernel, LinkKind, Net, Todo};
use lightloom_engine::{
    Cluster, Command, FlowId, HostId, Io, Nic, PortId, Rate, Rejected, Reports, Shape, Time, View,
};

/// The kernel. Its links are: for each rack one link for the traffic that its uplinks send and one
/// for the traffic that they receive; one link for the cells of all racks; and the links between
/// servers and their rack if these have a rate.
pub struct SiriusFlows {
    config: SiriusConfig,
    derived: Derived,
    cluster: Cluster,
    capacity: Capacity,
    latency: Latency,
    active: Active,
    /// Time that a flow needs to pass the switch of its own rack.
    entrance: Time,
    /// The total rate of all racks when it was last measured.
    relayed: Rate,
    /// Whether a measurement is scheduled.
    measures: bool,
}

/// The event at which the total rate of all racks is measured.
#[derive(Clone, Copy, Debug)]
pub struct Measure;

/// When that is due.
type Timer = Todo<Measure>;

/// Approximate memory of the kernel [B].
pub fn memory(cluster: &Cluster, flows: u64) -> u64 {
    let servers = match cluster.nic {
        Nic::Uncapped => 0,
        Nic::Capped(_) => 2 * cluster.hosts() as usize,
    };
    let links = 2 * cluster.racks as usize + 1 + servers;
    flow::memory(links as u64, flows)
}

impl SiriusFlows {
    /// An empty network.
    pub fn new(config: &SiriusConfig, derived: Derived, site: &Site) -> SiriusFlows {
        let capacity = Capacity::new(config, &derived);
        SiriusFlows {
            latency: Latency::new(config, &derived, &capacity, site.seed),
            capacity,
            active: Active::new(site.cluster.racks as usize),
            entrance: config.switch_latency,
            relayed: Rate(0),
            measures: false,
            config: config.clone(),
            cluster: *site.cluster,
            derived,
        }
    }

    fn core(&self) -> LinkId {
        LinkId(2 * self.cluster.racks)
    }

    /// The links of a server to its rack and from its rack.
    fn server(&self, host: HostId) -> (LinkId, LinkId) {
        let up = self.core().0 + 1 + host.0;
        (LinkId(up), LinkId(up + self.cluster.hosts()))
    }

    fn racks(&self, flow: FlowId, io: &Io) -> (u32, u32) {
        let (src, dst) = (io.flows.src[flow.index()], io.flows.dst[flow.index()]);
        (self.cluster.rack_of(src), self.cluster.rack_of(dst))
    }

    /// Opens a flow that stays in its rack.
    fn open_inside(&self, flow: FlowId, io: &Io, net: &mut Net) {
        let f = flow.index();
        let bytes = io.flows.bytes[f];
        let Nic::Capped(rate) = self.cluster.nic else {
            let limit = Some(rack::rate(&self.cluster));
            net.open(flow, bytes, &[], WEIGHT, limit);
            return net.set_delay(flow, self.entrance);
        };
        let path = [
            self.server(io.flows.src[f]).0,
            self.server(io.flows.dst[f]).1,
        ];
        net.open(flow, bytes, &path, WEIGHT, None);
        // The rack switch forwards the last cell only after it has received all of it.
        let last = rate.time_for(bytes.min(self.derived.cell));
        net.set_delay(flow, self.entrance + last);
    }

    /// Opens a flow between two racks.
    fn open_between(&self, flow: FlowId, io: &Io, net: &mut Net) {
        let (f, (from, to)) = (flow.index(), self.racks(flow, io));
        let sent = LinkId(from);
        let received = LinkId(self.cluster.racks + to);
        let (up, down) = (
            self.server(io.flows.src[f]).0,
            self.server(io.flows.dst[f]).1,
        );
        let path = [sent, received, self.core(), up, down];
        let links = match self.cluster.nic {
            Nic::Uncapped => &path[..3],
            Nic::Capped(_) => &path[..],
        };
        net.open(flow, io.flows.bytes[f], links, WEIGHT, None);
    }

    /// The highest rate of a server, if it is below that of its rack.
    fn server_rate(&self) -> Option<Rate> {
        match self.cluster.nic {
            Nic::Capped(rate) if rate < self.capacity.sent(Rate(0)) => Some(rate),
            _ => None,
        }
    }

    /// Time that the last cell of a flow takes from the rack switch to its server.
    fn last_cell(&self, bytes: u64) -> Time {
        match self.cluster.nic {
            Nic::Uncapped => Time::ZERO,
            Nic::Capped(rate) => rate.time_for((bytes - 1) % self.derived.cell + 1),
        }
    }

    /// The time by which the last byte of a flow between racks arrives later than its rate gives.
    fn behind(&self, flow: FlowId, bytes: u64, pace: CellArrivals) -> Time {
        self.entrance + self.latency.behind(flow, bytes, pace) + self.last_cell(bytes)
    }

    /// Updates the total capacity of all racks if other racks are active now, and schedules the
    /// update of their relayed traffic.
    fn changed(&mut self, others: bool, now: Time, net: &mut Net, todo: &mut Timer) {
        if others {
            net.set_capacity(self.core(), self.capacity.together(&self.active));
        }
        if !std::mem::replace(&mut self.measures, true) {
            todo.schedule(now + self.latency.round_trip(), Measure);
        }
    }

    /// Sets the capacity of racks for their own flows to the capacity that relaying leaves. Each
    /// step makes half of the change, because the two influence each other: own traffic causes
    /// relaying, and relaying takes capacity from it.
    fn relay(&mut self, net: &mut Net) -> bool {
        let all = net.load(self.core());
        if all.0.abs_diff(self.relayed.0) <= self.capacity.little() {
            return false;
        }
        self.relayed = Rate(all.0.midpoint(self.relayed.0));
        let [sent, received] = [
            self.capacity.sent(self.relayed),
            self.capacity.received(self.relayed),
        ];
        for rack in 0..self.cluster.racks {
            net.set_capacity(LinkId(rack), sent);
            net.set_capacity(LinkId(self.cluster.racks + rack), received);
        }
        true
    }
}

impl FlowKernel for SiriusFlows {
    type Event = Measure;

    fn begin(&mut self, net: &mut Net, _: &mut Timer) {
        net.never_list_flows();
        for rate in [self.capacity.sent(Rate(0)), self.capacity.received(Rate(0))] {
            for _ in 0..self.cluster.racks {
                net.add_link(rate, LinkKind::Switch);
            }
        }
        net.add_link(self.capacity.together(&self.active), LinkKind::Bound);
        if let Nic::Capped(rate) = self.cluster.nic {
            for _ in 0..2 * self.cluster.hosts() {
                net.add_link(rate, LinkKind::Server);
            }
        }
    }

    fn arrive(&mut self, flow: FlowId, now: Time, io: &mut Io, net: &mut Net, todo: &mut Timer) {
        let (from, to) = self.racks(flow, io);
        if from == to {
            return self.open_inside(flow, io, net);
        }
        self.open_between(flow, io, net);
        if self.server_rate().is_none() {
            let bytes = io.flows.bytes[flow.index()];
            let sooner = match self.active.is_quiet(to as usize) {
                true => self.capacity.sooner(bytes),
                false => Time::ZERO,
            };
            let behind = self.behind(flow, bytes, CellArrivals::AtOnce(now + self.entrance));
            net.set_delay(flow, behind - sooner);
        }
        let others = self.active.open(from as usize, to as usize);
        self.changed(others, now, net, todo);
    }

    fn complete(&mut self, flow: FlowId, now: Time, io: &mut Io, net: &mut Net, todo: &mut Timer) {
        let (from, to) = self.racks(flow, io);
        if from == to {
            return;
        }
        if let Some(rate) = self.server_rate() {
            let done = now + self.entrance;
            let bytes = io.flows.bytes[flow.index()];
            let behind = self.behind(flow, bytes, CellArrivals::OfServer { rate, done });
            net.set_delay(flow, behind);
        }
        let others = self.active.close(from as usize, to as usize);
        self.changed(others, now, net, todo);
    }

    fn handle(&mut self, now: Time, _: Measure, _: &mut Io, net: &mut Net, todo: &mut Timer) {
        self.measures = self.relay(net);
        if self.measures {
            todo.schedule(now + self.latency.round_trip(), Measure);
        }
    }

    fn apply(&mut self, _: Command, _: Time, _: &mut Net, _: &mut Timer) -> Result<(), Rejected> {
        let limit = "sirius models failures by cells only";
        Err(Rejected(format!(
            "{limit}; set fabric.detail = \"cells\", or remove it"
        )))
    }
}

impl Reports for SiriusFlows {
    fn shape(&self) -> Shape {
        shape(&self.cluster, &self.config, &self.derived)
    }

    /// A byte crosses two links, except in cells that their source or destination relays.
    fn observe(&self, _: &Io, view: &mut View) {
        view.carried_bytes = (view.carried_bytes as f64 * self.capacity.hops() / 2.0) as u64;
    }

    fn settle(&self, io: &mut Io) {
        for f in 0..io.flows.len() {
            let (from, to) = self.racks(FlowId(f as u32), io);
            if from != to && !io.flows.hops[f].is_nan() {
                io.flows.hops[f] = self.capacity.hops() as f32;
            }
        }
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        soonest(&self.cluster, &self.config, &self.derived, src, dst, bytes)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        let rack = self.config.channel_rate.0 * self.derived.uplinks as u64;
        match (tx.0.cmp(&self.core().0), self.cluster.nic) {
            (std::cmp::Ordering::Less, _) => Rate(rack),
            (std::cmp::Ordering::Greater, Nic::Capped(rate)) => rate,
            _ => Rate(rack * self.cluster.racks as u64),
        }
    }
}
