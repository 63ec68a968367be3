//! The hosts: each sends its flows first in, first out, packet by packet.

use super::passage::Packet;
use lightloom_engine::{FlowId, Io, Time};

/// End of a chain; no such flow.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Host {
    /// First and last flow that wait.
    head: u32,
    tail: u32,
    /// Bytes of the first that have not been sent.
    left: u64,
    /// When the transmitter may send the next packet.
    free: Time,
    /// Whether a packet is on its way to the arbiter; the next one's time is
    /// known when that is there.
    sending: bool,
}

/// All hosts and the flows that wait in them.
#[derive(Clone, Debug)]
pub struct Hosts {
    hosts: Vec<Host>,
    /// Behind each flow, the next of its host.
    next: Vec<u32>,
    packet: u64,
    /// Bytes that are not with the switch yet.
    pub bytes: u64,
}

impl Hosts {
    /// Idle hosts that will be offered so many flows.
    pub fn new(hosts: usize, flows: usize, packet: u64) -> Hosts {
        let host = Host {
            head: NONE,
            tail: NONE,
            left: 0,
            free: Time::ZERO,
            sending: false,
        };
        Hosts {
            hosts: vec![host; hosts],
            next: vec![NONE; flows],
            packet,
            bytes: 0,
        }
    }

    /// A flow joins its host's queue.
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

    /// When an idle host with something to send sends it; it is not idle then.
    #[inline]
    pub fn wake(&mut self, host: usize, now: Time) -> Option<Time> {
        let host = &mut self.hosts[host];
        if host.sending {
            return None;
        }
        host.sending = true;
        Some(host.free.max(now))
    }

    /// The packet that a host sends.
    #[inline]
    pub fn packet(&self, host: usize) -> Packet {
        let host = &self.hosts[host];
        Packet {
            flow: FlowId(host.head),
            bytes: host.left.min(self.packet) as u32,
        }
    }

    /// Whether a host has anything to send.
    #[inline]
    pub fn waits(&self, host: usize) -> bool {
        self.hosts[host].head != NONE
    }

    /// The packet has left its host for good.
    #[inline]
    pub fn pop(&mut self, host: usize, bytes: u32, io: &Io) {
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

    /// The transmitter is free at `free`: when the next packet is sent, or
    /// nothing if none waits.
    #[inline]
    pub fn next(&mut self, host: usize, free: Time, io: &Io) -> Option<Time> {
        let host = &mut self.hosts[host];
        host.free = free;
        if host.head == NONE {
            host.sending = false;
            return None;
        }
        Some(free.max(io.flows.arrival[host.head as usize]))
    }
}
