//! The table of `kind = "tree"`.

use crate::hybrid::tree::TreeKeys;
use crate::overheads::Overheads;
use crate::physics::is_nothing;
use lightloom_engine::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An electrical tree above the racks, oversubscribed or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TreeConfig {
    /// β: what the servers of a rack can send ÷ what the tree can carry for
    /// them, from 1 to 1,000. Default 1: full bisection. c-Through §5.1 has 40,
    /// 10 and 4.
    pub oversubscription: f64,
    /// 2: racks on a core, all of β at the racks' uplinks (c-Through §5.1). 3:
    /// racks, pods and a core, √β at each of the two (HydRA §IV). Default 2.
    #[schemars(range(min = 2, max = 3))]
    pub levels: u32,
    /// Racks below one pod, with three levels; must divide the racks. Default:
    /// the largest divisor up to 16 that leaves four pods or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub racks_per_pod: Option<u32>,
    /// From a rack to any other [time]: over all links of the longest
    /// path, which share it evenly. Default 0 s (idealised).
    #[serde(skip_serializing_if = "is_nothing")]
    pub propagation: Time,
    /// Forwarding latency of every electrical switch on the way, those of racks among them
    /// [time]. Default 0 s (idealised).
    #[serde(skip_serializing_if = "is_nothing")]
    pub switch_latency: Time,
    /// What every link between racks or switches takes to encode and decode, for forward
    /// error correction [time]. Default 0 s (idealised).
    #[serde(skip_serializing_if = "is_nothing")]
    pub fec_latency: Time,
    /// Bytes on the wire of every packet beside its payload [B]; links carry as much less.
    /// Default 0 B (idealised).
    #[serde(skip_serializing_if = "is_nothing")]
    pub header: Bytes,
    /// Payload of a full packet [B], where there are headers. Default 1500 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
}

impl Default for TreeConfig {
    fn default() -> TreeConfig {
        TreeConfig {
            oversubscription: 1.0,
            levels: 2,
            racks_per_pod: None,
            propagation: Time::ZERO,
            switch_latency: Time::ZERO,
            fec_latency: Time::ZERO,
            header: Bytes(0),
            packet: None,
        }
    }
}

impl TreeConfig {
    /// What packets take beside their bytes.
    pub fn overheads(&self) -> Overheads {
        Overheads {
            propagation: self.propagation,
            switch_latency: self.switch_latency,
            fec_latency: self.fec_latency,
            header: self.header,
            packet: self.packet,
        }
    }

    /// The keys of the tree.
    pub fn keys(&self) -> TreeKeys {
        TreeKeys {
            oversubscription: self.oversubscription,
            levels: self.levels,
            racks_per_pod: self.racks_per_pod,
        }
    }
}
