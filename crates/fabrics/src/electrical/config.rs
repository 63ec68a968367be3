//! The table of `kind = "clos"`.

use crate::findings::Finding;
use crate::physics::is_nothing;
use crate::ranges::{propagation, within, PACKET_MAX};
use lightloom_engine::{check_range, Bytes, Cluster, Nic, Rate, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A three-tier folded Clos with per-flow queues, back-pressure and packet
/// spraying: ESN (Ideal) and ESN-OSUB (Ideal) of Sirius §7.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClosConfig {
    /// Granularity of the simulation: `packets` (default), or `flows`, in which every flow has its
    /// max-min fair rate, to which round robin with back-pressure converges (Hahne 1991). `flows`
    /// is much faster for long flows and has no queues.
    pub detail: Detail,
    /// Number of racks of a pod, which share the aggregation switches; must divide the number of
    /// racks. Default: the largest divisor up to 16 that gives at least four pods (16 for the 128
    /// racks of Sirius §7, which does not state it).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub racks_per_pod: Option<u32>,
    /// Number of tiers of switches, including the racks' switches. With 2, every upper switch
    /// connects all racks, as if `racks_per_pod` were the number of racks. With more, there are
    /// pods and a core, and the bill of parts has this number of tiers. Default: pods and a core,
    /// and a bill with the fewest tiers that connect the racks by switches of the price book (at
    /// least 3 if `oversubscription` is between pods and core).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 8))]
    pub tiers: Option<u32>,
    /// Rate of a link between switches [b/s]. A bundle has the number of links whose total is
    /// nearest to its capacity, in equal shares. Default 50 Gb/s (Sirius §7: "8 uplinks, each
    /// operating at a native rate of 50 Gbps").
    pub link_rate: Rate,
    /// Capacity below ÷ capacity above the tier `oversubscription_at`: 1 is non-blocking, 3 is
    /// ESN-OSUB (Ideal) (Sirius §7). Default: the value of the cluster, otherwise 1.
    pub oversubscription: f64,
    /// The place of the oversubscription; Sirius §7 has it "at the aggregation tier beyond the
    /// racks". `aggregation-core` (default): between the aggregation switches and the core, so that
    /// traffic within a pod keeps its full rate. `rack`: between the racks and the aggregation
    /// switches, so that all traffic between racks is limited.
    pub oversubscription_at: Tier,
    /// Number of aggregation switches of a pod, at most the uplinks of a rack. The uplinks of each
    /// rack are assigned to them in turn, so that a failed switch takes its share of them. Default:
    /// one switch per uplink of a rack.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub aggregation_switches: Option<u32>,
    /// Number of core switches, at most the links of a pod to the core. Each has an equal share of
    /// the links of every pod, which fails with it. Default: one switch per link of a pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub core_switches: Option<u32>,
    /// Number of packets of one flow that may wait at a switch before the previous hop stops
    /// serving that flow; packets on the link between them are not counted. Without effect with
    /// `detail = "flows"`. Default: the packets that the fastest flow sends over one hop in the
    /// transmission time of a packet plus the delay of the hop, at least 4; back-pressure alone
    /// then never leaves a link idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub flow_buffer: Option<u32>,
    /// Payload of a full packet [B]; the last packet of a flow may be shorter. Default 1500 B
    /// (Ethernet's MTU).
    pub mtu: Bytes,
    /// Bytes on the link of every packet in addition to the payload [B]: frame, gap and protocol
    /// headers. Default 0 B (idealised).
    pub header: Bytes,
    /// Propagation delay of a link [s]. Default 0 s (idealised).
    pub propagation: Time,
    /// Latency of an idle switch, from the last bit of a packet in to its first bit out [s].
    /// Default 0 s (idealised).
    pub switch_latency: Time,
    /// Latency that forward error correction adds to every link between switches [s]. Default 0 s
    /// (idealised).
    #[serde(skip_serializing_if = "is_nothing")]
    pub fec_latency: Time,
    /// Propagation delay of the link of a server, if the server has one [s]. Default: that of the
    /// other links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_propagation: Option<Time>,
}

/// Granularity of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// Every packet on every hop.
    Packets,
    /// Max-min fair rates of flows.
    Flows,
}

/// The place of the oversubscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// Between the aggregation switches and the core.
    AggregationCore,
    /// Between the racks and the aggregation switches; the capacity above is limited as well.
    Rack,
}

impl Default for ClosConfig {
    fn default() -> Self {
        ClosConfig {
            detail: Detail::Packets,
            racks_per_pod: None,
            tiers: None,
            link_rate: Rate(50 * Rate::GBPS.0),
            oversubscription: 1.0,
            oversubscription_at: Tier::AggregationCore,
            aggregation_switches: None,
            core_switches: None,
            flow_buffer: None,
            mtu: Bytes(1_500),
            header: Bytes(0),
            propagation: Time::ZERO,
            switch_latency: Time::ZERO,
            fec_latency: Time::ZERO,
            server_propagation: None,
        }
    }
}

/// No latency of a switch or link is longer.
const DELAY_MAX: Time = Time(100 * Time::MS.0);

/// The allowed number of tiers.
const TIERS_OF_SWITCHES: std::ops::RangeInclusive<u32> = 2..=8;

/// The largest divisor of `racks` up to 16 that leaves four pods or more.
fn default_pod(racks: u32) -> u32 {
    (1..=16.min(racks / 4).max(1))
        .rev()
        .find(|d| racks.is_multiple_of(*d))
        .unwrap_or(1)
}

impl ClosConfig {
    /// Racks of a pod.
    pub(super) fn pod(&self, cluster: &Cluster) -> u32 {
        let by_tiers = match self.tiers {
            Some(2) => cluster.racks,
            _ => default_pod(cluster.racks),
        };
        self.racks_per_pod.unwrap_or(by_tiers)
    }

    /// Refuses tiers that the pods do not have.
    pub(super) fn refuse_tiers(&self, cluster: &Cluster) -> Result<(), Refusal> {
        let (Some(tiers), racks) = (self.tiers, cluster.racks) else {
            return Ok(());
        };
        if !TIERS_OF_SWITCHES.contains(&tiers) {
            let limit = format!(
                "must be from {} to {}, those of the racks included",
                TIERS_OF_SWITCHES.start(),
                TIERS_OF_SWITCHES.end()
            );
            return Err(Refusal::new("fabric.tiers", tiers, limit, "leave it out"));
        }
        let one_pod = self.pod(cluster) == racks;
        if racks > 1 && one_pod != (tiers == 2) {
            let limit = match one_pod {
                true => format!("all {racks} racks are in one pod, which has 2 tiers"),
                false => format!(
                    "racks_per_pod = {} makes several pods and a core",
                    self.pod(cluster)
                ),
            };
            let remedy = "remove fabric.racks_per_pod or fabric.tiers";
            return Err(Refusal::new("fabric.tiers", tiers, limit, remedy));
        }
        Ok(())
    }

    /// Refuses pods and ratios that no Clos of these racks has.
    pub(super) fn refuse_shape(&self, cluster: &Cluster, pod: u32) -> Result<(), Refusal> {
        let racks = cluster.racks;
        if pod == 0 || !racks.is_multiple_of(pod) {
            return Err(Refusal::new(
                "fabric.racks_per_pod",
                pod,
                format!("must divide the {racks} racks of the cluster"),
                format!("try {}, or leave it out", default_pod(racks)),
            ));
        }
        if !(1.0..=1_000.0).contains(&self.oversubscription) {
            return Err(Refusal::new(
                "fabric.oversubscription",
                self.oversubscription,
                "must be from 1 (non-blocking) to 1,000",
                "write 3 for 3:1",
            ));
        }
        let unused = self.oversubscription_at == Tier::AggregationCore && pod == racks;
        if unused && racks > 1 && self.oversubscription > 1.0 {
            return Err(Refusal::new(
                "fabric.oversubscription",
                self.oversubscription,
                format!(
                    "has no effect: all {racks} racks are in one pod and nothing passes the core"
                ),
                "lower fabric.racks_per_pod, or set fabric.oversubscription_at = \"rack\"",
            ));
        }
        Ok(())
    }

    /// Refuses packets, delays and buffers out of range.
    pub(super) fn refuse_packets(&self) -> Result<(), Refusal> {
        let limits = [
            ("mtu", self.mtu, 64, "use 1500 B"),
            ("header", self.header, 0, "use 0 B or 78 B"),
        ];
        for (key, value, least, remedy) in limits {
            within(key, value, Bytes(least)..=PACKET_MAX, remedy)?;
        }
        propagation("propagation", self.propagation, DELAY_MAX)?;
        for (key, value) in [
            ("fabric.switch_latency", self.switch_latency),
            ("fabric.fec_latency", self.fec_latency),
        ] {
            check_range(key, value, Time::ZERO..=DELAY_MAX)?;
        }
        propagation("server_propagation", self.at_servers(), DELAY_MAX)?;
        if self.flow_buffer.is_some_and(|b| b == 0 || b > 1 << 20) {
            return Err(Refusal::new(
                "fabric.flow_buffer",
                self.flow_buffer.unwrap_or(0),
                "must be from 1 to 1,048,576 packets",
                "remove it for the default, which never idles a link",
            ));
        }
        Ok(())
    }

    /// Propagation over the link of a server.
    pub(super) fn at_servers(&self) -> Time {
        self.server_propagation.unwrap_or(self.propagation)
    }

    /// Links between switches on the longest path from rack to rack.
    pub(super) fn longest(&self, cluster: &Cluster) -> i64 {
        if self.pod(cluster) >= cluster.racks {
            2
        } else {
            4
        }
    }

    /// The default of `flow_buffer`.
    pub(super) fn covering_buffer(&self, cluster: &Cluster) -> u32 {
        self.packets_of_a_hop(cluster).clamp(4, 1 << 20) as u32
    }

    /// The `flow_buffer` if it is so small that a flow stops at a switch although the link behind
    /// it is idle; else `None`.
    pub(super) fn shallow_buffer(&self, cluster: &Cluster) -> Option<Finding> {
        let (buffer, needed) = (self.flow_buffer?, self.packets_of_a_hop(cluster));
        let packets = self.detail == Detail::Packets && cluster.racks > 1;
        (packets && u64::from(buffer) < needed).then(|| Finding {
            parameter: "flow_buffer",
            value: buffer.to_string(),
            effect: format!(
                "back-pressure idles links: at most {buffer} packets of a flow may wait at a \
                 switch, but {needed} are sent during the serialisation of a packet and the delay \
                 of a hop"
            ),
            remedy: format!(
                "raise it to {}, or leave it out",
                self.covering_buffer(cluster)
            ),
        })
    }

    /// Packets that the fastest flow sends within a packet's serialisation and the delay of a hop.
    fn packets_of_a_hop(&self, cluster: &Cluster) -> u64 {
        let fastest = match cluster.nic {
            Nic::Uncapped => cluster.rack_rate(),
            Nic::Capped(rate) => rate.min(cluster.rack_rate()),
        };
        let wire = self.mtu.0 + self.header.0;
        let hop = self.link_rate.min(cluster.rack_rate()).time_for(wire)
            + self.propagation
            + self.fec_latency
            + self.switch_latency * 2;
        fastest.bytes_in(hop).div_ceil(wire)
    }
}
