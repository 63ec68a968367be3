//! Closed forms of HydRA's timeline and of its paths.

use super::config::HydraConfig;
use super::ENTRY;
use crate::hybrid::kernel::Hybrid;
use lightloom_engine::kernel::flow::FlowDriven;
use lightloom_engine::{
    config, Circuit, Cluster, Command, Element, Fabric, Flows, HostId, Io, Nic, Rate, Reports, Time,
};
use serde_json::{json, Value};

/// Two servers of 10 Gb/s in each of four racks.
const TEN: Rate = Rate(10_000_000_000);
const CLUSTER: Cluster = Cluster {
    racks: 4,
    servers_per_rack: 2,
    server_rate: TEN,
    nic: Nic::Capped(TEN),
};

/// Bytes that 1 Gb/s carries in a millisecond [B].
const GBPS_MS: u64 = 125_000;

struct Bench {
    fabric: FlowDriven<Hybrid>,
    io: Io,
    now: Time,
}

impl Bench {
    /// Flows are (source, destination, bytes), all at once.
    fn new(table: Value, rows: &[(u32, u32, u64)]) -> Bench {
        let mut flows = Flows::new();
        for &(src, dst, bytes) in rows {
            flows.push(HostId(src), HostId(dst), bytes, Time::ZERO);
        }
        let mut keys = json!({
            "oversubscription": 20.0, "planes": 1, "circuit_rate": "10 Gb/s",
            "interval": "100 ms", "settle": "10 ms",
            "link_up": "5 ms", "retag": "40 ms", "rule": "1 ms", "transport_recovery": "0 s",
        });
        let more = table.as_object().expect("a table").clone();
        keys.as_object_mut().expect("a table").extend(more);
        let table = (ENTRY.resolve)(&keys, &CLUSTER).expect("a good table");
        let config: HydraConfig = config::read(&table, "fabric").expect("reads back");
        let kernel = Hybrid::new(config.setup(&CLUSTER), flows.len());
        Bench {
            fabric: FlowDriven::new(kernel),
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

    /// Delivered bytes of a flow in ms at 1 Gb/s, rounded up, because the last byte counts when it
    /// is complete.
    fn ms_of_gbps(&self, flow: usize) -> f64 {
        self.io.flows.delivered[flow] as f64 / GBPS_MS as f64
    }

    /// Circuits as (racks, from, until) in ms.
    fn circuits(&self) -> Vec<(u32, u32, i64, i64)> {
        let ms = |t: Time| t.0 / Time::MS.0;
        let row = |c: &Circuit| (c.a, c.b, ms(c.from), ms(c.until));
        self.fabric.circuits(self.now).iter().map(row).collect()
    }

    fn port(&mut self, node: u32, plane: u32, works: bool) {
        let element = Element::Port { node, plane };
        let command = match works {
            true => Command::Repair(element),
            false => Command::Fail { element, loss: 1.0 },
        };
        self.fabric.apply(command).expect("there is such a port");
    }
}

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 0.01, "{value}, not {expected}");
}

/// The uplinks carry 1 Gb/s (20 Gb/s at 20:1). The decision is at 100 ms. No circuit was lit, so
/// 3-1 has no rule; circuits come up 15 ms later; tagging takes 40 ms, during which 3-2 installs 4
/// rules (2 servers in each of two racks); 3-3 has no rule to delete. From 140 ms on a flow has the
/// 10 Gb/s of its server.
#[test]
fn traffic_enters_the_circuit_when_the_slowest_part_of_3_2_is_done() {
    let mut bench = Bench::new(json!({}), &[(0, 2, 1 << 40)]);
    close(bench.until(140).ms_of_gbps(0), 140.0);
    close(bench.until(160).ms_of_gbps(0), 140.0 + 200.0);
    assert_eq!(bench.circuits(), [(0, 1, 115, 160)]);
}

#[test]
fn the_slowest_part_may_be_mirrors_or_rules() {
    for (table, ms) in [
        (json!({"settle": "80 ms", "link_up": "7 ms"}), 187),
        (json!({"rules": 90}), 190),
        (json!({"rule": "20 ms"}), 180), // 4 rules
        (json!({"rule": "50 ms", "pushing": "parallel"}), 150), // one a server
        (json!({"rules": 900, "pushing": "parallel"}), 213), // 900 to 8 servers
        (json!({"rule": "440 us", "rules": 5_000}), 2_300), // §V.B: 2.2 s
        (json!({"computation_delay": "30 ms"}), 170),
    ] {
        let mut bench = Bench::new(table.clone(), &[(0, 2, 1 << 40)]);
        close(bench.until(ms + 10).ms_of_gbps(0), ms as f64 + 100.0);
        assert!(bench.circuits()[0].2 <= ms, "{table}");
    }
}

/// §V.B: a cycle takes 2.2 s with 5,000 rules (3-1 and 3-3 install one rule on each of two
/// servers), and 1.2 s, the time of the tagging, with 100 rules. The paper gives one decimal.
#[test]
fn the_default_of_a_rule_is_the_papers() {
    let config = HydraConfig::default();
    let cycle = config.rule * (2 + 5_000 + 2);
    assert!((cycle - Time::MS * 2_200) < Time::MS * 50 && cycle > Time::MS * 2_150);
    assert!(config.rule * 100 < config.retag);
}

/// Racks 0 and 1 are connected first. In the cycle at 300 ms racks 0 and 2 have more demand left.
/// 3-1 installs 4 rules (two servers in each of racks 0 and 1), so the flow is on the tree when the
/// first circuit goes dark at 304 ms. The second circuit comes up 15 ms later; 3-2 takes 40 ms,
/// then 3-3 deletes 4 rules, until 348 ms. Until 140 ms the flows share the 1 Gb/s of rack 0.
#[test]
fn affected_traffic_leaves_before_its_circuit_goes_dark() {
    let rows = [(0, 2, 2_570 * GBPS_MS), (1, 4, 2_000 * GBPS_MS)];
    let table = json!({"reconfigure": "whole"});
    let mut bench = Bench::new(table, &rows);
    bench.until(140);
    close(bench.ms_of_gbps(0), 70.0);
    close(bench.ms_of_gbps(1), 70.0);
    // At 200 ms the pair 0–2 has 1,900 left and the pair 1–4 has 1,870: no circuit changes.
    bench.until(304);
    close(bench.ms_of_gbps(0), 70.0 + 1_640.0);
    close(bench.ms_of_gbps(1), 70.0 + 164.0);
    // Both flows are on the tree; then the second flow has the circuit and the first the tree.
    bench.until(348);
    close(bench.ms_of_gbps(0), 1_710.0 + 22.0);
    close(bench.ms_of_gbps(1), 234.0 + 22.0);
    bench.until(398);
    close(bench.ms_of_gbps(0), 1_732.0 + 50.0);
    close(bench.ms_of_gbps(1), 256.0 + 500.0);
    assert_eq!(bench.circuits(), [(0, 1, 115, 304), (0, 2, 319, 398)]);
}

/// Two planes connect racks 0-1 and 1-2; the pair 0-2 has no plane in common and uses both
/// circuits. On the tree all three flows have half an uplink of 1 Gb/s; from 140 ms on each has
/// half a circuit of 10 Gb/s, and the flow of 0-2 has half of both circuits.
#[test]
fn a_path_over_two_circuits_shares_both() {
    let rows = [
        (0, 2, 450 * GBPS_MS),
        (3, 4, 430 * GBPS_MS),
        (1, 5, 350 * GBPS_MS),
    ];
    let mut bench = Bench::new(json!({"planes": 2, "threshold": "1 KB"}), &rows);
    bench.until(140);
    (0..3).for_each(|flow| close(bench.ms_of_gbps(flow), 70.0));
    bench.until(160);
    (0..3).for_each(|flow| close(bench.ms_of_gbps(flow), 70.0 + 100.0));
    let joined: Vec<_> = bench.circuits().iter().map(|c| (c.0, c.1, c.2)).collect();
    assert_eq!(joined, [(0, 1, 115), (1, 2, 115)]);
    let over = bench.fabric.totals().circuit_bytes.expect("has circuits");
    close(over as f64 / GBPS_MS as f64, 300.0);
}

/// With a timeout servers move traffic from the circuits to the tree; the circuits stay lit and
/// empty. After its repair the controller uses them again, 40 ms after its next cycle.
#[test]
fn servers_give_up_on_a_silent_controller() {
    let table = json!({"controller_timeout": "30 ms"});
    let mut bench = Bench::new(table, &[(0, 2, 1 << 40)]);
    bench.until(210);
    let element = Element::Controller;
    let fail = Command::Fail { element, loss: 1.0 };
    bench.fabric.apply(fail).expect("it has a controller");
    let before = bench.until(240).ms_of_gbps(0);
    close(before, 140.0 + 1_000.0);
    close(bench.until(340).ms_of_gbps(0), before + 100.0);
    bench
        .fabric
        .apply(Command::Repair(element))
        .expect("it has one");
    // The cycle at 400 ms tags ports and installs rules again.
    close(bench.until(450).ms_of_gbps(0), before + 200.0 + 100.0);
}

/// After the controller's failure circuits and paths stay: a new flow of a connected pair takes its
/// circuit, a flow of another pair takes the tree.
#[test]
fn without_its_controller_everything_stays() {
    let mut bench = Bench::new(json!({}), &[(0, 2, 1 << 40)]);
    bench.until(150);
    let fail = Command::Fail {
        element: Element::Controller,
        loss: 1.0,
    };
    bench.fabric.apply(fail).expect("it has a controller");
    bench.until(1_000);
    assert_eq!(bench.circuits(), [(0, 1, 115, 1_000)]);
    close(bench.ms_of_gbps(0), 140.0 + 8_600.0);
}

/// A port fails at 200 ms and its traffic takes the tree; the port is repaired at 350 ms, the cycle
/// at 400 ms uses it, and traffic is back at 440 ms. 3-1 and 3-3 have no rules, because no path was
/// in force.
#[test]
fn a_broken_port_leaves_the_tree_until_the_cycle_after_its_repair() {
    let mut bench = Bench::new(json!({}), &[(0, 2, 1 << 40)]);
    bench.until(200);
    close(bench.ms_of_gbps(0), 140.0 + 600.0);
    bench.port(1, 0, false);
    bench.until(350);
    close(bench.ms_of_gbps(0), 740.0 + 150.0);
    bench.port(1, 0, true);
    bench.until(450);
    close(bench.ms_of_gbps(0), 890.0 + 90.0 + 100.0);
    assert_eq!(bench.circuits(), [(0, 1, 115, 200), (0, 1, 415, 450)]);
}

/// With monitoring, a pair's demand is the bytes that it has carried, not those that remain: a
/// small flow that is complete counts like a large one.
#[test]
fn monitoring_sees_what_was_carried() {
    let rows = [(0, 2, 60 * GBPS_MS), (4, 6, 1 << 40)];
    let table = json!({"demand": "monitored", "threshold": "7 MB"});
    let mut bench = Bench::new(table.clone(), &rows);
    bench.until(150);
    let mut pairs: Vec<_> = bench.circuits().iter().map(|c| (c.0, c.1)).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [(0, 1), (2, 3)]);
    let announced = json!({"demand": "announced", "threshold": "7 MB"});
    let mut bench = Bench::new(announced, &rows);
    bench.until(150);
    assert_eq!(bench.circuits().len(), 1);
}

#[test]
fn parts_that_it_does_not_have_are_rejected() {
    let mut bench = Bench::new(json!({}), &[]);
    for (element, loss, said) in [
        (Element::Grating(0), 1.0, "can fail in HydRA"),
        (Element::Controller, 0.5, "fail wholly"),
        (Element::Port { node: 4, plane: 0 }, 1.0, "racks are 0 to 3"),
        (Element::Port { node: 0, plane: 1 }, 1.0, "planes 0 to 0"),
    ] {
        let command = Command::Fail { element, loss };
        let rejected = bench.fabric.apply(command).unwrap_err().to_string();
        assert!(rejected.contains(said), "{rejected}");
    }
}

impl HydraConfig {
    /// For tests: whether a table is refused.
    fn resolve_table(table: &Value) -> Result<Value, lightloom_engine::Refusal> {
        (ENTRY.resolve)(table, &CLUSTER)
    }
}

#[test]
fn bad_keys_are_refused_by_name() {
    for (table, start) in [
        (
            json!({"planes": 0}),
            "fabric.planes = 0: must be from 1 to 128",
        ),
        (json!({"planes": 129}), "fabric.planes = 129"),
        (
            json!({"hops": 13}),
            "fabric.hops = 13: must be from 1 to 12",
        ),
        (
            json!({"interval": "0 s"}),
            "fabric.interval = 0 ps: must be above 0 s",
        ),
        (json!({"retag": "2 h"}), "fabric.retag = "),
        (
            json!({"settle": "3601 s"}),
            "fabric.settle = 3601 s: must be at most 3600 s",
        ),
        (
            json!({"circuit_rate": "0 b/s"}),
            "fabric.circuit_rate = 0 b/s",
        ),
        (json!({"threshold": "2 TB"}), "fabric.threshold = 2 TB"),
        (
            json!({"rules": 2_000_000_000u64}),
            "fabric.rules = 2000000000",
        ),
        (
            json!({"plane": 2}),
            "fabric.plane = 2: no such key; did you mean \"planes\"?",
        ),
        (json!({"demand": "guessed"}), "fabric.demand = \"guessed\""),
    ] {
        let refused = HydraConfig::resolve_table(&table).unwrap_err().to_string();
        assert!(refused.starts_with(start), "{refused}");
    }
}
