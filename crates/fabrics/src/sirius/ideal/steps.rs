//! Between the servers and their racks, where servers have links of their own: as in
//! [`crate::sirius::servers`], but that cells wait with their flow.

use super::Ideal;
use lightloom_engine::{Io, Time};
use std::ops::Range;

impl Ideal {
    /// Servers send their flows at their own rate.
    pub(super) fn admit_capped(&mut self, now: Time, io: &mut Io) {
        while let Some((flow, at)) = self.entrance.next(now, io) {
            // The turns of a server's flows change at the very time of arrival.
            let rack = self.cluster.rack_of(io.flows.src[flow.index()]);
            self.send_from_servers(rack..rack + 1, at, io);
            if let Some(servers) = &mut self.servers {
                servers.admit(flow, at, io, &self.routes);
            }
        }
        self.send_from_servers(0..self.cluster.racks, now, io);
    }

    /// Moves the cells that have left a server of these racks by `now` to their source, or onto the
    /// way to a server of the same rack.
    fn send_from_servers(&mut self, racks: Range<u32>, now: Time, io: &mut Io) {
        let Some(servers) = &mut self.servers else {
            return;
        };
        for rack in racks {
            while let Some((at, host, flow)) = servers.next_sent(rack, now) {
                if !servers.turn_back(flow, at, &self.routes, io) {
                    match flow.seq {
                        0 => self.nodes.admit(flow.flow_index, 1, &self.routes),
                        _ => self.nodes.take_another(flow.flow_index),
                    }
                    self.inside += 1;
                }
                servers.schedule_next_cell(host, flow, 0, at);
            }
        }
    }

    /// Cells that are at their servers by `until` are delivered.
    pub(super) fn deliver_capped(&mut self, until: Time, io: &mut Io) {
        let Some(mut servers) = self.servers.take() else {
            return;
        };
        let mut there = std::mem::take(&mut self.delivered);
        for rack in servers.racks() {
            servers.receiving.deliver(rack, until, &mut there);
        }
        for coming in there.drain(..) {
            if coming.inside {
                servers.count_inside(coming, &self.routes, io);
            } else {
                self.reorder.receive(coming.cell);
                self.deliver(coming.at, io);
            }
        }
        self.delivered = there;
        self.servers = Some(servers);
    }
}
