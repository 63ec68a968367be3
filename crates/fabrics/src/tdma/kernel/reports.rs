//! What the network says of itself: queues, figures of the run, light.

use super::Tdma;
use crate::tdma::control::Control;
use crate::tdma::residual::PacketSwitch;
use lightloom_engine::{
    Circuit, ControlRecord, FlowId, HostId, Io, Nic, PortId, QueuePlace, Rate, Refusal, Reports,
    Shape, Time, Totals, View,
};

impl Tdma {
    /// Bytes at a rack that have left their source: or, of low-latency traffic, wait there.
    pub(super) fn queued_at(&self, rack: u32) -> u64 {
        let relays = self.relays.as_ref().map_or(0, |relays| relays.held(rack));
        let hosts = self.hosts.as_ref().map_or(0, |hosts| hosts.held(rack));
        let low_latency = self.low_latency.as_ref().map_or(0, |l| l.at(rack));
        let servers = self.servers.as_ref().map_or(0, |s| s.for_rack(rack));
        relays + hosts + low_latency + servers
    }

    /// More is at a rack than was before.
    pub(super) fn queue_grew(&mut self, rack: u32) {
        self.queue_peak = self.queue_peak.max(self.queued_at(rack));
    }

    /// Bytes that have not left their servers, and that have.
    pub(super) fn at_servers(&self) -> (u64, u64) {
        self.servers
            .as_ref()
            .map_or((0, 0), |s| (s.waiting(), s.down.bytes))
    }

    /// Bytes that have not left their source.
    pub(super) fn waiting(&self) -> u64 {
        let hosts = self.hosts.as_ref().map_or(0, |hosts| hosts.waiting());
        self.at_servers().0 + self.voqs.bytes + hosts + self.entering
    }

    /// Bytes that wait at the packet switch for a rack.
    fn waiting_at_switch(&self, rack: u32) -> u64 {
        { self.packets.as_ref() }.map_or(0, |packets| packets.waiting_for(rack))
    }

    /// The peak of the longest queue, and whether that was at a rack or at the packet switch;
    /// none without queues, where everything waits at its source.
    fn longest_queue(&self) -> Option<(u64, QueuePlace)> {
        let place = match self.low_latency {
            Some(_) => QueuePlace::RackLowLatency,
            None => QueuePlace::Relay,
        };
        let relays = self.relays.is_some() || self.hosts.is_some() || self.low_latency.is_some();
        let at_racks = (relays || self.servers.is_some()).then_some((self.queue_peak, place));
        let at_switch = { self.packets.as_ref() }.map(|switch| (switch.peak, QueuePlace::Port));
        // If the peaks are equal, the place is the rack.
        at_switch.into_iter().chain(at_racks).max_by_key(|q| q.0)
    }

    /// Bytes that have left their sources: at racks, at the packet switch, or on its links.
    pub(super) fn queued(&self) -> u64 {
        let packets = self.packets.as_ref().map_or(0, PacketSwitch::bytes);
        let relayed = self.relays.as_ref().map_or(0, |relays| relays.queues.bytes);
        let low_latency = self.low_latency.as_ref().map_or(0, |l| l.bytes);
        let hosts = self.hosts.as_ref().map_or(0, |hosts| hosts.all_held());
        self.at_servers().1 + packets + relayed + hosts + low_latency
    }
}

impl Reports for Tdma {
    fn shape(&self) -> Shape {
        let cluster = &self.setup.cluster;
        let packets = self.setup.packet_rate.map_or(0, |rate| 2 * rate.0);
        let circuits = self.setup.link_rate.0 * self.planes.len() as u64;
        Shape {
            hosts: cluster.hosts(),
            racks: self.racks,
            host_rate: cluster.server_rate,
            link_capacity: Rate((circuits + packets) * u64::from(self.racks)),
        }
    }

    fn observe(&self, _: &Io, view: &mut View) {
        view.waiting_bytes = self.waiting();
        let on_links = self.packets.as_ref().map_or(0, PacketSwitch::on_links);
        view.queued_bytes = self.queued() - on_links;
        let nodes = (0..self.racks).flat_map(|r| [self.queued_at(r), self.waiting_at_switch(r)]);
        view.queued_bytes_worst = nodes.max().unwrap_or(0);
        view.on_links_bytes = self.moving + self.local + on_links;
        view.in_flight_bytes = view.placed_bytes();
        view.carried_bytes = self.carried;
    }

    fn totals(&self) -> Totals {
        let longest = self.longest_queue();
        Totals {
            queue_peak_bytes: longest.map(|(peak, _)| peak),
            queue_place: longest.map_or(QueuePlace::Relay, |(_, place)| place),
            reorder_peak_bytes: None,
            cell_hops: None,
            packet_hops: Some(self.packet_hops),
            circuit_bytes: Some(self.circuit_bytes),
        }
    }

    fn settle(&self, io: &mut Io) {
        for f in 0..io.flows.len() {
            let flow = FlowId(f as u32);
            let (from, to) = self.ends(flow, io);
            let delivered = io.flows.delivered[f];
            if delivered > 0 {
                let by_racks = self.relays.as_ref().map_or(0, |r| r.delivered(flow));
                let by_hosts = self.hosts.as_ref().map_or(0, |h| h.delivered(flow));
                let relayed = by_racks + by_hosts;
                // Some may be at the rack and not yet at the server.
                let twice = relayed.min(delivered) as f64 / delivered as f64;
                let beyond = self.low_latency.as_ref().map_or(0.0, |p| p.beyond(flow));
                let more = twice + beyond;
                io.flows.hops[f] = if from == to { 0.0 } else { 1.0 + more as f32 };
            }
        }
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        let cluster = &self.setup.cluster;
        let server = match cluster.nic {
            Nic::Uncapped => self.rack_rate(),
            Nic::Capped(rate) => self.setup.overheads.payload(rate),
        };
        let entrance = self.setup.overheads.switch_latency;
        if cluster.rack_of(src) == cluster.rack_of(dst) {
            return entrance + server.time_for(bytes);
        }
        // Over all planes and the packet switch side by side.
        let circuits = self.setup.wire.rate.0 * self.planes.len() as u64;
        let racks = Rate(circuits + self.setup.packet_rate.map_or(0, |rate| rate.0));
        let across = match cluster.nic {
            Nic::Uncapped => racks,
            Nic::Capped(_) => racks.min(server),
        };
        entrance + across.time_for(bytes)
    }

    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        if tx.0 as usize >= self.lines.len() {
            return true;
        }
        let plane = &self.planes[(tx.0 / self.racks) as usize];
        plane
            .light
            .was_lit(tx.0 % self.racks, rx.0 % self.racks, at)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        let servers = self.lines.len() as u32 + 2 * self.setup.cluster.hosts();
        match (tx.0 as usize) < self.lines.len() {
            true => self.setup.link_rate,
            false if tx.0 >= servers => self.setup.packet_rate.unwrap_or(Rate(0)),
            false => self.servers.as_ref().map_or(Rate(0), |s| s.down.rate),
        }
    }

    fn circuits(&self, now: Time) -> Vec<Circuit> {
        let planes = self.planes.iter().enumerate();
        let mut all: Vec<Circuit> = planes
            .flat_map(|(number, plane)| plane.light.circuits(number as u16, now))
            .collect();
        all.sort_by_key(|circuit| circuit.from);
        all
    }

    fn lit_for(&self, now: Time) -> Option<Time> {
        let lit: i64 = self.planes.iter().map(|p| p.light.lasted(now).0).sum();
        Some(Time(lit / self.planes.len() as i64))
    }

    fn trouble(&self) -> Option<&Refusal> {
        self.setup.control.as_ref().and_then(Control::trouble)
    }

    fn record_control(&mut self, label: &str) {
        if let Some(control) = &mut self.setup.control {
            control.begin_log(label);
        }
    }

    fn control_record(&mut self) -> Option<ControlRecord> {
        self.setup.control.as_mut().map(Control::end_log)
    }
}
