//! What single steps and switches of the protocol do, seen in whole runs.

use super::config::{QueueMetric, SiriusConfig};
use super::departures::Departures;
use super::failure_tests::{between, cluster, fail, random, Case, NODE, SLOT};
use super::kernel::Sirius;
use super::lines::Lines;
use crate::contract::Site;
use lightloom_engine::kernel::slot::Slotted;
use lightloom_engine::*;
use serde_json::{json, Value};

/// Cells at the worst node as `metric` counts, one by one in the queues themselves.
fn longest_queue(sirius: &Sirius, metric: QueueMetric) -> u64 {
    let at_shard = |s: &super::shard::Shard| {
        let mut queues = vec![0; s.rows];
        let mut count = |row: usize, second: bool| {
            queues[row] += (second || metric == QueueMetric::RelayAndLocal) as u64;
        };
        for q in s.departures.iter().flat_map(Departures::each) {
            let (cell, source) = (q.cell(), &sirius.routes.src);
            let at = match cell.is_second() {
                true => q.row(),
                false => source[cell.rank() as usize] as usize,
            };
            count(at - s.lo, cell.is_second());
        }
        let granted = s.granted.iter().flat_map(Lines::each);
        for (_, q) in s.lines.each().chain(granted) {
            count(q.row(), q.cell().is_second());
        }
        for row in 0..s.rows {
            s.local.each_cell(row).for_each(|_| count(row, false));
        }
        queues.into_iter().max().unwrap_or(0)
    };
    sirius.shards.iter().map(at_shard).max().unwrap_or(0)
}

/// Looks after every slot; returns the queue peak that is reported in the end.
fn peak(table: &Value, threads: usize, faults: &[(Time, Command)]) -> u64 {
    // Two blocks of nodes, so that two threads have one each.
    let c = cluster(128, 8);
    let flows = random(&c, 500, 12_000, Time::NS * 10, 2);
    let config: SiriusConfig = lightloom_engine::config::read(table, "fabric").unwrap();
    let derived = config.derive(&c).unwrap();
    let site = Site {
        cluster: &c,
        flows: &flows,
        seed: 1,
        threads,
        library: None,
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
        let longest = longest_queue(fabric.kernel(), config.queue_metric) * cell;
        assert_eq!(view.queued_bytes_worst, longest, "{table} at {now}");
        most = most.max(longest);
    }
    let reported = fabric.totals().queue_peak_bytes;
    assert_eq!(reported, Some(most), "{table}, {threads} threads");
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
    for order in ["fifo", "second_hop_first"] {
        for faults in [&faults[..], &[]] {
            let [relay, both] = ["relay", "relay_and_local"].map(|metric| {
                let table = json!({"queue_metric": metric, "hop_order": order});
                let one = peak(&table, 1, faults);
                assert_eq!(peak(&table, 2, faults), one);
                one
            });
            assert!(0 < relay && relay < both, "{order}: {relay}, {both}");
        }
    }
}

/// Requests and grants ride on cells and are lost with them (§4.5): where all cells from
/// and to the source are lost with probability p, it is granted a cell at the first
/// attempt with probability (1 − p)².
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

/// The request takes an epoch and the grant `grant_delay_epochs`; all that follows is as
/// much later.
#[test]
fn a_grant_that_rides_on_cells_comes_an_epoch_later() {
    let c = cluster(16, 4);
    let mut flows = Flows::new();
    between(&mut flows, 0, 1, 500, Time::ZERO);
    let epoch = SLOT * 4;
    let [at_once, later] = [0, 1].map(|delay| {
        let table = json!({"uplinks": 4, "grant_delay_epochs": delay});
        let flows = Case::new(c, table, flows.clone(), vec![]).run().io.flows;
        assert_eq!(flows.start[0], epoch * (1 + delay));
        flows.finish[0]
    });
    assert_eq!(later - at_once, epoch);
}

/// Of three nodes, 2 relays all that 0 has for 1, and its own cell for 0 goes by way of 1
/// as well: second and first hops wait for the same peer.
#[test]
fn second_hops_go_first_where_hop_order_says_so() {
    let c = cluster(3, 1);
    let mut flows = Flows::new();
    between(&mut flows, 0, 1, 200 * 562, Time::ZERO);
    let at = Time::US * 10;
    between(&mut flows, 2, 0, 500, at);
    for order in ["fifo", "second_hop_first"] {
        let table = json!({
            "uplinks": 1, "queue": 16, "intermediates": "others", "hop_order": order,
        });
        let finish = Case::new(c, table, flows.clone(), vec![])
            .run()
            .io
            .flows
            .finish;
        // A cell an epoch of three slots from 0 to 1.
        assert!(finish[0] > SLOT * (200 * 3), "{order}");
        match order {
            "fifo" => assert!(finish[1] < at + SLOT * (10 * 3), "{finish:?}"),
            _ => assert!(finish[1] > finish[0], "{finish:?}"),
        }
    }
}
