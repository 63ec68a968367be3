//! Transfers between servers and their racks if servers' links have a rate: as in
//! [`crate::sirius::servers`], but cells wait with their flow.

use super::Ideal;
use lightloom_engine::{Io, Time};
use std::ops::Range;

impl Ideal {
    /// Admits flows at servers whose links have a rate.
    pub(super) fn admit_capped(&mut self, now: Time, io: &mut Io) {
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

    /// Moves the cells that have left a server of these racks by `now` to their source node, or to
    /// the link of a server in the same rack.
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

    /// Delivers the cells that have reached their servers by `until`.
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
