//! HydRA's controller (Christodoulopoulos et al., "Performance evaluation of a hybrid
//! optical/electrical interconnect", JOCN 7(3), 2015, §III.B): from demand to a
//! topology of circuits on several planes, and paths over one or several of them.
//!
//! | file | step |
//! |---|---|
//! | `demands` | bytes become demands for paths |
//! | this file | the heuristic of §III.B.3, for the whole topology or its changes; VLANs |
//! | `standing` | the part of the previous topology that remains |
//!
//! The driver of the switch tags paths and installs rules.

mod demands;
mod standing;
#[cfg(test)]
mod tests;

pub use demands::Rule;

use super::{Decides, Entry, PolicyConfig, Usual};
use crate::algorithms::multihop::{self, Demand as PathDemand, Options, Topology, MAX_PLANES};
use crate::algorithms::vlan;
use crate::circuits::{Circuit, Circuits};
use crate::hardware::Hardware;
use crate::order::Order;
use crate::policy::{Demand, Evidence, Policy, Rules, SwitchView, Target};
use crate::routes::{Route, Routes};
use lightloom_engine::{Bytes, Rate, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standing::Standing;

/// K of the paper (§III.A).
pub const PLANES: u32 = 32;
/// Rate of a circuit (§III.A).
pub const RATE: Rate = Rate(10 * Rate::GBPS.0);
/// The time between decisions (§V.B), over which demand is spread.
pub const INTERVAL: Time = Time(10 * Time::S.0);

/// Its entry in the registry.
pub const ENTRY: Entry = Entry {
    kind: "hydra",
    aliases: &[],
    source: "Christodoulopoulos et al., Performance evaluation of a hybrid optical/electrical \
             interconnect, JOCN 7(3), 2015, §III.B",
    summary: "Circuits on several planes for the heaviest pairs, and paths over several circuits \
              for the others. Traffic leaves a circuit before it goes dark.",
    decides: Decides::Circuits,
    obeys_rules: true,
    usual: Usual {
        planes: Some(PLANES),
        rate: Some(RATE),
        over: Some(INTERVAL),
        ..Usual::ONE_PORT
    },
    schema: super::schema::<HydraPolicy>,
    resolve: super::resolve::<HydraPolicy>,
    for_demand: super::for_demand::<HydraPolicy>,
    build: super::build::<HydraPolicy>,
};

/// Connects racks by their demand, over several circuits if there is no direct one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HydraPolicy {
    /// H: largest number of circuits on a path, from 1 to 12. Default 4; the paper gives no value.
    #[schemars(range(min = 1, max = 12))]
    pub hops: u32,
    /// Number of VLANs for paths, from 1 to 4,094 (12 bits, two values reserved; §III.B.1). If
    /// there are more paths, those with the least demand stay electrical. Default 4,094.
    #[schemars(range(min = 1, max = 4094))]
    pub vlans: u32,
    /// Capacity that a path reserves on each of its circuits (§III.B.3: demand is Boolean or a
    /// rate).
    pub need: Need,
    /// Pairs of racks with less demand than this, in both directions together, stay electrical [B].
    /// Default 1 MB; the paper gives no value.
    pub threshold: Bytes,
    /// Part of the topology that a decision may change (§III.B.3).
    pub reconfigure: Reconfigure,
    /// Whether the search for paths ends when all ports are in use, as in the paper's listing.
    /// Default false: it continues over circuits with free capacity.
    pub stop_at_ports: bool,
    /// Whether a pair with more demand than a circuit carries reserves several paths. Default true;
    /// otherwise it reserves one path with the capacity of a circuit.
    pub split: bool,
}

impl Default for HydraPolicy {
    fn default() -> HydraPolicy {
        HydraPolicy {
            hops: 4,
            vlans: vlan::MAX_VLANS as u32,
            need: Need::Rate,
            threshold: Bytes(1_000_000),
            reconfigure: Reconfigure::Partial,
            stop_at_ports: false,
            split: true,
        }
    }
}

/// Capacity that a path reserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// The demand divided by the interval (default). A pair with more demand than a circuit carries
    /// reserves several paths.
    Rate,
    /// A whole circuit for each pair that has any demand.
    Circuit,
}

/// Part of a topology that a control cycle may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reconfigure {
    /// Only paths whose racks no longer have demand; other paths keep their circuits (default).
    Partial,
    /// The whole topology, which is computed anew from the demand.
    Whole,
}

/// The longest path; with the links of both servers it fits the flow kernel's limit.
const HOPS_MAX: u32 = 12;
const THRESHOLD_MAX: u64 = 1_000_000_000_000;

impl PolicyConfig for HydraPolicy {
    fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        within("planes", hardware.planes, MAX_PLANES)?;
        within("policy.hops", self.hops, HOPS_MAX)?;
        within("policy.vlans", self.vlans, vlan::MAX_VLANS as u32)?;
        if self.threshold.0 > THRESHOLD_MAX {
            let (key, limit) = ("policy.threshold", "must be at most 1 TB");
            return Err(Refusal::new(key, self.threshold, limit, "lower it"));
        }
        path_hardware(hardware).check()
    }

    fn build(self, hardware: &Hardware) -> Box<dyn Policy> {
        Box::new(Controller::new(self, hardware))
    }
}

fn within(key: &str, value: u32, most: u32) -> Result<(), Refusal> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    let remedy = if value == 0 { "raise it" } else { "lower it" };
    let limit = format!("must be from 1 to {most}");
    Err(Refusal::new(key, value, limit, remedy))
}

/// The switch in the form of the heuristic: capacities in bits per second.
fn path_hardware(hardware: &Hardware) -> multihop::Hardware {
    multihop::Hardware {
        ports: hardware.ports,
        radix: hardware.racks.saturating_mul(hardware.ports),
        ..multihop::Hardware::new(hardware.racks, hardware.planes, hardware.rate.0 as i64)
    }
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Controller {
    config: HydraPolicy,
    rule: Rule,
    options: Options,
    /// The topology of the last decision.
    topology: Topology,
    /// Circuits that stay, whatever traffic they carry.
    pinned: Vec<Circuit>,
}

/// Seed for the orders of paths that are tried to use few VLANs.
const VLAN_SEED: u64 = 1;

impl Controller {
    /// A controller from a table that has been checked for this hardware.
    pub fn new(config: HydraPolicy, hardware: &Hardware) -> Controller {
        Controller {
            config,
            rule: Rule {
                need: config.need,
                threshold: config.threshold.0,
                circuit: hardware.rate,
                most_paths: match config.split {
                    true => hardware.planes * hardware.ports,
                    false => 1,
                },
            },
            options: Options {
                hops: config.hops,
                without_ports: !config.stop_at_ports,
            },
            topology: Topology::dark(path_hardware(hardware)).expect("checked before"),
            pinned: Vec::new(),
        }
    }

    /// The topology for `demands` on a switch some of whose ports may not work.
    fn find(&self, demands: &[PathDemand], works: &[bool]) -> Result<Topology, Refusal> {
        let mut before = match self.config.reconfigure {
            Reconfigure::Whole => Topology {
                apart: self.topology.apart.clone(),
                ..Topology::dark(self.topology.hardware)?
            },
            Reconfigure::Partial => self.topology.clone(),
        };
        standing::light(&self.pinned, &mut before);
        Standing::new(&before, demands, works, &self.pinned).change(self.options)
    }

    /// The topology without the paths for which no VLAN is left, the lightest first, and without
    /// the circuits that only these paths need (§III.B.1: a path is a VLAN, or shares one).
    fn within_vlans(&self, found: Topology) -> Topology {
        let served = |at: &usize| !found.routes[*at].is_empty();
        let mut order: Vec<usize> = (0..found.routes.len()).filter(served).collect();
        let vlans = self.config.vlans as usize;
        if order.len() <= vlans {
            return found;
        }
        order.sort_by_key(|&at| std::cmp::Reverse(found.demands[at].weight));
        let pairs: Vec<(u32, u32)> = found.circuits.iter().map(|c| (c.a, c.b)).collect();
        let paths: Vec<Vec<u32>> = order.iter().map(|&at| found.routes[at].clone()).collect();
        let held =
            vlan::within(&pairs, &paths, vlans, VLAN_SEED).expect("a topology's routes are paths");
        let mut kept = vec![false; found.routes.len()];
        let is_pinned = |c: &multihop::Circuit| standing::holds(&self.pinned, c);
        let mut used: Vec<bool> = found.circuits.iter().map(is_pinned).collect();
        for (&at, _) in order.iter().zip(held).filter(|&(_, held)| held) {
            kept[at] = true;
            for &circuit in &found.routes[at] {
                used[circuit as usize] = true;
            }
        }
        standing::without_paths(&found, &kept, &used)
    }
}

impl Policy for Controller {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        let demands = self.rule.demands(&seen.bytes, seen.over);
        let found = self.find(&demands, switch.works)?;
        self.topology = self.within_vlans(found);
        let circuits = { self.topology.circuits.iter() }.map(|c| (c.a, c.b, c.plane));
        Ok(Target::Network {
            circuits: Circuits::on_planes(circuits),
            routes: routes_of(&self.topology),
        })
    }

    fn order(&self) -> Order {
        Order::THREE_SUBSTEPS
    }

    /// Demand of a pinned pair uses its circuit first; paths of other pairs may use it, too.
    fn lay_down(&mut self, rules: &Rules) -> bool {
        self.pinned = rules.pinned.clone();
        self.topology.apart = rules.apart.clone();
        true
    }

    fn evidence(&self) -> Option<Evidence<'_>> {
        Some(Evidence::Topology(&self.topology, self.options))
    }
}

/// The paths of a topology.
fn routes_of(topology: &Topology) -> Routes {
    let mut routes = Routes::none(false);
    for (at, circuits) in topology.routes.iter().enumerate() {
        if circuits.is_empty() {
            continue;
        }
        let plane = |&c: &u32| topology.circuits[c as usize].plane;
        routes.add(Route {
            racks: topology.racks(at),
            planes: circuits.iter().map(plane).collect(),
        });
    }
    routes
}
