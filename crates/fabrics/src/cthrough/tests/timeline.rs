//! The times at which circuits come up and go dark, and the bytes carried in between.

use super::*;

/// §5.1 in numbers: 100 Mb/s for the first interval plus 10 ms, then the server's 1 Gb/s.
#[test]
fn a_flow_takes_the_tree_until_its_circuit_is_up() {
    let mut bench = Bench::new(
        &TESTBED,
        ideal(json!({})),
        &[(0, 4, 1_000_000_000, Time::ZERO)],
    );
    bench.until(1_010);
    let on_tree = 1_010 * GBPS_MS / 10;
    assert_eq!(bench.delivered(), [on_tree]);
    bench.until(1_500);
    assert_eq!(bench.delivered(), [on_tree + 490 * GBPS_MS]);
    bench.until(20_000);
    let left = (1_000_000_000 - on_tree) as f64 / GBPS_MS as f64;
    assert!((bench.finish_ms(0) - (1_010.0 + left)).abs() < 1e-6);
    let circuit_bytes = bench.fabric.totals().circuit_bytes;
    assert_eq!(circuit_bytes, Some(1_000_000_000 - on_tree));
    // Hops: two over the tree, one over the circuit.
    bench.fabric.settle(&mut bench.io);
    let mean = 1.0 + on_tree as f32 / 1e9;
    assert!((bench.io.flows.hops[0] - mean).abs() < 1e-6);
}

/// Four servers fill the circuit's 4 Gb/s; a fifth flow shares.
#[test]
fn n_flows_share_the_circuit() {
    let table = ideal(json!({"circuit_rate": "2 Gb/s"}));
    let rows: Vec<Row> = (0..4)
        .map(|s| (s, 4 + s, 500_000_000, Time::ZERO))
        .collect();
    let mut bench = Bench::new(&TESTBED, table, &rows);
    bench.until(1_010);
    let before = bench.delivered();
    bench.until(2_000);
    let moved: Vec<u64> = bench
        .delivered()
        .iter()
        .zip(&before)
        .map(|(a, b)| a - b)
        .collect();
    assert_eq!(moved, [990 * GBPS_MS / 2; 4]);
}

#[test]
fn a_decision_takes_effect_after_its_computation_and_the_dark() {
    let table = ideal(json!({
        "interval": "2 s", "computation_delay": "640 ms", "reconfiguration_delay": "20 ms",
    }));
    // Rack 0 has demand for rack 1 until 3.6 s, and for rack 2 from 3 s on.
    let rows = [
        (0, 4, 150_000_000, Time::ZERO),
        (1, 8, 900_000_000, Time::S * 3),
    ];
    let mut bench = Bench::new(&TESTBED, table, &rows);
    bench.until(7_000);
    let racks: Vec<_> = bench.circuits();
    assert_eq!(
        racks,
        [
            (0, 1, 2_660, 4_640),
            (2, 3, 2_660, 4_640),
            (0, 2, 4_660, 7_000),
            (1, 3, 4_660, 7_000),
        ]
    );
}

/// During a reconfiguration the tree carries all traffic.
#[test]
fn nothing_crosses_a_circuit_in_the_dark() {
    let table = ideal(json!({"reconfiguration_delay": "400 ms"}));
    let gb = 1_000_000_000;
    let rows = [(0, 4, gb / 2, Time::ZERO), (1, 8, 9 * gb, Time::S * 2)];
    let mut bench = Bench::new(&TESTBED, table, &rows);
    // Rack 0 has sent all bytes for rack 1 after 5 s; then it is connected to rack 2.
    let mut dark = Vec::new();
    for ms in (10..=9_000).step_by(10) {
        bench.until(ms);
        let over = bench.fabric.totals().circuit_bytes.expect("has circuits");
        dark.push((ms, over));
    }
    let steps = dark.windows(2).map(|w| (w[0].0, w[1].0, w[1].1 - w[0].1));
    for (from, to, bytes) in steps.filter(|s| s.2 > 0) {
        let lit = bench
            .circuits()
            .iter()
            .any(|c| c.0 == 0 && c.2 <= from && to <= c.3);
        assert!(lit, "{bytes} B over circuits from {from} to {to} ms");
    }
    let circuits: Vec<_> = bench.circuits().into_iter().filter(|c| c.0 == 0).collect();
    assert_eq!(circuits[0].2, 1_400);
    assert_eq!(circuits[1].2, circuits[0].3 + 400);
}

/// Two racks take turns for the third: if buffers report all demand, each has the circuit for an
/// interval minus 10 ms, then waits for an interval. (If their demands were equal after two turns,
/// the connected rack would keep its circuit.)
#[test]
fn matchings_alternate_and_the_duty_cycle_is_what_is_left() {
    let cluster = Cluster {
        racks: 3,
        ..TESTBED
    };
    let table = ideal(json!({"socket_buffer": "1 TB"}));
    let rows: Vec<Row> = (0..4)
        .flat_map(|s| {
            [
                (s, 4 + s, 5_010_000_000, Time::ZERO),
                (s, 8 + s, 5_000_000_000, Time::ZERO),
            ]
        })
        .collect();
    let mut bench = Bench::new(&cluster, table, &rows);
    bench.until(11_000);
    let peers: Vec<u32> = bench.circuits().iter().map(|c| c.1).collect();
    assert_eq!(peers, [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]);
    let lit: i64 = bench.circuits().iter().map(|c| c.3 - c.2).sum();
    assert_eq!(lit, 10 * 990);
    // 4 Gb/s while the circuit is lit, minus what the other queue takes of the servers' links: it
    // may have a tenth, but the tree carries only 25 Mb/s for each.
    let over = bench.fabric.totals().circuit_bytes.expect("has circuits");
    assert_eq!(over, 10 * 990 * (4 * GBPS_MS - GBPS_MS / 10));
}

/// Fig 5: a flow fills the circuit within 5 ms; during the ramp it carries half.
#[test]
fn transport_rises_within_its_time() {
    let table = json!({"unrequested": "keep", "ramp": "8 ms", "dip": "0 s"});
    let mut bench = Bench::new(&TESTBED, table, &[(0, 4, 1_000_000_000, Time::ZERO)]);
    let on_tree = bench.until(1_010).delivered()[0];
    let risen = bench.until(1_018).delivered()[0] - on_tree;
    assert_eq!(risen, 8 * GBPS_MS / 2);
    let full = bench.until(1_019).delivered()[0] - on_tree - risen;
    assert_eq!(full, GBPS_MS);
}

/// When its circuit goes dark, a flow carries half of its share on the tree until it has recovered.
#[test]
fn transport_dips_when_a_circuit_goes() {
    let table = json!({"unrequested": "keep", "ramp": "0 s", "dip": "40 ms", "interval": "100 ms"});
    let gb = 1_000_000_000;
    let mut bench = Bench::new(&TESTBED, table, &[(0, 4, 9 * gb, Time::ZERO)]);
    bench.until(210);
    bench.command(Command::Fail {
        element: lightloom_engine::Element::Port { node: 1, plane: 0 },
        loss: 1.0,
    });
    let before = bench.delivered()[0];
    let dipped = bench.until(250).delivered()[0] - before;
    assert_eq!(dipped, 40 * GBPS_MS / 10 / 2);
    let after = bench.until(260).delivered()[0] - before - dipped;
    assert_eq!(after, 10 * GBPS_MS / 10);
}

/// The same for flows that share a circuit. (Regression: eight flows that shared a link of the tree
/// did not dip together.)
#[test]
fn flows_that_share_rise_and_dip_together() {
    let table = json!({
        "unrequested": "keep", "ramp": "8 ms", "dip": "40 ms", "interval": "1 s"
    });
    let rows: Vec<Row> = (0..8)
        .map(|i| (i % 4, 4 + i % 4, 9_000_000_000, Time::ZERO))
        .collect();
    let mut bench = Bench::new(&TESTBED, table, &rows);
    let mut sum = |until: i64| bench.until(until).delivered().iter().sum::<u64>();
    let on_tree = sum(1_010);
    let near = |bytes: u64, expected: u64| bytes.abs_diff(expected) <= rows.len() as u64;
    // Four servers' links of 1 Gb/s fill the circuit of 4 Gb/s.
    let risen = sum(1_018);
    assert!(near(risen - on_tree, 8 * 4 * GBPS_MS / 2));
    let before = sum(1_100);
    assert!(near(before - risen, 82 * 4 * GBPS_MS));
    bench.command(Command::Fail {
        element: lightloom_engine::Element::Port { node: 1, plane: 0 },
        loss: 1.0,
    });
    let mut sum = |until: i64| bench.until(until).delivered().iter().sum::<u64>();
    let dipped = sum(1_140);
    assert!(near(dipped - before, 40 * GBPS_MS / 10 / 2));
    assert!(near(sum(1_150) - dipped, 10 * GBPS_MS / 10));
}

/// Small queues are not reported: their racks get circuits in turn, or none.
#[test]
fn small_queues_get_circuits_by_rotation_alone() {
    let peers = |rule: &str| {
        let table = json!({"socket_buffer": "128 KB", "unrequested": rule});
        let rows = [(0, 4, 1_000_000_000, Time::ZERO)];
        let mut bench = Bench::new(&TESTBED, table, &rows);
        bench.until(4_000);
        let of_rack_0 = bench.circuits().into_iter().filter(|c| c.0 == 0);
        of_rack_0.map(|c| c.1).collect::<Vec<_>>()
    };
    let mut met = peers("rotate");
    met.sort_unstable();
    assert_eq!(met, [1, 2, 3]);
    // In order of racks: rack 0 is connected to rack 1 and stays connected.
    assert_eq!(peers("keep"), [1]);
}
