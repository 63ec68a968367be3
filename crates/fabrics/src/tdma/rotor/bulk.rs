//! The queues of bulk traffic: at the racks of sources for direct circuits, and at relays.

use super::crossed_count::CrossedCount;
use super::per_host::fairness::Division;
use super::per_host::PerHost;
use super::relays::Relays;
use super::rotorlb::RotorLb;
use crate::tdma::circuits::Circuits;
use crate::tdma::sending::Landing;
use crate::tdma::setup::Setup;
use crate::tdma::voq::Voqs;
use lightloom_engine::{FlowId, Io, Time};

/// Bulk traffic at racks and on its way to relays.
pub struct Bulk {
    /// Bytes that wait at the rack of their source; empty if circuits are divided among hosts.
    pub own: Voqs,
    /// Two-hop traffic, if circuits are divided among racks; otherwise `None`.
    pub relays: Option<Relays>,
    /// All bulk traffic, if circuits are divided among hosts; otherwise `None`.
    pub hosts: Option<PerHost>,
    /// Bytes that cross to relays in this slot.
    pub(super) crossed_count: CrossedCount,
}

impl Bulk {
    /// Empty queues for `flows` flows.
    pub fn new(setup: &Setup, division: Division, flows: usize) -> Bulk {
        let (cluster, planes) = (&setup.cluster, setup.planes.len());
        let packet = setup.wire.packet;
        let (relays, hosts) = match division {
            Division::Direct => (None, None),
            Division::PerRack { carries } => {
                let rule = RotorLb::new(cluster.racks, carries);
                let relays = Relays::new(rule, cluster.racks, planes, flows);
                (Some(relays), None)
            }
            Division::PerHost { carries } => {
                let hosts = PerHost::new(cluster, carries, packet, planes, flows);
                (None, Some(hosts))
            }
        };
        Bulk {
            own: Voqs::new(cluster.racks),
            relays,
            hosts,
            crossed_count: CrossedCount::new(planes),
        }
    }

    /// Whether bytes may cross two circuits.
    pub fn relays_traffic(&self) -> bool {
        self.relays.is_some() || self.hosts.is_some()
    }

    /// Adds bytes of a flow to the queue of the host of their source, if circuits are divided among
    /// hosts.
    pub fn join_host(&mut self, flow: FlowId, bytes: u64, io: &Io) -> bool {
        let Some(hosts) = &mut self.hosts else {
            return false;
        };
        let f = flow.index();
        hosts.join(flow, io.flows.src[f].0, io.flows.dst[f].0, bytes);
        true
    }

    /// Bytes that have not left their sources.
    pub fn waiting(&self) -> u64 {
        self.own.bytes + self.hosts.as_ref().map_or(0, PerHost::waiting)
    }

    /// Bytes at a relay.
    pub fn held(&self, rack: u32) -> u64 {
        let relays = self.relays.as_ref().map_or(0, |relays| relays.held(rack));
        relays + self.hosts.as_ref().map_or(0, |hosts| hosts.held(rack))
    }

    /// Bytes at all relays.
    pub fn all_held(&self) -> u64 {
        let relays = self.relays.as_ref().map_or(0, |relays| relays.queues.bytes);
        relays + self.hosts.as_ref().map_or(0, PerHost::all_held)
    }

    /// The share of a flow's delivered bytes that came over a relay.
    pub fn relayed(&self, flow: FlowId, delivered: u64) -> f64 {
        let by_racks = self.relays.as_ref().map_or(0, |r| r.delivered(flow));
        let by_hosts = self.hosts.as_ref().map_or(0, |h| h.delivered(flow));
        // Some may be at the rack and not yet at the server.
        (by_racks + by_hosts).min(delivered) as f64 / delivered as f64
    }

    /// Counts bytes that are at the rack of their destination.
    #[inline]
    pub fn landed(&mut self, landing: &Landing) {
        match (landing.relayed, &mut self.relays, &mut self.hosts) {
            (true, Some(relays), _) => relays.count_delivered(landing.flow, landing.bytes),
            (true, None, Some(hosts)) => hosts.count_delivered(landing.flow, landing.bytes),
            _ => {}
        }
    }

    /// Drops the plans of a line whose day is over.
    pub fn drop_plans(&mut self, line: usize, to: u32) {
        if let Some(relays) = &mut self.relays {
            relays.drop_grants(line, to);
        }
        if let Some(hosts) = &mut self.hosts {
            hosts.return_planned(line);
        }
    }

    /// Updates which racks meet after a failure or repair of a switch: no rack relays for a rack
    /// that it no longer meets.
    pub fn update_meetings(&mut self, circuits: &Circuits) {
        match (&mut self.relays, &mut self.hosts) {
            (Some(relays), _) => relays.set_meetings(circuits.meetings()),
            (None, Some(hosts)) => hosts.set_meetings(circuits.meetings()),
            (None, None) => {}
        }
    }

    /// Counts the bytes that have crossed to relays by a time.
    pub fn count_crossed(&mut self, by: Time, circuits: &mut Circuits) {
        circuits.carried += self.crossed_count.crossed_by(by, &circuits.wire);
    }
}
