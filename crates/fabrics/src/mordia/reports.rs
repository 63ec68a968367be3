//! The reports of Mordia: queues, totals of the run, light, the record of its controller.

use super::control::Control;
use super::kernel::Mordia;
use super::packet_switch::PacketSwitch;
use lightloom_engine::{
    Circuit, ControlRecord, HostId, Io, PortId, QueuePlace, Rate, Refusal, Reports, Shape, Time,
    Totals, View,
};

impl Mordia {
    /// Bytes that have not left their source.
    pub(super) fn waiting(&self) -> u64 {
        self.edge.waiting() + self.voqs.bytes
    }

    /// Bytes that have left their sources: at racks, at the packet switch, or on its links.
    pub(super) fn queued(&self) -> u64 {
        let packets = self.packet_switch.as_ref().map_or(0, PacketSwitch::bytes);
        self.edge.for_servers() + packets
    }

    /// Bytes that wait at the packet switch for a rack.
    fn waiting_at_switch(&self, rack: u32) -> u64 {
        { self.packet_switch.as_ref() }.map_or(0, |switch| switch.waiting_for(rack))
    }

    /// The peak of the longest queue, and its place: a rack or the packet switch. `None` if there
    /// are no such queues and all bytes wait at their source.
    fn longest_queue(&self) -> Option<(u64, QueuePlace)> {
        let has_links = self.edge.has_server_links();
        let at_racks = has_links.then_some((self.queue_peak, QueuePlace::Relay));
        let at_switch =
            { self.packet_switch.as_ref() }.map(|switch| (switch.peak, QueuePlace::Port));
        // If the peaks are equal, the place is the rack.
        at_switch.into_iter().chain(at_racks).max_by_key(|q| q.0)
    }

    fn packet_rate(&self) -> u64 {
        self.packet_switch
            .as_ref()
            .map_or(0, |switch| switch.rate.0)
    }
}

impl Reports for Mordia {
    fn shape(&self) -> Shape {
        let racks = self.circuits.racks;
        let packets = 2 * self.packet_rate() * u64::from(racks);
        Shape {
            hosts: self.cluster.hosts(),
            racks,
            host_rate: self.cluster.server_rate,
            link_capacity: Rate(self.circuits.capacity() + packets),
        }
    }

    fn observe(&self, _: &Io, view: &mut View) {
        view.waiting_bytes = self.waiting();
        let on_links = self
            .packet_switch
            .as_ref()
            .map_or(0, PacketSwitch::on_links);
        view.queued_bytes = self.queued() - on_links;
        let nodes = (0..self.circuits.racks)
            .flat_map(|r| [self.edge.for_rack(r), self.waiting_at_switch(r)]);
        view.queued_bytes_worst = nodes.max().unwrap_or(0);
        view.on_links_bytes = self.circuits.moving + self.edge.local() + on_links;
        view.in_flight_bytes = view.placed_bytes();
        view.carried_bytes = self.circuits.carried;
    }

    fn totals(&self) -> Totals {
        let longest = self.longest_queue();
        Totals {
            queue_peak_bytes: longest.map(|(peak, _)| peak),
            queue_place: longest.map_or(QueuePlace::Relay, |(_, place)| place),
            reorder_peak_bytes: None,
            cell_hops: None,
            packet_hops: Some(self.circuits.packet_hops + self.edge.packet_hops),
            circuit_bytes: Some(self.edge.circuit_bytes),
        }
    }

    fn settle(&self, io: &mut Io) {
        self.edge.settle(io, |_, _| 0.0);
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        // Over the circuit and the packet switch in parallel.
        let racks = Rate(self.circuits.rate().0 + self.packet_rate());
        self.edge.soonest(src, dst, bytes, racks)
    }

    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        self.circuits.is_lit(tx, rx, at)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        match self.circuits.port_rate(tx) {
            Some(rate) => rate,
            None if tx.0 >= self.edge.ports() => Rate(self.packet_rate()),
            None => self.edge.link_rate_of(tx),
        }
    }

    fn circuits(&self, now: Time) -> Vec<Circuit> {
        self.circuits.lit(now)
    }

    fn lit_for(&self, now: Time) -> Option<Time> {
        Some(self.circuits.lit_for(now))
    }

    fn trouble(&self) -> Option<&Refusal> {
        self.control.as_ref().and_then(Control::trouble)
    }

    fn record_control(&mut self, label: &str) {
        if let Some(control) = &mut self.control {
            control.begin_log(label);
        }
    }

    fn control_record(&mut self) -> Option<ControlRecord> {
        self.control.as_mut().map(Control::end_log)
    }
}
