//! Estimates of memory beside what is really held.

use super::*;
use crate::contract::Memory;
use crate::sirius::relay::Queues;
use crate::sirius::ENTRY;

fn estimate(c: &Cluster, table: &Value, threads: usize) -> Memory {
    let site = Site {
        cluster: c,
        flows: &Flows::new(),
        seed: 1,
        threads,
        library: None,
    };
    let table = (ENTRY.resolve)(table, c).expect("a good table");
    (ENTRY.memory)(&table, &site).expect("a good table")
}

/// Bytes of all queues by pair, after something has failed under `flows`; 0 as long as
/// nothing has.
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
        let busy = random(&c, 20_000, 60_000, Time::NS, 3);
        let pairs = u64::from(racks * racks);
        assert_eq!(held(&c, busy.clone(), threads, vec![]), 0);
        for (flows, most) in [(Flows::new(), 2.5), (busy, 2.0)] {
            let held = held(&c, flows, threads, vec![fail(Time::ZERO, grey, 1e-9)]);
            let added = estimate(&c, &json!({}), threads).of_failures;
            assert!((32 * pairs..=added).contains(&held), "{held} of {added}");
            assert!(added as f64 <= most * held as f64, "{added} for {held}");
        }
    }
}

#[test]
fn what_keeps_cells_by_pair_anyway_or_never_fails_takes_no_more() {
    let c = cluster(128, 8);
    assert_eq!(estimate(&c, &json!({"mode": "ideal"}), 1).of_failures, 0);
    // Pairs meet too often for a timetable.
    let often = cluster(4, 4);
    let table = json!({"uplink_plan": "rotor", "uplinks": 4});
    let config: SiriusConfig = lightloom_engine::config::read(&table, "fabric").unwrap();
    let derived = config.derive(&often).unwrap();
    assert!(crate::sirius::relay::by_slot::timetable(&derived.schedule).is_none());
    assert_eq!(estimate(&often, &table, 1).of_failures, 0);
}
