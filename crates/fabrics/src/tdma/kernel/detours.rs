//! What of a slot is left when all have sent what goes directly: bytes leave for relays.

use super::{Tdma, NONE};
use crate::tdma::burst::Burst;
use crate::tdma::relays::{Grant, Relays, Spare};
use lightloom_engine::{Io, Time};

impl Tdma {
    /// All have sent what may go directly: the rest of the slot is for relays.
    pub(super) fn relay(&mut self, io: &mut Io) {
        let Some(mut relays) = self.relays.take() else {
            return;
        };
        let (lines, rate) = (&self.lines, self.setup.wire.rate);
        let spare = lines.iter().enumerate().filter_map(|(number, line)| {
            let left = line.window.until - line.free;
            (line.to != NONE && left > Time::ZERO).then(|| Spare {
                line: number as u32,
                from: number as u32 % self.racks,
                relay: line.to,
                bytes: rate.bytes_in(left),
            })
        });
        let grants = relays.share(spare, &self.voqs);
        for grant in &grants {
            self.detour(grant, &mut relays, io);
        }
        relays.end_of(grants);
        self.relays = Some(relays);
    }

    /// A rack sends to a relay what it may.
    fn detour(&mut self, grant: &Grant, relays: &mut Relays, io: &mut Io) {
        let (at, wire) = (grant.line as usize, self.setup.wire);
        let line = self.lines[at];
        let queue = self.voqs.of(grant.line % self.racks, grant.to);
        let (mut free, mut left) = (line.free, grant.bytes);
        while let Some((flow, waits)) = self.voqs.front(queue).filter(|_| left > 0) {
            let room = wire
                .rate
                .bytes_in((line.window.until - free).max(Time::ZERO));
            let carried = wire.fitting(waits.min(left), room);
            if carried == 0 {
                break;
            }
            self.voqs.take(queue, carried);
            relays.cross(line.to, grant.to, flow, carried);
            io.start(flow, free);
            self.moving += carried;
            self.packet_hops += wire.packets(carried);
            let burst = Burst {
                carried,
                ..Burst::default()
            };
            self.write_down(at, &burst, free, io);
            free = wire.end(free, carried);
            left -= carried;
        }
        self.lines[at].free = free;
    }
}
