//! Solstice as a policy: a short schedule that serves all demand, with a packet network in parallel
//! (Liu et al., CoNEXT 2015); see [`crate::algorithms::solstice`].
//!
//! Ports that do not work keep their slots, which stay dark.

use super::frame::{no_slots, NIGHT};
use super::{Decides, Entry, PolicyConfig, Usual};
use crate::algorithms::solstice::{check_packet_rate, lower_bound, plan_within, Limits, Network};
use crate::hardware::Hardware;
use crate::order::Order;
use crate::policy::{Demand, Evidence, Policy, SwitchView, Target};
use lightloom_engine::{Bytes, Rate, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Its entry in the registry.
pub const ENTRY: Entry = Entry {
    kind: "solstice",
    aliases: &[],
    source: "Liu et al., Scheduling techniques for hybrid circuit/packet networks, CoNEXT 2015",
    summary: "A short schedule that serves all demand. The packet network carries the demand that \
              does not justify a slot.",
    decides: Decides::Schedule,
    obeys_rules: false,
    usual: Usual::IN_SLOTS,
    schema: super::schema::<SolsticePolicy>,
    resolve: super::resolve::<SolsticePolicy>,
    for_demand: super::for_demand::<SolsticePolicy>,
    build: super::build::<SolsticePolicy>,
};

/// Serves all demand in a short schedule, with a packet network in parallel to the circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SolsticePolicy {
    /// Night: time at the start of each slot in which it is dark [s]. Default 10 us.
    pub night: Time,
    /// Rate of each port of the packet network [b/s], at most the rate of a circuit. Default 0 b/s:
    /// there is no packet network.
    pub packet_rate: Rate,
    /// Shortest slot, including its night [s]; values up to the night have no effect. Default 0 s.
    pub shortest: Time,
    /// Largest packet [B], from 1 B to 65535 B. Days contain whole packets: if the demand of a pair
    /// consists of full packets and a shorter last one, all demand is served when the last packet
    /// has left. With 1 B the plan counts bytes, and packets may wait for later days. Default 1500
    /// B.
    pub packet: Bytes,
}

impl Default for SolsticePolicy {
    fn default() -> SolsticePolicy {
        SolsticePolicy {
            night: NIGHT,
            packet_rate: Rate(0),
            shortest: Time::ZERO,
            packet: Bytes(1_500),
        }
    }
}

impl PolicyConfig for SolsticePolicy {
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        hardware.require_one_port("solstice")?;
        check_packet_rate(self.packet_rate, hardware.rate)
    }

    fn build(self, _: &Hardware) -> Box<dyn Policy> {
        Box::new(Soon {
            config: self,
            ends: None,
        })
    }
}

struct Soon {
    config: SolsticePolicy,
    /// The time at which all demand was to be served, and a lower bound on it.
    ends: Option<(Time, Time)>,
}

impl Policy for Soon {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        self.ends = None;
        if seen.bytes.is_zero() {
            return Ok(no_slots(&switch.hardware, self.config.night));
        }
        let network = Network {
            circuit: switch.hardware.rate,
            packet: self.config.packet_rate,
            night: self.config.night,
        };
        let limits = Limits {
            shortest: self.config.shortest,
            packet: i64::try_from(self.config.packet.0).unwrap_or(i64::MAX),
        };
        let plan = plan_within(&seen.bytes, &network, &limits)?;
        self.ends = Some((plan.total, lower_bound(&seen.bytes, &network)?));
        Ok(Target::Schedule(plan.schedule))
    }

    fn order(&self) -> Order {
        Order::ALL_DARK
    }

    fn evidence(&self) -> Option<Evidence<'_>> {
        self.ends
            .map(|(at, bound)| Evidence::Completes { at, bound })
    }
}
