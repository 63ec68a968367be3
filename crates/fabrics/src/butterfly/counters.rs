//! Counters of carried traffic.

use super::packets::Packet;
use lightloom_engine::Io;

/// Counters of moved flits and bytes, updated as they move.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Payload of packets that have begun to leave their hosts and are not
    /// delivered [B].
    pub inside: u64,
    /// Flits that crossed a router.
    pub flit_hops: u64,
    /// Packets whose last flit crossed a router.
    pub packet_hops: u64,
    /// Largest number of flits in the buffers of a router at any time.
    pub peak: u32,
    /// Delivered payload × routers visited, by flow [B].
    visited: Vec<u64>,
}

impl Counters {
    /// Counters for `flows` flows.
    pub fn new(flows: usize) -> Counters {
        Counters {
            inside: 0,
            flit_hops: 0,
            packet_hops: 0,
            peak: 0,
            visited: vec![0; flows],
        }
    }

    /// Updates the peak with the number of flits in the buffers of a router.
    #[inline]
    pub fn held(&mut self, flits: u32) {
        self.peak = self.peak.max(flits);
    }

    /// Counts a delivered packet.
    #[inline]
    pub fn delivered(&mut self, packet: &Packet) {
        self.inside -= packet.bytes as u64;
        self.visited[packet.flow.index()] += packet.bytes as u64 * packet.hops as u64;
    }

    /// Sets the hops of each flow: the mean number of routers that its delivered bytes visited.
    pub fn settle(&self, io: &mut Io) {
        for (f, &visited) in self.visited.iter().enumerate() {
            let delivered = io.flows.delivered[f];
            if delivered > 0 {
                io.flows.hops[f] = (visited as f64 / delivered as f64) as f32;
            }
        }
    }
}
