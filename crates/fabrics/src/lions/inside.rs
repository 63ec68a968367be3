//! The state of the network that both kernels share, and its reports.

use super::bound::Bound;
use super::config::LionsConfig;
use super::host_links::{Heard, HostLinks};
use super::loopback::Loopback;
use super::pace::Pace;
use super::passage::Passage;
use super::ports::Ports;
use crate::contract::Site;
use crate::hosts::{HostQueues, Packet};
use lightloom_engine::{HostId, Io, PortId, Rate, Reports, Shape, Time, Totals, View};

/// Packets at their hosts, in loop-back buffers and in the grating.
pub struct Inside {
    bound: Bound,
    /// Packets that wait at hosts.
    pub hosts: HostQueues,
    /// Bytes of packets that hosts have sent and may have to retransmit.
    pub open: u64,
    /// Packets that lost arbitration; it has no queues if there are NACKs.
    pub loopback: Loopback,
    /// Packets that pass the grating.
    pub passage: Passage,
    /// Hosts' links, if they are slower than their receivers.
    links: Option<HostLinks>,
}

impl Inside {
    /// The empty state of a resolved configuration.
    pub fn new(config: &LionsConfig, ports: &Ports, bound: Bound, site: &Site) -> Inside {
        let (flows, stores) = (site.flows.len(), ports.queues() > 0);
        Inside {
            hosts: HostQueues::new(ports.hosts(), flows, config.packet.0, config.discipline),
            open: 0,
            loopback: Loopback::new(config, ports, site.seed),
            passage: Passage::new(Pace::new(config), &bound, stores, flows),
            links: HostLinks::new(config, site.cluster, flows),
            bound,
        }
    }

    /// Handles a packet that has arrived at a receiver of its host. It is delivered unless the
    /// host's link is slower; returns the host whose link then sends it and the time at which that
    /// ends.
    #[inline]
    pub fn hear(
        &mut self,
        packet: Packet,
        stored: bool,
        now: Time,
        io: &mut Io,
    ) -> Option<(u32, Time)> {
        if self.links.is_some() {
            return self.hear_by_link(packet, stored, now, io);
        }
        self.passage.deliver(packet, stored, now, io);
        None
    }

    /// Handles a packet that has arrived at a receiver of a host whose link may be slower.
    #[inline(never)]
    fn hear_by_link(
        &mut self,
        packet: Packet,
        stored: bool,
        now: Time,
        io: &mut Io,
    ) -> Option<(u32, Time)> {
        let links = self.links.as_mut()?;
        let host = io.flows.dst[packet.flow.index()].0;
        match links.hear(host as usize, packet, stored, now) {
            Heard::Delivered => self.passage.deliver(packet, stored, now, io),
            Heard::Sending(until) => {
                self.passage.bytes -= u64::from(packet.bytes);
                return Some((host, until));
            }
            Heard::Waits => self.passage.bytes -= u64::from(packet.bytes),
        }
        None
    }

    /// Handles the end of a transmission on a host's link. Returns the time at which the next
    /// packet will have been sent.
    pub fn sent(&mut self, host: u32, now: Time, io: &mut Io) -> Option<Time> {
        let (packet, stored, next) = self.links.as_mut()?.sent(host as usize, now);
        self.passage.bytes += u64::from(packet.bytes);
        self.passage.deliver(packet, stored, now, io);
        next
    }

    /// Whether no byte is.
    pub fn is_empty(&self) -> bool {
        let waiting = self.links.as_ref().map_or(0, |links| links.bytes);
        self.unsent() + self.loopback.bytes().0 + self.passage.bytes + waiting == 0
    }

    /// Bytes that hosts still have.
    fn unsent(&self) -> u64 {
        self.hosts.bytes + self.open
    }
}

impl Reports for Inside {
    fn shape(&self) -> Shape {
        self.bound.shape()
    }

    fn observe(&self, _: &Io, view: &mut View) {
        self.passage.observe(self.unsent(), &self.loopback, view);
        if let Some(links) = &self.links {
            view.queued_bytes += links.bytes;
            view.in_flight_bytes += links.bytes;
            view.queued_bytes_worst = view.queued_bytes_worst.max(links.worst());
        }
    }

    fn totals(&self) -> Totals {
        let mut totals = self.passage.totals(&self.loopback);
        if let Some(links) = &self.links {
            totals.queue_peak_bytes = totals.queue_peak_bytes.max(Some(links.peak));
        }
        totals
    }

    fn settle(&self, io: &mut Io) {
        self.passage.settle(io);
    }

    fn soonest(&self, _: HostId, _: HostId, bytes: u64) -> Time {
        self.bound.soonest(bytes)
    }

    fn lit(&self, tx: PortId, rx: PortId, _: Time) -> bool {
        self.bound.lit(tx, rx)
    }

    fn port_rate(&self, _: PortId) -> Rate {
        self.bound.rate()
    }
}
