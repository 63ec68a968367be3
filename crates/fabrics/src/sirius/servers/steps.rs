//! Between the servers and their racks, where servers have links of their own: the steps
//! of the kernel that move cells over them. The links are in [`crate::sirius::servers::links`].

use crate::sirius::failure::faults::Stretch;
use crate::sirius::kernel::Sirius;
use lightloom_engine::{Io, Time};

impl Sirius {
    /// Servers send their flows at their own rate.
    #[cold]
    pub(crate) fn admit_capped(&mut self, now: Time, io: &mut Io) {
        while let Some((flow, at)) = self.entrance.next(now, io) {
            // The turns of a server's flows change at the very time of arrival.
            self.send_from_servers(at, io);
            if let Some(servers) = &mut self.servers {
                servers.admit(flow, at, io, &self.routes);
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
            if servers.turn_back(flow, at, &self.routes, io) {
                // It is on its way to a server.
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
                servers.arrive_across(cell, at, &self.routes, io);
            }
        }
        while let Some((at, cell)) = servers.next_delivered(until) {
            if servers.count_inside(cell, at, &self.routes, io) {
                continue;
            }
            let flow = self.routes.flow[cell.flow_index() as usize];
            let to = self.routes.dst[cell.flow_index() as usize];
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
