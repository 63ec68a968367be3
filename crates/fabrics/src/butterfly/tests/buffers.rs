//! Default buffers depend on the rate and the wires: a flow that is alone gets the full rate of its
//! link at every rate, for any number of hosts, under either preset of physics.

use super::traffic::Pattern;
use super::*;
use crate::contract::FabricConfig;
use crate::physics::Physics;
use lightloom_engine::{Bytes, HostId};

/// Single nodes of that rate.
fn nodes(hosts: u32, gbps: u64) -> Cluster {
    Cluster {
        server_rate: Rate(gbps * Rate::GBPS.0),
        ..cluster(hosts)
    }
}

/// `physics = "realistic"`, as the experiment's table has it.
fn realistic() -> Physics {
    Physics {
        propagation: Some(Time::NS * 500),
        switch_latency: Some(Time::NS * 600),
        fec_latency: Some(Time(102_400)),
        header: Some(Bytes(18)),
        gap: Some(Bytes(20)),
        ..Physics::default()
    }
}

/// A preset with the keys by which it obeys the physics, completed.
fn completed(name: &str, keys: Value, physics: &Physics, cluster: &Cluster) -> ButterflyConfig {
    let mut table = preset(name, keys);
    let obeyed = (ENTRY.obey)(&table, physics, cluster).expect("good");
    for key in obeyed.keys {
        if table.get(key.key).is_none() {
            table[key.key] = key.value;
        }
    }
    let table = (ENTRY.resolve)(&table, cluster).unwrap_or_else(|e| panic!("{e}"));
    config::read(&table, "fabric").expect("reads back")
}

/// The time at which each flow ends.
fn finishes(config: &ButterflyConfig, cluster: &Cluster, flows: Flows) -> Vec<Time> {
    let bound = Bound::new(config, cluster);
    let site = Site::plain(cluster, &flows);
    let mut fabric = EventDriven::new(Network::new(config, bound, &site));
    let mut io = Io::new(flows);
    fabric.advance(Time::S, &mut io);
    io.flows.finish.clone()
}

fn lone(src: u32, dst: u32, bytes: u64) -> Flows {
    let mut flows = Flows::new();
    flows.push(HostId(src), HostId(dst), bytes, Time::ZERO);
    flows
}

/// Picoseconds of a wire.
fn wire(millimetres: u64) -> i64 {
    5 * millimetres as i64
}

/// From the first host to the last over the longest wire of each dimension: whole cycles from
/// router to router, then one flit after another.
fn by_hand(config: &ButterflyConfig, gbps: u64, bytes: u64) -> Time {
    let cycle = 64_000 / gbps as i64;
    let pipeline = |ps: i64| 1 + (ps + config.router_latency.0 + cycle - 1) / cycle;
    let mut cycles = pipeline(wire(config.host_wire.0));
    for &size in config.sizes().iter().filter(|&&size| size > 1) {
        cycles += pipeline(wire(config.spacing.0 * (size as u64 - 1)));
    }
    let flits = |payload: u64| (payload + config.header.0).div_ceil(8) as i64;
    let (full, rest) = (bytes / 256, bytes % 256);
    cycles += full as i64 * flits(256) + if rest > 0 { flits(rest) } else { 0 };
    Time(cycles * cycle + wire(config.host_wire.0))
}

#[test]
fn a_lone_flow_gets_its_link() {
    for name in ["basic", "aggressive"] {
        for (label, physics) in [("ideal", Physics::default()), ("realistic", realistic())] {
            for gbps in [10, 25, 40, 100, 400, 800] {
                for hosts in [2, 16, 64, 256, 1_024] {
                    let cluster = nodes(hosts, gbps);
                    let config = completed(name, json!({}), &physics, &cluster);
                    // More than the buffers of the basic router hold.
                    let bytes = 3 * 8 * config.buffer() as u64 + 20_000;
                    let took = finishes(&config, &cluster, lone(0, hosts - 1, bytes));
                    let expected = by_hand(&config, gbps, bytes);
                    let what = format!("{name}, {label}, {gbps} Gb/s, {hosts} hosts");
                    assert_eq!(took, [expected], "{what}");
                    assert_eq!(config.findings(&cluster), [], "{what}");
                }
            }
        }
    }
}

/// Its packets take many paths; the last path is at most twice as long as the longest direct one.
#[test]
fn a_lone_flow_gets_its_link_with_detours() {
    for name in ["basic", "aggressive"] {
        for routing in ["valiant", "ugal"] {
            for (gbps, hosts) in [(40, 64), (100, 64), (400, 64), (100, 256)] {
                let cluster = nodes(hosts, gbps);
                let keys = json!({"routing": routing});
                let config = completed(name, keys, &Physics::default(), &cluster);
                let bytes = 500_000;
                let took = finishes(&config, &cluster, lone(0, hosts - 1, bytes))[0];
                let (once, longest) = (by_hand(&config, gbps, bytes), by_hand(&config, gbps, 1));
                let what = format!("{name}, {routing}, {gbps} Gb/s, {hosts} hosts");
                assert!(took >= config.cycle() * 33 * (bytes / 256) as i64, "{what}");
                assert!(took <= once + longest + once / 50, "{what}: {took}, {once}");
            }
        }
    }
}

/// 48 and 64 flits in LIONS' network, by hand: a credit is back after 42 and 30 cycles, and a
/// packet has 33 flits. At 40 Gb/s a cycle is 1.6 ns: 1 + ⌈175/1.6⌉ + ⌈81.4/1.6⌉ = 162.
#[test]
fn the_default_covers_the_round_trip() {
    let buffer = |name: &str, gbps: u64, keys: Value| {
        completed(name, keys, &Physics::default(), &nodes(64, gbps)).buffer()
    };
    assert_eq!(buffer("basic", 10, json!({})), 48);
    assert_eq!(buffer("aggressive", 10, json!({})), 64);
    assert_eq!(buffer("basic", 40, json!({})), 1 + 110 + 51);
    // ⌈94.2/1.6⌉ and ⌈87.8/1.6⌉.
    assert_eq!(buffer("aggressive", 40, json!({})), 1 + 59 + 55 + 33);
    assert_eq!(buffer("basic", 40, json!({"vc_buffer": 48})), 48);
}

/// A buffer that a user gives keeps its meaning, and has a finding if it is below the round
/// trip: 2 virtual channels of 48 flits carry 2 · 48/162 of a lone flow at 40 Gb/s at most.
#[test]
fn a_shallow_buffer_is_a_finding() {
    let cluster = nodes(64, 40);
    let given = |flits: u32| {
        let keys = json!({"vc_buffer": flits});
        completed("basic", keys, &Physics::default(), &cluster)
    };
    let found = given(48).findings(&cluster);
    let [finding] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (finding.parameter, &finding.value[..]),
        ("vc_buffer", "48 flits")
    );
    assert!(
        finding.effect.contains("at most 0.30 of the rate"),
        "{finding:?}"
    );
    assert!(finding.effect.contains("after 162 cycles"), "{finding:?}");
    assert_eq!(finding.remedy, "remove it, or raise it to 162");
    assert_eq!(given(161).findings(&cluster).len(), 1);
    assert_eq!(given(162).findings(&cluster), []);

    let bytes = 1_000_000;
    let took = finishes(&given(48), &cluster, lone(0, 63, bytes))[0];
    let share = by_hand(&given(48), 40, bytes).0 as f64 / took.0 as f64;
    assert!(share > 0.5 && share <= 2.0 * 48.0 / 162.0 + 0.01, "{share}");
}

/// Longer wires, slower switches and headers make no flows faster, up to half of the load at
/// which the basic router is full; beyond, its deeper buffers hold packets apart.
#[test]
fn realistic_is_not_faster_than_ideal() {
    for gbps in [40u64, 100] {
        for load in [0.05, 0.3] {
            let cluster = nodes(64, gbps);
            // Packets of 33 flits at 10 Gb/s, in cycles of 6.4 ns: shorter by the rate.
            let mut flows = super::traffic::packets(Pattern::Uniform, 64, load, (256, 33), 400);
            for f in 0..flows.len() {
                flows.arrival[f] = Time(flows.arrival[f].0 * 10 / gbps as i64 * 20);
                flows.bytes[f] = 256 * 20;
            }
            let of = |physics: &Physics| {
                let config = completed("basic", json!({}), physics, &cluster);
                let ends = finishes(&config, &cluster, flows.clone());
                let mut took: Vec<i64> = (0..flows.len())
                    .map(|f| (ends[f] - flows.arrival[f]).0)
                    .collect();
                took.sort_unstable();
                (
                    took.iter().sum::<i64>(),
                    took[took.len() / 2],
                    took[took.len() * 99 / 100],
                )
            };
            let (ideal, real) = (of(&Physics::default()), of(&realistic()));
            assert!(
                real.0 >= ideal.0 && real.1 >= ideal.1 && real.2 >= ideal.2,
                "{gbps} Gb/s, load {load}: {ideal:?}, {real:?}"
            );
        }
    }
}
