//! Oracles of the flattened butterfly: times by hand, bounds of channels, credits, and freedom from
//! deadlock.

mod bad_input;
mod bias;
mod bit_by_bit;
mod buffers;
mod by_hand;
mod credits;
mod deadlock;
mod hops;
mod output_queued;
mod reference;
mod saturation;
mod traffic;
mod turns;

use super::bound::Bound;
use super::config::ButterflyConfig;
use super::network::Network;
use super::ENTRY;
use crate::contract::Site;
use lightloom_engine::kernel::event::EventDriven;
use lightloom_engine::{config, Cluster, Fabric, Flows, Io, Nic, Rate, Reports, Time};
use serde_json::{json, Value};

/// A cycle of 8 B at 10 Gb/s.
const CYCLE: Time = Time(6_400);

/// Single nodes of 10 Gb/s.
fn cluster(hosts: u32) -> Cluster {
    Cluster {
        racks: hosts,
        servers_per_rack: 1,
        server_rate: Rate(10 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    }
}

/// `table` with other keys.
fn with(mut table: Value, keys: Value) -> Value {
    for (key, value) in keys.as_object().expect("a table") {
        table[key] = value.clone();
    }
    table
}

/// The table of a preset, with other keys.
fn preset(name: &str, keys: Value) -> Value {
    let preset = ENTRY.presets.iter().find(|p| p.name == name);
    let table = serde_json::from_str(preset.expect("a preset").table);
    with(table.expect("a table"), keys)
}

/// Packets that are whole numbers of flits, on wires without length.
fn bare(routing: &str, keys: Value) -> Value {
    let table = json!({
        "routing": routing, "packet": "64 B", "header": "0 B", "host_wire": "0 m",
        "spacing": "0 m", "router_latency": "6.4 ns", "credit_latency": "6.4 ns",
        "vcs": 4, "vc_buffer": 16,
    });
    with(table, keys)
}

fn network(hosts: u32, table: &Value, flows: &Flows) -> EventDriven<Network> {
    EventDriven::new(kernel(hosts, table, flows))
}

fn kernel(hosts: u32, table: &Value, flows: &Flows) -> Network {
    let cluster = cluster(hosts);
    let site = Site {
        cluster: &cluster,
        flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let table = (ENTRY.resolve)(table, &cluster).unwrap_or_else(|e| panic!("{e}"));
    let config: ButterflyConfig = config::read(&table, "fabric").expect("reads back");
    let bound = Bound::new(&config, &cluster);
    Network::new(&config, bound, &site)
}

/// Runs until a time, or until everything is delivered.
fn simulate(hosts: u32, table: &Value, flows: Flows, until: Time) -> (Io, EventDriven<Network>) {
    let mut fabric = network(hosts, table, &flows);
    let mut io = Io::new(flows);
    fabric.advance(until, &mut io);
    fabric.settle(&mut io);
    (io, fabric)
}
