//! The throughput of endless bulk.

use super::{built, cluster, Row};
use lightloom_engine::{Rate, Time};
use serde_json::{json, Value};

const RATE: Rate = Rate(8 * Rate::GBPS.0);
const ENDLESS: u64 = 1 << 44;
const NIGHT: i64 = 10;
const SLICE: i64 = 100;

fn table(switches: u32, indirect: &str) -> Value {
    let mut table = json!({
        "switches": switches, "link_rate": "8 Gb/s", "low_latency": "0 B", "packet": "1000 B",
        "night": "10 us", "slice": "100 us",
    });
    match indirect {
        "per-host" => table["rotorlb"] = json!(indirect),
        _ => table["indirect"] = json!(indirect),
    }
    table
}

/// Bytes of a slot: (100 u - 10) us at one byte per nanosecond.
fn slot_carries(switches: u32) -> u64 {
    (1_000 * (SLICE * i64::from(switches) - NIGHT)) as u64
}

/// Bytes that each flow gets from cycle `from` to cycle `until`.
fn gets(
    racks: u32,
    switches: u32,
    indirect: &str,
    pairs: &[(u32, u32)],
    (from, until): (i64, i64),
) -> Vec<u64> {
    let row = |&(a, b): &(u32, u32)| -> Row { (a, b, ENDLESS, Time::ZERO) };
    let rows: Vec<Row> = pairs.iter().map(row).collect();
    let (mut fabric, mut io) = built(&cluster(racks, RATE), &table(switches, indirect), &rows);
    let factors = racks - 1 + racks % 2;
    let slots = i64::from(factors.div_ceil(switches));
    let cycle = Time::US * (SLICE * i64::from(switches) * slots);
    // Days are counted when they end.
    fabric.advance(cycle * from, &mut io);
    let before = io.flows.delivered.clone();
    fabric.advance(cycle * until, &mut io);
    let after = io.flows.delivered.iter();
    after
        .zip(&before)
        .map(|(after, before)| after - before)
        .collect()
}

/// Every pair gets its slot in each cycle, to the byte: no byte crosses two circuits.
#[test]
fn uniform_bulk_gets_the_duty_cycle() {
    for (racks, switches) in [(9, 4), (8, 7), (16, 5), (10, 3), (7, 2)] {
        let others = |a| (0..racks).filter(move |&b| b != a).map(move |b| (a, b));
        let pairs: Vec<_> = (0..racks).flat_map(others).collect();
        for indirect in ["rotorlb", "per-host", "none"] {
            let got = gets(racks, switches, indirect, &pairs, (1, 6));
            let expected = 5 * slot_carries(switches);
            assert!(
                got.iter().all(|&bytes| bytes == expected),
                "{got:?} {expected}"
            );
        }
    }
    // 16 racks, 5 switches, 3 slots, none idle: 98 % of the rate.
    let carried = 15 * slot_carries(5);
    let capacity = 5 * 3 * 5 * SLICE as u64 * 1_000;
    assert_eq!(carried * 100, capacity * 98);
}

/// Each rack sends to one other rack. Without relays it gets one slot per cycle; with relays it
/// gets N / 2 slots, as on RotorNet: one direct slot, and half of each of the N - 2 others. Because
/// slots depend on each other, the bytes delivered over W cycles differ from this by at most the
/// bytes that relays can hold plus the lead of first hops over second hops.
#[test]
fn a_permutation_gets_half() {
    for (racks, switches) in [(8, 7), (16, 5), (10, 3), (12, 4)] {
        let pairs: Vec<_> = (0..racks).map(|a| (a, (a + 3) % racks)).collect();
        let slot = slot_carries(switches);
        let got = gets(racks, switches, "none", &pairs, (2, 9));
        assert!(got.iter().all(|&bytes| bytes == 7 * slot));
        let cycles = 60;
        for rule in ["rotorlb", "per-host"] {
            let got = gets(racks, switches, rule, &pairs, (0, cycles));
            let got: u64 = got.iter().sum();
            let expected = u64::from(racks * racks) * cycles as u64 * slot / 2;
            let slack = u64::from(racks * racks) * 2 * slot;
            assert!(
                got.abs_diff(expected) <= slack,
                "{rule} {racks} {switches}: {} slots of {}",
                got / slot,
                expected / slot
            );
        }
    }
}

/// Low-latency traffic takes the capacity that it needs, and bulk gets the rest, to the packet:
/// both together fill the day.
#[test]
fn low_latency_packets_cost_bulk_their_own_time() {
    let switches = 5;
    let mut rows: Vec<Row> = Vec::new();
    for a in 0..16 {
        for b in (0..16).filter(|&b| b != a) {
            rows.push((a, b, ENDLESS, Time::ZERO));
        }
    }
    let bulk = rows.len();
    for k in 0..2_000u32 {
        let src = k * 7 % 16;
        let dst = (src + 1 + k % 15) % 16;
        rows.push((src, dst, 3_000, Time::NS * (i64::from(k) * 700)));
    }
    let mut table = table(switches, "none");
    table["low_latency"] = json!("1 MB");
    let (mut fabric, mut io) = built(&cluster(16, RATE), &table, &rows);
    let cycle = Time::US * (SLICE * 5 * 3);
    fabric.advance(cycle * 2, &mut io);
    fabric.settle(&mut io);
    assert!(io.flows.finish[bulk..].iter().all(|&t| t < Time::NEVER));
    let hop_bytes: f64 = { io.flows.hops[bulk..].iter() }
        .map(|&hops| f64::from(hops) * 3_000.0)
        .sum();
    let got: u64 = io.flows.delivered[..bulk].iter().sum();
    // Days that have ended by then: switch s was lit for (100 (s + 1) - 10) us and for five days of
    // 490 us, which is 13,700 us per rack on all five switches. One packet per day may not fit.
    let days: u64 = 16 * 13_700 * 1_000;
    let lost = days as f64 - hop_bytes - got as f64;
    assert!((0.0..=16.0 * 30.0 * 1_000.0).contains(&lost), "{lost}");
}
