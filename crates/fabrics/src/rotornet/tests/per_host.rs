//! RotorLB per host: each host's share of a circuit, a case worked out by hand, and refusals.

use super::{built, cluster, BYTE_NS, ENTRY};
use lightloom_engine::{Cluster, Io, Rate, Time};
use serde_json::{json, Value};

const NS: Time = Time::NS;

fn of_hosts(racks: u32, hosts: u32) -> Cluster {
    Cluster {
        servers_per_rack: hosts,
        ..cluster(racks, BYTE_NS)
    }
}

/// One switch; nights of 10 ns, days of 100 ns, in which 10 packets of 10 B go.
fn one_switch() -> Value {
    json!({
        "switches": 1, "link_rate": "8 Gb/s", "night": "10 ns", "slot": "110 ns",
        "packet": "10 B", "rotorlb": "per-host",
    })
}

/// Three racks of two hosts: a share of a circuit is 50 B, half of it in whole packets is 20 B, and
/// a relay accepts 50 B for a destination. Of 300 B from host 0 to host 4, the first three odd
/// slots take 25 B each to the two hosts of rack 1, and even slots 50 B directly. Relays deliver 20
/// B each in odd slots from the third on, and 15 B in the ninth.
#[test]
fn a_flow_over_relays() {
    let rows = [(0, 4, 300, Time::ZERO)];
    let (mut fabric, mut io) = built(&of_hosts(3, 2), &one_switch(), &rows);
    let mut delivered = |slots: i64, io: &mut Io| {
        fabric.advance(NS * 110 * slots + Time(1), io);
        io.flows.delivered[0]
    };
    let after: Vec<u64> = (1..=11).map(|slots| delivered(slots, &mut io)).collect();
    assert_eq!(after, [0, 50, 90, 140, 180, 230, 270, 270, 300, 300, 300]);
    fabric.settle(&mut io);
    // Half of it has crossed two circuits.
    assert!((io.flows.hops[0] - 1.5).abs() < 1e-6);
    let totals = fabric.totals();
    // 15 directly; to relays 6 times 3 packets, from them 8 times 2.
    assert_eq!(totals.packet_hops, Some(49));
    // Each has 35 B when the fifth slot is over.
    assert_eq!(totals.queue_peak_bytes, Some(70));
}

/// With traffic from all to all, each host has its share of every circuit and divides it among the
/// hosts of the peer rack: with 4 hosts per rack, 37 of the 150 packets of 1,500 B per host.
#[test]
fn uniform_traffic_gets_whole_packets_of_shares() {
    for (racks, switches, hosts) in [(9, 4, 1), (9, 4, 2), (8, 7, 3), (6, 1, 4)] {
        let all = racks * hosts;
        let apart = |a: u32, b: u32| a / hosts != b / hosts;
        let rows: Vec<_> = (0..all)
            .flat_map(|a| (0..all).map(move |b| (a, b)))
            .filter(|&(a, b)| apart(a, b))
            .map(|(a, b)| (a, b, 1 << 40, Time::ZERO))
            .collect();
        let table = json!({"switches": switches, "link_rate": "10 Gb/s", "rotorlb": "per-host"});
        let (mut fabric, mut io) = built(&of_hosts(racks, hosts), &table, &rows);
        let cycle = Time::US * 200 * i64::from((racks - 1).div_ceil(switches));
        fabric.advance(cycle * 5 + Time(1), &mut io);
        let share = 150 / u64::from(hosts) * 1_500;
        for &got in &io.flows.delivered {
            // To the byte that does not divide, a slot and side.
            let expected = 5 * share / u64::from(hosts);
            assert!(got.abs_diff(expected) <= 10, "{got} {expected}");
        }
        let sum: u64 = io.flows.delivered.iter().sum();
        assert_eq!(sum, 5 * share * u64::from(hosts * racks * (racks - 1)));
        assert_eq!(fabric.totals().queue_peak_bytes, Some(0));
    }
}

/// A single active host gets only its own share of a circuit; with "per-rack" it would get the
/// whole circuit.
#[test]
fn one_host_gets_one_share() {
    let rows = [(0, 4, 1 << 40, Time::ZERO)];
    let cycle = Time::US * 200;
    for (rule, expected) in [("per-rack", 225_000), ("per-host", 55_500)] {
        let table = json!({"switches": 1, "link_rate": "10 Gb/s", "rotorlb": rule});
        // Two racks meet in every slot.
        let (mut fabric, mut io) = built(&of_hosts(2, 4), &table, &rows);
        fabric.advance(cycle * 20 + Time(1), &mut io);
        assert_eq!(io.flows.delivered[0], 20 * expected);
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let says = |hosts, more: (&str, Value), words: &str| {
        let mut table = one_switch();
        table[more.0] = more.1;
        let refusal = (ENTRY.resolve)(&table, &of_hosts(3, hosts)).expect_err("refused");
        let said = refusal.to_string();
        assert!(said.contains(words), "{said}");
    };
    says(1, ("indirect", json!("none")), "fabric.indirect = \"none\"");
    // 16 pairs of hosts, and 10 packets.
    says(4, ("packet", json!("10 B")), "days of 16 packets at least");
    assert!((ENTRY.resolve)(&one_switch(), &of_hosts(3, 3)).is_ok());
    assert_eq!(Rate(8 * Rate::GBPS.0), BYTE_NS);
}
