//! Tests the bias of UGAL towards the minimal path.

use super::traffic::{packets, Pattern};
use super::*;
use crate::butterfly::packets::{Packet, Way};
use lightloom_engine::FlowId;

/// From router 0 to 1 by one wire with 10 flits in its queue, or by 2 and two wires
/// with 3 flits: 10 · 1 > 3 · 2 + bias, in flits of 8 B.
#[test]
fn a_detour_has_to_be_better_by_more_than_the_bias() {
    for (bias, direct, around, detours) in [
        ("0 B", 10, 3, true),
        ("24 B", 10, 3, true),
        ("31 B", 10, 3, true),
        ("32 B", 10, 3, false),
        ("80 B", 17, 3, true),
        ("88 B", 17, 3, false),
        ("0 B", 6, 3, false),
        ("0 B", 7, 3, true),
    ] {
        let table = bare("ugal", json!({"ugal_bias": bias}));
        let mut network = kernel(64, &table, &Flows::new());
        let (near, far) = (
            network.topology.towards(0, 1),
            network.topology.towards(0, 2),
        );
        network.queue[near.expect("a wire")] = direct;
        network.queue[far.expect("a wire")] = around;
        let packet = Packet {
            flow: FlowId(0),
            bytes: 64,
            flits: 8,
            router: 1,
            terminal: 0,
            way: Way::Undecided,
            hops: 0,
            middle: 2,
        };
        let found = network.is_detour_better(0, &packet);
        assert_eq!(found, detours, "{bias}: {direct} {around}");
    }
}

/// Four hosts send over a wire that can carry one: the larger the bias, the fewer packets take
/// detours; none does if the bias exceeds the capacity of queues.
#[test]
fn bias_keeps_packets_on_the_shortest_way() {
    let next = Pattern::NextRouter {
        concentration: 4,
        size: 4,
    };
    let around = |bias: &str| {
        let table = bare("ugal", json!({"ugal_bias": bias}));
        let flows = packets(next, 64, 0.3, (64, 8), 4_000);
        let (io, _) = simulate(64, &table, flows, Time::MS);
        let long = io.flows.hops.iter().filter(|&&hops| hops > 2.0).count();
        long as f64 / io.flows.len() as f64
    };
    let shares = ["0 B", "64 B", "256 B", "1 GB"].map(around);
    assert!(
        shares.windows(2).all(|pair| pair[0] > pair[1]),
        "{shares:?}"
    );
    // At least the sixth of the traffic that the wire cannot carry takes a detour.
    assert!(shares[0] > (0.3 - 0.25) / 0.3, "{shares:?}");
    assert_eq!(shares[3], 0.0);
}

/// No flit waits once the 8 flits of a packet have left, but its credits are used until they
/// return: over a wire of 40 m this takes 200 ns in each direction, so the router of the next
/// packet takes them into account. Afterwards no credit is used.
#[test]
fn what_has_left_counts_until_its_credits_are_back() {
    let keys = json!({"routers": [3], "concentration": 1, "spacing": "40 m"});
    let mut flows = Flows::new();
    let from = lightloom_engine::HostId(0);
    flows.push(from, lightloom_engine::HostId(1), 64, Time::ZERO);
    let mut fabric = network(3, &bare("dimension-order", keys), &flows);
    let mut io = Io::new(flows);
    let port = fabric.kernel().topology.towards(0, 1).expect("a wire");
    let mut at = |ns: i64| {
        fabric.advance(Time::NS * ns, &mut io);
        let network = fabric.kernel();
        (network.held[0], network.queue[port])
    };
    // Two cycles to the router, eight to leave it: 64 ns. Back 400 ns later.
    assert_eq!(at(200), (0, 8));
    assert_eq!(at(390), (0, 8));
    assert_eq!(at(600), (0, 0));
}
