//! The routes of packets, and the virtual channels that they may use.
//!
//! Dimension order may use all virtual channels: wires of one dimension are only followed by wires
//! of later dimensions, so packets never wait for each other in a cycle. Each of Valiant's phases
//! is in dimension order, the first on the lower half of the virtual channels, the second on the
//! others. UGAL's minimal packets may go from the lower half to the upper one, but not back. The
//! pair (half, dimension) therefore increases along every path, and its last element, a terminal,
//! never blocks.

use super::config::Routing;
use super::network::{Class, Network, WAITS};
use super::packets::{Packet, Way};

impl Network {
    /// Routes the first packet of an input's virtual channel: it requests its output.
    pub(super) fn route(&mut self, vc: usize) {
        let (channel, number) = self.bits.parts(vc);
        let (router, input) = self.bits.ends(channel);
        let lane = self.lanes[vc];
        let id = self.chains.packet(lane.first);
        let mut packet = self.packets.get(id);
        if packet.way == Way::Undecided {
            self.decide(router, &mut packet);
        }
        if packet.way == Way::Outward && packet.middle as usize == router {
            packet.way = Way::Inward;
        }
        packet.hops += 1;
        *self.packets.get_mut(id) = packet;
        let target = match packet.way {
            Way::Outward => packet.middle,
            _ => packet.router,
        };
        let ahead = self.topology.towards(router, target as usize);
        let output = ahead.unwrap_or(packet.terminal as usize);
        let entered = input < self.topology.concentration;
        let lane = &mut self.lanes[vc];
        lane.output = output as u8;
        lane.class = match packet.way {
            _ if ahead.is_none() || self.rule.routing == Routing::DimensionOrder => Class::All,
            Way::Outward => Class::First,
            Way::Inward => Class::Second,
            _ if entered || number < self.rule.split => Class::All,
            _ => Class::Second,
        };
        lane.vc = WAITS;
        lane.tag = id;
        lane.left = packet.flits;
        self.queue[router << self.bits.port | output] += packet.flits as u32;
        self.heads[channel] |= 1 << number;
        self.head_ports[router] |= 1 << input;
    }

    /// Chooses the path of a packet at its first router.
    fn decide(&mut self, router: usize, packet: &mut Packet) {
        packet.way = Way::Minimal;
        if self.rule.routing == Routing::DimensionOrder {
            return;
        }
        packet.middle = self.rule.random.below(self.topology.routers as u32);
        let detours = match self.rule.routing {
            Routing::Ugal => self.is_detour_better(router, packet),
            _ => true,
        };
        if detours {
            packet.way = Way::Outward;
        }
    }

    /// UGAL's comparison of queue length times number of wires. The queue length is the number of
    /// flits that wait here for the output plus its used credits; the waiting flits alone would not
    /// reflect the routers that follow (BookSim uses the same measure).
    pub(super) fn is_detour_better(&self, router: usize, packet: &Packet) -> bool {
        let (middle, last) = (packet.middle as usize, packet.router as usize);
        let t = &self.topology;
        let (Some(minimal), Some(outward)) = (t.towards(router, last), t.towards(router, middle))
        else {
            return false;
        };
        let queue = |port: usize| self.queue[router << self.bits.port | port] as u64;
        let direct = t.distance(router, last) as u64;
        let around = (t.distance(router, middle) + t.distance(middle, last)) as u64;
        queue(minimal) * direct > queue(outward) * around + self.rule.bias
    }
}
