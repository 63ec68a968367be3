//! Oracles and invariants of the Clos.

mod bad_input;
mod closed_forms;
mod detail;
mod failures;
mod fairness;
mod invariants;
mod speed;

use super::config::ClosConfig;
use super::ENTRY;
use crate::contract::Site;
use lightloom_engine::run::{run, Outcome, Plan, Silent, Stop};
use lightloom_engine::{Cluster, Fabric, Flows, HostId, Io, Nic, Rate, Stream, Time};
use serde_json::Value;

/// `racks` × `servers` with 10 Gb/s per server, uncapped.
fn cluster(racks: u32, servers: u32) -> Cluster {
    Cluster {
        racks,
        servers_per_rack: servers,
        server_rate: Rate(10 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    }
}

fn capped(cluster: Cluster, gbps: u64) -> Cluster {
    Cluster {
        nic: Nic::Capped(Rate(gbps * Rate::GBPS.0)),
        ..cluster
    }
}

fn flows(rows: &[(u32, u32, u64, Time)]) -> Flows {
    let mut flows = Flows::new();
    for &(src, dst, bytes, at) in rows {
        flows.push(HostId(src), HostId(dst), bytes, at);
    }
    flows.sort_by_arrival();
    flows
}

fn fabric(cluster: &Cluster, table: &Value, flows: &Flows) -> Box<dyn Fabric> {
    let site = Site {
        cluster,
        flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let table = (ENTRY.resolve)(table, cluster).expect("a good configuration");
    (ENTRY.build)(&table, &site).expect("a fabric")
}

fn resolved(cluster: &Cluster, table: &Value) -> ClosConfig {
    let table = (ENTRY.resolve)(table, cluster).expect("a good configuration");
    lightloom_engine::config::read(&table, "fabric").expect("reads back")
}

/// Runs to `stop` and returns the flows.
fn simulate(cluster: &Cluster, table: &Value, flows: Flows, stop: Stop) -> (Io, Outcome) {
    let mut fabric = fabric(cluster, table, &flows);
    let mut io = Io::new(flows);
    let plan = Plan {
        stop,
        limit: Time::S * 10,
        sample: None,
        faults: vec![],
    };
    let outcome = run(&mut *fabric, &mut io, &plan, &mut Silent).expect("no faults");
    (io, outcome)
}

/// A server other than `src`, uniformly.
fn other(rng: &mut Stream, hosts: u32, src: u32) -> u32 {
    (src + 1 + rng.below(hosts - 1)) % hosts
}
