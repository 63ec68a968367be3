//! Estimates of memory, compared with the memory in use.

use super::*;
use crate::contract::Memory;
use crate::sirius::relay::Queues;
use crate::sirius::ENTRY;

fn estimate(c: &Cluster, table: &Value, threads: usize) -> Memory {
    let flows = Flows::new();
    let site = Site {
        threads,
        ..Site::plain(c, &flows)
    };
    let table = (ENTRY.resolve)(table, c).expect("a good table");
    (ENTRY.memory)(&table, &site).expect("a good table")
}

/// Bytes of all queues by pair, after a failure under `flows`; 0 without a failure.
fn held(c: &Cluster, flows: Flows, threads: usize, faults: Vec<Fault>) -> u64 {
    let case = Case {
        threads,
        audit: false,
        ..Case::new(*c, json!({}), flows, faults).until(Time::US * 40)
    };
    let ran = case.run();
    let held = |shard: &Shard| match &shard.queues {
        Queues::ByPair(queues) => queues.bytes_held() as u64,
        Queues::BySlot(_) => 0,
    };
    ran.fabric.kernel().shards.iter().map(held).sum()
}

#[test]
fn queues_by_pair_are_counted_once_something_fails() {
    let grey = Element::Transceiver { node: 0, uplink: 0 };
    for (racks, base, threads) in [(64, 4, 1), (128, 8, 1), (128, 8, 2)] {
        let c = cluster(racks, base);
        // Flows of 30 KB on average, at the rate at which all servers together can send.
        let gap = Rate(c.rack_rate().0 * u64::from(racks)).time_for(30_000);
        let busy = random(&c, 20_000, 60_000, gap, 3);
        let pairs = u64::from(racks * racks);
        assert_eq!(held(&c, busy.clone(), threads, vec![]), 0);
        let added = estimate(&c, &json!({}), threads).of_failures;
        let held = |flows| held(&c, flows, threads, vec![fail(Time::ZERO, grey, 1e-9)]);
        // A queue for each pair, whatever its contents; then cells, some of which wait for others.
        let (empty, full) = (held(Flows::new()), held(busy));
        assert!((32 * pairs..33 * pairs).contains(&empty), "{empty}");
        assert!((empty..=added).contains(&full), "{full} of {added}");
        assert!(added <= 2 * full, "{added} for {full}");
    }
}

#[test]
fn what_keeps_cells_by_pair_anyway_or_never_fails_takes_no_more() {
    let c = cluster(128, 8);
    assert_eq!(estimate(&c, &json!({"mode": "ideal"}), 1).of_failures, 0);
    // Pairs meet 41 times in a frame, too often for a timetable.
    let often = cluster(80, 40);
    let table = json!({"uplink_plan": "mixed", "uplinks": 41});
    let config: SiriusConfig = lightloom_engine::config::read(&table, "fabric").unwrap();
    let derived = config.derive(&often).unwrap();
    assert!(crate::sirius::relay::by_slot::timetable(&derived.schedule).is_none());
    assert_eq!(estimate(&often, &table, 1).of_failures, 0);
}
