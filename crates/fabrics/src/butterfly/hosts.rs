//! The hosts: each sends its flows first in, first out, packet by packet, a
//! flit a cycle.

use lightloom_engine::{FlowId, Io};

/// End of a chain; no such flow or packet.
pub const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Host {
    /// First and last flow that wait.
    head: u32,
    tail: u32,
    /// Bytes of the first that are not in the network.
    left: u64,
}

/// The packet that a host is sending.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// The packet; [`NONE`] between packets.
    pub packet: u32,
    /// Flits that are not sent.
    pub flits: u16,
    /// Flits of the whole packet.
    pub of: u16,
    /// Its virtual channel.
    pub vc: u8,
    /// Where the search for a virtual channel begins next.
    pub turn: u8,
}

/// All hosts and the flows that wait in them.
#[derive(Clone, Debug)]
pub struct Hosts {
    hosts: Vec<Host>,
    /// What each is sending.
    pub sending: Vec<Sending>,
    /// Behind each flow, the next of its host.
    next: Vec<u32>,
    packet: u64,
    /// Bytes of packets whose first flit is not sent yet.
    pub bytes: u64,
}

impl Hosts {
    /// Idle hosts that will be offered so many flows, with packets of that
    /// payload [B].
    pub fn new(hosts: usize, flows: usize, packet: u64) -> Hosts {
        let host = Host {
            head: NONE,
            tail: NONE,
            left: 0,
        };
        let sending = Sending {
            packet: NONE,
            flits: 0,
            of: 0,
            vc: 0,
            turn: 0,
        };
        Hosts {
            hosts: vec![host; hosts],
            sending: vec![sending; hosts],
            next: vec![NONE; flows],
            packet,
            bytes: 0,
        }
    }

    /// A flow joins its host's queue. Returns the host.
    #[inline]
    pub fn admit(&mut self, flow: FlowId, io: &Io) -> usize {
        let (f, bytes) = (flow.index(), io.flows.bytes[flow.index()]);
        let at = io.flows.src[f].index();
        let host = &mut self.hosts[at];
        self.bytes += bytes;
        if host.head == NONE {
            host.head = flow.0;
            host.left = bytes;
        } else {
            self.next[host.tail as usize] = flow.0;
        }
        host.tail = flow.0;
        at
    }

    /// The next packet of a host, flow and payload, if there is one.
    #[inline]
    pub fn front(&self, host: usize) -> Option<(FlowId, u16)> {
        let host = &self.hosts[host];
        let bytes = host.left.min(self.packet) as u16;
        (host.head != NONE).then_some((FlowId(host.head), bytes))
    }

    /// The next packet begins to leave its host.
    #[inline]
    pub fn pop(&mut self, host: usize, bytes: u16, io: &Io) {
        self.bytes -= bytes as u64;
        let host = &mut self.hosts[host];
        host.left -= bytes as u64;
        if host.left > 0 {
            return;
        }
        host.head = self.next[host.head as usize];
        if host.head != NONE {
            host.left = io.flows.bytes[host.head as usize];
        }
    }
}
