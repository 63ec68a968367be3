//! LIONS in the registry.

use super::bound::Bound;
use super::config::{Architecture, Detector, HostLink, LionsConfig, Timing, TransmitterRule};
use super::host_links::HostLinks;
use super::kernel::Switch;
use super::parts::parts;
use super::pipelined::Pipelined;
use super::ports::Ports;
use super::slotted::Slotted;
use crate::contract::{
    build, doubts, draws, facts, failures, findings, findings_of_run, ideal, memory, obey, resolve,
    schema, switch_tiers, Entry, FabricConfig, Preset, Site,
};
use crate::facts::{Facts, Framing, Part};
use crate::physics::{ideal_of, Obeyed, Physics, Term, NOT_MODELLED};
use lightloom_engine::kernel::event::EventDriven;
use lightloom_engine::{Bytes, Cluster, Fabric, Length, Rate, Refusal, Time};

/// `kind = "lions"`.
pub const ENTRY: Entry = Entry {
    kind: "lions",
    title: "LIONS",
    name: "LIONS",
    drops: "packets reflected or rejected",
    in_turn: false,
    no_circuits: "",
    bounds: &[],
    testbed: None,
    source: "Yin et al., LIONS: An AWGR-Based Low-Latency Optical Switch for HPC and Data \
             Centers, IEEE JSTQE 19(2), 2013",
    summary: "A packet switch around a passive grating: the wavelength of a packet selects its \
        output, up to k packets reach an output at the same time, and other packets wait in a \
        loop-back buffer or are reflected to their sender. For single nodes.",
    presets: PRESETS,
    schema: schema::<LionsConfig>,
    resolve: resolve::<LionsConfig>,
    obey: obey::<LionsConfig>,
    ideal: ideal::<LionsConfig>,
    draws: draws::<LionsConfig>,
    failures: failures::<LionsConfig>,
    switch_tiers: switch_tiers::<LionsConfig>,
    findings: findings::<LionsConfig>,
    findings_of_run: findings_of_run::<LionsConfig>,
    doubts: doubts::<LionsConfig>,
    build: build::<LionsConfig>,
    memory: memory::<LionsConfig>,
    facts: facts::<LionsConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "dlb",
        summary: "§IV: distributed loop-back buffers, k = 4, all received at once, 10 m of fibre, \
                  256 B; at the rate of the servers (§IV: 10 Gb/s)",
        table: r#"{"architecture": "dlb", "receivers": 4, "host_link": "receivers", "fibre": "10 m"}"#,
    },
    Preset {
        name: "ao-nack",
        summary: "§IV: all-optical NACKs, otherwise the same",
        table: r#"{"architecture": "ao-nack", "receivers": 4, "host_link": "receivers", "fibre": "10 m"}"#,
    },
    Preset {
        name: "mlb",
        summary: "the mixed loop-back buffer (§II.C, r = 4), otherwise the same",
        table: r#"{"architecture": "mlb", "receivers": 4, "host_link": "receivers", "fibre": "10 m"}"#,
    },
    Preset {
        name: "slb",
        summary: "the shared loop-back buffer (§II.A), otherwise the same",
        table: r#"{"architecture": "slb", "receivers": 4, "host_link": "receivers", "fibre": "10 m"}"#,
    },
    Preset {
        name: "test-bed",
        summary: "§III: shared loop-back buffer, k = 1, no fibre; at the rate of the servers \
                  (§III: 4 hosts of 1.25 Gb/s)",
        table: r#"{"architecture": "slb", "receivers": 1, "host_link": "receivers", "fibre": "0 m"}"#,
    },
];

impl FabricConfig for LionsConfig {
    fn resolve(mut self, cluster: &Cluster) -> Result<Self, Refusal> {
        self.complete(cluster)?;
        Ok(self)
    }

    fn facts(&self, cluster: &Cluster) -> Facts {
        let all = Rate(self.line_rate().0.saturating_mul(self.receivers.into()));
        Facts {
            receives: (self.host_link == Some(HostLink::Receivers)).then_some(all),
            parts: parts(self, cluster.racks).list(),
            framing: Some(Framing {
                rate: self.line_rate(),
                packet: self.packet,
                header: self.header,
                word: Bytes(1),
                gap: self.gap(),
            }),
            ..Facts::default()
        }
    }

    fn facts_for(&self, site: &Site) -> Facts {
        let mut facts = self.facts(site.cluster);
        let reflects = self.architecture == Architecture::AoNack;
        if reflects && self.timing == Timing::Unslotted {
            facts.parts.push(Part {
                name: self.detector_for(site.flows).hosts(),
                count: site.cluster.racks.into(),
            });
        }
        facts
    }

    fn obey(&self, physics: &Physics, _: &Cluster) -> Obeyed {
        // The fibres to the switch and from it have half of the propagation between two hosts each.
        let half = physics
            .propagation
            .map(|way| Length::of_delay(Time(way.0 / 2)));
        // No term for the gap between packets, which is the guard.
        Obeyed::default()
            .by(Term::Propagation, "fibre", half)
            .by(Term::Header, "header", physics.header)
            .disciplined(physics)
            .by(Term::Nic, "host_link", self.link_below(physics.nic))
            .lacks(
                Term::SwitchLatency,
                physics.switch_latency,
                "no electrical switch; its delays are label_reading, arbitration and tuning",
            )
            .lacks(Term::FecLatency, physics.fec_latency, NOT_MODELLED)
    }

    fn draws(&self) -> bool {
        let shares = matches!(self.architecture, Architecture::Mlb | Architecture::Dlb);
        shares && self.transmitter_order() == TransmitterRule::Random
    }

    fn ideal(&self) -> Vec<&'static str> {
        let mut ideal = ideal_of(&[
            ("no propagation", self.fibre == Length(0)),
            ("labels read in no time", self.label_reading == Time::ZERO),
            ("arbitration in no time", self.arbitration == Time::ZERO),
            ("no headers", self.header == Bytes(0)),
            (
                "hosts receive from all receivers of their output at once",
                self.receivers > 1 && self.host_link == Some(HostLink::Receivers),
            ),
        ]);
        ideal.extend(["no FEC", "unlimited buffers"]);
        ideal
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        let config = self.clone().resolve(site.cluster)?;
        let bound = Bound::new(&config, site.cluster);
        let ports = Ports::new(&config, site.cluster.racks);
        if config.timing == Timing::Slotted {
            return Ok(Box::new(EventDriven::new(Slotted::new(
                &config, ports, bound, site,
            ))));
        }
        Ok(match config.detector_for(site.flows) {
            Detector::Timers | Detector::Sequence
                if config.architecture == Architecture::AoNack =>
            {
                Box::new(EventDriven::new(Pipelined::new(
                    &config, ports, bound, site,
                )))
            }
            _ => Box::new(EventDriven::new(Switch::new(&config, ports, bound, site))),
        })
    }

    fn memory(&self, site: &Site) -> u64 {
        let Ok(config) = self.clone().resolve(site.cluster) else {
            return 0;
        };
        let ports = Ports::new(&config, site.cluster.racks);
        let (n, k) = (site.cluster.racks as u64, config.receivers as u64);
        let queues = ports.queues() as u64;
        let words = queues.div_ceil(k).div_ceil(64).max(1);
        let servers = n * k * (24 + 8 * words);
        // Heads and tails of queues, and at most one entry per offered packet.
        let packets = site.flows.total_bytes() / config.packet.0 + site.flows.len() as u64;
        let queue = n * 12 + n / 8 + 80 + 8 * config.m() as u64;
        let links = match config.host_link {
            Some(HostLink::Nic) => HostLinks::memory(n, site.flows.len() as u64),
            _ => 0,
        };
        links
            + servers
            + queues * queue
            + n * 64
            + 12 * (site.flows.len() as u64 + packets.min(1 << 24))
    }
}
