//! Each rule of §4.5 separately, compared with the paper and the head of [`super::faults`];
//! complete runs are in `sirius/tests/failures.rs`.

use super::avoid::Avoid;
use super::faults::{Delays, Event, Faults, Part};
use crate::sirius::cell::Cell;
use crate::sirius::index::Label;
use crate::sirius::schedule::peer_order::PeerOrder;
use crate::sirius::schedule::plan::{gratings, UplinkPlan};
use crate::sirius::schedule::reschedule::Schedules;
use crate::sirius::schedule::Schedule;
use lightloom_engine::Stream;
use std::collections::BTreeSet;

const NODES: u16 = 16;

fn delays(detection: i64, lag: i64, reschedule: bool) -> Delays {
    Delays {
        detection,
        lag,
        reschedule,
    }
}

fn wired() -> Schedule {
    Schedule::Gratings(gratings(UplinkPlan::Wide, NODES as u32, 4, 6).unwrap())
}

fn schedules(schedule: &Schedule) -> Schedules {
    Schedules::new(schedule, schedule.epoch())
}

fn avoid(ends: bool) -> Avoid {
    Avoid {
        nodes: vec![Label(2)],
        dark: BTreeSet::from([(Label(0), Label(3))]),
        cut: BTreeSet::from([(4, 5), (5, 5)].map(|(by, to)| (Label(by), Label(to)))),
        ends,
    }
}

/// Checks all possible arguments against the meaning of each field.
#[test]
fn nobody_asks_who_cannot_hear_or_cannot_pass_it_on() {
    for ends in [false, true] {
        for asked in 0..8u16.pow(3) {
            let (source, by, destination) = (asked / 64, asked / 8 % 8, asked % 8);
            let dead = by == 2;
            let unheard = (source, by) == (0, 3);
            let dead_end = (by, destination) == (4, 5);
            let an_end = by == source || by == destination;
            let expected = !(dead || unheard || dead_end || an_end && !ends);
            assert_eq!(
                avoid(ends).allows(Label(source), Label(by), Label(destination)),
                expected,
                "ends {ends}: {source} asks {by} for {destination}"
            );
        }
    }
}

#[test]
fn requests_to_who_is_left_alone_go_to_others_and_no_more_than_there_are() {
    let none = 8;
    let free = [none; 8];
    for seed in 0..50 {
        // Requests for 6 via 2, which is dead; for 5 via 4, which does not meet 5; for 5 via 5
        // itself, which needs no second hop; for 7 via 1, which works.
        let mut wants = free;
        (wants[2], wants[4], wants[5], wants[1]) = (6, 5, 5, 7);
        let mut rng = Stream::new(seed, "test", 0);
        assert_eq!(avoid(true).ask_others(Label(3), &mut wants, 4, &mut rng), 4);
        assert_eq!((wants[5], wants[1]), (5, 7));
        assert_ne!((wants[2], wants[4]), (6, 5));
        let asked = |destination| (0..none).filter(move |&by| wants[by as usize] == destination);
        assert_eq!([5, 6, 7].map(|d| asked(d).count()), [2, 1, 1]);
        let sound = |d| asked(d).all(|by| avoid(true).allows(Label(3), Label(by), Label(d)));
        assert!([5, 6, 7].into_iter().all(sound), "{wants:?}");
    }
    // If only 4 is free, which cannot relay to 5, one of them requests no node.
    let mut wants = [7; 8];
    (wants[2], wants[4]) = (5, none);
    let mut rng = Stream::new(1, "test", 0);
    assert_eq!(avoid(true).ask_others(Label(3), &mut wants, 7, &mut rng), 6);
    assert_eq!((wants[2], wants[4]), (none, none));
}

/// The actions of all nodes for a part that dies and, at the start of another epoch, is received
/// again.
fn news(part: Part, of: Delays, died: i64, heard: i64) -> Vec<(i64, Event)> {
    let schedules = schedules(&wired());
    let mut faults = Faults::new(NODES as usize, 1, of);
    let mut told = Vec::new();
    for epoch in died..heard + 40 {
        while let Some(event) = faults.due(epoch) {
            told.push((epoch, event));
            match event {
                Event::Declare(part) => faults.declare(part, true, epoch, &schedules),
                Event::Withdraw(part) => faults.declare(part, false, epoch, &schedules),
                Event::Reschedule => (),
            }
        }
        if epoch == died {
            faults.set(part, 1.0, epoch, &schedules);
        }
        if epoch == heard {
            faults.set(part, 0.0, epoch, &schedules);
        }
    }
    assert!(!faults.known[5] && !faults.dead[5]);
    told
}

/// "found silent in e .. e + k − 1": a part that is received in the last of these epochs is not
/// declared dead.
#[test]
fn a_part_is_declared_dead_after_k_silent_epochs_and_back_two_after_it_is_heard() {
    for (part, node) in [
        (Part::Node(Label(5)), true),
        (Part::Transceiver(Label(5), 1), false),
        (Part::Grating(3), false),
    ] {
        for (k, lag, down) in
            (1..5).flat_map(|k| (1..4).flat_map(move |l| (1..12).map(move |d| (k, l, d))))
        {
            for reschedule in [false, true] {
                let (died, heard) = (10, 10 + down);
                let mut expected = Vec::new();
                if down >= k {
                    let dead = died + k + 2 * lag - 1;
                    let ring = reschedule && node;
                    let back = heard + 2 * lag + if ring { lag } else { 0 };
                    expected = vec![(dead, Event::Declare(part)), (back, Event::Withdraw(part))];
                    if ring {
                        expected.push((dead + lag, Event::Reschedule));
                        expected.push((back, Event::Reschedule));
                    }
                }
                let sorted = |mut all: Vec<(i64, Event)>| {
                    all.sort_by_key(|e| (e.0, format!("{:?}", e.1)));
                    all
                };
                let told = news(part, delays(k, lag, reschedule), died, heard);
                let case = format!("{part:?}: k {k}, lag {lag}, down {down}, {reschedule}");
                assert_eq!(sorted(told), sorted(expected), "{case}");
            }
        }
    }
}

#[test]
fn killing_what_is_known_to_be_dead_changes_nothing() {
    let schedules = schedules(&wired());
    for part in [Part::Node(Label(5)), Part::Grating(3)] {
        let mut faults = Faults::new(NODES as usize, 1, delays(3, 1, true));
        faults.set(part, 1.0, 10, &schedules);
        assert_eq!(faults.due(14), Some(Event::Declare(part)));
        faults.declare(part, true, 14, &schedules);
        let before = faults.events.clone();
        faults.set(part, 1.0, 20, &schedules);
        assert_eq!(faults.events, before);
        assert_eq!(faults.of(part, &schedules).known_from, 14);
    }
}

/// Computed from the wiring: no node sends if it is dead or avoided, or into a dead grating.
#[test]
fn what_is_known_to_be_dead_stays_dark() {
    let schedule = wired();
    let (schedules, order) = (schedules(&schedule), PeerOrder::new(&schedule));
    let mut faults = Faults::new(NODES as usize, 1, delays(3, 1, false));
    for part in [
        Part::Node(Label(9)),
        Part::Grating(3),
        Part::Transceiver(Label(6), 4),
    ] {
        faults.set(part, 1.0, 0, &schedules);
        faults.declare(part, true, 4, &schedules);
    }
    faults.set(Part::Node(Label(12)), 1.0, 5, &schedules); // not known yet
    let hears = |to: u32, uplink| {
        let node = (0..NODES as u32)
            .find(|&n| schedule.label(n) == to)
            .unwrap();
        (node, uplink)
    };
    let mut dark = 0;
    for slot in 0..schedule.frame() as i64 {
        faults.prepare(slot, &schedules, &order);
        let sound = schedules.matchings(slot, &order);
        assert_eq!(faults.matchings.len(), sound.len());
        for (found, sound) in faults.matchings.iter().zip(&sound) {
            for label in 0..NODES {
                let (node, uplink) = hears(label as u32, found.uplink as u32);
                let (peer, port) = schedule.peer(node, uplink, slot);
                let (to, bit) = (schedule.label(peer), 1u64 << label);
                let broken = label == 9
                    || label == 12
                    || (label, found.uplink) == (6, 4)
                    || (to, port) == (6, 4)
                    || schedule.grating(node, uplink) == Some(3);
                let had = sound.labels.as_ref().is_none_or(|l| l[0] & bit != 0);
                let has = found.labels.as_ref().unwrap()[0] & bit != 0;
                assert_eq!(has, had && !broken, "slot {slot}: {label} on {uplink}");
                dark += u32::from(had && !has);
            }
        }
    }
    assert!(dark > 0);
}

#[test]
fn a_link_over_two_broken_parts_passes_what_both_let_through() {
    let schedule = wired();
    let schedules = schedules(&schedule);
    let node = (0..NODES as u32).find(|&n| schedule.label(n) == 2).unwrap();
    let grating = schedule.grating(node, 4).unwrap();
    let mut faults = Faults::new(NODES as usize, 1, delays(3, 1, false));
    faults.set(Part::Transceiver(Label(2), 4), 0.5, 0, &schedules);
    faults.set(Part::Grating(grating), 0.2, 0, &schedules);
    let (to, _) = schedules.peer(Label(2), 4, 1).unwrap();
    let found = faults.pairs_in(1..2, &schedules);
    let passes = found.iter().find(|p| (p.0, p.1) == (Label(2), to));
    assert!((passes.unwrap().2 - 0.5 * 0.8).abs() < 1e-12);
}

/// Slot, uplink and sender of the k-th cell of a group.
type Place = Box<dyn Fn(u32, u32) -> (i64, u16, u16)>;

/// The corruption of cells is independent, in the same slot, from the same sender and over the same
/// uplink: the losses in groups of 16 have a binomial distribution.
#[test]
fn cells_are_corrupted_one_by_one() {
    let schedules = schedules(&wired());
    let mut faults = Faults::new(NODES as usize, 7, delays(3, 1, false));
    let (loss, passes) = (0.3, 0.7f64 * 0.7);
    (0..NODES).for_each(|n| faults.set(Part::Node(Label(n)), loss, 0, &schedules));
    let lost = |slot: i64, uplink: u16, from: u16| {
        let from = Label(from);
        let (to, _) = schedules.peer(from, uplink, slot).unwrap();
        (from != to).then(|| faults.fate(slot, uplink, from, to) == Some(None))
    };
    let groups: [(&str, Place); 3] = [
        (
            "senders",
            Box::new(|g, k| (g as i64 / 6, (g % 6) as u16, k as u16)),
        ),
        (
            "slots",
            Box::new(|g, k| {
                (
                    (g / 96 * 16 + k) as i64,
                    (g % 6) as u16,
                    (g / 6 % 16) as u16,
                )
            }),
        ),
        (
            "uplinks",
            Box::new(|g, k| {
                let at = g * 16 + k;
                ((at / 6 / 16) as i64, (at % 6) as u16, (at / 6 % 16) as u16)
            }),
        ),
    ];
    for (name, place) in groups {
        let counts: Vec<f64> = (0..6_000u32)
            .filter_map(|group| {
                let all: Option<Vec<bool>> = (0..16)
                    .map(|k| place(group, k))
                    .map(|(slot, uplink, from)| lost(slot, uplink, from))
                    .collect();
                all.map(|all| all.iter().filter(|&&l| l).count() as f64)
            })
            .collect();
        let n = counts.len() as f64;
        assert!(n > 1_000.0, "{name}: {n} groups");
        let mean = counts.iter().sum::<f64>() / n;
        let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / n;
        let (expected, spread) = (16.0 * (1.0 - passes), 16.0 * passes * (1.0 - passes));
        assert!(
            (mean - expected).abs() < 6.0 * (spread / n).sqrt(),
            "{name}: {mean}"
        );
        // The variance of a nearly normal law has a relative error of √(2/n).
        let off = (variance / spread - 1.0) / (2.0 / n).sqrt();
        assert!(
            off.abs() < 6.0,
            "{name}: variance {variance}, {spread} expected"
        );
    }
}

/// "sent again two epochs later", or when the part that took it is declared dead.
#[test]
fn what_was_lost_is_sent_again_when_its_source_knows() {
    for lag in 1..5 {
        for (known, due) in [
            (None, 10 + 2 * lag),
            (Some(5), 10 + 2 * lag),
            (Some(40), 40),
        ] {
            let mut faults = Faults::new(NODES as usize, 1, delays(3, lag, false));
            faults.resend(Cell::new(7, 3), 10, known);
            assert!(faults.resent_by(due - 1).is_empty(), "lag {lag}");
            let again = faults.resent_by(due);
            let found: Vec<_> = again
                .iter()
                .map(|s| (s.flow_index, s.seq, s.count))
                .collect();
            assert_eq!(found, [(7, 3, 1)]);
            assert!(!faults.pending());
        }
    }
}
