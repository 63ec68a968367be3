//! The flattened butterfly in the registry.

use super::bound::Bound;
use super::config::ButterflyConfig;
use super::network::Network;
use crate::contract::{build, facts, memory, resolve, schema, Entry, FabricConfig, Preset, Site};
use crate::facts::{Facts, Framing};
use lightloom_engine::kernel::event::EventDriven;
use lightloom_engine::{Cluster, Fabric, Refusal, Time};

/// `kind = "flattened-butterfly"`.
pub const ENTRY: Entry = Entry {
    kind: "flattened-butterfly",
    title: "Flattened butterfly",
    source: "Kim, Dally and Abts, Flattened Butterfly, ISCA 2007; as in Yin et al., LIONS, IEEE \
             JSTQE 19(2), 2013, §IV",
    summary: "Electrical routers, each wired to all others of its row and column; flits, virtual \
              channels and credits; dimension-order, Valiant or UGAL routing. The baseline of \
              LIONS, for single nodes.",
    presets: PRESETS,
    schema: schema::<ButterflyConfig>,
    resolve: resolve::<ButterflyConfig>,
    build: build::<ButterflyConfig>,
    memory: memory::<ButterflyConfig>,
    facts: facts::<ButterflyConfig>,
};

const PRESETS: &[Preset] = &[
    Preset {
        name: "basic",
        summary: "LIONS §IV with a plain router, as we assume one: 2 virtual channels of 48 flits, 100 ns, one \
                  round of allocation",
        table: r#"{"vcs": 2, "vc_buffer": 48, "router_latency": "100 ns",
                   "input_speedup": 1, "allocator_iterations": 1, "flow_control": "wormhole"}"#,
    },
    Preset {
        name: "aggressive",
        summary: "LIONS §IV with a router that, as we assume, is hardly in the way: 8 virtual channels of 64 \
                  flits, a pipeline of three cycles (19.2 ns), speedup 4, three rounds",
        table: r#"{"vcs": 8, "vc_buffer": 64, "router_latency": "19.2 ns",
                   "input_speedup": 4, "allocator_iterations": 3,
                   "flow_control": "virtual-cut-through"}"#,
    },
];

impl FabricConfig for ButterflyConfig {
    fn resolve(mut self, cluster: &Cluster) -> Result<Self, Refusal> {
        self.complete(cluster)?;
        Ok(self)
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
        // Of each lane its state, its credits and its packets; flits and credits
        // on wires and packets inside are at most what buffers hold.
        let buffers = lanes * config.vc_buffer as u64;
        lanes * 24
            + channels as u64 * 64
            + buffers * 4
            + (buffers * 40).min(1 << 28)
            + site.flows.len() as u64 * 12
    }
}
