//! A second, plain implementation of the network, cycle by cycle: flits are objects, queues are
//! queues, every router is processed in every cycle, nothing is skipped and nothing is packed. It
//! shares with the kernel its configuration, the order of wire lengths and the stream of random
//! routers, but no code.
//!
//! The free choices of the kernel are fixed here, so that both agree exactly:
//!
//! - in a cycle wires are emptied first, by length and on each in the order in which
//!   they were filled, flits before credits; then come routers, then hosts, ascending;
//! - turns move past the served ones, in order of (port, virtual channel) for virtual channels, of
//!   (virtual channel) at an input and of (input of the crossbar, port) at an output; only the
//!   first round of an allocation moves the latter two;
//! - among the winners of an allocation, those at lower outputs are sent first.

mod network;
mod router;

pub use network::Reference;

/// A packet.
#[derive(Clone, Debug)]
struct Packet {
    flow: usize,
    to: usize,
    flits: usize,
    bytes: u64,
    /// The random router of its detour, if it takes one; drawn at its first router.
    middle: Option<usize>,
    /// Whether its first router has chosen its path, and whether it has passed the random router.
    decided: bool,
    inward: bool,
    routers: u64,
}

/// A flit of a packet.
#[derive(Clone, Copy, Debug)]
struct Flit {
    packet: usize,
    first: bool,
    last: bool,
}

/// The first member of a list after the one that was served last, continuing from the start after
/// the end.
fn next_after<T: Copy + PartialOrd>(ascending: &[T], served: Option<T>) -> T {
    let later = |&&x: &&T| served.is_none_or(|s| x > s);
    *ascending.iter().find(later).unwrap_or(&ascending[0])
}
