//! The servers that every fabric of an experiment must connect.

use crate::ids::HostId;
use crate::time::Rate;

/// Racks of equal servers. Host `h` is server `h mod servers_per_rack` of rack `h div
/// servers_per_rack`; a cluster of single nodes has one server per rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Racks, or single nodes.
    pub racks: u32,
    /// Servers in each rack.
    pub servers_per_rack: u32,
    /// R: the rate by which load and goodput are normalised.
    pub server_rate: Rate,
    /// Rate of the link between a server and its rack switch.
    pub nic: Nic,
}

/// The limit of the rate between a server and its rack switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nic {
    /// No limit, so that only the fabric limits traffic (as in Sirius §7, according to its
    /// figures).
    Uncapped,
    /// A limit in each direction.
    Capped(Rate),
}

impl Cluster {
    /// Number of servers.
    pub fn hosts(&self) -> u32 {
        self.racks * self.servers_per_rack
    }

    /// The rack of a server.
    #[inline]
    pub fn rack_of(&self, host: HostId) -> u32 {
        host.0 / self.servers_per_rack
    }

    /// Total server rate of a rack, which its base uplinks carry.
    pub fn rack_rate(&self) -> Rate {
        Rate(self.server_rate.0 * self.servers_per_rack as u64)
    }
}
