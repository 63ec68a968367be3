//! The reports of Opera: queues, totals of the run, light.

use super::kernel::Opera;
use lightloom_engine::{
    Circuit, HostId, Io, PortId, QueuePlace, Rate, Reports, Shape, Time, Totals, View,
};

impl Opera {
    /// Bytes at a rack that have left their source, and low-latency bytes that wait there.
    pub(super) fn queued_at(&self, rack: u32) -> u64 {
        self.bulk.held(rack) + self.low_latency.bytes_at(rack) + self.edge.for_rack(rack)
    }

    /// Bytes that have not left their source.
    pub(super) fn waiting(&self) -> u64 {
        self.edge.waiting() + self.bulk.waiting()
    }

    /// Bytes at racks that have left their sources, and low-latency packets at racks and on
    /// circuits.
    pub(super) fn queued(&self) -> u64 {
        self.edge.for_servers() + self.bulk.all_held() + self.low_latency.bytes
    }
}

impl Reports for Opera {
    fn shape(&self) -> Shape {
        Shape {
            hosts: self.cluster.hosts(),
            racks: self.circuits.racks,
            host_rate: self.cluster.server_rate,
            link_capacity: Rate(self.circuits.capacity()),
        }
    }

    fn observe(&self, _: &Io, view: &mut View) {
        view.waiting_bytes = self.waiting();
        view.queued_bytes = self.queued();
        let racks = (0..self.circuits.racks).map(|rack| self.queued_at(rack));
        view.queued_bytes_worst = racks.max().unwrap_or(0);
        view.on_links_bytes = self.circuits.moving + self.edge.local();
        view.in_flight_bytes = view.placed_bytes();
        view.carried_bytes = self.circuits.carried;
    }

    fn totals(&self) -> Totals {
        Totals {
            queue_peak_bytes: Some(self.queue_peak),
            queue_place: QueuePlace::RackLowLatency,
            reorder_peak_bytes: None,
            cell_hops: None,
            packet_hops: Some(self.circuits.packet_hops + self.edge.packet_hops),
            circuit_bytes: Some(self.edge.circuit_bytes),
        }
    }

    fn settle(&self, io: &mut Io) {
        self.edge.settle(io, |flow, delivered| {
            self.bulk.relayed(flow, delivered) + self.low_latency.extra_hops(flow)
        });
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        self.edge.soonest(src, dst, bytes, self.circuits.rate())
    }

    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        self.circuits.is_lit(tx, rx, at)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        let circuit = self.circuits.port_rate(tx);
        circuit.unwrap_or_else(|| self.edge.link_rate_of(tx))
    }

    fn circuits(&self, now: Time) -> Vec<Circuit> {
        self.circuits.lit(now)
    }

    fn lit_for(&self, now: Time) -> Option<Time> {
        Some(self.circuits.lit_for(now))
    }
}
