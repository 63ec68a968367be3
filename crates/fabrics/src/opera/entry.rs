//! Opera in the registry: its table, and the kernel that it configures.

use super::config::OperaConfig;
use super::kernel::Opera;
use super::low_latency::state::LowLatencyTraffic;
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
use crate::tdma::rotor::rotorlb::Indirect;
use crate::tdma::setup;
use lightloom_engine::kernel::event::EventDriven;
use lightloom_engine::{Bytes, Cluster, Fabric, Refusal};
use lightloom_photonics::circuit_switch::Constraint;
use serde_json::Value;

/// `kind = "opera"`.
pub const ENTRY: Entry = Entry {
    kind: "opera",
    title: "Opera",
    name: "Opera",
    drops: LOST,
    in_turn: true,
    no_circuits: "",
    bounds: &[],
    testbed: None,
    source: "Mellette et al., Expanding across time to deliver bandwidth efficiency and low \
             latency, NSDI 2020",
    summary: "Rotor switches that reconfigure one after another. Low-latency flows cross the \
              expander graph of the lit circuits; bulk traffic waits for its direct circuit, or \
              crosses one relay rack if circuits have spare capacity.",
    presets: PRESETS,
    schema: schema::<OperaConfig>,
    resolve: resolve::<OperaConfig>,
    obey: obey::<OperaConfig>,
    ideal: ideal::<OperaConfig>,
    draws: draws::<OperaConfig>,
    failures: failures::<OperaConfig>,
    switch_tiers: switch_tiers::<OperaConfig>,
    findings: findings::<OperaConfig>,
    findings_of_run: findings_of_run::<OperaConfig>,
    doubts: doubts::<OperaConfig>,
    build: build::<OperaConfig>,
    memory: memory::<OperaConfig>,
    facts: facts::<OperaConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "opera",
        summary: "slices of 100 us with reconfigurations of 10 us, flows under 15 MB at low \
                  latency, 18 matchings per switch, 0.5 us between racks; with 108 racks of 6 \
                  servers of 10 Gb/s, this is the published set-up",
        table: r#"{"low_latency": "15 MB", "propagation": "0.5 us"}"#,
    },
    Preset {
        name: "bulk",
        summary: "the same, but every flow waits for its circuit: an all-to-all shuffle without a \
                  bandwidth tax",
        table: r#"{"low_latency": "0 B", "propagation": "0.5 us"}"#,
    },
];

/// The constraints on its rotor switches: matchings connect racks in both directions.
const SWITCH: Asked = Asked {
    settle: "night",
    deviation: None,
    ports: None,
    takes: &[
        Constraint::Rotor,
        Constraint::Multicast,
        Constraint::Matching,
    ],
};

impl FabricConfig for OperaConfig {
    fn with_devices(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
        SWITCH.lay::<Self>(table, cluster)
    }

    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal> {
        self.refuse_switches(cluster)?;
        self.refuse_times()?;
        self.refuse_packets(cluster)?;
        Ok(OperaConfig {
            switches: Some(self.uplinks(cluster)),
            link_rate: Some(self.link(cluster)),
            ..self
        })
    }

    fn obey(&self, physics: &Physics, _: &Cluster) -> Obeyed {
        Obeyed::by_all(physics).disciplined(physics)
    }

    fn draws(&self) -> bool {
        self.low_latency > Bytes(0)
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
        let allowed = 2..=cluster.racks - 1;
        let found = idle_switches::finding(matchings(cluster), self.uplinks(cluster), allowed);
        found.into_iter().collect()
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        let config = self.clone().resolve(site.cluster)?;
        let kernel = Opera::new(config.setup(site.cluster), site.flows.len(), site.seed);
        Ok(Box::new(EventDriven::new(kernel)))
    }

    fn memory(&self, site: &Site) -> u64 {
        let (racks, flows) = (u64::from(site.cluster.racks), site.flows.len() as u64);
        let hosts = u64::from(site.cluster.hosts());
        let uplinks = u64::from(self.uplinks(site.cluster));
        // Matchings, and lines.
        let switches = racks * racks * 4 + racks * uplinks * 160;
        let moves = Relays::memory(racks, flows) + LowLatencyTraffic::memory(racks, flows);
        let by_hosts = match self.rotorlb {
            Fairness::PerRack => 0,
            Fairness::PerHost => PerHost::memory(hosts, racks * uplinks, flows),
        };
        // Bytes that each line may still send to its relay, and bytes on their way there.
        let planned = match self.indirect {
            Indirect::None => 0,
            Indirect::Rotorlb => racks * racks * uplinks * 64,
        };
        // The days until at least the last arrival.
        let slot = self.slot(site.cluster);
        let days = (site.flows.last_arrival() / slot.0.max(1)).0 as u64;
        let light = Light::memory(days, racks).saturating_mul(uplinks);
        setup::memory(racks, hosts, flows) + moves + by_hosts + planned + switches + light
    }

    fn facts(&self, cluster: &Cluster) -> Facts {
        let slots = idle_switches::slots(matchings(cluster), self.uplinks(cluster));
        Facts {
            uplinks: vec![Uplinks::by_turns(
                self.uplinks(cluster),
                self.overheads().payload(self.link(cluster)),
                self.night,
                self.slot(cluster),
            )],
            slot: Some(self.slice),
            cycle: Some(self.slot(cluster) * slots),
            devices: record(self.devices),
            ..Facts::default()
        }
    }
}

/// Number of matchings that connect every pair of racks once; with an odd number of racks one rack
/// is idle in each.
fn matchings(cluster: &Cluster) -> u32 {
    cluster.racks - 1 + cluster.racks % 2
}
