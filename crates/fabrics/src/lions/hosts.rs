//! The hosts' transmitters, and the times at which each may send.

use crate::hosts::HostQueues;
use lightloom_engine::{Io, Time};

#[derive(Clone, Copy, Debug)]
struct Sender {
    /// Time from which it may send the next packet.
    free: Time,
    /// Whether a packet is on its way to the arbiter; the time of the next one is known when it
    /// arrives there.
    sending: bool,
}

/// The transmitters of all hosts. Each sends one packet at a time.
#[derive(Clone, Debug)]
pub struct Senders {
    senders: Vec<Sender>,
}

impl Senders {
    /// Creates the idle transmitters of `hosts` hosts.
    pub fn new(hosts: usize) -> Senders {
        let idle = Sender {
            free: Time::ZERO,
            sending: false,
        };
        Senders {
            senders: vec![idle; hosts],
        }
    }

    /// When an idle host with something to send sends it; it is not idle then.
    #[inline]
    pub fn wake(&mut self, host: usize, now: Time) -> Option<Time> {
        let sender = &mut self.senders[host];
        if sender.sending {
            return None;
        }
        sender.sending = true;
        Some(sender.free.max(now))
    }

    /// The transmitter is free at `free`: when the next packet is sent, or
    /// nothing if none waits.
    #[inline]
    pub fn next(
        &mut self,
        host: usize,
        free: Time,
        queues: &mut HostQueues,
        io: &Io,
    ) -> Option<Time> {
        let sender = &mut self.senders[host];
        sender.free = free;
        queues.pass_to_arrived(host, free, io);
        let Some(first) = queues.front(host) else {
            sender.sending = false;
            return None;
        };
        Some(free.max(io.flows.arrival[first.flow.index()]))
    }
}
