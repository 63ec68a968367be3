//! Times that can be worked out by hand, and the parts list of Table I.

use super::super::parts::{parts, Parts};
use super::super::theory::{efficiency, gups_ceiling};
use super::*;
use crate::lions::config::LionsConfig;
use lightloom_engine::{config, HostId};

const NS: i64 = Time::NS.0;

fn flows(rows: &[(u32, u32, u64, i64)]) -> Flows {
    let mut flows = Flows::new();
    for &(src, dst, bytes, at) in rows {
        flows.push(HostId(src), HostId(dst), bytes, Time(at));
    }
    flows
}

/// When each flow ends [ps].
fn finishes(hosts: u32, table: &Value, rows: &[(u32, u32, u64, i64)]) -> Vec<i64> {
    let (io, _) = simulate(hosts, table, flows(rows), Stop::Drain);
    io.flows.finish.iter().map(|t| t.0).collect()
}

/// (L + 5)·8/C + 2D/v + control: 309 ns and 155 ns without control.
#[test]
fn zero_load() {
    let switches = ["slb", "mlb", "dlb", "ao-nack"].map(|name| (name, [(64, 4), (16, 2)]));
    let switches = switches
        .into_iter()
        .flat_map(|(name, of)| of.map(|(n, k)| (name, n, k)));
    for (architecture, hosts, k) in switches {
        for (packet, expected) in [(256, 308_800), (64, 155_200)] {
            let table = json!({
                "architecture": architecture, "receivers": k, "tuning": "0 ns",
                "packet": format!("{packet} B"),
            });
            let finishes = |table: &Value| finishes(hosts, table, &[(3, hosts - 4, packet, 500)]);
            let took = finishes(&table)[0] - 500;
            assert_eq!(took, expected, "{architecture}");
            let control =
                json!({"label_reading": "5 ns", "arbitration": "7 ns", "tuning": "10 ns"});
            let took = finishes(&with(table, control))[0] - 500;
            assert_eq!(took, expected + 22 * NS, "{architecture} with control");
        }
    }
}

/// Three packets, the last of 88 B: each starts 278 B after the one before.
#[test]
fn a_flow_is_sent_packet_by_packet() {
    let table = json!({"tuning": "0 ns"});
    let last = (2 * 278 + 88 + 5) * 800 + 100 * NS;
    assert_eq!(finishes(64, &table, &[(0, 1, 600, 0)]), [last]);
    // Converters whose tuning takes longer than the guard delay every packet.
    let table = json!({"tuning": "109 ns"});
    let slot = 261 * 800 + 109 * NS;
    let last = 2 * slot + (88 + 5) * 800 + (100 + 109) * NS;
    assert_eq!(finishes(64, &table, &[(0, 1, 600, 0)]), [last]);
}

/// Two packets meet at a receiver; the second arrives 50 ns after the first.
#[test]
fn the_loser_waits_where_its_architecture_has_it_wait() {
    // Hosts 0 and 1 share a group everywhere; 208.8 ns a packet, 13.6 ns of guard.
    let meet = [(0, 9, 256, 0), (1, 9, 256, 50 * NS)];
    let base = json!({"fibre": "0 m", "receivers": 2, "tuning": "0 ns"});
    let second = |keys: Value| finishes(16, &with(base.clone(), keys), &meet)[1] - 50 * NS;
    let (wire, slot) = (208_800, 222_400);
    // The shared buffer uses one receiver, which is free at 222.4 ns.
    assert_eq!(
        second(json!({"architecture": "slb"})),
        slot - 50 * NS + wire
    );
    // The distributed buffer uses a receiver of another group: at once, or after the packet has
    // fully arrived if so configured.
    assert_eq!(second(json!({"architecture": "dlb"})), wire);
    assert_eq!(second(json!({"architecture": "mlb"})), wire);
    assert_eq!(
        second(json!({"architecture": "dlb", "cut_through": false})),
        2 * wire
    );
    // A loop-back queue's transmitter first tunes for 10 ns; the delay line is longer by the same
    // time.
    let tuning = json!({"architecture": "dlb", "tuning": "10 ns"});
    assert_eq!(second(tuning), wire + 20 * NS);
    // The packet is sent again after its transmission has ended, or as soon as the NACK has
    // returned.
    let nack = json!({"architecture": "ao-nack", "fibre": "10 m"});
    assert_eq!(second(nack.clone()), slot + wire + 100 * NS);
    // The transmission ends at 100 ns and restarts at 113.6 ns; the receiver is still busy until
    // 222.4 ns, so it restarts once more at 227.2 ns.
    let abort = with(nack, json!({"abort_on_nack": true}));
    assert_eq!(second(abort), 2 * 113_600 + wire + 100 * NS);
}

/// Arbitration also takes time for a stored packet, from its request on: after its transmitter has
/// tuned, or while the shared buffer's receiver is busy.
#[test]
fn stored_packets_are_arbitrated_once_more() {
    let meet = [(0, 9, 256, 0), (1, 9, 256, 10 * NS), (2, 9, 256, 20 * NS)];
    let base = json!({"fibre": "0 m", "receivers": 2, "tuning": "0 ns"});
    let ends = |keys: Value| finishes(16, &with(base.clone(), keys), &meet[..2])[1];
    let (wire, slot) = (208_800, 222_400);
    // The packet loses at 10 ns + arbitration; its request takes the arbitration time again.
    let dlb = json!({"architecture": "dlb", "arbitration": "7 ns"});
    assert_eq!(ends(dlb.clone()), (10 + 2 * 7) * NS + wire);
    let tuned = with(dlb.clone(), json!({"tuning": "9 ns"}));
    assert_eq!(ends(tuned), (10 + 2 * 7 + 2 * 9) * NS + wire);
    let whole = with(dlb, json!({"cut_through": false}));
    assert_eq!(ends(whole), (10 + 2 * 7) * NS + 2 * wire);
    // The shared buffer's receiver is busy for a slot in any case, but not for 300 ns; the third
    // packet sends its request when the second leaves, at 610 ns.
    let slb = |ns: i64| json!({"architecture": "slb", "arbitration": format!("{ns} ns")});
    assert_eq!(ends(slb(7)), 7 * NS + slot + wire);
    let got = finishes(16, &with(base.clone(), slb(300)), &meet);
    assert_eq!(got, [300, 610, 910].map(|ns| ns * NS + wire));
}

/// 64 B on 10 m: a NACK takes 100 ns, a packet 55.2 ns and a slot 68.8 ns.
#[test]
fn hosts_send_on_while_nacks_are_on_their_way() {
    let table = json!({
        "architecture": "ao-nack", "packet": "64 B", "receivers": 1, "tuning": "0 ns",
    });
    // Host 1's first packet meets that of host 0; its second, to another, does not.
    let rows = [(0, 9, 64, 0), (1, 9, 64, 20 * NS), (1, 8, 64, 20 * NS)];
    let (wire, slot, way) = (55_200, 68_800, 50 * NS);
    let second = 20 * NS + slot + wire + 2 * way;
    // The NACK arrives at 120 ns, while the second packet is sent; the first is sent again at 157.6
    // ns.
    let again = |known: i64| (20 * NS + known).max(20 * NS + 2 * slot) + wire + 2 * way;
    let got = finishes(16, &table, &rows);
    assert_eq!(got, [wire + 2 * way, again(100 * NS), second]);
    // A sequence number takes 5 B longer to read; here the host is busy anyway.
    let sequence = with(table.clone(), json!({"detector": "sequence"}));
    assert_eq!(finishes(16, &sequence, &rows), got);
    // A single packet shows the difference: it is sent again at 120 ns, or at 124 ns.
    let alone = |t: &Value| finishes(16, t, &rows[..2])[1];
    assert_eq!(alone(&table), 120 * NS + wire + 2 * way);
    assert_eq!(alone(&sequence), 124 * NS + wire + 2 * way);
}

/// A packet that is too short for the edge detector keeps its host waiting.
#[test]
fn the_edge_detector_waits_for_short_packets() {
    let rows = [(0, 1, 256 + 10, 0), (0, 2, 256, 0)];
    let table = json!({"architecture": "ao-nack", "tuning": "0 ns", "discipline": "fifo"});
    // "auto" does not choose the edge detector for short packets: the next packet starts as soon as
    // the short one has left.
    let got = finishes(16, &table, &rows);
    assert_eq!(got[1], 222_400 + 25_600 + 308_800);
    let got = finishes(16, &with(table, json!({"detector": "edge"})), &rows);
    // The short one begins at 222.4 ns and lasts 12 ns; the next begins 100 + 13.6 later.
    assert_eq!(
        got,
        [222_400 + 12_000 + 100_000, 222_400 + 113_600 + 308_800]
    );
}

/// Loop-back queues go before hosts, and take turns.
#[test]
fn loop_back_queues_go_first() {
    let table = json!({
        "receivers": 1, "fibre": "0 m", "tuning": "0 ns", "transmitters": 1, "guard": "0 B",
        "header": "0 B", "packet": "250 B",
    });
    // Of three packets that meet, two are stored; a host's packet that arrives when the receiver
    // becomes free, at 200 ns, is stored, too.
    let rows = [
        (0, 9, 250, 0),
        (1, 9, 250, 10 * NS),
        (2, 9, 250, 20 * NS),
        (3, 9, 250, 200 * NS),
    ];
    let expected = [200, 400, 600, 800].map(|ns| ns * NS);
    assert_eq!(finishes(8 + 2, &table, &rows), expected);
}

#[test]
fn overhead_and_the_gups_ceiling() {
    assert!((efficiency(256, 22) - 0.921).abs() < 5e-4);
    assert!((efficiency(64, 22) - 0.744).abs() < 5e-4);
    let ceiling = |overhead, batch| gups_ceiling(64, 10_000_000_000, overhead, batch) / 1e9;
    for (overhead, batch, known) in [(0, 1, 2.03), (22, 1, 0.767), (22, 16, 1.84)] {
        assert!((ceiling(overhead, batch) - known).abs() < 5e-3);
    }
}

/// A host that always sends delivers the payload's share of its rate.
#[test]
fn overhead_limits_what_a_host_sends() {
    for packet in [256u64, 64] {
        let table = json!({"packet": format!("{packet} B"), "tuning": "0 ns"});
        let bytes = packet * 10_000;
        let took = finishes(16, &table, &[(0, 1, bytes, 0)])[0];
        let rate = bytes as f64 * 8.0 / (took as f64 * 1e-12);
        assert!(
            (rate / 10e9 - efficiency(packet, 22)).abs() < 1e-3,
            "{rate}"
        );
    }
}

fn bill(table: Value, hosts: u32) -> Parts {
    let resolved = (ENTRY.resolve)(&table, &cluster(hosts)).expect("a good table");
    let config: LionsConfig = config::read(&resolved, "fabric").expect("reads back");
    parts(&config, hosts)
}

/// Table I with N = 64, r = 4, m = 4, B = 10 Gb/s.
#[test]
fn table_1() {
    let gbps = |g: u64| Rate(g * Rate::GBPS.0);
    let none = bill(json!({"architecture": "drop"}), 64);
    assert_eq!(
        (none.grating_ports, none.memories, none.host_receivers),
        (64, 0, 256)
    );
    let slb = Parts {
        grating_ports: 65,
        occupied_ports: 1,
        receivers: 64,
        fixed_transmitters: 64,
        demultiplexers: 1,
        multiplexers: 1,
        memories: 1,
        write: gbps(640),
        read: gbps(640),
        ..none
    };
    assert_eq!(bill(json!({"architecture": "slb"}), 64), slb);
    let mlb = Parts {
        grating_ports: 80,
        occupied_ports: 16,
        receivers: 64,
        tunable_transmitters: 64,
        demultiplexers: 1,
        couplers: 48,
        memories: 16,
        write: gbps(40),
        read: gbps(40),
        ..none
    };
    assert_eq!(bill(json!({"architecture": "mlb"}), 64), mlb);
    let dlb = Parts {
        grating_ports: 128,
        occupied_ports: 64,
        receivers: 64,
        tunable_transmitters: 256,
        couplers: 192,
        memories: 64,
        write: gbps(10),
        read: gbps(40),
        ..none
    };
    assert_eq!(bill(json!({"architecture": "dlb"}), 64), dlb);
    let nack = bill(json!({"architecture": "ao-nack"}), 64);
    assert_eq!(
        (nack.grating_ports, nack.memories, nack.circulators),
        (65, 0, 193)
    );
}

/// Table I with N = 24, r = 3, m = 2, k = 2: numbers that differ from each other.
#[test]
fn table_1_with_other_numbers() {
    let gbps = |g: u64| Rate(g * Rate::GBPS.0);
    let of = |keys: Value| bill(with(json!({"receivers": 2}), keys), 24);
    let none = of(json!({"architecture": "drop"}));
    let hosts = (
        none.converters,
        none.host_receivers,
        none.host_demultiplexers,
    );
    assert_eq!(hosts, (24, 48, 24));
    let slb = Parts {
        grating_ports: 24 + 1,
        occupied_ports: 1,
        receivers: 24,
        fixed_transmitters: 24,
        demultiplexers: 1,
        multiplexers: 1,
        memories: 1,
        write: gbps(240),
        read: gbps(240),
        ..none
    };
    assert_eq!(of(json!({"architecture": "slb"})), slb);
    let mlb = Parts {
        grating_ports: 24 + 8,
        occupied_ports: 8,
        receivers: 24,
        tunable_transmitters: 24,
        demultiplexers: 1,
        couplers: 2 * 8,
        memories: 8,
        write: gbps(30),
        read: gbps(30),
        ..none
    };
    let mixed = json!({"architecture": "mlb", "hosts_per_queue": 3});
    assert_eq!(of(mixed.clone()), mlb);
    // With 2 transmitters per queue for its 3 hosts; Table I has no such case.
    let fewer = Parts {
        tunable_transmitters: 16,
        couplers: 8,
        read: gbps(20),
        ..mlb
    };
    assert_eq!(of(with(mixed, json!({"transmitters": 2}))), fewer);
    let dlb = Parts {
        grating_ports: 24 + 24,
        occupied_ports: 24,
        receivers: 24,
        tunable_transmitters: 48,
        couplers: 24,
        memories: 24,
        write: gbps(10),
        read: gbps(20),
        ..none
    };
    assert_eq!(of(json!({"architecture": "dlb", "transmitters": 2})), dlb);
    let nack = Parts {
        grating_ports: 24 + 1,
        occupied_ports: 1,
        receivers: 24,
        circulators: 3 * 24 + 1,
        ..none
    };
    assert_eq!(of(json!({"architecture": "ao-nack"})), nack);
}

/// The bill of materials of 24 hosts with such flows.
fn listed(table: Value, flows: &Flows) -> Vec<(&'static str, u64)> {
    let cluster = cluster(24);
    let site = Site {
        cluster: &cluster,
        flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let table = (ENTRY.resolve)(&table, &cluster).expect("a good table");
    let facts = (ENTRY.facts)(&table, &site).expect("reads back");
    facts.parts.iter().map(|p| (p.name, p.count)).collect()
}

/// The choice of the detector follows from the shortest packet: a NACK takes 110 ns, 138 B with the
/// header.
#[test]
fn the_bill_says_which_detector_was_chosen() {
    let nack = json!({"architecture": "ao-nack", "receivers": 1});
    let with_flow = |keys: Value, bytes: u64| {
        let bill = listed(with(nack.clone(), keys), &flows(&[(0, 1, bytes, 0)]));
        let hosts = |name: &&str| name.starts_with("hosts_with");
        let found: Vec<_> = bill
            .iter()
            .filter(|(name, _)| hosts(name))
            .copied()
            .collect();
        found
    };
    let edge = [("hosts_with_edge_detectors", 24)];
    let timers = [("hosts_with_timers", 24)];
    let sequence = [("hosts_with_sequence_numbers", 24)];
    for (bytes, expected) in [(256, edge), (133, edge), (132, timers), (256 + 10, timers)] {
        assert_eq!(with_flow(json!({}), bytes), expected, "{bytes} B");
    }
    let read = json!({"detector": "sequence"});
    assert_eq!(with_flow(read, 256), sequence);
    assert_eq!(with_flow(json!({"timing": "slotted"}), 256), []);
    let dlb = json!({"architecture": "dlb"});
    assert_eq!(with_flow(dlb, 256), []);
}

/// Users get the parts by name.
#[test]
fn the_bill_is_listed() {
    let listed = |table: Value| listed(table, &Flows::new());
    let dlb = json!({"architecture": "dlb", "transmitters": 2, "receivers": 2});
    let expected = [
        ("grating_ports", 48),
        ("grating_ports_taken", 24),
        ("converters", 24),
        ("host_receivers", 48),
        ("host_demultiplexers", 24),
        ("loopback_receivers", 24),
        ("tunable_transmitters", 48),
        ("couplers", 24),
        ("memories", 24),
        ("memory_write_bps", 10_000_000_000),
        ("memory_read_bps", 20_000_000_000),
    ];
    assert_eq!(listed(dlb), expected);
    let nack = listed(json!({"architecture": "ao-nack", "receivers": 1}));
    assert!(nack.contains(&("nack_receivers", 24)) && nack.contains(&("circulators", 73)));
    assert!(!nack.iter().any(|(name, _)| *name == "host_demultiplexers"));
}

/// The page of the documentation has Table I as it is computed.
#[test]
fn the_page_has_table_1() {
    const PAGE: &str = include_str!("../../../../../docs/fabrics/lions.md");
    let names = ["slb", "mlb", "dlb", "ao-nack"];
    let bills = names.map(|name| bill(json!({ "architecture": name }), 64));
    let rate = |r: Rate| match r.0 {
        0 => "–".to_owned(),
        _ => r.to_string(),
    };
    type Row<'a> = (&'a str, &'a dyn Fn(&Parts) -> String);
    let rows: [Row; 13] = [
        ("ports of the grating", &|p| p.grating_ports.to_string()),
        ("of these taken by the buffer or reflector", &|p| {
            p.occupied_ports.to_string()
        }),
        ("its receivers", &|p| p.receivers.to_string()),
        ("its transmitters, fixed", &|p| {
            p.fixed_transmitters.to_string()
        }),
        ("its transmitters, tunable", &|p| {
            p.tunable_transmitters.to_string()
        }),
        ("1:N demultiplexers", &|p| p.demultiplexers.to_string()),
        ("N:1 multiplexers", &|p| p.multiplexers.to_string()),
        ("2:1 couplers", &|p| p.couplers.to_string()),
        ("memories", &|p| p.memories.to_string()),
        ("write bandwidth of each", &|p| rate(p.write)),
        ("read bandwidth of each", &|p| rate(p.read)),
        ("circulators", &|p| p.circulators.to_string()),
        ("receivers behind the hosts' outputs", &|p| {
            p.host_receivers.to_string()
        }),
    ];
    for (name, value) in rows {
        let cells: Vec<String> = bills.iter().map(value).collect();
        let line = format!("| {name} | {} |", cells.join(" | "));
        assert!(PAGE.contains(&line), "the page has no line {line}");
    }
}

/// A host with a backlog sends without a pause, even while the results for many packets are
/// pending; a new flow takes its turn without leaving the link idle.
#[test]
fn a_host_with_a_backlog_never_idles() {
    for timing in ["slotted", "unslotted"] {
        // A slot and a packet take 200 ns; the switch is 1 us away.
        let table = json!({
            "timing": timing, "packet": "250 B", "header": "0 B", "guard": "0 B",
            "tuning": "0 ns", "fibre": "400 m", "receivers": 1,
        });
        let mut rows = vec![(0, 1, 20 * PACKET, 0), (0, 2, 20 * PACKET, 0)];
        rows.extend((0..10).map(|k| (0, 3 + k, PACKET, 310 * NS * i64::from(k) + 130 * NS)));
        let last = |rows: &[(u32, u32, u64, i64)]| finishes(16, &table, rows).into_iter().max();
        let alone = last(&[(0, 1, 50 * PACKET, 0)]);
        assert_eq!(last(&rows), alone, "{timing}");
    }
}
