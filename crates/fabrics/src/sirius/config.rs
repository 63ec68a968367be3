//! The `[[fabric]]` table of Sirius: every key of the specification with its default and its
//! source.

mod checks;
pub(crate) mod devices;
mod idle;
mod overhead;
mod queue;
pub(crate) mod retired;
mod speedup;
mod switches;
mod uplinks;

use super::schedule::plan::UplinkPlan;
use super::schedule::Schedule;
use crate::discipline::Discipline;
use crate::physics::is_nothing;
use lightloom_engine::{Bytes, Rate, Time};
use lightloom_photonics::{Design, Named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use switches::*;

/// Sirius: a flat optical fabric of passive gratings and tunable lasers
/// (Ballani et al., SIGCOMM 2020).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SiriusConfig {
    /// Granularity of the simulation: `cells` (default), or `flows`: every flow has its max-min
    /// fair rate over the capacity of the schedule and the protocol, and its last byte arrives
    /// later by the protocol's latency. Much faster for long flows and many servers, without
    /// queues, padding and failures.
    pub detail: Detail,
    /// Congestion control: the paper's request/grant protocol (§4.3), or per-flow queues with
    /// back-pressure and no protocol (SIRIUS (IDEAL), §7). Links of servers may have a rate
    /// (`cluster.nic`) in both.
    pub mode: Mode,
    /// Optical devices: the name of a design for which `lightloom devices` has a preset, or a table
    /// of its keys, which may begin with a `preset`. The devices then determine `channel_rate`,
    /// `slot`, `guardband`, `cell` and `codeword_wait`. A table that gives one of these keys
    /// another value is refused; so is a design that cannot work, with the part that makes it
    /// impossible. Default: no devices; the values of those keys hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<Named<Design>>,
    /// Rate of one optical channel, that is of one uplink [b/s] (§7).
    pub channel_rate: Rate,
    /// Uplinks of a node [count], at most one for each node. Default: 1.5 × the base uplinks, which
    /// are `cluster.rack_rate` ÷ `channel_rate` (§7), but at most the number of nodes.
    #[schemars(range(min = 1))]
    pub uplinks: Option<u32>,
    /// The connection of the uplinks beyond the base to gratings (not defined in the paper).
    pub uplink_plan: UplinkPlan,
    /// Ports G of a grating [count]. Default: nodes ÷ base uplinks (§4.1). The idealised rotor has
    /// no gratings; the key is then only checked.
    #[schemars(range(min = 1))]
    pub grating_ports: Option<u32>,
    /// Length of a slot, guardband included [time] (§7).
    pub slot: Time,
    /// Part of the slot in which nothing is sent: laser tuning, clock recovery,
    /// synchronisation [time] (§4.5, §7).
    pub guardband: Time,
    /// Payload of a cell [B]. Default: the bytes that the channel carries in slot − guardband; in
    /// the paper's slot 562 B (§7).
    pub cell: Option<Bytes>,
    /// Slots of an epoch [count]. Default: nodes ÷ uplinks, in which a pair meets once on average;
    /// it may be a fraction (10.67: epochs of 10 and 11 slots alternate). If the longest gap
    /// between two meetings of any pair is at least a slot longer, that gap is the default. Any
    /// other value must be an integer: at least the number of slots in which every pair meets,
    /// because the cells of an epoch carry its requests and grants (§4.3), and at most 100 times
    /// that number. A longer epoch leaves nodes time to read the requests of its last slots before
    /// the next epoch begins. Schedules without dead nodes (`recovery = "reschedule"`) have epochs
    /// of their own.
    #[schemars(range(min = 1))]
    pub epoch_slots: Option<f64>,
    /// Q: limit of the cells that are queued or granted for one destination at one node [cells], 2
    /// to 64 (§4.3; 4 in §7).
    #[schemars(range(min = 2, max = 64))]
    pub queue: u32,
    /// The rule by which a node grants requests in an epoch: all below the threshold (A.3, Fig 15),
    /// or at most one for each destination (§4.3, prose).
    pub grant_rule: GrantRule,
    /// Whether the source and the destination of a cell may also be its intermediate (§4.2: cells
    /// are routed "across all other nodes"; A.3 excludes none).
    pub intermediates: Intermediates,
    /// One-way propagation between any two nodes [time]; up to 2.5 us for
    /// 500 m of fibre (§4.2).
    pub propagation: Time,
    /// Forwarding latency of the switch in a node [time]. A cell passes the switch of every node on
    /// its path, that of its source included. Default 0 s (§7).
    #[serde(skip_serializing_if = "is_nothing")]
    pub switch_latency: Time,
    /// Time that every crossing needs to encode and decode, for forward error correction [time].
    /// Default 0 s (§7).
    #[serde(skip_serializing_if = "is_nothing")]
    pub fec_latency: Time,
    /// Time that decoding waits after the cell itself, at every crossing [time], if a codeword
    /// continues in the sender's next cells. Default 0 s: it ends with its cell.
    #[serde(skip_serializing_if = "is_nothing")]
    pub codeword_wait: Time,
    /// Header bytes of a cell [B]; they reduce the default of `cell`. Default 0 B: the paper's
    /// cells contain only payload (§7).
    #[serde(skip_serializing_if = "is_nothing")]
    pub header: Bytes,
    /// Order in which the link of a server, in either direction, serves the flows that have cells
    /// in its queue: "fair" (one cell of each flow in turn) or "fifo". In the paper the links of
    /// servers have no rate. Default: `cluster.discipline`, which is "fair".
    #[serde(skip_serializing_if = "is_nothing")]
    pub discipline: Discipline,
    /// `mode = "ideal"`: cells of one flow that may wait at one intermediate
    /// before it pushes back [cells] (paper: per-flow queues and back-pressure).
    #[schemars(range(min = 1, max = 255))]
    pub ideal_window: u32,
    /// k: number of epochs without light from a peer in its slot after which the peer is declared
    /// dead [epochs] (§4.5).
    #[schemars(range(min = 1, max = 255))]
    pub detection_epochs: u32,
    /// Reaction to a dead node: leave its slots empty and lose its share of the capacity, or remove
    /// it from the schedule (§4.5).
    pub recovery: Recovery,
}

impl Default for SiriusConfig {
    fn default() -> Self {
        SiriusConfig {
            detail: Detail::Cells,
            mode: Mode::RequestGrant,
            devices: None,
            channel_rate: Rate(50 * Rate::GBPS.0),
            uplinks: None,
            uplink_plan: UplinkPlan::Rotor,
            grating_ports: None,
            slot: Time::NS * 100,
            guardband: Time::NS * 10,
            cell: None,
            epoch_slots: None,
            queue: 4,
            grant_rule: GrantRule::Threshold,
            intermediates: Intermediates::All,
            propagation: Time::ZERO,
            switch_latency: Time::ZERO,
            fec_latency: Time::ZERO,
            codeword_wait: Time::ZERO,
            header: Bytes(0),
            discipline: Discipline::Fair,
            ideal_window: 2,
            detection_epochs: 3,
            recovery: Recovery::Degrade,
        }
    }
}

impl SiriusConfig {
    /// Time from the transmission of a cell's last bit until the cell has passed the switch of the
    /// next node.
    pub fn crossing(&self) -> Time {
        self.propagation + self.fec_latency + self.codeword_wait + self.switch_latency
    }
}

/// The values that are derived from the cluster and the fabric's table together.
#[derive(Clone, Debug)]
pub struct Derived {
    /// Uplinks a node.
    pub uplinks: u32,
    /// Base uplinks: rack rate ÷ channel rate.
    pub base: u32,
    /// Payload of a cell [B].
    pub cell: u64,
    /// The nodes that meet in each slot.
    pub schedule: Schedule,
    /// Slots of an epoch, as a fraction.
    pub epoch: (i64, i64),
}

impl Derived {
    /// Epochs from a message in a cell to the reaction: from a request to its answer, or from a
    /// grant to its acceptance. 1, or more with long fibres. Computed for the shortest epoch,
    /// because epochs of a fractional round differ by a slot.
    pub(super) fn lag(&self, config: &SiriusConfig) -> i64 {
        let (slots, of) = self.epoch;
        1 + config
            .crossing()
            .div_ceil(config.slot * (slots / of).max(1))
    }

    /// Number of epochs whose requests, grants or unused grants are stored at the same time.
    pub(super) fn epochs(&self, config: &SiriusConfig) -> i64 {
        3 * self.lag(config) + 1
    }

    /// Number of epochs, at the same time, whose requests are sent and whose grants are not yet
    /// accepted.
    pub(super) fn matrices(&self, config: &SiriusConfig) -> i64 {
        self.epochs(config) - self.lag(config) - 1
    }

    /// Number of slots whose cells are in the fibres at the same time.
    pub(super) fn flights(&self, config: &SiriusConfig) -> i64 {
        config.crossing().div_ceil(config.slot) + 1
    }
}
