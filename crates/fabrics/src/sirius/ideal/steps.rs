//! Between the servers and their racks, where servers have links of their own: as in
//! [`crate::sirius::servers`], but that cells wait with their flow.

use super::Ideal;
use lightloom_engine::{Io, Time};

impl Ideal {
    /// Servers send their flows at their own rate.
    pub(super) fn admit_capped(&mut self, now: Time, io: &mut Io) {
        while let Some((flow, at)) = self.entrance.next(now, io) {
            // The turns of a server's flows change at the very time of arrival.
            self.send_from_servers(at, io);
            if let Some(servers) = &mut self.servers {
                servers.admit(flow, at, io, &self.routes);
            }
        }
        self.send_from_servers(now, io);
    }

    /// What has left its server by `now` is at its source, or on its way to a server there.
    fn send_from_servers(&mut self, now: Time, io: &mut Io) {
        let Some(servers) = &mut self.servers else {
            return;
        };
        while let Some((at, host, flow)) = servers.next_sent(now) {
            if !servers.turn_back(flow, at, &self.routes, io) {
                match flow.seq {
                    0 => self.nodes.admit(flow.flow_index, 1, &self.routes),
                    _ => self.nodes.take_another(flow.flow_index),
                }
                self.inside += 1;
            }
            servers.again(host, flow, 0, at, &self.routes);
        }
    }

    /// Cells that are at their servers by `until` are delivered.
    pub(super) fn deliver_capped(&mut self, until: Time, io: &mut Io) {
        while let Some((at, cell)) = self.servers.as_mut().and_then(|s| s.next_delivered(until)) {
            let servers = self.servers.as_mut();
            if !servers.is_some_and(|s| s.count_inside(cell, at, &self.routes, io)) {
                self.reorder.receive(cell);
                self.deliver(at, io);
            }
        }
    }
}
