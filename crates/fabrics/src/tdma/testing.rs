//! Shared parts of the tests of fabrics that follow schedules.

use crate::contract::{Entry, Site};
use lightloom_engine::{Cluster, Fabric, Flows, HostId, Io, Nic, Rate, Time};
use serde_json::Value;

/// A cluster of `racks` racks with one server each.
pub fn cluster(racks: u32, server_rate: Rate) -> Cluster {
    Cluster {
        racks,
        servers_per_rack: 1,
        server_rate,
        nic: Nic::Uncapped,
    }
}

/// (source, destination, bytes, arrival).
pub type Row = (u32, u32, u64, Time);

/// The flows of rows.
pub fn flows(rows: &[Row]) -> Flows {
    let mut flows = Flows::new();
    for &(src, dst, bytes, at) in rows {
        flows.push(HostId(src), HostId(dst), bytes, at);
    }
    flows
}

/// A fabric that is built from a table, and its context.
pub fn built(
    entry: &Entry,
    cluster: &Cluster,
    table: &Value,
    flows: Flows,
) -> (Box<dyn Fabric>, Io) {
    let table = (entry.resolve)(table, cluster).expect("a good table");
    let fabric = (entry.build)(&table, &Site::plain(cluster, &flows));
    let fabric = fabric.expect("a table that was resolved");
    (fabric, Io::new(flows))
}
