//! Sirius in the registry.

use super::config::devices::with_devices;
use super::config::retired::without_retired;
use super::config::{Derived, Detail, GrantRule, Mode, SiriusConfig};
use super::flows::{self, SiriusFlows};
use super::ideal::{self, Ideal};
use super::kernel::Sirius;
use super::partition::Partition;
use super::relay::by_pair::ByPair;
use super::relay::by_slot::{timetable, BySlot};
use super::relay::queued::Queued;
use super::schedule::plan::UplinkPlan;
use super::servers::links::Servers;
use crate::contract::{self, Entry, FabricConfig, Preset, Site};
use crate::doubts::{Doubts, Ran};
use crate::facts::{self, Facts};
use crate::findings::Finding;
use crate::physics::{ideal_of, Obeyed, Physics, Term};
use lightloom_engine::kernel::flow::FlowDriven;
use lightloom_engine::kernel::slot::Slotted;
use lightloom_engine::{Bytes, Cluster, Fabric, Nic, Rate, Refusal, Time};
use serde_json::Value;

/// Sirius.
pub const ENTRY: Entry = Entry {
    kind: "sirius",
    title: "Sirius",
    name: "Sirius",
    drops: "cells lost and sent again",
    in_turn: false,
    no_circuits: "all traffic between racks crosses gratings, by wavelength",
    bounds: &[],
    testbed: None,
    source: "Ballani et al., Sirius: A Flat Datacenter Network with Nanosecond Optical Switching, SIGCOMM 2020",
    summary: "A flat optical fabric: passive gratings, tunable lasers on a fixed cyclic schedule, \
              Valiant load balancing, and a request/grant protocol that bounds every queue.",
    presets: PRESETS,
    schema: contract::schema::<SiriusConfig>,
    resolve,
    obey,
    ideal: contract::ideal::<SiriusConfig>,
    draws: contract::draws::<SiriusConfig>,
    failures: contract::failures::<SiriusConfig>,
    switch_tiers: contract::switch_tiers::<SiriusConfig>,
    findings: contract::findings::<SiriusConfig>,
    findings_of_run: contract::findings_of_run::<SiriusConfig>,
    doubts: contract::doubts::<SiriusConfig>,
    build: contract::build::<SiriusConfig>,
    memory: contract::memory::<SiriusConfig>,
    facts: contract::facts::<SiriusConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "paper",
        summary: "The simulation of §7: 50% more uplinks, 100 ns slots, 10 ns guardband, Q = 4.",
        table: r#"{"slot": "100 ns", "guardband": "10 ns", "queue": 4}"#,
    },
    Preset {
        name: "ideal",
        summary: "SIRIUS (IDEAL) of §7: per-flow queues and back-pressure, no protocol.",
        table: r#"{"mode": "ideal"}"#,
    },
    Preset {
        name: "paper-flows",
        summary: "The same as paper with max-min fair rates instead of cells: for long flows, \
            many servers, and comparisons with fabrics that assign rates to flows.",
        table: r#"{"detail": "flows"}"#,
    },
    Preset {
        name: "prototype-v2",
        summary:
            "The second prototype's reconfiguration (§6): 3.84 ns guardband in a 38.4 ns slot.",
        table: r#"{"slot": "38.4 ns", "guardband": "3.84 ns"}"#,
    },
];

fn resolve(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
    contract::resolve::<SiriusConfig>(&without_retired(table)?, cluster)
}

fn obey(table: &Value, physics: &Physics, cluster: &Cluster) -> Result<Obeyed, Refusal> {
    contract::obey::<SiriusConfig>(&without_retired(table)?, physics, cluster)
}

impl FabricConfig for SiriusConfig {
    fn with_devices(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
        with_devices(table, cluster)
    }

    fn resolve(self, cluster: &Cluster) -> Result<Self, Refusal> {
        let derived = self.derive(cluster)?;
        // The idealised rotor has no gratings.
        let wired = self.uplink_plan != UplinkPlan::Rotor;
        let ports = wired.then_some(cluster.racks / derived.base);
        Ok(SiriusConfig {
            uplinks: Some(derived.uplinks),
            grating_ports: self.grating_ports.or(ports),
            cell: Some(Bytes(derived.cell)),
            ..self
        })
    }

    fn findings(&self, cluster: &Cluster) -> Vec<Finding> {
        let limit = match (self.detail, self.mode, self.derive(cluster)) {
            (Detail::Cells, Mode::Ideal, Ok(derived)) => {
                ideal::window::narrow(self, &derived, cluster)
            }
            (_, Mode::RequestGrant, Ok(derived)) => self.short_queue(&derived, cluster),
            _ => None,
        };
        self.short_slot().into_iter().chain(limit).collect()
    }

    fn doubts(&self, cluster: &Cluster, run: &Ran) -> Doubts {
        let Ok(derived) = self.derive(cluster) else {
            return Doubts::default();
        };
        Doubts {
            traffic: match self.detail {
                Detail::Cells => Vec::new(),
                Detail::Flows => SiriusFlows::doubts(&derived, cluster, run),
            },
            capacity: derived.few_uplinks(cluster).into_iter().collect(),
        }
    }

    fn facts(&self, cluster: &Cluster) -> Facts {
        let derived = self.derive(cluster).ok();
        Facts {
            uplinks: { derived.iter() }.map(|d| d.uplinks(self.slot)).collect(),
            derived: derived.map_or_else(Vec::new, |derived| derived.facts()),
            devices: self.devices_record(cluster),
            ..Facts::default()
        }
    }

    fn obey(&self, physics: &Physics, _: &Cluster) -> Obeyed {
        let obeyed = Obeyed::default()
            .by(Term::Propagation, "propagation", physics.propagation)
            .by(
                Term::SwitchLatency,
                "switch_latency",
                physics.switch_latency,
            )
            .by(Term::FecLatency, "fec_latency", physics.fec_latency);
        let obeyed = match self.detail {
            Detail::Cells => obeyed.disciplined(physics),
            Detail::Flows => obeyed.shared_by_rates(physics),
        };
        // No term for the gap between cells, which is the guardband.
        match self.cell.is_some() && self.header == Bytes(0) {
            true => obeyed.lacks(
                Term::Header,
                physics.header,
                "its cell is given and is all payload",
            ),
            false => obeyed.by(Term::Header, "header", physics.header),
        }
    }

    fn draws(&self) -> bool {
        true
    }

    fn failures(&self, cluster: &Cluster) -> String {
        let epochs = self.detection_epochs;
        let rotor = match self.uplink_plan {
            UplinkPlan::Rotor => {
                ". Its plan \"rotor\" has no gratings that could fail; uplink_plan = \"wide\" has"
            }
            _ => "",
        };
        let lasers = self.lasers_that_die(cluster).unwrap_or_default();
        format!(
            "declared dead after {epochs} silent epochs, known one epoch a hop later; cells lost \
             until then are sent again{rotor}{lasers}"
        )
    }

    fn ideal(&self) -> Vec<&'static str> {
        let no_fec = match self.devices {
            None => "no FEC",
            Some(_) => "no time to encode or decode",
        };
        let mut ideal = ideal_of(&[
            ("no propagation", self.propagation == Time::ZERO),
            ("no switch latency", self.switch_latency == Time::ZERO),
            (no_fec, self.fec_latency == Time::ZERO),
            ("no headers", self.header == Bytes(0)),
            (
                "a rotor instead of gratings",
                self.uplink_plan == UplinkPlan::Rotor,
            ),
        ]);
        if self.mode == Mode::Ideal {
            ideal.push("back-pressure known at once");
        }
        ideal.push("clocks in step");
        if self.devices.is_some() {
            ideal.push("no bit errors");
        }
        ideal
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        let derived = self.derive(site.cluster)?;
        if self.detail == Detail::Flows {
            return Ok(Box::new(FlowDriven::new(SiriusFlows::new(
                self, derived, site,
            ))));
        }
        self.check_flows(derived.cell, site.flows)?;
        if self.mode == Mode::Ideal {
            return Ok(Box::new(Slotted::new(Ideal::new(self, derived, site))));
        }
        Ok(Box::new(Slotted::new(Sirius::new(self, derived, site))))
    }

    fn memory(&self, site: &Site) -> u64 {
        let Ok(derived) = self.derive(site.cluster) else {
            return 0;
        };
        if self.detail == Detail::Flows {
            return flows::memory(site.cluster, site.flows.len() as u64);
        }
        let nodes = site.cluster.racks as u64;
        let state = match self.mode {
            Mode::RequestGrant => self.protocol_memory(&derived, site),
            Mode::Ideal => Ideal::memory(self, &derived, nodes, site.flows.len() as u64),
        };
        let flows = site.flows.len() as u64;
        let servers = match site.cluster.nic {
            Nic::Uncapped => 0,
            Nic::Capped(_) => {
                Servers::BYTES.0 * site.cluster.hosts() as u64 + Servers::BYTES.1 * flows
            }
        };
        // One bit per cell, and the columns of a flow.
        state + servers + site.flows.total_bytes() / derived.cell / 8 + 80 * flows
    }

    /// When cells move from queues by slot to queues by pair, both kinds are in memory.
    fn memory_of_failures(&self, site: &Site) -> u64 {
        let known = self.derive(site.cluster).ok();
        let by_slot = known.is_some_and(|derived| timetable(&derived.schedule).is_some());
        match (self.mode, by_slot) {
            (Mode::RequestGrant, true) => {
                // With Q = 4 at load 1 up to three cells wait behind the first of a queue.
                let behind = (self.queue as u64 - 1).min(3);
                let pair = ByPair::BYTES.0 + 2 * behind * ByPair::BYTES.1;
                (site.cluster.racks as u64).pow(2) * pair
            }
            _ => 0,
        }
    }
}

/// Bytes of a pair if cells are kept by pair: the queue itself holds one cell, and lists have a
/// capacity of at most twice their cells.
const BY_PAIR: u64 = ByPair::BYTES.0 + 2 * ByPair::BYTES.1;

impl Derived {
    /// The uplinks of a rack: each carries one cell in every slot.
    fn uplinks(&self, slot: Time) -> facts::Uplinks {
        let bits = u128::from(self.uplinks) * u128::from(self.cell) * 8;
        let per_second = bits * Time::S.0 as u128 / slot.0.max(1) as u128;
        facts::Uplinks::of_racks(Rate(per_second as u64))
    }

    /// The values in force for keys that the table leaves open.
    fn facts(&self) -> Vec<facts::Derived> {
        use facts::Derived as In;
        let (slots, of) = self.epoch;
        vec![
            In::whole("base_uplinks", self.base.into()),
            In::whole("uplinks", self.uplinks.into()),
            In::whole("cell_bytes", self.cell),
            In {
                name: "epoch_slots",
                value: slots as u64,
                of: of as u64,
            },
        ]
    }
}

impl SiriusConfig {
    fn protocol_memory(&self, derived: &Derived, site: &Site) -> u64 {
        let nodes = site.cluster.racks as u64;
        let known = timetable(&derived.schedule);
        // Lists have a capacity of at most twice their cells. Assume one cell in every queue, which
        // is a high estimate, and one cell in the fibre of every transceiver.
        let cell = 2 * size_of::<Queued>() as u64;
        let (queue, lists) = match known {
            Some(timetable) => {
                let partition = Partition::new(site.cluster.racks as usize, site.threads);
                let lists = BySlot::lists_bytes(&timetable, &partition);
                (BySlot::BYTES_A_PAIR + cell, lists)
            }
            None => (BY_PAIR, 0),
        };
        let last_grant = match self.grant_rule {
            GrantRule::Threshold => 0,
            GrantRule::OnePerDestination => 4,
        };
        // M, the last grant, and an entry in the matrices of every epoch between request and
        // acceptance.
        let pair = queue + 1 + last_grant + 2 * derived.matrices(self) as u64;
        let flights = derived.flights(self) as u64 * nodes * derived.uplinks as u64 * cell;
        nodes * nodes * pair + flights + lists
    }
}
