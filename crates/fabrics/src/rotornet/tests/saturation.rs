//! The throughput of endless traffic: the closed forms of the module's documentation.

use super::{built, cluster, Row};
use lightloom_engine::{Rate, Time};
use proptest::prelude::*;
use serde_json::json;

const RATE: Rate = Rate(10 * Rate::GBPS.0);
/// 180 us of a slot at 10 Gb/s: 150 packets of 1,500 B.
const SLOT_CARRIES: u64 = 225_000;
const SLOT: Time = Time(200 * Time::US.0);
const ENDLESS: u64 = 1 << 44;

/// Bytes that each flow gets from cycle `from` to cycle `until`, and the worst queue.
fn gets(
    racks: u32,
    switches: u32,
    indirect: &str,
    pairs: &[(u32, u32)],
    (from, until): (i64, i64),
) -> (Vec<u64>, u64) {
    let mut table = json!({"switches": switches, "link_rate": "10 Gb/s"});
    match indirect {
        "per-host" => table["rotorlb"] = json!(indirect),
        _ => table["indirect"] = json!(indirect),
    }
    let row = |&(a, b): &(u32, u32)| -> Row { (a, b, ENDLESS, Time::ZERO) };
    let rows: Vec<Row> = pairs.iter().map(row).collect();
    let (mut fabric, mut io) = built(&cluster(racks, RATE), &table, &rows);
    let cycle = SLOT * i64::from((racks - 1).div_ceil(switches));
    fabric.advance(cycle * from + Time(1), &mut io);
    let before = io.flows.delivered.clone();
    fabric.advance(cycle * until + Time(1), &mut io);
    let after = io.flows.delivered.iter();
    let got = after.zip(&before).map(|(after, before)| after - before);
    let peak = fabric.totals().queue_peak_bytes.unwrap_or(0);
    (got.collect(), peak)
}

fn every_pair(racks: u32) -> Vec<(u32, u32)> {
    let others = |a| (0..racks).filter(move |&b| b != a).map(move |b| (a, b));
    (0..racks).flat_map(others).collect()
}

fn shift(racks: u32, by: u32) -> Vec<(u32, u32)> {
    (0..racks).map(|a| (a, (a + by) % racks)).collect()
}

/// Each pair gets its slot, to the byte, with and without relays: N - 1 of the ⌈(N - 1) / S⌉ S
/// slots of a rack are used, which are all slots if S divides N - 1.
#[test]
fn uniform_traffic_gets_the_duty_cycle() {
    for (racks, switches) in [(9, 4), (8, 7), (16, 4), (11, 3), (6, 1)] {
        for indirect in ["rotorlb", "per-host", "none"] {
            let pairs = every_pair(racks);
            let (got, peak) = gets(racks, switches, indirect, &pairs, (0, 5));
            assert!(got.iter().all(|&bytes| bytes == 5 * SLOT_CARRIES));
            assert_eq!(peak, 0);
        }
    }
    // 9 racks, 4 switches, 2 slots: 90 % of the rate.
    let (got, _) = gets(9, 4, "rotorlb", &every_pair(9), (0, 5));
    let carried = got.iter().sum::<u64>() as f64;
    let capacity = (9 * 4 * RATE.bytes_in(SLOT * 10)) as f64;
    assert!((carried / capacity - 0.9).abs() < 1e-12);
}

/// Without relays a pair has one slot a cycle.
#[test]
fn a_permutation_without_relays_gets_a_slot_a_cycle() {
    let (got, _) = gets(16, 4, "none", &shift(16, 5), (0, 7));
    assert!(got.iter().all(|&bytes| bytes == 7 * SLOT_CARRIES));
}

/// With relays a pair has N / 2 slots per cycle: one direct slot, and half of each of the N - 2
/// others. If all racks send at the same distance, slots feed each other in pairs, so this is exact
/// over two cycles.
#[test]
fn a_permutation_gets_half_with_relays() {
    for (racks, switches, by) in [(16, 4, 5), (16, 4, 8), (8, 1, 1), (11, 3, 4), (9, 8, 2)] {
        let (got, peak) = gets(racks, switches, "rotorlb", &shift(racks, by), (10, 30));
        let expected = 20 * SLOT_CARRIES * u64::from(racks) / 2;
        assert!(
            got.iter().all(|&bytes| bytes == expected),
            "{racks} racks, {switches} switches, {by} on: {got:?}, not {expected}"
        );
        assert!(peak <= u64::from(racks - 2) * SLOT_CARRIES, "{peak}");
    }
    // With "per-host" (one host per rack) a relay holds twice as much.
    for (racks, switches, by) in [(16, 4, 5), (8, 1, 1), (11, 3, 4)] {
        let (got, peak) = gets(racks, switches, "per-host", &shift(racks, by), (10, 30));
        let expected = 20 * SLOT_CARRIES * u64::from(racks) / 2;
        assert!(got.iter().all(|&bytes| bytes == expected), "{got:?}");
        assert!(peak <= 2 * u64::from(racks - 2) * SLOT_CARRIES, "{peak}");
    }
    // If the number of switches divides that of racks, the rate is half of the duty cycle.
    let (got, _) = gets(16, 4, "rotorlb", &shift(16, 5), (10, 30));
    let capacity = 4 * RATE.bytes_in(SLOT * 4 * 20);
    assert_eq!(got[0], capacity * 9 / 10 / 2);
}

/// A random permutation in which no rack sends to itself.
fn derangements() -> impl Strategy<Value = Vec<(u32, u32)>> {
    (3u32..10).prop_flat_map(|racks| {
        let order = Just((0..racks).collect::<Vec<u32>>()).prop_shuffle();
        order.prop_filter_map("a rack sends to itself", |to| {
            let pairs: Vec<_> = (0..).zip(to).collect();
            pairs.iter().all(|(a, b)| a != b).then_some(pairs)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any permutation gets the same on average. In W cycles each slot and the slot that feeds it
    /// carry together W or W ± 1 slots of first hops, and at either end relays may hold undelivered
    /// bytes: (N - 2) C per rack.
    #[test]
    fn any_permutation_gets_half(pairs in derangements(), switches in 1u32..9) {
        let racks = pairs.len() as u32;
        let cycles = 60;
        let (got, peak) = gets(racks, switches.min(racks - 1), "rotorlb", &pairs, (0, cycles));
        let slots = u64::from(racks) * u64::from(racks) * cycles as u64 / 2;
        let all: u64 = got.iter().sum();
        let held = u64::from(racks * (racks - 2));
        let slack = (held + held / 2 + 1) * SLOT_CARRIES;
        prop_assert!(all.abs_diff(slots * SLOT_CARRIES) <= slack, "{all} {slots}");
        prop_assert!(peak <= u64::from(racks - 2) * SLOT_CARRIES);
    }
}
