//! The Clos at `detail = "flows"`: max-min rates over stations.
//!
//! Per-flow round robin with back-pressure converges to max-min fair rates (Hahne 1991). Here every
//! flow has its rate at once, and every station is a link with the total rate of its links, reduced
//! by headers. The last byte of a flow arrives later than its rate gives, by the time that packets
//! take beyond a fluid: storage at every switch, on one link of each station, rounds of packets
//! over its links ([`crate::alone`]), propagation and latency. A flow alone therefore takes as long
//! as its packets do; with full packets, to the picosecond.
//!
//! Failed links reduce the rate of a station; the additional times of packets stay those of a
//! station without failures.
//!
//! Not modelled: queues, and the time until rates settle.

use super::bound::Bound;
use super::config::ClosConfig;
use super::failures::Failures;
use super::layout::{Bundle, Layout, HOPS_MAX, NIC_DOWN, NIC_UP};
use crate::alone::Alone;
use lightloom_engine::fair::{LinkId, WEIGHT};
use lightloom_engine::kernel::flow::{FlowKernel, LinkKind, Net, Todo};
use lightloom_engine::{
    Command, FlowId, HostId, Io, LinkLoad, PortId, Rate, Rejected, Reports, Shape, Time, View,
};

/// The kernel; links are stations.
pub struct ClosFlows {
    layout: Layout,
    bound: Bound,
    failures: Failures,
    /// Time that a flow needs beyond bytes ÷ rate, by the stations that it passes.
    beyond: Vec<Option<Beyond>>,
    /// Bytes of a flow in a full packet, and bytes of that packet on the wire.
    mtu: u64,
    wire: u64,
}

/// Time that flows over this number of stations need beyond bytes ÷ rate.
#[derive(Clone, Debug)]
struct Beyond {
    packets: Alone,
    latency: Time,
}

impl ClosFlows {
    /// An empty network of a resolved configuration.
    pub fn new(config: &ClosConfig, layout: Layout, bound: Bound) -> ClosFlows {
        ClosFlows {
            failures: Failures::new(layout.wiring(config)),
            layout,
            bound,
            beyond: vec![None; HOPS_MAX + 1],
            mtu: config.mtu.0,
            wire: config.mtu.0 + config.header.0,
        }
    }

    /// The payload rate of a rate on the wire.
    fn payload(&self, rate: Rate) -> Rate {
        Rate((rate.0 as u128 * self.mtu as u128 / self.wire as u128) as u64)
    }

    fn station_rate(&self, station: u32) -> Rate {
        let bundle = self.layout.bundles[self.layout.tier(station)];
        Rate(bundle.rate.0 * bundle.links)
    }

    /// Delay of a flow's last byte, from its departure at the flow's rate to its arrival.
    fn delay(&mut self, stations: &[u32], bytes: u64) -> Time {
        if stations.is_empty() {
            return self.layout.local_delay;
        }
        if self.beyond[stations.len()].is_none() {
            self.beyond[stations.len()] = self.over(stations);
        }
        let beyond = &self.beyond[stations.len()];
        let of = |b: &Beyond| b.packets.beyond_rate(bytes) + b.latency;
        beyond.as_ref().map_or(Time::ZERO, of)
    }

    /// The additional time over such stations; all paths of the same length have the same.
    fn over(&self, stations: &[u32]) -> Option<Beyond> {
        let tiers = || stations.iter().map(|&s| self.layout.tier(s));
        let path: Vec<Bundle> = tiers().map(|tier| self.layout.bundles[tier]).collect();
        let narrowest = stations.iter().map(|&s| self.station_rate(s)).min()?;
        let header = self.wire - self.mtu;
        Some(Beyond {
            packets: Alone::new(&path, self.mtu, header, self.payload(narrowest))?,
            latency: tiers().fold(Time::ZERO, |sum, tier| sum + self.layout.delay[tier]),
        })
    }
}

impl FlowKernel for ClosFlows {
    type Event = ();

    fn begin(&mut self, net: &mut Net, _: &mut Todo<()>) {
        net.never_list_flows();
        for station in 0..self.layout.stations() as u32 {
            let kind = match self.layout.tier(station) {
                NIC_UP | NIC_DOWN => LinkKind::Server,
                _ => LinkKind::Switch,
            };
            net.add_link(self.payload(self.station_rate(station)), kind);
        }
    }

    fn arrive(&mut self, flow: FlowId, _: Time, io: &mut Io, net: &mut Net, _: &mut Todo<()>) {
        let f = flow.index();
        let (src, dst, bytes) = (io.flows.src[f], io.flows.dst[f], io.flows.bytes[f]);
        let path = self.layout.path(src, dst);
        let stations = path.stations();
        let mut links = [LinkId(0); HOPS_MAX];
        for (link, &station) in links.iter_mut().zip(stations) {
            *link = LinkId(station);
        }
        let limit = stations.is_empty().then_some(self.layout.rack_rate);
        net.open(flow, bytes, &links[..stations.len()], WEIGHT, limit);
        let delay = self.delay(stations, bytes);
        net.set_delay(flow, delay);
    }

    fn handle(&mut self, _: Time, (): (), _: &mut Io, _: &mut Net, _: &mut Todo<()>) {}

    fn apply(
        &mut self,
        command: Command,
        _: Time,
        net: &mut Net,
        _: &mut Todo<()>,
    ) -> Result<(), Rejected> {
        for uplinks in self.failures.apply(command)? {
            let (_, up) = self.failures.up(uplinks);
            for station in self.layout.stations_of(uplinks) {
                let link = self.layout.bundles[self.layout.tier(station)].rate;
                net.set_capacity(LinkId(station), self.payload(Rate(link.0 * up)));
            }
        }
        Ok(())
    }
}

impl Reports for ClosFlows {
    fn shape(&self) -> Shape {
        self.bound.shape(self.layout.switch_capacity())
    }

    fn observe(&self, _: &Io, view: &mut View) {
        let payload = view.carried_bytes as u128;
        view.carried_bytes = (payload * self.wire as u128 / self.mtu as u128) as u64;
    }

    fn link_loads(&self, carried: &[u64]) -> Vec<LinkLoad> {
        let on_wire = |payload: u64| payload as u128 * self.wire as u128 / self.mtu as u128;
        let stations = carried.iter().enumerate();
        stations
            .map(|(s, &payload)| self.layout.load(s as u32, on_wire(payload) as u64))
            .collect()
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        self.bound.soonest(src, dst, bytes)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        self.station_rate(tx.0)
    }
}
