//! Flits behind the crossbar of routers with an internal speedup: their switch moves up to
//! `speedup` flits per cycle to an output, and its wire takes one of them.
//!
//! Each output has one first-in, first-out queue for all virtual channels: every flit in it already
//! has a place in the buffer at the other end, so none waits for credits.

use super::flit::{Bits, Flit};

/// The queues of all outputs.
#[derive(Clone, Debug)]
pub struct OutputQueues {
    /// Flits that a queue holds; 0 without a speedup.
    depth: u16,
    port_bits: u32,
    ring: Vec<Flit>,
    first: Vec<u16>,
    count: Vec<u16>,
    /// Outputs of each router with a queued flit, and outputs whose queue is full.
    waiting: Vec<u64>,
    full: Vec<u64>,
}

impl OutputQueues {
    /// Empty queues of this depth for the outputs of `routers` routers.
    pub fn new(depth: u32, routers: usize, bits: Bits) -> OutputQueues {
        let outputs = match depth {
            0 => 0,
            _ => routers << bits.port,
        };
        OutputQueues {
            depth: depth as u16,
            port_bits: bits.port,
            ring: vec![Flit::NOTHING; outputs * depth as usize],
            first: vec![0; outputs],
            count: vec![0; outputs],
            waiting: vec![0; routers],
            full: vec![0; routers],
        }
    }

    /// Outputs of a router that cannot accept a flit.
    #[inline]
    pub fn full(&self, router: usize) -> u64 {
        self.full[router]
    }

    /// Outputs of a router with a queued flit.
    #[inline]
    pub fn waiting(&self, router: usize) -> u64 {
        self.waiting[router]
    }

    /// Appends a flit that has crossed the switch to an output, whose queue must not be full.
    #[inline]
    pub fn push(&mut self, output: usize, flit: Flit) {
        let place = (self.first[output] + self.count[output]) % self.depth;
        self.ring[output * self.depth as usize + place as usize] = flit;
        self.count[output] += 1;
        let (router, port) = self.ends(output);
        self.waiting[router] |= 1 << port;
        self.full[router] |= ((self.count[output] == self.depth) as u64) << port;
    }

    /// Removes the first flit of an output, whose queue must not be empty.
    #[inline]
    pub fn pop(&mut self, output: usize) -> Flit {
        let first = self.first[output];
        self.first[output] = (first + 1) % self.depth;
        self.count[output] -= 1;
        let (router, port) = self.ends(output);
        self.full[router] &= !(1 << port);
        self.waiting[router] &= !(((self.count[output] == 0) as u64) << port);
        self.ring[output * self.depth as usize + first as usize]
    }

    fn ends(&self, output: usize) -> (usize, usize) {
        (
            output >> self.port_bits,
            output & ((1 << self.port_bits) - 1),
        )
    }

    /// All queued flits.
    #[cfg(test)]
    pub fn items(&self) -> impl Iterator<Item = (usize, Flit)> + '_ {
        let of =
            move |o: usize| (0..self.count[o]).map(move |i| (o, (self.first[o] + i) % self.depth));
        let places = (0..self.count.len()).flat_map(of);
        places.map(|(o, place)| (o, self.ring[o * self.depth as usize + place as usize]))
    }
}
