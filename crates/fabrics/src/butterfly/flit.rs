//! Flits in transit, and the numbering of channels and virtual channels.

use super::hosts::NONE;

/// Parts of the numbers of channels and virtual channels.
#[derive(Clone, Copy, Debug)]
pub struct Bits {
    /// Index of a port.
    pub port: u32,
    /// Index of a virtual channel.
    pub vc: u32,
}

impl Bits {
    /// Router and port of a router's channel.
    #[inline(always)]
    pub fn ends(self, channel: usize) -> (usize, usize) {
        (channel >> self.port, channel & ((1 << self.port) - 1))
    }

    /// Channel and number of a virtual channel.
    #[inline(always)]
    pub fn parts(self, vc: usize) -> (usize, usize) {
        (vc >> self.vc, vc & ((1 << self.vc) - 1))
    }
}

/// A flit on a wire, or in the queue of an output.
#[derive(Clone, Copy, Debug)]
pub struct Flit {
    /// The virtual channel of the input at the end of the wire; unused if the end is a host.
    pub to: u32,
    /// Its packet if it is the packet's first flit, or for a host the last flit; else [`NONE`].
    pub packet: u32,
}

impl Flit {
    /// None.
    pub const NOTHING: Flit = Flit {
        to: NONE,
        packet: NONE,
    };
}
