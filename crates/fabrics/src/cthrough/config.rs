//! The table of `kind = "cthrough"`.

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
use crate::hybrid::setup::{
    described, of_policy, Delays, DemandFrom, GiveUp, Monitoring, Pushing, Setup, Transport,
};
use crate::hybrid::tree::{Tree, TreeKeys};
use crate::overheads::{with_overheads, Forwarding};
use crate::physics::{Obeyed, Physics};
use crate::ranges::{self, refuse};
use lightloom_control::controller::Timing;
use lightloom_control::demand::Thresholds;
use lightloom_control::hardware::Hardware;
pub use lightloom_control::policies::cthrough::Unrequested;
use lightloom_control::policies::cthrough::{CThroughPolicy, BYTES_MAX};
use lightloom_control::policies::PolicyConfig;
use lightloom_engine::kernel::flow::FlowDriven;
use lightloom_engine::{Bytes, Cluster, Fabric, Rate, Refusal, Time};
use lightloom_photonics::circuit_switch::{Constraint, SwitchDesign};
use lightloom_photonics::Named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

with_overheads! {
    /// c-Through: an electrical tree, and an optical switch that connects racks in pairs for part
    /// of the time.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct CThroughConfig {
        /// β, the oversubscription of the electrical tree: the rate at which the servers of a rack
        /// can send ÷ the rate of the rack's uplinks, from 1 to 1,000. Default: the value of the
        /// cluster, otherwise 40 (§5.1: 40, 10, 4).
        pub oversubscription: f64 = 40.0,
        /// Levels of the tree: 2 (racks, core; §5.1) or 3 (racks, pods, core, √β
        /// each). Default 2.
        #[schemars(range(min = 2, max = 3))]
        pub levels: u32 = 2,
        /// Racks below one pod, with three levels; must divide the racks. Default:
        /// the largest divisor up to 16 that leaves four pods or more.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub racks_per_pod: Option<u32> = None,
        /// Rate of a circuit between two racks in each direction [b/s]. Default: the sum of the
        /// rates of a rack's servers' links (§5.1: 4 Gb/s for four servers with 1 Gb/s each).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub circuit_rate: Option<Rate> = None,
        /// Optical switch: the name of a switch in the papers ("mems-cthrough", "mems-hydra"), or a
        /// table of its keys, which may begin with a `preset`. The switch then determines
        /// `reconfiguration_delay`; a table with another value is refused, and so are more racks
        /// than the switch has ports. Default: no device.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub devices: Option<Named<SwitchDesign>> = None,
        /// Time of a reconfiguration, in which all circuits are dark [s]. Default 10 ms for
        /// switching and settling, as emulated (§5.1); §2 gives about 20 ms for a 320 × 320 MEMS
        /// switch, and a few ms for small ones.
        pub reconfiguration_delay: Time = Time::MS * 10,
        /// Time from one decision of the manager to the next [s]; must exceed the sum of
        /// computation and reconfiguration delays. Default 1 s (§6.1; 0.3 s to 5 s are studied).
        pub interval: Time = Time::S,
        /// Time from the reports to the decision [s]. Default 0 s, as for the four racks of §5.1;
        /// §7.3 gives 640 ms for 1,000 racks. "measured": the computation time on this machine; the
        /// results contain these times as a list, with which the run can be repeated exactly; none
        /// of these times may be longer than the interval.
        pub computation_delay: Computation = Computation::default(),
        /// Limit of the buffer of each connection [B], which limits the demand of a flow that a
        /// server reports to the manager. Default 100 MB (§6.1: "a reasonable choice"; 128 KB is
        /// the usual value of servers, and 300 MB the largest value studied). The workload defines
        /// the work of an application while its buffer is full: see `ahead` of the job
        /// vm-migration.
        pub socket_buffer: Bytes = Bytes(100_000_000),
        /// A server reports its queue for a rack (all bytes that it has for that rack) if the queue
        /// is larger than this [B]; otherwise it counts as empty. Default 1 MB (§4.3).
        pub report_queue: Bytes = Bytes(1_000_000),
        /// A server reports a queue only if it has changed by more than this since its last report
        /// [B]. Default 1 MB (§4.3).
        pub report_change: Bytes = Bytes(1_000_000),
        /// The fate of racks without reported demand. A perfect matching also joins them; the paper
        /// does not define how.
        pub unrequested: Unrequested = Unrequested::Rotate,
        /// Bonus of a circuit that is up, added to its demand when the next matching is chosen [B].
        /// Default 0 B: a circuit stays up only if no matching has more demand. With a larger
        /// bonus, racks that take turns keep their circuits for longer and are dark less often. At
        /// most 1 TB.
        pub hysteresis: Bytes = Bytes(0),
        /// Share of a server's link that is guaranteed to its queue for the connected rack; all
        /// other queues have the rest. Either side may use what the other does not need. At least
        /// 0.5 and below 1. Default 0.9 (§4.2).
        pub optical_weight: f64 = 0.9,
        /// Time from a circuit's coming up until TCP fills it [s]; 0 for ideal transport. Default 5
        /// ms (§5.2.1).
        pub ramp: Time = Time::MS * 5,
        /// Time from a circuit's going dark until TCP, which loses packets and recovers, fills its
        /// path in the tree [s]; 0 for ideal transport. Default 30 ms (§5.2.1: "a few tens of
        /// milliseconds").
        pub dip: Time = Time::MS * 30,
        /// Time for which servers continue to use their circuits without a message from the manager
        /// [s]; after that all traffic is electrical. Default 5 s; the paper gives no value.
        pub controller_timeout: Time = Time::S * 5,
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

impl CThroughConfig {
    /// The electrical tree's part.
    pub(super) fn tree(&self) -> TreeKeys {
        TreeKeys {
            oversubscription: self.oversubscription,
            levels: self.levels,
            racks_per_pod: self.racks_per_pod,
        }
    }

    /// The manager's part.
    fn policy(&self) -> CThroughPolicy {
        CThroughPolicy {
            unrequested: self.unrequested,
            hysteresis: self.hysteresis,
        }
    }

    fn circuit_rate(&self, cluster: &Cluster) -> Rate {
        ranges::circuit_rate(self.circuit_rate, 1, cluster)
    }

    fn hardware(&self, cluster: &Cluster) -> Hardware {
        let rate = self.overheads().payload(self.circuit_rate(cluster));
        Hardware::new(cluster.racks, 1, rate)
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
            title: "c-Through",
            cluster: *cluster,
            tree: Tree::new(&self.tree(), cluster).with(&self.packets(cluster)),
            hardware,
            policy: self.policy().build(&hardware),
            described: described("cthrough", &self.policy()),
            order: None,
            initial: None,
            timing: Timing {
                interval: self.interval,
                computation_delay: self.computation_delay.given(),
            },
            computation: self.computation_delay.clone(),
            monitoring: Monitoring {
                demand: DemandFrom::Announced,
                buffer: self.socket_buffer.0,
                thresholds: Some(Thresholds {
                    queue_above: self.report_queue.0,
                    change_above: self.report_change.0,
                }),
                smoothing: 1.0,
                most: BYTES_MAX,
            },
            delays: Delays {
                settle: self.reconfiguration_delay,
                link_up: Time::ZERO,
                retag: Time::ZERO,
                rule: Time::ZERO,
                rules: None,
                pushing: Pushing::Parallel,
            },
            transport: Transport {
                ramp: self.ramp,
                dip: self.dip,
            },
            optical_weight: Some(self.optical_weight),
            give_up: Some(GiveUp {
                after: self.controller_timeout,
                dark: true,
            }),
        }
    }

    fn refuse_times(&self) -> Result<(), Refusal> {
        ranges::times(&[
            ("interval", self.interval),
            ("reconfiguration_delay", self.reconfiguration_delay),
            ("computation_delay", self.computation_delay.given()),
            ("ramp", self.ramp),
            ("dip", self.dip),
            ("controller_timeout", self.controller_timeout),
        ])?;
        let busy = self.reconfiguration_delay + self.computation_delay.given();
        if self.interval <= busy {
            let limit =
                format!("not longer than computation and reconfiguration, which take {busy}");
            let remedy =
                "raise fabric.interval, or lower fabric.computation_delay or fabric.reconfiguration_delay";
            return refuse("interval", self.interval, limit, remedy);
        }
        self.computation_delay.check(self.interval)
    }

    fn refuse_amounts(&self, cluster: &Cluster) -> Result<(), Refusal> {
        let amounts = [
            ("socket_buffer", self.socket_buffer),
            ("report_queue", self.report_queue),
            ("report_change", self.report_change),
        ];
        ranges::amounts(&amounts, Bytes(BYTES_MAX))?;
        if self.socket_buffer.0 == 0 {
            return refuse(
                "socket_buffer",
                self.socket_buffer,
                "must be above 0 B",
                "use 100 MB",
            );
        }
        ranges::rate("circuit_rate", self.circuit_rate(cluster))?;
        ranges::optical_weight(self.optical_weight, "use 0.9")
    }
}

/// The constraints on its optical switch.
const SWITCH: Asked = Asked {
    settle: "reconfiguration_delay",
    deviation: None,
    ports: None,
    takes: &[Constraint::Matching, Constraint::Multicast],
};

impl FabricConfig for CThroughConfig {
    fn with_devices(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
        SWITCH.lay::<Self>(table, cluster)
    }

    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal> {
        let tree = self.tree().resolve(cluster)?;
        ranges::racks(cluster.racks)?;
        self.refuse_times()?;
        self.refuse_amounts(cluster)?;
        self.policy()
            .check(&self.hardware(cluster))
            .map_err(of_policy)?;
        Ok(CThroughConfig {
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
        Times {
            interval: self.interval,
            dark: (self.reconfiguration_delay, "fabric.reconfiguration_delay"),
            ramp: (self.ramp, "ramp"),
            dip: Some((self.dip, "dip")),
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
        let (racks, hosts) = (site.cluster.racks as u64, site.cluster.hosts() as u64);
        let (flows, tree) = (site.flows.len(), Tree::new(&config.tree(), site.cluster));
        // Demand, its symmetric weights, and those with hysteresis.
        let matrices = 3 * 8 * racks * racks;
        tree.memory(flows) + matrices + (racks + hosts) * 200 + flows as u64 * 48
    }
}
