//! Freedom from deadlock: with the smallest buffers, overload, every pattern and every routing, all
//! traffic is delivered in the end.

use super::traffic::{packets, Pattern};
use super::*;

const PATTERNS: [Pattern; 6] = [
    Pattern::Uniform,
    Pattern::HotSpot(5),
    Pattern::NextRouter {
        concentration: 4,
        size: 4,
    },
    Pattern::Complement,
    Pattern::Tornado,
    Pattern::Transpose,
];

fn drains(hosts: u32, table: &Value, pattern: Pattern, cycles: i64) {
    let flows = packets(pattern, hosts, 1.5, (64, 8), cycles);
    let offered = flows.total_bytes();
    let mut fabric = network(hosts, table, &flows);
    let mut io = Io::new(flows);
    let mut before = u64::MAX;
    while !(fabric.idle() && io.exhausted()) {
        let now = fabric.kernel().at(fabric.kernel().from) + CYCLE * 2_000;
        fabric.advance(now, &mut io);
        let delivered = io.ledger.delivered;
        assert_ne!(delivered, before, "{table} stands still: {pattern:?}");
        before = delivered;
    }
    assert_eq!(io.ledger.delivered, offered);
    fabric.kernel().check_credits().expect("credits are kept");
}

/// Bytes that Valiant has not delivered after 10 ms, of those that hosts send in 29 us [B]; with
/// separate virtual channels for each phase, or all shared by both.
fn left(pattern: Pattern, shared: bool) -> u64 {
    let table = bare("valiant", json!({"vcs": 2, "vc_buffer": 1}));
    let flows = packets(pattern, 64, 1.5, (64, 8), 3_000);
    let mut kernel = kernel(64, &table, &flows);
    if shared {
        kernel.classes = [kernel.classes[0]; 3];
    }
    let mut fabric = EventDriven::new(kernel);
    let offered = flows.total_bytes();
    let mut io = Io::new(flows);
    fabric.advance(Time::MS * 10, &mut io);
    offered - io.ledger.delivered
}

/// The control experiment: the same traffic and buffers, but both phases may use all virtual
/// channels. Cycles of packets wait for each other, and the network deadlocks.
#[test]
fn stands_still_without_classes() {
    for pattern in [PATTERNS[2], Pattern::Tornado] {
        assert_eq!(left(pattern, false), 0, "{pattern:?}");
        assert_ne!(left(pattern, true), 0, "{pattern:?} moves");
    }
}

#[test]
fn always_drains_with_single_flit_buffers() {
    for routing in ["dimension-order", "valiant", "ugal"] {
        for vcs in [1, 2, 3] {
            if vcs == 1 && routing != "dimension-order" {
                continue;
            }
            let table = bare(routing, json!({"vcs": vcs, "vc_buffer": 1}));
            for pattern in PATTERNS {
                drains(64, &table, pattern, 300);
            }
        }
    }
}

#[test]
fn always_drains_in_other_shapes() {
    for (hosts, keys) in [
        (36, json!({"routers": [6], "concentration": 6})),
        (64, json!({"routers": [2, 2, 2, 2], "concentration": 4})),
        (
            36,
            json!({"routers": [3, 3], "concentration": 4, "spacing": "5 m"}),
        ),
        (
            36,
            json!({"routers": [3, 2, 3], "concentration": 2, "router_latency": "100 ns"}),
        ),
        (4, json!({"routers": [1], "concentration": 4})),
    ] {
        for routing in ["valiant", "ugal"] {
            for keys in [
                keys.clone(),
                with(
                    keys.clone(),
                    json!({"input_speedup": 3, "allocator_iterations": 2}),
                ),
                with(keys.clone(), json!({"speedup": 2, "output_buffer": 1})),
                with(
                    keys.clone(),
                    json!({"flow_control": "virtual-cut-through", "vc_buffer": 8}),
                ),
            ] {
                let small = bare(routing, json!({"vcs": 2, "vc_buffer": 2}));
                let table = with(small, keys);
                for pattern in [Pattern::Uniform, Pattern::Complement, Pattern::Tornado] {
                    drains(hosts, &table, pattern, 200);
                }
            }
        }
    }
}

/// Both routers of LIONS' network, with packets that are longer than a buffer.
#[test]
fn always_drains_with_presets() {
    for name in ["basic", "aggressive"] {
        for routing in ["dimension-order", "valiant", "ugal"] {
            let table = preset(name, json!({"routing": routing}));
            for pattern in PATTERNS {
                drains(64, &table, pattern, 500);
            }
        }
    }
}
