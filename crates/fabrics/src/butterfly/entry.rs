//! The flattened butterfly in the registry.

use super::bound::Bound;
use super::config::{ButterflyConfig, Routing};
use super::network::Network;
use crate::contract::{
    build, doubts, draws, facts, failures, findings, findings_of_run, ideal, memory, obey, resolve,
    schema, switch_tiers, Entry, FabricConfig, Preset, Site, LOST,
};
use crate::facts::{Facts, Framing};
use crate::findings::Finding;
use crate::physics::{ideal_of, Obeyed, Physics, Term, NOT_MODELLED};
use lightloom_engine::kernel::event::EventDriven;
use lightloom_engine::{Bytes, Cluster, Fabric, Length, Refusal, Time};

/// `kind = "flattened-butterfly"`.
pub const ENTRY: Entry = Entry {
    kind: "flattened-butterfly",
    title: "Flattened butterfly",
    name: "the flattened butterfly",
    drops: LOST,
    in_turn: false,
    no_circuits: "",
    bounds: &["routers", "concentration", "routing", "packet"],
    testbed: None,
    source: "Kim, Dally and Abts, Flattened Butterfly, ISCA 2007; as in Yin et al., LIONS, IEEE \
             JSTQE 19(2), 2013, §IV",
    summary: "Electrical routers, each wired to all others of its row and column; flits, virtual \
              channels and credits; dimension-order, Valiant or UGAL routing. The baseline of \
              LIONS, for single nodes.",
    presets: PRESETS,
    schema: schema::<ButterflyConfig>,
    resolve: resolve::<ButterflyConfig>,
    obey: obey::<ButterflyConfig>,
    ideal: ideal::<ButterflyConfig>,
    draws: draws::<ButterflyConfig>,
    failures: failures::<ButterflyConfig>,
    switch_tiers: switch_tiers::<ButterflyConfig>,
    findings: findings::<ButterflyConfig>,
    findings_of_run: findings_of_run::<ButterflyConfig>,
    doubts: doubts::<ButterflyConfig>,
    build: build::<ButterflyConfig>,
    memory: memory::<ButterflyConfig>,
    facts: facts::<ButterflyConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "basic",
        summary: "LIONS §IV with a plain router, by our assumptions: 2 virtual channels, 100 ns, \
            one round of allocation, no speedup",
        table: r#"{"vcs": 2, "router_latency": "100 ns",
                   "input_speedup": 1, "allocator_iterations": 1, "flow_control": "wormhole"}"#,
    },
    Preset {
        name: "aggressive",
        summary: "LIONS §IV with a strong router: 16 virtual channels, three cycles, and credits \
            of two cycles as in BookSim's flattened butterfly, an internal speedup of 2 as in \
            Slim Fly's (SC 2014), deep output queues",
        table: r#"{"vcs": 16, "router_latency": "19.2 ns",
                   "credit_latency": "12.8 ns", "speedup": 2, "output_buffer": 512,
                   "input_speedup": 1, "allocator_iterations": 3,
                   "flow_control": "virtual-cut-through"}"#,
    },
];

impl FabricConfig for ButterflyConfig {
    fn resolve(mut self, cluster: &Cluster) -> Result<Self, Refusal> {
        self.complete(cluster)?;
        Ok(self)
    }

    fn obey(&self, physics: &Physics, cluster: &Cluster) -> Obeyed {
        let mut far = self.clone();
        let Ok(()) = far.complete(cluster) else {
            // Errors are reported when the table is completed.
            return Obeyed::default();
        };
        let spacing = physics.propagation.and_then(|way| far.spacing_for(way));
        let obeyed = Obeyed::default()
            .by(Term::Propagation, "spacing", spacing)
            .by(
                Term::SwitchLatency,
                "router_latency",
                physics.switch_latency,
            )
            .by(Term::Header, "header", physics.header)
            .disciplined(physics)
            .lacks(Term::Gap, physics.gap, "flits follow each other")
            .lacks(Term::FecLatency, physics.fec_latency, NOT_MODELLED);
        match spacing {
            Some(_) => obeyed,
            None => obeyed.lacks(Term::Propagation, physics.propagation, "it has one router"),
        }
    }

    fn draws(&self) -> bool {
        self.routing != Routing::DimensionOrder
    }

    fn ideal(&self) -> Vec<&'static str> {
        let wires = [self.host_wire, self.spacing];
        let mut ideal = ideal_of(&[
            (
                "no propagation",
                wires.iter().all(|wire| *wire == Length(0)),
            ),
            ("no router latency", self.router_latency == Time::ZERO),
            ("no headers", self.header == Bytes(0)),
        ]);
        ideal.push("no FEC");
        ideal
    }

    fn findings(&self, _: &Cluster) -> Vec<Finding> {
        self.shallow_buffer().into_iter().collect()
    }

    fn facts(&self, _: &Cluster) -> Facts {
        Facts {
            framing: Some(Framing {
                rate: self.line_rate(),
                packet: self.packet,
                header: self.header,
                word: self.flit,
                gap: Time::ZERO,
            }),
            ..Facts::default()
        }
    }

    fn build(&self, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
        let config = self.clone().resolve(site.cluster)?;
        let bound = Bound::new(&config, site.cluster);
        Ok(Box::new(EventDriven::new(Network::new(
            &config, bound, site,
        ))))
    }

    fn memory(&self, site: &Site) -> u64 {
        let Ok(config) = self.clone().resolve(site.cluster) else {
            return 0;
        };
        let topology = config.topology();
        let channels = topology.routers.next_power_of_two() * topology.radix.next_power_of_two();
        let lanes =
            (channels as u64 + site.cluster.racks as u64) * config.vcs.next_power_of_two() as u64;
        // Each lane has a state, credits and packets. The flits and credits on wires and the
        // packets inside the network are at most the capacity of the buffers.
        let buffers = lanes * config.buffer() as u64;
        lanes * 32
            + channels as u64 * 64
            + channels as u64 * config.output_queue() as u64 * 8
            + (buffers * 40).min(1 << 28)
            + site.flows.len() as u64 * 12
    }
}
