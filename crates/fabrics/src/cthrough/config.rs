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
    /// c-Through: an electrical tree, and an optical switch that joins racks in
    /// pairs for part of the time.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct CThroughConfig {
        /// β of the electrical tree: what the servers of a rack can send ÷ what the
        /// tree can carry for them, from 1 to 1,000. Default: that of the cluster, else 40
        /// (§5.1: 40, 10, 4).
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
        /// Rate of a circuit between two racks, each way [b/s]. Default: that of the rack's
        /// uplinks, the sum of its servers' links (§5.1: 4 Gb/s for four servers with 1 Gb/s each).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub circuit_rate: Option<Rate> = None,
        /// Optical switch: the name of one of the papers' ("mems-cthrough", "mems-hydra"), or a table of its keys,
        /// which may begin with a `preset`. Then `reconfiguration_delay` follows from it, and a table
        /// that gives another is refused, as are more racks than it has ports. Default: none is
        /// named.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub devices: Option<Named<SwitchDesign>> = None,
        /// While the optical switch is set anew, all circuits are dark [s]. Default
        /// 10 ms: switching and settling, as emulated (§5.1); §2 has about 20 ms for
        /// a 320 × 320 switch of mirrors, and a few for small ones.
        pub reconfiguration_delay: Time = Time::MS * 10,
        /// From one decision of the manager to the next [s]; must exceed the delays
        /// of computation and reconfiguration together. Default 1 s (§6.1; 0.3 s to
        /// 5 s are studied).
        pub interval: Time = Time::S,
        /// From the reports to the decision [s]. Default 0 s, as for the four racks of §5.1; §7.3
        /// has 640 ms for 1,000 racks. "measured": the computation time on this machine, which the
        /// results hold as a list, with which the run can be repeated exactly; none of these times
        /// may be longer than the interval.
        pub computation_delay: Computation = Computation::default(),
        /// Limit of the buffer of each connection [B]: as much of a flow as a server
        /// shows the manager. Default 100 MB (§6.1: "a reasonable choice"; 128 KB is
        /// what servers have unless it is enlarged, and 300 MB the largest studied).
        /// The workload defines the work of an application while its buffer is full: see `ahead` of
        /// the job vm-migration.
        pub socket_buffer: Bytes = Bytes(100_000_000),
        /// A server reports a queue, of all that it has for one rack, if it is
        /// larger than this [B]; otherwise it counts as empty. Default 1 MB (§4.3).
        pub report_queue: Bytes = Bytes(1_000_000),
        /// And only if it has changed by more than this since it was reported last
        /// [B]. Default 1 MB (§4.3).
        pub report_change: Bytes = Bytes(1_000_000),
        /// The fate of racks without reported demand. A perfect matching also joins them; the paper
        /// does not define how.
        pub unrequested: Unrequested = Unrequested::Rotate,
        /// Bonus of a circuit that is up, added to its demand when the next matching is chosen [B].
        /// Default 0 B: circuits stay up among equals only. With more, racks that take turns keep
        /// their circuits for longer and go dark less often. At most 1 TB.
        pub hysteresis: Bytes = Bytes(0),
        /// Share of the link over which a server sends of which its queue for the connected rack
        /// is sure, all others of the rest; what one side does not use the other may. From 0.5,
        /// below 1. Default 0.9 (§4.2).
        pub optical_weight: f64 = 0.9,
        /// From a circuit coming up to TCP filling it [s]; 0 for ideal transport.
        /// Default 5 ms (§5.2.1).
        pub ramp: Time = Time::MS * 5,
        /// From a circuit going dark to TCP filling its path in the tree [s]: it
        /// loses packets and recovers; 0 for ideal transport. Default 30 ms (§5.2.1:
        /// "a few tens of milliseconds").
        pub dip: Time = Time::MS * 30,
        /// Time for which servers continue to use their circuits without a message from the manager
        /// [s]; then all traffic is electrical. Default 5 s; the paper does not state it.
        pub controller_timeout: Time = Time::S * 5,
        /// How switches send packets on, those of racks at both ends of a circuit among them.
        /// Stored, as in a Clos, a flow's last packet takes its time again on every link of its
        /// path; of the links that an uplink is made of, it takes one. Default
        /// "store-and-forward".
        pub forwarding: Forwarding = Forwarding::StoreAndForward,
    }
    /// From a rack to any other [time]: over a circuit, or over all links of
    /// the tree's longest path, which share it evenly. Default 0 s (idealised).
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

/// The constraints that it has for its mirrors.
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
