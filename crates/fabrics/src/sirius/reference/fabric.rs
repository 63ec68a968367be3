//! The reference as a fabric: a slot from top to bottom, and its reports.

use super::{Cell, Epoch, Reference};
use lightloom_engine::kernel::slot::SlotKernel;
use lightloom_engine::{
    Command, HostId, Io, PortId, QueuePlace, Rate, Rejected, Reports, Shape, Time, Totals, View,
};

impl SlotKernel for Reference {
    fn slot_length(&self) -> Time {
        self.config.slot
    }

    fn slot(&mut self, slot: i64, io: &mut Io) {
        let now = self.config.slot * slot;
        self.carry_out(slot, io);
        self.admit(now, io);
        // Flows that a delivery within a rack releases may have arrived by now, too.
        while self.deliver_within_racks(now, io) {
            self.admit(now, io);
        }
        self.deliver_within_racks(now + self.config.slot, io);
        if let Some(epoch) = self.epoch_from(slot) {
            self.begin_epoch(slot, epoch, io);
        }
        self.transmit(slot, io);
        self.receive(slot, io);
    }

    fn idle(&self) -> bool {
        !self.moves() && self.local.iter().all(|l| l.is_empty())
    }

    /// Whether all remaining cells wait at their source and can never leave it.
    fn stuck(&self) -> bool {
        let waiting = self.local.iter().flatten();
        !self.moves() && waiting.map(|t| t.flow).all(|flow| self.is_stranded(flow))
    }

    fn apply(&mut self, command: Command, _now: Time) -> Result<(), Rejected> {
        self.failures.order(command);
        Ok(())
    }
}

impl Reference {
    /// Whether any cell is elsewhere than at its source.
    fn moves(&self) -> bool {
        let live = |e: &Epoch| !e.requests.is_empty() || !e.unused.is_empty();
        let queued = self.queues.iter().flatten().any(|q| !q.is_empty());
        let flies = !self.fibres.is_empty() || !self.racks.is_idle() || !self.entering.is_empty();
        queued || flies || self.epochs.values().any(live) || self.failures.pending()
    }
}

impl Reports for Reference {
    fn shape(&self) -> Shape {
        let uplinks = self.derived.uplinks as u64 * self.cluster.racks as u64;
        Shape {
            hosts: self.cluster.hosts(),
            racks: self.cluster.racks,
            host_rate: self.cluster.server_rate,
            link_capacity: Rate(self.config.channel_rate.0 * uplinks),
        }
    }

    fn observe(&self, _io: &Io, view: &mut View) {
        let queue = |node: usize| {
            let queued = self.queues[node].iter().flatten();
            let relayed = queued.map(|q| q.cell).filter(|cell| cell.relayed);
            self.bytes_of(relayed) + self.received(node)
        };
        let queues = || (0..self.nodes).map(queue);
        view.queued_bytes = queues().sum();
        view.queued_bytes_worst = queues().max().unwrap_or(0);
        view.waiting_bytes = self.waiting() + self.entering_bytes();
        let flying = self.fibres.values().flatten().map(|sent| sent.cell);
        view.on_links_bytes = self.bytes_of(flying) + self.bytes_within();
        view.in_flight_bytes = view.waiting_bytes + view.queued_bytes + view.on_links_bytes;
        view.carried_bytes = self.hops * self.derived.cell;
    }

    fn totals(&self) -> Totals {
        Totals {
            queue_peak_bytes: Some(self.queue_peak),
            queue_place: QueuePlace::Relay,
            reorder_peak_bytes: Some(self.reorder_peak * self.derived.cell),
            cell_hops: Some(self.hops),
            ..Totals::default()
        }
    }

    fn settle(&self, io: &mut Io) {
        let some = (0..).zip(&self.flows).filter(|f| !f.1.arrived.is_empty());
        for (f, flow) in some {
            let cells = flow.arrived.iter().map(|&seq| Cell {
                flow: f,
                seq,
                relayed: false,
            });
            io.flows.delivered[f] = cells.map(|cell| self.bytes(cell)).sum();
            let cells = flow.arrived.len() as u64;
            let hops = match flow.src == flow.dst {
                true => 0,
                false => 2 * cells - flow.direct,
            };
            io.flows.hops[f] = (hops as f64 / cells as f64) as f32;
        }
    }

    fn soonest(&self, _src: HostId, _dst: HostId, _bytes: u64) -> Time {
        Time::ZERO
    }

    fn lit(&self, _tx: PortId, _rx: PortId, _at: Time) -> bool {
        true
    }

    fn port_rate(&self, _tx: PortId) -> Rate {
        self.config.channel_rate
    }
}
