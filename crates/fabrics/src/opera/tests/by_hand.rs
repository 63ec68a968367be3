//! Cases small enough to be worked out on paper.

use super::{built, cluster, Row};
use lightloom_engine::{Nic, Rate, Time, View};
use proptest::prelude::*;
use serde_json::{json, Value};
use std::collections::{BTreeMap, HashSet};

/// A byte a nanosecond.
const RATE: Rate = Rate(8 * Rate::GBPS.0);
const US: Time = Time::US;

/// 16 racks, 5 switches, slices of 10 us with nights of 1 us.
fn table() -> Value {
    json!({
        "switches": 5, "link_rate": "8 Gb/s", "packet": "1000 B",
        "night": "1 us", "slice": "10 us",
    })
}

/// In 15 slices every rack is connected to every other once, in both directions at once; no two
/// nights overlap, and each is at the end of its slice.
#[test]
fn switches_turn_one_after_another() {
    let (mut fabric, mut io) = built(&cluster(16, RATE), &table(), &[]);
    fabric.advance(US * 400, &mut io);
    let circuits = fabric.circuits(US * 400);
    let mut met: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for c in circuits
        .iter()
        .filter(|c| c.from >= US * 50 && c.from < US * 200)
    {
        *met.entry((c.a, c.b)).or_default() += 1;
        // Every circuit has a counterpart in the other direction, on the same switch at the same
        // time.
        let back = |d: &&lightloom_engine::Circuit| {
            (d.a, d.b, d.plane, d.from) == (c.b, c.a, c.plane, c.from)
        };
        assert_eq!(circuits.iter().filter(back).count(), 1);
    }
    assert_eq!(met.len(), 240);
    assert!(met.values().all(|&times| times == 1));
    // Switch s is lit at the end of slice s and 5 slices later; dark for the last 1 us of it.
    for c in circuits.iter().filter(|c| c.from > Time::ZERO) {
        assert_eq!((c.from.0 / US.0) % 50, (i64::from(c.plane) + 1) * 10 % 50);
        assert!(c.until - c.from == US * 49 || c.until == US * 400);
    }
    let first: HashSet<_> = { circuits.iter() }
        .filter(|c| c.from == Time::ZERO)
        .map(|c| (c.plane, c.until.0 / US.0))
        .collect();
    assert_eq!(
        first,
        HashSet::from([(0, 9), (1, 19), (2, 29), (3, 39), (4, 49)])
    );
}

/// Distance over the circuits at an instant, without those of the switch that reconfigures next.
fn hops(circuits: &[lightloom_engine::Circuit], at: Time, from: u32, to: u32) -> i64 {
    let turns = (at.0 / (10 * US.0) % 5) as u16;
    let lit = |c: &&lightloom_engine::Circuit| c.from <= at && at < c.until && c.plane != turns;
    let mut reached = HashSet::from([from]);
    for hops in 0.. {
        if reached.contains(&to) {
            return hops;
        }
        let more: Vec<u32> = circuits
            .iter()
            .filter(lit)
            .filter(|c| reached.contains(&c.a))
            .map(|c| c.b)
            .collect();
        reached.extend(more);
    }
    unreachable!()
}

/// A packet alone takes a microsecond per circuit, over a shortest path in the present circuits;
/// propagation is added for each circuit.
#[test]
fn a_packet_alone_takes_the_shortest_path() {
    for (fly, propagation) in [(0, "0 s"), (500, "500 ns")] {
        let mut table = table();
        table["propagation"] = json!(propagation);
        for to in 1..16 {
            for start in [0, 12, 37] {
                let rows = [(0, to, 1_000, US * start)];
                let (mut fabric, mut io) = built(&cluster(16, RATE), &table, &rows);
                fabric.advance(US * 400, &mut io);
                let hops = hops(&fabric.circuits(US * 400), US * start, 0, to);
                let takes = (US + Time::NS * fly) * hops;
                assert_eq!(
                    io.flows.finish[0] - US * start,
                    takes,
                    "{hops} hops to {to}"
                );
                fabric.settle(&mut io);
                assert_eq!(io.flows.hops[0], hops as f32);
            }
        }
    }
}

/// A rack and its peer on switch 4, from the start to 49 us.
fn neighbours() -> (u32, u32) {
    let (mut fabric, mut io) = built(&cluster(16, RATE), &table(), &[]);
    fabric.advance(US, &mut io);
    let circuits = fabric.circuits(US);
    let circuit = circuits.iter().find(|c| c.plane == 4).expect("lit");
    (circuit.a, circuit.b)
}

/// A circuit is sending 30 us of bulk when a low-latency packet arrives for it: the packet waits
/// for the bulk packet in transmission, and the rest of the bulk waits for it.
#[test]
fn a_packet_goes_before_bulk() {
    let (a, b) = neighbours();
    let mut table = table();
    table["low_latency"] = json!("2000 B");
    let rows = [(a, b, 30_000, Time::ZERO), (a, b, 1_000, Time::NS * 10_300)];
    let (mut fabric, mut io) = built(&cluster(16, RATE), &table, &rows);
    fabric.advance(US * 100, &mut io);
    // At 10.3 us the eleventh packet of bulk is being sent, until 11 us.
    assert_eq!(io.flows.finish, [US * 31, US * 12]);
    assert_eq!(io.flows.start, [Time::ZERO, US * 11]);
}

/// Bulk waits for its circuit: two racks that switch 4 connects in its second slot meet at 50 us.
#[test]
fn bulk_waits_for_its_circuit() {
    let (mut fabric, mut io) = built(&cluster(16, RATE), &table(), &[]);
    fabric.advance(US * 60, &mut io);
    let circuits = fabric.circuits(US * 60);
    let circuit = { circuits.iter() }
        .find(|c| c.plane == 4 && c.from == US * 50)
        .expect("it turned");
    let mut table = table();
    table["low_latency"] = json!("0 B");
    table["indirect"] = json!("none");
    let rows = [(circuit.a, circuit.b, 5_500, US)];
    let (mut fabric, mut io) = built(&cluster(16, RATE), &table, &rows);
    fabric.advance(US * 100, &mut io);
    assert_eq!(io.flows.finish, [Time::NS * 55_500]);
}

/// A server's link has half the rate of a circuit: the second packet reaches its rack 2 us after
/// the first.
#[test]
fn servers_links_take_a_packet_at_a_time() {
    let (a, b) = neighbours();
    let mut cluster = cluster(16, RATE);
    cluster.nic = Nic::Capped(Rate(4 * Rate::GBPS.0));
    for low_latency in ["0 B", "15 MB"] {
        let mut table = table();
        table["low_latency"] = json!(low_latency);
        let rows = [(a, b, 3_000, Time::ZERO)];
        let (mut fabric, mut io) = built(&cluster, &table, &rows);
        fabric.advance(US * 100, &mut io);
        // At its rack after 2, 4 and 6 us; across at 7 us; at the server at 9 us.
        assert_eq!(io.flows.finish, [US * 9]);
    }
}

/// Bulk traffic of two racks for a third, whose server's link is slower than the arrivals: a
/// low-latency packet waits for at most one packet on either server's link, although 30 bulk
/// packets are before it.
#[test]
fn a_packet_goes_before_bulk_on_servers_links() {
    let (a, b) = neighbours();
    let (mut fabric, mut io) = built(&cluster(16, RATE), &table(), &[]);
    fabric.advance(US, &mut io);
    let circuits = fabric.circuits(US);
    let other = circuits.iter().find(|c| c.plane == 3 && c.b == b);
    let other = other.expect("lit").a;
    let mut cluster = cluster(16, RATE);
    cluster.nic = Nic::Capped(Rate(4 * Rate::GBPS.0));
    let mut table = table();
    table["low_latency"] = json!("2000 B");
    let rows = [
        (a, b, 30_000, Time::ZERO),
        (other, b, 30_000, Time::ZERO),
        (a, b, 900, Time::NS * 20_100),
    ];
    let (mut fabric, mut io) = built(&cluster, &table, &rows);
    fabric.advance(US * 100, &mut io);
    // The packet leaves its server from 22 us on, reaches its rack at 23.8 us and crosses by 24.7
    // us. The receiving server has received packets back to back since 3 us; the next one starts at
    // 25 us and is this packet.
    assert_eq!(io.flows.finish[2], Time::NS * 26_800);
}

/// The bytes at the worst rack are counted, and are at most those of all racks.
#[test]
fn no_rack_has_more_than_the_peak() {
    let row = |k: u32| -> (u32, u32, u64, Time) {
        let bytes = if k.is_multiple_of(5) { 20_000 } else { 3_000 };
        let to = if k.is_multiple_of(2) { 3 } else { 4 + k % 12 };
        (k % 3, to, bytes, Time::NS * (i64::from(k) * 350))
    };
    let rows: Vec<_> = (0..100).map(row).collect();
    let mut cluster = cluster(16, RATE);
    for nic in [Nic::Uncapped, Nic::Capped(RATE)] {
        cluster.nic = nic;
        let mut table = table();
        table["low_latency"] = json!("10 kB");
        let (mut fabric, mut io) = built(&cluster, &table, &rows);
        let (mut worst, mut all) = (0, 0);
        for step in 1..2_000 {
            fabric.advance(Time::NS * (100 * step), &mut io);
            let mut view = View::default();
            fabric.observe(&io, &mut view);
            assert!(view.queued_bytes_worst <= view.queued_bytes);
            worst = worst.max(view.queued_bytes_worst);
            all = all.max(view.queued_bytes);
        }
        let peak = fabric.totals().queue_peak_bytes.expect("it queues");
        assert!(worst <= peak && peak <= worst + 6_000, "{worst} {peak}");
        assert!(worst < all, "{worst} {all}");
    }
}

/// 20 packets of a flow wait for the same circuits when others arrive at whole microseconds, the
/// instants at which a circuit gets room for one packet. A waiting packet takes it, as if the
/// others arrived an instant later.
#[test]
fn what_waits_goes_before_what_comes_as_there_is_room() {
    let ends = |after: i64| {
        let (a, b) = neighbours();
        let mut rows = vec![(a, b, 20_000, Time::ZERO)];
        let other = |k: i64| (a, (b + 1 + k as u32 % 14) % 16, 1_000, US * k + Time(after));
        let others = (1..9).map(other).filter(|row| row.0 != row.1 && row.1 != b);
        rows.extend(others);
        let mut table = table();
        table["waiting"] = json!("fifo");
        let (mut fabric, mut io) = built(&cluster(16, RATE), &table, &rows);
        fabric.advance(US * 100, &mut io);
        io.flows.finish[0]
    };
    assert_eq!(ends(0), ends(2));
}

/// 3 MB wait at their rack for at least 750 us, because circuits carry at most 4 B per nanosecond.
/// If flows take turns, a packet of another flow waits for one of these packets only. Each circuit
/// has at most eight packets before it, its path has at most four circuits, and a slice of 10 us
/// may end first.
#[test]
fn an_elephant_delays_a_mouse_by_a_packet() {
    let took = |waiting: &str, to: u32| {
        let mut table = table();
        table["waiting"] = json!(waiting);
        let rows = [(0, 1, 3_000_000, Time::ZERO), (0, to, 1_000, US * 100)];
        let (mut fabric, mut io) = built(&cluster(16, RATE), &table, &rows);
        fabric.advance(US * 10_000, &mut io);
        io.flows.finish[1] - US * 100
    };
    let bound = US * (4 * (8 + 1 + 1) + 10);
    assert!(took("fair", 1) <= bound, "{}", took("fair", 1));
    assert!(took("fifo", 1) >= US * 650, "{}", took("fifo", 1));
    for to in 2..16 {
        assert!(took("fair", to) <= bound, "to {to}: {}", took("fair", to));
    }
}

proptest! {
    /// Bytes arrive at any time, including the instants at which a slice begins or a circuit
    /// becomes dark or lit, and just before or after: they never leave earlier, and are delivered.
    #[test]
    fn nothing_leaves_before_it_comes(
        rows in prop::collection::vec((0u32..16, 1u32..16, 1u64..20_000, 0i64..60, -1i64..2), 1..60),
        low_latency in prop::sample::select(vec!["0 B", "5 kB", "1 MB"]),
        indirect in prop::sample::select(vec!["rotorlb", "none"]),
    ) {
        let mut table = table();
        table["low_latency"] = json!(low_latency);
        table["indirect"] = json!(indirect);
        let mut rows: Vec<Row> = { rows.into_iter() }
            .map(|(src, places, bytes, slice, moment)| {
                // A night begins at 9 us of a slice, and ends with it.
                let comes = US * (10 * (slice / 2) + 9 * (slice % 2)) + Time(moment);
                (src, (src + places) % 16, bytes, comes.max(Time::ZERO))
            })
            .collect();
        rows.sort_by_key(|row| row.3);
        let (mut fabric, mut io) = built(&cluster(16, RATE), &table, &rows);
        fabric.advance(Time::MS * 20, &mut io);
        for (flow, &(.., bytes, comes)) in rows.iter().enumerate() {
            let (start, finish) = (io.flows.start[flow], io.flows.finish[flow]);
            prop_assert!(start >= comes && finish < Time::NEVER, "{start} {comes} {finish}");
            // All five uplinks in parallel.
            let takes = RATE.time_for(bytes.div_ceil(5));
            prop_assert!(finish >= start + takes, "{start} {finish} {bytes}");
        }
    }
}
