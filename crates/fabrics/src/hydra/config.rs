//! The table of `kind = "hydra"`.

use crate::contract::{FabricConfig, Site};
use crate::devices::switch::{record, Asked};
use crate::facts::Facts;
use crate::findings::{Ended, Finding};
use crate::hybrid::computation::Computation;
use crate::hybrid::decisions::Decisions;
use crate::hybrid::findings::Times;
use crate::hybrid::kernel::Hybrid;
use crate::hybrid::packets::Packets;
use crate::hybrid::port_failures::FAILURES;
use crate::hybrid::setup::{described, of_policy, Delays, GiveUp, Monitoring, Setup, Transport};
pub use crate::hybrid::setup::{DemandFrom, Pushing};
use crate::hybrid::tree::{Tree, TreeKeys};
use crate::overheads::{with_overheads, Forwarding};
use crate::physics::{Obeyed, Physics};
use crate::ranges::{self, refuse};
use lightloom_control::controller::Timing;
use lightloom_control::hardware::Hardware;
use lightloom_control::policies::hydra::{self, HydraPolicy};
pub use lightloom_control::policies::hydra::{Need, Reconfigure};
use lightloom_control::policies::PolicyConfig;
use lightloom_engine::kernel::flow::FlowDriven;
use lightloom_engine::{Bytes, Cluster, Fabric, Rate, Refusal, Time};
use lightloom_photonics::circuit_switch::{Constraint, SwitchDesign};
use lightloom_photonics::Named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

with_overheads! {
    /// HydRA: an electrical tree, and parallel optical switches that connect racks by circuits; a
    /// path may use several circuits.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct HydraConfig {
        /// β, the oversubscription of the electrical tree: the rate at which the servers of a rack
        /// can send ÷ the rate of the rack's uplinks, from 1 to 1,000. Default: the value of the
        /// cluster, otherwise 10 (§V.B: 1 Gb/s beside 10 Gb/s).
        pub oversubscription: f64 = 10.0,
        /// Levels of the tree: 2 (racks, core) or 3 (racks, pods, core, √β each; §IV).
        /// Default 2.
        #[schemars(range(min = 2, max = 3))]
        pub levels: u32 = 2,
        /// Racks below one pod, with three levels; must divide the racks. Default:
        /// the largest divisor up to 16 that leaves four pods or more.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub racks_per_pod: Option<u32> = None,
        /// K: optical switches in parallel; a rack has a port on each, so this is the
        /// most circuits that it can have. From 1 to 128. Default 32 (§III.A).
        #[schemars(range(min = 1, max = 128))]
        pub planes: u32 = hydra::PLANES,
        /// H: the largest number of circuits on a path, from 1 to 12. Default 4; the paper gives no
        /// value.
        #[schemars(range(min = 1, max = 12))]
        pub hops: u32 = HydraPolicy::default().hops,
        /// Number of VLANs for paths, from 1 to 4,094 (12 bits, two values reserved; §III.B.1). If
        /// there are more paths, those with the least demand stay electrical. Default 4,094.
        #[schemars(range(min = 1, max = 4094))]
        pub vlans: u32 = HydraPolicy::default().vlans,
        /// Rate of a circuit in each direction [b/s]. Default: the rate at which all servers of a
        /// rack can send ÷ K (§III.A: 10 Gb/s for 32 planes and 32 servers of 10 Gb/s).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub circuit_rate: Option<Rate> = None,
        /// Time from one control cycle to the next [s]; a cycle that takes longer delays the next.
        /// Default 10 s (§V.B).
        pub interval: Time = hydra::INTERVAL,
        /// Time from the demand to the decision [s]; if it is longer than the interval, it delays
        /// the next cycle. Default 0 s; the paper gives no value. "measured": the computation time
        /// on this machine; the results contain these times as a list, with which the run can be
        /// repeated exactly; none of these times may be longer than the interval.
        pub computation_delay: Computation = Computation::default(),
        /// The source of the demand (§III.B, step 1).
        pub demand: DemandFrom = DemandFrom::Announced,
        /// The capacity that a path reserves on each of its circuits (§III.B.3: demand is Boolean
        /// or a rate).
        pub need: Need = HydraPolicy::default().need,
        /// Pairs of racks with less demand than this, in both directions together, stay electrical
        /// [B]. Default 1 MB; the paper gives no value.
        pub threshold: Bytes = HydraPolicy::default().threshold,
        /// The part of the topology that a cycle may change (§III.B.3).
        pub reconfigure: Reconfigure = HydraPolicy::default().reconfigure,
        /// Optical switch: the name of a switch in the papers ("mems-cthrough", "mems-hydra"), or a
        /// table of its keys, which may begin with a `preset`. The switch then determines `settle`;
        /// a table with another value is refused, and so are more racks than the switch has ports.
        /// Default: no device.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub devices: Option<Named<SwitchDesign>> = None,
        /// Substep 3-2: mirrors move and settle [s]. Default 100 ms (§I: "tens to
        /// hundreds of milliseconds").
        pub settle: Time = Time::MS * 100,
        /// After that: time for the transceivers at both ends to establish the link [s]. Default 0
        /// s; the paper's measurement of the mirrors includes it.
        pub link_up: Time = Time::ZERO,
        /// Substep 3-2, in parallel to the mirrors: time to tag ToR ports with VLANs [s]. Default
        /// 1.2 s (§V.B; below 1.5 s for 32 ports, §III.B.1).
        pub retag: Time = Time::MS * 1_200,
        /// Time to install one rule on a server's switch [s], in all three substeps. Default 440
        /// us, fitted to the cycle of 2.2 s that 5,000 rules take in §V.B: substeps 3-1 and 3-3
        /// install one rule on each of two servers and take 4 of 5,004 such times, which leaves
        /// 2.198 s ÷ 5,000 for one rule. The time of 100 rules is hidden by the tagging. Measure
        /// your own value.
        pub rule: Time = Time::US * 440,
        /// Number of rules that substep 3-2 installs. Default: one on each server of both racks for
        /// each path that changes.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(max = 1_000_000_000))]
        pub rules: Option<u64> = None,
        /// Whether rules are installed on servers one after another, as in the paper's controller
        /// (§III.B.1), or in parallel.
        pub pushing: Pushing = Pushing::Sequential,
        /// Time from the controller's failure until servers move all traffic from circuits to the
        /// tree [s]. Default: never, because the installed rules work without a controller and the
        /// paper gives no time.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub controller_timeout: Option<Time> = None,
        /// Time that moved flows take to fill their new path [s], in either direction. Default 5
        /// ms: §V.B calls the changes "quite sharp"; the figure is c-Through's (§5.2.1 there).
        pub transport_recovery: Time = Time::MS * 5,
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

const RULES_MAX: u64 = 1_000_000_000;

impl HydraConfig {
    /// The electrical tree's part.
    pub(super) fn tree(&self) -> TreeKeys {
        TreeKeys {
            oversubscription: self.oversubscription,
            levels: self.levels,
            racks_per_pod: self.racks_per_pod,
        }
    }

    /// The controller's part.
    fn policy(&self) -> HydraPolicy {
        HydraPolicy {
            hops: self.hops,
            vlans: self.vlans,
            need: self.need,
            threshold: self.threshold,
            reconfigure: self.reconfigure,
            ..HydraPolicy::default()
        }
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

    /// The network of a resolved table.
    pub(super) fn setup(&self, cluster: &Cluster) -> Setup {
        let hardware = self.hardware(cluster);
        Setup {
            title: "HydRA",
            cluster: *cluster,
            tree: Tree::new(&self.tree(), cluster).with(&self.packets(cluster)),
            hardware,
            policy: self.policy().build(&hardware),
            described: described("hydra", &self.policy()),
            order: None,
            initial: None,
            timing: Timing {
                interval: self.interval,
                computation_delay: self.computation_delay.given(),
            },
            computation: self.computation_delay.clone(),
            monitoring: Monitoring {
                demand: self.demand,
                buffer: u64::MAX,
                thresholds: None,
                smoothing: 1.0,
                most: u64::MAX,
            },
            delays: Delays {
                settle: self.settle,
                link_up: self.link_up,
                retag: self.retag,
                rule: self.rule,
                rules: self.rules,
                pushing: self.pushing,
            },
            transport: Transport {
                ramp: self.transport_recovery,
                dip: self.transport_recovery,
            },
            optical_weight: None,
            give_up: { self.controller_timeout }.map(|after| GiveUp { after, dark: false }),
        }
    }

    fn refuse_times(&self) -> Result<(), Refusal> {
        if self.interval == Time::ZERO {
            return refuse("interval", self.interval, "must be above 0 s", "use 10 s");
        }
        ranges::times(&[
            ("interval", self.interval),
            ("computation_delay", self.computation_delay.given()),
            ("settle", self.settle),
            ("link_up", self.link_up),
            ("retag", self.retag),
            ("rule", self.rule),
            (
                "controller_timeout",
                self.controller_timeout.unwrap_or(Time::ZERO),
            ),
            ("transport_recovery", self.transport_recovery),
        ])?;
        self.refuse_overlap()?;
        self.computation_delay.check(self.interval)
    }

    /// Refuses an interval that is shorter than the computation and the setting of mirrors and
    /// ports in a cycle.
    fn refuse_overlap(&self) -> Result<(), Refusal> {
        let hardware = (self.settle + self.link_up).max(self.retag);
        let cycle = self.computation_delay.given() + hardware;
        if self.interval >= cycle {
            return Ok(());
        }
        let limit = format!(
            "shorter than its own cycle, {cycle}: computation_delay, then settle and link_up, in \
             parallel with retag"
        );
        let remedy = format!("raise it to at least {cycle}, or shorten these");
        refuse("interval", self.interval, &limit, &remedy)
    }

    fn refuse_amounts(&self, cluster: &Cluster) -> Result<(), Refusal> {
        ranges::rate("circuit_rate", self.circuit_rate(cluster))?;
        match self.rules {
            Some(rules) if rules > RULES_MAX => {
                refuse("rules", rules, "must be at most 1,000,000,000", "lower it")
            }
            _ => Ok(()),
        }
    }
}

/// The constraints on its optical switches.
const SWITCH: Asked = Asked {
    settle: "settle",
    deviation: None,
    ports: None,
    takes: &[Constraint::Matching, Constraint::Multicast],
};

impl FabricConfig for HydraConfig {
    fn with_devices(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
        SWITCH.lay::<Self>(table, cluster)
    }

    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal> {
        let tree = self.tree().resolve(cluster)?;
        ranges::racks(cluster.racks)?;
        self.refuse_times()?;
        self.refuse_amounts(cluster)?;
        let hardware = self.hardware(cluster);
        self.policy().check(&hardware).map_err(of_policy)?;
        Ok(HydraConfig {
            racks_per_pod: tree.racks_per_pod,
            circuit_rate: Some(self.circuit_rate(cluster)),
            packet: self.overheads().resolve_for(self.forwarding)?.packet,
            ..self
        })
    }

    fn obey(&self, physics: &Physics, _: &Cluster) -> Obeyed {
        Obeyed::by_all(physics)
            .oversubscribed(physics)
            .shared_by_rates(physics)
    }

    fn facts(&self, cluster: &Cluster) -> Facts {
        let tree = Tree::new(&self.tree(), cluster).with(&self.packets(cluster));
        Facts {
            uplinks: tree.uplinks(self.hardware(cluster).rate_of_rack()),
            interval: Some(self.interval),
            cycle: Some(self.interval),
            devices: record(self.devices),
            ..Facts::default()
        }
    }

    fn failures(&self, _: &Cluster) -> String {
        FAILURES.to_owned()
    }

    fn ideal(&self) -> Vec<&'static str> {
        let mut ideal = self.overheads().ideal();
        ideal.extend(["no queues", "paths shared out perfectly"]);
        ideal
    }

    fn findings(&self, _: &Cluster) -> Vec<Finding> {
        let dark = (self.settle + self.link_up).max(self.retag);
        Times {
            interval: self.interval,
            dark: (dark, "fabric.settle, fabric.link_up and fabric.retag"),
            ramp: (self.transport_recovery, "transport_recovery"),
            dip: Some((self.transport_recovery, "transport_recovery")),
            day: None,
        }
        .findings()
    }

    fn findings_of_run(&self, ended: &Ended) -> Vec<Finding> {
        Decisions {
            interval: self.interval,
            takes: self.computation_delay.first(),
            waits: false,
        }
        .findings(ended)
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        let config = self.clone().resolve(site.cluster)?;
        let kernel = Hybrid::new(config.setup(site.cluster), site.flows.len());
        Ok(Box::new(FlowDriven::new(kernel)))
    }

    fn memory(&self, site: &Site) -> u64 {
        let Ok(config) = self.clone().resolve(site.cluster) else {
            return 0;
        };
        let racks = site.cluster.racks as u64;
        let (flows, tree) = (site.flows.len(), Tree::new(&config.tree(), site.cluster));
        // Demand in both directions and the data of the topology search; one link per port.
        let matrices = (8 + 48) * racks * racks;
        let ports = racks * config.planes as u64 * 240;
        tree.memory(flows) + matrices + ports + flows as u64 * 56
    }
}
