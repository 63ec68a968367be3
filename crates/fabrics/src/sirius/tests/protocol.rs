//! Single steps and switches of the protocol, as visible in whole runs.

use super::{between, cluster, fail, random, Case, NODE, SLOT};
use crate::contract::Site;
use crate::sirius::config::SiriusConfig;
use crate::sirius::index::Row;
use crate::sirius::kernel::Sirius;
use lightloom_engine::kernel::slot::Slotted;
use lightloom_engine::*;
use serde_json::json;

/// The largest number of cells and of bytes that any node relays, counted in the queues themselves.
fn longest_queue(sirius: &Sirius) -> (u64, u64) {
    let at_shard = |s: &crate::sirius::shard::Shard| {
        let mut relaying = vec![(0, 0); s.rows];
        for q in s.queues.each().filter(|q| q.cell().is_second()) {
            let (cells, bytes) = &mut relaying[Row::of(q.intermediate(), s.lo).0];
            *cells += 1;
            *bytes += sirius.routes.bytes(q.cell());
        }
        relaying
    };
    let nodes: Vec<(u64, u64)> = sirius.shards.iter().flat_map(at_shard).collect();
    let (cells, bytes) = (nodes.iter().map(|n| n.0), nodes.iter().map(|n| n.1));
    (cells.max().unwrap_or(0), bytes.max().unwrap_or(0))
}

/// Checks the peak after every slot; returns the peak that is reported at the end.
fn peak(threads: usize, faults: &[(Time, Command)]) -> u64 {
    // Two blocks of nodes, so that two threads have one each.
    let c = cluster(128, 8);
    let flows = random(&c, 500, 12_000, Time::NS * 10, 2);
    let config = SiriusConfig::default();
    let derived = config.derive(&c).unwrap();
    let site = Site {
        threads,
        ..Site::plain(&c, &flows)
    };
    let cell = derived.cell;
    let mut fabric = Slotted::new(Sirius::new(&config, derived, &site));
    assert_eq!(fabric.kernel().shards.len(), threads);
    let mut io = Io::new(flows);
    let (mut now, mut most, mut view) = (Time::ZERO, 0, View::default());
    while !(fabric.idle() && io.exhausted()) {
        for &(_, command) in faults.iter().filter(|f| f.0 == now) {
            fabric.apply(command).unwrap();
        }
        now += SLOT;
        fabric.advance(now, &mut io);
        fabric.observe(&io, &mut view);
        let (cells, bytes) = longest_queue(fabric.kernel());
        assert_eq!(view.queued_bytes_worst, bytes, "at {now}");
        most = most.max(cells * cell);
    }
    let reported = fabric.totals().queue_peak_bytes;
    assert_eq!(reported, Some(most), "{threads} threads");
    most
}

#[test]
fn the_queue_peak_is_the_longest_queue_of_any_slot() {
    let (from, to) = (SLOT * 20, SLOT * 60);
    let element = NODE;
    let faults = [
        (from, Command::Fail { element, loss: 1.0 }),
        (to, Command::Repair(element)),
    ];
    for faults in [&faults[..], &[]] {
        let one = peak(1, faults);
        assert_eq!(peak(2, faults), one);
        assert!(one > 0);
    }
}

/// Cells carry requests and grants, which are lost with them (§4.5): if cells from and to the
/// source are lost with probability p, its first attempt is granted with probability (1 − p)².
#[test]
fn requests_and_grants_are_lost_with_the_cells_they_ride_on() {
    let (c, p, count) = (cluster(16, 4), 0.3, 2_000);
    let mut flows = Flows::new();
    for k in 0..count {
        let at = Time::US * (20 * k as i64);
        between(&mut flows, 5, 6 + k % 8, 500, at);
    }
    let starts = |faults| {
        let table = json!({"uplinks": 4, "intermediates": "others"});
        let mut case = Case::new(c, table, flows.clone(), faults);
        (case.sample, case.audit) = (Time::MS, false);
        case.run().io.flows.start
    };
    let sound = starts(vec![]);
    let transceiver = |uplink| Element::Transceiver { node: 5, uplink };
    for elements in [vec![NODE], (0..4).map(transceiver).collect()] {
        let faults = elements.iter().map(|&e| fail(Time::ZERO, e, p)).collect();
        let grey = starts(faults);
        let first = sound.iter().zip(&grey).filter(|(a, b)| a == b).count() as f64;
        let (n, fair) = (count as f64, (1.0 - p) * (1.0 - p));
        let off = (first - n * fair) / (n * fair * (1.0 - fair)).sqrt();
        assert!(off.abs() < 5.0, "{elements:?}: {first} of {n}");
    }
}

/// The request takes an epoch, and so does the grant.
#[test]
fn a_grant_comes_two_epochs_after_the_cell() {
    let c = cluster(16, 4);
    let mut flows = Flows::new();
    between(&mut flows, 0, 1, 500, Time::ZERO);
    let epoch = SLOT * 4;
    let table = json!({"uplinks": 4});
    let flows = Case::new(c, table, flows, vec![]).run().io.flows;
    assert_eq!(flows.start[0], epoch * 2);
}

/// Of three nodes, node 2 relays all cells from 0 to 1, and its own cell for 0 goes via 1 as well.
/// Second and first hops therefore wait for the same peer; neither must starve the other.
#[test]
fn second_hops_do_not_go_before_first_hops() {
    let c = cluster(3, 1);
    let mut flows = Flows::new();
    between(&mut flows, 0, 1, 200 * 562, Time::ZERO);
    let at = Time::US * 10;
    between(&mut flows, 2, 0, 500, at);
    let table = json!({"uplinks": 1, "queue": 16, "intermediates": "others"});
    let finish = Case::new(c, table, flows, vec![]).run().io.flows.finish;
    // One cell per epoch of three slots from 0 to 1.
    assert!(finish[0] > SLOT * (200 * 3));
    assert!(finish[1] < at + SLOT * (10 * 3), "{finish:?}");
}
