//! The steps of the kernel that move cells over the links of servers, if these have a rate. The
//! links are in [`crate::sirius::servers::links`].

use crate::sirius::failure::faults::Stretch;
use crate::sirius::index::{Label, Row};
use crate::sirius::kernel::Sirius;
use crate::sirius::prefetch::AHEAD;
use crate::sirius::servers::links::ServerFlow;
use lightloom_engine::{Io, Time};
use std::ops::Range;

impl Sirius {
    /// Admits flows at servers whose links have a rate.
    #[cold]
    pub(crate) fn admit_capped(&mut self, now: Time, io: &mut Io) {
        while let Some((flow, at)) = self.entrance.next(now, io) {
            // A new flow changes the turns of its server exactly at its arrival.
            let rack = self.cluster.rack_of(io.flows.src[flow.index()]);
            self.send_from_servers(rack..rack + 1, at, io);
            if let Some(servers) = &mut self.servers {
                servers.admit(flow, at, io, &self.routes);
            }
        }
        self.send_from_servers(0..self.cluster.racks, now, io);
    }

    /// Moves cells that have left a server of these racks by `now` into LOCAL, or to the link of a
    /// server in the same rack.
    fn send_from_servers(&mut self, racks: Range<u32>, now: Time, io: &mut Io) {
        let Some(mut servers) = self.servers.take() else {
            return;
        };
        for rack in racks {
            while let Some((at, host, flow)) = servers.next_sent(rack, now) {
                let ServerFlow { src, dst, seq, .. } = flow;
                let [src, dst] = [src, dst].map(Label);
                let mut run = 0;
                if servers.turn_back(flow, at, &self.routes, io) {
                    // The cell is on its way to a server.
                } else if self.faults.on && self.faults.bars(src, dst) {
                    let (flow_index, count) = (flow.flow_index, 1);
                    self.enter(Stretch {
                        flow_index,
                        seq,
                        count,
                    });
                } else {
                    let shard = &mut self.shards[self.partition.shard_of(src)];
                    let row = Row::of(src, shard.lo);
                    run = shard.local.grow(row, flow.run, flow.flow_index, dst, seq);
                }
                servers.schedule_next_cell(host, flow, run, at);
            }
        }
        self.servers = Some(servers);
    }

    /// Adds cells that have arrived at `at` to the queues for their servers, and delivers those
    /// that reach their servers by `until`.
    #[cold]
    pub(crate) fn deliver_capped(&mut self, at: Time, until: Time, io: &mut Io) {
        let Some(mut servers) = self.servers.take() else {
            return;
        };
        for shard in &mut self.shards {
            servers.receiving.arrive_across(&shard.arrived, at);
            shard.arrived.clear();
        }
        self.servers = Some(servers);
        self.queue_peak = self.queue_peak.max(self.longest_queue());
        let Some(mut servers) = self.servers.take() else {
            return;
        };
        for rack in servers.racks() {
            let label = Label(self.derived.schedule.label(rack) as u16);
            let shard = &mut self.shards[self.partition.shard_of(label)];
            servers.receiving.deliver(rack, until, &mut shard.delivered);
        }
        for shard in &mut self.shards {
            for there in shard.delivered.chunks(AHEAD) {
                let across = there.iter().filter(|c| !c.inside);
                shard.reorder.prefetch(across.map(|c| c.cell));
                for &coming in there {
                    if coming.inside {
                        servers.count_inside(coming, &self.routes, io);
                        continue;
                    }
                    shard.reorder.receive(coming.cell);
                    for flow_index in shard.reorder.completed.drain(..) {
                        io.finish(self.routes.flow[flow_index as usize], coming.at);
                    }
                }
            }
            io.deliver_some(std::mem::take(&mut shard.reorder.bytes));
            shard.delivered.clear();
        }
        self.servers = Some(servers);
    }
}
