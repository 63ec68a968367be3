//! Numbers of ports: lines, then servers up and down, then racks' links to the packet switch.

use super::Tdma;
use lightloom_engine::{HostId, Io, PortId, Time};

impl Tdma {
    pub(super) fn up_port(&self, host: HostId) -> PortId {
        PortId(self.lines.len() as u32 + host.0)
    }

    pub(super) fn down_port(&self, host: HostId) -> PortId {
        PortId(self.lines.len() as u32 + self.setup.cluster.hosts() + host.0)
    }

    pub(super) fn switch_port(&self, rack: u32, up: bool) -> PortId {
        let servers = self.lines.len() as u32 + 2 * self.setup.cluster.hosts();
        PortId(servers + if up { 0 } else { self.racks } + rack)
    }

    /// A packet takes an electrical link.
    pub(super) fn record(
        &mut self,
        port: PortId,
        bytes: u32,
        from: Time,
        until: Time,
        io: &mut Io,
    ) {
        self.packet_hops += 1;
        if let Some(audit) = &mut io.audit {
            audit.transmit(port, port, from, until, u64::from(bytes));
        }
    }
}
