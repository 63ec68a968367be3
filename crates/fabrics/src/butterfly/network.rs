//! The state of the network, as columns.
//!
//! A *channel* is a port of a router, `router << port_bits | port`, as an output or as an input;
//! behind the routers' come the hosts' outputs. A *virtual channel* is `channel << vc_bits | vc`.
//! Both numbers are padded to powers of two, so that their parts are fields of bits.
//!
//! A virtual channel of an input has a [`Lane`]: the number of flits in its buffer, and their
//! packets. Flits are only counted, because they leave in the order of their arrival; the number of
//! a packet travels with its first flit.

use super::bound::Bound;
use super::chains::Chains;
use super::config::{ButterflyConfig, FlowControl, Routing};
use super::counters::Counters;
use super::flit::{Bits, Flit};
use super::hosts::{Injection, NONE};
use super::lines::{Lines, NEVER};
use super::output_queues::OutputQueues;
use super::packets::Packets;
use super::route_rule::RouteRule;
use super::topology::Topology;
use crate::contract::Site;
use crate::hosts::HostQueues;
use lightloom_engine::Time;

/// The virtual channels that a packet may request next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Any.
    All,
    /// The virtual channels of Valiant's first phase.
    First,
    /// The virtual channels of Valiant's second phase.
    Second,
}

/// A virtual channel of an input.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// Flits in the buffer.
    pub buffered: u16,
    /// Flits of the first packet that have not left, including those that have not arrived.
    pub left: u16,
    /// Packets that have flits here, or of which a part has left.
    pub packets: u16,
    /// Place of the first packet in the chains.
    pub first: u32,
    /// Place of the last.
    pub last: u32,
    /// The tag of the next flit to leave: the packet if the flit is its first one, else [`NONE`].
    pub tag: u32,
    /// Output of the first packet.
    pub output: u8,
    /// The virtual channel there that it holds; [`WAITS`] before it has one.
    pub vc: u8,
    /// The virtual channels that it may request.
    pub class: Class,
}

impl Lane {
    /// A lane without flits that holds no output.
    const EMPTY: Lane = Lane {
        buffered: 0,
        left: 0,
        packets: 0,
        first: NONE,
        last: NONE,
        tag: NONE,
        output: 0,
        vc: WAITS,
        class: Class::All,
    };
}

/// No virtual channel yet.
pub const WAITS: u8 = u8::MAX;

/// The network.
pub struct Network {
    pub(super) bound: Bound,
    pub(super) topology: Topology,
    pub(super) bits: Bits,
    // Constants of the run.
    pub(super) cycle: Time,
    /// From the departure of a packet's last flit to its delivery.
    pub(super) ejection: Time,
    pub(super) flit_bytes: u64,
    pub(super) header: u64,
    /// Flits that a virtual channel's buffer holds.
    #[cfg(test)]
    pub(super) vc_buffer: u16,
    /// Number of times that the switch moves flits in a cycle.
    pub(super) speedup: u32,
    /// Inputs of the crossbar of each port.
    pub(super) input_speedup: usize,
    pub(super) iterations: usize,
    pub(super) whole: bool,
    /// Whether packets in transit have priority over those from hosts.
    pub(super) transit_first: bool,
    /// Virtual channels of each class.
    pub(super) classes: [u64; 3],
    /// Virtual channels that share an input of the crossbar.
    pub(super) strides: Vec<u64>,
    /// The channel at the other end of each channel, by output and by input.
    pub(super) peer: Vec<u32>,
    /// Length of each channel's wire, by number.
    pub(super) line: Vec<u8>,
    // Virtual channels of inputs.
    pub(super) lanes: Vec<Lane>,
    /// Packets whose flits are in each buffer, in order.
    pub(super) chains: Chains,
    // Inputs.
    /// Virtual channels that could send a flit.
    pub(super) ready: Vec<u64>,
    /// Virtual channels whose first packet waits for a virtual channel of its output.
    pub(super) heads: Vec<u64>,
    /// The virtual channel that has the turn at each input of the crossbar.
    pub(super) input_turn: Vec<u8>,
    // Outputs.
    /// Virtual channels that no packet holds.
    pub(super) free: Vec<u64>,
    /// The virtual channel that is allocated next.
    pub(super) vc_turn: Vec<u8>,
    /// The virtual channel of an input that is allocated first.
    pub(super) head_turn: Vec<u16>,
    /// The input of the crossbar that each output serves first.
    pub(super) output_turn: Vec<u16>,
    /// Flits of packets that are routed to the port and have not left, whether they have arrived or
    /// not; for wires also the credits in use: flits on the wire and in the buffers behind it. A
    /// flit that leaves for a wire is therefore counted until its credit returns.
    pub(super) queue: Vec<u32>,
    /// Flits behind a switch with a speedup.
    pub(super) output_queues: OutputQueues,
    // Virtual channels of outputs, the hosts' included.
    /// Flits that left through it.
    pub(super) sent: Vec<u64>,
    /// Free places in the buffer at the other end.
    pub(super) credits: Vec<u16>,
    /// The virtual channel of an input that holds it.
    pub(super) holder: Vec<u32>,
    // Routers.
    /// Inputs with a bit in `ready`, and inputs with a bit in `heads`.
    pub(super) ready_ports: Vec<u64>,
    pub(super) head_ports: Vec<u64>,
    /// Flits in all buffers of each router.
    pub(super) held: Vec<u32>,
    /// A bit for each router with work, and for each host with packets.
    pub(super) busy_routers: Vec<u64>,
    pub(super) busy_hosts: Vec<u64>,
    // Flits and credits on wires, and the remaining state.
    pub(super) flits: Lines<Flit>,
    pub(super) returning: Lines<u32>,
    pub(super) packets: Packets,
    pub(super) hosts: HostQueues,
    /// The packet that each host is sending.
    pub(super) sending: Vec<Injection>,
    pub(super) rule: RouteRule,
    pub(super) counters: Counters,
    /// Requests of an allocation: for each output, the turn and the number of the first requester.
    pub(super) first: Vec<(u32, u32)>,
    /// The next cycle in which a flit or credit moves.
    pub(super) next: u64,
    /// Earliest cycle that has not been simulated.
    pub(super) from: u64,
}

impl Network {
    /// An empty network of a resolved configuration.
    pub fn new(config: &ButterflyConfig, bound: Bound, site: &Site) -> Network {
        let topology = config.topology();
        let bits = Bits {
            port: topology.radix.next_power_of_two().trailing_zeros(),
            vc: config.vcs.next_power_of_two().trailing_zeros(),
        };
        let (hosts, inputs) = (site.cluster.racks as usize, topology.routers << bits.port);
        let outputs = inputs + hosts;
        let (vcs, inputs_each) = (config.vcs as usize, config.input_speedup as usize);
        let all = every(vcs, 1, 0);
        let low = (1u64 << (vcs / 2)) - 1;
        let (peer, line) = wiring(&topology, bits, hosts);
        let depth = config.buffer() as u16;
        Network {
            cycle: config.cycle(),
            ejection: config.cycle() + config.host_wire.delay(),
            flit_bytes: config.flit.0,
            header: config.header.0,
            #[cfg(test)]
            vc_buffer: depth,
            speedup: config.speedup,
            input_speedup: inputs_each,
            iterations: config.allocator_iterations as usize,
            transit_first: config.routing != Routing::DimensionOrder,
            whole: config.flow_control == FlowControl::VirtualCutThrough,
            classes: [all, all & low, all & !low],
            strides: (0..inputs_each)
                .map(|j| every(vcs, inputs_each, j))
                .collect(),
            peer,
            line,
            lanes: vec![Lane::EMPTY; inputs << bits.vc],
            chains: Chains::default(),
            ready: vec![0; inputs],
            heads: vec![0; inputs],
            input_turn: vec![0; inputs * inputs_each],
            free: vec![all; inputs],
            vc_turn: vec![0; inputs],
            head_turn: vec![0; inputs],
            output_turn: vec![0; inputs],
            queue: vec![0; inputs],
            output_queues: OutputQueues::new(config.output_queue(), topology.routers, bits),
            sent: vec![0; outputs],
            credits: vec![depth; outputs << bits.vc],
            holder: vec![NONE; inputs << bits.vc],
            ready_ports: vec![0; topology.routers],
            head_ports: vec![0; topology.routers],
            held: vec![0; topology.routers],
            busy_routers: vec![0; topology.routers.div_ceil(64)],
            busy_hosts: vec![0; hosts.div_ceil(64)],
            flits: Lines::new(config.wires().map(|w| config.flit_cycles(w))),
            returning: Lines::new(config.wires().map(|w| config.credit_cycles(w))),
            packets: Packets::default(),
            hosts: HostQueues::new(hosts, site.flows.len(), config.packet.0, config.discipline),
            sending: vec![Injection::NOTHING; hosts],
            rule: RouteRule::new(config, site.seed),
            counters: Counters::new(site.flows.len()),
            first: vec![(0, 0); 1 << bits.port],
            next: NEVER,
            from: 0,
            bound,
            topology,
            bits,
        }
    }

    /// The channel of a host's output.
    #[inline(always)]
    pub(super) fn host_channel(&self, host: usize) -> usize {
        (self.topology.routers << self.bits.port) + host
    }

    /// The time of a cycle.
    #[inline]
    pub(super) fn at(&self, cycle: u64) -> Time {
        self.cycle * cycle as i64
    }
}

/// Every `step`-th of the virtual channels, as a set.
fn every(vcs: usize, step: usize, from: usize) -> u64 {
    (from..vcs).step_by(step).fold(0, |set, v| set | 1 << v)
}

/// For each channel, the other end of its wire and the number of the wire: the destination as an
/// output and the source as an input, which are the same between routers.
fn wiring(topology: &Topology, bits: Bits, hosts: usize) -> (Vec<u32>, Vec<u8>) {
    let inputs = topology.routers << bits.port;
    let mut peer = vec![NONE; inputs + hosts];
    let mut line = vec![0; inputs + hosts];
    for router in 0..topology.routers {
        for port in topology.concentration..topology.radix {
            let end = topology.far_end(router, port);
            let channel = router << bits.port | port;
            peer[channel] = (end.router << bits.port | end.port) as u32;
            line[channel] = end.steps as u8;
        }
    }
    for host in 0..hosts {
        let router = topology.router(host);
        let input = router << bits.port | (host % topology.concentration);
        peer[inputs + host] = input as u32;
        peer[input] = (inputs + host) as u32;
    }
    (peer, line)
}

/// The first member of a non-empty set at or after a position, continuing from the start after the
/// end.
#[inline(always)]
pub(super) fn first_from(set: u64, from: u8) -> usize {
    let late = set & (u64::MAX << (from & 63));
    let some = if late != 0 { late } else { set };
    some.trailing_zeros() as usize
}

/// The members of a set, ascending.
#[inline(always)]
pub(super) fn members(set: u64) -> impl Iterator<Item = usize> {
    let mut rest = set;
    std::iter::from_fn(move || {
        let next = rest.trailing_zeros() as usize;
        (rest != 0).then(|| {
            rest &= rest - 1;
            next
        })
    })
}
