//! Sirius as a fabric: its interface and its reports.

use super::index::Label;
use super::kernel::Sirius;
use super::limits::{lit, shape, soonest};
use super::protocol::epoch::Epoch;
use super::servers::links::Servers;
use super::shard::Shard;
use lightloom_engine::kernel::slot::SlotKernel;
use lightloom_engine::{
    Command, HostId, Io, PortId, QueuePlace, Rate, Rejected, Reports, Shape, Time, Totals, View,
};

impl Sirius {
    /// The longest relay queue of any pair now [cells].
    pub fn longest_relay_queue(&self) -> usize {
        self.shards
            .iter()
            .map(Shard::longest_relay_queue)
            .max()
            .unwrap_or(0)
    }

    /// Records the transmissions of `slot` for the audit. Ports are numbered node · U + uplink. The
    /// receiving node is the one to which the kernel handed the cell.
    pub(super) fn record(&mut self, slot: i64, io: &mut Io) {
        let (schedule, u) = (&self.derived.schedule, self.derived.uplinks);
        let audit = io.audit.as_mut().expect("only when audited");
        let from = self.config.slot * slot + self.config.guardband;
        for sent in self.shards.iter_mut().flat_map(|s| s.sent.drain(..)) {
            let (node, to) = (schedule.node(sent.from), schedule.node(sent.to));
            let met = self
                .schedules
                .peer(Label(sent.from as u16), sent.uplink as u16, slot);
            let port = met.map_or(0, |m| m.1 as u32);
            let (tx, rx) = (PortId(node * u + sent.uplink), PortId(to * u + port));
            audit.transmit(tx, rx, from, self.config.slot * (slot + 1), sent.bytes);
        }
    }

    /// Locates every byte, cell by cell, because the last cell of a flow may be short.
    fn place(&self, view: &mut View) {
        let servers = self.servers.as_ref();
        for shard in &self.shards {
            let (waiting, relayed) = shard.bytes(&self.routes);
            view.waiting_bytes += waiting;
            for (row, relayed) in relayed.into_iter().enumerate() {
                let queued = relayed + servers.map_or(0, |s| s.receiving.at(self.rack(shard, row)));
                view.queued_bytes += queued;
                view.queued_bytes_worst = view.queued_bytes_worst.max(queued);
            }
        }
        let unsent = servers.map_or(0, |s| s.unsent(&self.routes));
        view.waiting_bytes += unsent + self.entrance.bytes() + self.faults.bytes(&self.routes);
        let flights = self.flights.iter().flatten();
        let in_fibre: u64 = flights.map(|f| f.bytes(&self.routes)).sum();
        view.on_links_bytes = in_fibre + self.bypassed.bytes();
        view.in_flight_bytes = view.placed_bytes();
    }

    /// Whether the cells in the queues of nodes are the only cause of further events.
    fn is_quiet(&self) -> bool {
        self.flying == 0
            && !self.epochs.iter().any(Epoch::is_live)
            && self.bypassed.is_empty()
            && self.entrance.is_empty()
            && !self.faults.pending()
            && self.servers.as_ref().is_none_or(Servers::idle)
    }

    fn rack(&self, shard: &Shard, row: usize) -> u32 {
        self.derived.schedule.node((shard.lo + row) as u32)
    }

    /// The largest number of bytes that wait at any rack: for second hops, each counted as a full
    /// cell, and for the links of servers.
    pub(super) fn longest_queue(&self) -> u64 {
        let queue = |shard: &Shard, row: usize| {
            let relaying = shard.relaying[row] as u64 * self.routes.payload;
            let servers = self.servers.as_ref();
            relaying + servers.map_or(0, |s| s.receiving.at(self.rack(shard, row)))
        };
        let shards = self.shards.iter();
        let longest = shards.filter_map(|s| (0..s.rows).map(|row| queue(s, row)).max());
        longest.max().unwrap_or(0)
    }
}

impl SlotKernel for Sirius {
    fn slot_length(&self) -> Time {
        self.config.slot
    }

    fn slot(&mut self, slot: i64, io: &mut Io) {
        self.step(slot, io);
    }

    fn idle(&self) -> bool {
        self.shards.iter().all(Shard::idle) && self.is_quiet()
    }

    /// Whether cells wait at their sources and dead parts leave no intermediate for any of them.
    fn stuck(&self) -> bool {
        if !self.faults.on || !self.is_quiet() || self.shards.iter().any(|s| s.held > 0) {
            return false;
        }
        let avoid = self.avoid_for_good();
        self.shards.iter().all(|shard| shard.is_stranded(&avoid))
    }

    fn apply(&mut self, command: Command, _now: Time) -> Result<(), Rejected> {
        self.order(command)
    }
}

impl Reports for Sirius {
    fn shape(&self) -> Shape {
        shape(&self.cluster, &self.config, &self.derived)
    }

    fn observe(&self, _: &Io, view: &mut View) {
        let payload = self.routes.payload;
        *view = View::default();
        self.place(view);
        view.carried_bytes = self.shards.iter().map(|s| s.hops).sum::<u64>() * payload;
    }

    fn totals(&self) -> Totals {
        let payload = self.routes.payload;
        let relayed = self.shards.iter().map(|s| s.queue_peak() * payload);
        Totals {
            queue_peak_bytes: relayed.max().max(Some(self.queue_peak)),
            queue_place: QueuePlace::Relay,
            reorder_peak_bytes: self.shards.iter().map(|s| s.reorder.peak_bytes()).max(),
            cell_hops: Some(self.shards.iter().map(|s| s.hops).sum()),
            packet_hops: None,
            circuit_bytes: None,
        }
    }

    fn settle(&self, io: &mut Io) {
        if let Some(servers) = &self.servers {
            servers.settle(&self.routes, io);
        }
        for shard in &self.shards {
            for (flow_index, bytes, hops) in shard.reorder.progress() {
                let flow = self.routes.flow[flow_index as usize].index();
                io.flows.delivered[flow] = bytes;
                io.flows.hops[flow] = hops;
            }
        }
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        soonest(&self.cluster, &self.config, &self.derived, src, dst, bytes)
    }

    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        let slot = at.0.div_euclid(self.config.slot.0);
        if self.schedules.full_at(slot) {
            return lit(&self.config, &self.derived.schedule, tx, rx, at);
        }
        let u = self.derived.uplinks;
        // Which nodes are alive depends on detection, not on commands alone. The audit therefore
        // uses the kernel's state, which the tests compare with that of the reference.
        let met = self
            .schedules
            .peer(Label((tx.0 / u) as u16), (tx.0 % u) as u16, slot);
        let heard = met.map(|(to, port)| PortId(to.0 as u32 * u + port as u32));
        at % self.config.slot >= self.config.guardband && heard == Some(rx)
    }

    fn port_rate(&self, _tx: PortId) -> Rate {
        self.config.channel_rate
    }
}
