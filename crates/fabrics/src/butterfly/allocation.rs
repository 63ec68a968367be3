//! The two allocators of a router, in every cycle.
//!
//! *Virtual channels*: the first packet of an input's virtual channel requests its output; every
//! output grants one request per cycle, pairing its next free channel with the next requester.
//! *Switch*, separable, input first: each input of the crossbar proposes the next of its virtual
//! channels that could send a flit; each output accepts the next of the inputs that propose to it.
//! In further iterations unmatched inputs propose to unmatched outputs. Priorities rotate past the
//! inputs that were served, in the first iteration only, so that no input starves.
//!
//! If packets take detours, an output prefers packets in transit to packets from its router's
//! hosts: otherwise hosts that always have packets take the capacity for which packets in transit
//! wait while they occupy wires, and the accepted load falls as the offered load rises. Hosts wait
//! as long as packets in transit fill the output.
//!
//! With an input speedup of s a port has s inputs of the crossbar, the j-th for the virtual
//! channels that are j modulo s. With a speedup both allocators run several times per cycle, and
//! outputs with full queues accept no flit.

use super::kernel::Now;
use super::network::{first_from, members, Network, WAITS};

/// In a proposal to an output, the lowest bit of the virtual channel's number; the bits below it
/// are the input of the crossbar.
const NUMBER: u32 = 16;
/// Larger than any turn.
const LATER: u32 = 1 << 16;

impl Network {
    /// Allocates virtual channels of a router's outputs to waiting packets.
    pub(super) fn allocate(&mut self, router: usize) {
        let base = router << self.bits.port;
        let around = (1u32 << (self.bits.port + self.bits.vc)) - 1;
        let mut asked = 0u64;
        for port in members(self.head_ports[router]) {
            let later = self.later(port);
            for number in members(self.heads[base | port]) {
                let vc = (base | port) << self.bits.vc | number;
                let output = self.lanes[vc].output as usize;
                if self.offered(vc, base | output) == 0 {
                    continue;
                }
                let who = (port << self.bits.vc | number) as u32;
                let turn = who.wrapping_sub(self.head_turn[base | output] as u32) & around;
                propose(&mut self.first, &mut asked, output, turn | later, who);
            }
        }
        for output in members(asked) {
            let who = self.first[output].1;
            self.head_turn[base | output] = ((who + 1) & around) as u16;
            self.give((base << self.bits.vc) + who as usize, base | output);
        }
    }

    /// Virtual channels of an output that the first packet of a lane may get.
    #[inline]
    fn offered(&self, vc: usize, out: usize) -> u64 {
        let lane = &self.lanes[vc];
        let free = self.free[out] & self.classes[lane.class as usize];
        if !self.whole || (lane.output as usize) < self.topology.concentration {
            return free;
        }
        let fits = |&v: &usize| self.credits[out << self.bits.vc | v] >= lane.left;
        members(free).filter(fits).fold(0, |set, v| set | 1 << v)
    }

    /// Allocates a virtual channel to the first packet of a lane.
    fn give(&mut self, vc: usize, out: usize) {
        let number = first_from(self.offered(vc, out), self.vc_turn[out]);
        self.vc_turn[out] = (number as u8 + 1) & 63;
        self.free[out] &= !(1 << number);
        self.holder[out << self.bits.vc | number] = vc as u32;
        let (channel, own) = self.bits.parts(vc);
        let (router, port) = self.bits.ends(channel);
        debug_assert!(self.lanes[vc].vc == WAITS, "a packet that waits");
        self.lanes[vc].vc = number as u8;
        self.heads[channel] &= !(1 << own);
        if self.heads[channel] == 0 {
            self.head_ports[router] &= !(1 << port);
        }
        if self.room(router, self.lanes[vc].output as usize, number) > 0 {
            self.ready[channel] |= 1 << own;
            self.ready_ports[router] |= 1 << port;
        }
    }

    /// Sends flits across a router's switch.
    pub(super) fn switch<const QUEUED: bool>(&mut self, router: usize, now: &mut Now) {
        let base = router << self.bits.port;
        // Matched outputs, and matched ports for each of their inputs of the crossbar.
        let (mut taken, mut used) = (0u64, [0u64; 4]);
        if QUEUED {
            taken = self.output_queues.full(router);
        }
        for iteration in 0..self.iterations {
            let asked = self.proposals(router, taken, &used);
            if asked == 0 {
                break;
            }
            for output in members(asked) {
                let proposal = self.first[output].1 as usize;
                let (number, who) = (proposal >> NUMBER, proposal & ((1 << NUMBER) - 1));
                let (input, port) = (who >> self.bits.port, who & ((1 << self.bits.port) - 1));
                let (channel, out) = (base | port, base | output);
                if iteration == 0 {
                    self.input_turn[channel * self.input_speedup + input] = (number as u8 + 1) & 63;
                    self.output_turn[out] = (who + 1) as u16;
                }
                used[input] |= 1 << port;
                self.send::<QUEUED>(channel << self.bits.vc | number, now);
            }
            taken |= asked;
        }
    }

    /// For each output, determines the input of the crossbar that goes first; returns the requested
    /// outputs.
    #[inline]
    fn proposals(&mut self, router: usize, taken: u64, used: &[u64; 4]) -> u64 {
        let base = router << self.bits.port;
        let around = (8u32 << self.bits.port) - 1;
        let mut asked = 0u64;
        for port in members(self.ready_ports[router]) {
            let channel = base | port;
            let later = self.later(port);
            let ready = self.ready[channel];
            for (input, stride) in self.strides.iter().enumerate() {
                let set = ready & stride;
                if set == 0 || used[input] >> port & 1 != 0 {
                    continue;
                }
                let set = self.open(channel, set, taken);
                if set == 0 {
                    continue;
                }
                let turn = self.input_turn[channel * self.input_speedup + input];
                let number = first_from(set, turn);
                let output = self.lanes[channel << self.bits.vc | number].output as usize;
                let who = (input << self.bits.port | port) as u32;
                let turn = who.wrapping_sub(self.output_turn[base | output] as u32) & around;
                let what = (number as u32) << NUMBER | who;
                propose(&mut self.first, &mut asked, output, turn | later, what);
            }
        }
        asked
    }

    /// Added to the turn of an input with low priority: that of a host, if packets in transit go
    /// first.
    #[inline(always)]
    fn later(&self, port: usize) -> u32 {
        match self.transit_first && port < self.topology.concentration {
            true => LATER,
            false => 0,
        }
    }

    /// The virtual channels of an input whose outputs are not taken.
    #[inline(always)]
    fn open(&self, channel: usize, set: u64, taken: u64) -> u64 {
        if taken == 0 {
            return set;
        }
        let first = channel << self.bits.vc;
        let lanes = &self.lanes[first..first + (1 << self.bits.vc)];
        let mut open = set;
        for number in members(set) {
            open &= !((taken >> (lanes[number].output & 63) & 1) << number);
        }
        open
    }
}

/// Records the first of the inputs that request an output.
#[inline(always)]
fn propose(first: &mut [(u32, u32)], asked: &mut u64, output: usize, turn: u32, who: u32) {
    if *asked >> output & 1 == 0 || turn < first[output].0 {
        first[output] = (turn, who);
        *asked |= 1 << output;
    }
}
