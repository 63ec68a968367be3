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
    /// An electrical tree above the racks, with or without oversubscription.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    pub struct TreeConfig {
        /// β: rate at which the servers of a rack can send ÷ rate of the tree for them, from 1 to
        /// 1,000. Default: the value of the cluster, otherwise 1 (full bisection). c-Through §5.1
        /// has 40, 10 and 4.
        pub oversubscription: f64 = 1.0,
        /// Levels of the tree. 2: racks and a core, with β at the racks' uplinks (c-Through §5.1).
        /// 3: racks, pods and a core, with √β at the uplinks of racks and √β at those of pods
        /// (HydRA §IV). Default 2.
        #[schemars(range(min = 2, max = 3))]
        pub levels: u32 = 2,
        /// Number of racks of a pod, with three levels; must divide the number of racks. Default:
        /// the largest divisor up to 16 that gives at least four pods.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub racks_per_pod: Option<u32> = None,
        /// Rate of one of the parallel links that form the uplink of a rack or of a pod [b/s]; a
        /// failure takes out one such link. An uplink has the number of links whose total is
        /// nearest to its rate, at least one. Default: the rate of a server.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub link_rate: Option<lightloom_engine::Rate> = None,
        /// Number of aggregation switches of a pod, with three levels, at most the links of a rack.
        /// The links of each rack are assigned to them in turn, so that a failed switch takes its
        /// share of them. Default: one switch per link of a rack.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub aggregation_switches: Option<u32> = None,
        /// Number of core switches, at most the links of a pod (with two levels, of a rack). Each
        /// has an equal share of these links, which fails with it. Default: one switch per link.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub core_switches: Option<u32> = None,
        /// Forwarding by switches, including the racks' switches at both ends. With
        /// "store-and-forward", as in a Clos network, the last packet of a flow takes its
        /// transmission time again on every link of its path; it uses one of the links that form an
        /// uplink. Default "store-and-forward".
        pub forwarding: Forwarding = Forwarding::StoreAndForward,
    }
    /// Propagation delay from a rack to any other [time], divided equally among the links of the
    /// longest path. Default 0 s (idealised).
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
