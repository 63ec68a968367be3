//! Servers whose links are slower than those of their rack: packets cross them one by one,
//! low-latency traffic first.

use crate::discipline::Discipline;
use crate::hosts::{self, HostQueues};
use crate::links::{Links, Packet};
use lightloom_engine::{Cluster, FlowId, HostId, Io, Rate, Time};

/// Links from servers and to them.
pub struct ServerLinks {
    /// The packets that wait at servers; if some go before others, those first.
    up: Vec<HostQueues>,
    /// The queue from which each server is sending a packet.
    sending: Vec<Option<u8>>,
    /// To servers.
    pub down: Links,
    /// Bytes for the servers of each rack.
    for_rack: Vec<u64>,
    servers_per_rack: u32,
}

impl ServerLinks {
    /// Memory of a server and of a flow, without packets [B].
    pub const BYTES: (u64, u64) = (
        2 * HostQueues::BYTES.0 + 2 + Links::BYTES.0,
        2 * HostQueues::BYTES.1 + Links::BYTES.1,
    );

    /// Creates idle links of a rate, for this number of flows and packets of this size [B]; some
    /// flows may go before others.
    pub fn new(
        cluster: &Cluster,
        rate: Rate,
        flows: usize,
        packet: u64,
        expedites: bool,
        discipline: Discipline,
    ) -> ServerLinks {
        let hosts = cluster.hosts() as usize;
        let kinds = 1 + usize::from(expedites);
        ServerLinks {
            up: vec![HostQueues::new(hosts, flows, packet, discipline); kinds],
            sending: vec![None; hosts],
            down: match discipline {
                Discipline::Fair => Links::fair(hosts, rate, flows),
                Discipline::Fifo => Links::fifo(hosts, rate),
            },
            for_rack: vec![0; cluster.racks as usize],
            servers_per_rack: cluster.servers_per_rack,
        }
    }

    /// Adds a flow to the queue of its server, before or behind others. Returns the server if it is
    /// idle.
    pub fn admit(&mut self, flow: FlowId, first: bool, io: &Io) -> Option<HostId> {
        let kind = if first { 0 } else { self.up.len() - 1 };
        let host = self.up[kind].admit(flow, io);
        self.sending[host].is_none().then_some(HostId(host as u32))
    }

    /// Sends the next packet of an idle server, if it has one. Returns the packet's time of arrival
    /// at the rack.
    pub fn send(&mut self, host: HostId, now: Time) -> Option<(hosts::Packet, Time)> {
        let host = host.index();
        let kind = (0..self.up.len()).find(|&kind| self.up[kind].waits(host))?;
        self.sending[host] = Some(kind as u8);
        let packet = self.up[kind].first(host);
        let takes = self.down.rate.time_for(u64::from(packet.bytes));
        Some((packet, now + takes))
    }

    /// Returns the packet that a server was sending, which is now at its rack.
    pub fn sent(&mut self, host: HostId) -> hosts::Packet {
        let host = host.index();
        let kind = self.sending[host].take().expect("it was sending");
        let queues = &mut self.up[usize::from(kind)];
        let packet = queues.first(host);
        queues.pop(host, packet.bytes);
        packet
    }

    /// Handles a packet at the rack of its server. Returns its time of arrival at the server, if it
    /// does not wait.
    pub fn hand_down(
        &mut self,
        to: HostId,
        packet: Packet,
        first: bool,
        now: Time,
    ) -> Option<Time> {
        self.for_rack[(to.0 / self.servers_per_rack) as usize] += u64::from(packet.bytes);
        self.down.join(to.index(), packet, first, now)
    }

    /// Ends the reception of a packet at its server. Returns the packet, and the next one with its
    /// time of arrival.
    pub fn received(&mut self, host: HostId, now: Time) -> (Packet, Option<(Packet, Time)>) {
        let packet = self.down.first(host.index()).expect("it was sending");
        self.for_rack[(host.0 / self.servers_per_rack) as usize] -= u64::from(packet.bytes);
        let until = self.down.sent(host.index(), now);
        let next = self.down.first(host.index());
        (packet, next.zip(until))
    }

    /// Bytes that have not left their servers.
    pub fn waiting(&self) -> u64 {
        self.up.iter().map(|queues| queues.bytes).sum()
    }

    /// Bytes at a rack that wait for links to its servers, or are on them.
    pub fn for_rack(&self, rack: u32) -> u64 {
        self.for_rack[rack as usize]
    }
}
