//! Properties of the scheme, computed by hand or from the schedule alone.

use super::*;
use crate::sirius::schedule::plan::UplinkPlan;
use crate::sirius::schedule::Schedule;
use lightloom_engine::{Command, Element};

/// Slots of cells of 562 B, 1.5 × the base uplinks: the paper's set-up.
fn paper(uplinks: u32) -> SiriusConfig {
    SiriusConfig {
        mode: Mode::Ideal,
        uplinks: Some(uplinks),
        ..SiriusConfig::default()
    }
}

/// The slot in which the last of `cells` cells of a single flow arrives. Cell k goes to the k-th
/// node that its source meets; that node forwards it at its next meeting with the destination that
/// no earlier cell uses. If a cell that the source relays for itself uses a meeting of the source
/// with the destination, no new cell can use it.
fn last_slot_of_a_lone_flow(schedule: &Schedule, src: u32, dst: u32, cells: u32) -> i64 {
    let meets = |slot: i64, a: u32, b: u32| {
        (0..schedule.uplinks()).any(|u| schedule.peer(a, u, slot).0 == b)
    };
    let mut promised: Vec<(u32, i64)> = Vec::new();
    let (mut left, mut last) = (cells, 0);
    for slot in 0.. {
        for u in 0..schedule.uplinks() {
            let via = schedule.peer(src, u, slot).0;
            if left == 0 || promised.contains(&(src, slot)) && via == dst {
                continue;
            }
            left -= 1;
            let mut arrives = slot;
            if via != dst {
                let free = |&t: &i64| meets(t, via, dst) && !promised.contains(&(via, t));
                arrives = (slot + 1..).find(free).unwrap();
                promised.push((via, arrives));
            }
            last = last.max(arrives);
        }
        if left == 0 {
            return last;
        }
    }
    unreachable!("the loop ends when nothing is left")
}

#[test]
fn a_lone_flow_finishes_when_its_schedule_says() {
    for plan in [UplinkPlan::Rotor, UplinkPlan::Mixed, UplinkPlan::Wide] {
        for (src, dst) in [(0, 1), (0, 64), (5, 4), (127, 90), (31, 32)] {
            let cluster = cluster(128, 8);
            let config = SiriusConfig {
                uplink_plan: plan,
                ..paper(12)
            };
            let flows = flows([(src, dst, 81_800, 0)]);
            let schedule = config.derive(&cluster).unwrap().schedule;
            let last = last_slot_of_a_lone_flow(&schedule, src, dst, 146);
            let mut fabric = fabric(&config, &cluster, &flows);
            let mut io = Io::new(flows);
            drain(&mut fabric, &mut io, Time::US, |_, _| ());
            let expected = config.slot * (last + 1);
            assert_eq!(io.flows.finish[0], expected, "{plan:?} {src} to {dst}");
            assert_eq!(io.flows.start[0], Time::ZERO);
            // 146 cells, 12 per slot, and the longest wait for a meeting: 11 or 16 slots.
            let wait = if plan == UplinkPlan::Mixed { 16 } else { 11 };
            assert!(last <= 12 + wait, "{plan:?}: slot {last}");
        }
    }
}

/// Goodput of a permutation of endless flows, as a share of the base uplinks.
fn permutation_goodput(plan: UplinkPlan, uplinks: u32) -> f64 {
    let cluster = cluster(128, 8);
    let config = SiriusConfig {
        uplink_plan: plan,
        ..paper(uplinks)
    };
    let rows = (0..128).map(|rack| (rack, (rack + 1 + rack % 2 * 6) % 128, 1 << 26, 0));
    let flows = flows(rows);
    let mut fabric = fabric(&config, &cluster, &flows);
    let mut io = Io::new(flows);
    fabric.advance(Time::US * 100, &mut io);
    let before = io.ledger.delivered;
    fabric.advance(Time::US * 300, &mut io);
    let bits = (io.ledger.delivered - before) as f64 * 8.0;
    bits / (200e-6 * 128.0 * 400e9)
}

#[test]
fn two_hops_and_the_guardband_bound_a_saturated_permutation() {
    // U uplinks carry each cell twice, 562 B in 625 B of slot.
    for (plan, uplinks) in [
        (UplinkPlan::Rotor, 8),
        (UplinkPlan::Rotor, 12),
        (UplinkPlan::Rotor, 16),
        (UplinkPlan::Mixed, 12),
        (UplinkPlan::Wide, 12),
    ] {
        let expected = uplinks as f64 / 16.0 * 562.0 / 625.0;
        let goodput = permutation_goodput(plan, uplinks);
        let off = goodput / expected - 1.0;
        assert!(
            off.abs() < 0.02,
            "{plan:?} {uplinks}: {goodput} against {expected}"
        );
    }
}

#[test]
fn flows_of_a_source_share_its_uplinks_equally() {
    let cluster = cluster(32, 4);
    for count in [2u32, 3, 7] {
        let flows = flows((0..count).map(|k| (0, 1 + 3 * k, 1 << 26, 0)));
        let mut fabric = fabric(&paper(6), &cluster, &flows);
        let mut io = Io::new(flows);
        fabric.advance(Time::US * 500, &mut io);
        fabric.settle(&mut io);
        // 5000 slots of 6 cells, all of them from the same source, which relays one in 32 for
        // itself and sends it twice.
        let share = 5000.0 * 6.0 * 562.0 * 32.0 / 33.0 / count as f64;
        for &delivered in &io.flows.delivered {
            assert!(
                (delivered as f64 / share - 1.0).abs() < 0.01,
                "{delivered} of {share}"
            );
        }
    }
}

#[test]
fn incast_fills_windows_and_no_more() {
    let (cluster, sources) = (cluster(32, 4), 31);
    for window in [1, 2, 5] {
        let config = SiriusConfig {
            ideal_window: window,
            ..paper(6)
        };
        let flows = flows((1..=sources).map(|src| (src, 0, 562 * 2_000, 0)));
        let mut fabric = fabric(&config, &cluster, &flows);
        let mut io = Io::new(flows);
        let bound = (window * sources) as u64 * 562;
        drain(&mut fabric, &mut io, config.slot, |fabric, io| {
            assert!(view(fabric, io).queued_bytes_worst <= bound);
        });
        assert_eq!(
            fabric.totals().queue_peak_bytes,
            Some(bound),
            "window {window}"
        );
        assert_eq!(io.ledger.delivered, io.flows.total_bytes());
        assert_eq!((io.ledger.dropped, io.ledger.losses), (0, 0));
        // The destination receives 6 cells per slot, except in one of 32 meetings, which is with
        // itself.
        let slots = sources as i64 * 2_000 * 32 / 31 / 6;
        let finish = io.flows.finish.iter().max().unwrap().0 / config.slot.0;
        assert!(
            (slots..slots + 32).contains(&finish),
            "{finish} for {slots}"
        );
    }
}

#[test]
fn nobody_relays_for_itself_where_others_must() {
    let cluster = cluster(4, 2);
    let config = SiriusConfig {
        intermediates: crate::sirius::config::Intermediates::Others,
        ..paper(3)
    };
    let flows = flows((0..4).map(|src| (src, (src + 1) % 4, 562 * 400, 0)));
    let mut fabric = fabric(&config, &cluster, &flows);
    let mut io = Io::new(flows);
    drain(&mut fabric, &mut io, Time::US, |_, _| ());
    assert!(
        io.flows.hops.iter().all(|&h| h == 2.0),
        "{:?}",
        io.flows.hops
    );
    assert_eq!(fabric.totals().cell_hops, Some(4 * 400 * 2));
}

#[test]
fn traffic_within_a_rack_stays_there() {
    let cluster = Cluster {
        servers_per_rack: 2,
        ..cluster(4, 2)
    };
    let flows = flows([(2, 3, 25_000, 50)]);
    let mut fabric = fabric(&SiriusConfig::default(), &cluster, &flows);
    let mut io = Io::new(flows);
    drain(&mut fabric, &mut io, Time::US, |_, _| ());
    // 25 kB at the rack's 200 Gb/s.
    assert_eq!(io.flows.finish[0], Time::NS * 1_050);
    assert_eq!(
        (io.flows.hops[0], fabric.totals().cell_hops),
        (0.0, Some(0))
    );
}

#[test]
fn faults_are_refused_with_the_remedy() {
    let (cluster, flows) = (cluster(4, 2), flows([]));
    let mut fabric = fabric(&SiriusConfig::default(), &cluster, &flows);
    let refused = fabric.apply(Command::Repair(Element::Node(0))).unwrap_err();
    assert!(refused.0.contains("mode = \"request_grant\""), "{refused}");
}
