//! The key `rotorlb` of RotorNet and Opera.

use crate::ranges::refuse;
use crate::tdma::burst::Wire;
use crate::tdma::rotor::rotorlb::Indirect;
use lightloom_engine::{Cluster, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unit among which RotorLB divides a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fairness {
    /// The rack: a circuit carries any traffic that waits at its rack, of any host.
    #[default]
    PerRack,
    /// The host: each host may use its share of a circuit, as in the simulator of Opera's authors.
    PerHost,
}

/// The division of circuits, and whether traffic takes two hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// Every byte waits for its direct circuit.
    Direct,
    /// RotorLB among racks.
    PerRack {
        /// Bytes of whole packets that a circuit carries in a day.
        carries: u64,
    },
    /// RotorLB among hosts.
    PerHost {
        /// Bytes that a circuit carries in a day.
        carries: u64,
    },
}

impl Fairness {
    /// The division of circuits that are lit for this time per slot.
    pub fn division(self, indirect: Indirect, wire: Wire, day: Time) -> Division {
        let carries = wire.rate.bytes_in(day);
        match (self, indirect) {
            (Fairness::PerHost, _) => Division::PerHost { carries },
            (Fairness::PerRack, Indirect::None) => Division::Direct,
            (Fairness::PerRack, Indirect::Rotorlb) => Division::PerRack {
                carries: carries / wire.packet * wire.packet,
            },
        }
    }

    /// Refuses a division among hosts without two-hop traffic, or with days of fewer packets than
    /// two racks have pairs of hosts: relays would then never send.
    pub fn refuse(
        self,
        indirect: Indirect,
        cluster: &Cluster,
        wire: Wire,
        day: Time,
    ) -> Result<(), Refusal> {
        if self == Fairness::PerRack {
            return Ok(());
        }
        let given = "\"per-host\"";
        if indirect == Indirect::None {
            let limit = "divides circuits among hosts for two-hop traffic, of which there is none \
                         with fabric.indirect = \"none\"";
            return refuse("rotorlb", given, limit.to_owned(), "remove one of the two");
        }
        let hosts = u64::from(cluster.servers_per_rack);
        let (packets, fewest) = (wire.rate.bytes_in(day) / wire.packet, hosts * hosts);
        if packets < fewest {
            let limit = format!(
                "needs days of {fewest} packets at least, one for each pair of servers of two \
                 racks, but a day carries {packets}"
            );
            let remedy = "lengthen the day, shorten packets, or use \"per-rack\"";
            return refuse("rotorlb", given, limit, remedy);
        }
        Ok(())
    }
}
