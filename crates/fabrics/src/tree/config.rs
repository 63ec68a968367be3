//! The table of `kind = "tree"`.

use crate::electrical::failures::Wiring;
use crate::electrical::layout::LINKS_MAX;
use crate::hybrid::packets::Packets;
use crate::hybrid::tree::{Tree, TreeKeys};
use crate::overheads::{with_overheads, Forwarding};
use lightloom_engine::{Cluster, Rate, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

with_overheads! {
    /// An electrical tree above the racks, oversubscribed or not.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct TreeConfig {
        /// β: what the servers of a rack can send ÷ what the tree can carry for
        /// them, from 1 to 1,000. Default: that of the cluster, else 1, full bisection.
        /// c-Through §5.1 has 40, 10 and 4.
        pub oversubscription: f64 = 1.0,
        /// 2: racks on a core, all of β at the racks' uplinks (c-Through §5.1). 3:
        /// racks, pods and a core, √β at each of the two (HydRA §IV). Default 2.
        #[schemars(range(min = 2, max = 3))]
        pub levels: u32 = 2,
        /// Racks below one pod, with three levels; must divide the racks. Default:
        /// the largest divisor up to 16 that leaves four pods or more.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub racks_per_pod: Option<u32> = None,
        /// Rate of one of the links that a rack's uplink, or a pod's, is made of: as much fails
        /// with one [b/s]. An uplink has as many as come nearest to its rate, at least one.
        /// Default: the servers' rate.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub link_rate: Option<lightloom_engine::Rate> = None,
        /// Aggregation switches of a pod, with three levels, to which the links of its racks go
        /// in turn: as much fails with one. At most the links of a rack. Default: as many.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub aggregation_switches: Option<u32> = None,
        /// Switches of the core, each with an equal share of the links of every pod, or of every
        /// rack with two levels: as much fails with one. At most those links. Default: as many.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub core_switches: Option<u32> = None,
        /// How switches send packets on, those of racks at both ends of a circuit among them.
        /// Stored, as in a Clos, a flow's last packet takes its time again on every link of its
        /// path; of the links that an uplink is made of, it takes one. Default
        /// "store-and-forward".
        pub forwarding: Forwarding = Forwarding::StoreAndForward,
    }
    /// From a rack to any other [time]: over all links of the longest
    /// path, which share it evenly. Default 0 s (idealised).
    propagation
}

impl TreeConfig {
    /// The keys of the tree.
    pub fn keys(&self) -> TreeKeys {
        TreeKeys {
            oversubscription: self.oversubscription,
            levels: self.levels,
            racks_per_pod: self.racks_per_pod,
        }
    }

    /// The packets on the tree.
    pub fn packets(&self, cluster: &Cluster) -> Packets {
        Packets {
            overheads: self.overheads(),
            forwarding: self.forwarding,
            link: self.link_rate.unwrap_or(cluster.server_rate),
            circuit: None,
        }
    }

    /// The switches to which the links of this tree lead.
    ///
    /// # Errors
    /// When links have no rate, or there are more switches than links to them.
    pub fn wiring(&self, tree: &Tree, cluster: &Cluster) -> Result<Wiring, Refusal> {
        if let (2, Some(switches)) = (self.levels, self.aggregation_switches) {
            return Err(Refusal::new(
                "fabric.aggregation_switches",
                switches,
                "a tree of two levels has no aggregation switches",
                "remove it, or set fabric.levels = 3",
            ));
        }
        let link = self.link_rate.unwrap_or(cluster.server_rate);
        if link == Rate(0) {
            let limit = "must be more than 0 b/s";
            return Err(Refusal::new(
                "fabric.link_rate",
                link,
                limit,
                "leave it out",
            ));
        }
        let links = |rate: Rate| (rate.0.saturating_add(link.0 / 2) / link.0).max(1);
        let rack_links = links(tree.uplink());
        let pod = tree.pods_uplink().map(|(racks, rate)| (racks, links(rate)));
        let to_core = pod.map_or(rack_links, |(_, links)| links);
        let or_all = |switches: Option<u32>, links: u64| switches.unwrap_or(links as u32);
        let most = rack_links.max(to_core);
        if most > LINKS_MAX {
            return Err(Refusal::new(
                "fabric.link_rate",
                link,
                format!("makes uplinks of {most} links; at most {LINKS_MAX} are modelled"),
                "raise fabric.link_rate",
            ));
        }
        let wiring = Wiring {
            fabric: "tree",
            racks: cluster.racks,
            pod,
            rack_links,
            aggregation: or_all(self.aggregation_switches, rack_links),
            core: or_all(self.core_switches, to_core),
        };
        wiring.refuse_switches(self.core_switches)?;
        Ok(wiring)
    }
}
