//! The scenarios, and their cases.

use lightloom_engine::outages::Outage;
use lightloom_engine::{Cluster, Element, Nic, Rate, Time};
use serde_json::Value;

/// All scenarios, in the order of a row.
pub const SCENARIOS: [&str; 12] = [
    "lone flow",
    "permutation",
    "incast",
    "all-to-all",
    "mouse beside an elephant",
    "parallel paths",
    "two planes",
    "multihop route",
    "circuit beside electrical",
    "failure and repair",
    "overlapping failures",
    "three server rates",
];

/// A flow: source, destination, bytes, arrival.
pub type Flow = (u32, u32, u64, Time);

/// 10^6 bytes.
pub const MB: u64 = 1_000_000;

/// Traffic on a fabric, and its expected results by arithmetic.
pub struct Case {
    pub cluster: Cluster,
    pub table: Value,
    pub flows: Vec<Flow>,
    pub faults: Vec<Outage>,
    /// The flow whose completion time is judged; by default the longest of all.
    pub flow: Option<usize>,
    /// Least and most time [ms].
    pub least: f64,
    pub most: f64,
    /// The computation of the bounds, as text.
    pub formula: &'static str,
    /// Why the bound is wider than 1 %; empty if it is not.
    pub bound: &'static str,
}

impl Case {
    /// A case that takes `ms`, within 1 %.
    pub fn new(
        cluster: Cluster,
        table: Value,
        flows: Vec<Flow>,
        ms: f64,
        formula: &'static str,
    ) -> Case {
        Case {
            cluster,
            table,
            flows,
            faults: Vec::new(),
            flow: None,
            least: 0.99 * ms,
            most: 1.01 * ms,
            formula,
            bound: "",
        }
    }

    /// Sets other bounds [ms], for the reason `why`.
    pub fn between(self, least: f64, most: f64, why: &'static str) -> Case {
        Case {
            least,
            most,
            bound: why,
            ..self
        }
    }

    /// Judges one flow.
    pub fn of(self, flow: usize) -> Case {
        Case {
            flow: Some(flow),
            ..self
        }
    }

    /// Adds the failure of an element, and its repair [ms].
    pub fn fails(mut self, element: Element, from: i64, until: i64) -> Case {
        self.faults.push(Outage {
            element,
            loss: 1.0,
            from: Time::MS * from,
            until: Some(Time::MS * until),
        });
        self
    }
}

/// The result of a fabric for a scenario.
pub enum Verdict {
    /// These cases.
    Takes(Vec<Case>),
    /// The fabric has no such mechanism, for this reason.
    DoesNotApply(&'static str),
}

/// One case.
pub fn takes(case: Case) -> Verdict {
    Verdict::Takes(vec![case])
}

/// Racks of servers, and the rate of each server's link [Gb/s].
pub fn cluster(racks: u32, servers_per_rack: u32, gbps: u64) -> Cluster {
    let rate = Rate(gbps * Rate::GBPS.0);
    Cluster {
        racks,
        servers_per_rack,
        server_rate: rate,
        nic: Nic::Capped(rate),
    }
}

/// Time to send bytes at a rate [ms].
pub fn ms(bytes: u64, gbps: f64) -> f64 {
    bytes as f64 * 8.0 / (gbps * 1e6)
}

/// One flow, from the first of 16 servers to the last.
pub fn lone(bytes: u64) -> Vec<Flow> {
    vec![(0, 15, bytes, Time::ZERO)]
}

/// Each of 16 servers sends to the server four further on, which is two racks of two servers, or
/// one router of four.
pub fn permutation(bytes: u64) -> Vec<Flow> {
    (0..16)
        .map(|i| (i, (i + 4) % 16, bytes, Time::ZERO))
        .collect()
}

/// Four servers of four racks send to one server of a fifth rack.
pub fn incast(bytes: u64) -> Vec<Flow> {
    (0..4).map(|i| (2 * i, 15, bytes, Time::ZERO)).collect()
}

/// Each of 16 servers sends to every other.
pub fn all_to_all(bytes: u64) -> Vec<Flow> {
    let pairs = (0..16).flat_map(|i| (0..16).map(move |j| (i, j)));
    let pairs = pairs.filter(|(i, j)| i != j);
    pairs.map(|(i, j)| (i, j, bytes, Time::ZERO)).collect()
}

/// Bytes of the mouse.
pub const MOUSE: u64 = 5_971;

/// A flow of 14 MB from a server, and one of 5,971 B from the same server to another rack, 1 ms
/// later.
pub fn mouse() -> Vec<Flow> {
    vec![(0, 15, 14 * MB, Time::ZERO), (0, 13, MOUSE, Time::MS)]
}

/// The two servers of the first rack send to the two servers of the last.
pub fn two(bytes: u64) -> Vec<Flow> {
    vec![(0, 14, bytes, Time::ZERO), (1, 15, bytes, Time::ZERO)]
}

/// The time of a small flow that takes turns with a large one, by packets of this size on a link of
/// 10 Gb/s: it waits for the packet on the link, and for one packet before each of its own [ms].
pub fn in_turn(packet: u64) -> f64 {
    let packets = MOUSE.div_ceil(packet);
    ms(MOUSE + (packets + 1) * packet, 10.0)
}

/// Uplink of the first rack.
pub const UPLINK: Element = Element::Transceiver { node: 0, uplink: 0 };

/// Optical port of the first rack.
pub const PORT: Element = Element::Port { node: 0, plane: 0 };
