//! Between the servers and their racks, where servers have links of their own: the steps
//! of the kernel that move cells over them. The links are in [`crate::sirius::servers::links`].

use crate::sirius::cell::Cell;
use crate::sirius::failure::faults::Stretch;
use crate::sirius::kernel::Sirius;
use lightloom_engine::{Io, Time};

impl Sirius {
    /// Servers send their flows at their own rate.
    #[cold]
    pub(crate) fn admit_capped(&mut self, now: Time, io: &mut Io) {
        while let Some((flow, at)) = self.entrance.next(now, io) {
            let (src, dst) = (io.flows.src[flow.index()], io.flows.dst[flow.index()]);
            // The turns of a server's flows change at the very time of arrival.
            self.send_from_servers(at, io);
            let within = self.cluster.rack_of(src) == self.cluster.rack_of(dst);
            let flow_index = self.routes.flow_index[flow.index()];
            if let Some(servers) = &mut self.servers {
                servers.admit(src, flow_index, at, within, &self.routes);
            }
        }
        self.send_from_servers(now, io);
    }

    /// What has left its server by `now` waits in LOCAL, or is in its rack already.
    pub(crate) fn send_from_servers(&mut self, now: Time, io: &mut Io) {
        let Some(mut servers) = self.servers.take() else {
            return;
        };
        while let Some((at, host, flow)) = servers.next_sent(now) {
            let (flow_index, seq) = (flow.flow_index as usize, flow.seq);
            let (src, dst) = (self.routes.src[flow_index], self.routes.dst[flow_index]);
            let mut run = 0;
            if src == dst {
                let id = self.routes.flow[flow_index];
                io.start(id, at);
                let to = io.flows.dst[id.index()];
                servers.arrive(to, Cell::new(flow.flow_index, seq), at, &self.routes);
            } else if self.faults.on && self.faults.bars(src, dst) {
                let (flow_index, count) = (flow.flow_index, 1);
                self.enter(Stretch {
                    flow_index,
                    seq,
                    count,
                });
            } else {
                let shard = &mut self.shards[self.partition.shard[src as usize] as usize];
                let row = src as usize - shard.lo;
                run = shard.local.grow(row, flow.run, flow.flow_index, dst, seq);
            }
            servers.again(host, flow, run, at, &self.routes);
        }
        self.servers = Some(servers);
    }

    /// Cells that have arrived at `at` queue for their servers; those that are
    /// there by `until` are delivered.
    #[cold]
    pub(crate) fn deliver_capped(&mut self, at: Time, until: Time, io: &mut Io) {
        let Some(mut servers) = self.servers.take() else {
            return;
        };
        for shard in &mut self.shards {
            for cell in shard.arrived.drain(..) {
                let flow = self.routes.flow[cell.flow_index() as usize];
                servers.arrive(io.flows.dst[flow.index()], cell, at, &self.routes);
            }
        }
        while let Some((at, cell)) = servers.next_delivered(until) {
            let flow_index = cell.flow_index();
            let flow = self.routes.flow[flow_index as usize];
            if let Some(inside) = servers.inside.get_mut(&flow_index) {
                let bytes = self.routes.bytes(cell);
                inside.left -= 1;
                inside.bytes += bytes;
                io.deliver_some(bytes);
                io.flows.hops[flow.index()] = 0.0;
                if inside.left == 0 {
                    servers.inside.remove(&flow_index);
                    io.finish(flow, at);
                }
                continue;
            }
            let to = self.routes.dst[flow_index as usize];
            let reorder = &mut self.shards[self.partition.shard[to as usize] as usize].reorder;
            reorder.receive(cell);
            io.deliver_some(std::mem::take(&mut reorder.bytes));
            for _ in reorder.completed.drain(..) {
                io.finish(flow, at);
            }
        }
        self.servers = Some(servers);
    }
}
