//! The Clos in the registry.

use super::bound::Bound;
use super::config::{ClosConfig, Detail};
use super::failures::FAILURES;
use super::flows::ClosFlows;
use super::kernel::Clos;
use super::layout::{Layout, LINKS_MAX, POD_UP, RACK_UP};
use crate::contract::{
    build, doubts, draws, facts, failures, findings, findings_of_run, ideal, memory, obey, resolve,
    schema, switch_tiers, Entry, FabricConfig, Preset, Site, LOST,
};
use crate::facts::{Facts, Framing, Uplinks};
use crate::findings::Finding;
use crate::physics::{ideal_of, Obeyed, Physics, Term};
use lightloom_engine::kernel::event::EventDriven;
use lightloom_engine::kernel::flow::{self, FlowDriven};
use lightloom_engine::{Bytes, Cluster, Fabric, Rate, Refusal, Time};

/// `kind = "clos"`.
pub const ENTRY: Entry = Entry {
    kind: "clos",
    title: "Folded Clos (ideal)",
    name: "Clos",
    drops: LOST,
    in_turn: false,
    no_circuits: "",
    bounds: &[],
    testbed: None,
    source: "Ballani et al., SIGCOMM 2020, §7: ESN (Ideal) and ESN-OSUB (Ideal)",
    summary: "Three tiers of electrical packet switches with a queue per flow, back-pressure and \
        packet spraying over all paths: an upper bound on electrically switched networks. \
        Non-blocking, or oversubscribed above the racks.",
    presets: PRESETS,
    schema: schema::<ClosConfig>,
    resolve: resolve::<ClosConfig>,
    obey: obey::<ClosConfig>,
    ideal: ideal::<ClosConfig>,
    draws: draws::<ClosConfig>,
    failures: failures::<ClosConfig>,
    switch_tiers: switch_tiers::<ClosConfig>,
    findings: findings::<ClosConfig>,
    findings_of_run: findings_of_run::<ClosConfig>,
    doubts: doubts::<ClosConfig>,
    build: build::<ClosConfig>,
    memory: memory::<ClosConfig>,
    facts: facts::<ClosConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "ideal",
        summary: "ESN (Ideal) of Sirius §7: non-blocking, no latency",
        table: r#"{"oversubscription": 1.0}"#,
    },
    Preset {
        name: "ideal-3to1",
        summary: "ESN-OSUB (Ideal) of Sirius §7: 3:1 between aggregation and core",
        table: r#"{"oversubscription": 3.0}"#,
    },
    Preset {
        name: "ideal-flows",
        summary: "the same as ideal with max-min fair rates instead of packets: for long flows \
            and comparisons with hybrid fabrics",
        table: r#"{"detail": "flows", "oversubscription": 1.0}"#,
    },
    Preset {
        name: "realistic",
        summary: "non-blocking; 100 m of fibre per link (5 ns/m), 500 ns per switch (a round \
            value for merchant silicon; set your own), 78 B of Ethernet, IP and TCP around 1,460 \
            B",
        table: r#"{"oversubscription": 1.0, "propagation": "500 ns", "switch_latency": "500 ns", "mtu": "1460 B", "header": "78 B"}"#,
    },
];

impl ClosConfig {
    /// The links of racks to their pods' switches, and those of pods to the core.
    fn uplinks(&self, cluster: &Cluster) -> Vec<Uplinks> {
        let pod = self.pod(cluster);
        let layout = Layout::new(
            &ClosConfig {
                racks_per_pod: Some(pod),
                ..self.clone()
            },
            cluster,
        );
        let payload = |tier: usize| {
            let bundle = layout.bundles[tier];
            let rate = u128::from(bundle.rate.0) * u128::from(bundle.links);
            Rate((rate * u128::from(self.mtu.0) / u128::from(self.mtu.0 + self.header.0)) as u64)
        };
        let racks = Uplinks::of_racks(payload(RACK_UP));
        let pods = Uplinks {
            group: "pod",
            racks: pod,
            rate: payload(POD_UP),
        };
        match pod == cluster.racks {
            true => vec![racks],
            false => vec![racks, pods],
        }
    }
}

impl FabricConfig for ClosConfig {
    fn facts(&self, cluster: &Cluster) -> Facts {
        Facts {
            framing: Some(Framing {
                rate: cluster.server_rate,
                packet: self.mtu,
                header: self.header,
                word: Bytes(1),
                gap: Time::ZERO,
            }),
            uplinks: self.uplinks(cluster),
            ..Facts::default()
        }
    }

    fn findings(&self, cluster: &Cluster) -> Vec<Finding> {
        self.shallow_buffer(cluster).into_iter().collect()
    }

    fn resolve(mut self, cluster: &Cluster) -> Result<Self, Refusal> {
        let pod = self.pod(cluster);
        self.refuse_shape(cluster, pod)?;
        self.refuse_tiers(cluster)?;
        self.refuse_packets()?;
        self.racks_per_pod = Some(pod);
        let layout = Layout::new(&self, cluster);
        refuse_links(&self, &layout)?;
        layout.wiring(&self).refuse_switches(self.core_switches)?;
        self.flow_buffer
            .get_or_insert(self.covering_buffer(cluster));
        Ok(self)
    }

    fn obey(&self, physics: &Physics, cluster: &Cluster) -> Obeyed {
        let links = self.longest(cluster);
        let a_link = |way: Time| Time(way.0 / links);
        // The propagation is that from rack to rack, and servers are in their racks, unless the
        // table states the propagation of every link.
        let servers = physics.propagation.map(|_| Time::ZERO);
        let servers = servers.filter(|_| self.propagation == Time::ZERO);
        Obeyed::default()
            .by(
                Term::Propagation,
                "propagation",
                physics.propagation.map(a_link),
            )
            .by(Term::Propagation, "server_propagation", servers)
            .by(
                Term::SwitchLatency,
                "switch_latency",
                physics.switch_latency,
            )
            .by(Term::FecLatency, "fec_latency", physics.fec_latency)
            .by(Term::Header, "header", physics.framing())
            .oversubscribed(physics)
            .lacks(
                Term::Discipline,
                physics.discipline,
                "every link serves flows in turn, as its idealised transport does (Sirius §7)",
            )
    }

    fn failures(&self, _: &Cluster) -> String {
        let beyond = match self.detail {
            Detail::Packets => {
                ". Beyond saturation, short flows fill the queues of the remaining links; goodput \
                 is then lower than with detail = \"flows\""
            }
            Detail::Flows => "",
        };
        format!("{FAILURES}{beyond}")
    }

    fn switch_tiers(&self) -> &'static [&'static str] {
        &["aggregation_switches", "core_switches"]
    }

    fn ideal(&self) -> Vec<&'static str> {
        let queues = match self.detail {
            Detail::Packets => "unlimited buffers",
            Detail::Flows => "no queues",
        };
        let mut ideal = ideal_of(&[
            ("no propagation", self.propagation == Time::ZERO),
            ("no switch latency", self.switch_latency == Time::ZERO),
            ("no FEC", self.fec_latency == Time::ZERO),
            ("no headers", self.header == Bytes(0)),
        ]);
        ideal.extend([queues, "paths shared out perfectly"]);
        ideal
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        let config = self.clone().resolve(site.cluster)?;
        let layout = Layout::new(&config, site.cluster);
        let bound = Bound::new(&config, site.cluster);
        if config.detail == Detail::Flows {
            let kernel = ClosFlows::new(&config, layout, bound);
            return Ok(Box::new(FlowDriven::new(kernel)));
        }
        let largest = site.flows.bytes.iter().copied().max().unwrap_or(0);
        if largest.div_ceil(config.mtu.0) >= u32::MAX as u64 {
            return Err(Refusal::new(
                "fabric.mtu",
                config.mtu,
                format!(
                    "a flow of {} has more than 4 billion packets",
                    Bytes(largest)
                ),
                "use fabric.detail = \"flows\", raise fabric.mtu, or shorten the flow",
            ));
        }
        Ok(Box::new(EventDriven::new(Clos::new(
            &config, layout, bound,
        ))))
    }

    fn memory(&self, site: &Site) -> u64 {
        let Ok(config) = self.clone().resolve(site.cluster) else {
            return 0;
        };
        let layout = Layout::new(&config, site.cluster);
        if config.detail == Detail::Flows {
            return flow::memory(layout.stations(), site.flows.len() as u64);
        }
        // Each active flow takes a row; at most all flows are active.
        let rows = site.flows.len() as u64 * (32 + (16 << layout.stride_log2()));
        layout.stations() * 64 + layout.links() * (8 + 24) + rows
    }
}

/// Refuses bundles without links, and with more links than are modelled.
fn refuse_links(config: &ClosConfig, layout: &Layout) -> Result<(), Refusal> {
    if config.link_rate.0 == 0 {
        let limit = "must be more than 0 b/s";
        return Err(Refusal::new(
            "fabric.link_rate",
            config.link_rate,
            limit,
            "use 50 Gb/s",
        ));
    }
    let most = layout.bundles.iter().map(|b| b.links).max().unwrap_or(0);
    if most > LINKS_MAX || layout.links() > u32::MAX as u64 / 2 {
        return Err(Refusal::new(
            "fabric.link_rate",
            config.link_rate,
            format!("makes bundles of {most} links; at most {LINKS_MAX} are modelled"),
            "raise fabric.link_rate",
        ));
    }
    Ok(())
}
