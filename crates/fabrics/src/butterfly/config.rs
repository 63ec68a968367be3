//! The table of `kind = "flattened-butterfly"`.

use super::topology::Topology;
use crate::discipline::Discipline;
use crate::physics::is_nothing;
use lightloom_engine::{Bytes, Length, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The deepest buffer of a virtual channel [flits]: credits are words of 16 bits.
pub(super) const BUFFER_MAX: u32 = u16::MAX as u32;
/// The deepest queue of an output [flits].
pub(super) const OUTPUT_BUFFER_MAX: u32 = 4_096;
/// The least default of a virtual channel's buffer [flits]: with wormhole flow control …
const LEAST_WORMHOLE: u64 = 48;
/// … and with virtual cut-through.
const LEAST_CUT_THROUGH: u64 = 64;
/// Default queue of an output of a switch with a speedup [flits].
pub(super) const OUTPUT_BUFFER: u32 = 512;

/// An electrical k-ary n-flat of input-queued virtual-channel routers, flit by
/// flit (Kim, Dally and Abts, ISCA 2007): the baseline of LIONS (JSTQE 2013, §IV).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ButterflyConfig {
    /// Number of routers along each dimension; every router is wired to all routers that differ
    /// from it in one dimension. `[4, 4]` for the 64 nodes of LIONS §IV. Default: the most nearly
    /// square grid that connects the cluster's hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routers: Option<Vec<u32>>,
    /// c: number of hosts of a router (LIONS §IV: 4). Default: 4, or the next smaller number that
    /// divides the number of hosts of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub concentration: Option<u32>,
    /// The routes of packets. Default "dimension-order".
    pub routing: Routing,
    /// Bias of UGAL towards the minimal path, as a queue length [B]: a packet takes another path
    /// only if the queue there, multiplied by the number of wires, is shorter by more than this.
    /// Default 0 B, the plain comparison.
    pub ugal_bias: Bytes,
    /// Order in which a host sends the flows that wait for its transmitter: "fair" (one packet of
    /// each flow in turn) or "fifo". The paper gives no order. Default: `cluster.discipline`, which
    /// is "fair".
    #[serde(skip_serializing_if = "is_nothing")]
    pub discipline: Discipline,
    /// Payload of a full packet [B]; the last packet of a flow may be shorter (LIONS §IV: 256 B and
    /// 64 B). Not shorter than a flit.
    pub packet: Bytes,
    /// Header of every packet [B], as in LIONS (§III: 5 B). Packets are padded to whole flits.
    pub header: Bytes,
    /// Size of a flit, which routers move in a cycle [B]. LIONS does not define it. Default 8 B,
    /// our assumption: a cycle is 6.4 ns at 10 Gb/s.
    pub flit: Bytes,
    /// Line rate of every link [b/s]. Default: the rate of the servers (LIONS §IV: 10 Gb/s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Number of virtual channels of every link; Valiant and UGAL need two classes of them. LIONS
    /// does not define it. Default 2, our assumption: the smallest number with which all routings
    /// work; BookSim has 16 (Jiang et al., ISPASS 2013).
    #[schemars(range(min = 1, max = 64))]
    pub vcs: u32,
    /// Buffer of each virtual channel at a router's input [flits]. LIONS does not define it.
    /// Default, our assumption: the flits that are sent until a credit returns over the longest
    /// wire, at this rate and these latencies, and one packet more with virtual cut-through; at
    /// least 48 (64 with virtual cut-through). One virtual channel then carries the full rate of
    /// its link: 48 flits at 10 Gb/s and 15 m, 162 at 40 Gb/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub vc_buffer: Option<u32>,
    /// The condition under which a packet is assigned a virtual channel. Default "wormhole".
    pub flow_control: FlowControl,
    /// Latency of a router, from a flit's arrival to its earliest departure: buffering, route
    /// computation, allocation [time]. LIONS does not define it. Default 100 ns, our assumption for
    /// a plain switch chip.
    pub router_latency: Time,
    /// Time from a flit's departure until its credit leaves for the previous router or host [time].
    /// LIONS does not define it. Default 6.4 ns, our assumption: a cycle at 10 Gb/s. BookSim's
    /// flattened butterfly needs two cycles.
    pub credit_latency: Time,
    /// Internal speedup: the number of times per cycle of the links that a router assigns virtual
    /// channels and moves flits across its switch, at most 4. An input can then send, and an output
    /// receive, up to this number of flits in a cycle; flits that the wire has not yet taken wait
    /// in a queue of the output. LIONS does not define it. Default 1: no output queue. Comparisons
    /// of topologies use 2 (Besta and Hoefler, Slim Fly, SC 2014), so that allocators cause no
    /// loss.
    #[schemars(range(min = 1, max = 4))]
    pub speedup: u32,
    /// Size of the queue of each output [flits]; only with a speedup above 1. LIONS does not define
    /// it. Default 512, our assumption: larger queues change nothing in the network of LIONS.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub output_buffer: Option<u32>,
    /// Number of flits that an input port can send in a cycle, from different virtual channels to
    /// different outputs, at most 4. LIONS does not define it. Default 1, our assumption of a plain
    /// crossbar.
    #[schemars(range(min = 1, max = 4))]
    pub input_speedup: u32,
    /// Number of rounds of the switch allocator each time that it moves flits. LIONS does not
    /// define it. Default 1, our assumption.
    #[schemars(range(min = 1, max = 16))]
    pub allocator_iterations: u32,
    /// Length of the wire from a host to its router [length] (LIONS §IV: 1.75 m).
    pub host_wire: Length,
    /// Distance between neighbouring routers [length]; wires to more distant routers are longer in
    /// proportion (LIONS §IV: 5 m).
    pub spacing: Length,
}

/// The routes of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// The shortest route: one wire in each dimension that differs, in order of dimensions.
    DimensionOrder,
    /// By a random intermediate router (Valiant).
    Valiant,
    /// Minimal, or by a random intermediate router if the queue of the first router in that
    /// direction, multiplied by the number of hops, is shorter (UGAL with local queues).
    Ugal,
}

/// The condition under which a packet is assigned a free virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowControl {
    /// At once; the packet may extend over several routers.
    Wormhole,
    /// When the buffer at the next router has room for the whole packet.
    VirtualCutThrough,
}

impl Default for ButterflyConfig {
    fn default() -> Self {
        ButterflyConfig {
            routers: None,
            concentration: None,
            routing: Routing::DimensionOrder,
            ugal_bias: Bytes(0),
            discipline: Discipline::Fair,
            packet: Bytes(256),
            header: Bytes(5),
            flit: Bytes(8),
            rate: None,
            vcs: 2,
            vc_buffer: None,
            flow_control: FlowControl::Wormhole,
            router_latency: Time::NS * 100,
            credit_latency: Time(6_400),
            speedup: 1,
            output_buffer: None,
            input_speedup: 1,
            allocator_iterations: 1,
            host_wire: Length(1_750),
            spacing: Length(5 * Length::M.0),
        }
    }
}

impl ButterflyConfig {
    /// The line rate of a resolved configuration.
    pub fn line_rate(&self) -> Rate {
        self.rate.unwrap_or(Rate(1))
    }

    /// c of a resolved configuration.
    pub fn hosts_per_router(&self) -> u32 {
        self.concentration.unwrap_or(1)
    }

    /// Routers by dimension of a resolved configuration.
    pub fn sizes(&self) -> &[u32] {
        self.routers.as_deref().unwrap_or(&[])
    }

    /// The wiring of a resolved configuration.
    pub fn topology(&self) -> Topology {
        Topology::new(self.hosts_per_router(), self.sizes())
    }

    /// A router's cycle: a flit at the line rate.
    pub fn cycle(&self) -> Time {
        self.line_rate().time_for(self.flit.0)
    }

    /// Flits of a packet with that payload [B].
    pub fn flits(&self, payload: u64) -> u64 {
        (payload + self.header.0).div_ceil(self.flit.0)
    }

    /// Lengths of wires: number 0 is the host's wire, the others are wires between routers, by
    /// their distance in steps between neighbours.
    pub fn wires(&self) -> impl Iterator<Item = Length> + '_ {
        let most = self.sizes().iter().max().map_or(1, |&k| k as u64);
        let between = (1..most).map(|steps| Length(self.spacing.0 * steps));
        std::iter::once(self.host_wire).chain(between)
    }

    /// Distance between neighbours for which the path between the farthest hosts, including their
    /// own wires, has this propagation time; `None` with a single router.
    pub fn spacing_for(&self, way: Time) -> Option<Length> {
        let steps: u64 = self.sizes().iter().map(|&k| k as u64 - 1).sum();
        let between = Length::of_delay(way).0.saturating_sub(2 * self.host_wire.0);
        (steps > 0).then(|| Length(between / steps))
    }

    /// Queue of each output of a resolved configuration [flits]; 0 without one.
    pub fn output_queue(&self) -> u32 {
        self.output_buffer.unwrap_or(0)
    }

    /// Buffer of each virtual channel of a resolved configuration [flits].
    pub fn buffer(&self) -> u32 {
        self.vc_buffer.unwrap_or(1)
    }

    /// The default of `vc_buffer`, with which one virtual channel carries the full rate over the
    /// longest wire.
    pub fn covering_buffer(&self) -> u32 {
        let (packet, least) = match self.flow_control {
            FlowControl::Wormhole => (0, LEAST_WORMHOLE),
            FlowControl::VirtualCutThrough => (self.flits(self.packet.0), LEAST_CUT_THROUGH),
        };
        let covering = (self.round_trip() + packet).max(least);
        covering.min(BUFFER_MAX as u64) as u32
    }

    /// Cycles from a flit's departure until its credit is back, over the longest wire.
    pub fn round_trip(&self) -> u64 {
        let longest = self.longest_wire();
        self.flit_cycles(longest) + self.credit_cycles(longest)
    }

    /// The longest wire.
    pub fn longest_wire(&self) -> Length {
        self.wires().max().unwrap_or_default()
    }

    /// Cycles from a flit's departure to its earliest departure from the router at the other end of
    /// a wire.
    pub fn flit_cycles(&self, wire: Length) -> u64 {
        1 + (wire.delay() + self.router_latency).div_ceil(self.cycle()) as u64
    }

    /// Cycles from a flit's departure until its credit can be used at the previous router, at the
    /// other end of the wire.
    pub fn credit_cycles(&self, wire: Length) -> u64 {
        ((wire.delay() + self.credit_latency).div_ceil(self.cycle()) as u64).max(1)
    }
}
