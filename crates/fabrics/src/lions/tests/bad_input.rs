//! Configurations that are refused, and the messages.

use super::*;

fn refusal(hosts: u32, table: Value) -> String {
    (ENTRY.resolve)(&table, &cluster(hosts))
        .unwrap_err()
        .to_string()
}

#[test]
fn refuses_by_name() {
    for (hosts, table, message) in [
        (
            64,
            json!({"architecture": "slb", "receivers": 3}),
            "fabric.receivers = 3: must divide the 64 inputs of the grating that share \
             wavegroups; use 2",
        ),
        (
            64,
            json!({"architecture": "mlb", "receivers": 64}),
            "fabric.receivers = 64: must divide the 80 inputs of the grating that share \
             wavegroups; use 40",
        ),
        (
            64,
            json!({"receivers": 65}),
            "fabric.receivers = 65: must be from 1 to the 64 hosts; use 4",
        ),
        (
            64,
            json!({"architecture": "mlb", "hosts_per_queue": 3}),
            "fabric.hosts_per_queue = 3: twice as many must divide the 64 hosts; use a divisor of \
             half the hosts, or leave it out",
        ),
        (
            64,
            json!({"transmitters": 65}),
            "fabric.transmitters = 65: a queue has 64 virtual output queues to send from; lower it",
        ),
        (
            64,
            json!({"fibre": "-10 m"}),
            "fabric.fibre = \"-10 m\": `-10 m` is negative: write a length like \"10 m\" (km, m, \
             cm, mm); correct the value",
        ),
        (
            64,
            json!({"packet": "4 B"}),
            "fabric.packet = 4 B: is shorter than its header of 5 B; lengthen it, or shorten \
             fabric.header",
        ),
        (
            64,
            json!({"delay_line": "5 ns"}),
            "fabric.delay_line = 5 ns: is shorter than label_reading, arbitration and tuning, 10 ns \
             together; lengthen it, or leave it out",
        ),
        (
            64,
            json!({"architecture": "ao-nack", "packet": "64 B", "detector": "edge", "tuning": "0 ns"}),
            "fabric.detector = \"edge\": a NACK takes 100 ns to arrive, but a packet is \
             sent in 55.2 ns; use \
             \"timers\" or \"sequence\", longer packets or shorter fibre",
        ),
        (
            64,
            json!({"architecture": "ao-nack", "timing": "slotted", "fibre": "100 m"}),
            "fabric.fibre = 100 m: a NACK takes 1.01 us, more than a slot of 222.4 ns; shorten \
             it, or use fabric.timing = \"unslotted\"",
        ),
        (
            7,
            json!({"receivers": 1}),
            "cluster.hosts = 7: must be even for \"dlb\", where hosts have every second port; add \
             or remove one, or use fabric.architecture = \"slb\"",
        ),
        (
            7,
            json!({"architecture": "mlb", "receivers": 1}),
            "cluster.hosts = 7: must be even for \"mlb\", where a queue's hosts are half way \
             around; add or remove one",
        ),
        (
            64,
            json!({"wavegroups": 4}),
            "fabric.wavegroups = 4: no such key; known: ",
        ),
    ] {
        let e = refusal(hosts, table);
        assert!(e.starts_with(message), "{e}");
    }
}

/// Keys of another architecture or timing, which would have no effect.
#[test]
fn refuses_keys_without_effect() {
    let queues = "fabric.architecture = \"dlb\" or \"mlb\"";
    let nacks = "fabric.architecture = \"ao-nack\" and fabric.timing = \"unslotted\"";
    let stores = "a loop-back buffer and fabric.timing = \"unslotted\"";
    for (key, value, needs, with, without) in [
        (
            "hosts_per_queue",
            json!(4),
            "fabric.architecture = \"mlb\"",
            vec!["mlb", "mlb slotted"],
            vec!["dlb", "slb", "ao-nack", "drop"],
        ),
        (
            "transmitters",
            json!(4),
            queues,
            vec!["mlb", "dlb", "dlb slotted"],
            vec!["slb", "ao-nack", "drop"],
        ),
        (
            "transmitter_rule",
            json!("round-robin"),
            queues,
            vec!["mlb", "dlb", "mlb slotted"],
            vec!["slb", "ao-nack", "drop slotted"],
        ),
        (
            "cut_through",
            json!(true),
            stores,
            vec!["mlb", "dlb", "slb"],
            vec!["slb slotted", "dlb slotted", "ao-nack", "drop"],
        ),
        (
            "detector",
            json!("timers"),
            nacks,
            vec!["ao-nack"],
            vec!["ao-nack slotted", "slb", "mlb", "dlb", "drop"],
        ),
        (
            "abort_on_nack",
            json!(false),
            nacks,
            vec!["ao-nack"],
            vec!["ao-nack slotted", "slb", "mlb", "dlb", "drop"],
        ),
    ] {
        let table = |switch: &str| {
            let (architecture, slotted) = match switch.strip_suffix(" slotted") {
                Some(name) => (name, true),
                None => (switch, false),
            };
            let timing = if slotted { "slotted" } else { "unslotted" };
            let mut table = json!({"architecture": architecture, "timing": timing});
            table[key] = value.clone();
            table
        };
        for switch in with {
            let resolved = (ENTRY.resolve)(&table(switch), &cluster(64)).expect(switch);
            assert_eq!(resolved[key], value, "{switch}");
        }
        for switch in without {
            let message =
                format!("fabric.{key} = {value}: has no effect without {needs}; leave it out here");
            assert_eq!(refusal(64, table(switch)), message, "{switch}");
        }
    }
}

/// With a NACK without delay a run never ended, because attempts followed each other endlessly.
#[test]
fn refuses_to_send_again_at_once() {
    let mut table = json!({
        "architecture": "ao-nack", "timing": "unslotted", "abort_on_nack": true,
        "fibre": "0 mm", "guard": "0 B", "label_reading": "0 ps", "arbitration": "0 ps",
        "tuning": "0 ps",
    });
    let message = "fabric.fibre = 0 mm: a host would send again only 0 ps after it began to \
                   send, but at least 1 ns is needed; lengthen it, or set \
                   fabric.abort_on_nack = false";
    assert_eq!(refusal(64, table.clone()), message);
    table["fibre"] = json!("100 mm"); // 0.5 ns each way
    assert!((ENTRY.resolve)(&table, &cluster(64)).is_ok());
    table["fibre"] = json!("0 mm");
    table["abort_on_nack"] = json!(false);
    assert!((ENTRY.resolve)(&table, &cluster(64)).is_ok());
}

/// Defaults are not refused when a resolved table is read again.
#[test]
fn resolved_tables_are_good() {
    for architecture in ["slb", "mlb", "dlb", "ao-nack", "drop"] {
        for timing in ["slotted", "unslotted"] {
            let table = json!({"architecture": architecture, "timing": timing});
            let once = (ENTRY.resolve)(&table, &cluster(64)).expect("good");
            assert_eq!((ENTRY.resolve)(&once, &cluster(64)).expect("good"), once);
        }
    }
}

/// L/2D ≥ 1: over 10 m at 10 Gb/s, with nothing else to wait for, 125 B are enough.
#[test]
fn an_edge_detector_takes_packets_as_long_as_the_way_there_and_back() {
    let table = |packet: &str| {
        json!({
            "architecture": "ao-nack", "detector": "edge", "packet": packet, "header": "0 B",
            "tuning": "0 ns", "fibre": "10 m"
        })
    };
    assert!((ENTRY.resolve)(&table("125 B"), &cluster(64)).is_ok());
    let e = refusal(64, table("124 B"));
    assert!(
        e.starts_with("fabric.detector = \"edge\": a NACK takes 100 ns"),
        "{e}"
    );
}

#[test]
fn only_single_nodes_and_no_faster_than_their_links() {
    let racks = Cluster {
        servers_per_rack: 24,
        ..cluster(128)
    };
    let e = (ENTRY.resolve)(&json!({}), &racks).unwrap_err().to_string();
    assert!(
        e.starts_with("cluster.servers_per_rack = 24: LIONS connects single nodes"),
        "{e}"
    );
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
fn defaults_follow_from_the_hosts() {
    let resolved = |hosts, table| (ENTRY.resolve)(&table, &cluster(hosts)).expect("good");
    let t = resolved(64, json!({"architecture": "mlb"}));
    assert_eq!(
        (&t["hosts_per_queue"], &t["transmitters"]),
        (&json!(4), &json!(4))
    );
    let t = resolved(6, json!({"architecture": "mlb", "receivers": 3}));
    assert_eq!(t["hosts_per_queue"], 1);
    let t = resolved(2, json!({"receivers": 1}));
    assert_eq!(t["transmitters"], 2);
}

#[test]
fn every_preset_runs() {
    for preset in ENTRY.presets {
        let hosts = if preset.name == "test-bed" { 4 } else { 64 };
        let table: Value = serde_json::from_str(preset.table).expect("a table");
        let mut flows = Flows::new();
        let (from, to) = (lightloom_engine::HostId(0), lightloom_engine::HostId(3));
        flows.push(from, to, 1_000, Time::ZERO);
        let fast = Cluster {
            server_rate: Rate(10 * Rate::GBPS.0),
            ..cluster(hosts)
        };
        assert!((ENTRY.resolve)(&table, &fast).is_ok());
        let (io, _) = simulate(hosts, &table, flows, Stop::Drain);
        assert_eq!(io.ledger.flows_completed, 1, "{}", preset.name);
    }
}

#[test]
fn faults_are_rejected() {
    use lightloom_engine::{Command, Element};
    for timing in ["unslotted", "slotted"] {
        let table = json!({"receivers": 1, "timing": timing});
        let mut fabric = fabric(4, &table, &Flows::new());
        let e = fabric.apply(Command::Repair(Element::Node(0))).unwrap_err();
        assert!(e.to_string().contains("does not model failures"), "{e}");
    }
}
