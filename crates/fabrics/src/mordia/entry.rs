//! Mordia in the registry: its table, and the kernel that it configures.

use super::config::MordiaConfig;
use super::kernel::Mordia;
use crate::contract::{
    build, doubts, draws, facts, failures, findings, findings_of_run, ideal, memory, obey, resolve,
    schema, switch_tiers, Entry, FabricConfig, Preset, Site, LOST,
};
use crate::devices::switch::{record, Asked};
use crate::emulation::{Emulation, Plane};
use crate::facts::Facts;
use crate::findings::{Ended, Finding};
use crate::hybrid::decisions::Decisions;
use crate::hybrid::standing::{cycle, slot, standing, stands, unjoined};
use crate::physics::{Obeyed, Physics};
use crate::ranges::{refuse, TIME_MAX};
use crate::tdma::light::Light;
use crate::tdma::setup;
use lightloom_control::policy::Target;
use lightloom_control::schedule::Slot;
use lightloom_engine::kernel::event::EventDriven;
use lightloom_engine::{Cluster, Fabric, Refusal, Time};
use lightloom_photonics::circuit_switch::Constraint;
use serde_json::Value;

/// `kind = "mordia"`.
pub const ENTRY: Entry = Entry {
    kind: "mordia",
    title: "Mordia",
    name: "Mordia",
    drops: LOST,
    in_turn: true,
    no_circuits: "",
    bounds: &[],
    testbed: Some(Emulation {
        plane: Plane::User,
        server_rules: false,
        dark: &["night"],
    }),
    source: "Porter et al., Integrating Microsecond Circuit Switching into the Data Center, \
             SIGCOMM 2013",
    summary: "A ring of wavelength-selective switches that joins each rack to one other rack at a \
              time. Its schedule follows from the traffic matrix and has days of some hundred \
              microseconds and nights of 11.5 us.",
    presets: PRESETS,
    schema: schema::<MordiaConfig>,
    resolve: resolve::<MordiaConfig>,
    obey: obey::<MordiaConfig>,
    ideal: ideal::<MordiaConfig>,
    draws: draws::<MordiaConfig>,
    failures: failures::<MordiaConfig>,
    switch_tiers: switch_tiers::<MordiaConfig>,
    findings: findings::<MordiaConfig>,
    findings_of_run: findings_of_run::<MordiaConfig>,
    doubts: doubts::<MordiaConfig>,
    build: build::<MordiaConfig>,
    memory: memory::<MordiaConfig>,
    facts: facts::<MordiaConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "prototype",
        summary: "§6: 24 ports of 10 Gb/s, round robin in slots of 106 us, hosts as racks: 23 us \
            in the interface, 1 us of jitter, 1 % of synchronisation frames at the wrong time",
        table: r#"{"policy": "rotation", "link_rate": "10 Gb/s", "wavelengths": 24,
                   "night": "11.55 us", "night_deviation": "2.36 us", "nic_delay": "23 us",
                   "sync_jitter": "1 us", "late_sync_fraction": 0.01, "packet": "9000 B"}"#,
    },
    Preset {
        name: "round-robin",
        summary: "every pair has its slot of 106 us in turn, without reports of demand",
        table: r#"{"policy": "rotation"}"#,
    },
    Preset {
        name: "tms",
        summary: "traffic-matrix scheduling of the queued bytes, one schedule per period",
        table: r#"{"policy": "mordia"}"#,
    },
    Preset {
        name: "stacked",
        summary: "§7: eight rings of 88 wavelengths, 704 ports",
        table: r#"{"wavelengths": 88, "rings": 8}"#,
    },
];

/// The constraints on its rings: matchings of a schedule consist of unidirectional circuits.
const SWITCH: Asked = Asked {
    settle: "night",
    deviation: Some("night_deviation"),
    ports: Some("wavelengths"),
    takes: &[Constraint::Multicast],
};

impl FabricConfig for MordiaConfig {
    fn with_devices(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
        SWITCH.lay::<Self>(table, cluster)
    }

    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal> {
        self.refuse_ports(cluster.racks)?;
        self.refuse_rates(cluster)?;
        self.refuse_times()?;
        self.refuse_sending(cluster)?;
        let slots = i64::from(cluster.racks - 1);
        let round = Time(self.slot.0.saturating_mul(slots));
        let interval = self.interval.unwrap_or(round);
        if interval > TIME_MAX {
            let limit = format!("(racks - 1) slots, more than {TIME_MAX}");
            return refuse("interval", interval, limit, "give it, or lower fabric.slot");
        }
        let policy = self.resolved(interval, &self.hardware(cluster))?;
        Ok(MordiaConfig {
            policy,
            schedule: None,
            link_rate: Some(self.link(cluster)),
            interval: Some(interval),
            ..self
        })
    }

    fn obey(&self, physics: &Physics, _: &Cluster) -> Obeyed {
        Obeyed::by_all(physics).disciplined(physics)
    }

    fn draws(&self) -> bool {
        let punctual = self.sync_jitter == Time::ZERO && self.late_sync_fraction == 0.0;
        self.night_deviation > Time::ZERO || !punctual || !self.policy.is_of_registry()
    }

    fn failures(&self, _: &Cluster) -> String {
        "without a controller the initial schedule continues; ports, wavelengths and the ring do \
         not fail"
            .to_owned()
    }

    fn ideal(&self) -> Vec<&'static str> {
        let mut ideal = self.overheads().ideal();
        ideal.push("unlimited buffers");
        let punctual = self.sync_jitter == Time::ZERO && self.late_sync_fraction == 0.0;
        ideal.extend(punctual.then_some("clocks in step"));
        ideal
    }

    fn findings_of_run(&self, ended: &Ended) -> Vec<Finding> {
        if stands(&self.policy) {
            return Vec::new();
        }
        Decisions {
            interval: self.interval.unwrap_or_default(),
            takes: self.computation_delay.first(),
            waits: false,
        }
        .findings(ended)
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        let config = self.clone().resolve(site.cluster)?;
        let kernel = Mordia::new(config.setup(site)?, site.flows.len(), site.seed);
        Ok(Box::new(EventDriven::new(kernel)))
    }

    fn memory(&self, site: &Site) -> u64 {
        let (cluster, flows) = (site.cluster, site.flows.len() as u64);
        let (racks, hosts) = (u64::from(cluster.racks), u64::from(cluster.hosts()));
        // A policy that cannot be read is refused when the fabric is built.
        let standing = standing(&self.policy, &self.hardware(cluster)).unwrap_or_default();
        // The days until at least the last arrival.
        let turns = standing.as_ref().and_then(slot).unwrap_or(self.slot);
        let days = (site.flows.last_arrival() / turns.0.max(1)).0 as u64;
        let slots = match &standing {
            // Three copies: of the policy, the controller and the switch. In a log they are lines.
            Some(Target::Schedule(schedule)) => 3 * schedule.slots.len() as u64,
            _ => days.min(Light::MOST as u64 / racks.max(1)),
        };
        let schedules = slots * (size_of::<Slot>() as u64 + 4 * racks);
        setup::memory(racks, hosts, flows) + Light::memory(days, racks) + schedules
    }

    fn facts_for(&self, site: &Site) -> Facts {
        // A policy that cannot be read was refused when the fabric was built.
        let standing = standing(&self.policy, &self.hardware(site.cluster)).unwrap_or_default();
        let alone = { standing.as_ref() }.filter(|_| self.packet_rate.is_none());
        Facts {
            unjoined: alone.and_then(|target| unjoined(target, site, "set packet_rate")),
            // A slot of other policies may be as long as their schedule.
            slot: standing.as_ref().map_or(self.interval, slot),
            interval: self.interval,
            cycle: cycle(standing.as_ref(), self.interval),
            devices: record(self.devices),
            ..Facts::default()
        }
    }
}
