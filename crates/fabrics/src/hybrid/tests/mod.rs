//! Oracles of the kind `hybrid`: closed forms with any policy, with and without a tree.

mod alone;
mod decisions;
mod failures;
mod initial;
mod schedules;
mod scripts;
mod spreading;
mod stored;

use super::ENTRY;
use crate::contract::Site;
use lightloom_control::policies::library::{Empty, Library};
use lightloom_engine::{
    Circuit, Cluster, Command, Element, Fabric, Flows, HostId, Io, Nic, Rate, Time,
};
use serde_json::{json, Value};

/// Four racks of two servers; a server's link carries 1 B/ns.
const FOUR: Cluster = Cluster {
    racks: 4,
    servers_per_rack: 2,
    server_rate: Rate(8 * Rate::GBPS.0),
    nic: Nic::Capped(Rate(8 * Rate::GBPS.0)),
};

/// Bytes that 8 Gb/s carry in a millisecond [B].
const MS: u64 = 1_000_000;

/// More bytes than any test carries [B].
const LONG: u64 = 1 << 40;

/// (source, destination, bytes, arrival).
type Row = (u32, u32, u64, Time);

/// A fabric and its flows, at some time.
struct Bench {
    fabric: Box<dyn Fabric>,
    io: Io,
    now: Time,
}

impl Bench {
    fn new(table: Value, rows: &[Row]) -> Bench {
        Bench::with(&Empty, table, rows)
    }

    /// A fabric on [`FOUR`] with the policies of `library`.
    fn with(library: &dyn Library, table: Value, rows: &[Row]) -> Bench {
        Bench::on(&FOUR, library, table, rows)
    }

    /// A fabric on `cluster`. All circuits are dark at the start, unless the table lists lit ones.
    fn on(cluster: &Cluster, library: &dyn Library, mut table: Value, rows: &[Row]) -> Bench {
        let keys = table.as_object_mut().expect("a table");
        keys.entry("initial").or_insert(json!([]));
        Bench::beginning(cluster, library, table, rows)
    }

    /// A fabric that begins as the table and the defaults of its kind define.
    fn beginning(cluster: &Cluster, library: &dyn Library, table: Value, rows: &[Row]) -> Bench {
        let mut flows = Flows::new();
        for &(src, dst, bytes, at) in rows {
            flows.push(HostId(src), HostId(dst), bytes, at);
        }
        let site = Site {
            cluster,
            flows: &flows,
            seed: 1,
            threads: 1,
            library: Some(library),
        };
        let table = (ENTRY.resolve)(&table, cluster).expect("a good table");
        let fabric = (ENTRY.build)(&table, &site).expect("a table that was resolved");
        let (io, now) = (Io::new(flows), Time::ZERO);
        Bench { fabric, io, now }
    }

    /// Processes all events strictly before `ms`.
    fn until(&mut self, ms: i64) -> &mut Bench {
        self.now = Time::MS * ms;
        self.fabric.advance(self.now, &mut self.io);
        self
    }

    fn fail(&mut self, element: Element) {
        let fail = Command::Fail { element, loss: 1.0 };
        self.fabric.apply(fail).expect("the fabric has the part");
    }

    fn repair(&mut self, element: Element) {
        let repair = Command::Repair(element);
        self.fabric.apply(repair).expect("the fabric has the part");
    }

    /// Bytes that have left for each flow's destination.
    fn delivered(&self) -> Vec<u64> {
        self.io.flows.delivered.clone()
    }

    /// Bytes of each flow that are carried by `ms` [B].
    fn carried_until(&mut self, ms: i64) -> Vec<u64> {
        let before = self.delivered();
        let after = self.until(ms).delivered();
        after.iter().zip(before).map(|(a, b)| a - b).collect()
    }

    /// Circuits as (rack, rack, from, until) in ms.
    fn circuits(&self) -> Vec<(u32, u32, i64, i64)> {
        let ms = |t: Time| t.0 / Time::MS.0;
        let row = |c: &Circuit| (c.a, c.b, ms(c.from), ms(c.until));
        self.fabric.circuits(self.now).iter().map(row).collect()
    }
}

/// A table for closed forms of rates: ideal transport, circuits as fast as a server, packets that
/// switches do not store.
fn ideal(more: Value) -> Value {
    let mut table = json!({
        "ramp": "0 s", "dip": "0 s", "circuit_rate": "8 Gb/s", "forwarding": "cut-through",
    });
    let more = more.as_object().expect("a table").clone();
    table.as_object_mut().expect("a table").extend(more);
    table
}

/// Circuits that an operator has wired.
fn wired(circuits: Value) -> Value {
    json!({"kind": "fixed", "circuits": circuits})
}
