//! Oracles of c-Through: closed forms on its timeline.

mod bad_input;
mod failures;
mod scale;
mod sharing;
mod timeline;

use super::config::CThroughConfig;
use super::ENTRY;
use crate::hybrid::kernel::Hybrid;
use lightloom_engine::kernel::flow::FlowDriven;
use lightloom_engine::{
    config, Circuit, Cluster, Command, Fabric, Flows, HostId, Io, Nic, Rate, Reports, Time,
};
use serde_json::{json, Value};

/// The testbed of §5.1.
const TESTBED: Cluster = Cluster {
    racks: 4,
    servers_per_rack: 4,
    server_rate: Rate::GBPS,
    nic: Nic::Capped(Rate::GBPS),
};

/// Bytes that 1 Gb/s carries in a millisecond [B].
const GBPS_MS: u64 = 125_000;

/// (source, destination, bytes, arrival).
type Row = (u32, u32, u64, Time);

/// A fabric and its flows, at some time.
struct Bench {
    fabric: FlowDriven<Hybrid>,
    io: Io,
    now: Time,
}

impl Bench {
    /// Packets are not stored and forwarded, because the closed forms contain only rates.
    fn new(cluster: &Cluster, mut table: Value, rows: &[Row]) -> Bench {
        table["forwarding"] = json!("cut-through");
        let mut flows = Flows::new();
        for &(src, dst, bytes, at) in rows {
            flows.push(HostId(src), HostId(dst), bytes, at);
        }
        let table = (ENTRY.resolve)(&table, cluster).expect("a good table");
        let config: CThroughConfig = config::read(&table, "fabric").expect("reads back");
        Bench {
            fabric: FlowDriven::new(Hybrid::new(config.setup(cluster), flows.len())),
            io: Io::new(flows),
            now: Time::ZERO,
        }
    }

    /// Processes all events strictly before `ms`.
    fn until(&mut self, ms: i64) -> &mut Bench {
        self.now = Time::MS * ms;
        self.fabric.advance(self.now, &mut self.io);
        self
    }

    fn command(&mut self, command: Command) {
        self.fabric.apply(command).expect("the fabric has the part");
    }

    /// Bytes that have left for each flow's destination.
    fn delivered(&self) -> Vec<u64> {
        self.io.flows.delivered.clone()
    }

    fn finish_ms(&self, flow: usize) -> f64 {
        self.io.flows.finish[flow].as_secs_f64() * 1e3
    }

    /// Circuits as (racks, from, until) in ms.
    fn circuits(&self) -> Vec<(u32, u32, i64, i64)> {
        let ms = |t: Time| t.0 / Time::MS.0;
        let row = |c: &Circuit| (c.a, c.b, ms(c.from), ms(c.until));
        self.fabric.circuits(self.now).iter().map(row).collect()
    }
}

/// A table for closed forms: ideal transport; racks without demand keep their circuits.
fn ideal(more: Value) -> Value {
    let mut table = json!({"ramp": "0 s", "dip": "0 s", "unrequested": "keep"});
    let more = more.as_object().expect("a table").clone();
    table.as_object_mut().expect("a table").extend(more);
    table
}
