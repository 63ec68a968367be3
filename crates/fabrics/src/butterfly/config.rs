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
/// Queue of an output behind a switch with a speedup, unless given [flits].
pub(super) const OUTPUT_BUFFER: u32 = 512;

/// An electrical k-ary n-flat of input-queued virtual-channel routers, flit by
/// flit (Kim, Dally and Abts, ISCA 2007): the baseline of LIONS (JSTQE 2013, §IV).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ButterflyConfig {
    /// Routers along each dimension; every router is wired to all that differ
    /// from it in one dimension. `[4, 4]` for the 64 nodes of LIONS §IV. Default:
    /// the most nearly square grid that connects the cluster's hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routers: Option<Vec<u32>>,
    /// c: hosts of a router (LIONS §IV: 4). Default: 4, or the next smaller
    /// number that divides the cluster's hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub concentration: Option<u32>,
    /// The routes of packets. Default "dimension-order".
    pub routing: Routing,
    /// Bias of UGAL towards the minimal path [B of queue]: a packet takes another path only if the
    /// queue there, multiplied by the number of wires, is shorter by more than this. Default 0 B,
    /// the plain comparison.
    pub ugal_bias: Bytes,
    /// Order in which a host sends the flows that wait for its transmitter: "fair", flows in turn, a packet each; or "fifo". The paper does not say.
    /// Default: `cluster.discipline`, which is "fair".
    #[serde(skip_serializing_if = "is_nothing")]
    pub discipline: Discipline,
    /// Payload of a full packet [B]; the last of a flow is short (LIONS §IV: 256 B
    /// and 64 B). Not shorter than a flit.
    pub packet: Bytes,
    /// Header of every packet [B], as that of LIONS (§III: 5 B). Packets are
    /// padded to whole flits.
    pub header: Bytes,
    /// Bytes that routers move per cycle [B]. Not in LIONS. Default 8 B, our assumption: a cycle is
    /// 6.4 ns at 10 Gb/s.
    pub flit: Bytes,
    /// Line rate of every link [b/s]; that of the servers unless given (LIONS
    /// §IV: 10 Gb/s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Virtual channels of every link; Valiant and UGAL need two classes of
    /// them. Not in LIONS. Default 2, our assumption: the fewest that work with
    /// all routings; BookSim has 16 (Jiang et al., ISPASS 2013).
    #[schemars(range(min = 1, max = 64))]
    pub vcs: u32,
    /// Buffer of each virtual channel at a router's input [flits]. Not in LIONS.
    /// Default, our assumption: the flits that are sent until a credit of the longest wire
    /// is back, at this rate and these latencies, and a packet more with virtual cut-through;
    /// at least 48 (64 with virtual cut-through). So one virtual channel carries the rate of
    /// its link: 48 at 10 Gb/s and 15 m, 162 at 40 Gb/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub vc_buffer: Option<u32>,
    /// When a packet wins a virtual channel. Default "wormhole".
    pub flow_control: FlowControl,
    /// From a flit's arrival at a router to its earliest departure: buffering,
    /// route computation, allocation [time]. Not in LIONS. Default 100 ns, our
    /// assumption of a plain switch chip.
    pub router_latency: Time,
    /// From a flit's departure to the credit's leaving for the router or host
    /// before [time]. Not in LIONS. Default 6.4 ns, our assumption: a cycle
    /// at 10 Gb/s. BookSim's flattened butterfly takes two.
    pub credit_latency: Time,
    /// How often routers give virtual channels and move flits across their switch in
    /// a cycle of the links. With more than once an input sends, and an output takes,
    /// up to as many flits a cycle; what the wire has not taken waits in a queue of
    /// the output. Not in LIONS. Default 1: no output queue; at most 4. Comparisons of
    /// topologies have 2 (Besta and Hoefler, Slim Fly, SC 2014), as nothing is then lost
    /// to allocators.
    #[schemars(range(min = 1, max = 4))]
    pub speedup: u32,
    /// Queue of each output [flits]; only with a speedup above 1. Not in LIONS.
    /// Default 512 then, our assumption: deeper ones change nothing in LIONS' network.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub output_buffer: Option<u32>,
    /// Flits that an input port can send in a cycle, of different virtual
    /// channels to different outputs. Not in LIONS. Default 1, our assumption of a
    /// plain crossbar; at most 4.
    #[schemars(range(min = 1, max = 4))]
    pub input_speedup: u32,
    /// Rounds of the switch allocator each time that it moves flits. Not in LIONS.
    /// Default 1, our assumption.
    #[schemars(range(min = 1, max = 16))]
    pub allocator_iterations: u32,
    /// Wire from a host to its router [length] (LIONS §IV: 1.75 m).
    pub host_wire: Length,
    /// Distance of neighbouring routers [length]; wires to those farther off are
    /// longer in proportion (LIONS §IV: 5 m).
    pub spacing: Length,
}

/// The routes of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// The shortest: one wire in each dimension that differs, in order.
    DimensionOrder,
    /// Over a random intermediate router (Valiant).
    Valiant,
    /// Minimal, or by a random intermediate router if the queue that way, times
    /// hops, is shorter at the first router (UGAL with local queues).
    Ugal,
}

/// When a packet wins a virtual channel that is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowControl {
    /// At once; it may stretch over several routers.
    Wormhole,
    /// When the buffer there has room for all of it.
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
