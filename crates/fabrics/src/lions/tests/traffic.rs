//! Traffic of the closed forms: uniform over all hosts, the sender included.

use super::{PACKET, SLOT};
use lightloom_engine::{Flows, HostId, Stream, Time};

/// Each host sends a packet in each slot with probability `load`.
pub fn bernoulli(hosts: u32, load: f64, slots: usize, seed: u64) -> Flows {
    let mut rng = Stream::new(seed, "test.bernoulli", 0);
    let mut flows = Flows::new();
    for slot in 0..slots as i64 {
        for host in 0..hosts {
            if rng.unit() < load {
                let to = rng.below(hosts);
                flows.push(HostId(host), HostId(to), PACKET, SLOT * slot);
            }
        }
    }
    flows
}

/// Each host sends packets at random times, `load` per slot on average.
pub fn poisson(hosts: u32, load: f64, slots: usize, seed: u64) -> Flows {
    poisson_in(SLOT, PACKET, hosts, load, slots, seed)
}

/// The same for slots and packets of any length.
pub fn poisson_in(
    slot: Time,
    packet: u64,
    hosts: u32,
    load: f64,
    slots: usize,
    seed: u64,
) -> Flows {
    let mut rng = Stream::new(seed, "test.poisson", 0);
    let gap = slot.0 as f64 / (hosts as f64 * load);
    let (mut at, mut flows) = (0.0, Flows::new());
    loop {
        at += -(1.0 - rng.unit()).ln() * gap;
        if at >= slots as f64 * slot.0 as f64 {
            return flows;
        }
        let (from, to) = rng.below2(hosts, hosts);
        flows.push(HostId(from), HostId(to), packet, Time(at as i64));
    }
}
