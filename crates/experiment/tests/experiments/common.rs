//! Shared parts of the tests on every fabric.

use lightloom_engine::{Cluster, Nic, Rate};
use lightloom_fabrics::find;
use serde_json::json;

/// Whether a fabric connects single nodes instead of racks of servers, by its own statement.
pub fn connects_single_nodes(kind: &str) -> bool {
    let racks = Cluster {
        racks: 8,
        servers_per_rack: 4,
        server_rate: Rate(100 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    };
    let resolve = find(kind).expect("a registered fabric").resolve;
    resolve(&json!({}), &racks).is_err_and(|refusal| refusal.key == "cluster.servers_per_rack")
}
