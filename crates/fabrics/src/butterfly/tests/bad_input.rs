//! Configurations that are refused, and the messages.

use super::*;
use lightloom_engine::{Command, Element};

fn refusal(hosts: u32, table: Value) -> String {
    (ENTRY.resolve)(&table, &cluster(hosts))
        .unwrap_err()
        .to_string()
}

#[test]
fn refuses_shapes_that_do_not_fit() {
    for (hosts, table, message) in [
        (
            60,
            json!({"routers": [4, 4], "concentration": 4}),
            "fabric.routers = [4, 4]: 16 routers of 4 hosts connect 64, not the cluster's 60; use \
             routers = [5, 3] with concentration = 4, or other hosts",
        ),
        (
            60,
            json!({"routers": [4, 4]}),
            "fabric.routers = [4, 4]: 16 routers do not divide the cluster's 60 hosts; use \
             routers = [5, 3] with concentration = 4, or other hosts",
        ),
        (
            64,
            json!({"concentration": 3}),
            "fabric.concentration = 3: does not divide the cluster's 64 hosts; use routers = \
             [4, 4] with concentration = 4, or other hosts",
        ),
        (
            64,
            json!({"routers": []}),
            "fabric.routers = []: must have from 1 to 14 dimensions; use routers = [4, 4] \
             with concentration = 4",
        ),
        (
            60,
            json!({"routers": [4, 0]}),
            "fabric.routers = [4, 0]: must be from 1 to 64 routers along each dimension; use \
             routers = [5, 3] with concentration = 4",
        ),
        (
            64,
            json!({"routers": [64, 64, 64]}),
            "fabric.routers = [64, 64, 64]: must be at most 16384 routers in total; use routers \
             = [4, 4] with concentration = 4",
        ),
        (
            6,
            json!({"concentration": 0}),
            "fabric.concentration = 0: must be from 1 to 64; use routers = [2] with \
             concentration = 3",
        ),
        (
            16_384,
            json!({"concentration": 5}),
            "fabric.concentration = 5: does not divide the cluster's 16384 hosts; use routers = \
             [16, 16, 8] with concentration = 8, or other hosts",
        ),
        (
            101,
            json!({}),
            "fabric.routers = [101]: makes routers of 101 ports; 64 are modelled; use a number of \
             hosts with small factors",
        ),
        (
            16_384,
            json!({}),
            "fabric.routers = [64, 64]: makes routers of 130 ports; 64 are modelled; use routers \
             = [16, 16, 8] with concentration = 8",
        ),
    ] {
        let e = refusal(hosts, table);
        assert!(e.starts_with(message) || e == message, "{e}");
    }
}

/// The fewest ports of a router in any shape: a dimension, or a concentration, for each
/// prime factor.
fn fewest_ports(mut hosts: u32) -> u32 {
    let (mut ports, mut p) = (1, 2);
    while hosts > 1 {
        match hosts.is_multiple_of(p) {
            true => (hosts, ports) = (hosts / p, ports + p - 1),
            false => p += 1,
        }
    }
    ports
}

/// The remedy of each refusal is accepted; a refusal has no remedy only if no shape fits.
#[test]
fn the_shapes_that_are_told_fit() {
    for hosts in (2..400).chain([1_000, 4_096, 5_000, 16_384]) {
        let e = refusal(hosts, json!({"routers": []}));
        let Some((_, shape)) = e.split_once("use routers = ") else {
            assert!(e.ends_with("use a number of hosts with small factors"));
            assert!(fewest_ports(hosts) > 64, "{hosts}");
            continue;
        };
        let (routers, c) = shape
            .split_once(" with concentration = ")
            .expect("a shape is both");
        let routers: Value = serde_json::from_str(routers).expect("a list");
        let c: u32 = c.parse().expect("a number");
        let table = json!({"routers": routers, "concentration": c});
        let fits = (ENTRY.resolve)(&table, &cluster(hosts));
        assert!(fits.is_ok(), "{hosts}: {e}");
    }
}

#[test]
fn refuses_routers_and_packets_by_name() {
    for (table, message) in [
        (
            json!({"vcs": 1, "routing": "valiant"}),
            "fabric.vcs = 1: is too few: each phase of the routing needs its own virtual \
             channels; use 2 or more, or fabric.routing = \"dimension-order\"",
        ),
        (
            json!({"vcs": 0}),
            "fabric.vcs = 0: must be from 1 to 64; use 2",
        ),
        (
            json!({"vc_buffer": 0}),
            "fabric.vc_buffer = 0: must be from 1 to 65535; remove it; the default covers the round trip",
        ),
        (
            json!({"flow_control": "virtual-cut-through", "vc_buffer": 32}),
            "fabric.vc_buffer = 32: holds no packet: a packet has 33 flits; deepen it, or use \
             fabric.flow_control = \"wormhole\"",
        ),
        (
            json!({"packet": "4 B"}),
            "fabric.packet = 4 B: is shorter than its header of 5 B; lengthen it, or shorten \
             fabric.header",
        ),
        (
            json!({"packet": "7 B"}),
            "fabric.packet = 7 B: is shorter than a flit of 8 B; lengthen it, or shorten \
             fabric.flit",
        ),
        (
            json!({"packet": "65535 B", "header": "65535 B", "flit": "1 B"}),
            "fabric.packet = 65.535 KB: makes more than 65535 flits; lengthen fabric.flit",
        ),
        (
            json!({"spacing": "-5 m"}),
            "fabric.spacing = \"-5 m\": `-5 m` is negative",
        ),
        (
            json!({"host_wire": "1001 km"}),
            "fabric.host_wire = 1001 km: must be from 0 mm to 1000 km; use 1.75 m",
        ),
        (
            json!({"rate": "1000 Tb/s", "router_latency": "1 ms"}),
            "fabric.flit = 8 B: a cycle, of 1 ps, is too short for latencies and wires; lengthen \
             it, or lower fabric.rate",
        ),
        (
            json!({"speedup": 5}),
            "fabric.speedup = 5: must be from 1 to 4; use 1",
        ),
        (
            json!({"output_buffer": 64}),
            "fabric.output_buffer = 64: has no effect with fabric.speedup = 1; remove it, or \
             raise that",
        ),
        (
            json!({"speedup": 2, "output_buffer": 4097}),
            "fabric.output_buffer = 4097: must be from 1 to 4096; use 512",
        ),
        (json!({"ports": 10}), "fabric.ports = 10: no such key"),
        (
            json!({"ugal_bias": "8 B", "routing": "valiant"}),
            "fabric.ugal_bias = 8 B: has no effect without fabric.routing = \"ugal\"; remove it, \
             or set that",
        ),
    ] {
        let e = refusal(64, table);
        assert!(e.starts_with(message), "{e}");
    }
}

#[test]
fn only_single_nodes_and_no_faster_than_their_links() {
    let racks = Cluster {
        servers_per_rack: 24,
        ..cluster(128)
    };
    let e = (ENTRY.resolve)(&json!({}), &racks).unwrap_err().to_string();
    let expected = "cluster.servers_per_rack = 24: the flattened butterfly connects single nodes";
    assert!(e.starts_with(expected), "{e}");
    let capped = Cluster {
        nic: Nic::Capped(Rate(Rate::GBPS.0)),
        ..cluster(64)
    };
    let e = (ENTRY.resolve)(&json!({"rate": "10 Gb/s"}), &capped).unwrap_err();
    let said = "fabric.rate = 10 Gb/s: is faster than the server's link of 1 Gb/s (cluster.nic); \
                lower it, or set cluster.nic = \"10 Gb/s\" or \"uncapped\"";
    assert_eq!(e.to_string(), said);
    let table = (ENTRY.resolve)(&json!({}), &capped).expect("good");
    assert_eq!(table["rate"], "1 Gb/s");
}

#[test]
fn shapes_follow_from_the_hosts() {
    for (hosts, table, routers, concentration) in [
        (64, json!({}), json!([4, 4]), 4),
        (16, json!({}), json!([2, 2]), 4),
        (1024, json!({}), json!([16, 16]), 4),
        (2, json!({}), json!([1]), 2),
        (7, json!({}), json!([7]), 1),
        (64, json!({"routers": [8]}), json!([8]), 8),
        (64, json!({"concentration": 2}), json!([8, 4]), 2),
        (24, json!({"routers": [2, 3, 2]}), json!([2, 3, 2]), 2),
    ] {
        let resolved = (ENTRY.resolve)(&table, &cluster(hosts)).expect("good");
        assert_eq!(resolved["routers"], routers, "{hosts} {table}");
        assert_eq!(resolved["concentration"], concentration, "{hosts} {table}");
    }
}

#[test]
fn every_preset_runs() {
    for preset in ENTRY.presets {
        let table: Value = serde_json::from_str(preset.table).expect("a table");
        for hosts in [16, 64, 1024] {
            let mut flows = Flows::new();
            let (from, to) = (lightloom_engine::HostId(0), lightloom_engine::HostId(13));
            flows.push(from, to, 1_000, Time::ZERO);
            let (io, _) = simulate(hosts, &table, flows, Time::MS);
            assert_eq!(io.ledger.flows_completed, 1, "{}", preset.name);
        }
    }
}

#[test]
fn faults_are_rejected() {
    let mut fabric = network(16, &json!({}), &Flows::new());
    let e = fabric.apply(Command::Repair(Element::Node(0))).unwrap_err();
    assert!(e.to_string().contains("does not model failures"), "{e}");
}
