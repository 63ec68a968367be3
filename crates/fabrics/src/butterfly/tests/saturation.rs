//! Throughput, in flits per cycle and host, against bounds of channels.

use super::traffic::{packets, Pattern};
use super::*;

const CYCLES: i64 = 12_000;

/// Payload that all hosts together receive per cycle, in flits, at an offered load of `offered`
/// flits per cycle and host; the first third is warm-up.
fn carried(hosts: u32, table: &Value, pattern: Pattern, offered: f64) -> f64 {
    let flows = packets(pattern, hosts, offered, (64, 8), CYCLES);
    let (io, _) = simulate(hosts, table, flows, CYCLE * CYCLES);
    let from = CYCLE * (CYCLES / 3);
    let counted = |t: &&Time| **t > from && **t != Time::NEVER;
    let packets = io.flows.finish.iter().filter(counted).count();
    8.0 * packets as f64 / (CYCLES * 2 / 3) as f64
}

const NEXT: Pattern = Pattern::NextRouter {
    concentration: 4,
    size: 4,
};

/// Only one receiver's link is used: a quarter of LIONS' throughput with k = 4.
#[test]
fn a_hot_spot_is_one_receiver() {
    for routing in ["dimension-order", "valiant", "ugal"] {
        let got = carried(64, &bare(routing, json!({})), Pattern::HotSpot(9), 0.5);
        // One packet of each virtual channel may have arrived partly before the measurement.
        let most = 1.0 + 4.0 * 8.0 / (CYCLES * 2 / 3) as f64;
        assert!((0.985..=most).contains(&got), "{routing}: {got}");
    }
    // With the presets' header and padding, 256 of 264 B are payload.
    for name in ["basic", "aggressive"] {
        let mut flows = packets(Pattern::HotSpot(9), 64, 0.2, (256, 33), CYCLES);
        flows.dst.fill(lightloom_engine::HostId(9));
        let until = CYCLE * CYCLES;
        let (io, _) = simulate(64, &preset(name, json!({})), flows, until);
        let most = 256.0 / 264.0;
        let all = io.ledger.delivered as f64 * 8.0 / until.as_secs_f64() / 10e9;
        assert!(all <= most, "{name}: {all}");
        // Packets that are incomplete at the end are offset by those that were incomplete at the
        // beginning of the measurement.
        let late = |t: &&Time| **t > CYCLE * (CYCLES / 3) && **t != Time::NEVER;
        let packets = io.flows.finish.iter().filter(late).count();
        let rate = packets as f64 * 32.0 / (CYCLES * 2 / 3) as f64;
        assert!(rate >= 0.98 * most, "{name}: {rate}");
    }
}

/// Keys of a router that does not limit throughput.
fn strong() -> Value {
    json!({"vcs": 8, "vc_buffer": 32, "input_speedup": 4, "allocator_iterations": 3})
}

/// Four hosts share one wire, so a quarter of their capacity fits on the shortest path. Over a
/// random router each packet takes 2 × 1.5 wires of 3 × 2 for 4 hosts: at most half. UGAL accepts
/// the offered load nearly up to Valiant's limit; beyond that, where all queues are full, it takes
/// the shortest path more often.
#[test]
fn adversarial_traffic() {
    let of = |routing, offered, keys| carried(64, &bare(routing, keys), NEXT, offered) / 64.0;
    for (keys, offered) in [(json!({}), 0.3), (strong(), 0.4)] {
        let dor = of("dimension-order", 0.8, keys.clone());
        assert!((0.24..=0.2505).contains(&dor), "dimension order: {dor}");
        for routing in ["valiant", "ugal"] {
            let got = of(routing, offered, keys.clone());
            assert!((got / offered - 1.0).abs() < 0.01, "{routing}: {got}");
            let got = of(routing, 0.8, keys.clone());
            assert!(got > 1.1 * dor && got < 0.5, "{routing}: {got}");
        }
    }
    let valiant = of("valiant", 0.8, strong());
    assert!((0.42..0.5).contains(&valiant), "Valiant: {valiant}");
}

/// A router whose ports have four inputs of the crossbar each.
fn wide_crossbar() -> Value {
    json!({
        "vcs": 8, "vc_buffer": 64, "router_latency": "19.2 ns", "input_speedup": 4,
        "allocator_iterations": 3, "flow_control": "virtual-cut-through",
    })
}

/// Accepted share of the senders' capacity, for packets of 256 B, in the second half of the run.
fn of_senders(routing: &str, pattern: Pattern, senders: f64, offered: f64) -> f64 {
    let cycles = 24_000;
    let table = with(wide_crossbar(), json!({"routing": routing}));
    let flows = packets(pattern, 64, offered, (256, 33), cycles);
    let (io, _) = simulate(64, &table, flows, CYCLE * cycles);
    let late = |t: &&Time| **t > CYCLE * (cycles / 2) && **t != Time::NEVER;
    let packets = io.flows.finish.iter().filter(late).count();
    33.0 * packets as f64 / (cycles / 2) as f64 / senders
}

/// Valiant turns any pattern into two random ones: all permutations have equal accepted load, also
/// beyond saturation. 8 of the transpose's 64 hosts do not send, so half of its routers have three
/// senders.
#[test]
fn valiant_carries_as_much_of_any_permutation() {
    let of = |pattern, senders| of_senders("valiant", pattern, senders, 0.7);
    let all = [Pattern::Complement, Pattern::Tornado].map(|pattern| of(pattern, 64.0));
    assert!((all[0] / all[1] - 1.0).abs() < 0.05, "{all:?}");
    let some = of(Pattern::Transpose, 56.0);
    for carried in [all[0], all[1], some] {
        assert!((0.4..0.5).contains(&carried), "{all:?} {some}");
    }
}

/// UGAL at overload: it keeps its detours when all queues are full, and uniform traffic loses no
/// throughput by them.
#[test]
fn ugal_beyond_saturation() {
    let of = |routing, pattern| of_senders(routing, pattern, 64.0, 0.7);
    let (direct, ugal) = (
        of("dimension-order", Pattern::Complement),
        of("ugal", Pattern::Complement),
    );
    assert!(
        direct <= 0.2505 && ugal > 1.25 * direct,
        "{ugal} of {direct}"
    );
    let uniform = |routing| of_senders(routing, Pattern::Uniform, 64.0, 1.0);
    let (direct, ugal) = (uniform("dimension-order"), uniform("ugal"));
    assert!(ugal > 0.97 * direct, "{ugal} of {direct}");
}

/// The same bound in another shape: 3 hosts to a wire.
#[test]
fn adversarial_traffic_elsewhere() {
    let keys = json!({"routers": [5, 2], "concentration": 3});
    let next = Pattern::NextRouter {
        concentration: 3,
        size: 5,
    };
    let got = carried(30, &bare("dimension-order", keys), next, 0.8) / 30.0;
    assert!((0.32..=0.334).contains(&got), "{got}");
}

/// Uniform: each of a router's 3 wires in a dimension carries a third of the traffic of its 4 hosts
/// to 48 of 63 others, so hosts send at most 0.984; half of that over random routers (0.5, because
/// the intermediate router may be any).
#[test]
fn uniform_traffic_is_below_the_bound_of_wires() {
    let (wires, random) = (3.0 / 4.0 * 63.0 / 48.0, 0.5);
    let of = |routing, keys| carried(64, &bare(routing, keys), Pattern::Uniform, 1.2) / 64.0;
    let plain = of("dimension-order", json!({"vcs": 1}));
    let more = of("dimension-order", json!({}));
    let most = of("dimension-order", strong());
    // With one virtual channel, head-of-line blocking limits throughput (Karol: 0.586 with
    // single-flit packets); more virtual channels reduce it.
    assert!(plain < more && more < most, "{plain} {more} {most}");
    assert!(plain > 0.4 && plain < 0.7, "{plain}");
    assert!(most > 0.9 * wires && most <= 1.01 * wires, "{most}");
    let valiant = of("valiant", strong());
    assert!(
        valiant > 0.85 * random && valiant <= 1.01 * random,
        "{valiant}"
    );
    let ugal = of("ugal", strong());
    assert!(ugal > 1.5 * valiant, "{ugal} {valiant}");
}

/// Below saturation all offered traffic is carried.
#[test]
fn everything_is_carried_below_saturation() {
    for routing in ["dimension-order", "valiant", "ugal"] {
        let got = carried(64, &bare(routing, json!({})), Pattern::Uniform, 0.3) / 64.0;
        assert!((got - 0.3).abs() < 0.01, "{routing}: {got}");
    }
}
