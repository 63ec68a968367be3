//! The links of hosts behind the receivers of their outputs. k receivers receive k packets at the
//! same time, but a host whose link has rate `cluster.nic` receives no faster than this link.
//!
//! A packet whose link is idle passes it without being stored, because the link is no slower than a
//! receiver. Otherwise the whole packet waits for its turn; the queue has no bound.

use super::config::{HostLink, LionsConfig};
use crate::hosts::Packet;
use crate::links::{self, Links};
use crate::Discipline;
use lightloom_engine::{Cluster, FlowId, Nic, Time};

/// The links to all hosts.
#[derive(Clone, Debug)]
pub struct HostLinks {
    links: Links,
    /// Time at which each link has sent its last packet.
    free: Vec<Time>,
    header: u32,
    /// Payload of packets that wait or are being sent [B].
    pub bytes: u64,
    /// Payload that waits or is being sent, of each host [B].
    at: Vec<u64>,
    /// Peak of the payload that waited for any link or was on it [B].
    pub peak: u64,
}

/// A packet at the receivers of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The packet has reached its host.
    Delivered,
    /// The link sends the packet now, until this time.
    Sending(Time),
    /// Others go before it.
    Waits,
}

impl HostLinks {
    /// Idle links of a resolved configuration; `None` if hosts receive from all receivers at once.
    pub fn new(config: &LionsConfig, cluster: &Cluster, flows: usize) -> Option<HostLinks> {
        let (Some(HostLink::Nic), Nic::Capped(rate)) = (config.host_link, cluster.nic) else {
            return None;
        };
        let hosts = cluster.hosts() as usize;
        Some(HostLinks {
            links: match config.discipline {
                Discipline::Fair => Links::fair(hosts, rate, flows),
                Discipline::Fifo => Links::fifo(hosts, rate),
            },
            free: vec![Time::ZERO; hosts],
            header: config.header.0 as u32,
            bytes: 0,
            at: vec![0; hosts],
            peak: 0,
        })
    }

    /// The approximate memory for this number of hosts and flows [B].
    pub fn memory(hosts: u64, flows: u64) -> u64 {
        hosts * (Links::BYTES.0 + 16) + flows * Links::BYTES.1
    }

    /// Handles a packet whose last bit has arrived at a receiver of its host.
    pub fn hear(&mut self, host: usize, packet: Packet, stored: bool, now: Time) -> Heard {
        let wire = packet.bytes + self.header;
        // The link may have sent the packet while it arrived.
        let came = now - self.links.rate.time_for(u64::from(wire));
        if self.links.first(host).is_none() && self.free[host] <= came {
            self.free[host] = now;
            return Heard::Delivered;
        }
        self.bytes += u64::from(packet.bytes);
        self.at[host] += u64::from(packet.bytes);
        self.peak = self.peak.max(self.at[host]);
        let waiting = links::Packet {
            flow: packet.flow,
            bytes: wire,
            circuit: stored,
        };
        let from = self.free[host].max(came);
        match self.links.join(host, waiting, false, from) {
            Some(until) => {
                self.free[host] = until;
                Heard::Sending(until)
            }
            None => Heard::Waits,
        }
    }

    /// Handles the end of a transmission on a link. Returns the packet, whether it was stored, and
    /// the time at which the next packet will have been sent.
    pub fn sent(&mut self, host: usize, now: Time) -> (Packet, bool, Option<Time>) {
        let sent = self.links.first(host).expect("the link was sending");
        let next = self.links.sent(host, now);
        self.free[host] = next.unwrap_or(now);
        let packet = Packet {
            flow: FlowId(sent.flow.0),
            bytes: sent.bytes - self.header,
        };
        self.bytes -= u64::from(packet.bytes);
        self.at[host] -= u64::from(packet.bytes);
        (packet, sent.circuit, next)
    }

    /// The largest payload that waits for any link or is on it [B].
    pub fn worst(&self) -> u64 {
        self.at.iter().copied().max().unwrap_or(0)
    }
}
