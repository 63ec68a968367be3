//! Traffic that keeps networks busy.

use super::CYCLE;
use lightloom_engine::{Flows, HostId, Stream, Time};

/// The destinations of hosts; no host sends to itself.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    /// All hosts send to all other hosts with equal probability.
    Uniform,
    /// All hosts send to this host.
    HotSpot(u32),
    /// All hosts send to the same terminal of the next router in the first dimension, for this
    /// number of routers and hosts per router.
    NextRouter {
        /// c.
        concentration: u32,
        /// k.
        size: u32,
    },
    /// To the host of complementary number.
    Complement,
    /// To the host half the network away.
    Tornado,
    /// To the host of the number's halves exchanged; of a square number of hosts.
    Transpose,
}

impl Pattern {
    /// The destination of a host, if it sends.
    pub fn destination(self, host: u32, hosts: u32, random: &mut Stream) -> Option<u32> {
        let to = match self {
            Pattern::Uniform => (host + 1 + random.below(hosts - 1)) % hosts,
            Pattern::HotSpot(to) => to,
            Pattern::NextRouter {
                concentration,
                size,
            } => {
                let (router, terminal) = (host / concentration, host % concentration);
                let next = (router % size + 1) % size;
                (router / size * size + next) * concentration + terminal
            }
            Pattern::Complement => hosts - 1 - host,
            Pattern::Tornado => (host + hosts / 2) % hosts,
            Pattern::Transpose => {
                let root = hosts.isqrt();
                host % root * root + host / root
            }
        };
        (to != host).then_some(to)
    }
}

/// Every host sends packets of this many bytes and flits at random times, at a load of `load` flits
/// per cycle, for this many cycles.
pub fn packets(
    pattern: Pattern,
    hosts: u32,
    load: f64,
    (bytes, flits): (u64, u64),
    cycles: i64,
) -> Flows {
    let mut random = Stream::new(7, "test.packets", 0);
    let gap = CYCLE.0 as f64 * flits as f64 / (hosts as f64 * load);
    let (mut at, mut flows) = (0.0, Flows::new());
    loop {
        at += -(1.0 - random.unit()).ln() * gap;
        if at >= (cycles * CYCLE.0) as f64 {
            return flows;
        }
        let from = random.below(hosts);
        if let Some(to) = pattern.destination(from, hosts, &mut random) {
            flows.push(HostId(from), HostId(to), bytes, Time(at as i64));
        }
    }
}
