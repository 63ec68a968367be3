//! The table of `kind = "opera"`.

use super::kernel::OperaSetup;
use super::low_latency::state::LowLatencyLaw;
use crate::discipline::Discipline;
use crate::overheads::Overheads;
use crate::physics::is_nothing;
use crate::ranges::{self, refuse};
use crate::tdma::burst::Wire;
use crate::tdma::rotor::per_host::fairness::Fairness;
use crate::tdma::rotor::rotorlb::Indirect;
use crate::tdma::setup::Setup;
use lightloom_control::algorithms::factorization::random_factors;
use lightloom_control::schedule::{Schedule, Slot};
use lightloom_engine::{Bytes, Cluster, Rate, Refusal, Time};
use lightloom_photonics::circuit_switch::SwitchDesign;
use lightloom_photonics::Named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Opera: rotor switches that reconfigure one after another, so that at any moment the circuits of
/// the other switches form an expander.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OperaConfig {
    /// Number of rotor switches, from 2 to racks - 1; every rack has one uplink to each. Default:
    /// the number with which each switch has 18 matchings (6 switches at 108 racks), but at least 6
    /// if there are enough racks, so that four circuits per rack are lit at any time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1023))]
    pub switches: Option<u32>,
    /// Rate of an uplink [b/s]. Default: that of a rack's servers, divided by its uplinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_rate: Option<Rate>,
    /// Rotor switch: "rotor-opera", or a table of its keys, which may begin with a `preset`. The
    /// switch then determines `night`; a table with another value is refused, and so are more racks
    /// than the switch has ports. Default: no device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<Named<SwitchDesign>>,
    /// Reconfiguration of a switch: from the tear-down of a matching to first light of the
    /// next [s]. Default 10 us.
    pub night: Time,
    /// Length of a topology slice [s]. In each slice one switch takes no new low-latency traffic
    /// and reconfigures in the last part of the slice, the night. Default 100 us: packets have 90
    /// us to leave the network, and with 6 switches each is lit for 98.3 % of the time.
    pub slice: Time,
    /// Flows of fewer bytes are low-latency traffic, which is sent at once over several circuits;
    /// other flows are bulk traffic, which waits for its direct circuit. Default 15 MB.
    pub low_latency: Bytes,
    /// The order of low-latency packets that wait at the rack of their source: "fair" (one packet
    /// of each flow in turn) or "fifo" (first in, first out; a flow of megabytes then delays all
    /// later flows by all its packets). The paper does not describe queues of racks: its transport,
    /// NDP, limits a flow to about 20 outstanding packets (a window of 20 in the authors'
    /// simulator), so that no flow fills a queue. Default: "fair".
    pub waiting: Discipline,
    /// Two-hop traffic of bulk: "rotorlb" or "none". Default: "rotorlb".
    pub indirect: Indirect,
    /// The units among which RotorLB divides a circuit. "per-rack": a circuit carries any traffic
    /// that waits at its rack. "per-host", as in the simulator of Opera's authors: each host may
    /// use its share of a circuit, and traffic that arrives during a slot waits for a later slot.
    /// Default: "per-rack", the rule of the papers.
    pub rotorlb: Fairness,
    /// The seed of the matchings and of their assignment to switches. Default 1.
    #[schemars(range(max = 9007199254740992u64))]
    pub matchings_seed: u64,
    /// Order in which the link of a server, in either direction, serves the flows that wait for it:
    /// "fair" (one packet of each flow in turn) or "fifo". The paper gives no order. Default:
    /// `cluster.discipline`, which is "fair".
    #[serde(skip_serializing_if = "is_nothing")]
    pub discipline: Discipline,
    /// Largest packet [B], from 1 B to 65535 B. Default 1500 B.
    pub packet: Bytes,
    /// Propagation delay from a rack to any other [s], no longer than the night. Default 0 s.
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

impl Default for OperaConfig {
    fn default() -> OperaConfig {
        OperaConfig {
            switches: None,
            link_rate: None,
            devices: None,
            night: Time::US * 10,
            slice: Time::US * 100,
            low_latency: Bytes(15_000_000),
            waiting: Discipline::Fair,
            indirect: Indirect::Rotorlb,
            rotorlb: Fairness::PerRack,
            matchings_seed: 1,
            discipline: Discipline::Fair,
            packet: Bytes(1_500),
            propagation: Time::ZERO,
            switch_latency: Time::ZERO,
            fec_latency: Time::ZERO,
            header: Bytes(0),
        }
    }
}

const RACKS_MAX: u32 = 1_024;
/// Number of matchings of a switch in the published set-up.
const MATCHINGS: u32 = 18;
/// Smallest default number of switches. At any time one switch reconfigures and another may have no
/// matching; with fewer switches a rack would have only three or two circuits at times, which do
/// not form an expander.
const SWITCHES: u32 = 6;
/// Number of packets that the queue of a circuit holds, as in the authors' simulator
/// (TritonNetworking/opera-sim).
const QUEUE: u32 = 8;
/// Largest integer that every tool that reads results represents exactly.
const SEED_MAX: u64 = 1 << 53;

impl OperaConfig {
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
        let fit = cluster.racks.div_ceil(MATCHINGS).max(SWITCHES);
        self.switches.unwrap_or(fit.min(cluster.racks.max(1) - 1))
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

    /// Time for which a switch keeps a matching, including the night before it.
    pub(super) fn slot(&self, cluster: &Cluster) -> Time {
        self.slice * i64::from(self.uplinks(cluster))
    }

    /// The matchings of each switch, assigned at random; a switch without a matching in the last
    /// slot is idle in it.
    fn schedules(&self, cluster: &Cluster) -> Vec<Option<Arc<Schedule>>> {
        let uplinks = self.uplinks(cluster) as usize;
        let idle: Vec<u32> = (0..cluster.racks).collect();
        let factors = random_factors(cluster.racks, self.matchings_seed);
        let day = self.slot(cluster) - self.night;
        let schedule = |switch| {
            let numbers = (switch..factors.len().next_multiple_of(uplinks)).step_by(uplinks);
            let slot = |number: usize| Slot {
                permutation: factors.get(number).unwrap_or(&idle).clone(),
                day,
            };
            Schedule {
                ports: cluster.racks as usize,
                night: self.night,
                slots: numbers.map(slot).collect(),
            }
        };
        (0..uplinks)
            .map(|switch| Some(Arc::new(schedule(switch))))
            .collect()
    }

    /// Switch s is lit from the end of slice s on, and again after every u slices. The run begins
    /// when the last switch becomes lit.
    fn ahead(&self, cluster: &Cluster) -> Vec<Time> {
        let uplinks = i64::from(self.uplinks(cluster));
        let slices = |switch| self.slice * (uplinks - 1 - switch);
        (0..uplinks).map(|s| slices(s) + self.night).collect()
    }

    pub(super) fn setup(&self, cluster: &Cluster) -> OperaSetup {
        let day = self.slot(cluster) - self.night;
        OperaSetup {
            network: Setup {
                cluster: *cluster,
                discipline: self.discipline,
                planes: self.schedules(cluster),
                link_rate: self.link(cluster),
                wire: self.wire(cluster),
                propagation: self.overheads().crossing(),
                overheads: self.overheads(),
            },
            night: self.night,
            ahead: self.ahead(cluster),
            division: self
                .rotorlb
                .division(self.indirect, self.wire(cluster), day),
            low_latency: LowLatencyLaw {
                below: self.low_latency.0,
                drain: self.slice - self.night,
                queue: QUEUE,
                order: self.waiting,
            },
        }
    }

    pub(super) fn refuse_switches(&self, cluster: &Cluster) -> Result<(), Refusal> {
        let racks = cluster.racks;
        if !(3..=RACKS_MAX).contains(&racks) {
            let (limit, remedy) = match racks {
                0..=2 => (
                    "two switches have matchings for 3 racks or more".to_owned(),
                    "raise it",
                ),
                _ => (format!("must be at most {RACKS_MAX}"), "lower it"),
            };
            return Err(Refusal::new("cluster.racks", racks, limit, remedy));
        }
        let switches = self.uplinks(cluster);
        if !(2..racks).contains(&switches) {
            let most = racks - 1;
            let (limit, remedy) = match switches {
                0 | 1 => (
                    "must be 2 or more, because one reconfigures while the others are lit"
                        .to_owned(),
                    format!("use 2 to {most}"),
                ),
                _ => (
                    format!("must be at most {most}, one for each other rack"),
                    format!("use 2 to {most}, or raise cluster.racks"),
                ),
            };
            return refuse("switches", switches, limit, &remedy);
        }
        ranges::rate("link_rate", self.link(cluster))?;
        if self.matchings_seed > SEED_MAX {
            let limit = format!("must be at most {SEED_MAX}");
            return refuse("matchings_seed", self.matchings_seed, limit, "use 1");
        }
        Ok(())
    }

    pub(super) fn refuse_times(&self) -> Result<(), Refusal> {
        ranges::times(&[
            ("night", self.night),
            ("slice", self.slice),
            ("propagation", self.propagation),
            ("switch_latency", self.switch_latency),
            ("fec_latency", self.fec_latency),
        ])?;
        ranges::amounts(&[("header", self.header)], ranges::PACKET_MAX)?;
        ranges::turn(("slice", self.slice), self.night)?;
        if self.overheads().crossing() > self.night {
            let limit = format!(
                "longer{} than the night, {}: packets would arrive after their circuits have \
                 changed",
                self.overheads().beside_the_way(),
                self.night
            );
            return refuse("propagation", self.propagation, limit, "lower it");
        }
        Ok(())
    }

    pub(super) fn refuse_packets(&self, cluster: &Cluster) -> Result<(), Refusal> {
        ranges::packet(self.packet)?;
        let packet = self.wire(cluster).rate.time_for(self.packet.0);
        let left = self.slice - self.night;
        ranges::day(("slice", self.slice), "the night", left, packet)?;
        let day = self.slot(cluster) - self.night;
        { self.rotorlb }.refuse(self.indirect, cluster, self.wire(cluster), day)
    }
}
