//! The tree in the registry.

use super::config::TreeConfig;
use super::kernel::TreeKernel;
use crate::contract::{
    build, doubts, draws, facts, failures, findings, findings_of_run, ideal, memory, obey, resolve,
    schema, switch_tiers, Entry, FabricConfig, Preset, Site, LOST,
};
use crate::electrical::failures::{Failures, FAILURES};
use crate::facts::Facts;
use crate::hybrid::tree::Tree;
use crate::physics::{Obeyed, Physics};
use lightloom_engine::kernel::flow::FlowDriven;
use lightloom_engine::{Cluster, Fabric, Rate, Refusal};

/// `kind = "tree"`.
pub const ENTRY: Entry = Entry {
    kind: "tree",
    title: "Oversubscribed tree",
    name: "tree",
    drops: LOST,
    in_turn: false,
    no_circuits: "",
    bounds: &[],
    testbed: None,
    source: "Wang et al., SIGCOMM 2010, §5.1; Christodoulopoulos et al., JOCN 2015, §IV",
    summary: "An electrical tree above the racks with a part of their servers' capacity (40:1, \
        10:1, 4:1), a β-oversubscribed fat tree of three levels, or full bisection; flows have \
        max-min fair rates.",
    presets: PRESETS,
    schema: schema::<TreeConfig>,
    resolve: resolve::<TreeConfig>,
    obey: obey::<TreeConfig>,
    ideal: ideal::<TreeConfig>,
    draws: draws::<TreeConfig>,
    failures: failures::<TreeConfig>,
    switch_tiers: switch_tiers::<TreeConfig>,
    findings: findings::<TreeConfig>,
    findings_of_run: findings_of_run::<TreeConfig>,
    doubts: doubts::<TreeConfig>,
    build: build::<TreeConfig>,
    memory: memory::<TreeConfig>,
    facts: facts::<TreeConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "full-bisection",
        summary: "full bisection: the upper baseline of c-Through §6",
        table: r#"{"oversubscription": 1.0}"#,
    },
    Preset {
        name: "40to1",
        summary: "c-Through §5.1: 100 Mb/s out of a rack of four servers at 1 Gb/s",
        table: r#"{"oversubscription": 40.0}"#,
    },
    Preset {
        name: "10to1",
        summary: "c-Through §5.1: 400 Mb/s out of a rack of four servers at 1 Gb/s",
        table: r#"{"oversubscription": 10.0}"#,
    },
    Preset {
        name: "4to1",
        summary: "c-Through §5.1: 1 Gb/s out of a rack of four servers at 1 Gb/s",
        table: r#"{"oversubscription": 4.0}"#,
    },
    Preset {
        name: "fat-tree-4to1",
        summary: "HydRA §IV: three levels, oversubscribed by 2 at each of two of them, β = 4",
        table: r#"{"oversubscription": 4.0, "levels": 3}"#,
    },
];

impl FabricConfig for TreeConfig {
    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal> {
        let keys = self.keys().resolve(cluster)?;
        self.wiring(&Tree::new(&keys, cluster), cluster)?;
        Ok(TreeConfig {
            racks_per_pod: keys.racks_per_pod,
            packet: self.overheads().resolve_for(self.forwarding)?.packet,
            ..self
        })
    }

    fn obey(&self, physics: &Physics, _: &Cluster) -> Obeyed {
        Obeyed::by_all(physics)
            .oversubscribed(physics)
            .shared_by_rates(physics)
    }

    fn failures(&self, _: &Cluster) -> String {
        FAILURES.to_owned()
    }

    fn switch_tiers(&self) -> &'static [&'static str] {
        match self.levels {
            2 => &["core_switches"],
            _ => &["aggregation_switches", "core_switches"],
        }
    }

    fn ideal(&self) -> Vec<&'static str> {
        let mut ideal = self.overheads().ideal();
        ideal.extend(["no queues", "paths shared out perfectly"]);
        ideal
    }

    fn facts(&self, cluster: &Cluster) -> Facts {
        let tree = self.keys().resolve(cluster).ok();
        let tree = tree.map(|keys| Tree::new(&keys, cluster).with(&self.packets(cluster)));
        Facts {
            uplinks: tree.map_or_else(Vec::new, |tree| tree.uplinks(Rate(0))),
            ..Facts::default()
        }
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        let keys = self.keys().resolve(site.cluster)?;
        let tree = Tree::new(&keys, site.cluster);
        let failures = Failures::new(self.wiring(&tree, site.cluster)?);
        let tree = tree.with(&self.packets(site.cluster));
        let kernel = TreeKernel::new(tree, failures, site.cluster);
        Ok(Box::new(FlowDriven::new(kernel)))
    }

    fn memory(&self, site: &Site) -> u64 {
        match self.keys().resolve(site.cluster) {
            Ok(keys) => Tree::new(&keys, site.cluster).memory(site.flows.len()),
            Err(_) => 0,
        }
    }
}
