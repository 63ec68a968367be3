//! The table of `kind = "mordia"`.

use super::control::{Control, Slots};
use super::frames::Punctuality;
use super::kernel::MordiaSetup;
use crate::contract::Site;
use crate::discipline::Discipline;
use crate::hybrid::computation::Computation;
use crate::hybrid::policy_table::PolicyTable;
use crate::hybrid::trouble;
use crate::overheads::Overheads;
use crate::physics::is_nothing;
use crate::ranges::refuse;
use crate::tdma::burst::Wire;
use crate::tdma::setup::Setup;
use lightloom_control::controller::Timing;
use lightloom_control::demand::Estimation;
use lightloom_control::hardware::Hardware;
use lightloom_control::policies::library::Empty;
use lightloom_engine::{Bytes, Cluster, Rate, Refusal, Time};
use lightloom_photonics::circuit_switch::SwitchDesign;
use lightloom_photonics::Named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Mordia: a ring of wavelength-selective switches that connects racks by a schedule of matchings,
/// each of which lasts microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MordiaConfig {
    /// The policy that chooses schedules: its name ("mordia", also called "tms", is traffic-matrix
    /// scheduling; "rotation", "solstice", "eclipse"), a table with its `kind` and its own keys, or
    /// a class in a Python file. Keys that the policy's table does not give have these values: its
    /// night is `night` plus `nic_delay`, its period is `interval`, its shortest slot is
    /// `shortest_slot`. Default: "mordia".
    pub policy: PolicyTable,
    /// A schedule that is repeated for the whole run, in place of a policy: the path of a file that
    /// `lightloom plan … -o` has written, relative to the experiment file. Short for `policy = {
    /// kind = "fixed", schedule = … }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Rate of a circuit [b/s]. Default: that of a rack's servers together; 10 Gb/s in the
    /// prototype.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_rate: Option<Rate>,
    /// Wavelengths of a ring, each a port: 24 in the prototype, 44 in the C band at 100
    /// GHz, 88 at 50 GHz (§7). Default 44.
    #[schemars(range(min = 2, max = 4096))]
    pub wavelengths: u32,
    /// Number of rings that are stacked to one switch, each of which adds its ports (§7); the
    /// connection of the rings is not modelled. Default 1.
    #[schemars(range(min = 1, max = 4096))]
    pub rings: u32,
    /// Optical switch: "wss-ring", or a table of its keys, which may begin with a `preset`. The
    /// switch then determines `wavelengths`, `night` and `night_deviation`; a table with other
    /// values is refused. Default: no device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<Named<SwitchDesign>>,
    /// t_setup: from the tear-down of circuits to first light [s]. Default 11.5 us (§6.1).
    pub night: Time,
    /// Standard deviation of the night, which is normally distributed [s]; 2.36 us were measured
    /// (§6.1). Default 0 s: all nights are equal.
    pub night_deviation: Time,
    /// Length of a slot of a round robin, its night included [s]; for other policies it only
    /// determines the default of `interval`. Default 106 us (§6.1).
    pub slot: Time,
    /// Shortest slot [s], which is the time to program the switches. If a policy of Lightloom
    /// computes a shorter slot from demand, the slot is lengthened to this time. A shorter slot in
    /// a plan, by a policy of your own or by the `day` of a round robin is refused. Default 61 us
    /// (§6.3).
    pub shortest_slot: Time,
    /// Time from one decision to the next [s]; schedules have this length unless the policy has its
    /// own. With policies that use demand, and with policies in files, all circuits are dark until
    /// the first decision. Default for every policy: the length of a round robin, (racks - 1)
    /// slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Time>,
    /// Time from the demand to the decision [s]; if it is longer than the interval, it delays the
    /// next decision. "measured" uses the computation time on this machine; the results contain
    /// these times as a list, with which the run can be repeated exactly. Default 0 s.
    pub computation_delay: Computation,
    /// Weight of a new measurement in the demand that the policy receives, above 0 and at most 1;
    /// the previous value has the remaining weight. Default 1: no averaging.
    pub smoothing: f64,
    /// NIC delay: the time that a packet spends in the interface of a rack before it leaves [s].
    /// The queueing discipline stops this time before the night, and no packet leaves the interface
    /// for the same time after it. Default 0 s; 23 us in the prototype (§6.2).
    pub nic_delay: Time,
    /// Mean absolute error of the time at which synchronisation frames arrive [s]. Default 0 s;
    /// 1 us in the prototype (§6).
    pub sync_jitter: Time,
    /// Share of synchronisation frames that are received at the wrong time, from 0 to 1.
    /// Default 0; 0.01 in the prototype (§6).
    pub late_sync_fraction: f64,
    /// Order in which the link of a server, in either direction, serves the flows that wait for it:
    /// "fair" (one packet of each flow in turn) or "fifo". The paper gives no order. Default:
    /// `cluster.discipline`, which is "fair".
    #[serde(skip_serializing_if = "is_nothing")]
    pub discipline: Discipline,
    /// Largest packet [B], from 1 B to 65535 B. Default 1500 B.
    pub packet: Bytes,
    /// Rate at which a rack sends while its circuit is lit [b/s]. Default: the rate of the circuit.
    /// In the prototype hosts emulate ToRs, and their network stack is slower (§6.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_rate: Option<Rate>,
    /// Time from the end of a day until packets that were lost in it are retransmitted [s]. They
    /// join the end of their queue. Default 0 s: they are sent on the next day of the pair, when
    /// the receiver detects the loss.
    pub retransmit_after: Time,
    /// Propagation delay between any two racks, over a circuit or the packet switch [s].
    /// Default 0 s.
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
    /// Rate of each rack's link to and from a packet switch, which carries the demand that no
    /// schedule serves [b/s]. Default: there is no packet switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_rate: Option<Rate>,
}

impl Default for MordiaConfig {
    fn default() -> MordiaConfig {
        MordiaConfig {
            policy: PolicyTable::kind("mordia"),
            schedule: None,
            link_rate: None,
            wavelengths: 44,
            rings: 1,
            devices: None,
            night: Time(11_500_000),
            night_deviation: Time::ZERO,
            slot: Time::US * 106,
            shortest_slot: Time::US * 61,
            interval: None,
            computation_delay: Computation::default(),
            smoothing: 1.0,
            nic_delay: Time::ZERO,
            sync_jitter: Time::ZERO,
            late_sync_fraction: 0.0,
            discipline: Discipline::Fair,
            packet: Bytes(1_500),
            stack_rate: None,
            retransmit_after: Time::ZERO,
            propagation: Time::ZERO,
            switch_latency: Time::ZERO,
            fec_latency: Time::ZERO,
            header: Bytes(0),
            packet_rate: None,
        }
    }
}

impl MordiaConfig {
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

    pub(super) fn link(&self, cluster: &Cluster) -> Rate {
        self.link_rate.unwrap_or(cluster.rack_rate())
    }

    pub(super) fn hardware(&self, cluster: &Cluster) -> Hardware {
        // Circuits have the rate at which racks can use them.
        Hardware::new(cluster.racks, 1, self.wire(cluster).rate)
    }

    pub(super) fn wire(&self, cluster: &Cluster) -> Wire {
        let link = self.link(cluster);
        Wire {
            rate: self.overheads().payload(self.stack_rate.unwrap_or(link)),
            packet: self.packet.0,
        }
    }

    /// The checked policy, completed with values of the switch.
    pub(super) fn resolved(
        &self,
        interval: Time,
        hardware: &Hardware,
    ) -> Result<PolicyTable, Refusal> {
        let Some(path) = &self.schedule else {
            return self.filled(interval).resolve(hardware);
        };
        if self.policy != MordiaConfig::default().policy {
            let limit = "a policy is also given";
            return refuse("schedule", path, limit, "remove one of them");
        }
        PolicyTable::following(path)
            .resolve(hardware)
            .map_err(|refusal| Refusal {
                key: "fabric.schedule".to_owned(),
                ..refusal
            })
    }

    /// The night for which a policy plans: the time in which no packet is sent.
    fn silent(&self) -> Time {
        self.night + self.nic_delay
    }

    fn filled(&self, interval: Time) -> PolicyTable {
        let mut policy = self.policy.clone();
        let silent = self.silent();
        policy.fill("night", &silent);
        policy.fill("shortest", &self.shortest_slot);
        policy.fill("packet", &self.packet);
        if !policy.names("period") {
            policy.fill("day", &(self.slot - silent));
        }
        if !policy.names("day") {
            policy.fill("period", &interval);
        }
        // The payload rate, reduced by headers like that of the circuits.
        if let Some(rate) = self.packet_rate {
            policy.fill("packet_rate", &self.overheads().payload(rate));
        }
        policy
    }

    pub(super) fn setup(&self, site: &Site) -> Result<MordiaSetup, Refusal> {
        let (cluster, hardware) = (site.cluster, self.hardware(site.cluster));
        let interval = self.interval.unwrap_or_default();
        let library = site.library.unwrap_or(&Empty);
        let policy = self.policy.with_files_read(&hardware)?;
        let described = serde_json::to_value(&policy).expect("configurations are plain data");
        let control = Control::new(
            policy.build(&hardware, library)?,
            described.clone(),
            hardware,
            Slots {
                night: self.night,
                silent: self.silent(),
                shortest: self.shortest_slot,
            },
            Timing {
                interval,
                computation_delay: self.computation_delay.given(),
            },
            &self.computation_delay,
            Estimation {
                smoothing: self.smoothing,
                ..Estimation::plain(cluster.racks, 1)
            },
        )
        .map_err(|refusal| trouble::of_policy(&described, refusal))?;
        if let Some(schedule) = control.first() {
            self.refuse_days(schedule, cluster)?;
        }
        Ok(MordiaSetup {
            network: Setup {
                cluster: *cluster,
                discipline: self.discipline,
                planes: vec![control.first().cloned().map(Arc::new)],
                link_rate: self.link(cluster),
                wire: self.wire(cluster),
                propagation: self.overheads().crossing(),
                overheads: self.overheads(),
            },
            punctuality: Punctuality {
                night: self.night,
                night_deviation: self.night_deviation,
                sync_jitter: self.sync_jitter,
                late_sync_fraction: self.late_sync_fraction,
                nic_delay: self.nic_delay,
            },
            retransmit_after: self.retransmit_after,
            packet_rate: { self.packet_rate }.map(|rate| self.overheads().payload(rate)),
            control: Some(control),
        })
    }
}
