//! What is inside, whichever kernel moves it, and what is reported of that.

use super::bound::Bound;
use super::config::LionsConfig;
use super::loopback::Loopback;
use super::pace::Pace;
use super::passage::Passage;
use super::ports::Ports;
use crate::contract::Site;
use crate::hosts::HostQueues;
use lightloom_engine::{HostId, Io, PortId, Rate, Reports, Shape, Time, Totals, View};

/// Packets at their hosts, in loop-back buffers and in the grating.
pub struct Inside {
    bound: Bound,
    /// What waits at hosts.
    pub hosts: HostQueues,
    /// Bytes of packets that hosts have sent and may have to send again.
    pub open: u64,
    /// What lost; without queues for NACKs.
    pub loopback: Loopback,
    /// What passes the grating.
    pub passage: Passage,
}

impl Inside {
    /// Nothing, of a resolved configuration.
    pub fn new(config: &LionsConfig, ports: &Ports, bound: Bound, site: &Site) -> Inside {
        let (flows, stores) = (site.flows.len(), ports.queues() > 0);
        Inside {
            hosts: HostQueues::new(ports.hosts(), flows, config.packet.0, config.discipline),
            open: 0,
            loopback: Loopback::new(config, ports, site.seed),
            passage: Passage::new(Pace::new(config), &bound, stores, flows),
            bound,
        }
    }

    /// Whether no byte is.
    pub fn is_empty(&self) -> bool {
        self.unsent() + self.loopback.bytes().0 + self.passage.bytes == 0
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
    }

    fn totals(&self) -> Totals {
        self.passage.totals(&self.loopback)
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
