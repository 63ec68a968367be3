//! RotorNet in the registry: its table, and the kernel that it configures.

use super::config::RotorNetConfig;
use super::kernel::RotorNet;
use crate::contract::{
    build, doubts, draws, facts, failures, findings, findings_of_run, ideal, memory, obey, resolve,
    schema, switch_tiers, Entry, FabricConfig, Preset, Site, LOST,
};
use crate::devices::switch::{record, Asked};
use crate::facts::{Facts, Uplinks};
use crate::findings::Finding;
use crate::physics::{Obeyed, Physics};
use crate::tdma::light::Light;
use crate::tdma::rotor::failures::FAILURES;
use crate::tdma::rotor::idle_switches;
use crate::tdma::rotor::per_host::fairness::Fairness;
use crate::tdma::rotor::per_host::PerHost;
use crate::tdma::rotor::relays::Relays;
use crate::tdma::setup;
use lightloom_engine::kernel::event::EventDriven;
use lightloom_engine::{Cluster, Fabric, Refusal};
use lightloom_photonics::circuit_switch::Constraint;
use serde_json::Value;

/// `kind = "rotornet"`.
pub const ENTRY: Entry = Entry {
    kind: "rotornet",
    title: "RotorNet",
    name: "RotorNet",
    drops: LOST,
    in_turn: true,
    no_circuits: "",
    bounds: &[],
    testbed: None,
    source: "Mellette et al., RotorNet: A Scalable, Low-complexity, Optical Datacenter Network, \
             SIGCOMM 2017",
    summary: "Rotor switches that rotate through fixed matchings, so that each rack has a circuit \
              to every other rack once per cycle, whatever the demand. Spare capacity of a slot \
              carries traffic over one relay rack.",
    presets: PRESETS,
    schema: schema::<RotorNetConfig>,
    resolve: resolve::<RotorNetConfig>,
    obey: obey::<RotorNetConfig>,
    ideal: ideal::<RotorNetConfig>,
    draws: draws::<RotorNetConfig>,
    failures: failures::<RotorNetConfig>,
    switch_tiers: switch_tiers::<RotorNetConfig>,
    findings: findings::<RotorNetConfig>,
    findings_of_run: findings_of_run::<RotorNetConfig>,
    doubts: doubts::<RotorNetConfig>,
    build: build::<RotorNetConfig>,
    memory: memory::<RotorNetConfig>,
    facts: facts::<RotorNetConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "rotorlb",
        summary: "slots of 200 us with nights of 20 us, 16 matchings per switch, two-hop traffic \
            in the spare time of slots",
        table: r#"{"indirect": "rotorlb"}"#,
    },
    Preset {
        name: "direct",
        summary: "the same without two-hop traffic: every byte waits for its own slot",
        table: r#"{"indirect": "none"}"#,
    },
];

/// The constraints on its rotor switches: matchings are cyclic, so circuits are unidirectional.
const SWITCH: Asked = Asked {
    settle: "night",
    deviation: None,
    ports: None,
    takes: &[Constraint::Rotor, Constraint::Multicast],
};

impl FabricConfig for RotorNetConfig {
    fn with_devices(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
        SWITCH.lay::<Self>(table, cluster)
    }

    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal> {
        self.refuse_switches(cluster)?;
        self.refuse_times()?;
        self.refuse_packets(cluster)?;
        Ok(RotorNetConfig {
            switches: Some(self.uplinks(cluster)),
            link_rate: Some(self.link(cluster)),
            ..self
        })
    }

    fn obey(&self, physics: &Physics, _: &Cluster) -> Obeyed {
        Obeyed::by_all(physics).disciplined(physics)
    }

    fn failures(&self, _: &Cluster) -> String {
        FAILURES.to_owned()
    }

    fn ideal(&self) -> Vec<&'static str> {
        let mut ideal = self.overheads().ideal();
        ideal.extend(["unlimited buffers", "clocks in step"]);
        ideal
    }

    fn findings(&self, cluster: &Cluster) -> Vec<Finding> {
        let matchings = cluster.racks - 1;
        let allowed = 1..=cluster.racks - 1;
        let switches = self.uplinks(cluster);
        let idles = idle_switches::finding(matchings, switches, allowed);
        let servers = cluster.servers_per_rack;
        idles
            .or_else(|| idle_switches::one_switch(matchings, switches, servers, self.slot))
            .into_iter()
            .collect()
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        let config = self.clone().resolve(site.cluster)?;
        let (setup, division) = (config.setup(site.cluster), config.division(site.cluster));
        let kernel = RotorNet::new(&setup, config.night, division, site.flows.len());
        Ok(Box::new(EventDriven::new(kernel)))
    }

    fn memory(&self, site: &Site) -> u64 {
        let (racks, flows) = (u64::from(site.cluster.racks), site.flows.len() as u64);
        let hosts = u64::from(site.cluster.hosts());
        let uplinks = u64::from(self.uplinks(site.cluster));
        // Matchings, and lines.
        let switches = racks * racks * 4 + racks * uplinks * 112;
        // The days until at least the last arrival.
        let days = (site.flows.last_arrival() / self.slot.0.max(1)).0 as u64;
        let light = Light::memory(days, racks).saturating_mul(uplinks);
        let by_hosts = match self.rotorlb {
            Fairness::PerRack => 0,
            Fairness::PerHost => PerHost::memory(hosts, racks * uplinks, flows),
        };
        setup::memory(racks, hosts, flows)
            + by_hosts
            + Relays::memory(racks, flows)
            + switches
            + light
    }

    fn facts(&self, cluster: &Cluster) -> Facts {
        let slots = idle_switches::slots(cluster.racks - 1, self.uplinks(cluster));
        Facts {
            uplinks: vec![Uplinks::by_turns(
                self.uplinks(cluster),
                self.overheads().payload(self.link(cluster)),
                self.night,
                self.slot,
            )],
            slot: Some(self.slot),
            cycle: Some(self.slot * slots),
            devices: record(self.devices),
            ..Facts::default()
        }
    }
}
