//! The key `rotorlb` of RotorNet and Opera.

use crate::ranges::refuse;
use crate::tdma::burst::Wire;
use crate::tdma::relays::Relaying;
use crate::tdma::rotorlb::Indirect;
use lightloom_engine::{Cluster, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unit among which RotorLB divides a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fairness {
    /// The rack: a circuit carries what waits at its rack, whichever host sent it.
    #[default]
    PerRack,
    /// The host: each may use its share of a circuit, as in the simulator of Opera's authors.
    PerHost,
}

impl Fairness {
    /// Bytes that a circuit carries in a day, if it is divided among hosts.
    pub fn by_hosts(self, wire: Wire, day: Time) -> Option<u64> {
        (self == Fairness::PerHost).then(|| wire.rate.bytes_in(day))
    }

    /// The rule of relaying for so many racks, if circuits are divided among racks.
    pub fn relaying(
        self,
        indirect: Indirect,
        racks: u32,
        wire: Wire,
        day: Time,
    ) -> Option<Box<dyn Relaying>> {
        match self {
            Fairness::PerRack => indirect.relaying(racks, wire, day),
            Fairness::PerHost => None,
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
                 racks, and a day carries {packets}"
            );
            let remedy = "lengthen the day, shorten packets, or use \"per-rack\"";
            return refuse("rotorlb", given, limit, remedy);
        }
        Ok(())
    }
}
