//! The hosts' transmitters, and the times at which each may send.

use crate::hosts::HostQueues;
use lightloom_engine::{Io, Time};

#[derive(Clone, Copy, Debug)]
struct Sender {
    /// Time from which the host may send the next packet.
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

    /// Returns the time at which an idle host sends its packet, and marks the host as busy; `None`
    /// if it is not idle.
    #[inline]
    pub fn wake(&mut self, host: usize, now: Time) -> Option<Time> {
        let sender = &mut self.senders[host];
        if sender.sending {
            return None;
        }
        sender.sending = true;
        Some(sender.free.max(now))
    }

    /// Frees the transmitter at `free`. Returns the time of the next packet, or `None` if none
    /// waits.
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
