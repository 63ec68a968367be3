//! The table of `kind = "rotornet"`.

use crate::discipline::Discipline;
use crate::overheads::Overheads;
use crate::physics::is_nothing;
use crate::ranges::{self, refuse};
use crate::tdma::burst::Wire;
use crate::tdma::rotor::per_host::fairness::{Division, Fairness};
use crate::tdma::rotor::rotorlb::Indirect;
use crate::tdma::setup::Setup;
use lightloom_control::algorithms::cyclic::RoundRobin;
use lightloom_control::schedule::{Schedule, Slot};
use lightloom_engine::{Bytes, Cluster, Rate, Refusal, Time};
use lightloom_photonics::circuit_switch::SwitchDesign;
use lightloom_photonics::Named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// RotorNet: rotor switches that step through fixed matchings, without reports of demand; in a
/// cycle every rack meets every other rack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RotorNetConfig {
    /// Number of rotor switches, at most racks - 1; every rack has one uplink to each. Default: the
    /// number with which each switch has 16 matchings, as the paper's switch of 2048 ports has: one
    /// uplink for every 16 racks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4095))]
    pub switches: Option<u32>,
    /// Rate of an uplink [b/s]. Default: that of a rack's servers, divided by its uplinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_rate: Option<Rate>,
    /// Rotor switch: "rotor-rotornet", or a table of its keys, which may begin with a `preset`. The
    /// switch then determines `night`; a table with another value is refused, and so are more racks
    /// than the switch has ports. Default: no device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<Named<SwitchDesign>>,
    /// Time from the tear-down of a matching to first light of the next [s]. Default 20 us, as the
    /// paper's switch.
    pub night: Time,
    /// Time for which a switch keeps a matching, including the night before it [s]. Default 200 us:
    /// ten nights, a duty cycle of 90 %.
    pub slot: Time,
    /// Two-hop traffic: "rotorlb" or "none". Default: "rotorlb".
    pub indirect: Indirect,
    /// The units among which RotorLB divides a circuit. "per-rack": a circuit carries any traffic
    /// that waits at its rack. "per-host", as in the simulator of Opera's authors: each host may
    /// use its share of a circuit, and traffic that arrives during a slot waits for a later slot.
    /// Default: "per-rack", the rule of the papers.
    pub rotorlb: Fairness,
    /// Order in which the link of a server, in either direction, serves the flows that wait for it:
    /// "fair" (one packet of each flow in turn) or "fifo". The paper gives no order. Default:
    /// `cluster.discipline`, which is "fair".
    #[serde(skip_serializing_if = "is_nothing")]
    pub discipline: Discipline,
    /// Largest packet [B], from 1 B to 65535 B. Default 1500 B.
    pub packet: Bytes,
    /// Propagation delay from a rack to any other [s]; with two-hop traffic no longer than the
    /// night. Default 0 s.
    pub propagation: Time,
    /// Forwarding latency of a rack's switch [s]. A packet incurs it at each rack, including its
    /// source's. Default 0 s (idealised).
    #[serde(skip_serializing_if = "is_nothing")]
    pub switch_latency: Time,
    /// Time that every circuit needs to encode and decode, for forward error correction [s].
    /// Default 0 s (idealised).
    #[serde(skip_serializing_if = "is_nothing")]
    pub fec_latency: Time,
    /// Header bytes of every packet [B]; they reduce the payload that links carry. Default 0 B
    /// (idealised).
    #[serde(skip_serializing_if = "is_nothing")]
    pub header: Bytes,
}

impl Default for RotorNetConfig {
    fn default() -> RotorNetConfig {
        RotorNetConfig {
            switches: None,
            link_rate: None,
            devices: None,
            night: Time::US * 20,
            slot: Time::US * 200,
            indirect: Indirect::Rotorlb,
            rotorlb: Fairness::PerRack,
            discipline: Discipline::Fair,
            packet: Bytes(1_500),
            propagation: Time::ZERO,
            switch_latency: Time::ZERO,
            fec_latency: Time::ZERO,
            header: Bytes(0),
        }
    }
}

/// Matchings of the paper's switch of 2048 ports.
const MATCHINGS: u32 = 16;

impl RotorNetConfig {
    /// Headers and other overheads of packets.
    pub(super) fn overheads(&self) -> Overheads {
        Overheads {
            propagation: self.propagation,
            switch_latency: self.switch_latency,
            fec_latency: self.fec_latency,
            header: self.header,
            packet: Some(self.packet),
        }
    }

    pub(super) fn uplinks(&self, cluster: &Cluster) -> u32 {
        self.switches.unwrap_or(cluster.racks.div_ceil(MATCHINGS))
    }

    pub(super) fn link(&self, cluster: &Cluster) -> Rate {
        let share = Rate(cluster.rack_rate().0 / u64::from(self.uplinks(cluster).max(1)));
        self.link_rate.unwrap_or(share)
    }

    fn wire(&self, cluster: &Cluster) -> Wire {
        Wire {
            rate: self.overheads().payload(self.link(cluster)),
            packet: self.packet.0,
        }
    }

    fn day(&self) -> Time {
        self.slot - self.night
    }

    /// The matchings of each switch. Slot t of switch s has number t S + s of the N - 1 cyclic
    /// matchings; a switch without a matching in the last slot is idle in it.
    fn schedules(&self, cluster: &Cluster) -> Vec<Option<Arc<Schedule>>> {
        let (nodes, uplinks) = (cluster.racks, self.uplinks(cluster));
        let round = RoundRobin { nodes, uplinks };
        let slots = (nodes - 1).div_ceil(uplinks);
        let matching = |switch: u32, t: u32| -> Vec<u32> {
            let idles = t * uplinks + switch >= nodes - 1;
            let peer = |rack| round.peer(rack, switch, i64::from(t));
            (0..nodes)
                .map(|rack| if idles { rack } else { peer(rack) })
                .collect()
        };
        let schedule = |switch| Schedule {
            ports: nodes as usize,
            night: self.night,
            slots: (0..slots)
                .map(|t| Slot {
                    permutation: matching(switch, t),
                    day: self.day(),
                })
                .collect(),
        };
        (0..uplinks)
            .map(|switch| Some(Arc::new(schedule(switch))))
            .collect()
    }

    pub(super) fn setup(&self, cluster: &Cluster) -> Setup {
        Setup {
            cluster: *cluster,
            discipline: self.discipline,
            planes: self.schedules(cluster),
            link_rate: self.link(cluster),
            wire: self.wire(cluster),
            propagation: self.overheads().crossing(),
            overheads: self.overheads(),
        }
    }

    /// How RotorLB divides circuits.
    pub(super) fn division(&self, cluster: &Cluster) -> Division {
        self.rotorlb
            .division(self.indirect, self.wire(cluster), self.day())
    }

    pub(super) fn refuse_switches(&self, cluster: &Cluster) -> Result<(), Refusal> {
        let racks = cluster.racks;
        ranges::racks(racks)?;
        let switches = self.uplinks(cluster);
        if !(1..racks).contains(&switches) {
            let limit = format!(
                "{racks} racks have matchings for 1 to {} switches",
                racks - 1
            );
            return refuse("switches", switches, limit, "give each switch one or more");
        }
        ranges::rate("link_rate", self.link(cluster))
    }

    pub(super) fn refuse_times(&self) -> Result<(), Refusal> {
        ranges::times(&[
            ("night", self.night),
            ("slot", self.slot),
            ("propagation", self.propagation),
            ("switch_latency", self.switch_latency),
            ("fec_latency", self.fec_latency),
        ])?;
        ranges::amounts(&[("header", self.header)], ranges::PACKET_MAX)?;
        ranges::turn(("slot", self.slot), self.night)?;
        if self.indirect == Indirect::Rotorlb && self.overheads().crossing() > self.night {
            let limit = format!(
                "longer{} than the night, {}: relays would not yet have the bytes that they \
                 forward",
                self.overheads().beside_the_way(),
                self.night
            );
            let remedy = "lower it, or set fabric.indirect = \"none\"";
            return refuse("propagation", self.propagation, limit, remedy);
        }
        Ok(())
    }

    pub(super) fn refuse_packets(&self, cluster: &Cluster) -> Result<(), Refusal> {
        ranges::packet(self.packet)?;
        let packet = self.wire(cluster).rate.time_for(self.packet.0);
        ranges::day(("slot", self.slot), "the night", self.day(), packet)?;
        { self.rotorlb }.refuse(self.indirect, cluster, self.wire(cluster), self.day())
    }
}
