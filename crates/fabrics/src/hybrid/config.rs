//! The table of `kind = "hybrid"`: any policy, any electrical network or none.

use super::computation::Computation;
use super::devices::{asked, with_night};
use super::kernel::Hybrid;
use super::packets::Packets;
use super::policy_table::PolicyTable;
use super::port_failures::FAILURES;
use super::setup::{Delays, DemandFrom, GiveUp, Monitoring, Pushing, Setup, Transport};
use super::standing::{cycle, slot, standing, stands, unjoined};
use super::tree::{Tree, TreeKeys};
use crate::contract::{FabricConfig, Site};
use crate::devices::switch::{named, record};
use crate::facts::Facts;
use crate::findings::{Ended, Finding};
use crate::hybrid::decisions::Decisions;
use crate::hybrid::findings::{shortest_day, Times};
use crate::overheads::{with_overheads, Forwarding};
use crate::physics::{Obeyed, Physics};
use crate::ranges::{self, refuse};
use lightloom_control::controller::Timing;
use lightloom_control::demand::Thresholds;
use lightloom_control::hardware::Hardware;
use lightloom_control::order::Order;
use lightloom_control::policies::cthrough::BYTES_MAX;
use lightloom_control::policies::library::Empty;
use lightloom_control::policy::Target;
use lightloom_engine::kernel::flow::FlowDriven;
use lightloom_engine::{check_range, config, Bytes, Cluster, Fabric, Rate, Refusal, Time};
use lightloom_photonics::circuit_switch::SwitchDesign;
use lightloom_photonics::Named;
use schemars::JsonSchema;
use serde::{de, Deserialize, Deserializer, Serialize};
use serde_json::Value;

with_overheads! {
    /// A hybrid network: circuits that a policy selects, with or without an electrical tree.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct HybridConfig {
        /// The policy that chooses circuits: its name (`lightloom explain policies`
        /// lists them), a table with its `kind` and its own keys, or a class in a Python
        /// file, `"my_policy.py:Threshold"`; as a table, `{ file = …, … }`, the class is
        /// made with the other keys. Default: c-Through's matching.
        pub policy: PolicyTable = PolicyTable::kind("cthrough"),
        /// Circuits that are lit when the run begins, one row each as for the policy "fixed": two
        /// racks, and the plane if there are several; like `[[0, 1], [2, 3]]`. They are directed if
        /// the circuits of the policy are ("assignment"), otherwise bidirectional. Default: the
        /// circuits of a policy that needs no demand ("fixed" or "rotation"); none for all other
        /// policies. `[]` means none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial: Option<Vec<Vec<u32>>> = None,
        /// Whether there is an electrical network beside the circuits. Without one, traffic between
        /// racks waits until its racks are connected, and the policy's `threshold`, below which
        /// pairs stay electrical, is 0 B. Default true.
        pub electrical: bool = true,
        /// β, the oversubscription of the electrical tree: the rate at which the servers of a rack
        /// can send ÷ the rate of the rack's uplinks, from 1 to 1,000. Default: the value of the
        /// cluster, otherwise 10.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub oversubscription: Option<f64> = None,
        /// Levels of the tree: 2 (racks, core) or 3 (racks, pods, core, √β each).
        /// Default 2.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 2, max = 3))]
        pub levels: Option<u32> = None,
        /// Racks below one pod, with three levels; must divide the racks. Default:
        /// the largest divisor up to 16 that leaves four pods or more.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub racks_per_pod: Option<u32> = None,
        /// Number of parallel optical switches; a rack has a port on each. From 1 to 128; most
        /// policies support one. Default 1.
        #[schemars(range(min = 1, max = 128))]
        pub planes: u32 = 1,
        /// Rate of a circuit in each direction [b/s]. Default: the rate at which all servers of a
        /// rack can send ÷ planes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub circuit_rate: Option<Rate> = None,
        /// Time from one decision to the next [s]; a change that takes longer delays the next
        /// decision. Default 1 s.
        pub interval: Time = Time::S,
        /// Time from the demand to the decision [s]; if it is longer than the interval, it delays
        /// the next decision. "measured" uses the computation time on this machine; the results
        /// contain these times as a list, with which the run can be repeated exactly; none of them
        /// may be longer than the interval. Default 0 s.
        pub computation_delay: Computation = Computation::default(),
        /// The measure of demand.
        pub demand: DemandFrom = DemandFrom::Announced,
        /// Largest number of bytes of a flow that its server reports [B]. Default: no limit.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub socket_buffer: Option<Bytes> = None,
        /// A server reports its queue for a rack only if it is larger than this [B]. Default 0 B.
        pub report_queue: Bytes = Bytes(0),
        /// A server reports a queue only if it has changed by more than this since its last report
        /// [B]. Default 0 B.
        pub report_change: Bytes = Bytes(0),
        /// Weight of a new report in the demand that the policy receives, above 0 and at most 1;
        /// the previous value has the remaining weight. Default 1: no averaging.
        pub smoothing: f64 = 1.0,
        /// The order in which a change is carried out. Default: the policy's own.
        #[serde(deserialize_with = "order", skip_serializing_if = "Option::is_none")]
        pub order: Option<Order> = None,
        /// Optical switch: the name of a switch in the papers ("mems-cthrough", "wss-ring"), or a
        /// table of its keys, which may begin with a `preset`. The switch then determines `settle`,
        /// and the `night` of a policy that plans for nights; a table with another value is
        /// refused. So are a switch that cannot have the circuits of the policy, and more racks
        /// than the switch has ports. Default: no device.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub devices: Option<Named<SwitchDesign>> = None,
        /// Time for mirrors to move and settle [s]. Default 10 ms.
        pub settle: Time = Time::MS * 10,
        /// After that: time for the transceivers at both ends to establish the link [s]. Default 0
        /// s.
        pub link_up: Time = Time::ZERO,
        /// Time to tag ports of rack switches, in parallel to the mirrors, if routes are installed
        /// [s]. Default 0 s.
        pub retag: Time = Time::ZERO,
        /// Time to install one rule on a server's switch [s]. Default 0 s.
        pub rule: Time = Time::ZERO,
        /// Whether rules are installed on servers one after another or in parallel.
        pub pushing: Pushing = Pushing::Sequential,
        /// Share of a server's link that is guaranteed to its flows over circuits; its other flows
        /// have the rest. Either side may use what the other does not need. At least 0.5 and
        /// below 1. Default: all flows share the link equally.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub optical_weight: Option<f64> = None,
        /// Time from a circuit's coming up until TCP fills it [s]. Default 5 ms (c-Through §5.2.1).
        pub ramp: Time = Time::MS * 5,
        /// Time from a circuit's going dark until TCP fills its path in the tree [s]. Default 30 ms
        /// (c-Through §5.2.1).
        pub dip: Time = Time::MS * 30,
        /// Time from the controller's failure until servers leave all circuits [s]. Default: never.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub controller_timeout: Option<Time> = None,
        /// How switches forward packets, including the racks' switches at both ends of a circuit.
        /// With "store-and-forward", as in a Clos network, the last packet of a flow takes its
        /// transmission time again on every link of its path; it takes one of the links that form
        /// an uplink. Default "store-and-forward".
        pub forwarding: Forwarding = Forwarding::StoreAndForward,
    }
    /// Propagation delay from a rack to any other [time]: over a circuit, or in equal parts over
    /// the links of the tree's longest path. Default 0 s (idealised).
    propagation
}

/// Reads an order by its name; an unknown name is refused with the list of names.
fn order<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Order>, D::Error> {
    let Some(name) = Option::<String>::deserialize(d)? else {
        return Ok(None);
    };
    let unknown = || de::Error::unknown_variant(&name, Order::NAMES);
    Order::named(&name).map(Some).ok_or_else(unknown)
}

/// Default oversubscription of the tree.
const OVERSUBSCRIPTION: f64 = 10.0;
const PLANES_MAX: u32 = 128;
/// The key of policies that leave small demand to the electrical network.
const THRESHOLD: &str = "threshold";

impl HybridConfig {
    /// The electrical tree's part; none without one.
    fn tree(&self, cluster: &Cluster) -> Result<Option<TreeKeys>, Refusal> {
        let keys = [
            ("oversubscription", self.oversubscription),
            ("levels", self.levels.map(f64::from)),
            ("racks_per_pod", self.racks_per_pod.map(f64::from)),
        ];
        let given = keys.iter().find_map(|(key, value)| Some((key, (*value)?)));
        if let (false, Some((key, value))) = (self.electrical, given) {
            let limit = "there is no electrical network";
            return refuse(key, value, limit, "remove it, or set electrical = true");
        }
        let keys = TreeKeys {
            oversubscription: self.oversubscription.unwrap_or(OVERSUBSCRIPTION),
            levels: self.levels.unwrap_or(2),
            racks_per_pod: self.racks_per_pod,
        };
        match self.electrical {
            true => keys.resolve(cluster).map(Some),
            false => Ok(None),
        }
    }

    /// The policy with its defaults. Without an electrical network its threshold is 0 B, because no
    /// pair can stay electrical.
    fn resolved_policy(&self, cluster: &Cluster) -> Result<PolicyTable, Refusal> {
        let mut policy = self.policy.clone();
        if !self.electrical {
            policy.fill(THRESHOLD, &Bytes(0));
        }
        let policy = policy.resolve(&self.hardware(cluster))?;
        if !self.electrical && policy.is_of_registry() {
            self.refuse_stranding(&policy, cluster)?;
        }
        Ok(policy)
    }

    /// Refuses settings with which a policy never receives the demand of a pair or can never
    /// connect it, because without an electrical network the flows of the pair would never be
    /// delivered.
    fn refuse_stranding(&self, policy: &PolicyTable, cluster: &Cluster) -> Result<(), Refusal> {
        let of_policy = |key: &str| {
            { policy.own(key) }.and_then(|value| serde_json::from_value(value.clone()).ok())
        };
        let amounts = [
            ("policy.threshold", of_policy(THRESHOLD)),
            ("policy.hysteresis", of_policy("hysteresis")),
            ("report_queue", Some(self.report_queue)),
            ("report_change", Some(self.report_change)),
        ];
        for (key, amount) in amounts {
            if let Some(amount) = amount.filter(|&amount| amount > Bytes(0)) {
                return refuse(
                    key,
                    amount,
                    "pairs with less would wait for ever without an electrical network",
                    "remove it, or set electrical = true",
                );
            }
        }
        let decides = standing(policy, &self.hardware(cluster))?.is_none();
        if self.demand == DemandFrom::Monitored && decides {
            return refuse(
                "demand",
                "\"monitored\"",
                "it counts delivered bytes; without an electrical network, none are delivered before \
                 a circuit is lit",
                "use \"announced\", or set electrical = true",
            );
        }
        Ok(())
    }

    fn circuit_rate(&self, cluster: &Cluster) -> Rate {
        ranges::circuit_rate(self.circuit_rate, self.planes, cluster)
    }

    fn hardware(&self, cluster: &Cluster) -> Hardware {
        let rate = self.overheads().payload(self.circuit_rate(cluster));
        Hardware::new(cluster.racks, self.planes, rate)
    }

    /// The packets on the tree and on circuits.
    fn packets(&self, cluster: &Cluster) -> Packets {
        Packets {
            overheads: self.overheads(),
            forwarding: self.forwarding,
            link: cluster.server_rate,
            circuit: Some(self.circuit_rate(cluster)),
        }
    }

    /// The electrical network with its packets; without one, the links of servers alone.
    fn laid_tree(&self, cluster: &Cluster) -> Result<Tree, Refusal> {
        let tree = match self.tree(cluster)? {
            Some(keys) => Tree::new(&keys, cluster),
            None => Tree::of_servers(cluster),
        };
        Ok(tree.with(&self.packets(cluster)))
    }

    /// The circuits that are lit, or the schedule, when the run begins.
    fn initial(&self, hardware: &Hardware) -> Result<Option<Target>, Refusal> {
        let circuits = match &self.initial {
            None => return standing(&self.policy, hardware),
            Some(circuits) if circuits.is_empty() => return Ok(None),
            Some(circuits) => circuits,
        };
        let of_initial = |refusal: Refusal| Refusal {
            key: refusal.key.replace("policy.circuits", "initial"),
            ..refusal
        };
        if self.policy.takes_turns() {
            let limit = "the circuits of this policy take turns, and it begins with none";
            return refuse("initial", format!("{circuits:?}"), limit, "remove it");
        }
        let wired = PolicyTable::lighting(circuits, self.policy.directs());
        let resolved = wired.resolve(hardware).map_err(of_initial)?;
        standing(&resolved, hardware).map_err(of_initial)
    }

    /// The network of a resolved table.
    fn setup(&self, site: &Site) -> Result<Setup, Refusal> {
        let cluster = site.cluster;
        let hardware = self.hardware(cluster);
        let tree = self.laid_tree(cluster)?;
        let thresholds = Thresholds {
            queue_above: self.report_queue.0,
            change_above: self.report_change.0,
        };
        let tells_all = self.report_queue.0 == 0 && self.report_change.0 == 0;
        let policy = self.policy.with_files_read(&hardware)?;
        Ok(Setup {
            title: "a hybrid network",
            initial: self.initial(&hardware)?,
            cluster: *cluster,
            tree,
            hardware,
            policy: policy.build(&hardware, site.library.unwrap_or(&Empty))?,
            described: serde_json::to_value(&policy).expect("configurations are plain data"),
            order: self.order,
            timing: Timing {
                interval: self.interval,
                computation_delay: self.computation_delay.given(),
            },
            computation: self.computation_delay.clone(),
            monitoring: Monitoring {
                demand: self.demand,
                buffer: self.socket_buffer.map_or(u64::MAX, |b| b.0),
                thresholds: (!tells_all).then_some(thresholds),
                smoothing: self.smoothing,
                most: BYTES_MAX,
            },
            delays: Delays {
                settle: self.settle,
                link_up: self.link_up,
                retag: self.retag,
                rule: self.rule,
                rules: None,
                pushing: self.pushing,
            },
            transport: Transport {
                ramp: self.ramp,
                dip: self.dip,
            },
            optical_weight: self.optical_weight,
            give_up: { self.controller_timeout }.map(|after| GiveUp { after, dark: false }),
        })
    }

    fn refuse_size(&self, cluster: &Cluster) -> Result<(), Refusal> {
        check_range("fabric.planes", self.planes, 1..=PLANES_MAX)?;
        ranges::racks(cluster.racks)
    }

    fn refuse_times(&self) -> Result<(), Refusal> {
        if self.interval == Time::ZERO {
            return refuse("interval", self.interval, "must be above 0 s", "use 1 s");
        }
        ranges::times(&[
            ("interval", self.interval),
            ("computation_delay", self.computation_delay.given()),
            ("settle", self.settle),
            ("link_up", self.link_up),
            ("retag", self.retag),
            ("rule", self.rule),
            ("ramp", self.ramp),
            ("dip", self.dip),
            (
                "controller_timeout",
                self.controller_timeout.unwrap_or(Time::ZERO),
            ),
        ])?;
        self.computation_delay.check(self.interval)
    }

    fn refuse_amounts(&self, cluster: &Cluster) -> Result<(), Refusal> {
        let buffer = self.socket_buffer.unwrap_or(Bytes(1));
        let amounts = [
            ("socket_buffer", buffer),
            ("report_queue", self.report_queue),
            ("report_change", self.report_change),
        ];
        ranges::amounts(&amounts, Bytes(BYTES_MAX))?;
        if buffer.0 == 0 {
            return refuse("socket_buffer", buffer, "must be above 0 B", "use 100 MB");
        }
        ranges::rate("circuit_rate", self.circuit_rate(cluster))?;
        ranges::smoothing(self.smoothing)?;
        let remedy = "use 0.9, or leave it out";
        { self.optical_weight }.map_or(Ok(()), |share| ranges::optical_weight(share, remedy))
    }
}

impl FabricConfig for HybridConfig {
    fn with_devices(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
        let Some(switch) = named(table)? else {
            return Ok(table.clone());
        };
        let config = config::read::<Self>(table, "fabric")?;
        let hardware = config.hardware(cluster);
        let asked = asked(&config.policy, &hardware, switch.settle)?;
        let table = with_night(table, &config.policy, switch.settle)?;
        asked.lay::<Self>(&table, cluster)
    }

    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal> {
        let tree = self.tree(cluster)?;
        self.refuse_size(cluster)?;
        self.refuse_times()?;
        self.refuse_amounts(cluster)?;
        if self.initial.is_some() {
            self.initial(&self.hardware(cluster))?;
        }
        Ok(HybridConfig {
            policy: self.resolved_policy(cluster)?,
            oversubscription: tree.map(|t| t.oversubscription),
            levels: tree.map(|t| t.levels),
            racks_per_pod: tree.and_then(|t| t.racks_per_pod),
            circuit_rate: Some(self.circuit_rate(cluster)),
            packet: self.overheads().resolve_for(self.forwarding)?.packet,
            ..self
        })
    }

    fn obey(&self, physics: &Physics, _: &Cluster) -> Obeyed {
        let obeyed = Obeyed::by_all(physics).shared_by_rates(physics);
        match self.electrical {
            true => obeyed.oversubscribed(physics),
            false => obeyed,
        }
    }

    fn draws(&self) -> bool {
        !self.policy.is_of_registry()
    }

    fn failures(&self, _: &Cluster) -> String {
        FAILURES.to_owned()
    }

    fn ideal(&self) -> Vec<&'static str> {
        let mut ideal = self.overheads().ideal();
        ideal.extend(["no queues", "paths shared out perfectly"]);
        ideal
    }

    fn findings(&self, cluster: &Cluster) -> Vec<Finding> {
        let hardware = self.hardware(cluster);
        let Ok(standing) = standing(&self.policy, &hardware) else {
            return Vec::new();
        };
        let day = standing.as_ref().and_then(shortest_day);
        if standing.is_some() && day.is_none() {
            return Vec::new(); // circuits that stay
        }
        let dark = (self.settle + self.link_up).max(self.retag);
        let dip = self.electrical.then_some((self.dip, "dip"));
        Times {
            interval: self.interval,
            dark: (dark, "fabric.settle, fabric.link_up and fabric.retag"),
            ramp: (self.ramp, "ramp"),
            dip,
            day,
        }
        .findings()
    }

    fn findings_of_run(&self, ended: &Ended) -> Vec<Finding> {
        if stands(&self.policy) {
            return Vec::new();
        }
        Decisions {
            interval: self.interval,
            takes: self.computation_delay.first(),
            waits: !self.electrical,
        }
        .findings(ended)
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        let config = self.clone().resolve(site.cluster)?;
        let kernel = Hybrid::new(config.setup(site)?, site.flows.len());
        Ok(Box::new(FlowDriven::new(kernel)))
    }

    fn memory(&self, site: &Site) -> u64 {
        let tree = match self.tree(site.cluster) {
            Ok(Some(keys)) => Tree::new(&keys, site.cluster),
            Ok(None) => Tree::of_servers(site.cluster),
            Err(_) => return 0,
        };
        let (racks, hosts) = (site.cluster.racks as u64, site.cluster.hosts() as u64);
        let flows = site.flows.len();
        // Demand and the matrices of policies; one link per port.
        let matrices = 48 * racks * racks;
        let ports = racks * self.planes as u64 * 240;
        tree.memory(flows) + matrices + ports + hosts * 200 + flows as u64 * 56
    }

    fn facts_for(&self, site: &Site) -> Facts {
        // A file that cannot be read was refused when the fabric was built.
        let standing = standing(&self.policy, &self.hardware(site.cluster)).unwrap_or_default();
        let alone = { standing.as_ref() }.filter(|_| !self.electrical);
        let hardware = self.hardware(site.cluster);
        let tree = self.laid_tree(site.cluster);
        Facts {
            uplinks: tree.map_or_else(|_| Vec::new(), |tree| tree.uplinks(hardware.rate_of_rack())),
            unjoined: alone.and_then(|target| unjoined(target, site, "set electrical = true")),
            slot: standing.as_ref().and_then(slot),
            interval: Some(self.interval),
            cycle: cycle(standing.as_ref(), Some(self.interval)),
            devices: record(self.devices),
            ..Facts::default()
        }
    }
}
