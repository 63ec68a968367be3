//! Failures (§4.5), compared with theory.

use super::*;
use crate::sirius::relay::Queues;

#[test]
fn flows_between_the_living_survive_a_dead_node() {
    let c = cluster(16, 4);
    for recovery in ["degrade", "reschedule"] {
        for extra in [
            json!({}),
            json!({"propagation": "1 us"}),
            json!({"intermediates": "others"}),
            json!({"grant_rule": "one_per_destination"}),
        ] {
            let mut table = json!({"recovery": recovery});
            table
                .as_object_mut()
                .unwrap()
                .extend(extra.as_object().unwrap().clone());
            let flows = random(&c, 600, 40_000, Time::NS * 60, 3);
            let ran = Case::new(c, table, flows, vec![fail(Time::US * 12, NODE, 1.0)]).run();
            assert!(ran.losses() > 0);
            let dead = |n| n == 5;
            assert!(
                ran.unfinished().iter().all(|&(s, d)| dead(s) || dead(d)),
                "{extra}"
            );
            assert!(!ran.unfinished().is_empty());
            assert!(ran.io.ledger.in_flight() > 0);
        }
    }
}

#[test]
fn a_repair_lets_everything_through() {
    let c = cluster(16, 4);
    for recovery in ["degrade", "reschedule"] {
        for plan in ["rotor", "wide"] {
            if (recovery, plan) == ("reschedule", "wide") {
                continue;
            }
            // A glitch shorter than its detection, a short failure, a long one.
            for down in [1, 3, 40] {
                let table =
                    json!({"recovery": recovery, "uplink_plan": plan, "propagation": "250 ns"});
                let flows = random(&c, 600, 40_000, Time::NS * 60, 4);
                let (at, back) = (Time::US * 12, Time::US * (12 + down));
                let faults = vec![fail(at, NODE, 1.0), repair(back, NODE)];
                let ran = Case::new(c, table, flows, faults).run();
                assert_eq!(
                    ran.io.ledger.flows_completed, 600,
                    "{recovery} {plan} {down}"
                );
                assert!(ran.losses() > 0);
                let shards = &ran.fabric.kernel().shards;
                let by_slot = |s: &Shard| matches!(s.queues, Queues::BySlot(_));
                assert!(shards.iter().all(by_slot), "{recovery} {plan} {down}");
            }
        }
    }
}

/// "the effective uplink bandwidth of each node is reduced by 1/N", and an
/// adjusted schedule will "regain any lost bandwidth" (§4.5).
#[test]
fn a_dead_node_costs_one_nth_until_it_is_left_out() {
    let c = cluster(16, 4);
    let rate = |recovery: &str, faults: Vec<Fault>| {
        let table = json!({"recovery": recovery, "uplinks": 4});
        // 5 neither sends nor receives, so that the same flows run throughout.
        let mut flows = Flows::new();
        let ring: Vec<u32> = (0..16).filter(|&n| n != 5).collect();
        for k in 0..15 {
            between(&mut flows, ring[k], ring[(k + 1) % 15], 1 << 30, Time::ZERO);
        }
        let case = Case::new(c, table, flows, faults).until(Time::US * 900);
        let ran = Case {
            audit: false,
            ..case
        }
        .run();
        let (before, after) = (Time::US * 300, Time::US * 900);
        (
            ran.delivered(before / 3, before),
            ran.delivered(before, after) / 3.0,
        )
    };
    let faults = vec![fail(Time::US * 290, NODE, 1.0)];
    let (sound, still) = rate("degrade", vec![]);
    assert!((still / sound - 1.0).abs() < 0.01, "{sound} {still}");
    // A flow gets half of the slots of each node that has a flow of its own, and all slots of node
    // 5, which has none: 15/2 + 1 cells per epoch, then 15/2.
    let (_, degraded) = rate("degrade", faults.clone());
    let left = degraded / still;
    assert!((left - 15.0 / 17.0).abs() < 0.01, "{left}");
    // 15/2 again, but in epochs of 15/16 the length.
    let (_, regained) = rate("reschedule", faults);
    let gain = regained / degraded;
    assert!((gain - 16.0 / 15.0).abs() < 0.01, "{gain}");
}

#[test]
fn losses_stop_when_everybody_knows() {
    let c = cluster(16, 4);
    for k in [1, 3, 7] {
        let table = json!({"uplinks": 4, "detection_epochs": k});
        // The node dies in the middle of epoch 25; an epoch has four slots.
        let faults = vec![fail(SLOT * 102, NODE, 1.0)];
        let case = Case::new(c, table, permutation(&c, 1 << 20), faults).until(Time::US * 40);
        let ran = Case {
            sample: SLOT,
            ..case
        }
        .run();
        let losses: Vec<u64> = ran.out.samples.iter().map(|s| s.ledger.losses).collect();
        let known = 4 * (25 + k as usize + 1);
        assert_eq!(losses[102], 0);
        assert!(
            losses[known] > losses[known - 4],
            "in the last epoch before"
        );
        // Cells in the queues for 5 are called back when the failure is declared.
        assert!(
            losses[known + 1..].iter().all(|&l| l == losses[known + 1]),
            "k = {k}"
        );
        assert!(losses[104] > losses[102]);
    }
}

/// No cell reaches or leaves a node without transceivers, although the node is not declared dead.
/// The run ends when everything else is delivered, and reports the time since which nothing has
/// moved.
#[test]
fn a_node_without_transceivers_ends_a_run_that_drains() {
    let capped = Cluster {
        nic: Nic::Capped(Rate(40 * Rate::GBPS.0)),
        ..cluster(16, 4)
    };
    for (c, table) in [
        (cluster(16, 4), json!({"uplinks": 4})),
        (
            cluster(16, 4),
            json!({"uplinks": 4, "intermediates": "others"}),
        ),
        (cluster(16, 4), json!({"uplinks": 6, "uplink_plan": "wide"})),
        (capped, json!({"uplinks": 4, "propagation": "1 us"})),
    ] {
        let uplinks = table["uplinks"].as_u64().unwrap() as u32;
        let dies = |uplink| fail(Time::US * 12, Element::Transceiver { node: 5, uplink }, 1.0);
        let flows = random(&c, 600, 40_000, Time::NS * 60, 3);
        let run = |faults: Vec<Fault>| Case::new(c, table.clone(), flows.clone(), faults).run();
        let all: Vec<Fault> = (0..uplinks).map(dies).collect();
        let ran = run(all.clone());
        let cut_off = |&(s, d): &(u32, u32)| (s == 5) != (d == 5);
        assert!(ran.unfinished().iter().all(cut_off), "{table}");
        let late = |f: usize| ran.io.flows.arrival[f] > Time::US * 13;
        let touches = |f: usize| {
            let [s, d] = [ran.io.flows.src[f], ran.io.flows.dst[f]].map(|h| h.0 / 2);
            late(f) && cut_off(&(s, d))
        };
        let surely = (0..600).filter(|&f| touches(f)).count();
        assert!(surely > 0 && ran.unfinished().len() >= surely, "{table}");
        let last = ran.io.last_completion();
        assert!(
            ran.out.simulated < last + Time::US * 20,
            "{table}: {}",
            ran.out.simulated
        );
        // The time is that of the first sample at which nothing moved.
        let since = ran.out.still_since.expect("nothing moves any more");
        assert!(
            since >= last && since <= last + SLOT * 37,
            "{table}: {since}"
        );
        // If only one transceiver dies, or all are repaired later, everything is delivered.
        assert_eq!(run(all[..1].to_vec()).unfinished(), [], "{table}");
        let part = |uplink| Element::Transceiver { node: 5, uplink };
        let back = (0..uplinks).map(|uplink| repair(Time::MS * 2, part(uplink)));
        let repaired = run(all.into_iter().chain(back).collect());
        assert_eq!(repaired.unfinished(), [], "{table}");
        assert!(repaired.out.simulated > Time::MS * 2, "{table}");
    }
}

#[test]
fn a_transceiver_costs_its_share() {
    let (c, bad) = (cluster(16, 4), Element::Transceiver { node: 5, uplink: 2 });
    for (plan, uplinks) in [
        ("rotor", 4),
        ("rotor", 6),
        ("wide", 4),
        ("wide", 6),
        ("mixed", 6),
        ("mixed", 8),
    ] {
        let table = json!({"uplink_plan": plan, "uplinks": uplinks});
        let flows = random(&c, 1500, 40_000, Time::NS * 20, 9);
        let sound = Case::new(c, table.clone(), flows.clone(), vec![]).run();
        let faults = vec![fail(Time::US * 5, bad, 1.0)];
        let ran = Case::new(c, table, flows, faults).run();
        assert_eq!(ran.io.ledger.flows_completed, 1500, "{plan}");
        assert!(ran.losses() > 0);
        // No node has lost more than a quarter of its uplinks.
        let slower = ran.out.simulated.as_secs_f64() / sound.out.simulated.as_secs_f64();
        assert!(slower < 1.35, "{plan} {uplinks}: {slower}");
    }
}

/// A dead transceiver removes one of the N · U links that a saturated uniform load shares evenly,
/// in both directions.
#[test]
fn a_transceiver_takes_little_from_all() {
    let c = cluster(16, 4);
    // With four uplinks a pair always meets over the same one, and a pair that is cut in one
    // direction can neither request nor answer in the other.
    for (uplinks, most) in [(3, 2.5), (4, 4.0)] {
        let total = |faults: Vec<Fault>| {
            let mut flows = Flows::new();
            for s in 0..16 {
                let others = (0..16).filter(|&d| d != s);
                others.for_each(|d| between(&mut flows, s, d, 1 << 28, Time::ZERO));
            }
            let table = json!({"uplinks": uplinks});
            let case = Case::new(c, table, flows, faults).until(Time::US * 600);
            Case {
                audit: false,
                ..case
            }
            .run()
            .delivered(Time::US * 200, Time::US * 600)
        };
        let sound = total(vec![]);
        let bad = Element::Transceiver { node: 5, uplink: 2 };
        let share =
            (1.0 - total(vec![fail(Time::US * 100, bad, 1.0)]) / sound) * 16.0 * uplinks as f64;
        assert!((0.5..most).contains(&share), "{uplinks}: {share} shares");
    }
}

#[test]
fn a_grating_cuts_pairs_off_and_all_is_delivered_around_them() {
    let c = cluster(16, 4);
    for (plan, uplinks) in [("mixed", 4), ("mixed", 6), ("wide", 6)] {
        let table = json!({"uplink_plan": plan, "uplinks": uplinks});
        let flows = random(&c, 800, 40_000, Time::NS * 40, 5);
        let faults = vec![fail(Time::US * 10, Element::Grating(3), 1.0)];
        let ran = Case::new(c, table, flows, faults).run();
        assert_eq!(ran.io.ledger.flows_completed, 800, "{plan}");
        assert!(ran.losses() > 0);
    }
}

#[test]
fn a_grey_failure_loses_its_share_and_everything_arrives() {
    let c = cluster(16, 4);
    let u = 6;
    for (element, plan) in [
        (NODE, "rotor"),
        (Element::Transceiver { node: 5, uplink: 2 }, "rotor"),
        (Element::Grating(3), "wide"),
    ] {
        let p = 0.01;
        let table = json!({"uplink_plan": plan, "uplinks": u});
        let flows = random(&c, 3000, 200_000, Time::NS * 40, 6);
        let ran = Case::new(c, table, flows, vec![fail(Time::ZERO, element, p)]).run();
        assert_eq!(ran.io.ledger.flows_completed, 3000);
        let schedule = &ran.fabric.kernel().derived.schedule;
        let through = |t: &&Transmission| match element {
            Element::Node(n) => t.tx.0 / u == n || t.rx.0 / u == n,
            Element::Transceiver { node, uplink } => {
                [t.tx.0, t.rx.0].contains(&(node * u + uplink))
            }
            Element::Grating(g) => schedule.grating(t.tx.0 / u, t.tx.0 % u) == Some(g),
            _ => {
                unreachable!("no part of Sirius")
            }
        };
        let audit = ran.io.audit.as_ref().unwrap();
        let sent = audit.transmissions.iter().filter(through).count() as f64;
        let expect = p * sent;
        let off = (ran.losses() as f64 - expect) / (expect * (1.0 - p)).sqrt();
        assert!(
            expect > 30.0 && off.abs() < 4.0,
            "{element:?}: {} of {sent}",
            ran.losses()
        );
    }
}

/// A long flow does not wait for its lost cells until all others have finished: its buffer holds
/// arrivals until the lost cells have been retransmitted, and no longer.
#[test]
fn what_is_sent_again_goes_first() {
    let c = cluster(32, 4);
    let mut flows = Flows::new();
    between(&mut flows, 0, 11, 4_000_000, Time::ZERO);
    let table = json!({"uplinks": 6});
    let peak = |faults| {
        let ran = Case::new(c, table.clone(), flows.clone(), faults).run();
        let peak = ran.fabric.totals().reorder_peak_bytes.unwrap();
        (ran.losses(), peak)
    };
    let (lost, sound) = peak(vec![]);
    assert_eq!(lost, 0);
    let at = Time::US * 20;
    let blink = vec![fail(at, NODE, 1.0), repair(at + Time::US * 2, NODE)];
    let (lost, disturbed) = peak(blink);
    assert!(lost > 0);
    assert!(
        disturbed < 2 * sound,
        "{sound} B without losses, {disturbed} B with {lost}"
    );
}

#[test]
fn faults_add_up_and_may_be_repeated() {
    let c = cluster(16, 4);
    let (a, b) = (Element::Node(5), Element::Node(6));
    for recovery in ["degrade", "reschedule"] {
        let us = |t| Time::US * t;
        let faults = vec![
            repair(us(1), a),
            fail(us(10), a, 1.0),
            fail(us(11), a, 1.0),
            fail(us(13), b, 1.0),
            fail(us(14), Element::Transceiver { node: 2, uplink: 0 }, 0.3),
            fail(us(15), Element::Transceiver { node: 2, uplink: 1 }, 1.0),
            repair(us(22), a),
            repair(us(24), b),
            fail(us(25), b, 1.0),
            repair(us(40), b),
            repair(us(60), b),
        ];
        let flows = random(&c, 900, 40_000, Time::NS * 60, 8);
        let ran = Case::new(c, json!({"recovery": recovery}), flows, faults).run();
        assert_eq!(ran.io.ledger.flows_completed, 900, "{recovery}");
    }
}

/// "cells in the fibre when their receiver dies are lost, too": no cell reaches the dead node,
/// although ten slots of cells are in transit to it.
#[test]
fn nothing_arrives_at_the_dead() {
    let c = cluster(16, 4);
    let mut flows = Flows::new();
    (0..16)
        .filter(|&n| n != 5)
        .for_each(|n| between(&mut flows, n, 5, 1 << 20, Time::ZERO));
    let table = json!({"uplinks": 4, "propagation": "1 us"});
    let at = Time::US * 20;
    let case = Case::new(c, table, flows, vec![fail(at, NODE, 1.0)]).until(at * 2);
    let ran = Case {
        sample: SLOT,
        ..case
    }
    .run();
    assert!(ran.delivered(Time::ZERO, at) > 0.0);
    // Cells that arrive in the slot in which it dies had been sent before.
    assert_eq!(ran.delivered(at + SLOT, at * 2), 0.0);
    assert!(ran.losses() > 0);
}

/// If a part may be broken, all nodes accept their grants before any node sends requests; otherwise
/// each node does both in one step. The results are equal.
#[test]
fn a_repair_of_what_is_sound_changes_nothing() {
    let c = cluster(72, 6);
    let flows = random(&c, 300, 60_000, Time::NS * 120, 4);
    for fibre in ["0 ns", "900 ns"] {
        for (key, value) in [
            ("queue", json!(4)),
            ("intermediates", json!("others")),
            ("grant_rule", json!("one_per_destination")),
        ] {
            let table = json!({"propagation": fibre, key: value});
            let sound = Case::new(c, table.clone(), flows.clone(), vec![]).run();
            let repair = vec![repair(Time::ZERO, Element::Node(3))];
            let repaired = Case::new(c, table, flows.clone(), repair).run();
            assert_eq!(sound.io.flows.finish, repaired.io.flows.finish, "{key}");
            assert_eq!(sound.io.flows.start, repaired.io.flows.start, "{key}");
        }
    }
}

/// The kernel never creates more matrices than the memory estimate counts, whatever the pauses.
#[test]
fn matrices_are_handed_on() {
    let c = cluster(72, 6);
    for fibre in ["0 ns", "900 ns", "2500 ns"] {
        let mut flows = Flows::new();
        for k in 0..60 {
            between(&mut flows, k, k + 1, 40_000, Time::NS * (37_411 * k as i64));
        }
        let table = json!({"propagation": fibre});
        let config: SiriusConfig = lightloom_engine::config::read(&table, "fabric").unwrap();
        let most = config.derive(&c).unwrap().matrices(&config);
        let ran = Case::new(c, table, flows, vec![]).run();
        let epochs = &ran.fabric.kernel().epochs;
        let held = epochs.iter().filter(|e| !e.matrices.is_empty()).count() as i64;
        assert!((1..=most).contains(&held), "{held} of {most} at {fibre}");
    }
}

/// A node without peers waits until others are repaired.
#[test]
fn who_is_left_alone_keeps_the_schedule() {
    let c = cluster(16, 4);
    let flows = random(&c, 200, 40_000, Time::NS * 60, 5);
    for alone in [0, 1] {
        let dead = (0..16u32).filter(|&n| n >= 2 || n < alone);
        let faults = dead.map(|n| fail(Time::US * 3, Element::Node(n), 1.0));
        let table = json!({"recovery": "reschedule"});
        let ran = Case::new(c, table, flows.clone(), faults.collect()).run();
        let members = ran.fabric.kernel().schedules.members().map(<[_]>::len);
        assert_eq!(members, (alone == 0).then_some(2));
    }
}

#[test]
fn what_a_fabric_does_not_have_cannot_fail() {
    let c = cluster(16, 4);
    let flows = permutation(&c, 1000);
    let mut ran = Case::new(c, json!({"uplinks": 4}), flows, vec![]).run();
    let mut rejects = |element, loss| {
        let command = Command::Fail { element, loss };
        ran.fabric.apply(command).unwrap_err().0
    };
    assert_eq!(
        rejects(Element::Node(16), 1.0),
        "this fabric has nodes 0 to 15"
    );
    let t = Element::Transceiver { node: 1, uplink: 4 };
    assert_eq!(rejects(t, 1.0), "this fabric has uplinks 0 to 3");
    assert!(rejects(Element::Grating(0), 1.0).starts_with("uplink_plan = \"rotor\""));
    assert!(rejects(Element::Controller, 1.0).starts_with("Sirius has no controller; "));
    assert!(rejects(Element::Port { node: 1, plane: 4 }, 1.0)
        .starts_with("Sirius has no planes of circuits; "));
    for loss in [0.0, 1.5] {
        assert_eq!(
            rejects(NODE, loss),
            format!("a probability of loss is above 0 and at most 1, not {loss}")
        );
    }
}

/// From the command on, waiting cells and cells in the fibre are kept by pair; the latter reach a
/// few destinations via the same nodes.
#[test]
fn threads_do_not_matter_when_something_fails_with_cells_in_the_fibre() {
    let c = cluster(192, 8);
    let mut flows = Flows::new();
    for k in 0..3_000 {
        let src = k % 189;
        between(&mut flows, src, 189 + k % 3, 9_000, Time::NS * k as i64);
    }
    for at in [700, 2_900, 5_300] {
        let faults = vec![fail(Time::NS * at, NODE, 0.01)];
        let table = json!({"uplinks": 12, "propagation": "750 ns"});
        let case = Case::new(c, table, flows.clone(), faults);
        let finish = |threads| {
            let case = Case {
                threads,
                audit: false,
                flows: case.flows.clone(),
                faults: case.faults.clone(),
                table: case.table.clone(),
                ..case
            };
            case.run().io.flows.finish
        };
        let one = finish(1);
        assert!(one == finish(2) && one == finish(3), "failed at {at} ns");
    }
}

fn any_fault() -> impl Strategy<Value = Vec<Fault>> {
    let element = prop_oneof![
        (0u32..24).prop_map(Element::Node),
        (0u32..24, 0u32..6).prop_map(|(node, uplink)| Element::Transceiver { node, uplink }),
    ];
    let loss = prop_oneof![Just(1.0), Just(1.0), 0.01f64..0.9];
    let one = (element, loss, 0i64..40_000, 1i64..30_000);
    prop::collection::vec(one, 1..5).prop_map(|all| {
        let both = |(element, loss, at, down)| {
            let (at, back) = (Time::NS * at, Time::NS * (at + down));
            [fail(at, element, loss), repair(back, element)]
        };
        all.into_iter().flat_map(both).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// With random failures and repairs, with and without servers' links: every byte is delivered
    /// once, nothing leaks, and results depend neither on the number of threads nor on the
    /// horizons.
    #[test]
    fn whatever_fails(
        faults in any_fault(), racks in prop_oneof![Just(24u32), Just(72)], seed: u64,
        plan in prop_oneof![Just("rotor"), Just("wide")],
        far in 0i64..900, reschedule: bool, k in 1u32..5,
        nic in prop_oneof![Just(Nic::Uncapped), Just(Nic::Capped(Rate(40 * Rate::GBPS.0)))],
    ) {
        let c = Cluster { nic, ..cluster(racks, 4) };
        let ring = reschedule && plan == "rotor";
        let table = json!({
            "uplink_plan": plan, "uplinks": 6, "detection_epochs": k,
            "grating_ports": racks / 4,
            "propagation": format!("{far} ns"),
            "recovery": if ring { "reschedule" } else { "degrade" },
        });
        let flows = random(&c, 300, 40_000, Time::NS * 100, seed);
        let one = Case::new(c, table.clone(), flows.clone(), faults.clone()).run();
        prop_assert_eq!(one.io.ledger.flows_completed, 300);
        for (threads, sample) in [(2, SLOT * 11), (4, Time::NS * 1_234)] {
            let case = Case::new(c, table.clone(), flows.clone(), faults.clone());
            let other = Case { threads, sample, ..case }.run();
            prop_assert_eq!(&one.io.flows.finish, &other.io.flows.finish);
            prop_assert_eq!(&one.io.flows.start, &other.io.flows.start);
            prop_assert_eq!(one.io.ledger, other.io.ledger);
        }
    }
}
